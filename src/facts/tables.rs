//! Facts: what one file says about names, in tables that are used where they lie.
//!
//! Everything refers to everything else by its place in a table of the same file; no fact points into another file, so
//! facts depend on one file's text alone and are kept with it. [`Builder`](super::Builder) makes them, [`Facts`] reads them.
//! [`super`] teaches the form with an example; here is what each table says.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, TryFromBytes};

/// "There is none", in any column that names a place.
pub const NONE: u32 = u32::MAX;
/// The expression about which nothing is known.
pub const UNKNOWN: u32 = 0;
/// The list that holds nothing.
pub const EMPTY: u32 = 0;
/// The scope of the file itself: what other files can name.
pub const ROOT: u32 = 0;

/// What sort of scope it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes)]
#[repr(u8)]
pub enum ScopeKind {
    /// A module: what is bound here can be named from other files.
    Module = 0,
    /// Names of one file that its module does not offer to others: imports in Go and Java.
    File = 1,
    /// Members of a class. Whether a bare name inside a method sees them is the language's choice.
    Class = 2,
    /// A function's parameters and locals.
    Function = 3,
    /// Any other block.
    Block = 4,
}

/// A region in which names are bound. Its bindings lie together, sorted by name.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Scope {
    /// The scope around it; [`NONE`] for the root.
    pub parent: u32,
    /// The class whose members it holds, else [`NONE`].
    pub class: u32,
    pub(crate) first_binding: u32,
    pub(crate) bindings: u32,
    pub(crate) first_star: u32,
    pub(crate) stars: u16,
    /// A [`ScopeKind`].
    pub kind: u8,
    pub(crate) reserved: u8,
}

/// How a name is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes)]
#[repr(u8)]
pub enum BindingKind {
    /// It names the definition `a`.
    Definition = 0,
    /// It means whatever the expression `a` means: every form of import, re-export and `use`, and shorthand.
    Alias = 1,
    /// A variable or field: `a` the value assigned, `b` the type written; either may be [`UNKNOWN`]. A type counts for more.
    Variable = 2,
    /// A parameter: `a` its default, `b` its type.
    Parameter = 3,
    /// It holds the value of the expression `a` and is no definition: `self`, `this`, `Self`.
    Value = 4,
    /// A test has shown it to be an instance of the type `a`.
    Narrowed = 5,
}

/// A name in a scope. A name may be bound several times; all of them count.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Binding {
    /// The name.
    pub name: u32,
    /// See [`BindingKind`].
    pub a: u32,
    /// See [`BindingKind`].
    pub b: u32,
    /// Where the name is written, in bytes; [`NONE`] when it is not.
    pub at: u32,
    /// A [`BindingKind`].
    pub kind: u8,
    pub(crate) reserved: [u8; 3],
}

/// What sort of definition it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes)]
#[repr(u8)]
pub enum DefinitionKind {
    /// Something that is called; its call gives what it returns.
    Function = 0,
    /// A type; its call or construction gives an instance.
    Class = 1,
    /// A thing with members that is no type: an object literal, a namespace, an anonymous struct.
    Object = 2,
}

/// The call of it is not written: a property.
pub const PROPERTY: u8 = 1;
/// Whatever has its methods derives from it, though it does not say so: Go's interfaces.
pub const STRUCTURAL: u8 = 2;
/// It is a type of its own, and what lies beneath it only says what it is made of: Go's `type Names []Name`.
pub const NAMED: u8 = 4;
/// It takes any number of arguments from its last parameter on.
pub const ANY_NUMBER: u8 = 8;

/// A function, class or object.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Definition {
    /// Its name; [`NONE`] for none.
    pub name: u32,
    /// Where its name is written, which is how it is told from others and what ties it to a symbol; [`NONE`] for none.
    pub at: u32,
    /// The class it is a member of.
    pub owner: u32,
    /// The scope of its members.
    pub members: u32,
    /// The scope of members that are given to it from elsewhere: `self.x = …`, `Foo.prototype.bar = …`.
    pub attributes: u32,
    /// List of base classes, interfaces, traits, embedded structs: expressions that mean classes.
    pub bases: u32,
    /// The type that a call of it gives, when it is written.
    pub returns: u32,
    /// List of the values that it returns, for when no type is written.
    pub values: u32,
    /// List of its parameters' types, [`UNKNOWN`] where none is written.
    pub parameters: u32,
    /// The type that it is another name of, or that lies beneath it; in an extension, that lies beneath what it extends.
    pub alias: u32,
    /// List of its type parameters: expressions that name them.
    pub generics: u32,
    /// A [`DefinitionKind`].
    pub kind: u8,
    /// [`PROPERTY`], [`STRUCTURAL`], [`NAMED`], [`ANY_NUMBER`].
    pub flags: u8,
    #[doc(hidden)]
    pub reserved: [u8; 2],
}

impl Default for Definition {
    fn default() -> Self {
        Self {
            name: NONE,
            at: NONE,
            owner: NONE,
            members: NONE,
            attributes: NONE,
            bases: EMPTY,
            returns: UNKNOWN,
            values: EMPTY,
            parameters: EMPTY,
            alias: UNKNOWN,
            generics: EMPTY,
            kind: DefinitionKind::Function as u8,
            flags: 0,
            reserved: [0; 2],
        }
    }
}

