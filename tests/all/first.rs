//! The first question about a large folder: it is answered before the folder is indexed whole.

use std::fs;
use std::time::{Duration, Instant};

use codelode::tools::{self, Context, Request};
use serde_json::{Value, json};

use crate::place::{Place, Ran};

/// More files than a first question waits for.
const MANY: usize = 4_100;

/// A large folder.
fn large() -> Place {
    let place = Place::new();
    for number in 0..MANY {
        place.write(&format!("filler_{number}.py"), &format!("def filler_{number}():\n    return {number}\n"));
    }
    place.write("shop/order.py", "def load_order(key):\n    return key\n");
    let user = "from shop.order import load_order\n\ndef checkout():\n    return load_order(1)\n";
    place.write("shop/cart.py", user);
    place
}

/// Waits until a folder is indexed whole.
fn wait_for_index(place: &Place) {
    let until = Instant::now() + Duration::from_secs(60);
    while !place.run(&["list"]).out.contains(&format!(" {} ", MANY + 2)) {
        assert!(Instant::now() < until, "the index is not made");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// An answer for which nobody waits longer than usual.
fn ask(place: &Place, cx: &Context, tool: &str, args: Value) -> Value {
    let request = Request { directory: Some(place.source()), ..Request::default() };
    let Value::Object(args) = args else { panic!("arguments are an object") };
    tools::call(cx, tool, args, &request).value
}

fn files(answer: &Value) -> Vec<&str> {
    let hits = answer["results"].as_array().expect("a list").iter();
    hits.map(|hit| hit["file"].as_str().expect("a path")).collect()
}

#[test]
fn the_first_question_is_answered_from_the_files_that_hold_its_words() {
    let place = large();
    let cx = place.context();
    let first = ask(&place, &cx, "search_symbols", json!({"query": "load_order"}));
    assert_eq!(files(&first)[0], "shop/order.py", "{first}");
    assert_eq!(first["_meta"]["freshness"], "indexing", "{first}");
    let so_far = &first["_meta"]["read_so_far"];
    assert_eq!((&so_far["files"], &so_far["of"]), (&json!(2), &json!(MANY + 2)), "{first}");
    // The next one, of other words, comes from other files, or from the whole as soon as that is there.
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let next = ask(&place, &cx, "search_symbols", json!({"query": "filler_77"}));
        assert_eq!(files(&next)[0], "filler_77.py", "{next}");
        match next["_meta"]["freshness"].as_str() {
            Some("fresh") => break assert_eq!(next["_meta"]["read_so_far"], Value::Null),
            _ => assert!(Instant::now() < until, "{next}"),
        }
    }
}

#[test]
fn no_question_waits_for_the_rest_of_the_folder() {
    let place = large();
    let cx = place.context();
    let first = ask(&place, &cx, "search_symbols", json!({"query": "load_order"}));
    assert_eq!(first["_meta"]["freshness"], "indexing", "{first}");
    // As long as somebody else writes the index, it is not completed.
    let store = cx.indexes.registry().all()[0].store.clone();
    let writer = cx.indexes.registry().store(&store).writer(Duration::from_secs(60)).expect("it is free in the end");
    for (tool, args, place_of) in [
        ("search_symbols", json!({"query": "filler_77"}), "/results/0/file"),
        ("get_symbol_source", json!({"symbol_id": "filler_5.py::filler_5#function"}), "/source"),
        ("find_references", json!({"identifier": "load_order"}), "/references/0/file"),
        ("search_text", json!({"query": "return 1000"}), "/results/0/file"),
        ("find_importers", json!({"file_path": "shop/order.py"}), "/importers/0/file"),
    ] {
        let answer = ask(&place, &cx, tool, args);
        if first_is_still_all(&cx) {
            assert_eq!(answer["_meta"]["freshness"], "indexing", "{tool}: {answer}");
            assert_eq!(answer["_meta"]["read_so_far"]["of"], json!(MANY + 2), "{tool}: {answer}");
        }
        assert!(answer.pointer(place_of).is_some(), "{tool}: {answer}");
    }
    drop(writer);
    let left = fs::read_dir(place.home().join("excerpts")).into_iter().flatten().count();
    assert_eq!(left, 0, "excerpts last as long as their calls");
}

#[test]
fn what_needs_the_whole_is_never_answered_from_the_files_of_another_question() {
    let place = large();
    let cx = place.context();
    let first = ask(&place, &cx, "search_symbols", json!({"query": "load_order"}));
    assert_eq!(first["_meta"]["freshness"], "indexing", "{first}");
    // As long as somebody else writes the index, it is not completed.
    let store = cx.indexes.registry().all()[0].store.clone();
    let writer = cx.indexes.registry().store(&store).writer(Duration::from_secs(60)).expect("it is free in the end");
    for (tool, args) in [
        ("find_references", json!({"identifier": "nothing_like_it"})),
        ("check_references", json!({"identifier": "filler_7"})),
        ("find_dead_code", json!({})),
        ("get_repo_outline", json!({})),
    ] {
        let request = Request { directory: Some(place.source()), ..Request::default() };
        let Value::Object(args) = args else { panic!("arguments are an object") };
        let cancelled = request.cancelled.clone();
        let waiting = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(500));
            cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let answer = tools::call(&cx, tool, args, &request).value;
        waiting.join().expect("it only waits");
        if first_is_still_all(&cx) {
            // On a busy machine its own patience may end before it is called off.
            assert!(answer["code"] == "cancelled" || answer["code"] == "unavailable", "{tool}: {answer}");
        }
    }
    drop(writer);
}

