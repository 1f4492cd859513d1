//! `init` through the program: clients in a home of their own are set up, tried and restored; the manual's table is that of
//! the program.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use codelode::setup::{Client, Confirmed, Paths, clients};
use serde_json::Value;

use crate::cli::numbers;
use crate::place::{Place, Ran};
use crate::web::Site;

/// Three clients with configurations of their own.
const FILES: [(&str, &str); 3] = [
    (".claude.json", "{\n  \"numStartups\": 3,\n  \"mcpServers\": {}\n}\n"),
    (".codex/config.toml", "# Mine.\nmodel = \"o\"\n"),
    (
        ".config/Code/User/mcp.json",
        "{\r\n\t// Mine.\r\n\t\"servers\": {\r\n\t\t\"other\": { \"command\": \"x\" }\r\n\t}\r\n}\r\n",
    ),
];

fn with_clients() -> Place {
    let place = numbers();
    for (path, text) in FILES {
        let path = place.path().join(path);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("there is room");
        fs::write(path, text).expect("the folder is ours");
    }
    place
}

fn now(place: &Place) -> Vec<String> {
    FILES.iter().map(|(path, _)| fs::read_to_string(place.path().join(path)).expect("it is there")).collect()
}

fn init(place: &Place, args: &[&str]) -> Ran {
    let mut command = place.command(&[&["init"], args].concat());
    for variable in ["XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"] {
        command.env_remove(variable);
    }
    Ran::of(&mut command)
}

#[test]
#[cfg(target_os = "linux")]
fn clients_are_found_shown_written_tried_and_restored() {
    let place = with_clients();
    let untouched: Vec<String> = FILES.iter().map(|(_, text)| (*text).to_owned()).collect();

    let dry = init(&place, &["--dry-run"]);
    assert_eq!(dry.status, 0, "{}", dry.err);
    for line in [
        "Claude Code: ~/.claude.json (server)",
        "Claude Code: ~/.claude/settings.json (hooks), new",
        "Claude Code: ~/.claude/CLAUDE.md (instructions), new",
        "Codex: ~/.codex/config.toml",
        "  + [mcp_servers.codelode]",
        "VS Code: ",
    ] {
        assert!(dry.out.contains(line), "{line} is not in {}", dry.out);
    }
    assert!(!dry.out.contains("numStartups") && !dry.out.contains("Mine"), "only changes are shown: {}", dry.out);
    let unasked = init(&place, &[]);
    assert!(unasked.status == 2 && unasked.err.contains("--yes"), "{}", unasked.err);
    assert_eq!(now(&place), untouched, "nothing was agreed to");

    let done = init(&place, &["--yes"]);
    assert_eq!(done.status, 0, "{} {}", done.out, done.err);
    assert!(done.out.contains("wrote ~/.codex/config.toml"), "{}", done.out);
    assert!(done.out.contains("serve --format compact: codelode "), "{}", done.out);
    assert!(done.out.contains("tools: ") && done.out.contains("search_symbols"), "{}", done.out);
    let written = now(&place);
    assert!(written[2].lines().count() == written[2].matches("\r\n").count(), "line ends stay: {:?}", written[2]);

    let again = init(&place, &["--yes"]);
    assert_eq!(again.out.matches("nothing to do").count(), 10, "every part: {}", again.out);
    assert_eq!((again.status, now(&place)), (0, written));
    assert_eq!(place.run(&["doctor"]).status, 0);

    let undone = init(&place, &["--undo", "--yes"]);
    assert_eq!((undone.status, now(&place)), (0, untouched), "{}", undone.err);
    assert!(!place.path().join(".claude").exists(), "skill, sub-agent and hooks are gone");
    let nothing = init(&place, &["--undo", "--yes"]);
    assert!(nothing.status == 0 && nothing.err.contains("nothing to undo"), "{}", nothing.err);
}

