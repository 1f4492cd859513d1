package shop

import groovy.transform.Immutable

/** Most items that one may buy. */
final int LIMIT = 10
def names = ['bread', 'milk']

interface Sellable {
    boolean sell(int count)
}

enum Size { SMALL, LARGE }

/**
 * An item on a shelf.
 */
@Immutable
class Item extends Thing implements Sellable {
    String name
    private double price = 3
    static final int MOST = 4

    Item(String name) {
        this.name = name
    }

    // Sells some.
    @Override
    boolean sell(int count) {
        if (count > MOST && price > 0) {
            return false
        }
        for (int i = 0; i < count; i++) { println i }
        def inner = { a -> a + 1 }
        return inner(count) > 1 ? true : false
    }

    def show() { println "${name}" }

    Sellable half() {
        def price = price / 2
        return new Sellable() {
            private final int left = 1

            @Override
            public boolean sell(int count) {
                if (count > left) { return false }
                true
            }
        }
    }

    static Item parse(String text) { new Item(text) }

    def "a #name in quotes"(String name = /\d+{/, int count = 1) throws Exception {
        println name =~ /[^{]+/ ?: count
    }
}

trait Counted {
    int sold = 0
    void count() { sold++ }
}

/** Totals. */
def total(items) {
    items.sum { it.price }
}

int twice(int a) { return a * 2 }

task build {
    doLast { println total([]) }
}

println total([new Item('bread')])
