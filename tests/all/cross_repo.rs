//! Uses of a repository's symbols in other repositories, through the packages that it publishes.

use std::path::Path;

use codelode::config::{Config, Freshness};
use codelode::model::Rights;
use codelode::store::Registry;
use codelode::tools::{self, Context, Request};
use serde_json::{Map, Value, json};

use crate::lsp::editor::write;

/// Indexed repositories, each a text in which a line `--- path` begins a file.
struct World {
    folder: tempfile::TempDir,
    cx: Context,
}

impl World {
    fn new(repos: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let config = Config {
            home: folder.path().join("index"),
            freshness: Freshness::Strict,
            watcher: false,
            ..Config::default()
        };
        let world = Self { cx: Context::new(config), folder };
        for (name, project) in repos {
            write(project, &world.at(name));
            world.call("index_folder", json!({"path": world.at(name)}));
        }
        world
    }

    fn at(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().canonicalize().expect("it is there").join(name)
    }

    fn call(&self, tool: &str, args: Value) -> Value {
        answer(&self.cx, tool, args)
    }

    /// Uses elsewhere of a name, as `repository path:line text`.
    fn uses(&self, repo: &str, name: &str) -> Vec<String> {
        let args = json!({"repo": self.at(repo), "identifier": name, "cross_repo": true});
        lines(&self.call("find_references", args)["references"])
    }
}

fn answer(cx: &Context, tool: &str, args: Value) -> Value {
    let args: Map<String, Value> = args.as_object().expect("it is one").clone();
    let answer = tools::call(cx, tool, args, &Request::default());
    assert!(!answer.is_error, "{}", answer.text);
    answer.value
}

/// Items of other repositories, each with the name of its folder.
fn lines(items: &Value) -> Vec<String> {
    let items = items.as_array().unwrap_or_else(|| panic!("{items}")).iter();
    let line = |item: &Value| {
        let (_, name) = item["repo"].as_str()?.split_once('/')?;
        let name = name.rsplit_once('-').map_or(name, |(name, _)| name);
        let rest = [&item["line"], &item["depth"], &item["text"], &item["symbols"]];
        let rest =
            rest.into_iter().filter(|it| !it.is_null()).map(|it| it.as_str().map_or(it.to_string(), str::to_owned));
        let rest: Vec<String> = rest.collect();
        Some(format!("{name} {}:{}", item["file"].as_str()?, rest.join(" ")))
    };
    items.filter_map(line).collect()
}

const TEA: &str = r#"
--- pyproject.toml
[project]
name = "tea-pot"
--- src/teapot/__init__.py
from .brew import Pot as Pot, steep
--- src/teapot/brew.py
def steep(leaf):
    return heat(leaf)


def heat(leaf):
    return leaf


class Pot:
    def pour(self):
        return steep(1)
--- tests/helpers.py
def make_pot(): return 1
"#;

const CAFE: &str = r#"
--- cafe/compat.py
from teapot import Pot
--- cafe/app.py
import teapot
from teapot import steep as brew
from cafe.compat import Pot
from tests.helpers import make_pot

def serve():
    pot = Pot()
    pot.pour()
    return brew(2), teapot.steep(3)


def open_door():
    return serve()
--- tests/helpers.py
def make_pot(): return 2
"#;

