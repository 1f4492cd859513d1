//! Installed packages, searched apart from the project that imports them.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::client::Server;
use super::http::tokens;
use super::lsp::editor::write;
use super::lsp::packages::PROJECT;
use super::web::Site;

const SITE: &str = ".venv/lib/python3.11/site-packages";

/// A server for a project in a folder of its own.
fn server(folder: &Path, project: &str) -> Server {
    let root = folder.join("project");
    write(project, &root);
    let mut command = Command::new(env!("CARGO_BIN_EXE_codelode"));
    command.arg("serve").env("CODE_INDEX_PATH", folder.join("home")).current_dir(root);
    command.env("CARGO_HOME", folder.join("cargo")).env("GOMODCACHE", folder.join("go")).env("HOME", folder);
    Server::start(command)
}

/// The ids of a search's results, each with its repository, of a package without the hash.
fn hits(answer: &Value) -> Vec<String> {
    let of = |hit: &Value| {
        let repo = hit["repo"].as_str().unwrap_or("-");
        format!("{} {}", repo.split('~').next().unwrap_or(repo), hit["id"].as_str().unwrap_or("?"))
    };
    answer["results"].as_array().map(|hits| hits.iter().map(of).collect()).unwrap_or_default()
}

#[test]
fn packages_are_searched_on_request_and_read_by_their_ids() {
    let folder = tempfile::tempdir().expect("there is room");
    let mut server = server(folder.path(), PROJECT);
    let found = server.call("search_symbols", json!({"query": "connect", "deps": true}));
    assert_eq!(hits(&found)[..1], ["pypi:shop-lib@1.2 shoplib/core.py::connect#function"], "{found}");
    let found = server.call("search_symbols", json!({"query": "brew", "deps": true}));
    assert_eq!(hits(&found), ["npm:tea@2.0.1 lib/tea.js::brew#function"], "{found}");
    let args = json!({"repo": "pypi:shop-lib@1.2", "symbol_id": "shoplib/core.py::Client.order#method"});
    let source = server.call("get_symbol_source", args);
    assert!(source["source"].as_str().is_some_and(|text| text.contains("return what")), "{source}");
    let refs = server.call("find_references", json!({"repo": "shop-lib", "identifier": "Client"}));
    assert!(refs.to_string().contains("shoplib/__init__.py"), "{refs}");
    // The project's own results, and the list of repositories, hold none of it.
    let own = server.call("search_symbols", json!({"query": "connect"}));
    assert!(!own.to_string().contains("shoplib/core.py"), "{own}");
    let everywhere = server.call("search_symbols", json!({"query": "brew", "repos": ["*"]}));
    assert_eq!(hits(&everywhere), [""; 0], "{everywhere}");
    let listed = server.call("list_repos", json!({}));
    assert_eq!(listed["count"], 1, "{listed}");
    let listed = server.call("list_repos", json!({"deps": true}));
    let ids = listed_ids(&listed);
    let versions: Vec<&str> = ids.iter().filter_map(|id| Some(id.rsplit_once('~')?.0)).collect();
    assert_eq!(versions, ["npm:tea@2.0.1", "pypi:shop-lib@1.2"], "each has the hash of its files: {listed}");
    server.close();
}

/// The ids in a list of repositories or packages.
fn listed_ids(listed: &Value) -> Vec<String> {
    let repos = listed["repos"].as_array().into_iter().flatten();
    repos.filter_map(|one| Some(one["repo"].as_str()?.to_owned())).collect()
}

#[test]
fn one_index_serves_all_projects_and_follows_a_package_that_was_changed() {
    let folder = tempfile::tempdir().expect("there is room");
    let mut first = server(folder.path(), PROJECT);
    first.call("search_symbols", json!({"query": "connect", "deps": true}));
    first.close();
    let moved = folder.path().join("first");
    fs::rename(folder.path().join("project"), &moved).expect("it is ours");
    let mut second = server(folder.path(), PROJECT);
    let found = second.call("search_symbols", json!({"query": "connect", "deps": true}));
    assert_eq!(hits(&found)[..1], ["pypi:shop-lib@1.2 shoplib/core.py::connect#function"], "{found}");
    second.close();
    let indexes = fs::read_dir(folder.path().join("home/codelode/packages")).expect("they are there").count();
    assert_eq!(indexes, 2, "one for each package, since both copies hold the same");
    let core = folder.path().join("project").join(SITE).join("shoplib/core.py");
    fs::write(&core, "def reconnect():\n    pass\n").expect("it is ours");
    let mut third = server(folder.path(), "");
    let found = third.call("search_symbols", json!({"query": "reconnect", "deps": true}));
    assert_eq!(hits(&found), ["pypi:shop-lib@1.2 shoplib/core.py::reconnect#function"], "{found}");
    third.close();
}

