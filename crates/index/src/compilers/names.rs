//! SCIP symbol names: a package, then descriptors such as `shop/Cart#add().`.

use std::borrow::Cow;

use codelode_base::model::Detail;

/// A descriptor: an identifier and its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descriptor<'a> {
    /// The identifier as written, with backticks doubled.
    name: &'a str,
    pub suffix: Suffix,
    /// The end of this descriptor in the whole name.
    pub end: usize,
}

impl<'a> Descriptor<'a> {
    /// The identifier with single backticks.
    pub fn name(&self) -> Cow<'a, str> {
        if self.name.contains("``") { self.name.replace("``", "`").into() } else { self.name.into() }
    }
}

/// The kind of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suffix {
    Namespace,
    Type,
    Term,
    Method,
    Macro,
    Meta,
    TypeParameter,
    Parameter,
}

impl Suffix {
    /// Whether searches should list symbols of this kind.
    pub fn is_listed(self) -> bool {
        !matches!(self, Self::Meta | Self::TypeParameter | Self::Parameter)
    }

    /// The kind of a symbol by its name alone. `around` is the suffix of the enclosing symbol.
    pub fn detail(self, around: Option<Self>) -> Detail {
        let is_member = around == Some(Self::Type);
        match self {
            Self::Namespace => Detail::Namespace,
            Self::Type | Self::TypeParameter => Detail::NamedType,
            Self::Method if is_member => Detail::Method,
            Self::Method => Detail::Function,
            Self::Macro => Detail::Macro,
            Self::Term if is_member => Detail::Field,
            Self::Term | Self::Meta | Self::Parameter => Detail::Variable,
        }
    }
}

/// Whether a name is only valid within its document.
pub(super) fn is_local(symbol: &str) -> bool {
    symbol.starts_with("local ")
}

/// The package part of a name without its version: the first three words.
pub(super) fn package(symbol: &str) -> Option<&str> {
    if is_local(symbol) {
        return None;
    }
    let spaces = symbol.match_indices(' ').filter(|(at, _)| {
        let doubled = |at: usize| symbol.as_bytes().get(at) == Some(&b' ');
        !doubled(at + 1) && !at.checked_sub(1).is_some_and(doubled)
    });
    spaces.map(|(at, _)| &symbol[..at]).nth(2)
}

/// The descriptors of a name; `None` if it is local or malformed.
pub(super) fn descriptors(symbol: &str) -> Option<Vec<Descriptor<'_>>> {
    let bytes = symbol.as_bytes();
    let mut at = 0;
    // Scheme, manager, package and version each end with a space; spaces inside are doubled.
    for _ in 0..4 {
        loop {
            at += bytes.get(at..)?.iter().position(|byte| *byte == b' ')? + 1;
            if bytes.get(at) != Some(&b' ') {
                break;
            }
            at += 1;
        }
    }
    let mut found = Vec::new();
    while at < bytes.len() {
        let descriptor = match bytes[at] {
            b'[' => enclosed(symbol, at, b']', Suffix::TypeParameter)?,
            b'(' => enclosed(symbol, at, b')', Suffix::Parameter)?,
            _ => plain(symbol, at)?,
        };
        at = descriptor.end;
        found.push(descriptor);
    }
    (!found.is_empty()).then_some(found)
}

fn enclosed(symbol: &str, at: usize, end: u8, suffix: Suffix) -> Option<Descriptor<'_>> {
    let (name, at) = identifier(symbol, at + 1)?;
    (symbol.as_bytes().get(at) == Some(&end)).then_some(Descriptor { name, suffix, end: at + 1 })
}

fn plain(symbol: &str, at: usize) -> Option<Descriptor<'_>> {
    let (name, at) = identifier(symbol, at)?;
    let bytes = symbol.as_bytes();
    let suffix = match bytes.get(at)? {
        b'/' => Suffix::Namespace,
        b'#' => Suffix::Type,
        b'.' => Suffix::Term,
        b':' => Suffix::Meta,
        b'!' => Suffix::Macro,
        b'(' => {
            let close = at + bytes[at..].iter().position(|byte| *byte == b')')?;
            let is_method = bytes.get(close + 1) == Some(&b'.');
            return is_method.then_some(Descriptor { name, suffix: Suffix::Method, end: close + 2 });
        }
        _ => return None,
    };
    Some(Descriptor { name, suffix, end: at + 1 })
}

/// An identifier, perhaps in backticks, and the position after it.
fn identifier(symbol: &str, at: usize) -> Option<(&str, usize)> {
    let bytes = symbol.as_bytes();
    if bytes.get(at) != Some(&b'`') {
        let is_end = |byte: &u8| matches!(byte, b'/' | b'#' | b'.' | b':' | b'!' | b'(' | b')' | b'[' | b']' | b'`');
        let end = at + bytes.get(at..)?.iter().position(is_end)?;
        return Some((symbol.get(at..end)?, end));
    }
    let mut end = at + 1;
    loop {
        end += bytes.get(end..)?.iter().position(|byte| *byte == b'`')?;
        if bytes.get(end + 1) != Some(&b'`') {
            return Some((symbol.get(at + 1..end)?, end + 1));
        }
        end += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::{Suffix, descriptors};

    #[test]
    fn names_are_taken_apart() {
        use Suffix::{Method, Namespace, Parameter, Term, Type, TypeParameter};
        for (symbol, expected) in [
            (
                "scip-typescript npm zod 4.0.0 src/`a.ts`/Cart#`<constructor>`().(price)",
                &[
                    ("src", Namespace),
                    ("a.ts", Namespace),
                    ("Cart", Type),
                    ("<constructor>", Method),
                    ("price", Parameter),
                ][..],
            ),
            ("scip-python python a  b 1.0 `m.n`/f(+1).", &[("m.n", Namespace), ("f", Method)]),
            ("s . . . `a``b`#[T]", &[("a`b", Type), ("T", TypeParameter)]),
            ("s . . . x.", &[("x", Term)]),
        ] {
            let found = descriptors(symbol).unwrap_or_default();
            let found: Vec<_> = found.iter().map(|it| (it.name().into_owned(), it.suffix)).collect();
            let expected: Vec<_> = expected.iter().map(|(name, suffix)| ((*name).to_owned(), *suffix)).collect();
            assert_eq!(found, expected, "{symbol}");
        }
        for symbol in ["local 4", "", "a b c d", "a b c d e", "a b c d `e", "a b c d e(", "a b c d e(+", "a b c d [T"] {
            assert_eq!(descriptors(symbol), None, "{symbol}");
        }
    }
}
