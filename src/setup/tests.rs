//! Setup of every client in a folder of its own: fresh, beside other servers, twice, and undone.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use serde_json::json;

use super::*;

/// A user with a project and a program.
struct Machine {
    _folder: tempfile::TempDir,
    around: Surroundings,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let root = folder.path().canonicalize().expect("it is there");
        let path = |name: &str| root.join(name);
        for name in ["user", "user/project", "opt"] {
            fs::create_dir(path(name)).expect("it is new");
        }
        let program = path("opt/codelode");
        write(&program, "#!/bin/sh\n");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
        let (user, home) = (path("user"), path("index/codelode"));
        let project = Some(user.join("project"));
        Self {
            _folder: folder,
            around: Surroundings { user, project, home, program, variable: |_| None, ca_file: None },
        }
    }

    fn project(&self) -> &Path {
        self.around.project.as_deref().expect("there is one")
    }

    /// The one step for a client.
    fn step(&self, options: &SetupRequest) -> Step {
        let mut steps = plan(&self.around, options).expect("the options is sound");
        assert_eq!(steps.len(), 1);
        steps.remove(0)
    }

    fn set_up(&self, options: &SetupRequest) -> PathBuf {
        let step = self.step(options);
        apply(&self.around, &step).expect("it can be written");
        step.path
    }

    fn undo(&self) {
        for step in plan_undo(&self.around, &SetupRequest::default()).expect("the options is sound") {
            apply_undo(&self.around, &step).expect("it can be undone");
        }
        assert!(plan_undo(&self.around, &SetupRequest::default()).expect("the options is sound").is_empty());
    }

    /// A text without the paths of this machine.
    fn neutral(&self, text: &str) -> String {
        let root = self.around.user.parent().expect("it has one").to_string_lossy().into_owned();
        text.replace(&format!("{root}/opt/codelode"), "/opt/bin/codelode").replace(&format!("{root}/user"), "~")
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("it has a folder")).expect("there is room");
    fs::write(path, text).expect("it is ours");
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("it is there")
}

fn options(client: &str) -> SetupRequest {
    SetupRequest { clients: vec![client.to_owned()], ..SetupRequest::default() }
}

/// A configuration with comments and another server.
fn with_comments(client: &Client) -> String {
    let key = &client.key[0];
    match client.format {
        Format::Json => format!(
            "{{\n    // Mine.\n    \"theme\": \"dark\",\n    \"{key}\": {{\n        \"other\": {{ \"command\": \"x\" }} // keep\n    }},\n    \"last\": [1,2]\n}}\n"
        ),
        Format::Toml => format!("# Mine.\ntheme = \"dark\"\n\n[{key}.other]\ncommand = 'x' # keep\n\n[last]\na = 1\n"),
        Format::Yaml => format!("# Mine.\ntheme: dark\n{key}:\n  # keep\n  other:\n    cmd: x\nlast: [1,2]\n"),
    }
}

#[test]
fn the_table_is_whole() {
    let mut ids: Vec<&str> = clients().iter().map(|client| client.id.as_str()).collect();
    assert!(ids.len() >= 22, "{ids:?}");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), clients().len(), "an id is there twice");
    let files = clients().iter().flat_map(|client| client.user.here().iter().chain(&client.project));
    let mut files: Vec<&String> = files.collect();
    let n_files = files.len();
    files.sort_unstable();
    files.dedup();
    assert_eq!(files.len(), n_files, "two clients would write the same file in turns");
    for client in clients() {
        let has_file = !client.user.here().is_empty() || !client.project.is_empty();
        assert_eq!(has_file, !client.found_by.here().is_empty(), "{}", client.id);
        assert!(has_file || client.note.is_some(), "{} needs a word on how to set it up", client.id);
        assert!(client.key.len() == 1 && client.seen.len() == 10 && !client.source.is_empty(), "{}", client.id);
        assert!(client.token.is_none() || client.remote.is_some(), "{}", client.id);
        // An entry is read back as it was meant.
        let local = Launch::of_command(["/opt/bin/codelode".to_owned()]);
        let remote = Launch::Remote { url: "http://127.0.0.1:8901/mcp".to_owned(), token: None };
        let secret = Launch::Remote { url: "https://code.example/mcp".to_owned(), token: Some("TOKEN".to_owned()) };
        for launch in [local, remote, secret] {
            let Some(entry) = entry::wanted(client, &launch, None) else { continue };
            let back = entry::read(client, &Value::Object(entry.clone()));
            assert_eq!(back.as_ref(), Some(&launch), "{}: {entry:?}", client.id);
        }
    }
}

