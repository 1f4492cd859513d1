//! Prints the syntax tree of a file, with the fields of its grammar: `cargo run --example tree src/lib.rs`.

use codelode::languages;
use tree_sitter::{Parser, TreeCursor};

fn main() {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: tree FILE");
        std::process::exit(2);
    };
    let source = std::fs::read(&path).unwrap_or_else(|err| {
        eprintln!("{path}: {err}");
        std::process::exit(2);
    });
    let Some((_, language)) = languages::of_file(&path, &source) else {
        eprintln!("{path}: symbols are not read from this language");
        std::process::exit(1);
    };
    let Some(grammar) = language.grammar.language else {
        eprintln!("{path}: this build is without the grammar of {}", language.id);
        std::process::exit(1);
    };
    let mut parser = Parser::new();
    parser.set_language(&grammar()).expect("grammars are of this version of tree-sitter");
    let tree = parser.parse(&source, None).expect("nothing stops the parser");
    print(&mut tree.walk(), &source, 0);
}

/// One line a node: its field, its kind, its first line, and its text where nothing is inside.
fn print(cursor: &mut TreeCursor<'_>, source: &[u8], depth: usize) {
    let node = cursor.node();
    let field = cursor.field_name().map(|name| format!("{name}: ")).unwrap_or_default();
    let kind = if node.is_named() { node.kind().to_owned() } else { format!("{:?}", node.kind()) };
    let text = String::from_utf8_lossy(&source[node.byte_range()]).into_owned();
    let text = if node.child_count() == 0 && node.is_named() { format!(" {text:?}") } else { String::new() };
    println!("{:width$}{field}{kind} {}{text}", "", node.start_position().row + 1, width = 2 * depth);
    if cursor.goto_first_child() {
        loop {
            print(cursor, source, depth + 1);
            if !cursor.goto_next_sibling() {
                break;
            }
        }
        cursor.goto_parent();
    }
}
