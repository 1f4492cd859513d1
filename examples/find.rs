//! Indexes a folder and asks a tool about it, as an agent would: `cargo run --example find . "parse arguments"`.

use std::path::PathBuf;

use codelode::config::{self, Flags};
use codelode::tools::{self, Context, Request};
use serde_json::{Map, Value, json};

fn main() {
    let mut args = std::env::args().skip(1);
    let (Some(folder), Some(query)) = (args.next(), args.next()) else {
        eprintln!("usage: find FOLDER QUERY");
        std::process::exit(2);
    };
    // Defaults, then `config.toml`, then the environment.
    let config = config::load(&Flags::default()).unwrap_or_else(|err| {
        eprintln!("{err}");
        std::process::exit(2);
    });
    let cx = Context::new(config);
    // A query is about the caller's folder, and indexes it on first use.
    let request = Request { directory: Some(PathBuf::from(folder)), ..Request::default() };
    let args = Map::from_iter([("query".to_owned(), Value::from(query)), ("max_results".to_owned(), json!(5))]);
    let answer = tools::call(&cx, "search_symbols", args, &request);
    for hit in answer.value["results"].as_array().into_iter().flatten() {
        println!("{}:{} {}", hit["file"].as_str().unwrap_or_default(), hit["line"], hit["signature"]);
    }
    cx.end();
    std::process::exit(i32::from(answer.is_error));
}
