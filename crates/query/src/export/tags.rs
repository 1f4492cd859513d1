//! A sorted tags file in ctags' extended format: name, path, line, kind and enclosing symbol.

use std::io::{self, Write};

use super::{ExportCounts, Lines, Source, files};

pub(super) fn write(source: &Source<'_>, out: &mut dyn Write) -> io::Result<ExportCounts> {
    let mut written = ExportCounts::default();
    let mut tags: Vec<String> = Vec::new();
    for file in files(source).into_iter().filter(|file| file.symbol_count() > 0 && is_plain(file.path())) {
        let lines = Lines::of(&file);
        for symbol in file.symbols().filter(|symbol| is_plain(&symbol.name())) {
            let (line, _) = lines.place(symbol.name_span().start);
            // An editor's search still finds the line after lines were added above it.
            let text = std::str::from_utf8(lines.text(line)).ok().filter(|text| text.len() <= LONGEST_SEARCH);
            let address = text.map_or((line + 1).to_string(), |text| format!("/^{}$/", search_pattern(text)));
            let mut tag = format!("{}\t{}\t{address};\"\t", symbol.name(), file.path());
            tag += &format!("kind:{}\tline:{}\tlanguage:{}", symbol.detail().as_str(), line + 1, file.language());
            let qualified = symbol.qualified_name();
            let scope = qualified.strip_suffix(&*symbol.name()).map_or("", |scope| scope.trim_end_matches('.'));
            if is_plain(scope) {
                let kind = symbol.parent().map_or("class", |parent| parent.detail().as_str());
                tag += &format!("\tscope:{kind}:{scope}");
            }
            tags.push(tag);
            written.definitions += 1;
        }
        written.files += 1;
    }
    tags.sort_unstable();
    writeln!(out, "!_TAG_FILE_FORMAT\t2\t/extended format/")?;
    writeln!(out, "!_TAG_FILE_SORTED\t1\t/0=unsorted, 1=sorted, 2=foldcase/")?;
    writeln!(out, "!_TAG_PROGRAM_NAME\tcodelode\t//")?;
    tags.iter().try_for_each(|tag| writeln!(out, "{tag}"))?;
    Ok(written)
}

/// The longest line, in bytes, that is written as a search.
const LONGEST_SEARCH: usize = 200;

/// Whether a text may stand in a field.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && !text.contains(['\t', '\n', '\r']) && !text.starts_with('!')
}

/// A line as a search for it.
fn search_pattern(line: &str) -> String {
    line.trim_end_matches('\r').replace('\\', "\\\\").replace('/', "\\/").replace('\t', "\\t")
}
