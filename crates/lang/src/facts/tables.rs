//! Tables of the facts about one file, read in place without copying.
//!
//! Rows refer to each other by their index in a table of the same file. No fact points into another file, so facts
//! depend on one file's text alone and are stored with it. [`Builder`](super::Builder) makes them, [`Facts`] reads
//! them. See [`super`] for the form with an example.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, TryFromBytes};

use super::ids::{DefinitionId, ExpressionId, ListId, NameId, ScopeId};

/// No row, in any column that holds an index.
pub const NONE: u32 = u32::MAX;
/// The unknown expression.
pub const UNKNOWN: ExpressionId = ExpressionId(0);
/// The empty list.
pub const EMPTY: ListId = ListId(0);
/// Index of the last argument in [`Op::Passed`].
pub const LAST: u32 = 0xffff;
/// The scope of the file itself; other files can name its bindings.
pub const ROOT: ScopeId = ScopeId(0);

/// Kind of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, TryFromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(u8)]
pub enum ScopeKind {
    /// A module: other files can name its bindings.
    #[default]
    Module = 0,
    /// Names of one file that its module does not offer to others: imports in Go and Java.
    File = 1,
    /// Members of a class. The language decides whether a bare name inside a method sees them.
    Class = 2,
    /// A function's parameters and locals.
    Function = 3,
    /// Any other block.
    Block = 4,
}

/// A region that binds names. Its bindings are adjacent, sorted by name.
#[derive(Clone, Copy, Debug, Default, TryFromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Scope {
    /// Parent scope; [`NONE`] for the root.
    pub parent: ScopeId,
    /// The class whose members it holds, else [`NONE`].
    pub class: DefinitionId,
    /// Place of its first binding.
    pub first_binding: u32,
    /// Number of bindings.
    pub bindings: u32,
    pub(crate) first_star: u32,
    /// Number of star imports.
    pub stars: u16,
    /// Kind.
    pub kind: ScopeKind,
    pub(crate) reserved: u8,
}

/// Meaning of a binding's columns `a` and `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, TryFromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(u8)]
pub enum BindingKind {
    /// Name of the definition `a`.
    #[default]
    Definition = 0,
    /// Alias of the expression `a`: every form of import, re-export and `use`, and shorthand.
    Alias = 1,
    /// Variable or field: `a` the value assigned, `b` the type written; either may be [`UNKNOWN`]. The type takes
    /// precedence.
    Variable = 2,
    /// Parameter: `a` its default, `b` its type.
    Parameter = 3,
    /// Name for the value of the expression `a`, without a definition: `self`, `this`, `Self`, a macro.
    Value = 4,
    /// Variable that a test narrowed to an instance of the type `a`.
    Narrowed = 5,
}

/// A name in a scope. A name may have several bindings; all of them count.
#[derive(Clone, Copy, Debug, Default, TryFromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Binding {
    /// The name.
    pub name: NameId,
    /// See [`BindingKind`].
    pub a: u32,
    /// See [`BindingKind`].
    pub b: u32,
    /// Position of the name in bytes; [`NONE`] when it is not written.
    pub at: u32,
    /// Kind.
    pub kind: BindingKind,
    /// [`HOLDS_NOTHING`].
    pub flags: u8,
    pub(crate) reserved: [u8; 2],
}

/// Flag of a binding that no value can have: TypeScript's `error?: never` in a union of types that tells them apart.
pub const HOLDS_NOTHING: u8 = 1;

/// Kind of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, TryFromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(u8)]
pub enum DefinitionKind {
    /// A callable; a call gives its return value.
    #[default]
    Function = 0,
    /// A type; a call or construction gives an instance.
    Class = 1,
    /// A value with members that is no type: an object literal, a namespace, an anonymous struct.
    Object = 2,
}

/// Flag of a property: read without call syntax.
pub const PROPERTY: u16 = 1;
/// Flag of a structural type, whose implementers do not name it: Go's interfaces.
pub const STRUCTURAL: u16 = 2;
/// Flag of a type distinct from its underlying type: Go's `type Names []Name`.
pub const NAMED: u16 = 4;
/// Flag of a variadic function: its last parameter takes any number of arguments.
pub const ANY_NUMBER: u16 = 8;
/// Flag of a function whose last parameters may be left out: their defaults may be written elsewhere.
pub const FEWER: u16 = 16;

