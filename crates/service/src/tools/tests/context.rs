//! Context providers through the tools.

use std::time::Duration;

use serde_json::{Value, json};

use crate::tools::{Context, Envelope, Request, call};
use codelode_base::config::Config;

const SCHEMA: &str = "models:
  - name: stg_orders
    description: Orders as they come.
    columns:
      - {name: order_id, description: Key of an order.}
      - {name: customer_id, description: Who ordered.}
  - name: customers
    columns:
      - {name: customer_id, description: Key of a customer.}
      - {name: first_order, description: Date of the first order of a customer_id.}
";

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().expect("there is room"));
        place.write("dbt_project.yml", "name: shop\n");
        place.write("models/schema.yml", SCHEMA);
        place.write("models/stg_orders.sql", "select 1");
        place.write("CODEOWNERS", "*.py @python\n");
        place.write("tools/package.json", r#"{"name": "tools"}"#);
        place.write("tools/load.py", "def load(path):\n    return path\n");
        place
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join("code").join(path);
        std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("the folder is ours");
        std::fs::write(path, text).expect("the folder is ours");
    }

    fn ask(&self, providers: bool, tool: &str, args: Value) -> Envelope {
        let config = Config { home: self.0.path().join("index"), context_providers: providers, ..Config::default() };
        let patience = Some(Duration::from_secs(60));
        let request = Request { directory: Some(self.0.path().join("code")), patience, ..Request::default() };
        let Value::Object(mut args) = args else { panic!("arguments are an object") };
        args.insert("format".to_owned(), "json".into());
        call(&Context::new(config), tool, args, &request)
    }

    fn columns(&self, args: Value) -> Vec<String> {
        let answer = self.ask(true, "search_columns", args).value;
        let results = answer["results"].as_array().unwrap_or_else(|| panic!("{answer}"));
        results.iter().map(|it| format!("{} {}", it["model"], it["column"]).replace('"', "")).collect()
    }
}

#[test]
fn columns_are_found_by_name_description_and_model() {
    let place = Place::new();
    let found = place.columns(json!({"query": "customer_id"}));
    assert_eq!(found, ["stg_orders customer_id", "customers customer_id", "customers first_order"]);
    assert_eq!(place.columns(json!({"query": "customer_id", "model_pattern": "stg_*"})), ["stg_orders customer_id"]);
    assert_eq!(place.columns(json!({"query": "KEY order"})), ["stg_orders order_id"]);
    assert_eq!(place.columns(json!({"query": "", "max_results": 1})), ["stg_orders order_id"]);
    let answer = place.ask(true, "search_columns", json!({"query": "order_id"})).value;
    assert_eq!(answer["results"][0]["file"], "models/stg_orders.sql");
    assert_eq!(answer["results"][0]["description"], "Key of an order.");
    let wrong = place.ask(true, "search_columns", json!({"query": "a", "model_pattern": "["}));
    assert_eq!(wrong.value["code"], "invalid_arguments");

    // An edit is in the next answer.
    place.write("models/schema.yml", "models: [{name: stg_orders, columns: [{name: total}]}]\n");
    assert_eq!(place.columns(json!({"query": ""})), ["stg_orders total"]);
}