#[test]
fn every_client_is_set_up_fresh_beside_others_twice_and_undone() {
    for client in clients().iter().filter(|client| !client.user.here().is_empty()) {
        let machine = Machine::new();
        let sign = machine.around.expand(&client.found_by.here()[0]).expect("it is below the user's folder");
        match sign.extension().is_some_and(|extension| extension == "json") {
            true => write(&sign, "{}\n"),
            false => fs::create_dir_all(&sign).expect("it is new"),
        }
        let found: Vec<&str> = plan(&machine.around, &SetupRequest::default())
            .expect("it works")
            .iter()
            .map(|step| step.client.id.as_str())
            .collect();
        assert!(
            found.contains(&client.id.as_str()) && found.len() <= 2,
            "an extension is found with its editor: {found:?}"
        );

        let options = options(&client.id);
        let before = fs::read(machine.around.file(client, Part::Server, Scope::User).expect("it has a file")).ok();
        let path = machine.set_up(&options);
        let fresh = read(&path);
        assert_eq!(machine.step(&options).action.as_ref().ok(), Some(&Action::Nothing), "{}: a second time", client.id);
        assert_eq!(drift(&machine.around), []);
        machine.undo();
        assert_eq!(fs::read(&path).ok(), before, "{}: it is as it was", client.id);
        assert!(sign.exists(), "folders that were there stay");

        write(&path, &with_comments(client));
        machine.set_up(&options);
        let beside = read(&path);
        assert_eq!(machine.step(&options).action.as_ref().ok(), Some(&Action::Nothing));
        machine.undo();
        assert_eq!(read(&path), with_comments(client), "{}: byte for byte", client.id);

        // An edit in between stays: only the entry goes.
        machine.set_up(&options);
        write(&path, &read(&path).replace("dark", "light"));
        machine.undo();
        assert_eq!(read(&path), with_comments(client).replace("dark", "light"), "{}", client.id);

        // Another program writes the entry anew, with a setting of its own.
        fs::remove_file(&path).expect("it is there");
        machine.set_up(&options);
        let project = client.project.iter().map(|path| format!("project: {path}\n")).collect::<String>();
        let remote = SetupRequest { url: Some("http://127.0.0.1:8901/mcp".to_owned()), ..options.clone() };
        let secret = SetupRequest { token: Some("CODELODE_TOKEN".to_owned()), ..remote.clone() };
        let shown =
            |options: &SetupRequest| sample(&machine.around, client, options).unwrap_or_else(|err| format!("{err}\n"));
        let golden = format!(
            "user: {}\n{project}\n--- fresh\n{fresh}\n--- beside others\n{beside}\n--- over HTTP\n{}\n--- with a token\n{}",
            machine.neutral(&path.to_string_lossy()),
            shown(&remote),
            shown(&secret)
        );
        if cfg!(target_os = "linux") {
            expect_file![format!("golden/{}.txt", client.id)].assert_eq(&machine.neutral(&golden));
        }
    }
}

/// A options for every part of a client's setup.
fn whole_wish(client: &str) -> SetupRequest {
    let text = |name: &str| format!("The {name}.\n");
    let texts = Texts { skill: text("skill"), agent: text("sub-agent"), guide: text("guide") };
    let endings = vec![(".py".to_owned(), "python".to_owned()), (".go".to_owned(), "go".to_owned())];
    SetupRequest { beside: Part::ALL[1..].to_vec(), texts, endings, ..options(client) }
}

