//! Java's rules, one test each.

use super::{check, check_imports};

#[test]
fn packages_are_found_below_every_source_root() {
    check(
        "--- core/src/main/java/shop/Cart.java
package shop;
public class Cart⟦=Cart⟧ { Item⟦Item⟧ first; }
--- core/src/test/java/shop/CartTest.java
package shop;
class CartTest { Cart⟦Cart⟧ cart; }
--- core/src/main/java/shop/Item.java
package shop;
class Item⟦=Item⟧ {}
--- web/src/main/java/web/Page.java
package web;
import shop.Cart⟦Cart⟧;
class Page { Cart⟦Cart⟧ cart; shop.Cart⟦Cart⟧ other; Item⟦?⟧ none; }
",
    );
}

#[test]
fn of_classes_of_one_name_the_one_below_the_same_root_is_meant() {
    check(
        "--- a/src/x/A.java
package x;
class A⟦=one⟧ {}
--- a/src/x/User.java
package x;
class User { A⟦one⟧ a; }
--- b/src/x/A.java
package x;
class A⟦=two⟧ {}
--- b/src/x/User.java
package x;
class User { A⟦two⟧ a; }
--- b/src/y/User.java
package y;
import x.A⟦two⟧;
class User { A⟦two⟧ a; }
",
    );
}

#[test]
fn imports_bind_one_name_or_all_and_one_counts_for_more() {
    check(
        "--- a/One.java
package a;
public class One⟦=one⟧ { public static class In⟦=in⟧ {} }
--- a/Two.java
package a;
public class Two⟦=two⟧ {}
--- b/One.java
package b;
class One⟦=other⟧ {}
--- b/Two.java
package b;
class Two⟦=own⟧ {}
--- b/Use.java
package b;
import a.One⟦one⟧;
import a.One⟦one⟧.In⟦in⟧;
import a.*;
class Use { One⟦one⟧ x; Two⟦own⟧ y; In⟦in⟧ z; One⟦one⟧.In⟦in⟧ w; }
--- c/Use.java
package c;
import a.*;
class Use { Two⟦two⟧ y; }
",
    );
}

#[test]
fn static_imports_bind_fields_and_methods() {
    check(
        "--- a/Util.java
package a;
public class Util⟦=Util⟧ {
  public static int size⟦=field⟧;
  public static int size⟦=method⟧() { return size⟦field⟧; }
  public static void go⟦=go⟧() {}
}
--- b/Use.java
package b;
import static a.Util⟦Util⟧.size⟦field,method⟧;
import static a.Util⟦Util⟧.*;
class Use { int n = size⟦field⟧ + size⟦method⟧(); { go⟦go⟧(); } }
",
    );
}

#[test]
fn fields_and_methods_are_worlds_of_their_own() {
    check(
        "--- A.java
class A⟦=A⟧ {
  int size⟦=field⟧;
  int size⟦=method⟧() { return size⟦field⟧; }
  void go(A⟦A⟧ a, int size) { a.size⟦field⟧ = a.size⟦method⟧(); this.size⟦field⟧ = size⟦?⟧; size⟦method⟧(); }
}
",
    );
}

#[test]
fn an_overload_is_meant_by_what_it_takes() {
    check(
        "--- A.java
class A {
  void f⟦=one⟧() { f⟦two⟧(1); }
  void f⟦=two⟧(int x) { f⟦one⟧(); }
}
class Base { static boolean reg⟦=above⟧(int a, int b) { return true; } boolean inst⟦=higher⟧(int a, int b) { return true; } }
class Up extends Base {
  static boolean reg⟦=reg⟧(int a) { return reg⟦above⟧(a, 1); }
  boolean inst⟦=inst⟧(int a) { return inst⟦higher⟧(a, 2) && super.inst⟦higher⟧(1, 2) && inst⟦inst⟧(a); }
}
",
    );
}

