//! GitHub's own description of its API, compared with our requests, with the parsed answers, and with the test
//! server.
//!
//! The requested part of it is in `tests/github`, as an excerpt made by this test from the package
//! `@octokit/openapi`, which also describes GitHub Enterprise. If that is in `target/fixtures` (`npm pack
//! --pack-destination target/fixtures @octokit/openapi`), the whole is checked, and `UPDATE_EXPECT=1` writes the
//! excerpt again.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::{Map, Value, json};

use crate::github::test_server::{Hub, git_text};
use crate::github::tests::client;
use crate::github::*;
use codelode_net::test_server::{Reply, TestServer};

/// Our requests: the path as described, its query parameters, and the required fields of the answer.
const ASKED: &[(&str, &[&str], &[&str])] = &[
    ("/search/repositories", &["q", "sort", "order", "per_page", "page"], &["total_count", "items"]),
    ("/repos/{owner}/{repo}", &[], &["default_branch"]),
    ("/repos/{owner}/{repo}/commits/{ref}", &[], &["sha"]),
    ("/repos/{owner}/{repo}/git/commits/{commit_sha}", &[], &["sha", "tree"]),
    ("/repos/{owner}/{repo}/git/trees/{tree_sha}", &["recursive"], &["tree", "truncated"]),
    ("/repos/{owner}/{repo}/git/blobs/{file_sha}", &[], &[]),
    ("/repos/{owner}/{repo}/git/matching-refs/{ref}", &[], &[]),
    ("/repos/{owner}/{repo}/tarball/{ref}", &[], &[]),
];

#[test]
fn questions_and_answers_are_as_github_describes_them() {
    let hub = Hub::of_files(&[("README.md", "# cat\n"), ("src/lib.rs", "fn a() {}\n")], false);
    let head = git_text(&hub.bare, &["rev-parse", "main"]);
    let tree = git_text(&hub.bare, &["rev-parse", "main^{tree}"]);
    let answers = [
        ("/search/repositories", "/search/repositories?q=cat&per_page=2&page=1".to_owned()),
        ("/repos/{owner}/{repo}", "/repos/octo/cat".to_owned()),
        ("/repos/{owner}/{repo}/git/commits/{commit_sha}", format!("/repos/octo/cat/git/commits/{head}")),
        ("/repos/{owner}/{repo}/git/trees/{tree_sha}", format!("/repos/octo/cat/git/trees/{tree}?recursive=1")),
        ("/repos/{owner}/{repo}/git/matching-refs/{ref}", "/repos/octo/cat/git/matching-refs/heads/".to_owned()),
    ];
    let home = tempfile::tempdir().expect("there is room");
    let client = client(&hub.server, home.path());
    let mut descriptions = package().map(|package| descriptions(&package)).unwrap_or_default();
    descriptions.push(("the excerpt".to_owned(), kept()));
    for (name, description) in &descriptions {
        for (path, parameters, always) in ASKED {
            let get = &description["paths"][path]["get"];
            assert!(get.is_object(), "{name}: {path} is not described");
            let described: Vec<&str> = get["parameters"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|parameter| resolve(description, parameter)["name"].as_str().unwrap_or_default())
                .collect();
            for parameter in *parameters {
                assert!(described.contains(parameter), "{name}: {path} takes no {parameter}, but {described:?}");
            }
            let schema = resolve(description, schema(get));
            let required: Vec<&str> =
                schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            for key in *always {
                assert!(required.contains(key), "{name}: {path} need not answer with {key}, only {required:?}");
            }
        }
        for (path, asked) in &answers {
            let url = hub.server.url(asked).parse().expect("it is a URL");
            let answer: Value = client.json(url).expect("it answers");
            let schema = schema(&description["paths"][path]["get"]);
            let misfit = misfit(description, schema, &answer, "");
            assert_eq!(misfit, None, "{name}: {path}");
        }
    }
}

#[test]
#[ignore = "wants the whole description, for which the excerpt stands"]
fn the_excerpt_is_of_the_description() {
    let package = package().expect("@octokit/openapi is in target/fixtures");
    let whole = descriptions(&package).into_iter().find(|(name, _)| name == "api.github.com.json");
    let made = excerpt(&whole.expect("GitHub itself is described").1);
    if std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1") {
        std::fs::write(excerpt_path(), text_of(&made)).expect("the sources can be written");
    }
    assert!(made == kept(), "GitHub describes itself otherwise now: UPDATE_EXPECT=1 writes the excerpt anew");
}