/// Flag of an extension whose members give way to members of the same name elsewhere: an implementation of a Rust trait.
pub const GIVES_WAY: u16 = 128;
/// Flag of a class that stands for one outside of the project, with the methods that extend it, and of a function that
/// extends only values known to be of its type.
pub const STANDS_IN: u16 = 32;

/// Flag of a member that only its own file sees.
pub const PRIVATE: u16 = 64;

/// Flag of a type that is no value, so that a value may have its name: TypeScript's interfaces and `type`s.
pub const TYPE_ONLY: u16 = 256;

/// Flag of a class whose calls give what its member [`MADE`] is of: Python's `__new__` that says so.
pub const MAKES_ANOTHER: u16 = 512;

/// Member, not written, of the type that a call of a class gives.
pub const MADE: &str = "made=";
/// Member, not written, that is the class of a class: Python's `metaclass=`.
pub const METACLASS: &str = "metaclass=";
/// Member, not written, of a class whose fields are the labels of the arguments that construct it.
pub const KEYWORDS: &str = "keywords=";

/// End of the label of a parameter that has a default.
pub const MAY_LACK: char = '=';
/// End of the label of a parameter that takes any number of arguments.
pub const MAY_REPEAT: char = '*';
/// End of the label of a parameter whose type is written as a function.
pub const TAKES_BLOCK: char = '{';
/// Label of a block behind a call, which the next parameter takes that can.
pub const BLOCK: &str = "{}";

/// A function, class or object.
#[derive(Clone, Copy, Debug, TryFromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Definition {
    /// Name; [`NONE`] for none.
    pub name: NameId,
    /// Position of its name, which identifies it and ties it to a symbol; [`NONE`] for none.
    pub at: u32,
    /// The class it is a member of.
    pub owner: DefinitionId,
    /// Scope of its members.
    pub members: ScopeId,
    /// Scope of members assigned from elsewhere: `self.x = …`, `Foo.prototype.bar = …`.
    pub attributes: ScopeId,
    /// List of base classes, interfaces, traits, embedded structs, as expressions.
    pub bases: ListId,
    /// Declared return type.
    pub returns: ExpressionId,
    /// List of returned values, used when no return type is declared.
    pub values: ListId,
    /// List of parameter types, [`UNKNOWN`] for parameters without one.
    pub parameters: ListId,
    /// Aliased or underlying type; in an extension, the underlying type of the extended class; of a function, the type
    /// that it extends.
    pub alias: ExpressionId,
    /// List of type parameters, as expressions that name them.
    pub generics: ListId,
    /// [`PROPERTY`], [`STRUCTURAL`], [`NAMED`], [`ANY_NUMBER`], [`FEWER`], [`STANDS_IN`],
    /// [`PRIVATE`], [`GIVES_WAY`], [`TYPE_ONLY`], [`MAKES_ANOTHER`].
    pub flags: u16,
    /// Kind.
    pub kind: DefinitionKind,
    #[doc(hidden)]
    pub reserved: u8,
}

impl Definition {
    /// A definition without anything.
    pub const EMPTY: Self = Self {
        name: NameId::NONE,
        at: NONE,
        owner: DefinitionId::NONE,
        members: ScopeId::NONE,
        attributes: ScopeId::NONE,
        bases: EMPTY,
        returns: UNKNOWN,
        values: EMPTY,
        parameters: EMPTY,
        alias: UNKNOWN,
        generics: EMPTY,
        kind: DefinitionKind::Function,
        flags: 0,
        reserved: 0,
    };
}

