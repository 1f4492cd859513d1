//! Facts about the names in one file, and the naming rules of each language. Lowerings write them,
//! `resolve` reads them.
//!
//! A language's *lowering* (`languages/<id>/lower.rs`) turns the syntax tree of one file into *facts*: scopes,
//! bindings, definitions, expressions and occurrences of names. Facts never point into another file, so they are made
//! once for each content and stored with it. Naming rules and module lookup of a language are data too: [`Semantics`]
//! and [`Modules`].
//!
//! # The form, by an example
//!
//! ```text
//! # shop/cart.py                    scope 0 (module) binds
//! from .item import Item              Item  = alias of  item   where item = Member(Module(".item"), "Item")
//!                                     Cart  = definition 0
//! class Cart(Base):                 definition 0: class, bases [Name(0, "Base")], members = scope 1
//!     def first(self) -> Item:      scope 1 binds first = definition 1: function, returns Name(2, "Item")
//!         return self.items[0]      scope 2 (function, parent 1) binds self = value SelfOf(0)
//!                                   definition 1 returns the value Element(Member(Name(2, "self"), "items"))
//!
//! def show(cart: Cart):             scope 3 binds cart = parameter of type Name(3, "Cart")
//!     cart.first().price()          occurrences: cart   Name(3, "cart")
//!                                                first  Member(Name(3, "cart"), "first"), called
//!                                                price  Member(Call(Member(Name(3, "cart"), "first")), "price"), called
//! ```
//!
//! Three ideas carry it all:
//!
//! - **An occurrence is an expression.** The engine resolves `price` like any member: the value before the dot first,
//!   then its member. A lowering never resolves anything; it only records what the source says.
//! - **An import is an alias of an expression.** `from m import a as b`, `export {a} from 'm'`, `use m::a`,
//!   `require('m').a` all bind a name to `Member(Module("m"), "a")`. The language's [`Modules`] resolve the text
//!   `"m"`.
//! - **A type is an expression whose value is a class**, and [`Op::Instance`] of it is a value of that type. External
//!   containers (`List[Item]`) are [`Op::Generic`]: only their arguments are kept.
//!
//! # Writing a lowering
//!
//! Copy `languages/python/lower.rs`: it walks the tree with a [`Builder`] (through `languages::Lower`, which adds
//! helpers for nodes). It must, for each
//!
//! - **definition**: call [`Builder::define`] or [`Builder::class`] with `at` at the position of the name (which ties
//!   it to its symbol), and [`Builder::bind`] its name in the scope around it;
//! - **variable, field, parameter**: bind it as [`Bound::variable`] or [`Bound::parameter`] with the
//!   value and type in the source. Give `at` only where a symbol may be: members and top-level names, not locals;
//! - **name in the source**: call [`Builder::occurrence`] with [`Builder::named`] for a bare name, or with
//!   [`Builder::member`] after a dot (of [`UNKNOWN`] for receivers that facts cannot express: answers then say
//!   "unknown receiver");
//! - **block that adds members to a class written elsewhere** (Rust's `impl`, methods of a Go type): call
//!   [`Builder::class`] without a name for its members, and [`Builder::extend`] with the expression of the class;
//! - **import**: bind an alias, record an occurrence of the imported name, and call [`Builder::import`] for the graph
//!   of files.
//!
//! Names of separate namespaces are spelt differently by convention: Java's methods end in `()`, Rust's fields begin
//! with `.`; only the spelling is compared. Names may be used before they are bound: lookup happens after the whole
//! walk, except by [`Builder::lookup`], which sees the bindings so far (for `self.x = …`).
//!
//! Then give the language a [`Semantics`] and a [`Modules`], name both in its `LanguageSpec::relating`, and write a
//! small test for each binding rule through `check` in `tests/all/relations/`. The engine does not depend on order:
//! it computes answers on demand and caches them. Inside a cycle, it caches them only once the whole cycle is
//! resolved.

mod bound;
mod build;
mod ids;
mod kept;
mod marks;
mod packed;
mod semantics;
mod sound;
mod tables;

pub use bound::Bound;
pub use build::Builder;
pub use ids::{Column, DefinitionId, ExpressionId, ListId, NameId, ScopeId};
pub use kept::{LazyFacts, PackedFile, UnpackedFacts};
pub use marks::FileMarks;
pub use packed::{is_readable, marks, mentions, unpack};
pub use semantics::{
    ClassNames, Effect, IterationItem, Module, Modules, OutsideCalls, Project, ProjectFile, Read, Semantics, folder,
};
pub use tables::*;
