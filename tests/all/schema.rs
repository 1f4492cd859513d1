//! Promises of the program to the outside, as files that a person reviews: `schema/`.
//!
//! `UPDATE_EXPECT=1 cargo test --test all schema::` writes what is promised now; read the difference before you commit it. A key
//! that disappears there breaks a client.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use codelode::answer::SHARED;
use codelode::answer::SharedArguments;
use codelode::config::Settings;
use codelode::facts::{BindingKind, Declared, DefinitionKind, Op, ScopeKind};
use codelode::languages::LANGUAGES;
use codelode::model::{Detail, How, Kind, Marks, Role, SkipReason};
use codelode::store::{Manifest, Sidecar, index_schema};
use codelode::tools::{TOOLS, ToolSpec};
use schemars::schema_for;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use zerocopy::TryFromBytes;

/// How names begin, and whether such a tool may change anything.
const VERBS: &[(&str, bool)] = &[
    ("get_", true),
    ("list_", true),
    ("search_", true),
    ("find_", true),
    ("check_", true),
    ("resolve_", true),
    ("suggest_", true),
    ("grep_", true),
    ("review_", true),
    ("plan_", true),
    ("index_", false),
    ("embed_", false),
    ("invalidate_", false),
];

/// A description beyond this is a manual: clients pay for it in every session.
const LONGEST_DESCRIPTION: usize = 240;

#[test]
fn promises_are_as_they_were_reviewed() {
    let mut wrong = Vec::new();
    let promises = promises();
    for (name, promise) in &promises {
        let path = schema().join(name);
        let mut text = serde_json::to_string_pretty(promise).expect("a promise is plain JSON");
        text.push('\n');
        if std::fs::read_to_string(&path).is_ok_and(|reviewed| reviewed == text) {
            continue;
        }
        if update() && !(name == STORED && is_unsaid(&path, promise)) {
            std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("the folder can be made");
            std::fs::write(&path, text).expect("it can be written");
        } else {
            wrong.push(format!("schema/{name} is not what the code promises"));
        }
    }
    for name in files() {
        if promises.contains_key(&name) {
            continue;
        }
        if update() {
            std::fs::remove_file(schema().join(name)).expect("it can be removed");
        } else {
            wrong.push(format!("schema/{name} promises what no code keeps"));
        }
    }
    let advice = "`UPDATE_EXPECT=1 cargo test --test all schema::` writes them anew; read the difference";
    assert!(wrong.is_empty(), "{}\n{advice}", wrong.join("\n"));
}

/// Every promise by its file below `schema/`.
fn promises() -> BTreeMap<String, Value> {
    let value = |schema: schemars::Schema| schema.to_value();
    let mut promises = BTreeMap::from([
        ("index.json".to_owned(), serde_json::to_value(index_schema()).expect("facts are plain JSON")),
        ("manifest.json".to_owned(), value(schema_for!(Manifest))),
        ("sidecar.json".to_owned(), value(schema_for!(Sidecar))),
        ("config.json".to_owned(), value(schema_for!(Settings))),
        ("shared.json".to_owned(), value(schema_for!(SharedArguments))),
        ("server.json".to_owned(), codelode::mcp::card::registry()),
    ]);
    for tool in TOOLS {
        promises.insert(format!("tools/{}.json", tool.name), promise(tool));
    }
    promises.insert(STORED.to_owned(), stored());
    promises
}

/// The file of numbers that are on disk.
const STORED: &str = "stored.json";

/// Every list whose places are numbers on disk, and a hash of all that extraction reads from the languages' samples. Stores made
/// before a change of these would be read wrongly, so a change comes with a new `CONTENT`, or with a new `FORMAT`.
fn stored() -> Value {
    let words = |words: &mut dyn Iterator<Item = &'static str>| words.collect::<Vec<_>>();
    let samples: Map<String, Value> = samples().into_iter().map(|(path, hash)| (path, hash.into())).collect();
    json!({
        "format": codelode::store::FORMAT,
        "content": codelode::store::CONTENT,
        "facts": codelode::facts::VERSION,
        "languages": words(&mut LANGUAGES.iter().map(|spec| spec.id)),
        "kinds": words(&mut Kind::ALL.iter().map(|kind| kind.as_str())),
        "details": words(&mut Detail::ALL.iter().map(|detail| detail.as_str())),
        "marks": words(&mut Marks::NAMES.into_iter()),
        "roles": words(&mut Role::ALL.iter().map(|role| role.as_str())),
        "how": words(&mut How::ALL.iter().map(|how| how.as_str())),
        "skip_reasons": words(&mut SkipReason::ALL.iter().map(|reason| reason.as_str())),
        "scopes": numbered::<ScopeKind>(),
        "bindings": numbered::<BindingKind>(),
        "definitions": numbered::<DefinitionKind>(),
        "expressions": numbered::<Op>(),
        "modules": numbered::<Declared>(),
        "samples": samples,
    })
}

