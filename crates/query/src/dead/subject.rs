//! A definition as the rules see it: its users, file, class, modifiers and visibility.

use super::project::Project;
use super::walk::{Reached, Walk};
use crate::graph::{Graph, in_interface, is_decorated, is_type};
use codelode_base::model::{Kind, Marks};
use codelode_lang::languages::{Conventions, Public};
use codelode_store::{FileView, SymbolView};

/// A definition during the walk.
#[derive(Clone, Copy)]
pub struct Subject<'s, 'a> {
    pub walk: &'s Walk<'s, 'a>,
    pub node: u32,
    pub symbol: SymbolView<'a>,
}

impl<'s, 'a> Subject<'s, 'a> {
    /// Another definition of the project.
    pub fn other(&self, node: u32) -> Self {
        Self { walk: self.walk, node, symbol: self.graph().symbols[node as usize] }
    }

    pub fn project(&self) -> &'s Project<'s, 'a> {
        self.walk.project
    }

    pub fn graph(&self) -> &'s Graph<'a> {
        self.project().graph
    }

    pub fn file(&self) -> FileView<'a> {
        self.symbol.file
    }

    /// The conventions of its language.
    pub fn language(&self) -> &'static Conventions {
        self.symbol.file.conventions()
    }

    pub fn is_method(&self) -> bool {
        self.symbol.kind() == Kind::Method
    }

    /// Whether it is at the top level of its file.
    pub fn is_top(&self) -> bool {
        !self.symbol.has_parent() && self.symbol.container_span().is_empty()
    }

    /// The type that it is a member of, even if it is defined outside that type.
    pub fn class(&self) -> Option<Self> {
        let owner = self.project().members.owner(self.node);
        let around =
            || self.graph().parent(self.node).filter(|parent| is_type(&self.graph().symbols[*parent as usize]));
        owner.or_else(around).map(|class| self.other(class))
    }

    /// The definition itself and the definitions around it, innermost first.
    pub fn around(&self) -> impl Iterator<Item = Self> + use<'s, 'a> {
        let own = *self;
        std::iter::successors(Some(own), move |inner| inner.graph().parent(inner.node).map(|node| own.other(node)))
    }

    /// Whether it may be an entry point: it is at the top level, or a member of a reached type.
    pub fn is_entry(&self) -> bool {
        self.is_top() || self.class().is_some_and(|class| class.reached() != Reached::Not)
    }

    /// Whether it is inside a function, so that only that function can name it.
    pub fn is_local(&self) -> bool {
        self.around().nth(1).is_some_and(|around| matches!(around.symbol.kind(), Kind::Function | Kind::Method))
    }

    /// Whether a decorator, attribute or annotation may pass it on.
    pub fn is_decorated(&self) -> bool {
        is_decorated(&self.symbol)
    }

    /// Whether what stands around it says something of it.
    pub fn has(&self, marks: Marks) -> bool {
        self.graph().marks(self.node).has(marks)
    }

    /// Whether the language lets other files or packages use it.
    pub fn is_public(&self) -> bool {
        self.has(Marks::PUBLIC)
    }

    /// Whether the language hides it from other code: it is private, local, or a member of a hidden type.
    pub fn is_hidden(&self) -> bool {
        let is_closed = match self.language().public {
            Public::All => false,
            // Scripts of a page without imports and exports share their names.
            Public::Exported(_) => !self.is_public() && (self.is_method() || self.project().is_module(self.file())),
            _ => !self.is_public(),
        };
        let is_of_hidden = || !self.language().by_shape && self.class().is_some_and(|class| class.is_hidden());
        is_closed || self.is_local() || is_of_hidden()
    }

    /// Whether an external base may call it.
    pub fn may_override(&self) -> bool {
        self.has(Marks::OVERRIDES)
    }

    /// Whether it is an interface method without a body.
    pub fn is_declared(&self) -> bool {
        in_interface(&self.symbol)
    }

    pub fn reached(&self) -> Reached {
        self.walk.reached[self.node as usize]
    }
}
