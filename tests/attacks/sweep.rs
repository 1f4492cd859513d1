//! Hostile files of a megabyte in every language, each met by every kind of question.

use std::fs;
use std::time::Instant;

use serde_json::{Value, json};

use super::client::Server;
use super::{MEMORY, Place, hostile, peak};

/// Seconds of processor time that a call may take.
const CALL: f64 = 10.0;
/// Bytes of a file.
const SIZE: usize = 1_000_000;

/// Seconds of processor time that a server has taken.
fn processor(server: &Server) -> f64 {
    let text = fs::read_to_string(format!("/proc/{}/stat", server.child.id())).expect("it runs");
    let fields = text.rsplit(')').next().expect("it has fields").split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).map(|field| field.parse::<f64>().expect("a number")).sum();
    ticks / 100.0
}

/// Every kind of question about a file.
fn questions(file: &str, language: &str) -> Vec<(&'static str, Value)> {
    let regex = r"(a|b)*c.{0,200}(x+x+)+y|(\w+\s*)+$";
    vec![
        ("index_folder", json!({})),
        ("get_file_outline", json!({"file_path": file})),
        ("find_references", json!({"identifier": "f"})),
        ("find_references", json!({"identifier": "a"})),
        ("find_dead_code", json!({})),
        ("search_ast", json!({"preset": "deep_nesting", "language": language})),
        ("search_ast", json!({"pattern": "$A", "language": language})),
        ("search_ast", json!({"pattern": "(_ (_) @a) @b", "language": language})),
        ("search_text", json!({"query": regex, "is_regex": true})),
        ("search_text", json!({"query": "a"})),
        ("get_ranked_context", json!({"query": "f a"})),
        ("get_repo_map", json!({})),
        ("get_symbol_importance", json!({})),
        ("suggest_queries", json!({})),
        ("get_file_tree", json!({})),
        ("get_file_content", json!({"file_path": file})),
        ("get_dependency_graph", json!({"file": file})),
    ]
}

/// Questions about a symbol.
const ABOUT_SYMBOLS: [&str; 7] = [
    "get_symbol_source",
    "get_context_bundle",
    "get_call_hierarchy",
    "get_class_hierarchy",
    "get_blast_radius",
    "get_related_symbols",
    "find_implementations",
];

/// `CODELODE_SWEEP=python,rust` names languages; all are taken otherwise.
#[test]
#[ignore = "takes an hour"]
fn sweep() {
    let wanted = std::env::var("CODELODE_SWEEP").unwrap_or_default();
    let mut breaches = Vec::new();
    for language in
        hostile::LANGUAGES.iter().filter(|one| wanted.is_empty() || wanted.split(',').any(|it| it == one.id))
    {
        let begun = Instant::now();
        let mut worst = (0.0, String::new());
        for (file, text) in language.files(SIZE) {
            let place = Place::with([(file.as_str(), text)]);
            let mut command = place.unlimited(&["serve"], "index");
            command.env("CODELODE_MAX_FILE_SIZE", "1200000").env("CODELODE_WATCHER", "false");
            let mut server = Server::start(command);
            let mut ask = |tool: &str, arguments: Value| {
                let before = processor(&server);
                let answer = server.call(tool, arguments.clone());
                let took = processor(&server) - before;
                if took > worst.0 {
                    worst = (took, format!("{file} {tool} {arguments}"));
                }
                if took > CALL || answer["code"] == "internal" || answer.to_string().len() > 8_000 * 50 {
                    breaches.push(format!("{file}: {tool} {arguments} took {took:.1} s: {answer:.200}"));
                }
                answer
            };
            for (tool, arguments) in questions(&file, language.id) {
                ask(tool, arguments);
            }
            let found = ask("search_symbols", json!({"query": "f a"}));
            if let Some(id) = found["results"][0]["id"].as_str() {
                ABOUT_SYMBOLS.iter().for_each(|tool| drop(ask(tool, json!({"symbol_id": id}))));
            }
            if peak(&server) >= MEMORY {
                breaches.push(format!("{file}: {} MB", peak(&server)));
            }
        }
        println!("{}: {:.0?}, at most {:.1} s for {}", language.id, begun.elapsed(), worst.0, worst.1);
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}
