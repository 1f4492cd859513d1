//! C#'s rules, one test each.

use super::{check, check_imports};

#[test]
fn names_are_seen_through_namespaces_and_usings() {
    let project = "--- Item.cs
namespace Shop.Goods { public class Item⟦=Item⟧ { public int Price⟦=Price⟧ { get; set; } } }
--- Cart.cs
using Shop.Goods;
using Old = Shop.Goods.Item⟦Item⟧;
namespace Shop.Carts;
class Cart⟦=Cart⟧ {
  Item⟦Item⟧ one; Old⟦Item⟧ two; Goods.Item⟦Item⟧ three;
  int Total⟦=Total⟧() { return one.Price⟦Price⟧ + two.Price⟦Price⟧ + three.Price⟦Price⟧; }
}
--- Far.cs
namespace Elsewhere { class Far { Item⟦?⟧ one; Shop.Carts.Cart⟦Cart⟧ cart; void F() { cart.Total⟦Total⟧(); } } }
";
    check(project);
    check_imports(project, &["Cart.cs -> Item.cs", "Far.cs -> Cart.cs"]);
}

#[test]
fn parts_of_a_class_are_one() {
    check(
        "--- A.cs
namespace N { partial class Cart⟦=a⟧ { int count⟦=count⟧; } class Base { public void Up⟦=Up⟧() {} } }
--- B.cs
namespace N { partial class Cart⟦=b⟧ : Base { int Count() { Up⟦Up⟧(); return count⟦count⟧ + this.count⟦count⟧; } } }
--- C.cs
namespace N { class User { void F(Cart⟦a,b⟧ cart) { cart.Up⟦Up⟧(); } } }
",
    );
}

#[test]
fn methods_extend_types_of_the_project_and_others() {
    check(
        "--- Extensions.cs
namespace Tools {
  static class Extensions⟦=E⟧ {
    public static int Size⟦=Size⟧(this string text, int start) { return 0; }
    public static T First⟦=First⟧<T>(this T[] all) { return all[0]; }
    public static void Sell⟦=Sell⟧(this IGoods goods) { }
  }
  interface IGoods { }
  class Item : IGoods { }
}
--- User.cs
using Tools;
class User {
  int F(string text, Item item, Item[] items, dynamic any) {
    item.Sell⟦Sell⟧(); items.First⟦First⟧(); any.Sell⟦?⟧(); F(text.Size⟦?⟧, item, items, any);
    return text.Size⟦Size⟧(1) + \"x\".Size⟦Size⟧(2) + Extensions⟦E⟧.Size⟦Size⟧(text, 3);
  }
}
",
    );
}

#[test]
fn a_member_may_have_the_name_of_its_type() {
    check(
        "--- A.cs
enum Color⟦=Color⟧ { Red⟦=Red⟧ }
class Shape {
  public Color⟦Color⟧ Color⟦=property⟧ { get { return Color⟦property⟧.Red⟦Red⟧; } }
  bool F(Shape other) { return other.Color⟦property⟧ is Color⟦Color⟧ c && c == Color⟦property⟧.Red⟦Red⟧; }
}
",
    );
}

