//! Possible uses: places with an unresolved name that may mean a symbol.

use std::cell::OnceCell;

use super::receivers::receiver;
use super::relations::{UseSite, may_name, places};
use super::visible::{in_interface, marks_of};
use crate::folder;
use codelode_base::model::{Detail, How, Kind, Marks, Role};
use codelode_lang::extract::may_extend_outside;
use codelode_lang::languages::{LANGUAGES, Public, Relating};
use codelode_store::{Edge, EdgeTable, FileView, Snapshot, SymbolView};

/// Members of texts, lists and tables in languages without written types.
const OF_PLAIN_VALUES: &[&[u8]] = &[b"length", b"size"];

/// Places that may mean one of several definitions of the same name, by path and line, without duplicates.
pub fn possible_uses<'a>(
    snapshot: &'a Snapshot,
    edges: &'a EdgeTable,
    definitions: &[SymbolView<'_>],
) -> Vec<UseSite<'a>> {
    let Some(first) = definitions.first() else { return Vec::new() };
    let candidates: Vec<Candidate<'_, '_>> =
        definitions.iter().filter_map(|symbol| Candidate::new(symbol, edges)).collect();
    let may_mean = |edge: &&Edge| {
        let file = snapshot.file_by_number(edge.file);
        file.is_some_and(|file| candidates.iter().any(|candidate| candidate.is_possible(file, edge)))
    };
    let mut found = places(snapshot, edges.unbound(first.name_bytes()).filter(may_mean));
    found.dedup_by_key(|place| (place.edge.file, place.edge.at));
    found
}

/// A symbol, with lazily computed facts about where its name may mean it.
struct Candidate<'a, 'b> {
    symbol: &'b SymbolView<'a>,
    relating: &'static Relating,
    edges: &'b EdgeTable,
    is_hidden: OnceCell<bool>,
    is_only_called: OnceCell<bool>,
    extends_outside: OnceCell<bool>,
}

impl<'a, 'b> Candidate<'a, 'b> {
    fn new(symbol: &'b SymbolView<'a>, edges: &'b EdgeTable) -> Option<Self> {
        let relating = relating(symbol.file)?;
        let (is_hidden, is_only_called) = (OnceCell::new(), OnceCell::new());
        Some(Self { symbol, relating, edges, is_hidden, is_only_called, extends_outside: OnceCell::new() })
    }

    fn is_possible(&self, file: FileView<'_>, edge: &Edge) -> bool {
        let is_open = match edge.how() {
            How::NoReceiver => true,
            How::OtherReceiver => self.extends_outside(),
            _ => false,
        };
        is_open
            && may_name(file, self.symbol.file)
            && self.has_form(file, edge)
            && (file.number() == self.symbol.file.number()
                || !self.is_hidden_from(file) && !self.is_of_plain_values(file))
    }

    /// Whether its name is a member of plain values, of which an unknown receiver is one: the file does not import the
    /// symbol's, as others do.
    fn is_of_plain_values(&self, file: FileView<'_>) -> bool {
        let importers = self.edges.importers(self.symbol.file.number());
        !self.relating.semantics.typed
            && OF_PLAIN_VALUES.contains(&self.symbol.name_bytes())
            && !importers.is_empty()
            && importers.iter().all(|import| import.from != file.number())
    }

    /// Whether the syntax of a place allows the symbol.
    fn has_form(&self, file: FileView<'_>, edge: &Edge) -> bool {
        let is_code = matches!(self.symbol.kind(), Kind::Function | Kind::Method);
        match edge.role() {
            Role::Type | Role::Base if is_code => return !self.relating.semantics.typed && edge.role() == Role::Base,
            Role::Write if is_code && self.relating.semantics.typed => return is_accessor(self.symbol),
            _ => {}
        }
        if !follows_dot(file, edge.at) {
            return true;
        }
        if !self.relating.semantics.typed {
            return !(self.is_only_called() || self.is_free() && is_on_value(file, edge.at));
        }
        let is_called = edge.role() == Role::Call;
        match self.symbol.kind() {
            // A function follows a dot only if it extends an external type.
            Kind::Function => self.extends_outside(),
            Kind::Method => !self.relating.semantics.calls_tell || is_called,
            Kind::Constant => !self.relating.semantics.calls_tell || !is_called,
            _ => true,
        }
    }

    /// Whether the language hides the symbol from a file, because it is private to its own file or folder.
    fn is_hidden_from(&self, file: FileView<'_>) -> bool {
        if *self.is_hidden.get_or_init(|| marks_of(self.symbol).has(Marks::PRIVATE)) {
            return true;
        }
        let is_of_package = matches!(self.symbol.file.conventions().public, Public::Capital)
            && !self.symbol.name().starts_with(char::is_uppercase);
        is_of_package && folder(file.path()) != folder(self.symbol.file.path())
    }

    /// Whether it is a function inside of another that is called by its name and never a value: no object has it.
    fn is_only_called(&self) -> bool {
        let symbol = self.symbol;
        let is_code = |symbol: &SymbolView<'_>| matches!(symbol.kind(), Kind::Function | Kind::Method);
        let is_inside = || symbol.kind() == Kind::Function && symbol.parent().is_some_and(|parent| is_code(&parent));
        let is_member = || marks_of(symbol).has(Marks::OF_MEMBER);
        let is_given = || symbol.is_handed() || !symbol.decorators().is_empty();
        let is_value = || self.edges.users(symbol.number()).any(|edge| edge.role() != Role::Call);
        *self.is_only_called.get_or_init(|| is_inside() && !is_member() && !is_given() && !is_value())
    }

    /// Whether it is a function outside of classes that is never a value: only a module has it as a member.
    fn is_free(&self) -> bool {
        let symbol = self.symbol;
        let is_value =
            || self.edges.users(symbol.number()).any(|edge| !matches!(edge.role(), Role::Call | Role::Import));
        symbol.kind() == Kind::Function && symbol.parent().is_none() && !symbol.is_handed() && !is_value()
    }

    fn extends_outside(&self) -> bool {
        let symbol = self.symbol;
        let in_trait = || self.relating.semantics.lends && in_interface(symbol);
        *self
            .extends_outside
            .get_or_init(|| in_trait() || may_extend_outside(symbol.file.facts(), symbol.name_span().start))
    }
}

/// Whether callers assign to it as to a field.
fn is_accessor(symbol: &SymbolView<'_>) -> bool {
    matches!(symbol.detail(), Detail::Getter | Detail::Setter | Detail::Property | Detail::Event)
}

/// Whether a name follows a dot or an arrow, so it is a member of a value.
fn follows_dot(file: FileView<'_>, at: u32) -> bool {
    let before = file.content().get(..at as usize).unwrap_or_default().trim_ascii_end();
    before.ends_with(b".") || before.ends_with(b"->")
}

/// Whether a member is one of a field of an object, or of the result of a call that imports nothing: no module's.
fn is_on_value(file: FileView<'_>, at: u32) -> bool {
    let Some(on) = receiver(file.content(), at) else { return false };
    let is_field = ["self.", "this."].iter().any(|own| on.starts_with(own));
    (is_field || on.ends_with([')', ']'])) && !on.contains("import") && !on.contains("require")
}

/// The naming rules of a file's language, if its names are resolved.
fn relating(file: FileView<'_>) -> Option<&'static Relating> {
    LANGUAGES[file.language_number()? as usize].relating.as_ref()
}
