@file:JvmName("Shops")

package org.example.shop

import java.util.Locale

/** Most items that one may buy. */
const val LIMIT = 10

val opened: Boolean
    get() = hours > 0

private var hours = 8

typealias Prices = Map<String, Int>

/** Anything that can be sold. */
interface Sellable {
    val price: Int
    fun sell(count: Int = 1): Boolean
}

/**
 * An item on a shelf.
 *
 * @property name what it is called
 */
@Deprecated("use Ware")
data class Item(val name: String, private var count: Int, weight: Double) : Sellable {
    override val price: Int = 3

    init {
        require(count > 0)
    }

    constructor(name: String) : this(name, 1, 0.0) {
        count = 2
    }

    // Not documentation.
    override fun sell(count: Int): Boolean {
        if (count < 1 || count > LIMIT) return false
        fun note(text: String) = println(text)
        val left = when (count) {
            1 -> "one"
            else -> "many"
        }
        note(left)
        return true
    }

    companion object {
        /** Makes a free one. */
        @JvmStatic
        fun free(): Item = Item("air")
    }

    inner class Shelf
}

enum class Size(val width: Int) {
    /** The smallest. */
    SMALL(1),
    LARGE(5) {
        override fun wide() = true
    };

    open fun wide() = false
}

annotation class Tested

@Target(AnnotationTarget.CLASS)
@Retention annotation class Kept

/** Where it is sold. */
@Deprecated("use Shop")
enum class Place { CORNER, MARKET }

@Deprecated("use Shop")
@Suppress("unused")
open class Stall {
    fun open() = true
}

@Suppress("unused")
@Deprecated("use Shop")
private fun stall() {
    val shop by lazy { Stall() }

    get("/stall") {
        shop.open()
    }
}

@Suppress("unused")
expect object Market {
    fun open(): Boolean
}

/** Counts. */
class Counter
@Inject
internal constructor(private val start: Int) {
    fun next() = start + 1
}

sealed class Result<out T> {
    object Nothing : Result<kotlin.Nothing>()
}

/** Shouts. */
fun String.shout(): String = uppercase(Locale.ROOT)

suspend fun main() {
    val local = Item("bread")
    local.sell() && opened
}