#[test]
fn hooks_skills_and_sections_are_written_beside_others_twice_and_undone() {
    let has_more = |client: &&Client| Part::ALL[1..].iter().any(|part| extras::files(client, *part).is_some());
    for client in clients().iter().filter(has_more) {
        let machine = Machine::new();
        let options = whole_wish(&client.id);
        let steps = || plan(&machine.around, &options).expect("the options is sound");
        let set_up = || steps().iter().for_each(|step| apply(&machine.around, step).expect("it can be written"));
        let texts = || -> Vec<(PathBuf, Option<String>)> {
            steps().into_iter().map(|step| (step.path.clone(), fs::read_to_string(step.path).ok())).collect()
        };
        set_up();
        let fresh = texts();
        assert!(steps().iter().all(|step| !step.is_due()), "{}: a second time", client.id);
        assert_eq!(drift(&machine.around), []);
        machine.undo();
        assert!(texts().iter().all(|(_, text)| text.is_none()), "{}: nothing is left", client.id);
        assert_eq!(fs::read_dir(&machine.around.user).expect("it is there").count(), 1, "new folders go as well");

        // Hooks and texts of others stay, byte for byte.
        let own = |path: &Path| {
            match path.extension().and_then(|it| it.to_str()) {
            Some("json") if client.hooks.is_some() => {
                let event = client.hooks.iter().flat_map(|hooks| hooks.events.keys()).next().expect("it has one");
                Some(format!(
                    "{{\n  // Mine.\n  \"hooks\": {{\n    \"{event}\": [\n      {{ \"command\": \"x\" }} // keep\n    ]\n  }},\n  \"version\": 1,\n  \"a\": 1\n}}\n"
                ))
            }
            Some("json") => client.lsp.as_ref().map(|servers| {
                let key = &servers.key[0];
                format!("{{\n  // Mine.\n  \"{key}\": {{\n    \"other\": {{ \"command\": \"x\" }} // keep\n  }},\n  \"a\": 1\n}}\n")
            }),
            Some("md") if !path.ends_with("SKILL.md") => Some("# Mine\r\n\r\nText without an end".to_owned()),
            _ => None,
        }
        };
        let before: Vec<(PathBuf, Option<String>)> =
            texts().into_iter().map(|(path, _)| (path.clone(), own(&path))).collect();
        before.iter().for_each(|(path, text)| text.iter().for_each(|text| write(path, text)));
        set_up();
        let beside = texts();
        assert!(steps().iter().all(|step| !step.is_due()), "{}: a second time beside others", client.id);
        machine.undo();
        assert_eq!(texts(), before, "{}: byte for byte", client.id);

        // An edit in between stays: only what was written goes.
        set_up();
        let edited = |(path, text): &(PathBuf, Option<String>)| {
            (path.clone(), text.as_ref().map(|text| text.replace("Mine", "Yours").replace("\"a\": 1", "\"a\": 2")))
        };
        texts().iter().map(edited).for_each(|(path, text)| text.iter().for_each(|text| write(&path, text)));
        machine.undo();
        let plain = |text: &str| {
            text.replace(['\r', '\n', ' ', ','], "").replace("\"mcpServers\":{}", "").replace("\"mcp\":{}", "")
        };
        for ((path, now), (_, former)) in texts().iter().zip(before.iter().map(edited)) {
            assert_eq!(now.as_deref().map(plain), former.as_deref().map(plain), "{}: {}", client.id, path.display());
        }
        let mut golden = String::new();
        for (title, texts) in [("fresh", fresh), ("beside others", beside)] {
            for (path, text) in texts {
                let path = machine.neutral(&path.to_string_lossy());
                golden.push_str(&format!("--- {title}: {path}\n{}\n", text.expect("it was written")));
            }
        }
        if cfg!(target_os = "linux") {
            let golden = machine.neutral(&golden).replace("\r\n", "\n");
            expect_file![format!("golden/beside/{}.txt", client.id)].assert_eq(&golden);
        }
    }
}

