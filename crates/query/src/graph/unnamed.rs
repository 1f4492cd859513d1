//! Uses that do not write a name: by the language, by code outside of the repository, by what an annotation makes.

use std::collections::BTreeSet;

use super::overrides::known_outside;
use super::visible::marks_of;
use codelode_base::model::{Kind, Marks};
use codelode_store::{EdgeTable, Snapshot, SymbolView};

/// Reasons why some symbols may have uses that do not write their name, for people; none for most.
pub fn unnamed_uses(snapshot: &Snapshot, edges: &EdgeTable, symbols: &[SymbolView<'_>]) -> BTreeSet<String> {
    let mut reasons = BTreeSet::new();
    for symbol in symbols {
        if is_called_by_language(symbol) {
            reasons.insert(format!("the language may call {} without its name", symbol.name()));
        }
        if symbol.kind() == Kind::Method && edges.users(symbol.number()).next().is_none() {
            let known = known_outside(snapshot, edges, symbol);
            reasons
                .extend(known.iter().map(|outside| format!("{outside}, from outside of the repository, may use it")));
        }
        let made = accessors(symbol).into_iter();
        reasons.extend(
            made.map(|(annotation, names)| format!("@{annotation} makes {}, by which it is used", names.join(", "))),
        );
    }
    reasons
}

/// Whether a language calls a method for another word or sign: an operator, a constructor, `__enter__`.
fn is_called_by_language(symbol: &SymbolView<'_>) -> bool {
    let name = symbol.name();
    let is_of_name = |letter: char| letter.is_alphanumeric() || "_$#@".contains(letter);
    let is_sign = || !name.strip_prefix("operator").unwrap_or(&name).starts_with(is_of_name);
    let is_code = matches!(symbol.kind(), Kind::Method | Kind::Function);
    let is_member = symbol.kind() == Kind::Method || symbol.parent().is_some();
    is_code
        && is_member
        && ((symbol.file.conventions().is_implied)(&name) || is_sign() || marks_of(symbol).has(Marks::OPERATOR))
}

/// Annotations that make methods of a field, and the names of these.
fn accessors(symbol: &SymbolView<'_>) -> Vec<(String, Vec<String>)> {
    let known = symbol.file.conventions().accessors;
    if known.is_empty() || symbol.kind() != Kind::Constant {
        return Vec::new();
    }
    let name = symbol.name();
    let mut letters = name.chars();
    let capital: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    let written = symbol.parent().map(|class| class.decorators()).unwrap_or_default();
    let names = written.into_iter().chain(symbol.decorators()).filter_map(|decorator| {
        let word = decorator.trim_start_matches('@').split('(').next().unwrap_or_default();
        let word = word.rsplit('.').next().unwrap_or_default().trim().to_owned();
        let (_, forms) = known.iter().find(|(annotation, _)| *annotation == word)?;
        let made = forms.iter().map(|form| match form.strip_suffix('*') {
            Some("") => name.clone().into_owned(),
            Some(start) => format!("{start}{capital}"),
            None => (*form).to_owned(),
        });
        Some((word, made.collect()))
    });
    names.collect()
}