#[test]
fn uses_of_a_python_package_are_found_through_aliases_reexports_and_types() {
    // One repository has a module of its own by that name, and one only writes the words.
    let own = "--- teapot/__init__.py\ndef steep(x): return x\n--- a.py\nfrom teapot import steep\nsteep(1)\n";
    let words = "--- b.py\n# teapot\nfrom kettle import steep\nsteep(1)\n";
    let world = World::new(&[("tea", TEA), ("cafe", CAFE), ("own", own), ("words", words)]);
    let steep =
        ["cafe cafe/app.py:2 from teapot import steep as brew", "cafe cafe/app.py:9 return brew(2), teapot.steep(3)"];
    let found = world.uses("tea", "steep");
    assert_eq!(found, [steep[0], steep[1], steep[1]]);
    let found = world.uses("tea", "pour");
    assert_eq!(found, ["cafe cafe/app.py:8 pot.pour()"]);
    assert_eq!(world.uses("tea", "make_pot"), [""; 0], "tests are not published");
    let answer =
        world.call("find_references", json!({"repo": world.at("tea"), "identifier": "Pot", "cross_repo": true}));
    let meta = &answer["_meta"]["cross_repo"];
    assert_eq!(*meta, json!({"packages": ["pypi:tea-pot"], "repositories": 3, "of": 3}), "{answer}");
    let alone = world.call("find_references", json!({"repo": world.at("tea"), "identifier": "Pot"}));
    assert!(lines(&alone["references"]).is_empty() && alone["_meta"]["cross_repo"].is_null(), "{alone}");
}

#[test]
fn importers_and_effects_are_followed_into_other_repositories() {
    let world = World::new(&[("tea", TEA), ("cafe", CAFE)]);
    let importers = |path: &str| {
        let args = json!({"repo": world.at("tea"), "file_path": path, "cross_repo": true});
        lines(&world.call("find_importers", args)["importers"])
    };
    assert_eq!(
        importers("src/teapot/__init__.py"),
        ["cafe cafe/app.py:1", "cafe cafe/app.py:2", "cafe cafe/compat.py:1"]
    );
    assert_eq!(importers("src/teapot/brew.py"), [""; 0]);
    let blast = |depth: u32| {
        let symbol = "src/teapot/brew.py::heat#function";
        let args = json!({"repo": world.at("tea"), "symbol_id": symbol, "max_depth": depth, "cross_repo": true});
        let answer = world.call("get_blast_radius", args);
        assert_eq!(answer["cross_repo_count"], lines(&answer["confirmed"]).len(), "{answer}");
        lines(&answer["confirmed"])
    };
    assert_eq!(blast(1), [""; 0]);
    assert_eq!(blast(2), ["cafe cafe/app.py:2 [\"serve\"]"]);
    assert_eq!(blast(3), ["cafe cafe/app.py:2 [\"serve\",\"open_door\"]"]);
}

#[test]
fn exports_of_npm_packages_lead_to_their_sources() {
    let tea = r#"
--- packages/pot/package.json
{"name": "@shop/pot", "exports": {".": "./dist/main.js", "./cups": {"import": "./src/cups.ts"}}}
--- packages/pot/src/main.ts
export { pour as serve } from "./pour"
--- packages/pot/src/pour.ts
export function pour(n: number) { return n }
--- packages/pot/src/cups.ts
export class Cup { fill() { return 1 } }
--- packages/site/package.json
{"name": "site", "private": true}
--- packages/site/index.js
export function site() {}
"#;
    let cafe = r#"
--- package.json
{"name": "cafe"}
--- a.ts
import { serve } from "@shop/pot"
import { Cup } from "@shop/pot/cups"
import { site } from "site"
serve(1)
new Cup().fill()
site()
--- b.js
const { serve } = require("@shop/pot")
serve(2)
"#;
    let world = World::new(&[("tea", tea), ("cafe", cafe)]);
    let found = world.uses("tea", "pour");
    assert!(found.contains(&"cafe a.ts:4 serve(1)".to_owned()), "{found:#?}");
    assert!(found.contains(&"cafe b.js:2 serve(2)".to_owned()), "{found:#?}");
    assert_eq!(world.uses("tea", "fill"), ["cafe a.ts:5 new Cup().fill()"]);
    assert_eq!(world.uses("tea", "site"), [""; 0], "it is private");
}

