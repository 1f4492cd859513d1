//! Clients as their own packages have them: `init` sets each up in a home of its own, and it is asked without a key for the servers
//! that it has. Each is tried where it is installed:
//!
//! ```sh
//! npm install --prefix target/clients @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai @github/copilot
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::cli::numbers;
use crate::client::{Server, skipped_anywhere};
use crate::place::{Place, Ran};

/// A client that is set up in a home of its own.
struct Seen {
    program: PathBuf,
    place: Place,
}

impl Seen {
    /// Sets up a client; `None` where its program is not installed.
    fn set_up(id: &str, program: &str, package: &str) -> Option<Self> {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients/node_modules/.bin");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(own).chain(std::env::split_paths(&path));
        // Without Node, most do not start.
        let starts = |program: &PathBuf| {
            let ran = Command::new(program).arg("--version").stdin(Stdio::null()).output();
            ran.is_ok_and(|ran| ran.status.success())
        };
        let Some(program) = folders.map(|folder| folder.join(program)).find(starts) else {
            skipped_anywhere(&format!("{program} is not installed, or does not start; npm has {package}"));
            return None;
        };
        let place = numbers();
        let done = place.run(&["init", "--yes", "--client", id]);
        assert_eq!(done.status, 0, "{} {}", done.out, done.err);
        Some(Self { program, place })
    }

    /// The client with its home, which tells nobody of itself.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.place.at_home(Command::new(&self.program));
        for variable in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"] {
            command.env_remove(variable);
        }
        command.env("GEMINI_CLI_TRUST_WORKSPACE", "true").env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        command.env("COPILOT_AUTO_UPDATE", "false").env("OPENCODE_DISABLE_AUTOUPDATE", "true").args(args);
        command
    }

    /// Everything that it prints.
    fn says(&self, args: &[&str]) -> String {
        let ran = Ran::of(&mut self.command(args));
        format!("{}{}", ran.out, ran.err)
    }

    /// Replaces a text in a file that `init` wrote.
    fn change(&self, file: &str, from: &str, to: &str) {
        let path = self.place.path().join(file);
        let text = fs::read_to_string(&path).expect("it was written");
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replace(from, to)).expect("it is ours");
    }
}

#[test]
fn claude_code_connects_and_knows_the_mark() {
    let Some(client) = Seen::set_up("claude-code", "claude", "@anthropic-ai/claude-code") else { return };
    let list = client.says(&["mcp", "list"]);
    assert!(list.contains("codelode") && list.contains("Connected"), "{list}");
    let get = client.says(&["mcp", "get", "codelode"]);
    assert!(get.contains("Connected") && get.contains("serve --format compact"), "{get}");
    client.change(".claude.json", "\"alwaysLoad\": true", "\"alwaysLoad\": \"true\"");
    let wrong = client.says(&["mcp", "list"]);
    assert!(wrong.contains("alwaysLoad") && !wrong.contains("Connected"), "{wrong}");
}

#[test]
fn codex_starts_the_server_and_lists_its_tools() {
    let Some(client) = Seen::set_up("codex", "codex", "@openai/codex") else { return };
    let get = client.says(&["mcp", "get", "codelode"]);
    assert!(get.contains("enabled: true") && get.contains("serve --format compact"), "{get}");
    let mut server = Server::spawn(client.command(&["app-server"]));
    server.ask("initialize", json!({"clientInfo": {"name": "test", "version": "1"}}));
    server.send(&json!({"method": "initialized"}).to_string());
    let status = server.ask("mcpServerStatus/list", json!({}))["result"]["data"][0].clone();
    assert_eq!((&status["name"], &status["serverInfo"]["name"]), (&json!("codelode"), &json!("codelode")), "{status}");
    let tools = status["tools"].as_object().expect("it lists tools");
    assert!(tools.len() == 9 && tools.contains_key("search_symbols"), "{status}");
}

#[test]
fn gemini_cli_connects() {
    let Some(client) = Seen::set_up("gemini-cli", "gemini", "@google/gemini-cli") else { return };
    let list = client.says(&["mcp", "list"]);
    assert!(list.contains("codelode") && list.contains("Connected"), "{list}");
}

#[test]
fn opencode_connects() {
    let Some(client) = Seen::set_up("opencode", "opencode", "opencode-ai") else { return };
    let list = client.says(&["mcp", "list"]);
    assert!(list.contains("codelode") && list.contains("connected"), "{list}");
}

#[test]
fn copilot_cli_has_the_server_with_its_mark() {
    let Some(client) = Seen::set_up("copilot-cli", "copilot", "@github/copilot") else { return };
    let list = client.says(&["mcp", "list"]);
    assert!(list.contains("codelode (local)"), "{list}");
    let got = Ran::of(&mut client.command(&["mcp", "get", "codelode", "--json"]));
    let got: Value = serde_json::from_str(&got.out).unwrap_or_else(|err| panic!("{err}: {got:?}"));
    assert_eq!(got["codelode"]["deferTools"], "never", "{got}");
    assert_eq!((&got["codelode"]["enabled"], &got["codelode"]["tools"]), (&json!(true), &json!(["*"])), "{got}");
    client.change(".copilot/mcp-config.json", "\"never\"", "\"nevr\"");
    let wrong = client.says(&["mcp", "list"]);
    assert!(!wrong.contains("codelode (local)"), "{wrong}");
}
