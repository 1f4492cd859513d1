//! Sessions of clients that work in several repositories: each is asked, each hit names its own, and all share one budget.

use std::path::PathBuf;

use codelode::answer::tokens;
use serde_json::{Value, json};

use crate::client::Server;
use crate::place::{Place, git};

/// Two repositories, with a name of each alone and one of both.
fn two() -> (Place, [PathBuf; 2]) {
    let place = Place::new();
    let uses = |of: &str| (0..8).map(|n| format!("\n\ndef {of}_{n}():\n    return total({n})\n")).collect::<String>();
    place.write(
        "shop/cart.py",
        &format!("def total(n):\n    return n\n\n\ndef discount():\n    return 1\n{}", uses("sale")),
    );
    place.write("bank/cart.py", &format!("def total(n):\n    return -n\n\n\nclass Vault:\n    pass\n{}", uses("loan")));
    place.write("bank/vault.py", "from cart import Vault\n\nprint(Vault())\n");
    let roots = ["shop", "bank"].map(|name| place.source().join(name));
    roots.iter().for_each(|root| drop(git(root, &["init", "-q", "-b", "main"])));
    (place, roots)
}

/// A session of a client that works in both.
fn session(place: &Place, roots: &[PathBuf]) -> Server {
    let mut server = Server::spawn(place.command(&["serve"]));
    server.initialize_in(&roots.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    server
}

/// Folder names of the repositories that items of a list are of.
fn repos(list: &Value) -> Vec<&str> {
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default().iter();
    items.filter_map(|item| Some(item["repo"].as_str()?.strip_prefix("local/")?.rsplit_once('-')?.0)).collect()
}

#[test]
fn searches_find_the_hits_of_all_roots() {
    let (place, roots) = two();
    let mut server = session(&place, &roots);
    for (tool, args) in [
        ("search_symbols", json!({"query": "total", "kind": "function", "max_results": 2})),
        ("search_text", json!({"query": "def total"})),
        ("search_ast", json!({"pattern": "def total($N): return $$$", "language": "python"})),
    ] {
        let answer = server.call(tool, args);
        let mut found = repos(&answer["results"]);
        found.sort_unstable();
        assert_eq!(found, ["bank", "shop"], "{tool}: {answer}");
    }
    let context = server.call("get_ranked_context", json!({"query": "total", "token_budget": 1500}));
    assert_eq!(repos(&context["repositories"]).len(), 2, "{context}");
    assert!(tokens::of_json(&context) <= 1500, "{context}");
    // Terms of the query and arguments choose among them.
    let one = server.call("search_text", json!({"query": "def total", "repo": roots[1]}));
    assert_eq!(one["results"].as_array().map(Vec::len), Some(1), "{one}");
    server.close();
}

#[test]
fn a_name_of_one_root_is_answered_by_it() {
    let (place, roots) = two();
    let mut server = session(&place, &roots);
    let uses = server.call("find_references", json!({"identifier": "Vault"}));
    assert!(uses["_meta"]["repo"].as_str().is_some_and(|repo| repo.starts_with("local/bank-")), "{uses}");
    assert_eq!(uses["references"].as_array().map(Vec::len), Some(2), "{uses}");
    let source = server.call("get_symbol_source", json!({"symbol_id": "cart.py::discount#function"}));
    assert_eq!(source["name"], "discount", "{source}");
    let both = json!({"symbol_ids": ["cart.py::discount#function", "cart.py::Vault#class", "cart.py::gone#class"]});
    let both = server.call("get_symbol_source", both);
    assert_eq!(repos(&both["answers"]), ["shop", "bank"], "{both}");
    let names: Vec<&Value> = [0, 1].iter().map(|at| &both["answers"][at]["symbols"][0]["name"]).collect();
    assert_eq!(names, ["discount", "Vault"], "{both}");
    assert_eq!(
        both.to_string().matches("gone").count(),
        both["answers"][0]["errors"].to_string().matches("gone").count()
    );
    // A path may begin with the name of a root, or be absolute.
    for path in [json!("bank/vault.py"), json!("vault.py"), json!(roots[1].join("vault.py"))] {
        let file = server.call("get_file_content", json!({"file_path": path}));
        assert!(file["content"].as_str().is_some_and(|text| text.starts_with("from cart")), "{path}: {file}");
    }
    let nowhere = server.call("get_symbol_source", json!({"symbol_id": "cart.py::discoun#function"}));
    assert_eq!(nowhere["code"], "not_found", "{nowhere}");
    assert!(nowhere["error"].as_str().is_some_and(|error| error.contains("discount")), "{nowhere}");
    assert_eq!(nowhere["details"]["searched"].as_array().map(Vec::len), Some(2), "{nowhere}");
    server.close();
}

#[test]
fn roots_share_limits_and_budget() {
    let (place, roots) = two();
    let mut server = session(&place, &roots);
    let all = server.call("find_references", json!({"identifier": "total"}));
    assert_eq!(repos(&all["answers"]), ["shop", "bank"], "{all}");
    assert_eq!(all["answers"][0]["references"].as_array().map(Vec::len), Some(8), "{all}");
    let few = server.call("find_references", json!({"identifier": "total", "max_results": 6}));
    let lengths: Vec<usize> =
        [0, 1].iter().filter_map(|at| few["answers"][at]["references"].as_array().map(Vec::len)).collect();
    assert_eq!(lengths, [3, 3], "{few}");
    // Each goes on by itself.
    let (repo, cursor) = (few["answers"][1]["repo"].clone(), few["answers"][1]["next_cursor"].clone());
    let rest = json!({"identifier": "total", "repo": repo, "cursor": cursor});
    let rest = server.call("find_references", rest);
    assert_eq!(rest["references"].as_array().map(Vec::len), Some(5), "{rest}");
    for tool in ["find_references", "get_file_outline", "get_repo_map", "get_repo_outline", "get_file_tree"] {
        let mut args = match tool {
            "find_references" => json!({"identifier": "total"}),
            "get_file_outline" => json!({"file_path": "cart.py"}),
            _ => json!({}),
        };
        for most in [8000, 700] {
            args["max_tokens"] = most.into();
            let answer = server.call(tool, args.clone());
            assert_eq!(repos(&answer["answers"]).len(), 2, "{tool}: {answer}");
            assert!(tokens::of_json(&answer) <= most, "{tool} in {most}: {answer}");
        }
    }
    let count = server.call("find_references", json!({"identifier": "total", "count_only": true}));
    assert_eq!(count["count"], 16, "{count}");
    server.close();
}

#[test]
fn compact_answers_stand_below_the_name_of_their_repository() {
    let (place, roots) = two();
    let mut server = Server::spawn(place.command(&["serve", "--format", "compact"]));
    server.initialize_in(&roots.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    let params = json!({"name": "find_references", "arguments": {"identifier": "total"}});
    let answer = server.ask("tools/call", params);
    let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with("local/")).collect();
    assert_eq!(heads.len(), 2, "{text}");
    assert!(text.starts_with(heads[0]) && text.contains("sale_7") && text.contains("loan_7"), "{text}");
    server.close();
}

#[test]
fn a_change_is_made_in_one_repository_alone() {
    let (place, roots) = two();
    let mut server = session(&place, &roots);
    server.call("search_text", json!({"query": "def total"}));
    let refused = server.call("invalidate_cache", json!({}));
    assert_eq!(refused["code"], "ambiguous", "{refused}");
    assert_eq!(refused["details"]["candidates"].as_array().map(Vec::len), Some(2), "{refused}");
    assert_eq!(server.call("list_repos", json!({}))["repos"].as_array().map(Vec::len), Some(2));
    server.close();
}

#[test]
fn a_root_that_cannot_be_indexed_leaves_the_others_to_answer() {
    let (place, [shop, bank]) = two();
    let mut server = session(&place, &[shop, PathBuf::from("/usr"), bank]);
    let found = server.call("search_symbols", json!({"query": "total"}));
    assert!(found["_meta"]["not_searched"][0].as_str().is_some_and(|told| told.contains("/usr")), "{found}");
    let uses = server.call("find_references", json!({"identifier": "total"}));
    assert_eq!(repos(&uses["answers"]), ["shop", "bank"], "{uses}");
    assert!(uses["_meta"]["not_searched"][0].as_str().is_some_and(|told| told.contains("/usr")), "{uses}");
    server.close();
}

#[test]
fn roots_of_one_repository_are_one() {
    let (place, [shop, _]) = two();
    place.write("shop/api/a.py", "def a():\n    pass\n");
    let mut server = session(&place, &[shop.join("api"), shop]);
    let found = server.call("search_text", json!({"query": "def total"}));
    assert_eq!(found["result_count"], 1, "{found}");
    assert_eq!(found["results"][0].get("repo"), None, "{found}");
    server.close();
}

#[test]
fn below_a_folder_that_is_no_project_its_repositories_are_asked() {
    let (place, _) = two();
    // A folder around a home is never indexed by itself.
    let home = place.source().join("me");
    std::fs::create_dir(&home).expect("the folder is new");
    let mut command = place.command(&["serve"]);
    command.env("HOME", &home);
    let mut server = Server::start(command);
    let found = server.call("search_symbols", json!({"query": "total", "kind": "function", "max_results": 2}));
    let mut named = repos(&found["results"]);
    named.sort_unstable();
    assert_eq!(named, ["bank", "shop"], "{found}");
    let uses = server.call("find_references", json!({"identifier": "total"}));
    assert_eq!(repos(&uses["answers"]), ["bank", "shop"], "{uses}");
    let file = server.call("get_file_content", json!({"file_path": "bank/vault.py"}));
    assert!(file["content"].as_str().is_some_and(|text| text.starts_with("from cart")), "{file}");
    server.close();
    let mut command = place.command(&["refs", "Vault"]);
    command.env("HOME", &home);
    let ran = crate::place::Ran::of(&mut command);
    assert!(ran.status == 0 && ran.out.contains("bank/vault.py"), "{} {}", ran.out, ran.err);
}

#[test]
fn one_index_holds_a_folder_above_repositories() {
    let (place, _) = two();
    let mut server = Server::start(place.command(&["serve"]));
    let found = server.call("search_text", json!({"query": "def total"}));
    let files: Vec<&str> =
        found["results"].as_array().expect("a list").iter().filter_map(|file| file["file"].as_str()).collect();
    assert_eq!(files, ["bank/cart.py", "shop/cart.py"], "{found}");
    server.close();
}
