//! What the program promises, seen from outside: one binary, so that it is linked once. A module is one topic; `cargo test NAME`
//! runs those whose path holds the name.

mod changes;
mod cli;
mod client;
mod damage;
mod dead;
mod edits;
mod first;
mod graph;
mod http;
mod incremental;
mod languages;
mod mcp;
mod papers;
mod project;
mod ranking;
mod relations;
mod remote;
mod rights;
mod ripgrep;
mod schema;
mod shapes;
mod store;
mod terminal;
mod text;
mod tidy;
mod tls;
mod watch;
mod web;
