//! SCIP: one document per file. Each is written before the next is built, so memory is bounded by the largest.

use std::io::{self, Write};

use prost::Message;

use super::{ExportCounts, Lines, Source, Use, files, uses};
use codelode_base::model::scip::{
    Document, Index, Metadata, Occurrence, PositionEncoding, Relationship, SymbolInformation, SymbolKind, SymbolRole,
    ToolInfo,
};
use codelode_base::model::{Detail, Kind, Role, Span};
use codelode_store::{FileView, SymbolView};

/// The encoding of files: UTF-8.
const UTF_8: i32 = 1;

pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> io::Result<ExportCounts> {
    let tool = ToolInfo { name: "codelode".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
    let metadata =
        Metadata { tool_info: Some(tool), project_root: source.root.to_owned(), text_document_encoding: UTF_8 };
    put(&Index { metadata: Some(metadata), ..Index::default() }, out)?;
    let mut written = ExportCounts::default();
    for file in files(source) {
        let document = document(source, &file, &mut written);
        put(&Index { documents: vec![document], ..Index::default() }, out)?;
    }
    Ok(written)
}

/// Writes a part of the index. Concatenated parts are one protobuf message.
fn put(part: &Index, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&part.encode_to_vec())
}

fn document<'a>(source: &Source<'a>, file: &FileView<'a>, written: &mut ExportCounts) -> Document {
    let lines = Lines::of(file);
    let mut document = Document {
        language: file.language().to_owned(),
        relative_path: file.path().to_owned(),
        position_encoding: PositionEncoding::Utf8.into(),
        ..Document::default()
    };
    for symbol in file.symbols() {
        document.occurrences.push(Occurrence {
            range: range(&lines, symbol.name_span()),
            symbol: name_of(&symbol),
            symbol_roles: SymbolRole::Definition as i32 | role_of_file(file),
            enclosing_range: range(&lines, symbol.span()),
        });
        document.symbols.push(information(source, &symbol));
    }
    written.definitions += document.symbols.len() as u64;
    for Use { at, len, role, target } in uses(source, file) {
        let role = match role {
            Role::Import => SymbolRole::Import,
            Role::Write => SymbolRole::WriteAccess,
            Role::Reference | Role::Call | Role::Base | Role::Type => SymbolRole::ReadAccess,
        };
        document.occurrences.push(Occurrence {
            range: range(&lines, Span::new(at as usize, at as usize + len)),
            symbol: name_of(&target),
            symbol_roles: role as i32 | role_of_file(file),
            ..Occurrence::default()
        });
        written.references += 1;
    }
    written.files += 1;
    document.occurrences.sort_by(|a, b| a.range[..2].cmp(&b.range[..2]));
    document
}

fn role_of_file(file: &FileView<'_>) -> i32 {
    let mark = |is_so: bool, role: SymbolRole| if is_so { role as i32 } else { 0 };
    mark(file.is_test(), SymbolRole::Test) | mark(file.is_generated(), SymbolRole::Generated)
}

fn information<'a>(source: &Source<'a>, symbol: &SymbolView<'a>) -> SymbolInformation {
    let derives = |base: &SymbolView<'_>| Relationship { symbol: name_of(base), is_implementation: true };
    let texts = [format!("```{}\n{}\n```", symbol.file.language(), symbol.signature(600)), symbol.docstring()];
    SymbolInformation {
        symbol: name_of(symbol),
        documentation: texts.into_iter().filter(|text| !text.is_empty()).collect(),
        relationships: source.bases(symbol).iter().map(derives).collect(),
        kind: kind_of(symbol).into(),
        display_name: symbol.name().into_owned(),
    }
}

/// A SCIP range in lines and bytes: three numbers within one line, else four.
fn range(lines: &Lines<'_>, span: Span) -> Vec<i32> {
    let ((line, column), (end_line, end)) = (lines.place(span.start), lines.place(span.end));
    let numbers = if line == end_line { vec![line, column, end] } else { vec![line, column, end_line, end] };
    numbers.into_iter().map(|number| i32::try_from(number).unwrap_or(i32::MAX)).collect()
}

