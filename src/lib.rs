//! codelode: code search for agents and people.
pub mod cli;
pub mod config;
pub mod discover;
pub mod extract;
pub mod git;
pub mod languages;
pub mod mcp;
pub mod model;
pub mod pipeline;
pub mod query;
pub mod store;
pub mod tools;