/// The variants of an enum by their numbers.
fn numbered<T: TryFromBytes + std::fmt::Debug>() -> Vec<String> {
    let variants = (0..=u8::MAX).map_while(|number| T::try_read_from_bytes(&[number]).ok());
    variants.map(|variant| format!("{variant:?}")).collect()
}

/// The beginnings of the hashes of the languages' `sample.*.tags`, by their paths below `crates/lang/src/languages`.
fn samples() -> BTreeMap<String, String> {
    let languages = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/lang/src/languages");
    let entries =
        |folder: &Path| std::fs::read_dir(folder).expect("it can be read").flatten().map(|entry| entry.path());
    let files =
        entries(&languages).filter(|path| path.is_dir()).flat_map(|folder| entries(&folder).collect::<Vec<_>>());
    let samples = files.filter(|path| path.extension().is_some_and(|ending| ending == "tags"));
    let hash = |path: PathBuf| {
        let digest = Sha256::digest(std::fs::read(&path).expect("it can be read"));
        let name = path.strip_prefix(&languages).expect("it was found there").to_string_lossy().into_owned();
        (name, digest[..8].iter().map(|byte| format!("{byte:02x}")).collect())
    };
    samples.map(hash).collect()
}

#[test]
fn numbers_on_disk_change_with_a_version_only() {
    let reviewed = std::fs::read_to_string(schema().join(STORED)).expect("it is in the repository");
    let reviewed: Value = serde_json::from_str(&reviewed).expect("it is JSON");
    if let Some(changed) = changed_unsaid(&reviewed, &stored()) {
        panic!("{changed} changed: raise CONTENT in crates/store/src/lib.rs, then write schema/{STORED} anew");
    }
    let mut longer = stored();
    longer["details"].as_array_mut().expect("it is a list").push("new".into());
    assert_eq!(changed_unsaid(&stored(), &longer).as_deref(), Some("details"));
    longer["content"] = 0.into();
    assert_eq!(changed_unsaid(&stored(), &longer), None);
}

/// Whether a file of numbers would change though the versions do not.
fn is_unsaid(path: &Path, now: &Value) -> bool {
    let reviewed = std::fs::read_to_string(path).ok().and_then(|text| serde_json::from_str(&text).ok());
    reviewed.is_some_and(|reviewed| changed_unsaid(&reviewed, now).is_some())
}

/// The first list that changed though the versions did not.
fn changed_unsaid(reviewed: &Value, now: &Value) -> Option<String> {
    let is_same = |key: &str| reviewed[key] == now[key];
    if !(is_same("format") && is_same("content")) {
        return None;
    }
    now.as_object().into_iter().flatten().map(|(key, _)| key).find(|key| !is_same(key)).cloned()
}

/// Promises of a tool.
fn promise(tool: &ToolSpec) -> Value {
    let (description, input) = described((tool.input)());
    let (answer, output) = described((tool.output)());
    json!({
        "name": tool.name,
        "description": description,
        "command": tool.command,
        "positional": tool.positional,
        "shown": tool.shown.map(|shown| format!("{shown:?}").to_lowercase()),
        "always_loaded": tool.always_loaded,
        "hints": {"read_only": tool.read_only, "destructive": tool.destructive},
        "list": tool.list,
        "input": input,
        "answer": answer,
        "output": output,
    })
}

/// A schema without what says the same in every file, and its description.
fn described(schema: schemars::Schema) -> (String, Map<String, Value>) {
    let mut schema = match schema.to_value() {
        Value::Object(schema) => schema,
        other => panic!("{other} is not a schema of an object"),
    };
    schema.remove("$schema");
    schema.remove("title");
    let description = schema.remove("description").and_then(|text| text.as_str().map(str::to_owned));
    (description.unwrap_or_default(), schema)
}

/// The files below `schema/`.
fn files() -> Vec<String> {
    let names = |folder: PathBuf, before: &str| -> Vec<String> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let files = entries.filter(|entry| entry.path().is_file());
        files.map(|entry| format!("{before}{}", entry.file_name().to_string_lossy())).collect()
    };
    [names(schema(), ""), names(schema().join("tools"), "tools/")].concat()
}

fn schema() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schema")
}

fn update() -> bool {
    std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1")
}

/// The properties of an object's schema, and where it is one of several shapes, those of every shape.
fn properties(schema: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let resolved = |shape: &Value| shape["$ref"].as_str().and_then(|to| to.strip_prefix("#/$defs/").map(str::to_owned));
    let shapes = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    let shapes = shapes.filter_map(|shape| match resolved(shape) {
        Some(name) => schema["$defs"][&name].as_object(),
        None => shape.as_object(),
    });
    let objects = std::iter::once(schema).chain(shapes);
    objects.filter_map(|object| object.get("properties")?.as_object()).flatten().collect()
}