#[test]
fn overloads_are_told_apart_by_what_a_collection_is_of() {
    check(
        "--- A.java
import java.util.*;
interface Shown⟦=Shown⟧ {}
class Port⟦=Port⟧ implements Shown⟦Shown⟧ {}
class Net⟦=Net⟧ {}
class A {
  ArrayList<Port⟦Port⟧> ports⟦=ports⟧ = new ArrayList<>();
  ArrayList<Net⟦Net⟧> nets⟦=nets⟧ = new ArrayList<Net⟦Net⟧>();
  void f() { show⟦shown⟧(ports⟦ports⟧); show⟦nets_shown⟧(nets⟦nets⟧); show⟦nets_shown⟧(new ArrayList<Net⟦Net⟧>()); }
  void show⟦=shown⟧(Collection<? extends Shown⟦Shown⟧> all) {}
  void show⟦=nets_shown⟧(ArrayList<Net⟦Net⟧> all) {}
}
",
    );
}

#[test]
fn names_of_a_class_are_seen_inside_it_inherited_ones_too() {
    check(
        "--- A.java
class Base⟦=Base⟧ {
  protected int n⟦=n⟧;
  void f⟦=f⟧() {}
  static class In⟦=In⟧ {}
}
class A extends Base⟦Base⟧ {
  In⟦In⟧ in;
  class Deep {
    void g() { f⟦f⟧(); n⟦n⟧++; A.this.f⟦f⟧(); }
    void k(Object n) { n⟦?⟧.hashCode(); }
  }
  void h() { super.f⟦f⟧(); this.f⟦f⟧(); A.super.f⟦f⟧(); }
}
",
    );
}

#[test]
fn interfaces_give_their_default_methods() {
    check(
        "--- A.java
interface Named⟦=Named⟧ {
  String name⟦=name⟧();
  default String shown⟦=shown⟧() { return name⟦name⟧(); }
}
class A implements Named⟦Named⟧ {
  public String name⟦=own⟧() { return Named⟦Named⟧.super.shown⟦shown⟧(); }
  void go(Named⟦Named⟧ n) { n.name⟦name⟧(); shown⟦shown⟧(); name⟦own⟧(); }
}
",
    );
}

#[test]
fn classes_without_a_name_have_bases_too() {
    check(
        "--- A.java
abstract class Task⟦=Task⟧ { abstract void run⟦=run⟧(); void stop⟦=stop⟧() {} }
class A {
  int n⟦=n⟧;
  Task⟦Task⟧ t = new Task⟦Task⟧() {
    int n⟦=m⟧;
    void run⟦=own⟧() { stop⟦stop⟧(); this.run⟦own⟧(); n⟦m⟧++; A.this.n⟦n⟧++; }
  };
  void go() { t.run⟦run⟧(); }
}
",
    );
}

#[test]
fn constructors_are_meant_by_new_this_and_super() {
    check(
        "--- A.java
class Base⟦=Base⟧ { Base⟦=make⟧(int x) {} Base⟦=bare⟧() { this⟦make⟧(1); } }
class A⟦=A⟧ extends Base⟦Base⟧ { A⟦=own⟧() { super⟦make⟧(1); } }
class B⟦=B⟧ extends A⟦A⟧ { Object x = new B⟦B⟧(), y = new Base⟦Base,make⟧(2), z = new A⟦A,own⟧(); }
class C⟦=C⟧ { C⟦=any⟧(int... all) {} C⟦=two⟧(int x, int y) {} Object x = new C⟦C,two⟧(1, 2), y = new C⟦C,any⟧(); }
class Outer⟦=Outer⟧ { class In⟦=In⟧ {} static In⟦In⟧ f(Outer⟦Outer⟧ o) { return o.new In⟦In⟧(); } }
",
    );
}

