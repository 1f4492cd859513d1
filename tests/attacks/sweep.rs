//! Hostile files in every language, each met by every kind of question.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use serde_json::{Value, json};

use super::client::Server;
use super::{MEMORY, Place, hostile, peak, scaled};

/// Seconds of processor time that a call may take.
const CALL: f64 = 10.0;
/// Bytes of a file.
const SIZE: usize = 1_000_000;
/// Bytes of a file where there are some fifty of them.
const LITTLE: usize = scaled(3_000);

/// Seconds of processor time that a server has taken.
fn processor(server: &Server) -> f64 {
    let text = fs::read_to_string(format!("/proc/{}/stat", server.child.id())).expect("it runs");
    let fields = text.rsplit(')').next().expect("it has fields").split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).map(|field| field.parse::<f64>().expect("a number")).sum();
    ticks / 100.0
}

/// Every kind of question about a file.
pub fn questions(file: &str, language: &str) -> Vec<(&'static str, Value)> {
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
const ABOUT_SYMBOLS: [&str; 9] = [
    "get_symbol_source",
    "get_context_bundle",
    "get_call_hierarchy",
    "get_class_hierarchy",
    "get_blast_radius",
    "get_related_symbols",
    "find_implementations",
    "plan_change_signature",
    "plan_delete",
];

/// Questions about the change of a file since it was committed.
fn about_changes(file: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("get_file_outline", json!({"file_path": file})),
        ("get_changed_symbols", json!({"since_sha": "HEAD", "until_sha": "WORKTREE", "include_blast_radius": true})),
        ("review_changes", json!({})),
        ("find_tests", json!({"changed": true})),
        ("search_commits", json!({"query": "f a"})),
    ]
}

/// A server about hostile files whose processor time is counted for each question.
pub struct Asker {
    server: Server,
    about: String,
    worst: (f64, String),
    breaches: Vec<String>,
}

impl Asker {
    pub fn new(place: &Place, about: &str) -> Self {
        let mut command = place.unlimited(&["serve"], "index");
        command.env("CODELODE_MAX_FILE_SIZE", "1200000").env("CODELODE_WATCHER", "false");
        let (server, about) = (Server::start(command), about.to_owned());
        Self { server, about, worst: (0.0, String::new()), breaches: Vec::new() }
    }

    pub fn ask(&mut self, tool: &str, arguments: Value) -> Value {
        let before = processor(&self.server);
        let answer = self.server.call(tool, arguments.clone());
        let took = processor(&self.server) - before;
        let about = &self.about;
        if took > self.worst.0 {
            self.worst = (took, format!("{about} {tool} {arguments}"));
        }
        if took > CALL || answer["code"] == "internal" || answer.to_string().len() > 8_000 * 50 {
            self.breaches.push(format!("{about}: {tool} {arguments} took {took:.1} s: {answer:.200}"));
        }
        answer
    }

    pub fn ask_about_symbols(&mut self) {
        let found = self.ask("search_symbols", json!({"query": "f a"}));
        if let Some(id) = found["results"][0]["id"].as_str() {
            ABOUT_SYMBOLS.iter().for_each(|tool| drop(self.ask(tool, json!({"symbol_id": id}))));
            self.ask("plan_rename", json!({"symbol_id": id, "new_name": "g"}));
            self.ask("get_symbol_source", json!({"symbol_id": id, "blame": true}));
            self.ask("get_symbol_history", json!({"symbol_id": id}));
        }
    }

    /// The worst question with its seconds, and all that broke a limit.
    pub fn end(mut self) -> ((f64, String), Vec<String>) {
        let peak = peak(&self.server);
        if peak >= MEMORY {
            self.breaches.push(format!("{}: {peak} MB", self.about));
        }
        (self.worst, self.breaches)
    }
}

/// Asks everything about a folder of such files, one of which is asked about by its name; gives the worst question with
/// its seconds, and all that broke a limit. A server that dies or hangs is one.
fn ask_all(about: &str, language: &str, files: &[(String, String)], asked: usize) -> ((f64, String), Vec<String>) {
    let ask = || {
        let (file, text) = &files[asked];
        let place = Place::with(files.iter().map(|(name, text)| (name.as_str(), text.clone())));
        place.commit();
        let mut asker = Asker::new(&place, about);
        for (tool, arguments) in questions(file, language) {
            asker.ask(tool, arguments);
        }
        asker.ask_about_symbols();
        fs::write(place.source().join(file), hostile::mutated(text)).expect("the folder is ours");
        for (tool, arguments) in about_changes(file) {
            asker.ask(tool, arguments);
        }
        asker.end()
    };
    let died = |cause: Box<dyn std::any::Any + Send>| {
        let cause = cause.downcast_ref::<String>().cloned().unwrap_or_default();
        ((f64::INFINITY, about.to_owned()), vec![format!("{about}: {cause:.300}")])
    };
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(died)
}

/// Whether `CODELODE_SWEEP=python,rust` names a language, or is not set.
pub fn is_wanted(language: &str) -> bool {
    std::env::var("CODELODE_SWEEP").map_or(true, |wanted| wanted.split(',').any(|one| one == language))
}

#[test]
fn a_little_of_every_language_is_met_by_every_question() {
    let languages: Vec<_> = hostile::LANGUAGES.iter().collect();
    let breaches = std::thread::scope(|scope| {
        let part = |languages: &[&hostile::Language]| {
            let ask = |language: &&hostile::Language| {
                let files = language.files(LITTLE);
                ask_all(language.id, language.id, &files, files.len() / 2).1
            };
            languages.iter().flat_map(ask).collect::<Vec<_>>()
        };
        let parts: Vec<_> = languages.chunks(languages.len().div_ceil(3)).collect();
        let threads: Vec<_> = parts.into_iter().map(|languages| scope.spawn(move || part(languages))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("deaths are caught")).collect::<Vec<_>>()
    });
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

/// `CODELODE_SWEEP=python,rust` names languages; all are taken otherwise.
#[test]
#[ignore = "takes hours"]
fn sweep() {
    let mut breaches = Vec::new();
    for language in hostile::LANGUAGES.iter().filter(|one| is_wanted(one.id)) {
        let begun = Instant::now();
        let mut worst = (0.0, String::new());
        for (file, text) in language.files(SIZE) {
            let (longest, found) = ask_all(&file.clone(), language.id, &[(file, text)], 0);
            found.iter().for_each(|breach| println!("{breach}"));
            worst = if longest.0 > worst.0 { longest } else { worst };
            breaches.extend(found);
        }
        println!("{}: {:.0?}, at most {:.1} s for {}", language.id, begun.elapsed(), worst.0, worst.1);
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}