impl Default for Definition {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// Operation of an expression on its columns `a` and `b` of [`Expression`]. Types are expressions too: the name of a
/// class means the class, and [`Op::Instance`] of it an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, TryFromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(u8)]
pub enum Op {
    /// Unknown value.
    #[default]
    Unknown = 0,
    /// The name `b` seen from the scope `a`.
    Name,
    /// The member `b` of the expression `a`.
    Member,
    /// A call of `a` with the list `b` of arguments; a lowering may leave out arguments that no rule reads.
    Call,
    /// `new a`.
    New,
    /// An instance of the type `a`.
    Instance,
    /// `self` in a method of the definition `a`: an instance of it.
    SelfOf,
    /// The class `a` itself: `cls`, `Self`.
    ClassOf,
    /// `super` in the class `a`: its inherited members without its own.
    SuperOf,
    /// An element of the container `a`, by index.
    Element,
    /// An iteration item of the container `a`.
    Each,
    /// A key of the container `a`.
    Key,
    /// The awaited value of `a`.
    Await,
    /// The value that `with a as …` binds.
    Enter,
    /// Any of the list `a`: conditional expressions, union types.
    Union,
    /// The type `a` with the list `b` of type arguments. External types count as containers of their arguments.
    Generic,
    /// The function `a` as a value: a lambda, a function expression.
    Function,
    /// The object `a`.
    Object,
    /// A function type that returns `a` and takes the list `b`.
    FunctionType,
    /// A tuple of the list `a`; [`Op::Instance`] of it is a tuple of instances.
    Tuple,
    /// Item number `b` of the tuple `a`, or of a call with several results.
    Item,
    /// Argument that the callee `a` passes to a callback: `b` is the index of the callback among the arguments times
    /// 65,536, plus the index of the callback's own parameter. The index [`LAST`] is that of the last parameter.
    Passed,
    /// Type of parameter number `b` in the method that the method `a` overrides.
    Overridden,
    /// The module that the text `a` names, seen from the module scope `b`.
    Module,
    /// Type of the value `a`: [`Op::Instance`] of it is that value.
    TypeOf,
    /// The member `a`, or `b` when the receiver is a project type without that member: a key in a literal that may
    /// build an object with fields or a map.
    Else,
    /// The overloads of the function `a` that take the list `b` of arguments.
    Fitting,
    /// The member `a`, which may be [`Op::Fitting`] of one, or else what the name `b` means and extends the type of its
    /// receiver: a function whose [`Definition::alias`] is that type.
    Extension,
    /// The argument, or the type of a parameter, `a` with the label `b`. Labels of parameters may end in [`MAY_LACK`],
    /// [`MAY_REPEAT`] and [`TAKES_BLOCK`]; an argument behind the parentheses has the label [`BLOCK`].
    Labeled,
    /// A value of the type that the callee `a`, which may be [`Op::Fitting`], wants of argument number `b`.
    Wanted,
    /// Meanings of `a` where it is not called: no functions, if it means anything else.
    Uncalled,
    /// The return type of a guard, which proves that its argument is of the type `a`: `x is A`, `TypeIs[A]`.
    Predicate,
    /// The value `b` as an instance of the type `a`, or of the type that the call `a` of a guard proves.
    Proven,
    /// The values of `a` that are no instances of the type `b`.
    Except,
    /// The member `a` of a trait as it is implemented for the value `b`, or else the trait's own: `Trait::method(&value)`.
    Implemented,
    /// The callee `a` of a call whose result is wanted as the type `b`, which may tell its type parameters.
    Returning,
    /// The field that an argument of the callee `a` with the label `b` sets: `Point(x=1)`.
    Keyword,
    /// Type of parameter number `b` in the function `a`, which is a value.
    ParameterOf,
    /// The callee `a` of a call whose first argument is the value `b`, which may tell its type parameters.
    Taking,
    /// A value of a type that is the language's own, or that type: a literal. `b` is [`HOLDS`] if it holds values.
    Foreign,
}

/// A list, a map: a value of the language's own that holds others.
pub const HOLDS: u32 = 1;

/// An expression or a type. Equal expressions share one row, so an index is a structural key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, TryFromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Expression {
    /// See [`Op`].
    pub a: u32,
    /// See [`Op`].
    pub b: u32,
    /// Operation.
    pub op: Op,
    pub(crate) reserved: [u8; 3],
}

/// Flag of a star whose names are visible in the scope itself.
pub const SEEN: u8 = 1;
/// Flag of a star whose names are offered to other files too.
pub const OFFERED: u8 = 2;