#[test]
fn a_persons_own_skill_and_a_package_runner_are_left_alone() {
    let machine = Machine::new();
    let skill = machine.around.user.join(".agents/skills/codelode/SKILL.md");
    write(&skill, "Mine.\n");
    let due = |machine: &Machine| -> Vec<Vec<Part>> {
        let steps = plan(&machine.around, &whole_wish("codex")).expect("the options is sound");
        steps.into_iter().filter(Step::is_due).map(|step| step.parts).collect()
    };
    assert_eq!(due(&machine), [[Part::Server], [Part::Hooks], [Part::Guide]]);
    // A text that was written here is brought up to date.
    fs::remove_file(&skill).expect("it is ours");
    for step in plan(&machine.around, &whole_wish("codex")).expect("the options is sound") {
        apply(&machine.around, &step).expect("it can be written");
    }
    let texts = Texts { skill: "Newer.\n".to_owned(), ..whole_wish("codex").texts };
    for step in plan(&machine.around, &SetupRequest { texts, ..whole_wish("codex") }).expect("the options is sound") {
        apply(&machine.around, &step).expect("it can be written");
    }
    assert_eq!(read(&skill), "Newer.\n");
    // A hook whose program is gone is found.
    let hooks = machine.around.user.join(".codex/hooks.json");
    write(&hooks, &read(&hooks).replace("/opt/codelode", "/gone/codelode"));
    let found = drift(&machine.around);
    assert!(found.iter().any(|drift| drift.what.contains("a hook of Codex starts")), "{found:?}");
    // Over HTTP there is nothing on this machine to ask.
    let remote = SetupRequest { url: Some("http://127.0.0.1:8901/mcp".to_owned()), ..whole_wish("cursor") };
    let steps = plan(&machine.around, &remote).expect("the options is sound");
    assert_eq!(steps.iter().map(|step| step.parts.clone()).collect::<Vec<_>>(), [[Part::Server]]);
}

#[test]
fn a_project_is_set_up_by_name_for_everybody() {
    for client in clients().iter().filter(|client| !client.project.is_empty()) {
        let machine = Machine::new();
        let options = SetupRequest { scope: Some(Scope::Project), ..options(&client.id) };
        let path = machine.set_up(&options);
        assert_eq!(path, machine.project().join(&client.project[0]));
        let step = machine.step(&options);
        assert_eq!(launch_of(&machine.around, &step), Some(Launch::of_command(["codelode".to_owned()])));
        assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o644);
        machine.undo();
        assert!(!path.exists());
        assert_eq!(fs::read_dir(machine.project()).expect("it is there").count(), 0, "new folders go as well");
    }
}

#[test]
fn a_client_that_only_the_project_knows_is_set_up_there() {
    let machine = Machine::new();
    assert!(plan(&machine.around, &SetupRequest::default()).expect("it works").is_empty());
    write(&machine.project().join(".cursor/mcp.json"), "{}");
    let step = machine.step(&SetupRequest::default());
    assert_eq!((step.client.id.as_str(), step.scope), ("cursor", Scope::Project));
    let nowhere = Surroundings { project: None, ..machine.around.clone() };
    let options = SetupRequest { scope: Some(Scope::Project), ..SetupRequest::default() };
    assert!(matches!(plan(&nowhere, &options), Err(Error::NoProject)));
    let unknown = plan(&machine.around, &self::options("cursr")).expect_err("there is no such client");
    assert!(unknown.to_string().contains("did you mean `cursor`?"), "{unknown}");
}

