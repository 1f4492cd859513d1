import Foundation

/// Most items that one may buy.
let limit = 10
var (first, second) = (1, 2)

typealias Prices = [String: Int]

/**
 Anything that can be sold.
 */
public protocol Sellable: AnyObject {
    associatedtype Buyer
    var price: Int { get }
    func sell(to buyer: Buyer, count: Int) -> Bool
}

/// An item on a shelf.
@available(iOS 13, *)
public final class Item: Sellable {
    /// Its price.
    public var price: Int = 3
    private let name: String
    static let shared = Item(name: "air")
    var isFree: Bool {
        return price == 0
    }

    init(name: String) {
        self.name = name
    }

    deinit {}

    // Not documentation.
    @discardableResult
    public func sell(to buyer: String, count: Int = 1) -> Bool {
        guard count > 0, count < limit || buyer.isEmpty else { return false }
        func note(_ text: String) { print(text) }
        let left = count > 1 ? "many" : "one"
        switch left {
        case "one": note(left)
        default: break
        }
        return true
    }

    subscript(index: Int) -> Int { index }

    struct Shelf {
        var width = 1
    }
}

enum Size: Int {
    /// The smallest.
    case small = 1
    case large, huge
    indirect case nested(Size)

    func wide() -> Bool { self == .large }
}

struct Point<T> { let x, y: T }

actor Counter { var count = 0 }

extension Item {
    /// Makes a free one.
    static func free() -> Item { Item(name: "air") }

    static func == (a: Item, b: Item) -> Bool { a.price == b.price }
}

func + (a: Point<Int>, b: Point<Int>) -> Point<Int> { a }

@main
struct Program {
    static func main() async throws {
        try? Item.free().sell(to: "me")
    }
}