/// Wildcard import of everything in a module, class or enum: `from x import *`, `export *`, `use x::*`.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Star {
    /// Expression of a module or a class.
    pub from: ExpressionId,
    /// [`SEEN`], [`OFFERED`].
    pub flags: u8,
    pub(crate) reserved: [u8; 3],
}

/// Role of a name at its occurrence.
pub use codelode_base::model::Role;

/// Flag of an occurrence inside a path, which leads to what follows: `a` and `b` in Rust's `a::b::c`. It means a module
/// or a type, and no function of that name.
pub const IN_PATH: u8 = 1;
/// Flag of an occurrence in a type that means a value: `a` in TypeScript's `typeof a`.
pub const MEANS_VALUE: u8 = 2;

/// Occurrence of a name that means something defined elsewhere. Definitions themselves are no occurrences.
#[derive(Clone, Copy, Debug, Default, TryFromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Occurrence {
    /// First byte.
    pub at: u32,
    /// Meaning of the name: [`Op::Name`] or [`Op::Member`].
    pub expression: ExpressionId,
    /// Length in bytes.
    pub len: u16,
    /// Role of the name.
    pub role: Role,
    /// [`IN_PATH`], [`MEANS_VALUE`].
    pub flags: u8,
}

/// Flag of an import that may only mean a module, not a definition inside one: Python's `from x import a`.
pub const MODULES_ONLY: u8 = 1;
/// Flag of an import that falls back to the enclosing module: `from . import a`.
pub const ELSE_WITHIN: u8 = 2;

/// An import of another file.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Import {
    /// Position in the source.
    pub at: u32,
    /// Expression of a module, or of a definition whose file counts.
    pub expression: ExpressionId,
    /// [`MODULES_ONLY`], [`ELSE_WITHIN`].
    pub flags: u8,
    pub(crate) reserved: [u8; 3],
}

/// Form of a module declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, TryFromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(u8)]
pub enum Declared {
    /// The package of the file: Java's and Go's `package`, and that of all scripts, which neither import nor export.
    #[default]
    Package = 0,
    /// A module whose scope is in this file: Rust's `mod a { … }`.
    Inline = 1,
    /// A module that has a file of its own: Rust's `mod a;`.
    Child = 2,
}

/// A module declaration in the file, read by the language's [`Modules`](super::Modules).
#[derive(Clone, Copy, Debug, Default, TryFromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct ModuleName {
    /// Name as written.
    pub name: NameId,
    /// Scope of the module itself for [`Declared::Inline`], else the scope of the declaration.
    pub scope: ScopeId,
    /// Scope of the declaration.
    pub within: ScopeId,
    /// Kind.
    pub kind: Declared,
    pub(crate) reserved: [u8; 3],
}

/// An extension of a class, function or object written elsewhere: Rust's `impl`, methods of a Go type,
/// `Foo.prototype.bar = …`. Of classes that extend each other, C#'s partial ones, the first is extended. `self` in it is an instance of that class, or of `definition` when the class is external.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Extension {
    /// Expression of the class, function or object.
    pub of: ExpressionId,
    /// Definition of the members and bases, a class without a name.
    pub definition: DefinitionId,
}

/// Sizes of the tables, in file order.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Header {
    /// See [`VERSION`].
    pub version: u32,
    /// Scope of the exports, when the file lists them; else its root is exported.
    pub exports: ScopeId,
    /// List of values of the module as a whole: `module.exports = …`.
    pub whole: ListId,
    /// Number of names.
    pub names: u32,
    /// Number of scopes.
    pub scopes: u32,
    /// Number of bindings.
    pub bindings: u32,
    /// Number of definitions.
    pub definitions: u32,
    /// Number of expressions.
    pub expressions: u32,
    /// Number of stars.
    pub stars: u32,
    /// Number of occurrences.
    pub occurrences: u32,
    /// Number of imports.
    pub imports: u32,
    /// Number of modules.
    pub modules: u32,
    /// Number of extensions.
    pub extensions: u32,
    /// Number of elements of all lists.
    pub lists: u32,
    /// Bytes of text.
    pub text: u32,
    /// Zero.
    pub reserved: u32,
}