/// A server that answers a path with GitHub's own example.
fn exemplary(description: &Value) -> TestServer {
    let example = |path: &str| -> Value {
        let content = &description["paths"][path]["get"]["responses"]["200"]["content"]["application/json"];
        let first = content["examples"].as_object().and_then(|all| all.values().next()).expect("there is an example");
        resolve(description, first)["value"].clone()
    };
    let [search, repository, commit, refs] = [
        "/search/repositories",
        "/repos/{owner}/{repo}",
        "/repos/{owner}/{repo}/git/commits/{commit_sha}",
        "/repos/{owner}/{repo}/git/matching-refs/{ref}",
    ]
    .map(example);
    TestServer::http(move |asked| {
        let answer = match asked.path.as_str() {
            path if path.starts_with("/search/") => &search,
            path if path.ends_with("/heads/") => &refs,
            path if path.contains("/matching-refs/") => &json!([]),
            path if path.contains("/git/commits/") => &commit,
            path if path.contains("/commits/") => return Reply::new(200, commit["sha"].as_str().unwrap_or_default()),
            _ => &repository,
        };
        Reply::new(200, answer.to_string())
    })
}

#[test]
fn examples_that_github_gives_are_understood() {
    let test_server = exemplary(&kept());
    let home = tempfile::tempdir().expect("there is room");
    let client = client(&test_server, home.path());
    let name = Name::new("octocat", "Hello-World").expect("it is a name");
    let query = Query { text: "tetris".to_owned(), sort: Sort::Stars, order: Order::Descending, per_page: 30, page: 1 };
    let found = search(&client, &query).expect("it is an answer");
    assert_eq!((found.total_count, found.items[0].full_name.as_str()), (40, "dtrupenn/Tetris"));
    assert_eq!(found.items[0].license.as_ref().map(|license| license.key.as_str()), Some("mit"));
    assert_eq!(default_branch(&client, &name).expect("it is an answer"), "master");
    let refs = refs(&client, &name, "").expect("it is an answer");
    let names: Vec<&str> = refs.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["refs/heads/feature-a", "refs/heads/feature-b"]);
    assert!(refs.iter().all(|one| one.object.kind == "commit" && one.object.sha.len() == 40));
    let commit = crate::github::resolve(&client, &name, Some("main")).expect("it is an answer");
    assert_eq!(commit.tree, "691272480426f78a0138979dd3ce63b77f706feb");
}

#[test]
fn every_refusal_that_github_describes_has_a_meaning() {
    let description = kept();
    let mut refusals: BTreeSet<u16> = BTreeSet::new();
    for (path, ..) in ASKED {
        let responses = description["paths"][path]["get"]["responses"].as_object().expect("answers are described");
        refusals
            .extend(responses.keys().filter_map(|status| status.parse::<u16>().ok()).filter(|status| *status >= 400));
    }
    assert!(refusals.len() > 4, "{refusals:?}");
    let home = tempfile::tempdir().expect("there is room");
    for status in refusals {
        // A message in the form of GitHub's errors; a time of retry prevents further attempts.
        let message = if status == 409 { "Git Repository is empty." } else { "words" };
        let words = json!({"message": message, "documentation_url": "https://docs.github.com"}).to_string();
        let test_server = TestServer::http(move |_| Reply::new(status, words.clone()).with("retry-after", "1"));
        let err = client(&test_server, home.path()).json::<Value>(test_server.url("/x").parse().expect("it is a URL"));
        let fits = match (status, err.expect_err("it is refused")) {
            (403, Error::Limited(_) | Error::Forbidden(_))
            | (404, Error::NotFound { .. })
            | (409, Error::Empty)
            | (422, Error::Invalid(_))
            | (500..=599, Error::Trouble { wait: Some(_), .. }) => None,
            (_, other) => Some(other),
        };
        assert!(fits.is_none(), "{status}: {fits:?}");
    }
}

/// The package with the whole description, if it is installed.
fn package() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target").join("fixtures");
    let mut files = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    files.find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("octokit-openapi-")))
}

fn excerpt_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/github/api.github.com.json")
}

/// The excerpt that is kept.
fn kept() -> Value {
    let text = std::fs::read_to_string(excerpt_path()).expect("it is part of the sources");
    serde_json::from_str(&text).expect("it is JSON")
}

/// An excerpt as it is kept: a path or a component on a line.
fn text_of(excerpt: &Value) -> String {
    let lines = |map: &Map<String, Value>| -> String {
        map.iter().map(|(key, value)| format!("{}:{value}", json!(key))).collect::<Vec<_>>().join(",\n")
    };
    let map = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let parts: Vec<String> = map(&excerpt["components"])
        .iter()
        .map(|(kind, all)| format!("{}:{{\n{}}}", json!(kind), lines(&map(all))))
        .collect();
    format!(
        "{{\"info\":{},\n\"paths\":{{\n{}}},\n\"components\":{{\n{}}}}}\n",
        excerpt["info"],
        lines(&map(&excerpt["paths"])),
        parts.join(",\n")
    )
}

