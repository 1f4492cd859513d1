//! Rust's rules, one test each.

use super::{check, check_imports};

#[test]
fn modules_are_found_beside_their_parents() {
    check(
        "--- Cargo.toml
[package]
name = \"shop\"
--- src/lib.rs
mod cart;
mod item { pub fn price⟦=price⟧() {} }
#[path = \"elsewhere/other.rs\"] mod other;
--- src/cart.rs
mod total;
use crate::item::price⟦price⟧;
pub fn f() { price⟦price⟧(); self::total::sum⟦sum⟧(); super::other::odd⟦odd⟧(); }
--- src/cart/total.rs
pub fn sum⟦=sum⟧() {}
--- src/elsewhere/other.rs
pub fn odd⟦=odd⟧() {}
",
    );
}

#[test]
fn use_trees_bind_each_of_their_names() {
    check(
        "--- src/lib.rs
mod a {
    pub struct S⟦=S⟧;
    pub mod b { pub fn f⟦=f⟧() {} pub fn g⟦=g⟧() {} }
    pub use self::b::g⟦g⟧ as h;
}
use a::{S⟦S⟧, b::{self, f⟦f⟧ as renamed}, h⟦g⟧};
fn main() { let s: S⟦S⟧ = S⟦S⟧; renamed⟦f⟧(); b::g⟦g⟧(); h⟦g⟧(); }
",
    );
}

#[test]
fn globs_bind_what_a_module_or_an_enum_offers() {
    check(
        "--- src/lib.rs
mod a { pub use super::b::*; }
mod b { pub fn f⟦=f⟧() {} pub enum E⟦=E⟧ { V⟦=V⟧(T⟦T⟧) } pub struct T⟦=T⟧; impl T⟦T⟧ { pub fn m⟦=m⟧(&self) {} } }
use a::*;
use a::E⟦E⟧::*;
fn g(e: E⟦E⟧) { f⟦f⟧(); match e { V⟦V⟧(t) => t.m⟦m⟧() } }
",
    );
}

#[test]
fn crates_of_a_workspace_know_each_other() {
    check(
        "--- one/Cargo.toml
[package]
name = \"the-one\"
--- one/src/lib.rs
pub fn f⟦=f⟧() {}
#[macro_export] macro_rules! say⟦=say⟧ { () => {} }
--- two/Cargo.toml
[package]
name = \"two\"
--- two/src/main.rs
use the_one::f⟦f⟧;
use the_one::say⟦say⟧;
fn main() { f⟦f⟧(); the_one::f⟦f⟧(); say⟦say⟧!(); }
",
    );
}

#[test]
fn methods_belong_to_the_type_that_an_impl_names() {
    check(
        "--- src/lib.rs
mod a { pub struct S⟦=S⟧ { pub n⟦=n⟧: u8 } }
use a::S⟦S⟧;
impl S⟦S⟧ {
    const N⟦=N⟧: u8 = 1;
    fn new⟦=new⟧() -> Self { Self { n⟦n⟧: Self::N⟦N⟧ } }
    fn n⟦=method⟧(&self) -> u8 { self.n⟦n⟧ }
}
fn f() { let s = S⟦S⟧::new⟦new⟧(); s.n⟦method⟧(); }
",
    );
}

#[test]
fn traits_lend_their_methods() {
    check(
        "--- src/lib.rs
trait Base⟦=Base⟧ { fn below⟦=below⟧(&self) {} }
trait T⟦=T⟧: Base⟦Base⟧ { fn default⟦=default⟧(&self) { self.must⟦must⟧() } fn must⟦=must⟧(&self); }
struct S⟦=S⟧;
impl Base⟦Base⟧ for S⟦S⟧ {}
impl T⟦T⟧ for S⟦S⟧ { fn must⟦=own⟧(&self) {} }
fn f<A: T⟦T⟧>(a: A, s: S⟦S⟧, d: Box<dyn T⟦T⟧>, i: &impl T⟦T⟧) {
    a.default⟦default⟧();
    a.below⟦below⟧();
    s.default⟦default⟧();
    s.must⟦own⟧();
    d.must⟦must⟧();
    i.must⟦must⟧();
}
fn g<A>(a: A) where A: T⟦T⟧ { a.must⟦must⟧() }
",
    );
}