#[test]
#[cfg(target_os = "linux")]
fn the_last_line_is_a_question_about_the_current_repository() {
    let place = with_clients();
    let last_of = |ran: &Ran| ran.out.lines().last().unwrap_or_default().to_owned();
    let nowhere = last_of(&init(&place, &["--yes"]));
    assert!(nowhere.contains("answers in"), "it is no repository: {nowhere}");
    place.git(&["init", "-q", "-b", "main"]);
    let dry = last_of(&init(&place, &["--dry-run"]));
    assert!(!dry.contains('#') && !place.home().join("stores").exists(), "{dry}");
    let done = init(&place, &["--yes"]);
    let last = last_of(&done);
    assert_eq!(last, "codelode refs add  # 1 use: numbers.py:8 in Counter.count", "{}", done.out);
    // The question can be asked: its answer begins so.
    let command =
        last.split("  #").next().and_then(|command| command.strip_prefix("codelode ")).expect("it is a command");
    let ran = place.run(&command.split(' ').collect::<Vec<_>>());
    assert!(ran.status == 0 && ran.out.starts_with("1 use ") && !ran.err.contains("for the first time"), "{}", ran.out);
    let json: Value = serde_json::from_str(&init(&place, &["--yes", "--json"]).out).expect("it is JSON");
    assert_eq!(json["question"]["command"], "codelode refs add");
}

#[test]
#[cfg(target_os = "linux")]
fn doctor_finds_an_entry_that_has_drifted() {
    let place = with_clients();
    assert_eq!(init(&place, &["--yes", "--client", "codex"]).status, 0);
    let path = place.path().join(".codex/config.toml");
    let text = fs::read_to_string(&path).expect("it is there");
    let gone = text.replace(env!("CARGO_BIN_EXE_codelode"), "/gone/codelode");
    assert_ne!(gone, text, "the program is named by its path");
    fs::write(&path, gone).expect("it is ours");
    let found = place.run(&["doctor"]);
    assert_eq!(found.status, 1, "{}", found.out);
    assert!(found.out.contains("Codex starts /gone/codelode, which is not there"), "{}", found.out);
    assert!(found.out.contains("codelode init --client codex"), "{}", found.out);
    let tried = init(&place, &["--yes", "--client", "codex", "--json"]);
    assert_eq!(tried.status, 0, "{}", tried.err);
    let told: Value = serde_json::from_str(&tried.out).expect("it is JSON");
    assert_eq!((&told["files"][0]["action"], &told["files"][0]["done"]), (&"write".into(), &true.into()));
    assert!(told["servers"][0]["tools"].as_array().is_some_and(|tools| tools.len() > 3), "{told}");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), text);
}

#[test]
#[cfg(target_os = "linux")]
fn parts_are_left_out_or_added_on_request() {
    let place = with_clients();
    let home = place.path();
    let none = init(&place, &["--yes", "--no-hooks", "--no-skill", "--no-agent", "--no-agents-md"]);
    assert_eq!((none.status, home.join(".claude").exists()), (0, false), "{}", none.err);
    let all = init(&place, &["--yes", "--client", "codex"]);
    assert_eq!(all.status, 0, "{}", all.err);
    assert!(all.err.contains("/hooks"), "Codex has to be told that it may: {}", all.err);
    let section = fs::read_to_string(home.join(".codex/AGENTS.md")).expect("it is written unasked");
    assert!(section.contains("codelode refs Cart.total") && section.contains("cheaper"), "{section}");
    let again = init(&place, &["--yes", "--client", "codex"]);
    assert!(again.status == 0 && again.out.contains("AGENTS.md (instructions): nothing to do"), "{}", again.out);
    // The hook that was written answers for the program that wrote it.
    let hooks = fs::read_to_string(home.join(".codex/hooks.json")).expect("it was written");
    let hooks: Value = serde_json::from_str(&hooks).expect("it is JSON");
    let command = hooks["hooks"]["PostToolUse"][0]["hooks"][0]["command"].as_str().expect("it has one").to_owned();
    assert!(command.contains(env!("CARGO_BIN_EXE_codelode")), "{command}");
    let ran = std::process::Command::new("sh").arg("-c").arg(command).stdin(std::process::Stdio::null()).output();
    assert!(ran.is_ok_and(|ran| ran.status.success() && ran.stdout.is_empty()));
    assert_eq!(place.run(&["doctor"]).status, 0);
}