#[test]
fn links_secrets_and_lists_that_lead_elsewhere_bring_nothing_in() {
    let folder = tempfile::tempdir().expect("there is room");
    let project = format!(
        "--- .venv/pyvenv.cfg\n--- {SITE}/evil-1.dist-info/RECORD\nevil/__init__.py,,\nevil/../../../../../../secret.py,,\n\
         evil/out/secret.py,,\n/secret.py,,\nevil/id_rsa,,\n--- {SITE}/evil/__init__.py\nharmless = 1\n\
         --- {SITE}/evil/.env\nTOKEN_OF_EVIL = 1\n--- {SITE}/evil/id_rsa.py\nharmless_key = 2\n--- a.py\nimport evil\n"
    );
    write(
        "--- outside/secret.py\ndef secret_outside(): pass\n--- secret.py\ndef secret_above(): pass\n",
        folder.path(),
    );
    let site = folder.path().join("project").join(SITE);
    fs::create_dir_all(site.join("evil")).expect("it is ours");
    std::os::unix::fs::symlink(folder.path().join("outside"), site.join("evil/out")).expect("it is ours");
    let mut server = server(folder.path(), &project);
    let found = server.call("search_symbols", json!({"query": "harmless", "deps": true}));
    assert!(hits(&found).contains(&"pypi:evil@1 evil/__init__.py::harmless#constant".to_owned()), "{found}");
    for name in ["secret_outside", "secret_above", "TOKEN_OF_EVIL"] {
        let found = server.call("search_symbols", json!({"query": name, "deps": true}));
        assert!(!hits(&found).iter().any(|hit| hit.contains(name)), "{found}");
        let found = server.call("search_text", json!({"query": name, "repo": "pypi:evil@1"}));
        assert_eq!(found["results"].as_array().map(Vec::len), Some(0), "{found}");
    }
    server.close();
}

#[test]
fn a_lock_file_leads_to_no_other_folder() {
    let folder = tempfile::tempdir().expect("there is room");
    let registry = "cargo/registry/src/index.crates.io-0";
    write(
        &format!(
            "--- {registry}/tea-1.2.0/src/lib.rs\npub fn steep() {{}}\n--- outside/src/lib.rs\npub fn outside() {{}}\n"
        ),
        folder.path(),
    );
    let lock = |version: &str| {
        format!(
            "--- Cargo.lock\n[[package]]\nname = \"tea\"\nversion = \"{version}\"\nsource = \"registry+https://example.org\"\n\
             --- src/lib.rs\nuse tea::steep;\npub fn brew() {{ steep() }}\n"
        )
    };
    let mut server = server(folder.path(), &lock("1.2.0/../../../../../outside"));
    let found = server.call("search_symbols", json!({"query": "outside", "deps": true}));
    assert_eq!(found["details"]["not_installed"], json!(["tea"]), "{found}");
    server.close();
}

