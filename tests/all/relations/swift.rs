//! Swift's rules, one test each.

use super::{check, check_imports};

#[test]
fn files_of_a_module_see_one_another_and_others_by_import() {
    let project = "--- Sources/Goods/Item.swift
public struct Item⟦=Item⟧ { public var price⟦=price⟧: Int }
private func hidden⟦=hidden⟧() {}
--- Sources/Goods/Near.swift
func near⟦=near⟧(item: Item⟦Item⟧) { item.price⟦price⟧; hidden⟦?⟧() }
--- Sources/Shop/Cart.swift
import Goods
struct Cart { let item⟦=item⟧: Item⟦Item⟧; let other⟦=other⟧: Goods.Item⟦Item⟧ }
func total(cart: Cart) { cart.item⟦item⟧.price⟦price⟧; cart.other⟦other⟧.price⟦price⟧; near⟦near⟧(item: cart.item⟦item⟧) }
--- Sources/Far/Far.swift
struct Far { let item: Item⟦?⟧ }
--- Sources/Some/Some.swift
import struct Goods.Item⟦Item⟧
func some(item: Item⟦Item⟧) { near⟦?⟧(item: item) }
";
    check(project);
    check_imports(
        project,
        &[
            "Sources/Goods/Near.swift -> Sources/Goods/Item.swift",
            "Sources/Shop/Cart.swift -> Sources/Goods/Item.swift",
            "Sources/Shop/Cart.swift -> Sources/Goods/Near.swift",
            "Sources/Some/Some.swift -> Sources/Goods/Item.swift",
            "Sources/Some/Some.swift -> Sources/Goods/Near.swift",
        ],
    );
}

