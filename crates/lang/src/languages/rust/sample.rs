#![allow(dead_code)]
//! The file's own documentation belongs to no symbol.

use std::collections::HashMap as Map;
extern crate alloc as heap;

/// What is inherited.
mod elsewhere;

#[cfg(test)]
mod checks {
    //! How things are checked.
    //! In two lines.
    pub(super) const DEPTH: usize = 1 + 2;
    mod inner { pub fn deep() {} }
}

/// Too large. More of it.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Wide<'a, T: Copy = u8, const N: usize = 3>
where
    T: 'a,
{
    /// How wide.
    pub width: usize,
    #[allow(unused)] // an attribute on the same line
    pub(crate) height: [u8; 2],
    callback: Option<Box<dyn Fn(&str) -> bool + 'a>>,
}

struct Unit;
pub struct Pair<T>(pub T, u32);

/** A block of documentation. */
pub union Bits { whole: u32, parts: [u8; 4] }

#[non_exhaustive]
/// Stands between the attributes.
#[derive(PartialEq)]
pub enum Shape {
    /// Round.
    Circle { radius: f64 },
    Square(f64),
    #[default]
    Empty = 7,
}

/// Not the doc of a trait.

//// Nor is this.
pub unsafe trait Area: Sized {
    /// What it is counted in.
    type Unit: Copy;
    const SIDES: u32 = 0;
    /// How large.
    // A plain comment between the two.
    #[must_use]
    fn area(&self) -> f64;
    fn twice(&self) -> f64 { if self.area() > 0.0 { 2.0 } else { 0.0 } }
}

type Table<K> = Map<K, Vec<K>>;
pub static mut COUNTER: u32 = 0;
const _: () = assert!(true);
const LONG_TABLE: &[(&str, u8)] = &[("a", 1), ("b", 2)];

impl<'a, T: Copy, const N: usize> Wide<'a, T, N> {
    pub const EMPTY: Self = todo!();
    /// Makes one.
    #[inline]
    pub async fn new(width: usize) -> Result<Self, String> {
        const LOCAL: usize = 1;
        static SEEN: bool = false;
        let Some(x) = maybe(width) else { return Err(String::new()) };
        fn helper<F>(f: F) -> u32 where F: Fn() -> u32 {
            f()
        }
        struct Guard { held: bool }
        impl Drop for Guard {
            fn drop(&mut self) {}
        }
        let closure = |y: u32| y && x;
        match x {
            1 if width > 2 || width < 1 => helper(closure)?,
            2 => 3,
            _ => 0,
        };
        for _ in 0..1 { while x { loop { break } } }
        println!("fn not_a_function() {{ }} {}", vec![1]);
        with_braces! { fn inside_braces() {} }
        unreachable!()
    }
}

unsafe impl<T> Area for &'_ mut crate::shapes::Wide<'_, T> { type Unit = u8; fn area(&self) -> f64 { 1.0 } }
impl Area for (u8, Shape) { fn area(&self) -> f64 { 2.0 } }
impl Area for [Shape] { fn area(&self) -> f64 { 3.0 } }
impl<'a> Area for dyn Fn(u8) -> u8 + 'a { fn area(&self) -> f64 { 4.0 } }
impl Area for Box<dyn Area> { fn area(&self) -> f64 { 5.0 } }
impl<T: ?Sized> !Send for *const T {}

pub(crate) const unsafe extern "C" fn qualified(r#type: u8) {}

#[link(name = "m")]
unsafe extern "C" {
    /// From afar.
    pub fn foreign(x: i32, ...) -> i32;
    static environ: *const u8;
}

/// Makes a function.
#[macro_export]
macro_rules! make {
    ($name:ident) => { fn $name() { fn not_this() {} } };
}

/// A newer macro.
pub macro newer($x:expr) {
    $x + $x
}

cfg_if::cfg_if! {
    if #[cfg(unix)] {
        /// On one system.
        pub fn on_unix() { if a { b } }
    } else if #[cfg(windows)] {
        pub fn on_windows() {}
    } else {
        pub mod nowhere;
    }
}

cfg_net! {
    #[doc(hidden)]
    pub mod tcp;
    impl Shape { pub fn send(&self) {} }
    cfg_more! { fn nested_macro() {} }
}

thread_local! {
    /// One for each thread.
    static CURRENT: u8 = const { 1 };
}

lazy_static! { pub static ref TABLE: Table<u8> = Map::new(); }

bitflags! {
    /// What may be done.
    #[derive(Clone)]
    pub(crate) struct Rights: u32 {
        /// To read.
        const READ = 1 << 0;
        #[cfg(unix)] const WRITE = 1 << 1;
        const _ = !0;
    }
    impl Lent: u8 { const ALL = Self::READ.bits(); }
}

proptest! {
    #[test]
    fn holds(x in 0..10u8) { assert!(x < 10); }
}

make!(generated);
quote! { fn quoted() {} }
impl_more!(struct Later; fn also(););

/// The grammar takes what follows for its body.
pub trait Both = Area + Clone;
fn swallowed() {}

fn broken(x: u32 {
    let y = ;
}

/// Still read.
pub fn after_the_break() -> impl Iterator<Item = u8> { 0..1 }
