//! Scala's rules, one test each.

use super::{check, check_imports};

#[test]
fn names_are_seen_through_packages_and_imports() {
    let project = "--- a/Item.scala
package shop.goods
class Item⟦=Item⟧(val price⟦=price⟧: Int)
object Tools⟦=Tools⟧ {
  def count⟦=count⟧(): Int = limit⟦limit⟧
  val limit⟦=limit⟧ = 2
}
--- b/Near.scala
package shop.goods
class Near { def near(item: Item⟦Item⟧) = item.price⟦price⟧ + Tools⟦Tools⟧.count⟦count⟧() }
--- c/Cart.scala
package shop
package carts
import shop.goods.{Item⟦Item⟧, Item⟦Item⟧ => Ware}
import shop.goods.Tools⟦Tools⟧._
class Cart⟦=Cart⟧(one: Item⟦Item⟧, two: Ware⟦Item⟧) {
  def total⟦=total⟧: Int = one.price⟦price⟧ + two.price⟦price⟧ + count⟦count⟧() + shop.goods.Tools⟦Tools⟧.limit⟦limit⟧
}
--- d/Far.scala
package far
import shop.carts._
class Far(cart: Cart⟦Cart⟧, item: Item⟦?⟧) {
  val sum = cart.total⟦total⟧ + limit⟦?⟧ + _root_.shop.goods.Tools⟦Tools⟧.limit⟦limit⟧
}
";
    check(project);
    check_imports(
        project,
        &["b/Near.scala -> a/Item.scala", "c/Cart.scala -> a/Item.scala", "d/Far.scala -> c/Cart.scala"],
    );
}

#[test]
fn members_are_found_by_written_types_and_values() {
    check(
        "--- A.scala
trait Base⟦=Base⟧ {
  def up⟦=up⟧(): Unit
  val own⟦=own⟧ = 1
}
class Item⟦=Item⟧(val price⟦=price⟧: Int, weight: Double) extends Base⟦Base⟧ {
  override def up⟦=over⟧(): Unit = { super.up⟦up⟧(); this.own⟦own⟧; own⟦own⟧ }
  var sold⟦=sold⟧ = false
  def next⟦=next⟧ = new Item⟦Item⟧(1, 2.0)
}
object Use {
  def make⟦=make⟧() = new Item⟦Item⟧(1, 2.0)
  def use(item: Item⟦Item⟧, base: Base⟦Base⟧, any: Any): Unit = {
    item.price⟦price⟧; base.up⟦up⟧(); item.sold⟦sold⟧ = true
    make⟦make⟧().next⟦next⟧.price⟦price⟧
    val local = item.next⟦next⟧
    local.own⟦own⟧
    any match {
      case it: Item⟦Item⟧ if it.price⟦price⟧ > 1 => it.sold⟦sold⟧
      case other => other
    }
    println(s\"${item.price⟦price⟧} $local\")
    for (one <- List(item); two = one.next⟦next⟧) yield two.price⟦price⟧
    List(item).map(_.next⟦next⟧).filter(_.sold⟦sold⟧).foreach { one => one.price⟦price⟧ }
    (any.asInstanceOf[Item⟦Item⟧]: Item⟦Item⟧).price⟦price⟧
  }
}
",
    );
}

#[test]
fn a_class_and_its_object_have_one_name() {
    check(
        "--- A.scala
package a
case class Point⟦=Point⟧(x⟦=x⟧: Int, y⟦=y⟧: Point⟦Point⟧) {
  def moved⟦=moved⟧(by: Int) = copy(x⟦?⟧ = by)
}
class Size⟦=Size⟧(val width⟦=width⟧: Int)
object Size⟦=Sizes⟧ {
  def apply⟦=apply⟧(width: Int): Size⟦Size⟧ = new Size⟦Size⟧(width)
  val Default⟦=Default⟧ = Size⟦Sizes⟧(3)
}
object Use {
  val point = Point⟦Point⟧(1, null)
  point.x⟦x⟧; point.moved⟦moved⟧(2)
  point match { case Point⟦Point⟧(first, second) => second.y⟦y⟧ }
  Size⟦Sizes⟧(3).width⟦width⟧
  Size⟦Sizes⟧.Default⟦Default⟧.width⟦width⟧
  def take(size: Size⟦Size⟧) = size.width⟦width⟧
}
",
    );
}

#[test]
fn functions_extend_types_and_enumerations_have_cases() {
    check(
        "--- A.scala
class Item⟦=Item⟧
extension (item: Item⟦Item⟧)
  def sell⟦=sell⟧(count: Int): Item⟦Item⟧ = item
enum Color⟦=Color⟧(val code⟦=code⟧: Int):
  case Red⟦=Red⟧ extends Color⟦Color⟧(1)
  def next⟦=next⟧: Color⟦Color⟧ = Color⟦Color⟧.Red⟦Red⟧
type Wares⟦=Wares⟧ = List[Item⟦Item⟧]
trait Named⟦=Named⟧ { def name⟦=name⟧: String }
trait Shown⟦=Shown⟧ { self: Named⟦Named⟧ =>
  def show = name⟦name⟧ + self.name
}
def use(item: Item⟦Item⟧, wares: Wares⟦Wares⟧) =
  item.sell⟦sell⟧(1).sell⟦sell⟧(2)
  Color⟦Color⟧.Red⟦Red⟧.next⟦next⟧.code⟦code⟧
  wares.head.sell⟦sell⟧(3)
",
    );
}

#[test]
fn methods_of_an_implicit_class_extend_what_it_is_made_of() {
    check(
        "--- a.scala
package app
class Point⟦=Point⟧(val x⟦=x⟧: Int)
class Other⟦=Other⟧ { def shout⟦=other⟧: String = \"\" }
object Ops⟦=Ops⟧ {
  implicit class Rich(p: Point⟦Point⟧) { def shout⟦=shout⟧: String = p.x⟦x⟧.toString }
}
--- b.scala
package app
import Ops⟦Ops⟧._
object Use { def use(p: Point⟦Point⟧, o: Other⟦Other⟧) = List(p.shout⟦shout⟧, o.shout⟦other⟧) }
--- c.scala
package app
object Far { def far(p: Point⟦Point⟧) = p.x⟦x⟧ }
",
    );
}
