//! The plugin for Claude Code: its language server knows every file with symbols, and the commands of its skill run.

use std::path::Path;
use std::process::Command;

use codelode::languages::LANGUAGES;
use serde_json::{Map, Value, json};

fn plugin() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/editors/claude-code"))
}

fn json_of(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|err| panic!("{}: {err}", path.display()));
    serde_json::from_str(&text).expect("it is JSON")
}

/// `UPDATE_EXPECT=1` writes the file.
#[test]
fn its_language_server_is_asked_about_every_file_with_symbols() {
    let mut endings = Map::new();
    for spec in LANGUAGES {
        for ending in spec.extensions {
            endings.insert(format!(".{ending}"), json!(spec.id));
        }
    }
    let server = json!({ "command": "codelode", "args": ["lsp"], "extensionToLanguage": endings });
    let expected = serde_json::to_string_pretty(&json!({ "codelode": server })).expect("it is JSON") + "\n";
    let path = plugin().join(".lsp.json");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &expected).expect("the repository can be written");
    }
    let is = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(is == expected, "{} is out of step: run this test with UPDATE_EXPECT=1", path.display());
}

#[test]
fn its_papers_agree() {
    let manifest = json_of(&plugin().join(".claude-plugin/plugin.json"));
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let extension = json_of(&plugin().with_file_name("vscode").join("package.json"));
    assert_eq!(extension["version"], env!("CARGO_PKG_VERSION"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The release's notes are the page as it is.
    let changes = std::fs::read_to_string(root.join("CHANGELOG.md")).expect("it is there");
    assert!(changes.contains(concat!("\n## [", env!("CARGO_PKG_VERSION"), "]")));
    let market = json_of(&root.join(".claude-plugin/marketplace.json"));
    let source = market["plugins"][0]["source"].as_str().expect("it has a source");
    assert_eq!(root.join(source).canonicalize().expect("it is there"), plugin());
    let server = &json_of(&plugin().join(".mcp.json"))["mcpServers"]["codelode"];
    assert_eq!(server["args"][0], "serve");
}

#[test]
fn every_command_of_its_skill_runs() {
    let skill = std::fs::read_to_string(plugin().join("skills/codelode/SKILL.md")).expect("it is there");
    let commands = skill.split("```").nth(1).expect("there is a block of commands");
    let place = tempfile::tempdir().expect("there is room");
    let source = place.path().join("example");
    crate::copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/example"), &source);
    let mut ran = 0;
    for line in commands.lines().filter_map(|line| line.strip_prefix("codelode ")) {
        let mut command = Command::new("sh");
        let program = env!("CARGO_BIN_EXE_codelode");
        command.arg("-c").arg(format!("{program} {line}")).current_dir(&source);
        let output = command.env("CODE_INDEX_PATH", place.path().join("index")).output().expect("there is a shell");
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        ran += 1;
    }
    assert_eq!(ran, 5);
}
