//! Rust: arguments of macros, and types that come from afar.

use super::check;

#[test]
fn arguments_of_macros_are_read_as_expressions() {
    check(
        "--- src/lib.rs
struct S⟦=S⟧ { n⟦=n⟧: u8, more⟦=more⟧: u8 }
impl S⟦S⟧ { fn m⟦=m⟧(&self) -> u8 { 1 } }
trait Nodes⟦=Nodes⟧ { fn at⟦=at⟧(&self, n: usize); }
struct Graph⟦=Graph⟧;
impl Nodes⟦Nodes⟧ for Graph⟦Graph⟧ { fn at⟦=node⟧(&self, n: usize) {} }
fn helper⟦=helper⟧(n: u8) {}
const LIMIT⟦=LIMIT⟧: u8 = 1;
fn f(all: Vec<S⟦S⟧>, g: Graph⟦Graph⟧, n: u8) {
    assert!(all.iter().any(|one| one.m⟦m⟧() > LIMIT⟦LIMIT⟧), \"{}\", n);
    for (one, _) in vec![(S⟦S⟧, 1)] { one.m⟦m⟧(); }
    own!(if let Some(one) = all.first() { one.m⟦m⟧() } else { 1 }, helper⟦?⟧);
    let v = vec![Nodes⟦Nodes⟧::at⟦node⟧(&g, 1), Nodes⟦Nodes⟧::at⟦node⟧(&g, 2)];
    assert_eq!(all[0], S⟦S⟧ { n⟦n⟧: LIMIT⟦LIMIT⟧, more⟦more⟧: 2 });
    assert!(matches!(all[0], S⟦S⟧ { more⟦more⟧: 1, n⟦n⟧ }));
}
",
    );
}

#[test]
fn formats_name_constants() {
    check(
        "--- src/lib.rs
const PREFIX⟦=PREFIX⟧: &str = \"a\";
fn f(n: u8) { println!(\"{PREFIX⟦PREFIX⟧}{n} {PREFIX⟦PREFIX⟧:?} {{PREFIX}}\"); }
",
    );
}

#[test]
fn items_are_read_among_the_marks_of_their_macro() {
    check(
        "--- src/lib.rs
template! {
/// Nodes of a graph.
pub trait Nodes⟦=Nodes⟧ {
    @escape [type Id]
    @section type
    type Id⟦=Id⟧: Copy;
    @section self
    fn count⟦=count⟧(&self) -> usize;
}
}
fn f(of: impl Nodes⟦Nodes⟧) { of.count⟦count⟧(); }
",
    );
}

#[test]
fn a_module_that_a_macro_makes_sees_what_is_around() {
    check(
        "--- src/lib.rs
pub struct Place⟦=Place⟧;
impl Place⟦Place⟧ { const NONE⟦=NONE⟧: u8 = 1; }
#[export_module]
mod made { pub fn f() { Place⟦Place⟧::NONE⟦NONE⟧; } }
#[cfg(test)]
mod plain { pub fn f() { Place⟦?⟧::NONE⟦?⟧; } }
",
    );
}

#[test]
fn a_closure_is_what_the_code_around_wants() {
    check(
        "--- src/lib.rs
struct S⟦=S⟧;
impl S⟦S⟧ { fn m⟦=m⟧(&self) {} }
type Named⟦=Named⟧ = (fn(Option<S⟦S⟧>, &mut [S⟦S⟧]) -> u8, bool);
struct Held⟦=Held⟧ { call⟦=call⟧: Box<dyn Fn(S⟦S⟧)>, plain⟦=plain⟧: fn(S⟦S⟧) }
fn take⟦=take⟧(call: Box<dyn Fn(&S⟦S⟧)>) {}
fn f(n: u8) -> Option<Named⟦Named⟧> {
    if n > 1 {
        return Some((|one, all| { one.unwrap().m⟦m⟧(); all[0].m⟦m⟧(); 1 }, false));
    }
    match n {
        0 => Some((|one, _| { one.unwrap().m⟦m⟧(); 1 }, true)),
        _ => None,
    }
}
fn g() -> Box<dyn Fn(&S⟦S⟧)> {
    let call: Box<dyn Fn(S⟦S⟧)> = Box::new(|s| s.m⟦m⟧());
    Held⟦Held⟧ { call⟦call⟧: Box::new(|s| s.m⟦m⟧()), plain⟦plain⟧: |s| s.m⟦m⟧() };
    take⟦take⟧(Box::new(|s| s.m⟦m⟧()));
    Box::new(move |s| s.m⟦m⟧())
}
",
    );
}

#[test]
fn names_that_a_macro_is_given_are_members_of_what_it_asks() {
    check(
        "--- src/lib.rs
mod tests;
pub struct Options⟦=Options⟧ { pub extension⟦=extension⟧: Extension⟦Extension⟧ }
pub struct Extension⟦=Extension⟧ { pub autolink⟦=autolink⟧: bool }
pub struct Dynamic⟦=Dynamic⟧;
impl Dynamic⟦Dynamic⟧ { pub fn as_int⟦=as_int⟧(&self) -> u8 { 1 } }
type Native⟦=Native⟧ = (fn(&mut [Dynamic⟦Dynamic⟧]) -> u8, bool);
fn with⟦=with⟧(by: impl Fn(&mut Options⟦Options⟧)) {}
macro_rules! options⟦=options⟧ {
    ([$($of:ident.$name:ident),*], $text:expr) => {
        $crate::with⟦with⟧(|#[allow(unused)] opts| { $(opts.$of.$name = true;)* });
    };
}
fn operator⟦=operator⟧(n: u8) -> Option<Native⟦Native⟧> {
    macro_rules! op⟦=op⟧ { ($func:ident($x:ident)) => { Some((|args| $func(args[0].$x()), false)) } }
    macro_rules! both⟦=both⟧ { ($x:ident) => { op⟦op⟧!(add($x)) } }
    return match n { 0 => op⟦op⟧!(add(as_int⟦as_int⟧)), 1 => both⟦both⟧!(as_int⟦as_int⟧), _ => None };
}
--- src/tests.rs
fn f() { options⟦options⟧!([extension⟦extension⟧.autolink⟦autolink⟧], \"a|b\"); }
",
    );
}

#[test]
fn a_trait_that_is_named_lends_its_methods_to_types_of_others() {
    check(
        "--- src/lib.rs
mod away;
use http⟦?⟧::Uri⟦?⟧;
pub trait Port⟦=Port⟧ { fn port⟦=declared⟧(&self) -> u16; fn twice⟦=twice⟧(&self) -> u16 { self.port⟦declared⟧() } }
impl Port⟦Port⟧ for Uri⟦?⟧ { fn port⟦=port⟧(&self) -> u16 { 80 } }
pub trait Code⟦=Code⟧ { fn code⟦=code⟧(&self) -> u16; }
impl Code⟦Code⟧ for u8 { fn code⟦=of_u8⟧(&self) -> u16 { 1 } }
impl Code⟦Code⟧ for u16 { fn code⟦=of_u16⟧(&self) -> u16 { 1 } }
pub trait Named⟦=Named⟧<S> { fn named⟦=declared_named⟧(self) -> S; }
impl<S> Named⟦Named⟧<S> for Uri⟦?⟧ { fn named⟦=named⟧(self) -> S { todo!() } }
fn f(uri: &Uri⟦?⟧, all: Vec<Uri⟦?⟧>) { uri.named⟦named⟧(); uri.port⟦port⟧(); uri.host().twice⟦twice⟧(); uri.code⟦?⟧(); all[0].port⟦port⟧(); }
--- src/away.rs
fn f(uri: Uri⟦?⟧) { uri.port⟦?⟧(); }
",
    );
}

#[test]
fn blocks_for_other_type_arguments_are_left_out() {
    check(
        "--- src/lib.rs
struct Agent⟦=Agent⟧;
struct Request⟦=Request⟧<T>(T);
struct Builder⟦=Builder⟧<S>(S);
impl<S> Builder⟦Builder⟧<S> { fn name⟦=name⟧(self) -> Self { self } fn plain⟦=plain⟧(self) -> Builder⟦Builder⟧<S> { self } }
impl Builder⟦Builder⟧<Agent⟦Agent⟧> { fn build⟦=agent⟧(self) {} }
impl<T> Builder⟦Builder⟧<Request⟦Request⟧<T>> { fn build⟦=request⟧(self) {} }
fn of⟦=of⟧() -> Builder⟦Builder⟧<Agent⟦Agent⟧> { todo!() }
fn f(other: Builder⟦Builder⟧<Request⟦Request⟧<u8>>) {
    of⟦of⟧().build⟦agent⟧();
    of⟦of⟧().name⟦name⟧().plain⟦plain⟧().build⟦agent⟧();
    other.name⟦name⟧().build⟦request⟧();
}
",
    );
}

#[test]
fn a_derived_builder_sets_fields_by_their_names() {
    check(
        "--- src/lib.rs
/// Options.
#[cfg_attr(feature = \"bon\", derive(Clone, bon::Builder))]
pub struct Options⟦=Options⟧ { pub width⟦=width⟧: u8, pub wide⟦=wide⟧: bool }
impl Options⟦Options⟧ { fn m⟦=m⟧(&self) {} }
fn f() { Options⟦Options⟧::builder().width⟦width⟧(1).maybe_width(None).wide⟦wide⟧(true).build().m⟦m⟧(); }
",
    );
}

#[test]
fn variants_are_those_of_an_enum_that_a_derive_makes() {
    check(
        "--- src/lib.rs
mod tests;
#[derive(Clone, strum::EnumDiscriminants)]
pub enum Value⟦=Value⟧ { Text⟦=Text⟧(u8), Raw⟦=Raw⟧ }
--- src/tests.rs
use crate::ValueDiscriminants⟦Value⟧;
fn f(value: ValueDiscriminants⟦Value⟧) {
    use ValueDiscriminants⟦Value⟧::*;
    match value { Text⟦Text⟧ => 1, Raw⟦Raw⟧ => 2 };
}
",
    );
}

#[test]
fn self_has_the_type_arguments_of_its_block() {
    check(
        "--- src/lib.rs
struct Data⟦=Data⟧;
impl Data⟦Data⟧ { fn m⟦=m⟧(&self) {} }
struct Node⟦=Node⟧<T> { data⟦=data⟧: RefCell<T> }
impl<T> Node⟦Node⟧<RefCell<T>> { fn get⟦=get⟧(&self) -> Ref<'_, T> { todo!() } }
impl Node⟦Node⟧<RefCell<Data⟦Data⟧>> { fn f⟦=f⟧(&self) { self.get⟦get⟧().m⟦m⟧(); } }
fn f(few: SmallVec<[Data⟦Data⟧; 8]>, answer: Response<Data⟦Data⟧>) { few.last().unwrap().m⟦m⟧(); answer.body_mut().m⟦m⟧(); }
",
    );
}

#[test]
fn a_macro_of_the_file_hides_those_from_elsewhere() {
    check(
        "--- Cargo.toml
[package]
name = \"shop\"
--- src/lib.rs
#[macro_use]
mod sums;
mod words;
pub mod prelude⟦=prelude⟧ { pub use crate::*; }
--- src/sums.rs
macro_rules! forward⟦=sums⟧ { ($name:ident) => {}; }
forward⟦sums⟧!(name);
--- src/words.rs
use crate::prelude⟦prelude⟧::*;
macro_rules! forward⟦=words⟧ { ($name:ident) => {}; }
struct Word⟦=Word⟧;
impl Word⟦Word⟧ { forward⟦words⟧!(name); }
",
    );
}