#[test]
fn members_are_found_by_written_types_and_values() {
    check(
        "--- A.swift
protocol Sellable⟦=Sellable⟧ { func sell⟦=sell⟧(); var name⟦=name⟧: String { get } }
class Base⟦=Base⟧ { func up⟦=up⟧() {}; static let shared⟦=shared⟧ = Base⟦Base⟧() }
class Item⟦=Item⟧: Base⟦Base⟧, Sellable⟦Sellable⟧ {
    var price⟦=price⟧: Int = 3
    let name⟦=own⟧: String
    init⟦=init⟧(name: String) { self.name⟦own⟧ = name; super.init() }
    override func up⟦=over⟧() { super.up⟦up⟧(); price⟦price⟧ += 1; self.sell⟦sold⟧() }
    func sell⟦=sold⟧() {}
    var next⟦=next⟧: Item⟦Item⟧ { Item⟦Item,init⟧(name: name⟦own⟧) }
    struct Shelf⟦=Shelf⟧ { var width⟦=width⟧ = 1 }
}
func use(item: Item⟦Item⟧?, any: Any, all: [Item⟦Item⟧], by: [String: Item⟦Item⟧], some: any Sellable⟦Sellable⟧) {
    item?.price⟦price⟧
    item!.next⟦next⟧.up⟦over⟧()
    some.sell⟦sell⟧()
    Base⟦Base⟧.shared⟦shared⟧.up⟦up⟧()
    let shelf = Item⟦Item⟧.Shelf⟦Shelf⟧()
    shelf.width⟦width⟧
    guard let item = item, item.price⟦price⟧ > 1 else { return }
    if let other = any as? Item⟦Item⟧ { other.price⟦price⟧ = item.price⟦price⟧ }
    all.first?.price⟦price⟧
    all[0].price⟦price⟧
    by[\"a\"]?.price⟦price⟧
    for one in all { one.price⟦price⟧ }
    for (key, one) in by { one.price⟦price⟧ }
    all.map { $0.next⟦next⟧ }.filter { one in one.price⟦price⟧ > 1 }
    all.map(\\.next⟦next⟧).forEach { (one: Item⟦Item⟧) in one.price⟦price⟧ }
    let made = { Item⟦Item,init⟧(name: \"\") }()
    made.price⟦price⟧
    unknown.price⟦?⟧
    print(\"\\(item.price⟦price⟧)\")
    switch any {
    case let it as Item⟦Item⟧: it.price⟦price⟧
    default: break
    }
}
",
    );
}

#[test]
fn extensions_add_members_to_types_of_the_project_and_from_outside() {
    check(
        "--- A.swift
struct Box⟦=Box⟧<T> { let value⟦=value⟧: T }
struct Item⟦=Item⟧ { let price⟦=price⟧ = 1 }
--- B.swift
protocol Named⟦=Named⟧ { func name⟦=name⟧() }
extension Named⟦Named⟧ { func shout⟦=shout⟧() { name⟦name⟧() } }
extension Box⟦Box⟧ { func get⟦=get⟧() -> T { value⟦value⟧ } }
extension Item⟦Item⟧: Named⟦Named⟧ { func name⟦=own⟧() {}; static var free⟦=free⟧: Item⟦Item⟧ { .init() } }
extension String { func trimmed⟦=trimmed⟧() -> String { self }; var isBlank⟦=isBlank⟧: Bool { true } }
extension Collection { func second⟦=second⟧() {} }
extension View { func bold⟦=bold⟧() {} }
struct Page⟦=Page⟧: View {}
--- C.swift
func use(item: Item⟦Item⟧, box: Box⟦Box⟧<Item⟦Item⟧>, text: String, all: [Item⟦Item⟧], page: Page⟦Page⟧, data: Data) {
    item.shout⟦shout⟧()
    item.name⟦own⟧()
    Item⟦Item⟧.free⟦free⟧.price⟦price⟧
    box.get⟦get⟧().price⟦price⟧
    text.trimmed⟦trimmed⟧().isBlank⟦isBlank⟧
    \"\".trimmed⟦trimmed⟧()
    all.second⟦second⟧()
    text.second⟦second⟧()
    page.bold⟦bold⟧()
    item.bold⟦?⟧()
    data.trimmed⟦?⟧()
    unknown.trimmed⟦?⟧()
}
",
    );
}

#[test]
fn labels_tell_overloads_apart() {
    check(
        "--- A.swift
struct Shop⟦=Shop⟧ {
    init⟦=plain⟧() {}
    init⟦=sized⟧(size: Int, name: String = \"\") {}
    func sell⟦=sell⟧(_ item: Int) {}
    func sell⟦=to⟧(_ item: Int, to buyer: String = \"\", then: () -> Void) {}
    func sell⟦=all⟧(items: Int...) {}
    func sell⟦=at⟧(at place: Int) {}
    func sell⟦=name⟧(at place: String) {}
    subscript(place: Int) -> Shop⟦Shop⟧ { self }
    subscript(key key: String) -> Int { 1 }
    static func + (a: Shop⟦Shop⟧, b: Shop⟦Shop⟧) -> Shop⟦Shop⟧ { a }
}
func use(shop: Shop⟦Shop⟧) {
    Shop⟦Shop,plain⟧()
    Shop⟦Shop,sized⟧(size: 1)
    Shop⟦Shop⟧(other: 1)
    shop.sell⟦sell⟧(1)
    shop.sell⟦to⟧(1) { }
    shop.sell⟦to⟧(1, to: \"\", then: { })
    shop.sell⟦all⟧(items: 1, 2)
    shop.sell⟦at⟧(at: 1)
    shop.sell⟦name⟧(at: \"\")
    shop.sell⟦?⟧(by: 1)
}
",
    );
}

#[test]
fn cases_are_found_by_the_type_that_is_expected() {
    check(
        "--- A.swift
enum Size⟦=Size⟧: String, CaseIterable {
    case small⟦=small⟧, large⟦=large⟧
    case nested⟦=nested⟧(Item⟦Item⟧, by: Size⟦Size⟧ = .small⟦small⟧)
    var next⟦=next⟧: Size⟦Size⟧ { .large⟦large⟧ }
    func is⟦=is⟧(_ other: Size⟦Size⟧) -> Bool { self == .small⟦small⟧ || other == .large⟦large⟧ }
}
struct Item⟦=Item⟧ { var size⟦=size⟧: Size⟦Size⟧ = .small⟦small⟧; static let one⟦=one⟧ = Item⟦Item⟧() }
func take⟦=take⟧(_ size: Size⟦Size⟧, of item: Item⟦Item⟧? = nil, all: [Size⟦Size⟧] = []) -> Item⟦Item⟧ { .one⟦one⟧ }
func use(item: Item⟦Item⟧, flag: Bool) -> Size⟦Size⟧ {
    take⟦take⟧(.small⟦small⟧)
    take⟦take⟧(.nested⟦nested⟧(.one⟦one⟧, by: .large⟦large⟧), of: .one⟦one⟧, all: [.small⟦small⟧])
    take⟦take⟧(flag ? .small⟦small⟧ : .large⟦large⟧)
    let size: Size⟦Size⟧ = .small⟦small⟧.next⟦next⟧
    item.size⟦size⟧ = .large⟦large⟧
    if item.size⟦size⟧ == .small⟦small⟧ && flag { return .small⟦small⟧ }
    for one in Size⟦Size⟧.allCases { one.next⟦next⟧ }
    switch item.size⟦size⟧ {
    case .small⟦small⟧, Size⟦Size⟧.large⟦large⟧: break
    case .nested⟦nested⟧(let one, by: let by) where one.size⟦size⟧ == by: by.next⟦next⟧
    }
    if case let .nested⟦nested⟧(one, _) = size { one.size⟦size⟧ }
    unknown(.small⟦?⟧)
    return .large⟦large⟧
}
",
    );
}

#[test]
fn a_property_and_a_function_may_have_one_name_and_private_ones_are_of_their_file() {
    check(
        "--- A.swift
class Request⟦=Request⟧ {
    let progress⟦=progress⟧ = Counter⟦Counter⟧()
    func progress⟦=follow⟧(queue: Int) { progress⟦progress⟧.count⟦count⟧; progress⟦follow⟧(queue: 1) }
    var handler⟦=handler⟧: (Int) -> Counter⟦Counter⟧
    func run⟦=run⟧() { handler⟦handler⟧(1).count⟦count⟧; self.handler⟦handler⟧(2); map(run⟦run⟧) }
}
struct Counter⟦=Counter⟧ { var count⟦=count⟧ = 0 }
struct Pair⟦=Pair⟧ { var one⟦=one⟧: Size⟦Size⟧; var other: Int? }
enum Size⟦=Size⟧ { case small⟦=small⟧ }
let pair = Pair⟦Pair⟧(one⟦one⟧: .small⟦small⟧)
--- B.swift
extension Request⟦Request⟧ {
    private var script⟦=b⟧: Int { 1 }
    func b⟦=useB⟧() { script⟦b⟧; self.script⟦b⟧ }
}
--- C.swift
extension Request⟦Request⟧ {
    private var script⟦=c⟧: Int { 2 }
    func c⟦=useC⟧() { script⟦c⟧; b⟦useB⟧() }
}
--- D.swift
func d(request: Request⟦Request⟧) { request.script⟦?⟧; request.c⟦useC⟧() }
",
    );
}

#[test]
fn labels_name_properties_of_a_structure_without_an_initialiser() {
    check(
        "--- A.swift
struct Point⟦=Point⟧ { var x⟦=x⟧: Int; var y⟦=y⟧ = 0 }
struct Own⟦=Own⟧ {
    var x⟦=own⟧: Int
    init⟦=init⟧(x: Int) { self.x⟦own⟧ = x }
}
func use() {
    let point = Point⟦Point⟧(x⟦x⟧: 1, y⟦y⟧: 2)
    let own = Own⟦Own,init⟧(x: 1)
    print(point.x⟦x⟧, own.x⟦own⟧, Int(x: 1))
}
",
    );
}