#[test]
fn links_are_kept_but_lead_out_of_no_project() {
    let machine = Machine::new();
    let user = &machine.around.user;
    write(&user.join("dotfiles/codex.toml"), "a = 1\n");
    fs::create_dir(user.join(".codex")).expect("it is new");
    symlink("../dotfiles/codex.toml", user.join(".codex/config.toml")).expect("there is room");
    let path = machine.set_up(&options("codex"));
    assert!(path.symlink_metadata().expect("it is there").is_symlink());
    assert!(read(&user.join("dotfiles/codex.toml")).contains("[mcp_servers.codelode]"));
    machine.undo();
    assert_eq!(read(&user.join("dotfiles/codex.toml")), "a = 1\n");
    assert!(path.symlink_metadata().expect("it is there").is_symlink());

    let project = SetupRequest { scope: Some(Scope::Project), ..options("claude-code") };
    write(&user.join("secret.json"), "{}");
    symlink("../secret.json", machine.project().join(".mcp.json")).expect("there is room");
    let step = machine.step(&project);
    assert!(matches!(step.action, Err(Error::LeadsOut { .. })), "{:?}", step.action);
    let project = SetupRequest { scope: Some(Scope::Project), ..options("cursor") };
    symlink("..", machine.project().join(".cursor")).expect("there is room");
    assert!(matches!(machine.step(&project).action, Err(Error::LeadsOut { .. })));
    symlink("nowhere.json", user.join(".claude.json")).expect("there is room");
    let user = SetupRequest { scope: Some(Scope::User), ..options("claude-code") };
    assert!(matches!(machine.step(&user).action, Err(Error::LeadsNowhere(_))));
}

#[test]
fn instructions_that_two_clients_share_by_a_link_are_written_once() {
    let machine = Machine::new();
    let (shared, link) = (machine.project().join("AGENTS.md"), machine.project().join("CLAUDE.md"));
    write(&shared, "# Mine\n");
    symlink("AGENTS.md", &link).expect("there is room");
    let clients = vec!["claude-code".to_owned(), "codex".to_owned()];
    let options = SetupRequest { scope: Some(Scope::Project), clients, ..whole_wish("codex") };
    let steps = || plan(&machine.around, &options).expect("the options is sound");
    assert_eq!(steps().iter().filter(|step| step.parts.contains(&Part::Guide)).count(), 1);
    steps().iter().for_each(|step| apply(&machine.around, step).expect("it can be written"));
    assert_eq!(read(&shared).matches("The guide.").count(), 1);
    assert!(link.symlink_metadata().expect("it is there").is_symlink() && steps().iter().all(|step| !step.is_due()));
    machine.undo();
    assert_eq!(read(&shared), "# Mine\n");
}

