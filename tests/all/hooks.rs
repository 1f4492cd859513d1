//! `codelode hook`: what agents are told beside the results of their searches.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::client::PATIENCE;
use crate::place::Place;
use codelode::answer::tokens;
use serde_json::{Value, json};

/// A shop, indexed.
fn shop() -> Place {
    let place = unindexed();
    place.found(&["index", ".", "--quiet"]);
    resolve(&place);
    place
}

/// Resolves names, as the first question about uses does.
fn resolve(place: &Place) {
    place.found(&["refs", "total"]);
}

fn unindexed() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.source().join(".git")).expect("there is room");
    place.write("cart.py", "class Cart:\n    def total(self, tax=0):\n        return sum(self.prices) + tax\n");
    place.write("shop.py", "from cart import Cart\n\ndef checkout(cart: Cart):\n    return cart.total(tax=1)\n");
    let many: String =
        (0..9).map(|nth| format!("class Shelf{nth}:\n    def often(self):\n        return {nth}\n")).collect();
    place.write("many.py", &many);
    place
}

impl Place {
    /// Output of a hook for an input. Its status is always 0, and it writes no error.
    fn hook(&self, input: &str, setting: (&str, &str)) -> String {
        in_time(input, || {
            let mut command = self.command(&["hook"]);
            command.env(setting.0, setting.1);
            command
        })
    }

    /// The answer to an event.
    fn answer(&self, event: &Value) -> Value {
        let said = self.hook(&event.to_string(), ("LANG", "C"));
        if said.is_empty() { Value::Null } else { serde_json::from_str(&said).expect("it is JSON") }
    }

