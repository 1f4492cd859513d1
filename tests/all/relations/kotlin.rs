//! Kotlin's rules, one test each.

use super::{check, check_imports};

#[test]
fn names_are_seen_through_packages_and_imports() {
    let project = "--- a/Item.kt
package shop.goods
class Item⟦=Item⟧(val price⟦=price⟧: Int)
fun count⟦=count⟧(): Int = 1
val limit⟦=limit⟧ = 2
private fun hidden⟦=hidden⟧() = limit⟦limit⟧
--- b/Near.kt
package shop.goods
private fun hidden⟦=other⟧() = Item⟦Item⟧(1)
fun near() = hidden⟦other⟧()
--- c/Cart.kt
package shop.carts
import shop.goods.Item⟦Item⟧
import shop.goods.Item⟦Item⟧ as Ware
import shop.goods.count⟦count⟧
class Cart⟦=Cart⟧(val one: Item⟦Item⟧, val two: Ware⟦Item⟧) {
  fun total⟦=total⟧(): Int { return one.price⟦price⟧ + two.price⟦price⟧ + count⟦count⟧() + shop.goods.limit⟦limit⟧ }
}
--- d/Far.kt
package far
import shop.carts.*
class Far(val cart: Cart⟦Cart⟧, item: Item⟦?⟧) {
  val sum = cart.total⟦total⟧() + limit⟦?⟧
}
";
    check(project);
    check_imports(project, &["b/Near.kt -> a/Item.kt", "c/Cart.kt -> a/Item.kt", "d/Far.kt -> c/Cart.kt"]);
}