#[test]
fn associated_types_are_those_of_the_block() {
    check(
        "--- src/lib.rs
struct A⟦=A⟧; struct B⟦=B⟧; struct It⟦=It⟧;
impl A⟦A⟧ { fn a⟦=a⟧(&self) {} }
impl Iterator for It⟦It⟧ { type Item⟦=Item⟧ = A⟦A⟧; fn next⟦=next⟧(&mut self) -> Option<Self::Item⟦Item⟧> { None } }
impl Other for It⟦It⟧ { type Item = B⟦B⟧; }
fn f(it: It⟦It⟧) { for a in it { a.a⟦a⟧(); } }
",
    );
}

#[test]
fn what_wraps_a_value_is_looked_through() {
    check(
        "--- src/lib.rs
use std::collections::HashMap; use std::sync::Arc;
struct S⟦=S⟧;
impl S⟦S⟧ { fn m⟦=m⟧(&self) {} fn try_new⟦=try_new⟧() -> Result<S⟦S⟧, E⟦E⟧> { Err(E⟦E⟧) } }
struct E⟦=E⟧;
impl E⟦E⟧ { fn e⟦=e⟧(&self) {} }
fn f(v: Vec<S⟦S⟧>, o: Option<&S⟦S⟧>, h: HashMap<u8, Box<S⟦S⟧>>, a: Arc<S⟦S⟧>) -> Option<()> {
    a.m⟦m⟧();
    v[0].m⟦m⟧();
    o?.m⟦m⟧();
    v.iter().filter(|s| s.m⟦m⟧()).map(|s| s).next().unwrap().m⟦m⟧();
    for (_, s) in &h { s.m⟦m⟧(); }
    if let Some(s) = h.get(&1) { s.m⟦m⟧(); }
    match S⟦S⟧::try_new⟦try_new⟧() { Ok(s) => s.m⟦m⟧(), Err(e) => e.e⟦e⟧() }
    let arc = Arc::new(S⟦S⟧);
    arc.clone().m⟦m⟧();
    let (s, _) = (S⟦S⟧, 1);
    s.m⟦m⟧();
    None
}
",
    );
}

#[test]
fn a_name_that_is_bound_again_keeps_its_earlier_uses() {
    check(
        "--- src/lib.rs
struct A⟦=A⟧; struct B⟦=B⟧;
impl A⟦A⟧ { fn to⟦=a⟧(&self) -> B⟦B⟧ { B⟦B⟧ } }
impl B⟦B⟧ { fn to⟦=b⟧(&self) {} }
fn x⟦=x⟧() -> A⟦A⟧ { A⟦A⟧ }
fn f() {
    let x = x⟦x⟧();
    let x = x.to⟦a⟧();
    x.to⟦b⟧();
}
",
    );
}

#[test]
fn a_local_hides_no_module_of_its_name() {
    check(
        "--- src/lib.rs
mod item { pub fn f⟦=f⟧() {} }
fn g(item: u8) { item::f⟦f⟧(); let _ = item; }
",
    );
}

#[test]
fn fields_are_known_by_patterns_and_literals() {
    check(
        "--- src/lib.rs
struct P⟦=P⟧ { at⟦=at⟧: S⟦S⟧ }
enum E⟦=E⟧ { Named⟦=Named⟧ { inner⟦=inner⟧: S⟦S⟧ } }
struct S⟦=S⟧(u8);
impl S⟦S⟧ { fn m⟦=m⟧(&self) {} }
fn f(p: P⟦P⟧, e: E⟦E⟧) -> P⟦P⟧ {
    let P⟦P⟧ { at⟦at⟧ } = p;
    at.m⟦m⟧();
    if let E⟦E⟧::Named⟦Named⟧ { inner⟦inner⟧: s } = e { s.m⟦m⟧(); }
    P⟦P⟧ { at⟦at⟧: S⟦S⟧(1) }
}
",
    );
}

#[test]
fn what_a_type_dereferences_to_lends_its_members() {
    check(
        "--- src/lib.rs
struct Inner⟦=Inner⟧; struct Outer⟦=Outer⟧(Inner⟦Inner⟧);
impl Inner⟦Inner⟧ { fn m⟦=m⟧(&self) {} }
impl std::ops::Deref for Outer⟦Outer⟧ { type Target = Inner⟦Inner⟧; fn deref(&self) -> &Inner⟦Inner⟧ { &self.0 } }
fn f(o: Outer⟦Outer⟧) { o.m⟦m⟧(); o.0.m⟦m⟧(); }
",
    );
}

