//! codelode: code search for agents and people. Index once, answer in milliseconds.
//!
//! This page is a tour of the house. Each room has one purpose and says so at its door; which room may use which is a table in
//! `tests/all/tidy.rs`, and a test keeps it.
//!
//! A file is indexed once, on its way through these rooms:
//!
//! 1. [`discover`] walks a folder and chooses the files worth reading; for each other one it says why not. It asks [`git`] what
//!    is tracked.
//! 2. [`extract`] turns a file's text into symbols, by a walk over its syntax tree that [`languages`] directs: there a language is
//!    a table of what its node kinds mean. Of the same tree it makes [`facts`], what the file says about names.
//! 3. [`store`] keeps content, symbols and the search index, each file once however many checkouts hold it, and commits them in
//!    one step.
//! 4. [`pipeline`] is the page that calls the three, in parallel, and notices later what changed.
//!
//! A question goes down and comes back up:
//!
//! 1. A skin takes it: [`mcp`] from an agent, [`cli`] from a person.
//! 2. [`tools::call`] finds the tool, by way of the one door, [`answer`]: it checks arguments, keeps time and keeps the answer
//!    within its token budget.
//! 3. The tool finds the repository that is meant ([`tools::locate`]) and makes sure that it is fresh ([`catalog`]).
//! 4. A question about who uses whom is first answered for the whole checkout: [`resolve`] binds every name, from the facts of
//!    all files, and [`store`] keeps the answer until something changes.
//! 5. [`query`] asks a [`store::Snapshot`], a moment that nobody changes any more, and orders what it finds.
//!
//! [`github`] finds repositories and reads commits over GitHub's REST interface. [`net`] is the one guarded way out to the
//! network: to which hosts, with which secret, how long, how much.
//!
//! [`watch`] keeps an index fresh while its folder changes, so that nobody who asks has to look.
//!
//! [`model`] holds the nouns that all rooms share, [`config`] everything that can be set, and [`allocator`] is where memory
//! comes from.
//!
//! ```
//! use codelode::{extract::extract, languages};
//!
//! let source = b"def add(a, b):\n    'Adds.'\n    return a + b\n";
//! let (_, python) = languages::of_file("numbers.py", source).unwrap();
//! let symbols = extract(python, source).symbols;
//! assert_eq!(symbols[0].name.of(source), b"add");
//! ```

pub mod allocator;
pub mod answer;
pub mod catalog;
pub mod cli;
pub mod config;
pub mod discover;
pub mod extract;
pub mod facts;
pub mod git;
pub mod github;
pub mod languages;
pub mod mcp;
pub mod model;
pub mod net;
pub mod pipeline;
pub mod query;
pub mod resolve;
pub mod store;
pub mod tools;
pub mod watch;