#[test]
fn crates_modules_and_artifacts_are_bound_by_their_manifests() {
    let rust = r#"
--- Cargo.toml
[workspace]
members = ["crates/*"]
--- crates/leaf/Cargo.toml
[package]
name = "tea-leaf"
--- crates/leaf/src/lib.rs
mod brew;
pub use brew::{steep, Pot};
--- crates/leaf/src/brew.rs
pub fn steep(n: u32) -> u32 { n }
pub struct Pot;
impl Pot { pub fn pour(&self) -> u32 { steep(1) } }
"#;
    let user = r#"
--- Cargo.toml
[package]
name = "cafe"
--- src/lib.rs
mod app;
--- src/app.rs
use tea_leaf::{steep, Pot};
pub fn serve() -> u32 { let pot = Pot; pot.pour() + steep(2) + tea_leaf::steep(3) }
"#;
    let world = World::new(&[("leaf", rust), ("cafe", user)]);
    assert_eq!(world.uses("leaf", "pour").len(), 1, "{:?}", world.uses("leaf", "pour"));
    assert_eq!(world.uses("leaf", "steep").len(), 3, "{:?}", world.uses("leaf", "steep"));

    let go = "--- go.mod\nmodule example.org/tea/v2\n--- pot/pot.go\npackage pot\n\nfunc Pour() int { return 1 }\n\ntype Cup struct{}\n\nfunc (c *Cup) Fill() {}\n";
    let user = "--- go.mod\nmodule example.org/cafe\n--- main.go\npackage main\n\nimport \"example.org/tea/v2/pot\"\n\nfunc main() {\n\tpot.Pour()\n\tc := &pot.Cup{}\n\tc.Fill()\n}\n";
    let world = World::new(&[("tea", go), ("cafe", user)]);
    assert_eq!(world.uses("tea", "Pour"), ["cafe main.go:6 pot.Pour()"]);
    assert_eq!(world.uses("tea", "Fill"), ["cafe main.go:8 c.Fill()"]);

    let java = "--- pom.xml\n<project><groupId>org.tea</groupId><artifactId>pot</artifactId></project>\n\
                --- src/main/java/org/tea/Pot.java\npackage org.tea;\n\npublic class Pot {\n  public int pour() { return 1; }\n}\n";
    let user = "--- src/main/java/org/cafe/Cafe.java\npackage org.cafe;\n\nimport org.tea.Pot;\n\nclass Cafe {\n  int serve(Pot pot) { return pot.pour(); }\n}\n";
    let world = World::new(&[("tea", java), ("cafe", user)]);
    assert_eq!(
        world.uses("tea", "pour"),
        ["cafe src/main/java/org/cafe/Cafe.java:6 int serve(Pot pot) { return pot.pour(); }"]
    );
}

#[test]
fn a_caller_is_told_of_no_repository_that_it_may_not_see() {
    let vault = "--- safe.py\nfrom teapot import steep\nsteep('secret')\n";
    let world = World::new(&[("tea", TEA), ("cafe", CAFE), ("vault", vault)]);
    let id = |name: &str| Registry::local_id(&world.at(name));
    let seen_by = |names: &[&str]| {
        let globs: Vec<String> = names.iter().map(|name| id(name)).collect();
        let cx = world.cx.seen_by("alice", Rights::to_see(&globs).expect("they are globs"));
        answer(&cx, "find_references", json!({"repo": id("tea"), "identifier": "steep", "cross_repo": true}))
    };
    let all = seen_by(&["tea", "cafe", "vault"]);
    assert!(all.to_string().contains("safe.py") && all["_meta"]["cross_repo"]["of"] == 2, "{all}");
    let some = seen_by(&["tea", "cafe"]);
    assert!(!some.to_string().contains("safe.py") && !some.to_string().contains(&id("vault")), "{some}");
    assert_eq!(some["_meta"]["cross_repo"]["of"], 1, "{some}");
}

#[test]
fn what_is_edited_elsewhere_is_seen_at_once() {
    let world = World::new(&[("tea", TEA), ("cafe", CAFE)]);
    assert_eq!(world.uses("tea", "pour").len(), 1);
    let more = world.at("cafe").join("cafe/more.py");
    std::fs::write(&more, "from teapot import Pot\nPot().pour()\n").expect("it is ours");
    assert_eq!(world.uses("tea", "pour").len(), 2);
    std::fs::remove_file(Path::new(&more)).expect("it is ours");
    assert_eq!(world.uses("tea", "pour").len(), 1);
}