/// What an expression does; `a` and `b` are the columns of [`Expression`]. Types are expressions too: the name of a class
/// means the class, and [`Op::Instance`] of it an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, TryFromBytes)]
#[repr(u8)]
pub enum Op {
    /// Nothing is known of it.
    Unknown = 0,
    /// The name `b` as it is seen from the scope `a`.
    Name,
    /// The member `b` of the expression `a`.
    Member,
    /// A call of `a` with the list `b` of arguments; a lowering may leave out arguments nobody asks for.
    Call,
    /// `new a`.
    New,
    /// An instance of the type `a`.
    Instance,
    /// What `self` is in a method of the definition `a`: an instance of it.
    SelfOf,
    /// The class `a` itself: `cls`, `Self`.
    ClassOf,
    /// `super` in the class `a`: its members without its own.
    SuperOf,
    /// What an index into the container `a` gives.
    Element,
    /// What iterating over the container `a` gives.
    Each,
    /// A key of the container `a`.
    Key,
    /// What waiting for `a` gives.
    Await,
    /// What `with a as …` gives.
    Enter,
    /// Any of the list `a`: conditional expressions, union types.
    Union,
    /// The type `a` with the list `b` of type arguments. Where `a` means nothing we have, it is a container of them.
    Generic,
    /// The function `a` as a value: a lambda, a function expression.
    Function,
    /// The object `a`.
    Object,
    /// The type of functions that give `a` and take the list `b`.
    FunctionType,
    /// A tuple of the list `a`; [`Op::Instance`] of one is one of instances.
    Tuple,
    /// Item number `b` of the tuple `a`, or of what a call returns several of.
    Item,
    /// What the callee `a` passes to a callback: `b` is its place among the arguments times 65,536, plus the place of the
    /// callback's own parameter.
    Passed,
    /// What the method that the method `a` overrides says of its parameter number `b`.
    Overridden,
    /// The module that the text `a` names, seen from the module scope `b`.
    Module,
    /// The type of the value `a`: [`Op::Instance`] of it is that value.
    TypeOf,
    /// What the member `a` means; where that is of something of ours that has no such member, what `b` means: a key in a
    /// literal that may build a thing with fields or a map.
    Else,
    /// Of the functions that `a` means, those that take the list `b` of arguments: overloads.
    Fitting,
}

/// An expression or a type. Equal ones are one, so a place in the table is a structural key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Expression {
    /// See [`Op`].
    pub a: u32,
    /// See [`Op`].
    pub b: u32,
    /// An [`Op`].
    pub op: u8,
    pub(crate) reserved: [u8; 3],
}

/// The names are also seen in the scope, not only offered to others.
pub const SEEN: u8 = 1;
/// The names are offered to other files too.
pub const OFFERED: u8 = 2;

/// Everything that a module, class or enum offers, bound at once: `from x import *`, `export *`, `use x::*`.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Star {
    /// An expression that means a module or a class.
    pub from: u32,
    /// [`SEEN`], [`OFFERED`].
    pub flags: u8,
    pub(crate) reserved: [u8; 3],
}

/// What a name does where it is written.
pub use crate::model::Role;

/// A place where a name is written that means something defined elsewhere. Definitions themselves are no occurrences.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Occurrence {
    /// First byte.
    pub at: u32,
    /// What it means: [`Op::Name`] or [`Op::Member`].
    pub expression: u32,
    /// Bytes.
    pub len: u16,
    /// A [`Role`].
    pub role: u8,
    pub(crate) reserved: u8,
}

/// Only a module counts, not what is defined in one: the names of Python's `from x import a`.
pub const MODULES_ONLY: u8 = 1;
/// When it is not found, the module it was looked for in counts: `from . import a`.
pub const ELSE_WITHIN: u8 = 2;

/// A file that this one imports.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Import {
    /// Where it is written.
    pub at: u32,
    /// An expression that means a module, or a definition whose file counts.
    pub expression: u32,
    /// [`MODULES_ONLY`], [`ELSE_WITHIN`].
    pub flags: u8,
    pub(crate) reserved: [u8; 3],
}

/// How a file says where it belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes)]
#[repr(u8)]
pub enum Declared {
    /// It belongs to this package: Java's and Go's `package`.
    Package = 0,
    /// A module whose scope is in this file: Rust's `mod a { … }`.
    Inline = 1,
    /// A module that has a file of its own: Rust's `mod a;`.
    Child = 2,
}

/// A module that is declared in the file, for the language's [`Modules`](super::Modules) to read.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct ModuleName {
    /// Its name as it is written.
    pub name: u32,
    /// The scope of the module itself when it is [`Declared::Inline`], else the one it is declared in.
    pub scope: u32,
    /// The scope it is declared in.
    pub within: u32,
    /// A [`Declared`].
    pub kind: u8,
    pub(crate) reserved: [u8; 3],
}