#[test]
fn enums_have_constants_bodies_and_cases() {
    check(
        "--- A.java
enum Mode⟦=Mode⟧ {
  FAST⟦=FAST⟧⟦Mode,plain⟧ { int cost⟦=over⟧() { return base⟦base⟧(); } },
  SLOW⟦=SLOW⟧⟦Mode,plain⟧, ODD⟦Mode,make⟧(1);
  Mode⟦=plain⟧() {}
  Mode⟦=make⟧(int n) { this⟦plain⟧(); }
  int cost⟦=cost⟧() { return 1; }
  int base⟦=base⟧() { return 1; }
}
class A {
  static final int MAX⟦=MAX⟧ = 1;
  int go(Mode⟦Mode⟧ m, int n) {
    for (Mode⟦Mode⟧ each : Mode⟦Mode⟧.values()) each.cost⟦cost⟧();
    for (var each : Mode⟦Mode⟧.values()) each.cost⟦cost⟧();
    Mode⟦Mode⟧.valueOf(\"FAST\").cost⟦cost⟧();
    switch (n) { case MAX⟦MAX⟧: return 1; }
    switch (m) { case FAST⟦FAST⟧: return 1; case SLOW⟦SLOW⟧: return Mode⟦Mode⟧.SLOW⟦SLOW⟧.cost⟦cost⟧(); }
    return switch (m) { case FAST⟦FAST⟧ -> 1; default -> 2; };
  }
}
",
    );
}

#[test]
fn components_of_records_are_fields_and_methods() {
    check(
        "--- A.java
record Point⟦=Point⟧(int x⟦=x⟧, A⟦A⟧ a⟦=a⟧) {
  Point⟦=make⟧ { if (x⟦x⟧ < 0) throw null; }
  public int x⟦=own⟧() { return x⟦x⟧; }
}
class A⟦=A⟧ {
  int go⟦=go⟧(Point⟦Point⟧ p) { return p.x⟦own⟧() + p.a⟦a⟧().go⟦go⟧(new Point⟦Point,make⟧(1, this)); }
}
",
    );
}

#[test]
fn types_come_from_declarations_casts_and_calls() {
    check(
        "--- A.java
import java.util.*;
class A⟦=A⟧ {
  A⟦A⟧ next⟦=next⟧() { return this; }
  static <T extends A⟦A⟧> void go(Object o, T t, A⟦A⟧[] all, A⟦A⟧... rest) {
    ((A⟦A⟧) o).next⟦next⟧().next⟦next⟧();
    t.next⟦next⟧();
    var v = new A⟦A⟧();
    v.next⟦next⟧();
    all[0].next⟦next⟧();
    for (var r : rest) r.next⟦next⟧();
    (t == null ? v : t).next⟦next⟧();
    Objects.requireNonNull(v).next⟦next⟧();
    o.next⟦?⟧();
    try (A⟦A⟧ a = v.next⟦next⟧()) { a.next⟦next⟧(); }
  }
}
",
    );
}

#[test]
fn patterns_bind_what_they_test() {
    check(
        "--- A.java
record Pair⟦=Pair⟧(A⟦A⟧ left⟦=left⟧, B⟦B⟧ right⟦=right⟧) {}
class A⟦=A⟧ { void f⟦=fa⟧() {} }
class B⟦=B⟧ {
  void f⟦=fb⟧() {}
  static void go(Object o) {
    if (o instanceof A⟦A⟧ x) { x.f⟦fa⟧(); } else if (o instanceof B⟦B⟧ x) { x.f⟦fb⟧(); }
    if (o instanceof Pair⟦Pair⟧(A⟦A⟧ a, B⟦B⟧ b)) { a.f⟦fa⟧(); b.f⟦fb⟧(); }
    switch (o) {
      case A⟦A⟧ x when x.hashCode() > 0 -> x.f⟦fa⟧();
      case B⟦B⟧ x -> x.f⟦fb⟧();
      default -> {}
    }
    if (!(o instanceof A⟦A⟧ y)) return;
    y.f⟦fa⟧();
  }
}
",
    );
}

#[test]
fn containers_give_what_they_hold() {
    check(
        "--- A.java
import java.util.*;
class A⟦=A⟧ {
  A⟦A⟧ f⟦=f⟧() { return this; }
  Map<String, List<A⟦A⟧>> byName⟦=byName⟧ = new HashMap<>();
  void go(List<? extends A⟦A⟧> all, Optional<A⟦A⟧> maybe) {
    all.get(0).f⟦f⟧();
    byName⟦byName⟧.get(\"x\").get(0).f⟦f⟧();
    for (var e : byName⟦byName⟧.entrySet()) e.getValue().get(0).f⟦f⟧();
    maybe.orElse(null).f⟦f⟧();
    all.stream().map(A⟦A⟧::f⟦f⟧).filter(a -> a.f⟦f⟧() != null).findFirst().get().f⟦f⟧();
    all.forEach(a -> a.f⟦f⟧());
  }
}
",
    );
}

#[test]
fn lambdas_are_given_what_the_callee_says() {
    check(
        "--- A.java
import java.util.function.*;
interface Visitor⟦=Visitor⟧ { void see⟦=see⟧(A⟦A⟧ a, int n); default void end() {} }
class A⟦=A⟧ {
  void f⟦=f⟧() {}
  A⟦=make⟧(Visitor⟦Visitor⟧ v) {}
  void accept⟦=accept⟧(Visitor⟦Visitor⟧ v) { v.see⟦see⟧(this, 1); }
  void each⟦=each⟧(BiConsumer<String, A⟦A⟧> c) {}
  void go() {
    accept⟦accept⟧((a, n) -> a.f⟦f⟧());
    each⟦each⟧((s, a) -> { a.f⟦f⟧(); s.f⟦?⟧(); });
    new A⟦A,make⟧((a, n) -> a.f⟦f⟧());
    Runnable r = this::f⟦f⟧;
  }
}
",
    );
}

#[test]
fn annotations_name_types_and_their_elements() {
    check(
        "--- A.java
@interface Since⟦=Since⟧ { double value⟦=value⟧(); Class<?> by⟦=by⟧() default A⟦A⟧.class; }
@Since⟦Since⟧(value⟦value⟧ = 1.0, by⟦by⟧ = A⟦A⟧.class)
class A⟦=A⟧ {
  static final double V⟦=V⟧ = 1;
  @Since⟦Since⟧(V⟦V⟧) void f(@Since⟦Since⟧(2) Since⟦Since⟧ s) { s.value⟦value⟧(); }
}
",
    );
}

#[test]
fn whole_names_lead_to_classes_through_packages() {
    check(
        "--- src/com/shop/Cart.java
package com.shop;
public class Cart⟦=Cart⟧ { public static Cart⟦Cart⟧ one⟦=one⟧; public void add⟦=add⟧() {} }
--- src/com/web/Page.java
package com.web;
class Page {
  com.shop.Cart⟦Cart⟧ cart = new com.shop.Cart⟦Cart⟧();
  { com.shop.Cart⟦Cart⟧.one⟦one⟧.add⟦add⟧(); cart.add⟦add⟧(); }
}
",
    );
}

#[test]
fn type_parameters_hide_classes() {
    check("--- A.java\nclass T⟦=T⟧ { void f⟦=f⟧() {} }\nclass A<T> { T⟦?⟧ t; void g() { t.f⟦?⟧(); } }\n");
}

#[test]
fn labels_and_keys_are_no_names() {
    check(
        "--- A.java
class A {
  int loop⟦=loop⟧;
  void go() { loop: while (true) { break loop; } loop⟦loop⟧ = 1; }
}
",
    );
}

#[test]
fn files_import_those_of_what_they_name() {
    check_imports(
        "--- src/a/One.java
package a;
public class One { public static void f() {} public static class In {} }
--- src/a/Two.java
package a;
public class Two { One one; }
--- src/b/Use.java
package b;
import a.One;
import java.util.List;
class Use {}
--- src/c/Use.java
package c;
import static a.One.f;
import a.One.In;
class Use {}
--- src/d/Use.java
package d;
import a.*;
class Use {}
",
        &[
            "src/b/Use.java -> src/a/One.java",
            "src/c/Use.java -> src/a/One.java",
            "src/d/Use.java -> src/a/One.java",
            "src/d/Use.java -> src/a/Two.java",
        ],
    );
}

proptest::proptest! {
    /// Any parts of a file, in any order, are lowered and bound without a fault.
    #[test]
    fn any_text_is_resolved(pieces in proptest::collection::vec((0usize..5_000, 1usize..300), 1..12)) {
        const SAMPLE: &str = include_str!("../../../crates/lang/src/languages/java/sample.java");
        let text = super::shuffled(SAMPLE, &pieces);
        let file = |path: &str| super::Marked { path: path.to_owned(), text: text.clone(), marks: Vec::new() };
        super::relations(&[file("a/A.java"), file("a/B.java"), file("b/A.java")]);
    }
}

#[test]
fn of_constructors_the_one_is_meant_that_takes_the_arguments() {
    check(
        "--- a/Log.java
package a;
class Cause {}
class Deep extends Cause {}
class Log⟦=Log⟧ {
    Log⟦=text⟧(String text) {}
    Log⟦=cause⟧(Cause cause) { this⟦text⟧(\"x\"); }
    Log⟦=thrown⟧(Throwable thrown) {}
    Log⟦=number⟧(long number) {}
    Log⟦=truth⟧(boolean truth) {}
    Log⟦=many⟧(String first, Object... rest) {}
    Log⟦=two⟧(String first, String second) {}
    Cause own() { return null; }
    void f(String s, long l, Deep deep, NumberFormatException e, Integer boxed) {
        new Log⟦Log,text⟧(s);
        new Log⟦Log,text⟧(\"a\" + l);
        new Log⟦Log,cause⟧(deep);
        new Log⟦Log,cause⟧(new Deep());
        new Log⟦Log,cause⟧(own());
        new Log⟦Log,thrown⟧(e);
        new Log⟦Log,number⟧(3);
        new Log⟦Log,number⟧(boxed);
        new Log⟦Log,truth⟧(l == 3);
        new Log⟦Log,two⟧(s, s);
        new Log⟦Log,many⟧(s, s, s);
        new Log⟦Log,text,cause,thrown,number,truth⟧(unknown());
    }
}
",
    );
}

#[test]
fn which_overload_is_called_tells_what_the_call_gives() {
    check(
        "--- a/Base.java
package a;
class One { void one⟦=one⟧() {} void both⟦=first⟧() {} }
class Two { void both⟦=second⟧() {} }
class Base {
    One make⟦=make⟧(String text) { return null; }
    Two make⟦=base⟧(int number) { return null; }
}
class Derived extends Base {
    Two make⟦=over⟧(int number) { return null; }
    void f() {
        make⟦make⟧(\"\").both⟦first⟧();
        make⟦over⟧(1).both⟦second⟧();
        new Base().make⟦make⟧(\"\").one⟦one⟧();
    }
}
",
    );
}

#[test]
fn type_arguments_reach_members_of_the_class_and_of_its_bases() {
    check(
        "--- A.java
class Item⟦=Item⟧ { void price⟦=price⟧() {} }
interface Source⟦=Source⟧<T> { T get⟦=get⟧(); }
abstract class Base⟦=Base⟧<K, V> implements Source⟦Source⟧<V> { V value⟦=value⟧; }
class Items⟦=Items⟧ extends Base⟦Base⟧<String, Item⟦Item⟧> { }
class Use⟦=Use⟧ {
    <T> T make⟦=make⟧(Class<T> of) { return null; }
    void f⟦=f⟧(Source⟦Source⟧<Item⟦Item⟧> source, Items⟦Items⟧ items, Base⟦Base⟧<Item⟦Item⟧, String> other) {
        source.get⟦get⟧().price⟦price⟧();
        items.value⟦value⟧.price⟦price⟧();
        items.get⟦get⟧().price⟦price⟧();
        other.get⟦get⟧().price⟦?⟧();
    }
}
",
    );
}

#[test]
fn streams_give_what_they_are_made_of() {
    check(
        "--- A.java
import java.util.*;
class A {
  enum Case⟦=Case⟧ { ONE⟦=ONE⟧⟦Case⟧; String shown⟦=shown⟧() { return \"\"; } }
  static class Item⟦=Item⟧ { String label⟦=label⟧() { return \"\"; } }
  static void go(Map<String, List<Item⟦Item⟧>> map, Collection<Item⟦Item⟧> all) {
    Arrays.stream(Case⟦Case⟧.values()).filter(c -> c.shown⟦shown⟧().isEmpty());
    Case⟦Case⟧.valueOf(\"ONE\").shown⟦shown⟧();
    map.values().stream().flatMap(list -> list.stream()).peek(x -> {}).filter(x -> x.label⟦label⟧().isEmpty());
    Collections.max(all, null).label⟦label⟧();
    Stream.of(Case⟦Case⟧.values()).filter(c -> c.shown⟦shown⟧().isEmpty());
    Stream.of(Case⟦Case⟧.ONE⟦ONE⟧, null).filter(c -> c.shown⟦shown⟧().isEmpty());
    Stream.concat(all.stream(), all.stream()).filter(x -> x.label⟦label⟧().isEmpty());
  }
}
",
    );
}

#[test]
fn lambdas_that_describe_elements_get_them() {
    check(
        "--- p/A.java
package p;
import java.util.*;
import java.util.stream.*;
interface Sup⟦=Sup⟧<T> { T get⟦=get⟧(); }
class Item⟦=Item⟧ {
  String label⟦=label⟧() { return null; }
  boolean ok⟦=ok⟧() { return true; }
  Item⟦Item⟧ next⟦=next⟧() { return null; }
}
class A {
  static <T> T given⟦=given⟧(Sup⟦Sup⟧<T> s) { return s.get⟦get⟧(); }
  void go(List<Item⟦Item⟧> l, Item⟦Item⟧ d) {
    l.stream().collect(Collectors.groupingBy(i -> i.label⟦label⟧()));
    l.stream().sorted(Comparator.comparing((i) -> i.label⟦label⟧()).thenComparing(i -> i.ok⟦ok⟧()));
    Collections.sort(l, Comparator.comparing(i -> i.label⟦label⟧()));
    l.sort((a, b) -> a.label⟦label⟧().compareTo(b.label⟦label⟧()));
    l.stream().collect(Collectors.toMap(i -> i.label⟦label⟧(), i -> i)).get(\"\").ok⟦ok⟧();
    l.stream().reduce((a, b) -> b.next⟦next⟧()).get().ok⟦ok⟧();
    l.stream().max(Comparator.comparing(Item⟦Item⟧::label⟦label⟧)).get().ok⟦ok⟧();
    new ArrayList<>(l).get(0).ok⟦ok⟧();
    A.given⟦given⟧(d::next⟦next⟧).ok⟦ok⟧();
    A.given⟦given⟧(() -> d.next⟦next⟧()).ok⟦ok⟧();
  }
}
",
    );
}

#[test]
fn overloads_are_told_apart_by_null_elements_and_arithmetic() {
    check(
        "--- A.java
class A⟦=A⟧ {
    void take⟦=number⟧(int a) {}
    void take⟦=text⟧(CharSequence a) {}
    void put⟦=one⟧(int a) {}
    void put⟦=many⟧(byte[] a) {}
    void use(byte[] all, int depth) {
        take⟦text⟧(null); take⟦number⟧(depth + 1);
        put⟦one⟧(all[0]); put⟦many⟧(all);
    }
}
",
    );
}

#[test]
fn members_of_the_class_above_come_before_those_of_interfaces() {
    check(
        "--- A.java
interface Readable⟦=Readable⟧ { A⟦A⟧ now⟦=read⟧(); }
interface Wide⟦=Wide⟧ extends Readable⟦Readable⟧ {}
class Root⟦=Root⟧ implements Readable⟦Readable⟧ { public A⟦A⟧ now⟦=root⟧() { return null; } }
class Middle⟦=Middle⟧ extends Root⟦Root⟧ {}
class Low⟦=Low⟧ extends Middle⟦Middle⟧ {}
class A⟦=A⟧ extends Low⟦Low⟧ implements Wide⟦Wide⟧ {
    void use(A⟦A⟧ a) { a.now⟦root⟧(); }
}
",
    );
}