/// The SCIP name of a symbol: its path as a namespace, then a descriptor for each enclosing symbol and itself.
fn name_of(symbol: &SymbolView<'_>) -> String {
    let mut around: Vec<SymbolView<'_>> = std::iter::successors(Some(*symbol), SymbolView::parent).collect();
    let mut name = format!("codelode . . . {}/", escaped(symbol.file.path()));
    while let Some(symbol) = around.pop() {
        let container = symbol.container();
        if !container.is_empty() {
            name += &format!("{}#", escaped(&container));
        }
        name += &descriptor(&symbol);
    }
    name
}

fn descriptor(symbol: &SymbolView<'_>) -> String {
    let (name, number) = (symbol.name(), symbol.overload());
    let is_first = number <= 1;
    match (symbol.kind(), symbol.detail()) {
        (Kind::Function, Detail::Macro) if is_first => format!("{}!", escaped(&name)),
        (Kind::Function | Kind::Method, _) if is_first => format!("{}().", escaped(&name)),
        (Kind::Function | Kind::Method, _) => format!("{}(+{}).", escaped(&name), number - 1),
        (kind, detail) => {
            let name = if is_first { escaped(&name) } else { escaped(&format!("{name}~{number}")) };
            let end = match (kind, detail) {
                (_, Detail::Module | Detail::Namespace) => '/',
                (Kind::Constant, _) => '.',
                _ => '#',
            };
            format!("{name}{end}")
        }
    }
}

/// An identifier as SCIP names write it: in backticks unless it is plain.
fn escaped(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '-' | '$');
    if name.chars().all(is_plain) { name.to_owned() } else { format!("`{}`", name.replace('`', "``")) }
}

fn kind_of(symbol: &SymbolView<'_>) -> SymbolKind {
    match symbol.detail() {
        Detail::Function | Detail::Component => SymbolKind::Function,
        Detail::Method => SymbolKind::Method,
        Detail::Class | Detail::Record => SymbolKind::Class,
        Detail::Interface => SymbolKind::Interface,
        Detail::Trait => SymbolKind::Trait,
        Detail::Struct => SymbolKind::Struct,
        Detail::Union => SymbolKind::Union,
        Detail::Enum => SymbolKind::Enum,
        Detail::Alias => SymbolKind::TypeAlias,
        Detail::NamedType | Detail::Annotation => SymbolKind::Type,
        Detail::Module => SymbolKind::Module,
        Detail::Namespace => SymbolKind::Namespace,
        Detail::Macro => SymbolKind::Macro,
        Detail::Constructor => SymbolKind::Constructor,
        Detail::Getter => SymbolKind::Getter,
        Detail::Setter => SymbolKind::Setter,
        Detail::Property => SymbolKind::Property,
        Detail::Field | Detail::Static => SymbolKind::Field,
        Detail::Variable => SymbolKind::Variable,
        Detail::Constant => SymbolKind::Constant,
        Detail::Member => SymbolKind::EnumMember,
        Detail::Object => SymbolKind::Object,
        Detail::Extension => SymbolKind::Extension,
        Detail::Protocol => SymbolKind::Protocol,
        Detail::Event => SymbolKind::Event,
        Detail::Delegate => SymbolKind::Delegate,
        Detail::Section | Detail::Selector => SymbolKind::Unspecified,
    }
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn names_are_plain_or_in_backticks() {
        for (name, expected) in [("add", "add"), ("a/b.py", "`a/b.py`"), ("a`b", "`a``b`"), ("$x_1+-", "$x_1+-")] {
            assert_eq!(escaped(name), expected);
            let written = format!("codelode . . . {}#", escaped(name));
            let parsed = scip::symbol::parse_symbol(&written).expect("it is a name");
            assert_eq!(parsed.descriptors[0].name, name);
        }
    }
}