#[test]
fn annotations_before_declarations_are_uses() {
    check(
        "--- A.kt
annotation class Kept⟦=Kept⟧
annotation class Seen⟦=Seen⟧(val by: String)

@Kept⟦Kept⟧
@Seen⟦Seen⟧(\"a\")
open class Shop⟦=Shop⟧ {
  fun open⟦=open⟧() = 1
}

@Seen⟦Seen⟧(\"b\")
expect object Market⟦=Market⟧ {
  fun open⟦=opened⟧(): Int
}

@Seen⟦Seen⟧(\"c\")
@Kept⟦Kept⟧
private fun use(shop: Shop⟦Shop⟧) = shop.open⟦open⟧() + Market⟦Market⟧.open⟦opened⟧()
",
    );
}

#[test]
fn members_are_found_by_written_types_and_values() {
    check(
        "--- A.kt
open class Base⟦=Base⟧ {
  open fun up⟦=up⟧() {}
  val own⟦=own⟧ = 1
}
class Item⟦=Item⟧(val price⟦=price⟧: Int, weight: Double) : Base⟦Base⟧() {
  override fun up⟦=over⟧() { super.up⟦up⟧() ; this.own⟦own⟧ ; own⟦own⟧ }
  var sold⟦=sold⟧: Boolean = false
  val next⟦=next⟧ get() = Item⟦Item⟧(1, 2.0)
}
fun make⟦=make⟧() = Item⟦Item⟧(1, 2.0)
fun use(item: Item⟦Item⟧?, base: Base⟦Base⟧, any: Any) {
  item?.price⟦price⟧; item!!.up⟦over⟧(); base.up⟦up⟧(); item.sold⟦sold⟧ = true
  make⟦make⟧().next⟦next⟧.price⟦price⟧
  val local = Item⟦Item⟧(price⟦price⟧ = 3, weight = 1.0)
  local.own⟦own⟧
  (any as Item⟦Item⟧).price⟦price⟧
  if (any is Item⟦Item⟧ && any.price⟦price⟧ > 1) any.sold⟦sold⟧
  when (any) { is Item⟦Item⟧ -> any.price⟦price⟧ ; else -> 0 }
  \"${item.price⟦price⟧} $local\"
}
",
    );
}

#[test]
fn functions_extend_types_of_the_project_and_others() {
    check(
        "--- Extensions.kt
package tools
class Item⟦=Item⟧ {
  fun name⟦=name⟧() = 1
  fun both() = sell⟦sell⟧(1)
}
interface Other⟦=Other⟧
fun Item⟦Item⟧.sell⟦=sell⟧(count: Int): Item⟦Item⟧ { name⟦name⟧(); this@sell.name⟦name⟧(); return this }
fun Other⟦Other⟧.sell⟦=other⟧(count: Int) {}
val Item⟦Item⟧.size⟦=size⟧: Int get() = name⟦name⟧()
fun String.shout⟦=shout⟧(): String = uppercase()
fun <T> List<T>.second⟦=second⟧(): T = this[1]
--- User.kt
package user
import tools.Item⟦Item⟧
import tools.Other⟦Other⟧
import tools.sell⟦sell,other⟧
import tools.shout⟦shout⟧
import tools.size⟦size⟧
import tools.second⟦second⟧
fun use(item: Item⟦Item⟧, other: Other⟦Other⟧, text: String, items: List<Item⟦Item⟧>) {
  item.sell⟦sell⟧(1).sell⟦sell⟧(2).size⟦size⟧
  other.sell⟦other⟧(1)
  \"x\".shout⟦shout⟧(); text.shout⟦shout⟧()
  items.second⟦second⟧()
  for (one in items) one.name⟦name⟧()
  text.sell⟦?⟧(1)
}
",
    );
}

#[test]
fn lambdas_know_their_receivers_and_parameters() {
    check(
        "--- A.kt
class Item⟦=Item⟧(val price⟦=price⟧: Int) {
  fun sell⟦=sell⟧() {}
  val inner⟦=inner⟧: Inner⟦Inner⟧ = Inner⟦Inner⟧()
}
class Inner⟦=Inner⟧ { fun deep⟦=deep⟧() {} }
class Build⟦=Build⟧ { fun add⟦=add⟧(count: Int) {} }
fun build⟦=build⟧(name: String = \"\", body: Build⟦Build⟧.() -> Unit) {}
fun each⟦=each⟧(body: (Item⟦Item⟧, Inner⟦Inner⟧) -> Unit) {}
fun use(item: Item⟦Item⟧, items: List<Item⟦Item⟧>) {
  item.apply { sell⟦sell⟧(); this.price⟦price⟧ }.sell⟦sell⟧()
  item.let { it.inner⟦inner⟧ }.deep⟦deep⟧()
  item.also { it.sell⟦sell⟧() }
  with(item) { sell⟦sell⟧(); inner⟦inner⟧ }.deep⟦deep⟧()
  items.filter { it.price⟦price⟧ > 1 }.map { it.inner⟦inner⟧ }.forEach { one -> one.deep⟦deep⟧() }
  build⟦build⟧ { add⟦add⟧(1) }
  build⟦build⟧(\"x\") { add⟦add⟧(2) }
  each⟦each⟧ { one, two -> one.sell⟦sell⟧(); two.deep⟦deep⟧() }
  items.map(Item⟦Item⟧::price⟦price⟧)
  val later by lazy { Inner⟦Inner⟧() }
  later.deep⟦deep⟧()
  val item = checkNotNull(item) { later }
  item.sell⟦sell⟧()
}
",
    );
}

#[test]
fn companions_objects_and_entries_are_members() {
    check(
        "--- A.kt
interface Maker⟦=Maker⟧ {
  fun make⟦=make⟧(): Shop⟦Shop⟧
}
class Shop⟦=Shop⟧ private constructor(val name: String) {
  constructor⟦=second⟧(count: Int) : this(\"x\")
  companion object : Maker⟦Maker⟧ {
    const val MOST⟦=MOST⟧ = 1
    fun free⟦=free⟧() = Shop⟦Shop⟧(\"a\")
    override fun make⟦=made⟧() = Shop⟦Shop,second⟧(1)
  }
  class Shelf⟦=Shelf⟧ {
    fun top⟦=top⟧() {}
  }
  fun most() = MOST⟦MOST⟧
}
object Single⟦=Single⟧ { fun run⟦=run⟧() {} }
enum class Size⟦=Size⟧(val width⟦=width⟧: Int) {
  SMALL⟦=SMALL⟧(1),
  LARGE(2) {
    override fun wide⟦=deep⟧() = true
  };
  open fun wide⟦=wide⟧() = false
}
typealias Store⟦=Store⟧ = Shop⟦Shop⟧
fun use(store: Store⟦Store⟧) {
  Shop⟦Shop⟧.MOST⟦MOST⟧; Shop⟦Shop⟧.free⟦free⟧().most(); Shop⟦Shop⟧.make⟦made⟧()
  Shop⟦Shop⟧.Shelf⟦Shelf⟧().top⟦top⟧()
  Single⟦Single⟧.run⟦run⟧()
  Size⟦Size⟧.SMALL⟦SMALL⟧.wide⟦wide⟧()
  for (size in Size⟦Size⟧.values()) size.width⟦width⟧
}
",
    );
}

#[test]
fn overloads_are_chosen_by_arguments() {
    check(
        "--- A.kt
class Item
class Sink⟦=Sink⟧ {
  fun write⟦=text⟧(value: String) {}
  fun write⟦=item⟧(value: Item) {}
  fun write⟦=some⟧(value: ByteArray, from: Int = 0, to: Int = 1) {}
  fun add⟦=add⟧(vararg all: Item) {}
  operator fun plus(other: Sink⟦Sink⟧): Sink⟦Sink⟧ = this
  infix fun with⟦=with⟧(other: Item): Sink⟦Sink⟧ = this
  fun use(bytes: ByteArray, item: Item, sink: Sink⟦Sink⟧) {
    write⟦text⟧(\"x\"); write⟦item⟧(item); sink.write⟦some⟧(bytes, 1); add⟦add⟧(item, item)
    val sum = sink + sink ; sum.write⟦item⟧(Item())
    val both = sink with⟦with⟧ item ; both.write⟦text⟧(\"$item\")
  }
}
data class Pair⟦=Pair⟧(val one⟦=one⟧: Sink⟦Sink⟧, val two: Item)
fun use(pair: Pair⟦Pair⟧, pairs: List<Pair⟦Pair⟧>) {
  val (one, two) = pair
  one.write⟦item⟧(two)
  for ((first, _) in pairs) first.write⟦text⟧(\"x\")
  pair.copy(one⟦one⟧ = one).one⟦one⟧
}
",
    );
}