#[test]
fn a_symbol_says_who_changed_it_last() {
    let place = Place::new();
    let blame = || {
        let args = json!({"symbol_id": "tools/load.py::load#function", "blame": true});
        let answer = place.ask(true, "get_symbol_source", args).value;
        // Also when the folder has just become a repository, which has a store of its own.
        assert_eq!(answer["_meta"]["freshness"], "fresh", "{answer}");
        answer["blame"].clone()
    };
    assert!(
        blame()["problem"].as_str().is_some_and(|problem| problem.contains("not in a git repository")),
        "{}",
        blame()
    );
    let git = |author: &str, args: &[&str]| {
        let name = format!("user.name={author}");
        let identity = ["-c", &name, "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        let mut command = std::process::Command::new("git");
        command.args(identity).args(args).current_dir(place.0.path().join("code"));
        assert!(command.output().expect("the tests need git").status.success(), "git {args:?}");
    };
    git("Ada", &["init", "-q"]);
    git("Ada", &["add", "."]);
    git("Ada", &["commit", "-qm", "first"]);
    let first = blame();
    assert_eq!((&first["last_author"], &first["subject"]), (&json!("Ada"), &json!("first")), "{first}");
    place.write("tools/load.py", "import os\n\n\ndef load(path):\n    return os.fspath(path)\n");
    assert!(blame()["problem"].as_str().is_some_and(|problem| problem.contains("since the last commit")));
    git("Bob", &["commit", "-qam", "second"]);
    let second = blame();
    assert_eq!((&second["last_author"], &second["commits"]), (&json!("Bob"), &json!(2)), "{second}");
    assert_eq!(second["lines_by_author"], json!({"Ada": 1, "Bob": 1}));

    // So it does in a bundle, when that is asked for.
    let bundle = |blame: bool, output: &str| {
        let args = json!({"symbol_id": "tools/load.py::load#function", "blame": blame, "output": output});
        place.ask(true, "get_context_bundle", args).value
    };
    assert_eq!(bundle(true, "json")["symbols"][0]["blame"], second);
    assert_eq!(bundle(false, "json")["symbols"][0]["blame"], Value::Null);
    let text = bundle(true, "markdown")["markdown"].as_str().unwrap_or_default().to_owned();
    assert!(text.contains("Last changed by Bob") && text.contains(": second\n"), "{text}");
}

#[test]
fn a_symbol_says_which_files_usually_change_with_its_own() {
    let place = Place::new();
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=Ada", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        let mut command = std::process::Command::new("git");
        command.args(identity).args(args).current_dir(place.0.path().join("code"));
        assert!(command.output().expect("the tests need git").status.success(), "git {args:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    for n in 1..=4 {
        place.write("tools/load.py", &format!("def load(path):\n    return path, {n}\n"));
        if n < 4 {
            place.write("tools/package.json", &format!(r#"{{"name": "tools", "version": "{n}"}}"#));
        }
        git(&["commit", "-qam", "more"]);
    }
    let id = "tools/load.py::load#function";
    let together = json!([{"file": "tools/package.json", "both": 3, "of": 4}]);
    let source = place.ask(true, "get_symbol_source", json!({"symbol_ids": [id], "blame": true})).value;
    assert_eq!(source["symbols"][0]["blame"]["usually_changed_too"], together, "{source}");
    let args = json!({"symbol_id": id, "blame": true, "output": "markdown"});
    let text = place.ask(true, "get_context_bundle", args).value["markdown"].to_string();
    assert!(text.contains("Usually changed too: tools/package.json"), "{text}");
}

#[test]
fn notes_are_kept_until_what_they_were_made_of_changes() {
    let place = Place::new();
    place.write("tools/run.sh", "run() { echo 1; }\n");
    let ask = || {
        let answer = place.ask(true, "search_columns", json!({"query": "order_id"})).value;
        assert_eq!(answer["result_count"], 1, "{answer}");
        tables(&place.0.path().join("index"))
    };
    let first = ask();
    assert_eq!(first.len(), 1, "{first:?}");
    // Asked again, the same notes. Files written a moment ago may be looked at again and give another snapshot.
    let again = ask();
    assert!(again.iter().all(|(_, file)| *file == first[0].1), "{first:?} {again:?}");
    // Another snapshot, the same notes: one file under its name, and until the next commit under the earlier one.
    place.write("tools/run.sh", "run() { echo 2; }\n");
    let second = ask();
    assert!(second.iter().all(|(_, file)| *file == first[0].1), "{first:?} {second:?}");
    assert!(second.iter().any(|table| !again.contains(table)), "{again:?} {second:?}");
    place.write("models/stg_orders.sql", "select 2");
    let third = ask();
    assert!(third.iter().any(|(_, file)| *file != first[0].1), "{second:?} {third:?}");
    // Damage costs the making.
    for (path, _) in &third {
        std::fs::write(path, "damage").expect("it is ours");
    }
    assert!(ask().iter().any(|(path, _)| std::fs::metadata(path).is_ok_and(|it| it.len() > 100)));
}

/// Stored notes below a folder, each with the number of its file on disk.
fn tables(folder: &std::path::Path) -> Vec<(std::path::PathBuf, u64)> {
    use std::os::unix::fs::MetadataExt;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("it is ours").flatten() {
        let path = entry.path();
        match entry.file_name().to_string_lossy().starts_with("notes.") {
            true => found.push((path, entry.metadata().expect("it is there").ino())),
            false if path.is_dir() => found.extend(tables(&path)),
            false => {}
        }
    }
    found.sort();
    found
}

#[test]
fn files_are_found_by_what_providers_know_of_them() {
    let place = Place::new();
    let found = |providers: bool, query: &str| -> Vec<String> {
        let answer = place.ask(providers, "search_symbols", json!({"query": query})).value;
        let results = answer["results"].as_array().unwrap_or_else(|| panic!("{answer}"));
        let files = results.iter().filter(|it| it["kind"] == "file");
        files.map(|it| it["id"].as_str().unwrap_or_default().to_owned()).collect()
    };
    // A model of dbt has no symbols, so the file answers.
    assert_eq!(found(true, "orders as they come"), ["models/stg_orders.sql"]);
    assert_eq!(found(true, "where do orders come in"), ["models/stg_orders.sql"]);
    assert_eq!(found(true, "stg_orders").first().map(String::as_str), Some("models/stg_orders.sql"));
    assert_eq!(found(false, "orders as they come"), [""; 0]);
    assert_eq!(found(true, "orders that nobody ever describes anywhere"), [""; 0]);
    assert!(found(true, "kind:file @python").contains(&"tools/load.py".to_owned()));
    // Symbols answer first, and a kind means no files.
    assert_eq!(found(true, "load a path"), [""; 0]);
    assert_eq!(found(true, "kind:function orders as they come"), [""; 0]);
    // An edit is in the next answer.
    place.write("models/schema.yml", "models: [{name: stg_orders, description: Refunds of customers.}]\n");
    assert_eq!(found(true, "orders as they come"), [""; 0]);
    assert_eq!(found(true, "refunds of customers"), ["models/stg_orders.sql"]);
}

#[test]
fn nothing_is_said_where_providers_are_off_or_know_nothing() {
    let place = Place::new();
    let off = place.ask(false, "search_columns", json!({"query": "order"}));
    assert!(!off.is_error && off.value["_meta"]["hint"].as_str().is_some_and(|hint| hint.contains("dbt")));
    let counts = |providers, args| place.ask(providers, "index_folder", args).value["context"].clone();
    assert_eq!(counts(true, json!({})), json!({"dbt": {"columns": 4, "models": 2}}));
    assert_eq!(counts(true, json!({"context_providers": false})), Value::Null);
    assert_eq!(counts(false, json!({})), Value::Null);
}

#[test]
fn models_that_read_one_another_are_related() {
    let place = Place::new();
    place.write("models/stg_orders.sql", "select * from {{ source('raw', 'orders') }}");
    place.write(
        "models/orders.sql",
        "{# ref('gone') #}\nselect id from {{ ref('stg_orders') }}\njoin {{ ref('stg_orders') }}\n",
    );
    place.write("models/report.py", "def model(dbt, session):\n    return dbt.ref(\"orders\")\n");
    place.write("models/raw.yml", "sources: [{name: raw, tables: [{name: orders}]}]\n");
    let answer = |tool: &str, args: Value| place.ask(true, tool, args).value;

    let importers = answer("find_importers", json!({"file_path": "models/stg_orders.sql"}));
    let expected = json!([{"file": "models/orders.sql", "line": 2, "has_importers": true}]);
    assert_eq!(importers["importers"], expected, "{importers}");

    let of_source = answer("find_importers", json!({"file_path": "models/raw.yml"}));
    assert_eq!(of_source["importers"][0]["file"], "models/stg_orders.sql", "{of_source}");

    let graph = answer("get_dependency_graph", json!({"file": "models/orders.sql"}));
    assert_eq!(
        (&graph["imports"], &graph["importers"]),
        (&json!(["models/stg_orders.sql"]), &json!(["models/report.py"]))
    );
    assert!(graph["nodes"].as_array().is_some_and(|nodes| nodes.contains(&json!("models/raw.yml"))), "{graph}");

    let uses = answer("find_references", json!({"identifier": "stg_orders"}));
    assert_eq!(uses["definitions"], json!([{"id": "models/stg_orders.sql", "line": 1, "uses": 2}]));
    let places = uses["references"].as_array().expect("there are some").iter();
    let places: Vec<String> = places.map(|at| format!("{}:{}:{}", at["file"], at["line"], at["column"])).collect();
    assert_eq!(places, [r#""models/orders.sql":2:24"#, r#""models/orders.sql":3:14"#]);
    let uses = answer("find_references", json!({"identifier": "raw.orders"}));
    assert_eq!(uses["references"][0]["file"], "models/stg_orders.sql", "{uses}");
    let none = answer("find_references", json!({"identifier": "gone"}));
    assert_eq!(none["not_found"], json!(["gone"]));

    let blast = answer("get_blast_radius", json!({"symbol_id": "raw.orders"}));
    let files =
        [("models/stg_orders.sql", Value::Null), ("models/orders.sql", json!(2)), ("models/report.py", json!(3))];
    let files = files.map(
        |(file, depth)| if depth.is_null() { json!({"file": file}) } else { json!({"file": file, "depth": depth}) },
    );
    assert_eq!(blast["confirmed"], json!(files), "{blast}");
    let near = answer("get_blast_radius", json!({"symbol_id": "raw.orders", "max_depth": 1}));
    assert_eq!(near["confirmed_count"], 1);

    let off = place.ask(false, "find_importers", json!({"file_path": "models/stg_orders.sql"}));
    assert_eq!(off.value["importer_count"], 0);
}

#[test]
fn symbols_tell_the_context_of_their_file_when_asked() {
    let place = Place::new();
    let asked = json!({"query": "load", "fields": ["ecosystem_context"]});
    let told = |answer: Envelope| answer.value["results"][0]["ecosystem_context"].clone();
    let expected = json!(["codeowners: owned by @python", "package: tools (package.json, 0 dependencies)"]);
    assert_eq!(told(place.ask(true, "search_symbols", asked.clone())), expected);
    assert_eq!(told(place.ask(false, "search_symbols", asked)), json!([]));
    let source = json!({"symbol_id": "tools/load.py::load#function", "fields": ["ecosystem_context"]});
    assert_eq!(place.ask(true, "get_symbol_source", source).value["ecosystem_context"], expected);
    assert_eq!(told(place.ask(true, "search_symbols", json!({"query": "load"}))), Value::Null);
}

#[test]
fn operations_and_their_handlers_name_each_other() {
    let place = Place::new();
    let api = "openapi: 3.0.0\npaths:\n  /users/{id}:\n    get:\n      operationId: getUser\n    delete:\n      operationId: dropUser\n";
    place.write("docs/openapi.yaml", api);
    place.write(
        "tools/users.py",
        "class Users:\n    @app.get('/users/{user_id}')\n    def show(self):\n        pass\n\ndef drop_user(id):\n    pass\n",
    );
    let told = |name: &str| {
        let asked = json!({"query": name, "fields": ["ecosystem_context"]});
        let found = place.ask(true, "search_symbols", asked).value;
        let mut all = found["results"].as_array().expect("a list").iter();
        let one = all.find(|hit| hit["name"] == name).unwrap_or_else(|| panic!("{found}"));
        one["ecosystem_context"][0].clone()
    };
    assert_eq!(told("show"), "openapi: handles GET /users/{id} (getUser) of docs/openapi.yaml");
    assert_eq!(told("drop_user"), "openapi: named as DELETE /users/{id} (dropUser) of docs/openapi.yaml");
    assert_eq!(told("getUser"), "openapi: handled by show tools/users.py:3");
    assert_eq!(told("dropUser"), "openapi: named as drop_user tools/users.py:6");
    assert_eq!(told("load"), "codeowners: owned by @python");
    // An edit is in the next answer.
    place.write("tools/users.py", "@app.delete('/users/{id}')\ndef gone():\n    pass\n");
    assert_eq!(told("gone"), "openapi: handles DELETE /users/{id} (dropUser) of docs/openapi.yaml");
}

#[test]
fn models_of_sqlmesh_are_related_by_their_names() {
    let place = Place::new();
    place.write(
        "mesh/models/raw.sql",
        "MODEL (name shop.raw_orders, description 'Orders as sent.', columns (id INT));\nselect 1",
    );
    place.write("mesh/models/daily.sql", "MODEL (name shop.daily, kind FULL);\nselect id\nfrom shop.raw_orders\n");
    let answer = |tool: &str, args: Value| place.ask(true, tool, args).value;
    let importers = answer("find_importers", json!({"file_path": "mesh/models/raw.sql"}));
    assert_eq!(
        importers["importers"],
        json!([{"file": "mesh/models/daily.sql", "line": 3, "has_importers": false}]),
        "{importers}"
    );
    let uses = answer("find_references", json!({"identifier": "shop.raw_orders"}));
    assert_eq!(uses["references"][0]["file"], "mesh/models/daily.sql", "{uses}");
    let blast = answer("get_blast_radius", json!({"symbol_id": "shop.raw_orders"}));
    assert_eq!(blast["confirmed_count"], 1, "{blast}");
    assert_eq!(place.columns(json!({"query": "id", "model_pattern": "shop.*"})), ["shop.raw_orders id"]);
    let indexed = answer("index_folder", json!({"path": "."}));
    assert_eq!(indexed["context"]["sqlmesh"], json!({"columns": 1, "models": 2}), "{indexed}");
}