/// Version of the tables' meaning. Extraction makes facts, so `store::CONTENT` must change too.
pub const VERSION: u32 = 12;

/// Facts of one file, read in place.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Sizes of the tables.
    pub header: Header,
    /// Hash of each name, ascending.
    pub hashes: &'a [u64],
    /// End of each name in the text.
    pub(crate) ends: &'a [u32],
    /// See [`Scope`].
    pub scopes: &'a [Scope],
    /// See [`Binding`].
    pub bindings: &'a [Binding],
    /// See [`Definition`].
    pub definitions: &'a [Definition],
    /// See [`Expression`].
    pub expressions: &'a [Expression],
    /// See [`Star`].
    pub stars: &'a [Star],
    /// See [`Occurrence`].
    pub occurrences: &'a [Occurrence],
    /// See [`Import`].
    pub imports: &'a [Import],
    /// See [`ModuleName`].
    pub modules: &'a [ModuleName],
    /// See [`Extension`].
    pub extensions: &'a [Extension],
    /// Lists, one after the other.
    pub lists: &'a [u32],
    pub(crate) text: &'a [u8],
}

/// Hash of a name, the same in every file, so that names are compared across files without a shared table. FNV-1a,
/// then mixed; collisions within a repository are negligible.
pub fn hash(name: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ hash >> 29
}

/// Splits a table off the front; `None` if a row has a number that no kind has.
fn take<'a, T: TryFromBytes + Immutable + KnownLayout>(bytes: &mut &'a [u8], count: u32) -> Option<&'a [T]> {
    let len = (count as usize).checked_mul(size_of::<T>())?;
    let (table, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    <[T]>::try_ref_from_bytes(table).ok()
}

impl<'a> Facts<'a> {
    /// Reads tables made by [`unpack`](super::unpack); `None` for another version, or for a kind that does not exist.
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

    /// Text of a name.
    pub fn name(&self, name: NameId) -> &'a str {
        let name = name.row();
        let start = name.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(name).copied().unwrap_or(start);
        std::str::from_utf8(self.text.get(start as usize..end as usize).unwrap_or_default()).unwrap_or_default()
    }

    /// Index of a name by its hash, if the file holds it.
    pub fn find_name(&self, hash: u64) -> Option<NameId> {
        self.hashes.binary_search(&hash).ok().map(|place| NameId(place as u32))
    }

    /// Items of a list.
    pub fn list(&self, list: ListId) -> &'a [ExpressionId] {
        let start = list.row();
        let len = self.lists.get(start).copied().unwrap_or(0) as usize;
        let items = self.lists.get(start + 1..start + 1 + len).unwrap_or_default();
        <[ExpressionId]>::ref_from_bytes(items.as_bytes()).unwrap_or_default()
    }

    /// Whether a binding writes a name that a use of unknown meaning may mean. Modules are found by their paths.
    pub fn names_a_thing(&self, binding: &Binding) -> bool {
        let is_module =
            |expression: u32| self.expressions.get(expression as usize).is_some_and(|it| it.op == Op::Module);
        binding.at != NONE && !(binding.kind == BindingKind::Alias && is_module(binding.a))
    }

    /// Range of a name's bindings in a scope.
    pub fn bound(&self, scope: ScopeId, name: NameId) -> std::ops::Range<u32> {
        let scope = &self.scopes[scope.row()];
        let first = scope.first_binding as usize;
        let all = &self.bindings[first..first + scope.bindings as usize];
        let from = all.partition_point(|binding| binding.name < name);
        // Most names are bound once or twice, some in generated or hostile files a million times.
        const FEW: usize = 4;
        let is_of_it = |binding: &Binding| binding.name == name;
        let few = all[from..].iter().take(FEW).take_while(|binding| is_of_it(binding)).count();
        let len = if few < FEW { few } else { all[from..].partition_point(is_of_it) };
        (first + from) as u32..(first + from + len) as u32
    }

    /// Stars of a scope.
    pub fn stars(&self, scope: ScopeId) -> &'a [Star] {
        let scope = &self.scopes[scope.row()];
        let first = scope.first_star as usize;
        &self.stars[first..first + scope.stars as usize]
    }
}