    /// The context that is added to a command of a shell; empty without one.
    fn added(&self, line: &str, response: &str) -> String {
        let input = json!({"command": line});
        let event = json!({"hook_event_name": "PostToolUse", "cwd": self.source(), "tool_name": "Bash", "tool_input": input, "tool_response": response});
        let text =
            self.answer(&event)["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned();
        assert!(tokens::estimate(&text) <= 150, "{text}");
        text
    }
}

/// Output of a hook that has ended by itself: on a busy machine it may end because a client should not wait, and then it is asked again.
fn in_time(input: &str, command: impl Fn() -> Command) -> String {
    let begun = Instant::now();
    loop {
        let started = Instant::now();
        let mut command = command();
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("the program is built");
        let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{input}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{input}");
        if started.elapsed() < LONGEST || begun.elapsed() > PATIENCE {
            return String::from_utf8(output.stdout).expect("it is text");
        }
    }
}

/// The longest that a hook keeps a client waiting.
const LONGEST: Duration = Duration::from_secs(1);

const TOTAL: &str = "codelode: cart.py:2: def total(self, tax=0) (1 use)\nused in shop.py:4 checkout";

#[test]
fn a_search_for_a_name_is_told_where_it_is_defined_and_used() {
    let place = shop();
    for line in [
        "rg 'def total'",
        "grep -rn 'total(' . | head",
        "cd . && git grep -n total",
        "find . -name '*.py' | xargs grep -n total",
    ] {
        assert_eq!(place.added(line, ""), TOTAL, "{line}");
    }
    assert!(place.added("rg 'nothing|Cart'", "").starts_with("codelode: cart.py:1: class Cart"));
    for line in ["rg nowhere_to_be_found", "rg often", "rg '[0-9]+'", "ls -la", "rg \"$NAME\"", "cd /tmp && rg total"] {
        assert_eq!(place.added(line, ""), "", "{line}");
    }
    let built = place.source().join("page.html");
    std::fs::write(&built, "<b>total</b>").expect("there is room");
    for line in ["grep total page.html", "grep -n total out/page.html", "grep total /tmp/nowhere/*.log"] {
        assert_eq!(place.added(line, ""), "", "what is not indexed was searched: {line}");
    }
    assert_eq!(place.added("grep -n total *.py page.html", ""), TOTAL);
    let seen = "cart.py:2:    def total(self, tax=0):\nshop.py:4:    return cart.total(tax=1)\n";
    assert_eq!(place.added("rg -n total", seen), "", "the result says it all");
}

#[test]
fn uses_are_told_once_names_are_resolved() {
    let place = unindexed();
    place.found(&["index", ".", "--quiet"]);
    // Resolving takes longer than an agent may be kept waiting: another process does it.
    assert_eq!(place.added("rg total", ""), "codelode: cart.py:2: def total(self, tax=0)");
    let began = Instant::now();
    while place.added("rg total", "") != TOTAL {
        assert!(began.elapsed() < PATIENCE, "the names are not resolved");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn what_is_near_the_search_comes_first() {
    let place = shop();
    let write = |name: &str, text: &str| std::fs::write(place.source().join(name), text).expect("there is room");
    for nth in 0..4 {
        write(&format!("a{nth}.py"), &format!("class A{nth}:\n    def price(self):\n        return {nth}\n"));
    }
    std::fs::create_dir(place.source().join("lib")).expect("there is room");
    write("lib/z.py", "class Z:\n    def price(self):\n        return 9\n");
    place.found(&["index", ".", "--quiet"]);
    resolve(&place);
    assert!(place.added("grep -n 'def price' lib/z.py", "").starts_with("codelode: lib/z.py:2:"));
    assert!(place.added("rg price lib", "").starts_with("codelode: lib/z.py:2:"));
    // A name that too many have is told where one place was searched.
    assert!(place.added("grep -n 'def often' many.py", "").is_empty(), "that place holds too many");
    write("lib/one.py", "class One:\n    def often(self):\n        return 1\n");
    place.found(&["index", ".", "--quiet"]);
    assert!(place.added("grep -n 'def often' lib/one.py", "").starts_with("codelode: lib/one.py:2:"));
    // A list of files that has the name is the answer, and filters are about other things than code.
    assert_eq!(place.added("find . -name '*price*'", "./docs/price.md"), "");
    assert!(place.added("find . -name '*Cart*'", "").starts_with("codelode: cart.py:1:"));
    assert_eq!(place.added("git log --oneline | grep total", ""), "");
}

#[test]
fn every_client_is_answered_in_its_form() {
    let place = shop();
    let event = |name: &str, tool: &str, input: Value| json!({"hook_event_name": name, "cwd": place.source(), "tool_name": tool, "tool_input": input});
    let expected = |name: &str| json!({"hookSpecificOutput": {"hookEventName": name, "additionalContext": TOTAL}});
    assert_eq!(place.answer(&event("PostToolUse", "Grep", json!({"pattern": "total"}))), expected("PostToolUse"));
    assert_eq!(
        place.answer(&event("AfterTool", "run_shell_command", json!({"command": "rg total"}))),
        expected("AfterTool")
    );
    assert_eq!(
        place.answer(&event("PostToolUse", "shell", json!({"command": ["bash", "-lc", "rg total"]}))),
        expected("PostToolUse")
    );
    assert_eq!(
        place.answer(&event("postToolUse", "Shell", json!({"command": "rg total"}))),
        json!({"additional_context": TOTAL})
    );
    assert_eq!(place.answer(&event("PostToolUse", "Read", json!({"file_path": "cart.py"}))), Value::Null);
    let began = place.answer(&event("SessionStart", "", Value::Null));
    let said = began["hookSpecificOutput"]["additionalContext"].as_str().expect("there is an index");
    assert!(said.contains("3 files") && said.contains("python"), "{said}");
}

#[test]
fn a_hook_does_nothing_but_answer() {
    let place = unindexed();
    let event = json!({"hook_event_name": "PostToolUse", "cwd": place.source(), "tool_input": {"command": "rg total"}})
        .to_string();
    assert_eq!(place.hook(&event, ("LANG", "C")), "");
    assert!(!Path::new(&place.home().join("repos")).exists(), "nothing was indexed");
    for input in ["", "no JSON", "[]", "{\"hook_event_name\": 1}", "{\"hook_event_name\": \"Stop\"}"] {
        assert_eq!(place.hook(input, ("LANG", "C")), "");
    }

    let place = shop();
    assert!(
        place.hook(&event.replace("rg total", "rg checkout"), ("LANG", "C")).is_empty(),
        "the other place is not indexed"
    );
    let event = json!({"hook_event_name": "PostToolUse", "cwd": place.source(), "tool_input": {"command": "rg total"}})
        .to_string();
    assert!(place.hook(&event, ("LANG", "C")).contains("cart.py:2"));
    assert_eq!(place.hook(&event, ("CODELODE_HOOKS", "off")), "");
    assert_eq!(place.hook(&event, ("CODELODE_INDEX_PATH", "/dev/null/nowhere")), "");
    assert_eq!(
        place.hook(&event, ("CODELODE_HOOKS", "perhaps")),
        "",
        "a setting that is wrong is not an agent's concern"
    );
}

#[test]
fn the_plugin_s_hooks_run_and_a_missing_program_is_no_failure() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/claude-code/hooks/hooks.json");
    let hooks: Value = serde_json::from_slice(&std::fs::read(path).expect("it is there")).expect("it is JSON");
    let place = shop();
    let programs = Path::new(env!("CARGO_BIN_EXE_codelode")).parent().expect("it lies in a folder");
    let event = json!({"hook_event_name": "PostToolUse", "cwd": place.source(), "tool_input": {"command": "rg total"}})
        .to_string();
    for (event_of, path, expected) in [
        ("PostToolUse", format!("{}:/usr/bin:/bin", programs.display()), "cart.py:2"),
        ("SessionStart", "/usr/bin:/bin".to_owned(), ""),
    ] {
        let line = hooks["hooks"][event_of][0]["hooks"][0]["command"].as_str().expect("it has a command");
        let said = in_time(&event, || {
            let mut command = Command::new("sh");
            command.arg("-c").arg(line);
            let mut command = place.at_home(command);
            command.env("PATH", &path);
            command
        });
        assert!(said.contains(expected) && said.is_empty() == expected.is_empty(), "{said}");
    }
}