#[test]
fn crates_and_modules_are_found_by_the_files_that_lock_them() {
    let folder = tempfile::tempdir().expect("there is room");
    let registry = "cargo/registry/src/index.crates.io-0";
    let cached = format!(
        "--- {registry}/tea-leaf-1.2.0/Cargo.toml\n[package]\nname = \"tea-leaf\"\nversion = \"1.2.0\"\n\
         --- {registry}/tea-leaf-1.2.0/src/lib.rs\npub fn steep() {{}}\n--- {registry}/tea-leaf-1.0.0/src/lib.rs\npub fn old() {{}}\n\
         --- go/example.org/!tea/v2@v2.1.0/go.mod\nmodule example.org/Tea/v2\n\
         --- go/example.org/!tea/v2@v2.1.0/pot/pot.go\npackage pot\n\nfunc Pour() {{}}\n"
    );
    write(&cached, folder.path());
    let lock = "version = 4\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\ndependencies = [\"tea-leaf\"]\n\n\
                [[package]]\nname = \"tea-leaf\"\nversion = \"1.2.0\"\nsource = \"registry+https://example.org\"\n";
    let project = format!(
        "--- Cargo.lock\n{lock}\n--- Cargo.toml\n[package]\nname = \"shop\"\n--- src/lib.rs\nuse tea_leaf::steep;\nuse std::fmt::Debug;\n\
         pub fn brew(it: &dyn Debug) {{ steep() }}\n--- go.mod\nmodule example.org/shop\n\nrequire (\n\texample.org/Tea/v2 v2.1.0 // indirect\n)\n\
         --- main.go\npackage main\n\nimport (\n\t\"fmt\"\n\t\"example.org/Tea/v2/pot\"\n\t\"example.org/none\"\n)\n\n\
         func main() {{ pot.Pour(); fmt.Println(); none.A() }}\n"
    );
    let mut server = server(folder.path(), &project);
    let found = server.call("search_symbols", json!({"query": "steep", "deps": true}));
    assert_eq!(hits(&found), ["cargo:tea-leaf@1.2.0 src/lib.rs::steep#function"], "{found}");
    assert_eq!(found["_meta"]["not_installed"], json!(["example.org/none"]), "{found}");
    let found = server.call("search_symbols", json!({"query": "Pour", "deps": true}));
    assert_eq!(hits(&found), ["golang:example.org/Tea/v2@v2.1.0 pot/pot.go::Pour#function"], "{found}");
    server.close();
}

