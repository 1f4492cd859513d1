//! Files that say something about others: settings, owners, manifests of packages, projects of dbt.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::Place;
use super::sweep::Asker;

/// About so many bytes of a file.
const SIZE: usize = 400_000;

fn many(piece: &str) -> String {
    piece.repeat(SIZE / piece.len())
}

/// Numbered pieces that fill a file.
fn each(piece: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < SIZE {
        text += &piece(number);
        number += 1;
    }
    text
}

/// Asks about the facts of files, by tools that read them; every limit of a call holds.
fn check(about: &str, files: Vec<(String, String)>, questions: &[(&'static str, Value)]) {
    let place = Place::with(files.iter().map(|(name, text)| (name.as_str(), text.clone())));
    let mut asker = Asker::new(&place, about);
    for (tool, arguments) in questions {
        asker.ask(tool, arguments.clone());
    }
    let (_, breaches) = asker.end();
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

fn named(files: &[(&str, String)]) -> Vec<(String, String)> {
    files.iter().map(|(name, text)| ((*name).to_owned(), text.clone())).collect()
}

#[test]
fn a_project_of_dbt_says_no_more_than_it_holds() {
    let questions = [
        ("index_folder", json!({})),
        ("search_columns", json!({"query": "a"})),
        ("search_symbols", json!({"query": "a", "fields": ["ecosystem_context"]})),
        ("find_references", json!({"identifier": "a"})),
        ("get_blast_radius", json!({"symbol": "a"})),
    ];
    let project = ("dbt_project.yml", "name: a\n".to_owned());
    let model = ("m/a.sql", "select 1".to_owned());
    let long = "a".repeat(SIZE);
    let described = format!("models:\n - name: a\n   description: \"{}\"\n", many("{{doc('a')}}"));
    let keys = format!("? {}\n: d\n", "{".repeat(60) + "a: b" + &"}: c".repeat(59) + "}");
    for (about, files) in [
        ("docs", vec![("m/d.md", format!("{{% docs a %}}{long}{{% enddocs %}}")), ("m/s.yml", described)]),
        ("columns", vec![("m/s.yml", format!("models:\n - name: {long}\n   columns:\n{}", many("    - name: a\n")))]),
        ("tables", vec![("m/s.yml", format!("sources:\n - name: {long}\n   tables:\n{}", many("    - name: a\n")))]),
        ("keys", vec![("m/s.yml", keys)]),
        ("facts", vec![("m/s.yml", format!("models:\n{}", many(" - {name: a, description: \"{{doc('a')}}\"}\n")))]),
        ("uses", vec![("m/b.sql", many("{{ref('a')}}"))]),
    ] {
        check(about, named(&[vec![project.clone(), model.clone()], files].concat()), &questions);
    }
    // Each of many projects in one another would read all that is below it.
    let mut files: Vec<(String, String)> =
        (0..100).map(|depth| ("a/".repeat(depth) + "dbt_project.yml", "name: a\n".to_owned())).collect();
    files.push(("a/".repeat(100) + "s.yml", format!("models:\n{}", many(" - {name: a, columns: [{name: b}]}\n"))));
    check("projects", files, &questions);
}

#[test]
fn any_number_of_owners_and_patterns_is_read_in_time() {
    let questions = [
        ("index_folder", json!({})),
        ("search_symbols", json!({"query": "f", "fields": ["ecosystem_context"]})),
        ("review_changes", json!({})),
    ];
    let code = |number: usize| (format!("d{}/f{number}.py", number % 7), "def f(a): pass\n".to_owned());
    let owners = [
        each(|number| format!("/d{number}/x @u{number}\n")),
        each(|number| format!("*a{number}*b*c @u\n")),
        many("* @u\n"),
    ];
    let ignored = each(|number| format!("*a{number}*b*c\n"));
    let listed = each(|number| format!("\"*a{number}*b*c\","));
    let all = owners.map(|text| ("CODEOWNERS", text)).into_iter().chain([
        (".gitignore", ignored),
        (".codelode.toml", format!("ignore = [{listed}]\n")),
        (".codelode.toml", format!("tests = [{listed}]\nentry_points = [{listed}]\n")),
        (".codelode.toml", each(|number| format!("k{number} = 1\n"))),
    ]);
    for (name, text) in all {
        let about = format!("{name} {text:.30}");
        check(&about, [vec![(name.to_owned(), text)], (0..50).map(code).collect()].concat(), &questions);
    }
}

#[test]
fn scripts_of_pages_and_cells_are_found_in_time() {
    let questions = [("index_folder", json!({})), ("search_symbols", json!({"query": "f"}))];
    for (name, text) in [
        ("tags.vue", many("<script ") + "/>"),
        ("ends.vue", "<script>".to_owned() + &many("</")),
        ("nested.ipynb", "{\"cells\":".to_owned() + &many("[")),
        ("quotes.ipynb", format!("{{\"cells\":[{{\"cell_type\":\"code\",\"source\":[\"{}\"]}}]}}", many("\\\""))),
        ("keys.ipynb", format!("{{{}\"cells\":[]}}", each(|number| format!("\"k{number}\":1,")))),
        (
            "bounds.kt",
            format!("fun <{}T> f() where {}T:A {{}}", each(|n| format!("T{n},")), each(|n| format!("T{n}:A,"))),
        ),
    ] {
        check(name, named(&[(name, text)]), &questions);
    }
}

#[test]
fn packages_are_looked_for_in_bounded_time() {
    let questions = [("search_symbols", json!({"query": "f", "deps": true}))];
    let dependency = |number: usize| {
        format!("<dependency><groupId>${{g{number}}}</groupId><artifactId>${{a{number}}}</artifactId></dependency>")
    };
    let locked =
        |number: usize| format!("[[package]]\nname=\"a{number}\"\nversion=\"1.{number}\"\nsource=\"registry+x\"\n");
    let imports = |piece: &dyn Fn(usize) -> String| (0..1_000).map(piece).collect::<String>();
    for (about, files) in [
        (
            "maven",
            vec![("pom.xml", each(dependency)), ("A.java", imports(&|n| format!("import b{n}.C;\n")) + "class A{}")],
        ),
        (
            "gradle",
            vec![
                ("build.gradle", each(|n| format!("implementation \"a:b{n}:$c{n}\"\n"))),
                ("A.java", imports(&|n| format!("import b{n}.C;\n")) + "class A{}"),
            ],
        ),
        ("cargo", vec![("Cargo.lock", each(locked)), ("a.rs", imports(&|n| format!("use a{n}::b;\n")) + "fn f(){}")]),
        (
            "go",
            vec![
                ("go.mod", format!("module x\nrequire (\n{})\n", each(|n| format!("a{} v1.0.{n}\n", n % 9)))),
                (
                    "a.go",
                    format!("package a\nimport (\n{})\nfunc f(){{}}", imports(&|n| format!("\"a{}/b{n}\"\n", n % 9))),
                ),
            ],
        ),
        ("npm", vec![("a.ts", imports(&|n| format!("import a{n} from \"a{n}\";\n")) + "function f(){}")]),
    ] {
        check(about, named(&files), &questions);
    }
}

/// Folder of Python's packages.
const SITE: &str = ".venv/lib/python3.11/site-packages";

#[test]
fn links_in_place_of_packages_lead_nowhere() {
    let text = |text: &str| text.to_owned();
    let (record, honest) = (format!("{SITE}/evil-1.dist-info/RECORD"), format!("{SITE}/honest.py"));
    let place = Place::with([
        ("go.mod", text("module x\nrequire evil.org/a v1.0.0\n")),
        ("a.go", text("package x\nimport \"evil.org/a\"\nfunc f() { a.G() }\n")),
        (".venv/pyvenv.cfg", text("home = /nowhere/bin\n")),
        (record.as_str(), text("evil/stolen.py,,\nevil/deep/stolen.py,,\nhonest.py,,\n")),
        (honest.as_str(), text("def honest(): pass\n")),
        ("a.py", text("import evil.stolen\nimport honest\n")),
        ("a.ts", text("import { g } from 'evil';\ng();\n")),
    ]);
    let outside = place.0.path().join("outside");
    for file in ["stolen.py", "deep/stolen.py", "deep/__init__.py"] {
        let file = outside.join("python").join(file);
        fs::create_dir_all(file.parent().expect("it has one")).expect("the folder is ours");
        fs::write(file, "def stolen_of_python(): pass\n").expect("the folder is ours");
    }
    for (file, text) in [
        ("go/a.go", "package a\nfunc stolen_of_go() {}\n"),
        ("web/node_modules/evil/package.json", r#"{"name": "evil", "version": "1.0.0"}"#),
        ("web/node_modules/evil/a.js", "export function stolen_of_javascript() {}\n"),
    ] {
        let file = outside.join(file);
        fs::create_dir_all(file.parent().expect("it has one")).expect("the folder is ours");
        fs::write(file, text).expect("the folder is ours");
    }
    let source = place.source();
    for (link, target) in [
        (format!("{SITE}/evil"), "python"),
        ("vendor/evil.org/a".into(), "go"),
        ("node_modules/evil".into(), "web/node_modules/evil"),
    ] {
        let link = source.join(link);
        fs::create_dir_all(link.parent().expect("it has one")).expect("the folder is ours");
        symlink(outside.join(target), link).expect("the folder is ours");
    }
    let mut asker = Asker::new(&place, "links");
    let found = asker.ask("search_symbols", json!({"query": "honest", "deps": true}));
    assert!(
        found.to_string().contains("pypi:evil@1 honest.py") || found.to_string().contains("honest.py::honest"),
        "{found}"
    );
    for name in ["stolen_of_python", "stolen_of_go", "stolen_of_javascript"] {
        let found = asker.ask("search_symbols", json!({"query": name, "deps": true}));
        assert!(!found["results"].to_string().contains("stolen"), "{found}");
    }
    let (_, breaches) = asker.end();
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}
