//! What one file says about names, and how a language writes it: the form that lowerings write and [`resolve`](crate::resolve)
//! reads.
//!
//! A language's *lowering* (`languages/<id>/lower.rs`) turns the syntax tree of one file into *facts*: scopes, bindings,
//! definitions, expressions and the places where names are written. Facts never point into another file, so they are made once
//! for each content and kept with it. How a language's names behave, and how it finds modules, is data too: [`Semantics`] and
//! [`Modules`].
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
//! - **An occurrence is an expression.** What `price` means is asked of the engine as it asks anything: the value of what
//!   stands before the dot, then the member of that. So a lowering never resolves anything; it only writes down what is there.
//! - **An import is an alias of an expression.** `from m import a as b`, `export {a} from 'm'`, `use m::a`, `require('m').a`
//!   all bind a name to `Member(Module("m"), "a")`. What the text `"m"` names is asked of the language's [`Modules`].
//! - **A type is an expression whose value is a class**, and [`Op::Instance`] of it is something of that type. Containers of
//!   other people's (`List[Item]`) are [`Op::Generic`]: all that is kept of them is their arguments.
//!
//! # Writing a lowering
//!
//! Copy `languages/python/lower.rs`: it is a walk over the tree with [`Builder`] in hand (by way of `languages::Lower`, which
//! adds what has to do with nodes). It must, for each
//!
//! - **definition**: [`Builder::define`] or [`Builder::class`] with `at` where the name is written (which ties it to its symbol),
//!   and [`Builder::bind`] its name in the scope around it;
//! - **variable, field, parameter**: bind it as [`BindingKind::Variable`] or [`BindingKind::Parameter`] with the value and type
//!   that are written. Give `at` only where a symbol may be: members and top-level names, not locals;
//! - **name that is written**: [`Builder::occurrence`] with [`Builder::named`] for a bare name and [`Builder::member`] for what
//!   follows a dot (of [`UNKNOWN`] where the receiver is beyond the form: then the answer says "unknown receiver");
//! - **block that adds members to a class written elsewhere** (Rust's `impl`, methods of a Go type): [`Builder::class`] without a
//!   name for its members, and [`Builder::extend`] with the expression that means the class;
//! - **import**: bind an alias, write an occurrence of what is imported, and [`Builder::import`] for the graph of files.
//!
//! Names that live in separate worlds are spelt differently by convention: Java's methods end in `()`, Rust's fields begin
//! with `.`; only the spelling is compared. What the walk binds later may be used earlier: nothing is looked up until
//! all is bound, except by [`Builder::lookup`], which sees what is bound so far (for `self.x = …`).
//!
//! Then give the language a [`Semantics`] and a [`Modules`], name both in its `LanguageSpec::relating`, and write one small
//! test for each binding rule through `check` in `tests/all/relations/`. Order does not matter to the engine: every answer is
//! made on demand and kept, except inside a cycle, where an answer is kept only when the whole cycle has been.

mod build;
mod packed;
mod semantics;
mod tables;

pub use build::Builder;
pub use packed::unpack;
pub use semantics::{ClassNames, Each, Effect, Module, Modules, Project, ProjectFile, Read, Semantics, folder};
pub use tables::*;
