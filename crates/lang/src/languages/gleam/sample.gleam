//// A shop that counts what it sells.
import gleam/io
import gleam/list.{map as each}

/// Most items that one may buy.
pub const limit = 10

/// An item on a shelf.
pub type Item {
  Item(name: String, price: Int)
  Nothing
}

pub opaque type Till {
  Till(sold: Int, List(Item))
}

type Price =
  Int

/// Sells some.
pub fn sell(item: Item, count count: Int) -> Bool {
  let inner = fn(a) { a + 1 }
  case count > limit && inner(count) > 2 {
    True -> False
    False -> total([item]) > 3
  }
}

fn total(items: List(Item)) -> Int {
  items |> list.length
}

@external(erlang, "os", "time")
pub fn now() -> Int

pub fn main() {
  io.debug(sell(Nothing, 1))
}