/// A definition whose members and bases belong to a class, function or object that is written elsewhere, perhaps in another file:
/// Rust's `impl`, the methods of a Go type, `Foo.prototype.bar = …`. `self` in it is an instance of that class; where the class is not ours, of the definition itself.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Extension {
    /// An expression that means the class, function or object.
    pub of: u32,
    /// The definition, a class without a name.
    pub definition: u32,
}

/// Sizes of the tables, in the order in which they follow.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct Header {
    pub version: u32,
    /// The scope of what the file exports, when it says so itself; else everything in its root is offered.
    pub exports: u32,
    /// List of what the module as a whole is: `module.exports = …`.
    pub whole: u32,
    pub names: u32,
    pub scopes: u32,
    pub bindings: u32,
    pub definitions: u32,
    pub expressions: u32,
    pub stars: u32,
    pub occurrences: u32,
    pub imports: u32,
    pub modules: u32,
    pub extensions: u32,
    pub lists: u32,
    pub text: u32,
    pub reserved: u32,
}

/// Changes with the meaning of the tables. Facts are made by extraction, so `store::CONTENT` must change too.
pub const VERSION: u32 = 4;

/// Facts of one file, read where they lie.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub(crate) header: Header,
    /// Hash of each name, ascending.
    pub(crate) hashes: &'a [u64],
    /// Where each name ends in the text.
    pub(crate) ends: &'a [u32],
    /// See [`Scope`].
    pub scopes: &'a [Scope],
    pub(crate) bindings: &'a [Binding],
    /// See [`Definition`].
    pub definitions: &'a [Definition],
    /// See [`Expression`].
    pub expressions: &'a [Expression],
    pub(crate) stars: &'a [Star],
    /// See [`Occurrence`].
    pub occurrences: &'a [Occurrence],
    /// See [`Import`].
    pub imports: &'a [Import],
    /// See [`ModuleName`].
    pub modules: &'a [ModuleName],
    /// See [`Extension`].
    pub extensions: &'a [Extension],
    pub(crate) lists: &'a [u32],
    pub(crate) text: &'a [u8],
}

/// Hash of a name: equal in every file, so that names are compared across files without a common table (FNV-1a, then
/// mixed; two names of a repository agree by chance about never).
pub fn hash(name: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ hash >> 29
}

/// Takes a table off the front.
fn take<'a, T: FromBytes + Immutable + KnownLayout>(bytes: &mut &'a [u8], count: u32) -> Option<&'a [T]> {
    let len = (count as usize).checked_mul(size_of::<T>())?;
    let (table, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    <[T]>::ref_from_bytes(table).ok()
}

impl<'a> Facts<'a> {
    /// Reads what [`unpack`](super::unpack) made; `None` when these are no facts of this version.
    pub fn open(tables: &'a [u64]) -> Option<Self> {
        let mut bytes = tables.as_bytes();
        let header = *take::<Header>(&mut bytes, 1)?.first()?;
        if header.version != VERSION {
            return None;
        }
        Some(Self {
            header,
            hashes: take(&mut bytes, header.names)?,
            ends: take(&mut bytes, header.names)?,
            scopes: take(&mut bytes, header.scopes)?,
            bindings: take(&mut bytes, header.bindings)?,
            definitions: take(&mut bytes, header.definitions)?,
            expressions: take(&mut bytes, header.expressions)?,
            stars: take(&mut bytes, header.stars)?,
            occurrences: take(&mut bytes, header.occurrences)?,
            imports: take(&mut bytes, header.imports)?,
            modules: take(&mut bytes, header.modules)?,
            extensions: take(&mut bytes, header.extensions)?,
            lists: take(&mut bytes, header.lists)?,
            text: take(&mut bytes, header.text)?,
        })
    }

    /// A name as it is written.
    pub fn name(&self, name: u32) -> &'a str {
        let name = name as usize;
        let start = name.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(name).copied().unwrap_or(start);
        std::str::from_utf8(self.text.get(start as usize..end as usize).unwrap_or_default()).unwrap_or_default()
    }

    /// The place of a name here, if it is written here at all.
    pub fn find_name(&self, hash: u64) -> Option<u32> {
        self.hashes.binary_search(&hash).ok().map(|place| place as u32)
    }

    /// The items of a list.
    pub fn list(&self, list: u32) -> &'a [u32] {
        let start = list as usize;
        let len = self.lists.get(start).copied().unwrap_or(0) as usize;
        self.lists.get(start + 1..start + 1 + len).unwrap_or_default()
    }

    /// The places of a name's bindings in a scope.
    pub(crate) fn bound(&self, scope: u32, name: u32) -> std::ops::Range<u32> {
        let scope = &self.scopes[scope as usize];
        let first = scope.first_binding as usize;
        let all = &self.bindings[first..first + scope.bindings as usize];
        let from = all.partition_point(|binding| binding.name < name);
        let len = all[from..].iter().take_while(|binding| binding.name == name).count();
        (first + from) as u32..(first + from + len) as u32
    }

    /// The stars of a scope.
    pub(crate) fn stars(&self, scope: u32) -> &'a [Star] {
        let scope = &self.scopes[scope as usize];
        let first = scope.first_star as usize;
        &self.stars[first..first + scope.stars as usize]
    }
}
