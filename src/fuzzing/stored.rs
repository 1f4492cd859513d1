//! Questions to stores in which a number is wrong and every checksum right.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use codelode_base::config::Config;
use codelode_service::tools::{self, Context, Request};
use codelode_store::Registry;
use codelode_store::fuzzing::blindly;

/// How often a number is spoilt.
const WOUNDS: usize = 40;

/// Questions that read every table.
fn questions() -> [(&'static str, Value); 14] {
    let id = "base.py::Base.method#method";
    [
        ("search_symbols", json!({"query": "shared method"})),
        ("search_text", json!({"query": "shared"})),
        ("get_symbol_source", json!({"symbol_id": id, "context_lines": 2})),
        ("get_file_content", json!({"file_path": "user.py"})),
        ("get_file_outline", json!({"file_path": "base.py"})),
        ("get_repo_outline", json!({})),
        ("get_repo_map", json!({})),
        ("find_references", json!({"identifier": "shared"})),
        ("find_importers", json!({"file_path": "base.py"})),
        ("get_call_hierarchy", json!({"symbol_id": id})),
        ("get_class_hierarchy", json!({"symbol_id": "base.py::Base#class"})),
        ("get_blast_radius", json!({"symbol_id": id})),
        ("get_symbol_importance", json!({})),
        ("find_dead_code", json!({})),
    ]
}

const SOURCES: [(&str, &str); 4] = [
    (
        "base.py",
        "class Base:\n    \"\"\"Holds it.\"\"\"\n\n    @staticmethod\n    def method(self):\n        return shared()\n\n\ndef shared():\n    return 1\n",
    ),
    (
        "user.py",
        "from base import Base, shared\n\n\nclass User(Base):\n    def run(self, other):\n        return shared() + self.method() + other.method()\n",
    ),
    ("more.rs", "pub struct A;\nimpl A {\n    pub fn a(&self) -> u32 { self.b() }\n    fn b(&self) -> u32 { 1 }\n}\n"),
    ("notes.md", "# Notes\n\nshared things are written down here\n"),
];

/// Puts another file in the place of one that may be mapped.
fn replace(path: &Path, bytes: &[u8]) {
    let new = path.with_extension("spoilt~");
    fs::write(&new, bytes).expect("the folder is ours");
    fs::rename(new, path).expect("the folder is ours");
}

#[test]
fn a_wrong_number_in_a_store_is_no_fault() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let source = folder.path().join("source");
    fs::create_dir(&source).expect("the folder is new");
    for (name, text) in SOURCES {
        fs::write(source.join(name), text).expect("the folder is ours");
    }
    let config = Config { home: folder.path().join("index"), watcher: false, ..Config::default() };
    let request = Request { directory: Some(source.clone()), ..Request::default() };
    let call = |cx: &Arc<Context>, tool: &str, args: Value| {
        let args = args.as_object().cloned().unwrap_or_default();
        tools::call(cx, tool, args, &request)
    };
    let cx = Arc::new(Context::new(config.clone()));
    tools::call(&cx, "index_folder", Map::from_iter([("path".to_owned(), json!(source))]), &request);
    for (tool, args) in questions() {
        let answer = call(&cx, tool, args);
        assert!(!answer.is_error, "{tool}: {}", answer.text);
    }
    drop(cx);
    let registry = Registry::new(&config.home);
    let store = registry.store(&registry.all().pop().expect("it was indexed").store);
    let named: Vec<PathBuf> = fs::read_dir(store.dir()).expect("it is there").flatten().map(|it| it.path()).collect();
    let whole: Vec<(PathBuf, Vec<u8>)> =
        named.into_iter().filter_map(|path| Some((path.clone(), fs::read(&path).ok()?))).collect();
    let tables: Vec<&(PathBuf, Vec<u8>)> = whole
        .iter()
        .filter(|(path, bytes)| path.extension().is_some_and(|it| it != "json") && !bytes.is_empty())
        .collect();
    assert!(tables.len() >= 4, "{tables:?}");

    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for wound in 0..WOUNDS {
        let (path, bytes) = tables[wound % tables.len()];
        let mut wrong = bytes.clone();
        // Numbers lie at multiples of two; small ones, and the largest, are the likeliest to pass for right.
        let at = random(wrong.len() / 2) * 2;
        match random(4) {
            0 => wrong[at] ^= 1 << random(8),
            1 => wrong[at] = wrong[at].wrapping_add(1 + random(20) as u8),
            2 => wrong[at..].iter_mut().take(4).for_each(|byte| *byte = 0xff),
            _ => wrong[at..].iter_mut().take(2 + random(7)).for_each(|byte| *byte = 0),
        }
        whole.iter().for_each(|(path, bytes)| replace(path, bytes));
        replace(path, &wrong);
        let cx = Arc::new(Context::new(config.clone()));
        for (tool, args) in questions() {
            let answer = blindly(|| call(&cx, tool, args));
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            assert!(!answer.text.contains("by a fault of its own"), "{name} at {at}, {tool}: {}", answer.text);
        }
    }
}