/// Tells what every tool owes that this one does not, in sentences.
fn debts(tool: &ToolSpec) -> Vec<String> {
    let (description, input) = described((tool.input)());
    let (_, output) = described((tool.output)());
    let names: Vec<&str> = properties(&input).iter().map(|(name, _)| name.as_str()).collect();
    let mut debts = Vec::new();
    let mut owes = |kept: bool, debt: String| {
        if !kept {
            debts.push(format!("{}: {debt}", tool.name));
        }
    };

    let summary = description.split("\n\n").next().unwrap_or_default();
    let sentences = summary.matches(". ").count() + 1;
    owes(
        !summary.is_empty() && sentences <= 2 && summary.ends_with('.'),
        format!("not one or two sentences: {summary:?}"),
    );
    owes(summary.len() <= LONGEST_DESCRIPTION, format!("{} bytes of description", summary.len()));
    for (name, schema) in properties(&input) {
        let said = schema["description"].as_str().unwrap_or_default();
        owes(!said.is_empty(), format!("does not say what `{name}` is"));
        owes(!SHARED.contains(&name.as_str()), format!("`{name}` is an argument of every tool"));
        owes(is_snake(name), format!("`{name}` is not in snake_case"));
    }
    owes(
        input.get("additionalProperties") == Some(&Value::Bool(false)),
        "takes arguments that it does not know".into(),
    );
    owes(!properties(&output).is_empty(), "does not say what it answers".into());
    for name in tool.positional {
        owes(names.contains(name), format!("`{name}` is given by place and is not an argument"));
    }
    if let Some(list) = tool.list {
        let is_list = properties(&output).iter().any(|(name, _)| *name == list);
        owes(is_list, format!("the answer has no list `{list}` that could be cut"));
    }
    owes(is_snake(tool.name), "the name is not in snake_case".into());
    let kebab = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    owes(kebab(tool.command), format!("`{}` is not a command", tool.command));
    owes(!(tool.read_only && tool.destructive), "destroys what it only reads".into());
    match VERBS.iter().find(|(verb, _)| tool.name.starts_with(verb)) {
        Some((verb, read_only)) => {
            owes(tool.read_only == *read_only, format!("`{verb}…` with read_only {}", tool.read_only));
        }
        None => owes(false, "begins with no verb of VERBS".into()),
    }
    debts
}

fn is_snake(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[test]
fn every_tool_keeps_what_tools_owe() {
    let debts: Vec<String> = TOOLS.iter().flat_map(debts).collect();
    assert!(debts.is_empty(), "{}", debts.join("\n"));
}

#[test]
fn names_and_commands_are_given_once() {
    let names: BTreeSet<&str> = TOOLS.iter().map(|tool| tool.name).collect();
    let commands: BTreeSet<&str> = TOOLS.iter().map(|tool| tool.command).collect();
    assert_eq!((names.len(), commands.len()), (TOOLS.len(), TOOLS.len()));
}

#[test]
fn every_tool_is_a_command_with_help() {
    for tool in TOOLS.iter().filter(|tool| tool.shown.is_some()) {
        let run = |command: &str| {
            let ran = std::process::Command::new(env!("CARGO_BIN_EXE_codelode")).args([command, "--help"]).output();
            ran.expect("the program is built")
        };
        let ran = run(tool.command);
        for other in [tool.name, &tool.name.replace('_', "-")] {
            assert!(run(other).stdout == ran.stdout, "{other} is {}", tool.command);
        }
        let help = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success(), "{}: {}", tool.name, String::from_utf8_lossy(&ran.stderr));
        let (description, input) = described((tool.input)());
        let first: String = description.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
        assert!(help.contains(first.trim_end_matches(['.', ','])), "{} --help does not say {first:?}", tool.command);
        // Searches of text and of syntax take ripgrep's flags.
        let named = if ["text", "ast"].contains(&tool.command) { Vec::new() } else { properties(&input) };
        for (name, _) in named.into_iter().filter(|(name, one)| *name != "repo" && one["x-hidden"] != true) {
            // An argument by place is shown in capitals, and every other as a flag.
            let shown = [name.replace('_', "-"), name.to_uppercase()];
            let shown = shown.iter().any(|form| help.contains(form)) || help.contains(&singular(name));
            assert!(shown, "{} --help does not name {name}:\n{help}", tool.command);
        }
    }
}

/// A list given by place is shown as one of its items.
fn singular(name: &str) -> String {
    name.trim_end_matches('s').to_uppercase()
}
