//! The papers tell the truth: commands of the manual run, links lead somewhere, tests that SECURITY.md names exist, and the
//! dependencies are what `deny.toml` allows.

use std::collections::BTreeSet;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::skipped;
use crate::place::git;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|err| panic!("{}: {err}", path.display()))
}

/// The pages of the manual, and the papers at the top.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = [root().to_owned(), root().join("docs")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("the folder is in the repository"))
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    pages
}

/// The fenced blocks of a page: what is said behind the fence, and the lines between.
fn blocks(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut blocks: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut is_open = false;
    for line in page.lines() {
        if let Some(info) = line.strip_prefix("```") {
            if !is_open {
                blocks.push((info, Vec::new()));
            }
            is_open = !is_open;
        } else if let (true, Some((_, lines))) = (is_open, blocks.last_mut()) {
            lines.push(line);
        }
    }
    blocks
}

/// Pages whose commands a build has with a feature only.
const PAGES_OF_FEATURES: [(&str, &str, bool); 1] = [("fleet.md", "ship", cfg!(feature = "ship"))];

#[test]
fn every_command_of_the_manual_runs() {
    let place = tempfile::tempdir().expect("there is room for a folder");
    let source = place.path().join("example");
    super::copy(&root().join("docs/example"), &source);
    let git = |args: &[&str]| git(&source, args);
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "The shop"]);
    let pricing = source.join("shop/pricing.py");
    let text = fs::read_to_string(&pricing).expect("it was copied");
    fs::write(&pricing, text.replace("int(digits), 90", "int(digits), 80")).expect("the copy is ours");
    git(&["commit", "-qam", "Discounts end at 80"]);

    let program = Path::new(env!("CARGO_BIN_EXE_codelode"));
    let folder = program.parent().expect("a program lies in a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path)))
        .expect("the folder of a build has no colon in its name");
    let mut wrong = Vec::new();
    let mut n_run = 0;
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port is free").port();
    let pages = pages().into_iter().filter(|page| page.parent().is_some_and(|folder| folder.ends_with("docs")));
    for page in pages {
        let lacks = |(name, _, is_built_in): &&(&str, &str, bool)| page.ends_with(name) && !is_built_in;
        if let Some((name, feature, _)) = PAGES_OF_FEATURES.iter().find(lacks) {
            skipped(&format!("the commands of docs/{name}: this build is without the feature `{feature}`"));
            continue;
        }
        // The port of the manual may be taken here.
        let text = read(&page).replace(":8901", &format!(":{port}")).replace("--port 8901", &format!("--port {port}"));
        let mut servers = Vec::new();
        for (info, lines) in blocks(&text) {
            match info {
                "json" => {
                    let text = lines.join("\n");
                    if let Err(err) = serde_json::from_str::<Value>(&text) {
                        wrong.push(format!("{}: {err} in\n{text}", page.display()));
                    }
                }
                "toml" => {
                    let text = lines.join("\n");
                    if let Err(err) = text.parse::<toml::Table>() {
                        wrong.push(format!("{}: {err} in\n{text}", page.display()));
                    }
                }
                "sh" => {
                    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
                        let mut command = Command::new("sh");
                        command.arg("-c").arg(line).current_dir(&source).stdin(Stdio::null()).env("PATH", &path);
                        command.env("HOME", place.path()).env("CODELODE_INDEX_PATH", place.path().join("index"));
                        if let Some(line) = line.strip_suffix(" &") {
                            let mut server = Command::new("sh");
                            server.arg("-c").arg(format!("exec {line}")).current_dir(&source).stdin(Stdio::null());
                            server.env("PATH", &path).env("HOME", place.path()).stderr(Stdio::null());
                            server.env("CODELODE_INDEX_PATH", place.path().join("index"));
                            servers.push(Served(server.spawn().expect("there is a shell")));
                            let began = Instant::now();
                            while TcpStream::connect(("127.0.0.1", port)).is_err() {
                                assert!(began.elapsed() < Duration::from_secs(60), "`{line}` does not listen");
                                std::thread::sleep(Duration::from_millis(20));
                            }
                            continue;
                        }
                        let ran = command.output().expect("there is a shell");
                        n_run += 1;
                        // A shell says it so where a program is missing, which is never ours.
                        if ran.status.code() == Some(127) {
                            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
                            skipped(&format!("`{line}` of {}: {said}", page.display()));
                        } else if !ran.status.success() {
                            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
                            wrong.push(format!("{}: `{line}` ends with {}: {said}", page.display(), ran.status));
                        }
                    }
                }
                // Commands that need a network or what others install are read, and not run.
                "sh elsewhere" => {
                    let own = lines.iter().filter(|line| line.starts_with("codelode "));
                    for line in own.map(|line| line.split(" #").next().unwrap_or(line)) {
                        let mut command = Command::new("sh");
                        command.arg("-c").arg(format!("{line} --help")).env("PATH", &path);
                        let ran = command.output().expect("there is a shell");
                        if !ran.status.success() {
                            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
                            wrong.push(format!("{}: `{line}` is not understood: {said}", page.display()));
                        }
                    }
                }
                // Text, and the settings of editors.
                "text" | "rust" | "lua" | "elisp" => {}
                other => wrong.push(format!("{}: a block of the unknown sort {other:?}", page.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_run > 40, "only {n_run} commands were found");
}

#[test]
fn the_manual_names_every_tool_that_is_shown() {
    let page = read("docs/tools.md");
    for tool in codelode::tools::TOOLS.iter().filter(|tool| tool.shown.is_some()) {
        assert!(page.contains(&format!("`{}`", tool.name)), "the table of tools lacks {}", tool.name);
        assert!(page.contains(&format!("`{}`", tool.command)), "the table of tools lacks {}", tool.command);
    }
}

/// A server of the manual, which ends with its page.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn links_between_papers_lead_somewhere() {
    let link = regex::Regex::new(r"\]\(([^)#\s]+)(?:#[^)]*)?\)").expect("it is a regex");
    let mut wrong = Vec::new();
    for page in pages() {
        let text = read(&page);
        for target in link.captures_iter(&text).map(|found| found[1].to_owned()) {
            let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
            let path = page.parent().expect("a page lies in a folder").join(&target);
            if !is_elsewhere && !path.exists() {
                wrong.push(format!("{}: {target} leads nowhere", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files to follow each question through, at most.
const WAYS: [(&str, usize); 2] = [("search_symbols", 12), ("find_references", 8)];

#[test]
fn a_newcomer_follows_a_question_through_few_files() {
    let page = read("ARCHITECTURE.md");
    let has_word = |text: &str, word: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|it| it == word);
    for (tool, most) in WAYS {
        let (_, way) = page.split_once(&format!("\n`{tool}`:\n")).expect("it is described");
        let rows =
            way.lines().skip(1).skip_while(|line| !line.contains(".rs")).take_while(|line| line.starts_with('|'));
        let mut above = String::new();
        let mut count = 0;
        for row in rows {
            let cells: Vec<&str> = row.split('`').collect();
            let (file, function) = (cells[1], cells[3]);
            let text = read(file);
            assert!(text.contains(&format!("fn {function}")), "{file} has no {function}");
            assert!(count == 0 || has_word(&above, function), "{file}: {function} is called in no file above it");
            above.push_str(&text);
            count += 1;
        }
        assert!((2..=most).contains(&count), "{tool} leads through {count} files");
    }
}

#[test]
fn every_room_is_described() {
    let page = read("ARCHITECTURE.md");
    let is_left_out = |name: &str| ["fuzzing", "lib", "main"].contains(&name);
    let folders = ["src", "crates"].map(|folder| fs::read_dir(root().join(folder)).expect("it is there"));
    let names = folders.into_iter().flatten().map(|entry| {
        entry.expect("it can be listed").path().file_stem().expect("it has a name").to_string_lossy().into_owned()
    });
    let missing: Vec<String> =
        names.filter(|name| !is_left_out(name) && !page.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_test_that_the_threat_model_names_exists() {
    let mut sources = String::new();
    for folder in ["src", "crates", "tests"] {
        collect(&root().join(folder), &mut sources);
    }
    let name = regex::Regex::new(r"`([a-z][a-z0-9]*(?:_[a-z0-9]+){2,})`").expect("it is a regex");
    let security = read("SECURITY.md");
    let tools: BTreeSet<&str> = codelode::tools::TOOLS.iter().map(|tool| tool.name).collect();
    let named: BTreeSet<String> = name.captures_iter(&security).map(|found| found[1].to_owned()).collect();
    let named: Vec<&String> = named.iter().filter(|name| !tools.contains(name.as_str())).collect();
    assert!(named.len() > 15, "the table names its tests");
    let gone: Vec<&&String> = named.iter().filter(|name| !sources.contains(&format!("fn {name}()"))).collect();
    assert!(gone.is_empty(), "SECURITY.md names tests that are gone: {gone:?}");
}

fn collect(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).expect("the folder is in the repository") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            collect(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(&path).expect("sources are text"));
        }
    }
}

#[test]
fn dependencies_are_what_is_allowed() {
    let rules: toml::Table = read("deny.toml").parse().expect("deny.toml is TOML");
    let words = |value: &toml::Value| value.as_str().map(str::to_owned);
    let allowed: BTreeSet<String> =
        rules["licenses"]["allow"].as_array().expect("a list").iter().filter_map(words).collect();
    let denied: BTreeSet<String> = rules["bans"]["deny"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|ban| ban.get("name").and_then(toml::Value::as_str).map(str::to_owned))
        .collect();
    assert!(!allowed.is_empty() && !denied.is_empty());
    let exceptions = rules["licenses"]["exceptions"].as_array().expect("a list");
    let also_allowed = |package: &str| -> BTreeSet<String> {
        let of_package = exceptions.iter().filter(|exception| exception["crate"].as_str() == Some(package));
        let lists = of_package.filter_map(|exception| exception["allow"].as_array());
        lists.flatten().filter_map(words).chain(allowed.iter().cloned()).collect()
    };

    // Only what is built on this platform is sure to be downloaded; cargo-deny looks at the others.
    let host = Command::new(env!("CARGO")).args(["-vV"]).output().expect("cargo runs the tests");
    let host = String::from_utf8_lossy(&host.stdout).into_owned();
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo says its host").to_owned();
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--format-version", "1", "--locked", "--all-features", "--filter-platform", &host]);
    command.current_dir(root());
    let ran = command.output().expect("cargo runs the tests");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let metadata: Value = serde_json::from_slice(&ran.stdout).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("a list");
    assert!(packages.len() > 100);
    let mut wrong = Vec::new();
    for package in packages {
        let name = package["name"].as_str().expect("a package has a name");
        let licence = package["license"].as_str().unwrap_or_default();
        if !is_allowed(licence, &also_allowed(name)) {
            wrong.push(format!("{name}: licence {licence:?}"));
        }
        if denied.contains(name) {
            wrong.push(format!("{name} is banned"));
        }
        let is_ours = package["source"].is_null();
        let is_published = package["source"].as_str().is_some_and(|source| source.starts_with("registry+"));
        if !is_ours && !is_published {
            wrong.push(format!("{name} comes from {}", package["source"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a licence expression can be met by what is allowed: `AND` needs both sides, `OR` (and the older `/`) one.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = expression.trim();
    let outer = |separator: &str| split_outside_parentheses(expression, separator);
    let either = [outer(" OR "), outer("/")].into_iter().find(|parts| parts.len() > 1);
    if let Some(parts) = either {
        return parts.iter().any(|part| is_allowed(part, allowed));
    }
    let both = outer(" AND ");
    if both.len() > 1 {
        return both.iter().all(|part| is_allowed(part, allowed));
    }
    match expression.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => is_allowed(inner, allowed),
        None => allowed.contains(expression),
    }
}

fn split_outside_parentheses<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let (mut depth, mut begin) = (0_usize, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 && at >= begin && text[at..].starts_with(separator) => {
                parts.push(&text[begin..at]);
                begin = at + separator.len();
            }
            _ => {}
        }
    }
    parts.push(&text[begin..]);
    parts
}

#[test]
fn licence_expressions_are_read() {
    let allowed = BTreeSet::from(["MIT".to_owned(), "ISC".to_owned()]);
    for (expression, is_met) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("(GPL-3.0 OR MIT) AND ISC", true),
        ("(GPL-3.0 OR MIT) AND BSD-3-Clause", false),
        ("", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), is_met, "{expression}");
    }
}