#[test]
fn calls_are_read_in_the_arguments_of_macros() {
    check(
        "--- src/lib.rs
macro_rules! twice⟦=twice⟧ { ($e:expr) => { $crate::helper⟦helper⟧($e) } }
pub fn helper⟦=helper⟧(n: u8) {}
struct S⟦=S⟧;
impl S⟦S⟧ { fn m⟦=m⟧(&self) -> u8 { 1 } }
fn f(s: S⟦S⟧) { println!(\"{}\", s.m⟦m⟧()); twice⟦twice⟧!(s.m⟦m⟧()); let v = vec![S⟦S⟧]; v[0].m⟦m⟧(); }
",
    );
}

#[test]
fn closures_know_what_they_are_given() {
    check(
        "--- src/lib.rs
struct S⟦=S⟧;
impl S⟦S⟧ { fn m⟦=m⟧(&self) -> T⟦T⟧ { T⟦T⟧ } fn with⟦=with⟧<F: FnOnce(T⟦T⟧)>(&self, f: F) {} }
struct T⟦=T⟧;
impl T⟦T⟧ { fn t⟦=t⟧(&self) {} }
fn f(s: S⟦S⟧, o: Option<S⟦S⟧>) {
    s.with⟦with⟧(|t| t.t⟦t⟧());
    if let Some(t) = o.map(|s| s.m⟦m⟧()) { t.t⟦t⟧(); }
}
",
    );
}

#[test]
fn both_of_two_configurations_count() {
    check(
        "--- src/lib.rs
#[cfg(unix)] fn f⟦=u⟧() {}
#[cfg(windows)] fn f⟦=w⟧() {}
fn g() { f⟦u,w⟧(); }
",
    );
}

#[test]
fn a_file_imports_those_that_its_uses_end_in() {
    check_imports(
        "--- src/lib.rs
mod a;
mod b;
--- src/a.rs
pub use crate::b::f;
--- src/b.rs
use std::fmt;
pub fn f() {}
--- src/main.rs
use crate::a::f;
mod a;
",
        &["src/a.rs -> src/b.rs", "src/main.rs -> src/b.rs"],
    );
}

#[test]
fn items_in_a_macros_call_are_items() {
    check(
        "--- src/lib.rs
cfg_if! {
    if #[cfg(unix)] {
        mod unix { pub fn deep⟦=deep⟧() {} }
        pub fn one⟦=one⟧() -> Part⟦Part⟧ { unix::deep⟦deep⟧(); Part⟦Part⟧ }
    } else {
        pub fn two⟦=two⟧() {}
    }
}
lazy_static! { static ref SHARED⟦=SHARED⟧: Part⟦Part⟧ = one⟦one⟧(); }
cfg_net! {
    #[derive(Debug)]
    pub struct Part⟦=Part⟧;
    impl Part⟦Part⟧ { pub fn run⟦=run⟧(&self) {} }
}
struct Whole;
impl Whole {
    cfg_net! { fn go⟦=go⟧(&self) -> Part⟦Part⟧ { one⟦one⟧() } }
}
fn main() { one⟦one⟧().run⟦run⟧(); two⟦two⟧(); SHARED⟦SHARED⟧.run⟦run⟧(); Whole.go⟦go⟧().run⟦run⟧(); }
",
    );
}

#[test]
fn bitflags_make_a_type_with_constants() {
    check(
        "--- src/lib.rs
bitflags! {
    #[derive(Clone)]
    pub struct Mode⟦=Mode⟧: u32 {
        const READ⟦=READ⟧ = 1;
        const BOTH⟦=BOTH⟧ = Self::READ⟦READ⟧.bits() | SHIFT⟦SHIFT⟧;
    }
}
const SHIFT⟦=SHIFT⟧: u32 = 2;
impl Mode⟦Mode⟧ { fn ok⟦=ok⟧(&self) {} }
fn f(mode: Mode⟦Mode⟧) { mode.ok⟦ok⟧(); Mode⟦Mode⟧::BOTH⟦BOTH⟧.ok⟦ok⟧(); }
",
    );
}

#[test]
fn what_is_asked_of_a_call_by_its_type_arguments_is_what_it_gives() {
    check(
        "--- src/lib.rs
struct Set⟦=Set⟧;
impl Set⟦Set⟧ { fn len⟦=len⟧(&self) {} fn find⟦=find⟧<T>(&self) -> Option<Set⟦Set⟧> { None } }
fn f(names: Vec<String>, set: Set⟦Set⟧) {
    names.iter().map(|name| name.len()).collect::<Set⟦Set⟧>().len⟦len⟧();
    \"\".parse::<Set⟦Set⟧>().unwrap().len⟦len⟧();
    ok!(set.find⟦find⟧::<u8>()).len⟦len⟧();
}
",
    );
}

#[test]
fn type_arguments_reach_methods_of_every_block() {
    check(
        "--- src/lib.rs
pub struct Item⟦=Item⟧;
impl Item⟦Item⟧ { fn price⟦=price⟧(&self) {} }
pub struct Pair⟦=Pair⟧<A, B> { first⟦=first⟧: A, second⟦=second⟧: B }
impl<X, Y> Pair⟦Pair⟧<X, Y> {
    fn swap⟦=swap⟧(self) -> Pair⟦Pair⟧<Y, X> { todo!() }
    fn last⟦=last⟧(&self) -> &Y { todo!() }
}
fn f⟦=f⟧(pair: Pair⟦Pair⟧<u8, Item⟦Item⟧>, other: Pair⟦Pair⟧<Item⟦Item⟧, u8>) {
    pair.second⟦second⟧.price⟦price⟧();
    pair.last⟦last⟧().price⟦price⟧();
    other.swap⟦swap⟧().last⟦last⟧().price⟦price⟧();
    other.last⟦last⟧().price⟦?⟧();
}
",
    );
}

#[test]
fn names_of_a_module_that_is_there_in_two_forms_mean_both() {
    check(
        "--- src/lib.rs
#[cfg(unix)]
mod inner { pub struct Handle⟦=unix⟧; impl Handle⟦unix⟧ { pub fn open⟦=open⟧() { Handle⟦unix⟧; } } }
#[cfg(not(unix))]
mod inner { pub struct Handle⟦=other⟧; impl Handle⟦other⟧ { pub fn open⟦=reopen⟧() {} } }
#[cfg(unix)]
#[path = \"unix.rs\"]
mod sys;
#[cfg(windows)]
#[path = \"windows.rs\"]
mod sys;
fn f⟦=f⟧() { sys::exit⟦leave,quit⟧(); inner::Handle⟦other,unix⟧::open⟦open,reopen⟧(); }
--- src/unix.rs
pub fn exit⟦=leave⟧() {}
--- src/windows.rs
pub fn exit⟦=quit⟧() { super::f⟦f⟧() }
",
    );
}

#[test]
fn a_method_whose_name_is_broken_harms_no_other() {
    check(
        "--- src/lib.rs
struct Handle⟦=handle⟧;
impl Handle⟦handle⟧ { pub fn $open() {} }
fn f⟦=f⟧() {}
fn g() { f⟦f⟧() }
",
    );
}

#[test]
fn methods_may_be_added_through_an_alias() {
    check(
        "--- src/lib.rs
struct S⟦=S⟧;
type A⟦=A⟧ = S⟦S⟧;
impl A⟦A⟧ { fn m⟦=m⟧(&self) {} }
fn f(s: S⟦S⟧) { s.m⟦m⟧() }
",
    );
}

#[test]
fn names_in_a_path_mean_modules() {
    check(
        "--- Cargo.toml
[package]
name = \"shop\"
--- src/lib.rs
pub mod cart⟦=cart⟧;
mod item⟦=item⟧ {
    pub mod deep⟦=deep⟧ { pub fn f⟦=f⟧() {} pub struct low⟦=low⟧; impl low⟦low⟧ { pub fn new⟦=new⟧() {} } }
    pub fn deep⟦=named⟧() {}
}
use item⟦item⟧::deep⟦deep⟧::{f⟦f⟧, low⟦low⟧};
use crate::cart⟦cart⟧::{self, inner⟦inner⟧::*};
fn g(item: u8) {
    item⟦item⟧::deep⟦named⟧();
    item⟦item⟧::deep⟦deep⟧::f⟦f⟧();
    self::item⟦item⟧::deep⟦deep⟧::low⟦low⟧::new⟦new⟧();
    low⟦low⟧::new⟦new⟧();
    assert!(cart⟦cart⟧::total⟦total⟧(item) > cart⟦cart⟧::inner⟦inner⟧::one⟦one⟧());
    std⟦?⟧::process⟦?⟧::exit(1);
    item.deep⟦?⟧();
}
mod process⟦=process⟧ {}
--- src/cart.rs
pub mod inner⟦=inner⟧ { pub fn one⟦=one⟧() {} }
pub fn total⟦=total⟧(a: u8) { super::item⟦item⟧::deep⟦deep⟧::f⟦f⟧() }
--- src/main.rs
use shop⟦?⟧::cart⟦cart⟧;
fn main() { cart⟦cart⟧::total⟦total⟧(1); shop⟦?⟧::cart⟦cart⟧::inner⟦inner⟧::one⟦one⟧(); }
",
    );
}

#[test]
fn a_block_for_a_reference_may_pass_a_call_on() {
    check(
        "--- src/lib.rs
pub trait Auto⟦=Auto⟧ { fn start⟦=start⟧(&self); }
impl<'a, A: Auto⟦Auto⟧ + ?Sized> Auto⟦Auto⟧ for &'a A { fn start(&self) { (**self).start⟦start⟧() } }
impl<A: Auto⟦Auto⟧> Auto⟦Auto⟧ for Box<A> { fn start(&self) { (**self).start⟦start⟧() } }
",
    );
}

#[test]
fn types_that_a_function_type_takes_have_arguments() {
    check(
        "--- src/lib.rs
pub struct Entry⟦=Entry⟧;
type Visit<'s> = Box<dyn FnMut(Option<Entry⟦Entry⟧>, Vec<Entry⟦Entry⟧>) -> u32 + Send + 's>;
type Plain = fn(entry: &Entry⟦Entry⟧, Box<Entry⟦Entry⟧>);
",
    );
}

#[test]
fn methods_of_a_type_come_before_those_of_its_traits() {
    check(
        "--- src/lib.rs
trait Build⟦=Build⟧ { fn add⟦=trait_add⟧(&mut self); fn only⟦=only⟧(&self); }
struct List⟦=List⟧;
impl Build⟦Build⟧ for List⟦List⟧ {
    fn add⟦=for_list⟧(&mut self) { self.add⟦own⟧() }
    fn only⟦=only_list⟧(&self) {}
}
impl List⟦List⟧ { fn add⟦=own⟧(&mut self) {} }
fn use_it(mut a: List⟦List⟧) { a.add⟦own⟧(); a.only⟦only_list⟧(); List⟦List⟧::add⟦own⟧(&mut a); }
",
    );
}

#[test]
fn types_may_be_other_names_of_their_parameters() {
    check(
        "--- src/lib.rs
trait Index⟦=Index⟧ { fn index⟦=index⟧(&self) -> usize; }
type Node⟦=Node⟧<Ix> = Ix⟦?⟧;
fn of<Ix: Index⟦Index⟧>(a: Node⟦Node⟧<Ix⟦?⟧>) -> usize { a.index⟦index⟧() }
",
    );
}

#[test]
fn type_arguments_of_a_call_give_its_result() {
    check(
        "--- src/lib.rs
struct Item⟦=Item⟧;
impl Item⟦Item⟧ { fn f⟦=f⟧(&self) {} }
type Answer⟦=Answer⟧<T> = Result<T⟦?⟧, String>;
struct Engine⟦=Engine⟧;
impl Engine⟦Engine⟧ { fn eval⟦=eval⟧<T>(&self, text: &str) -> Answer⟦Answer⟧<T⟦?⟧> { todo!() } }
fn a(engine: Engine⟦Engine⟧) {
    engine.eval⟦eval⟧::<Item⟦Item⟧>(\"\").unwrap().f⟦f⟧();
    let item = other::parse::<Item⟦Item⟧>(\"\").unwrap();
    item.f⟦f⟧();
}
",
    );
}

#[test]
fn a_method_of_a_trait_is_the_one_for_its_first_argument() {
    check(
        "--- src/lib.rs
trait Nodes⟦=Nodes⟧ { fn at⟦=at⟧(&self, n: usize); fn other⟦=other⟧(&self) {} }
trait Edges⟦=Edges⟧ { fn at⟦=edges_at⟧(&self, n: usize); }
struct Graph⟦=Graph⟧;
impl Nodes⟦Nodes⟧ for Graph⟦Graph⟧ { fn at⟦=node⟧(&self, n: usize) {} }
impl Edges⟦Edges⟧ for Graph⟦Graph⟧ { fn at⟦=edge⟧(&self, n: usize) {} }
impl std⟦?⟧::fmt⟦?⟧::Display⟦?⟧ for Graph⟦Graph⟧ { fn fmt⟦=shown⟧(&self, f: F⟦?⟧) {} }
fn f(g: Graph⟦Graph⟧, any: impl Nodes⟦Nodes⟧) {
    Nodes⟦Nodes⟧::at⟦node⟧(&g, 1);
    Edges⟦Edges⟧::at⟦edge⟧(&g, 1);
    Nodes⟦Nodes⟧::other⟦other⟧(&g);
    Nodes⟦Nodes⟧::at⟦at⟧(&any, 1);
    Display⟦?⟧::fmt⟦shown⟧(&g, 1);
}
",
    );
}
