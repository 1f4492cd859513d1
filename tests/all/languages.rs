//! Each language's sample, and the symbols that are read from it.
//!
//! `UPDATE_EXPECT=1 cargo test --test all languages::` writes what is read now; read it before you commit it.

use std::fmt::Write as _;
use std::path::Path;

use codelode::extract::extract;
use codelode::languages::{LANGUAGES, clean_doc, first_sentence};
use codelode::model::{Extraction, Span};
use expect_test::expect_file;

/// One line a symbol: lines, kind, name, signature, and what else there is to say.
fn tags(extraction: &Extraction, source: &[u8]) -> String {
    let text = |span: Span| String::from_utf8_lossy(span.of(source)).into_owned();
    let mut out = String::new();
    let mut names: Vec<String> = Vec::new();
    for symbol in &extraction.symbols {
        let mut name = String::new();
        if let Some(parent) = symbol.parent {
            write!(name, "{}.", names[parent as usize]).unwrap();
        }
        if !symbol.container.is_empty() {
            write!(name, "{}.", text(symbol.container)).unwrap();
        }
        name += &text(symbol.name);
        let signature = text(symbol.signature);
        let signature = signature.split_whitespace().collect::<Vec<_>>().join(" ");
        write!(out, "{}-{} {}", symbol.line, symbol.end_line, symbol.kind.as_str()).unwrap();
        if symbol.kind.as_str() != symbol.detail.as_str() {
            write!(out, "/{}", symbol.detail.as_str()).unwrap();
        }
        write!(out, " {name} | {signature}").unwrap();
        if symbol.complexity > 1 {
            write!(out, " | complexity {}", symbol.complexity).unwrap();
        }
        for decorator in &symbol.decorators {
            write!(out, " | {}", text(*decorator).split_whitespace().collect::<Vec<_>>().join(" ")).unwrap();
        }
        if !symbol.doc.is_empty() {
            write!(out, " | doc: {}", first_sentence(&clean_doc(&text(symbol.doc)), 120)).unwrap();
        }
        out.push('\n');
        names.push(name);
    }
    out
}

#[test]
fn samples_give_their_symbols() {
    let rooms = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/languages");
    for spec in LANGUAGES {
        let mut samples = 0;
        for extension in spec.extensions {
            let sample = rooms.join(spec.id).join(format!("sample.{extension}"));
            let Ok(source) = std::fs::read(&sample) else { continue };
            samples += 1;
            let found = extract(spec, &source);
            assert_eq!(found.failure, None);
            expect_file![sample.with_extension(format!("{extension}.tags"))].assert_eq(&tags(&found, &source));
        }
        assert!(samples > 0, "{} has no sample", spec.id);
    }
}

#[test]
fn every_rule_names_a_node_kind_of_its_grammar() {
    for spec in LANGUAGES {
        let grammar = (spec.grammar)();
        let known: Vec<_> =
            (0..grammar.node_kind_count() as u16).filter_map(|id| grammar.node_kind_for_id(id)).collect();
        for kind in spec.rules.iter().flat_map(|(_, kinds)| kinds.iter()) {
            assert!(known.contains(kind), "{}: no node is called {kind}", spec.id);
        }
    }
}