/// Whether the index still holds no more than the files of the first question.
fn first_is_still_all(cx: &Context) -> bool {
    cx.indexes.registry().all()[0].file_count < 100
}

#[test]
fn relations_and_text_are_answered_early_as_well() {
    for (tool, args, place_of) in [
        ("find_references", json!({"identifier": "load_order"}), "/references"),
        ("search_text", json!({"query": "return load_order"}), "/results"),
        ("get_symbol_source", json!({"symbol_id": "shop/order.py::load_order#function"}), "/source"),
        ("get_file_outline", json!({"file_path": "shop/order.py"}), "/symbols"),
    ] {
        let place = large();
        let answer = ask(&place, &place.context(), tool, args);
        assert_eq!(answer["_meta"]["freshness"], "indexing", "{tool}: {answer}");
        assert_eq!(answer["_meta"]["read_so_far"]["of"], json!(MANY + 2), "{tool}: {answer}");
        assert!(answer.pointer(place_of).is_some_and(|part| part.to_string().contains("load_order")), "{answer}");
    }
}

#[test]
fn a_misspelt_name_is_answered_early_as_well() {
    let place = large();
    let first = ask(&place, &place.context(), "search_symbols", json!({"query": "load_ordre"}));
    assert_eq!(first["_meta"]["freshness"], "indexing", "{first}");
    assert_eq!(files(&first)[0], "shop/order.py", "{first}");
}

#[test]
fn the_first_search_of_syntax_reads_the_disk_and_finds_what_the_index_does() {
    let place = large();
    let broken = place.run(&["ast", "if ("]);
    assert!(broken.status == 2 && broken.err.contains("cannot be read"), "{broken:?}");
    let first = place.run(&["ast", "return load_order($X)"]);
    assert_eq!((first.status, &*first.out), (0, "shop/cart.py:4:    return load_order(1)\n"), "{first:?}");
    assert!(first.err.contains("the index is being made in the background"), "{first:?}");
    wait_for_index(&place);
    let next = place.run(&["ast", "return load_order($X)"]);
    assert_eq!((next.status, next.out, &*next.err), (first.status, first.out, ""));
}

#[test]
fn an_early_answer_never_says_no() {
    let in_whole = |tool: &str, args: Value, expected: &str| {
        let place = large();
        let answer = ask(&place, &place.context(), tool, args);
        assert_eq!(answer["_meta"]["read_so_far"], Value::Null, "{tool}: {answer}");
        assert!(answer.to_string().contains(expected), "{tool}: {answer}");
    };
    in_whole("search_symbols", json!({"query": "nothing_like_it"}), "negative_evidence");
    in_whole("search_text", json!({"query": "load_order", "file_pattern": "docs/**"}), "no_file_matches");
    in_whole("get_symbol_source", json!({"symbol_id": "shop/cart.py::load_order#function"}), "shop/order.py");
    in_whole("check_references", json!({"identifier": "load_order"}), "\"is_referenced\":true");
    in_whole("search_symbols", json!({"query": "filler_1", "count_only": true}), "\"count\":");
    in_whole("find_dead_code", json!({"min_confidence": 0.5}), &format!("\"dead_count\":{}", MANY + 1));
}

#[test]
fn a_command_answers_and_ends_and_the_index_is_completed_in_the_background() {
    let place = large();
    let Ran { status, out, err } = place.run(&["search", "load_order"]);
    assert_eq!(status, 0, "{err}");
    let first = format!(
        "from 2 of {} files: the index is still being made, and missing results may be in the rest\n",
        MANY + 2
    );
    assert!(out.starts_with(&format!("{first}shop/order.py:1 load_order")), "{out}");
    assert_eq!(err, "");
    wait_for_index(&place);
    let Ran { status, out, err } = place.run(&["search", "filler_77"]);
    assert!(status == 0 && !err.contains("index"), "{err}");
    assert!(out.starts_with("filler_77.py:1 filler_77"), "{out}");
}

#[test]
fn the_first_search_of_text_reads_the_disk_and_finds_what_the_index_does() {
    let place = large();
    place.write("shop/.env", "load_order = secret\n").write(".gitignore", "");
    for args in [&["text", "load_order|filler_7\\b", "-g", "*.py"][..], &["text", "-c", "return", "-g", "shop/**"]] {
        let first = place.run(args);
        assert!(first.err.contains("the index is being made in the background"), "{first:?}");
        wait_for_index(&place);
        let next = place.run(args);
        assert_eq!((first.status, &first.out), (0, &next.out));
        assert_eq!(next.err, "");
        assert!(!first.out.is_empty() && !first.out.contains("secret"), "{first:?}");
        fs::remove_dir_all(place.index()).expect("it was made");
    }
}

#[test]
fn a_killed_command_leaves_an_excerpt_that_the_next_one_completes() {
    let place = large();
    let cx = place.context();
    let first = ask(&place, &cx, "search_symbols", json!({"query": "load_order"}));
    assert_eq!(first["_meta"]["freshness"], "indexing");
    // Another process finds no more than the excerpt, whoever completes it.
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let other = ask(&place, &place.context(), "search_symbols", json!({"query": "filler_5"}));
        if other["_meta"]["freshness"] == "fresh" {
            assert_eq!(files(&other)[0], "filler_5.py");
            break;
        }
        assert!(Instant::now() < until, "{other}");
    }
}
