//! Prints each definition of folders with its words, as lines of JSON: `cargo run --example words FOLDER…`, with `--all`
//! also of tests, examples and generated files. Without a folder, the words of each line that is read.
//!
//! Words are split and stemmed as in the search index; `benches/learned` trains its tables on them.

use std::io::{BufWriter, Write};
use std::path::Path;

use codelode::model::{Kind, Span};
use codelode::{extract, languages, store};

/// Largest file that is read, longest signature and longest body, in bytes.
const LARGEST: u64 = 500_000;
const LONGEST_SIGNATURE: usize = 600;
const LONGEST_BODY: usize = 8_000;

fn main() -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    if std::env::args().len() == 1 {
        for line in std::io::stdin().lines() {
            writeln!(out, "{}", words(&line?))?;
        }
    }
    let with_tests = std::env::args().any(|argument| argument == "--all");
    for folder in std::env::args().skip(1).filter(|argument| argument != "--all") {
        walk(Path::new(&folder), Path::new(&folder), with_tests, &mut out)?;
    }
    out.flush()
}

fn walk(root: &Path, folder: &Path, with_tests: bool, out: &mut impl Write) -> std::io::Result<()> {
    let mut entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (path, about) = (entry.path(), entry.metadata()?);
        if about.is_dir() && !entry.file_name().to_string_lossy().starts_with('.') {
            walk(root, &path, with_tests, out)?;
        } else if about.is_file() && about.len() <= LARGEST {
            let shown = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            print(&shown, &std::fs::read(&path)?, with_tests, out)?;
        }
    }
    Ok(())
}

fn words(text: &str) -> String {
    store::stems(text).join(" ")
}

fn print(path: &str, source: &[u8], with_tests: bool, out: &mut impl Write) -> std::io::Result<()> {
    let is_aside = languages::exercises(path) || languages::is_beside(path) || languages::is_generated(path, source);
    let Some((_, language)) = languages::of_file(path, source) else { return Ok(()) };
    if is_aside && !with_tests || language.is_document {
        return Ok(());
    }
    let extraction = extract::extract(language, source);
    let text = |span: Span| String::from_utf8_lossy(span.of(source));
    let own = extraction.own_texts();
    let path_words = words(path.rsplit_once('.').map_or(path, |(stem, _)| stem));
    let mut names: Vec<String> = Vec::new();
    for (symbol, own) in extraction.symbols.iter().zip(own) {
        let parent = symbol.parent.map(|parent| parent as usize);
        let name = text(symbol.name);
        let owner = parent.map(|parent| &*names[parent]);
        let qualified = store::qualified_name(&name, &text(symbol.container), owner);
        let owner = words(&qualified[..qualified.len() - name.len()]);
        names.push(qualified);
        // Documentation and signature are no part of the body.
        let parts = own.into_iter().flat_map(|part| part.without(symbol.doc));
        let (mut body, mut room) = (String::new(), LONGEST_BODY);
        for part in parts.flat_map(|part| part.without(symbol.signature)) {
            let part = part.clipped(room);
            body.push_str(&text(part));
            body.push('\n');
            room -= part.len();
        }
        let doc = language.comments.clean(&text(symbol.doc));
        let parent = parent.map(|parent| extraction.symbols[parent].kind);
        let line = serde_json::json!({
            "file": path,
            "kind": symbol.kind.as_str(),
            "line": symbol.line,
            "end": symbol.end_line,
            "title": name,
            "nested": matches!(parent, Some(Kind::Function | Kind::Method)),
            "doc": doc.chars().take(600).collect::<String>(),
            "name": words(&name),
            "owner": owner,
            "path": path_words,
            "signature": words(&text(symbol.signature.clipped(LONGEST_SIGNATURE))),
            "body": words(&body),
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}
