//! Promises of the program, seen from outside: one binary, so that it is linked once. A module is one topic; `cargo test NAME`
//! runs those whose path holds the name.

mod answers;
mod browser;
mod changes;
mod circles;
mod cli;
mod client;
mod compiler;
mod cross_repo;
mod cut_off;
mod damage;
mod dead;
mod documents;
mod edits;
mod encodings;
mod english;
mod export;
mod first;
#[cfg(feature = "fleet")]
mod fleet;
mod graph;
mod hooks;
mod http;
mod incremental;
mod init;
mod integrations;
#[cfg(feature = "http")]
mod issuer;
mod languages;
mod lsp;
mod mcp;
mod meant;
mod models;
#[cfg(feature = "http")]
mod oauth;
mod packages;
mod pages;
mod papers;
mod past;
mod pictures;
mod place;
mod possible;
mod project;
mod proof;
mod proxies;
mod random;
mod ranking;
mod relations;
mod remote;
mod repos;
mod review;
mod rights;
mod ripgrep;
#[cfg(feature = "http")]
mod rmcp_client;
mod roots;
mod schema;
mod seen;
mod server;
mod shapes;
#[cfg(feature = "ship")]
mod ship;
mod sse;
mod store;
mod tenants;
mod terminal;
mod text;
mod through;
mod tidy;
mod tls;
mod users;
mod watch;
mod web;
mod windows;

#[test]
fn tests_of_features() {
    for (feature, is_built_in) in [("ship", cfg!(feature = "ship")), ("fleet", cfg!(feature = "fleet"))] {
        if !is_built_in {
            client::skipped(&format!("all of `{feature}`: this build is without that feature"));
        }
    }
}

/// Copies a folder with all that is in it.
fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).expect("the folder is ours");
    for entry in std::fs::read_dir(from).expect("it is a folder") {
        let path = entry.expect("it can be listed").path();
        let target = to.join(path.file_name().expect("an entry has a name"));
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(std::fs::copy(&path, &target).expect("there is room")),
        }
    }
}