#[test]
fn language_servers_are_set_up_on_request() {
    let place = with_clients();
    let path = place.path().join(".config/opencode/opencode.json");
    let shown = init(&place, &["--yes", "--client", "opencode"]);
    let without = fs::read_to_string(&path).expect("it was written");
    assert!(shown.status == 0 && !without.contains("lsp"), "{without}");
    let all = init(&place, &["--yes", "--client", "opencode", "--client", "copilot-cli", "--lsp"]);
    assert_eq!(all.status, 0, "{}", all.err);
    assert!(all.err.contains("turns on"), "a person is told of it: {}", all.err);
    let config: Value = serde_json::from_str(&fs::read_to_string(&path).expect("it is there")).expect("it is JSON");
    let server = &config["lsp"]["codelode"];
    assert_eq!(server["command"], serde_json::json!([env!("CARGO_BIN_EXE_codelode"), "lsp"]));
    assert!(
        server["extensions"].as_array().is_some_and(|all| all.contains(&".py".into()) && !all.contains(&".md".into()))
    );
    let copilot = fs::read_to_string(place.path().join(".copilot/lsp-config.json")).expect("it was written");
    assert!(copilot.contains("\".rs\": \"rust\""), "{copilot}");
    assert_eq!(place.run(&["doctor"]).status, 0);
    fs::write(&path, config.to_string().replace("\",\"lsp\"", "-gone\",\"lsp\"")).expect("it is ours");
    let doctor = place.run(&["doctor"]);
    assert!(doctor.out.contains("as a language server, which is not there"), "{}", doctor.out);
    assert_eq!(init(&place, &["--undo", "--yes"]).status, 0);
    assert!(!fs::read_to_string(&path).unwrap_or_default().contains("codelode"));
}

#[test]
fn nobody_there_and_nobody_known() {
    let place = numbers();
    let nobody = init(&place, &["--yes"]);
    assert!(nobody.status == 1 && nobody.err.contains("no client was found"), "{}", nobody.err);
    let unknown = init(&place, &["--client", "cursr"]);
    assert!(unknown.status == 2 && unknown.err.contains("did you mean `cursor`?"), "{}", unknown.err);
    let form = init(&place, &["--print-config", "opencode", "--http", "http://127.0.0.1:8901/mcp"]);
    let form: Value = serde_json::from_str(&form.out).expect("only the configuration is printed");
    assert_eq!(form["mcp"]["codelode"]["type"], "remote");
}

#[test]
fn a_server_over_http_is_set_up_and_tried() {
    let place = with_clients();
    let site = Site::start(&[]);
    let url = format!("{}/mcp", site.url());
    let done = init(&place, &["--yes", "--client", "claude-code", "--client", "codex", "--http", &url]);
    assert_eq!(done.status, 0, "{} {}", done.out, done.err);
    assert!(done.out.contains(&format!("{url}: codelode ")), "{}", done.out);
    let written = now(&place);
    assert!(
        written[0].contains("\"type\": \"http\"") && written[1].contains(&format!("url = \"{url}\"")),
        "{written:?}"
    );
    drop(site);
    let alone = init(&place, &["--yes", "--client", "codex", "--http", &url]);
    assert!(alone.status == 2 && alone.out.contains("error:"), "a server that is gone is said: {}", alone.out);
}

/// The lines of the manual around its table of clients.
const TABLE: [&str; 2] = ["<!-- The table of clients is made by tests/all/init.rs. -->", "<!-- The table ends. -->"];

#[test]
fn the_manual_lists_every_client() {
    let mut table = String::from(
        "\n| client | file of the user | file of a project | over HTTP | confirmed by |\n|---|---|---|---|---|\n",
    );
    for client in clients() {
        let project = client.project.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", or ");
        let http = match (&client.remote, &client.token) {
            (None, _) => "no",
            (_, None) => "yes, without a token",
            _ => "yes",
        };
        let cell = |text: String| if text.is_empty() { "none".to_owned() } else { text };
        let row = [format!("{} (`{}`)", client.name, client.id), cell(user_files(client)), cell(project)];
        writeln!(table, "| {} | {http} | {} |", row.join(" | "), proof(client)).expect("it is a text");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/clients.md");
    let page = fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = page.split_once(TABLE[0]).expect("the page has a table of clients");
    let (_, after) = rest.split_once(TABLE[1]).expect("the table ends");
    let expected = format!("{before}{}{table}{}{after}", TABLE[0], TABLE[1]);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &expected).expect("the page is ours");
        return;
    }
    assert!(page == expected, "the table of clients is old; UPDATE_EXPECT=1 makes it anew");
}