#[test]
fn files_that_cannot_be_edited_are_refused() {
    let machine = Machine::new();
    let path = machine.around.user.join(".cursor/mcp.json");
    let refused = || machine.step(&options("cursor")).action.expect_err("nothing is written").to_string();
    write(&path, "{\n  \"mcpServers\": {\n    oops\n  }\n}\n");
    assert!(refused().contains("mcp.json: line 3:"), "{}", refused());
    write(&path, "{\"mcpServers\": []}");
    assert!(refused().contains("`mcpServers` holds no table"), "{}", refused());
    fs::write(&path, b"{\"a\": \"\xff\"}").expect("it is ours");
    assert!(refused().contains("is not UTF-8"), "{}", refused());
    let file = fs::File::create(&path).expect("it is ours");
    file.set_len(17 << 20).expect("it takes no room");
    assert!(refused().contains("has 17 MB"), "{}", refused());
    write(&path, "{}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("it is ours");
    assert!(refused().contains("is read-only"), "{}", refused());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is ours");
    if std::os::unix::fs::chown(&path, Some(12_345), None).is_ok() {
        assert!(refused().contains("belongs to another user (id 12345)"), "{}", refused());
    }
    fs::remove_file(&path).expect("the folder is ours");
    fs::create_dir(&path).expect("it is new");
    assert!(refused().contains("is not a file"), "{}", refused());
}

#[test]
fn a_file_that_changes_before_it_is_written_is_left_alone() {
    let machine = Machine::new();
    let path = machine.around.user.join(".claude.json");
    write(&path, "{\"n\": 1}\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("it is ours");
    let step = machine.step(&options("claude-code"));
    write(&path, "{\"n\": 2}\n");
    assert!(matches!(apply(&machine.around, &step), Err(Error::Changed(_))));
    assert_eq!(read(&path), "{\"n\": 2}\n");
    machine.set_up(&options("claude-code"));
    assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o640);
    let beside = fs::read_dir(&machine.around.user).expect("it is there").count();
    assert_eq!(beside, 2, "nothing is left beside the file and the project");
}

#[test]
fn settings_of_a_person_in_the_entry_stay() {
    let machine = Machine::new();
    let path = machine.around.user.join(".config/opencode/opencode.jsonc");
    let text = r#"{"mcp": {"codelode": {"type": "local", "command": ["/gone/codelode", "serve", "--tools", "full"], "enabled": false, "environment": {"A": "b"}}}}"#;
    write(&path, text);
    let found = drift(&machine.around);
    assert_eq!(found.len(), 1);
    assert!(found[0].what.contains("starts /gone/codelode, which is not there"), "{}", found[0].what);
    assert_eq!(machine.set_up(&options("opencode")), path, "the file that is there");
    let program = machine.around.program.to_string_lossy().into_owned();
    let after: Value = serde_json::from_str(&read(&path)).expect("it is JSON");
    let command = json!([program, "serve", "--tools", "full", "--format", "compact"]);
    let entry = json!({"type": "local", "command": command, "enabled": false, "environment": {"A": "b"}});
    assert_eq!(after["mcp"]["codelode"], entry);
    assert_eq!(drift(&machine.around), []);
    for step in plan_undo(&machine.around, &SetupRequest::default()).expect("the options is sound") {
        apply_undo(&machine.around, &step).expect("it can be undone");
    }
    assert_eq!(read(&path), text);
    write(&path, &text.replace("\"local\"", "\"other\"").replace("/gone/codelode", &program));
    assert!(drift(&machine.around)[0].what.contains("another form"));
}

#[test]
fn tools_stay_loaded_unless_a_person_says_otherwise() {
    let entry = |client: &str, own: Option<Value>, more: &[&str]| {
        let client = super::client(client).expect("it is in the table");
        let mut launch = Launch::of_command(["/opt/bin/codelode".to_owned()]);
        if let Launch::Local { args, .. } = &mut launch {
            args.extend(more.iter().map(|arg| (*arg).to_owned()));
        }
        Value::Object(entry::wanted(client, &launch, own.as_ref()).expect("it starts programs"))
    };
    assert_eq!(entry("claude-code", None, &[])["alwaysLoad"], true);
    assert_eq!(entry("copilot-cli", None, &[])["deferTools"], "never");
    assert_eq!(
        entry("codex", None, &[]),
        json!({"command": "/opt/bin/codelode", "args": ["serve", "--format", "compact"]})
    );
    assert_eq!(entry("claude-code", Some(json!({"alwaysLoad": false})), &[])["alwaysLoad"], false);
    assert_eq!(entry("copilot-cli", Some(json!({"deferTools": "auto"})), &[])["deferTools"], "auto");
    // Forty tools are too many to be loaded in every session; five of them carry a mark of their own.
    for wide in [&["--tools", "full"][..], &["--tools=full"]] {
        assert!(entry("claude-code", None, wide).get("alwaysLoad").is_none());
    }
}

#[test]
fn a_projects_own_entry_is_not_trusted() {
    let machine = Machine::new();
    let path = machine.project().join(".mcp.json");
    let args = r#""args": ["serve", "--log-file", "/home/you/.profile", "--format", "compact"]"#;
    write(
        &path,
        &format!("{{\"mcpServers\": {{\"codelode\": {{\"type\": \"stdio\", \"command\": \"./codelode\", {args}}}}}}}"),
    );
    assert!(
        drift(&machine.around)[0].what.contains("another form") || drift(&machine.around)[0].what.contains("not there")
    );
    let options = SetupRequest { scope: Some(Scope::Project), ..options("claude-code") };
    machine.set_up(&options);
    let launch = launch_of(&machine.around, &machine.step(&options));
    assert_eq!(launch, Some(Launch::of_command(["codelode".to_owned()])), "neither its program nor its flags are kept");
}

#[test]
fn an_update_of_an_entry_is_undone_to_the_very_first_text() {
    let machine = Machine::new();
    let path = machine.around.user.join(".codex/config.toml");
    write(&path, "# Mine.\n");
    let remote = SetupRequest { url: Some("http://127.0.0.1:8901/mcp".to_owned()), ..options("codex") };
    machine.set_up(&remote);
    machine.set_up(&options("codex"));
    assert!(!read(&path).contains("url"));
    machine.undo();
    assert_eq!(read(&path), "# Mine.\n");
    // The records are lost: the entry goes all the same.
    machine.set_up(&remote);
    fs::remove_dir_all(&machine.around.home).expect("it is ours");
    machine.undo();
    assert_eq!(read(&path).trim_end(), "# Mine.");
    let wrong = SetupRequest { url: Some("localhost:8901".to_owned()), ..remote };
    assert!(matches!(plan(&machine.around, &wrong), Err(Error::NotAUrl(_))));
}

#[test]
fn the_program_is_named_as_it_survives_an_update() {
    let machine = Machine::new();
    let named = |around: &Surroundings| program::command(around, Scope::User).map(PathBuf::from_iter);
    assert_eq!(named(&machine.around).expect("it has a name"), machine.around.program);
    // A package manager's link on the PATH stays when what it names is replaced.
    let bin = machine.around.user.join("bin");
    fs::create_dir(&bin).expect("it is new");
    symlink(&machine.around.program, bin.join("codelode")).expect("there is room");
    assert_eq!(program::named(&machine.around, &bin.to_string_lossy()), bin.join("codelode"));
    assert_eq!(program::command(&machine.around, Scope::Project).ok(), Some(vec!["codelode".to_owned()]));
}

#[test]
fn a_package_runner_starts_what_it_keeps() {
    let machine = Machine::new();
    let kept = |path: &str| Surroundings { program: machine.around.user.join(path), ..machine.around.clone() };
    let npx = kept(".npm/_npx/0123/node_modules/@codelode/linux-x64/codelode");
    let uvx = kept(".cache/uv/archive-v0/0123/bin/codelode");
    // Without the runner there is nothing that would start it again.
    for around in [&npx, &uvx] {
        assert!(matches!(program::command(around, Scope::User), Err(Error::InACache(_))));
    }
    let on_path = |around: &Surroundings| Surroundings {
        // A folder that holds both, whoever runs this.
        variable: |name| (name == "PATH").then(|| RUNNERS_FOLDER.with_borrow(Clone::clone)),
        ..around.clone()
    };
    let bin = machine.around.user.join("bin");
    fs::create_dir(&bin).expect("it is new");
    for runner in ["npx", "uvx"] {
        write(&bin.join(runner), "#!/bin/sh\n");
        fs::set_permissions(bin.join(runner), fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    RUNNERS_FOLDER.set(bin.to_string_lossy().into_owned());
    let command = |around: &Surroundings| program::command(&on_path(around), Scope::User).expect("the runner is there");
    assert_eq!(command(&npx), ["npx", "-y", "codelode"]);
    assert_eq!(command(&uvx), ["uvx", "codelode"]);
    let elsewhere = Surroundings { variable: |name| (name == "UV_CACHE_DIR").then(|| "/c".to_owned()), ..npx.clone() };
    let elsewhere = Surroundings { program: "/c/archive-v0/0123/bin/codelode".into(), ..elsewhere };
    assert!(matches!(program::command(&elsewhere, Scope::User), Err(Error::InACache(_))));

    // The entry is no drift, and keeps what a person adds.
    let machine = Machine { around: on_path(&npx), ..machine };
    let options = SetupRequest { clients: vec!["cursor".to_owned()], ..SetupRequest::default() };
    let path = machine.set_up(&options);
    let written = read(&path);
    assert!(written.contains(r#""npx""#), "{written}");
    assert_eq!(drift(&machine.around), []);
    write(&path, &written.replace(r#""compact""#, r#""compact", "--tools", "full""#));
    let step = machine.step(&options);
    assert_eq!((step.action.expect("it can be done"), drift(&machine.around)), (Action::Nothing, vec![]));
    machine.undo();
}

thread_local! {
    /// The PATH of a test: what looks up variables holds no state.
    static RUNNERS_FOLDER: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
}