/// The excerpt of a description: our requests, and all schemas of their answers.
fn excerpt(description: &Value) -> Value {
    let mut paths = Map::new();
    for (path, ..) in ASKED {
        let get = &description["paths"][path]["get"];
        let parameters: Vec<Value> = get["parameters"].as_array().into_iter().flatten().map(bare_parameter).collect();
        let responses = each(&get["responses"], &bare_response);
        paths.insert((*path).to_owned(), json!({"get": {"parameters": parameters, "responses": responses}}));
    }
    let mut components = Map::new();
    let mut wanted = Vec::new();
    paths.values().for_each(|value| references(value, &mut wanted));
    while let Some(place) = wanted.pop() {
        let mut parts = place.rsplit('/');
        let (name, kind) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let known = components.entry(kind).or_insert_with(|| json!({}));
        if known.get(name).is_none() {
            let whole = &description["components"][kind][name];
            let bare = match kind {
                "schemas" => bare_schema(whole),
                "parameters" => bare_parameter(whole),
                "responses" => bare_response(whole),
                _ => json!({"value": whole["value"]}),
            };
            references(&bare, &mut wanted);
            known[name] = bare;
        }
    }
    components.values_mut().filter_map(Value::as_object_mut).for_each(Map::sort_keys);
    components.sort_keys();
    json!({"info": description["info"], "paths": paths, "components": components})
}

/// The references in a value.
fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|field| references(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

/// Each field of an object, made another.
fn each(value: &Value, bare: &dyn Fn(&Value) -> Value) -> Value {
    value.as_object().into_iter().flatten().map(|(key, field)| (key.clone(), bare(field))).collect()
}

/// Some fields of an object; a reference stays one.
fn only(value: &Value, keys: &[&str]) -> Value {
    let fields = value.as_object().into_iter().flatten();
    let kept = fields.filter(|(key, _)| *key == "$ref" || keys.contains(&key.as_str()));
    kept.map(|(key, field)| (key.clone(), field.clone())).collect()
}

fn bare_parameter(parameter: &Value) -> Value {
    only(parameter, &["name", "in", "required"])
}

fn bare_response(response: &Value) -> Value {
    let content = |content: &Value| {
        let mut kept = only(content, &["examples"]);
        if let Some(schema) = content.get("schema") {
            kept["schema"] = bare_schema(schema);
        }
        kept
    };
    match response.get("content") {
        Some(contents) => json!({"content": each(contents, &content)}),
        None => only(response, &[]),
    }
}

/// A schema without its descriptions.
fn bare_schema(schema: &Value) -> Value {
    let mut kept = only(schema, &["type", "nullable", "required", "enum", "format"]);
    if !schema.is_object() {
        return schema.clone();
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get(key) {
            kept[key] = bare_schema(inner);
        }
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(choices) = schema[key].as_array() {
            kept[key] = choices.iter().map(bare_schema).collect();
        }
    }
    if let Some(properties) = schema.get("properties") {
        kept["properties"] = each(properties, &bare_schema);
    }
    kept
}

/// The schema of a good answer.
fn schema(get: &Value) -> &Value {
    &get["responses"]["200"]["content"]["application/json"]["schema"]
}

/// The target of a reference.
fn resolve<'a>(description: &'a Value, mut value: &'a Value) -> &'a Value {
    while let Some(place) = value["$ref"].as_str() {
        value = description.pointer(place.trim_start_matches('#')).expect("references lead somewhere");
    }
    value
}

/// The place where an answer does not fit a schema, if any. Keys may be missing, because the test server has only the
/// required ones.
fn misfit(description: &Value, schema: &Value, answer: &Value, at: &str) -> Option<String> {
    let schema = resolve(description, schema);
    for choice in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[choice].as_array() {
            let fits = choices.iter().any(|one| misfit(description, one, answer, at).is_none());
            return (!fits).then(|| format!("{at}: {answer} fits none"));
        }
    }
    if let Some(parts) = schema["allOf"].as_array() {
        return parts.iter().find_map(|part| misfit(description, part, answer, at));
    }
    if answer.is_null() && schema["nullable"] == true {
        return None;
    }
    let kind = match answer {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let allowed = &schema["type"];
    let fits = match allowed {
        Value::String(one) => one == kind,
        Value::Array(several) => several.iter().any(|one| one == kind),
        _ => true,
    };
    if !fits {
        return Some(format!("{at}: {answer} is no {allowed}"));
    }
    match answer {
        Value::Array(items) => {
            items.iter().find_map(|item| misfit(description, &schema["items"], item, &format!("{at}[]")))
        }
        Value::Object(fields) => fields.iter().find_map(|(key, value)| match &schema["properties"][key] {
            Value::Null => Some(format!("{at}.{key} is not described")),
            described => misfit(description, described, value, &format!("{at}.{key}")),
        }),
        _ => None,
    }
}

/// The descriptions of GitHub and of GitHub Enterprise in the package, by file name.
fn descriptions(package: &Path) -> Vec<(String, Value)> {
    let file = std::fs::File::open(package).expect("it was found");
    let mut archive = tar::Archive::new(GzDecoder::new(file));
    let mut found = Vec::new();
    for entry in archive.entries().expect("it is an archive") {
        let mut entry = entry.expect("it is whole");
        let path = entry.path().expect("it has a path").to_string_lossy().into_owned();
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        if (name == "api.github.com.json" || name.starts_with("ghes-3.")) && !name.ends_with(".deref.json") {
            let mut text = String::new();
            entry.read_to_string(&mut text).expect("it is whole");
            found.push((name, serde_json::from_str(&text).expect("it is JSON")));
        }
    }
    found
}