/// The lines of the manual around its table of hooks, skills and instructions.
const BESIDE: [&str; 2] =
    ["<!-- The table of parts is made by tests/all/init.rs. -->", "<!-- The table of parts ends. -->"];

#[test]
fn the_manual_lists_what_is_written_beside_the_server() {
    let mut table = String::from(
        "\n| client | part | file of the user | file of a project | confirmed by |\n|---|---|---|---|---|\n",
    );
    for client in clients() {
        let hooks = client.hooks.as_ref().map(|hooks| &hooks.files);
        let parts = [
            ("hooks", hooks),
            ("skill", client.skill.as_ref()),
            ("sub-agent", client.agent.as_ref()),
            ("instructions", client.guide.as_ref()),
            ("language server (`--lsp`)", client.lsp.as_ref().map(|servers| &servers.files)),
        ];
        for (part, files) in parts.into_iter().filter_map(|(part, files)| Some((part, files?))) {
            let cell = |text: String| if text.is_empty() { "none".to_owned() } else { text };
            let project = files.project.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", or ");
            let row = [client.name.clone(), part.to_owned(), cell(listed(&files.user)), cell(project)].join(" | ");
            let proof = format!("[{}]({}), {}", said(files.confirmed), files.source, files.seen);
            writeln!(table, "| {row} | {proof} |").expect("it is a text");
        }
        if let Some(mark) = &client.loaded {
            let keys = mark.entry.iter().map(|(key, value)| format!("`{key}: {value}`")).collect::<Vec<_>>().join(", ");
            let proof = format!("[{}]({}), {}", said(mark.confirmed), mark.source, mark.seen);
            writeln!(table, "| {} | tools kept loaded | {keys} | {keys} | {proof} |", client.name)
                .expect("it is a text");
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/clients.md");
    let page = fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = page.split_once(BESIDE[0]).expect("the page has a table of parts");
    let (_, after) = rest.split_once(BESIDE[1]).expect("the table ends");
    let expected = format!("{before}{}{table}{}{after}", BESIDE[0], BESIDE[1]);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &expected).expect("the page is ours");
        return;
    }
    assert!(page == expected, "the table of parts is old; UPDATE_EXPECT=1 makes it anew");
}

fn user_files(client: &Client) -> String {
    listed(&client.user)
}

fn listed(paths: &Paths) -> String {
    let list = |paths: &[String]| paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", or ");
    match paths {
        Paths::Everywhere(paths) => list(paths),
        Paths::BySystem { linux, macos } => format!("{}; on macOS {}", list(linux), list(macos)),
        Paths::None => String::new(),
    }
}

fn proof(client: &Client) -> String {
    let source = match client.source.strip_prefix("npm: ") {
        Some(package) => format!("{} `{package}`", said(client.confirmed)),
        None => format!("[{}]({})", said(client.confirmed), client.source),
    };
    format!("{source}, {}", client.seen)
}

fn said(confirmed: Confirmed) -> &'static str {
    match confirmed {
        Confirmed::Connected => "connected",
        Confirmed::Program => "program",
        Confirmed::Documentation => "documentation",
        Confirmed::Hearsay => "not confirmed",
    }
}

#[test]
fn golden_files_are_of_clients_that_exist() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/setup/golden");
    let files: Vec<PathBuf> =
        fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("it can be listed").path()).collect();
    let files: Vec<PathBuf> = files.into_iter().filter(|path| path.is_file()).collect();
    for path in &files {
        let id = path.file_stem().expect("it has a name").to_string_lossy();
        assert!(clients().iter().any(|client| client.id == id), "{id} is not a client");
    }
    assert_eq!(files.len(), clients().iter().filter(|client| !client.user.here().is_empty()).count());
}
