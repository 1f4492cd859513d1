//! GitHub's own description of its interface, against what we ask, what we read, and what the stand-in answers.
//!
//! Nothing of it is kept in this repository: the test looks for the package `@octokit/openapi` in `target/fixtures` and says
//! how to get it when it is not there.

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::github::stand::{Hub, git_text};
use crate::github::tests::client;

/// What we ask: the path as it is described, the parameters beside those in it, and what the answer must always hold.
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target").join("fixtures");
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_it =
        |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("octokit-openapi-"));
    let Some(package) = files.into_iter().find(|path| is_it(path)) else {
        println!("skipped: for this test, npm pack --pack-destination target/fixtures @octokit/openapi");
        return;
    };
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
    let client = client(&hub.stand, home.path());
    let descriptions = descriptions(&package);
    assert!(descriptions.len() > 1, "GitHub, and GitHub Enterprise");
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
            let url = hub.stand.url(asked).parse().expect("it is a URL");
            let answer: Value = client.json(url).expect("it answers");
            let schema = schema(&description["paths"][path]["get"]);
            let misfit = misfit(description, schema, &answer, "");
            assert_eq!(misfit, None, "{name}: {path}");
        }
    }
}

/// The schema of a good answer.
fn schema(get: &Value) -> &Value {
    &get["responses"]["200"]["content"]["application/json"]["schema"]
}

/// What a reference stands for.
fn resolve<'a>(description: &'a Value, mut value: &'a Value) -> &'a Value {
    while let Some(place) = value["$ref"].as_str() {
        value = description.pointer(place.trim_start_matches('#')).expect("references lead somewhere");
    }
    value
}

/// Where an answer is not what a schema says, if anywhere. Keys may be missing: the stand-in says only what is asked of it.
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