#[test]
fn overloads_and_constructors_are_chosen_by_arguments() {
    check(
        "--- A.cs
class Cart⟦=Cart⟧ {
  public Cart⟦=none⟧() : this⟦one⟧(1) { }
  public Cart⟦=one⟧(int count, string name = null) { }
  void Add⟦=number⟧(int count) { }
  void Add⟦=text⟧(string name) { }
  void Add⟦=any⟧(string name, params object[] all) { }
  void F() {
    var cart = new Cart⟦Cart,one⟧(3);
    cart.Add⟦number⟧(1); cart.Add⟦text⟧(\"x\"); cart.Add⟦any⟧(\"x\", 1, 2);
    new Cart⟦Cart,none⟧();
  }
}
class Big⟦=Big⟧ : Cart⟦Cart⟧ { Big⟦=made⟧() : base⟦one⟧(4) { } }
",
    );
}

#[test]
fn generic_types_of_one_name_are_told_apart() {
    check(
        "--- A.cs
using System.Collections.Generic;
class Box⟦=plain⟧ { }
class Box⟦=box⟧<T> where T : Item { public T Value⟦=Value⟧; public T Get⟦=Get⟧() { return Value⟦Value⟧; } }
class Item { public int Price⟦=Price⟧; }
class User {
  int F(Box⟦box⟧<Item> one, Box⟦plain⟧ two, Dictionary<string, Item> all) {
    foreach (var item in new List<Item>()) item.Price⟦Price⟧++;
    return one.Get⟦Get⟧().Price⟦Price⟧ + all[\"x\"].Price⟦Price⟧;
  }
}
",
    );
}

#[test]
fn functions_without_names_take_what_is_passed() {
    check(
        "--- A.cs
using System; using System.Linq; using System.Collections.Generic;
delegate int Rule⟦=Rule⟧(Item item);
class Item { public int Price⟦=Price⟧ { get; set; } }
class User {
  void Each⟦=Each⟧(Func<Item, int> by) { }
  void With⟦=With⟧(Rule⟦Rule⟧ rule) { }
  void F(List<Item> items) {
    Each⟦Each⟧(item => item.Price⟦Price⟧); With⟦With⟧(item => item.Price⟦Price⟧);
    var most = items.Where(item => item.Price⟦Price⟧ > 1).First().Price⟦Price⟧;
    var made = new Item { Price⟦Price⟧ = 1 };
    if (made is Item { Price⟦Price⟧: 1 } found) found?.Price⟦Price⟧.ToString();
    var sum = from item in items where item.Price⟦Price⟧ > 0 select item.Price⟦Price⟧;
  }
}
",
    );
}

#[test]
fn parameters_of_a_record_are_its_properties() {
    check(
        "--- Line.cs
namespace Shop;
record Line⟦=Line⟧(string Name⟦=Name⟧, int Count⟦=Count⟧ = 1) { int Twice() { return Count⟦Count⟧ * 2; } }
class Till { string Of(Line⟦Line⟧ line) { return line.Name⟦Name⟧ + line.Count⟦Count⟧; } }
",
    );
}

#[test]
fn an_extension_of_an_interface_that_the_file_defines() {
    check(
        "--- a.cs
namespace Paint {
public interface ITraced⟦=ITraced⟧ { }
public class Widget⟦=Widget⟧ : ITraced⟦ITraced⟧ { public void Draw⟦=Draw⟧() { this.Trace⟦Trace⟧(); } }
public static class Tracing⟦=Tracing⟧ { public static void Trace⟦=Trace⟧(this ITraced⟦ITraced⟧ it) { } }
public static class Other⟦=Other⟧ { public static void Mark⟦=Mark⟧<T>(this T it) where T : ITraced⟦ITraced⟧ { } }
public class Gauge⟦=Gauge⟧ : ITraced⟦ITraced⟧ { public void Draw⟦=Draw2⟧() { this.Mark⟦Mark⟧(); } }
}
",
    );
}

#[test]
fn labels_name_properties_of_records_and_attributes() {
    check(
        "--- a.cs
record Person⟦=Person⟧(string First⟦=First⟧, string Last⟦=Last⟧);
class NamedAttribute⟦=Named⟧ : System.Attribute { public int Order⟦=Order⟧ { get; set; } }
class Plain⟦=Plain⟧ { public Plain⟦=made⟧(int size) {} public int Size⟦=Size⟧ { get; set; } }
[Named⟦Named⟧(Order⟦Order⟧ = 3)]
class Use {
  object M() { var p = new Person⟦Person⟧(First⟦First⟧: \"a\", Last⟦Last⟧: \"b\"); return new Plain⟦Plain,made⟧(size: 1); }
}
",
    );
}