/// An archive of one file, not compressed.
pub fn archive(path: &str, text: &str) -> Vec<u8> {
    let short = |number: usize| (number as u16).to_le_bytes().to_vec();
    let long = |number: usize| (number as u32).to_le_bytes().to_vec();
    // Version, flags, method, time, date, checksum; sizes; lengths of name and extra field.
    let common = [
        vec![10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        long(text.len()),
        long(text.len()),
        short(path.len()),
        short(0),
    ];
    let file = [b"PK\x03\x04".to_vec(), common.concat(), path.into(), text.into()].concat();
    let entry = [b"PK\x01\x02".to_vec(), short(10), common.concat(), vec![0; 14], path.into()].concat();
    let end = [b"PK\x05\x06".to_vec(), vec![0; 4], short(1), short(1), long(entry.len()), long(file.len()), short(0)]
        .concat();
    [file, entry, end].concat()
}

#[test]
fn archives_of_sources_are_unpacked_for_those_who_import_them() {
    let folder = tempfile::tempdir().expect("there is room");
    let place = folder.path().join(".m2/repository/org/example/tea/1.5");
    fs::create_dir_all(&place).expect("it is ours");
    let source = "package org.example.tea;\n\npublic class Leaf {\n  public void steep() {}\n}\n";
    fs::write(place.join("tea-1.5-sources.jar"), archive("org/example/tea/Leaf.java", source)).expect("it is ours");
    let project = "--- pom.xml\n<project><properties><tea>1.5</tea></properties><dependencies><dependency>\n<groupId>org.example</groupId>\n\
                   <artifactId>tea</artifactId>\n<version>${tea}</version></dependency></dependencies></project>\n\
                   --- src/main/java/Shop.java\nimport org.example.tea.Leaf;\nimport java.util.List;\n\nclass Shop { void brew(Leaf leaf) { leaf.steep(); } }\n";
    let mut server = server(folder.path(), project);
    let found = server.call("search_symbols", json!({"query": "steep", "deps": true}));
    assert_eq!(hits(&found), ["maven:org.example:tea@1.5 org/example/tea/Leaf.java::Leaf.steep#method"], "{found}");
    let args = json!({"repo": "maven:org.example:tea@1.5", "symbol_id": "org/example/tea/Leaf.java::Leaf#class"});
    let source = server.call("get_symbol_source", args);
    assert!(source.to_string().contains("public void steep"), "{source}");
    server.close();
}

#[test]
fn artifacts_are_found_by_the_files_of_gradle() {
    let folder = tempfile::tempdir().expect("there is room");
    let source = |class: &str| {
        format!("package org.example.{class};\n\npublic class Leaf {{\n  public void {class}() {{}}\n}}\n")
    };
    for (class, version) in
        [("tea", "1.5"), ("tea", "1.6"), ("milk", "2.0"), ("oil", "3.0"), ("salt", "4.1"), ("rice", "5.0")]
    {
        let place =
            folder.path().join(format!(".gradle/caches/modules-2/files-2.1/org.example/{class}/{version}/0a1b"));
        fs::create_dir_all(&place).expect("it is ours");
        let packed = archive(&format!("org/example/{class}/Leaf.java"), &source(class));
        fs::write(place.join(format!("{class}-{version}-sources.jar")), packed).expect("it is ours");
    }
    let project = "--- build.gradle.kts\nval teaVersion = \"1.5\"\ndependencies {\n    implementation(\"org.example:tea:$teaVersion\")\n\
                   \x20   implementation(libs.milk)\n    implementation(\"org.example:salt:4.0\")\n}\n\
                   --- gradle/libs.versions.toml\n[versions]\nmilk = \"2.0\"\n[libraries]\nmilk = { module = \"org.example:milk\", version.ref = \"milk\" }\n\
                   --- old/build.gradle\ndependencies {\n  compile group: 'org.example', name: 'oil', version: '3.0'\n}\n\
                   --- gradle.lockfile\n# This file\norg.example:rice:5.0=compileClasspath,runtimeClasspath\nempty=\n\
                   --- src/main/java/Shop.java\nimport org.example.tea.Leaf;\nimport org.example.milk.*;\nimport org.example.salt.Leaf;\n\
                   import org.example.rice.Leaf;\nimport org.example.none.Leaf;\n\nclass Shop { void brew(Leaf leaf) { leaf.tea(); } }\n\
                   --- old/src/Old.java\nimport org.example.oil.Leaf;\n\nclass Old { Leaf leaf; }\n";
    let mut server = server(folder.path(), project);
    let found = server.call("search_symbols", json!({"query": "Leaf", "deps": true, "kind": "class"}));
    let mut packages: Vec<String> = hits(&found);
    packages.sort();
    let expected = ["milk@2.0", "oil@3.0", "rice@5.0", "salt@4.1", "tea@1.5"].map(|package| {
        let name = package.split('@').next().expect("it has a name");
        format!("maven:org.example:{package} org/example/{name}/Leaf.java::Leaf#class")
    });
    assert_eq!(packages, expected, "{found}");
    assert_eq!(found["_meta"]["not_installed"], json!(["org.example.none"]), "{found}");
    server.close();
}

#[test]
fn over_http_a_package_is_opened_only_below_a_root() {
    let site = Site::start_with(&["--root", "."], &[("VIRTUAL_ENV", "/nowhere")]);
    let project = site.folder("shelf");
    write(PROJECT, &project);
    let mut client = site.client();
    client.open("2025-06-18");
    let found = client.call("search_symbols", json!({"query": "connect", "deps": true, "repo": project}));
    assert!(found.to_string().contains("pypi:shop-lib@1.2"), "{found}");
    // The same packages behind a link that leads out of the roots.
    let elsewhere = tempfile::tempdir().expect("there is room");
    let outside = elsewhere.path().join("venv");
    write(
        "--- pyvenv.cfg\n--- lib/python3.11/site-packages/hidden-1.dist-info/RECORD\nhidden.py,,\n\
           --- lib/python3.11/site-packages/hidden.py\ndef hidden_name(): pass\n",
        &outside,
    );
    let other = site.folder("linked");
    write("--- a.py\nimport hidden\n", &other);
    std::os::unix::fs::symlink(&outside, other.join(".venv")).expect("it is ours");
    let found = client.call("search_symbols", json!({"query": "hidden_name", "deps": true, "repo": other}));
    assert!(found.to_string().contains("not_installed") && !found.to_string().contains("hidden.py"), "{found}");
    // A person at the machine may index it, which shows it to nobody else.
    let own = site.run(&["search", "hidden_name", "--deps", "--repo", other.to_str().expect("a path")]);
    assert!(own.contains("hidden.py"), "{own}");
    let args = json!({"repo": "pypi:hidden@1", "symbol_id": "hidden.py::hidden_name#function"});
    let source = client.call("get_symbol_source", args);
    assert!(source.to_string().contains("not_indexed") || source.to_string().contains("access_denied"), "{source}");
    let listed = client.call("list_repos", json!({"deps": true}));
    assert!(listed.to_string().contains("shop-lib") && !listed.to_string().contains("hidden"), "{listed}");
}

#[test]
fn a_package_is_seen_by_those_who_see_a_repository_that_has_it() {
    let folder = tempfile::tempdir().expect("there is room");
    let rights = |name: &str, index: bool| format!("repos = [\"local/{name}-*\"]\nindex = {index}");
    let (ann, ben) = (rights("one", true), rights("two", true));
    let (eve, reader) = (rights("three", true), rights("one", false));
    let callers = [("ann", ann.as_str()), ("ben", &ben), ("eve", &eve), ("reader", &reader)];
    let path = tokens(folder.path(), &callers);
    let site = Site::start(&["--root", ".", "--tokens", path.to_str().expect("a path")]);
    let patched = |name: &str, word: &str| {
        let files = format!(
            "--- node_modules/leftpad/package.json\n{{\"name\": \"leftpad\", \"version\": \"1.0.0\", \"main\": \"pad.js\"}}\n\
             --- node_modules/leftpad/pad.js\nexport function pad_{word}(text) {{ return text; }}\n\
             --- main.js\nimport {{ pad_{word} }} from 'leftpad';\npad_{word}('a');\n"
        );
        let project = site.folder(name);
        write(&files, &project);
        project
    };
    let (one, two) = (patched("one", "of_ann"), patched("two", "of_ben"));
    let client = |name: &str| {
        let mut client = site.client().with_token(&super::http::token(name));
        client.open("2025-06-18");
        client
    };
    let (mut ann, mut ben, mut eve, mut reader) = (client("ann"), client("ben"), client("eve"), client("reader"));
    for (client, project, own) in [(&mut ann, &one, "of_ann"), (&mut ben, &two, "of_ben")] {
        let found = client.call("search_symbols", json!({"query": "pad", "deps": true, "repo": project}));
        assert_eq!(hits(&found), [format!("npm:leftpad@1.0.0 pad.js::pad_{own}#function")], "{found}");
        // One name and version, and each has its own.
        for name in ["leftpad", "npm:leftpad", "npm:leftpad@1.0.0"] {
            let text = client.call("get_file_content", json!({"repo": name, "file_path": "pad.js"}));
            assert!(text["content"].as_str().is_some_and(|text| text.contains(own)), "{name}: {text}");
        }
    }
    let of_ann = listed_ids(&ann.call("list_repos", json!({"deps": true})));
    let seen = listed_ids(&reader.call("list_repos", json!({"deps": true})));
    assert!(of_ann.len() == 1 && seen == of_ann, "who may read the repository may read what it has: {seen:?}");
    // To whoever sees neither repository, its packages are not there, by any name.
    assert_eq!(listed_ids(&eve.call("list_repos", json!({"deps": true}))), [""; 0]);
    for name in ["leftpad", "npm:leftpad@1.0.0", &of_ann[0]] {
        for client in [&mut eve, &mut ben] {
            let asked = [
                ("get_file_content", json!({"repo": name, "file_path": "pad.js"})),
                ("get_file_outline", json!({"repo": name, "file_path": "pad.js"})),
                ("search_text", json!({"repo": name, "query": "pad_of_ann"})),
            ];
            for (tool, arguments) in asked {
                let told = client.call(tool, arguments).to_string();
                assert!(!told.contains("return text") || told.contains("of_ben"), "{tool} {name}: {told}");
                assert!(!told.contains("function pad_of_ann"), "{tool} {name}: {told}");
            }
        }
    }
}
