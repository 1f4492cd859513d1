//! codelode: code search for agents and people. Index once, answer in milliseconds.
//!
//! This page is a tour of the modules. They lie in crates below `crates/`, whose manifests say which may use which; this
//! library joins them, and adds the command line.
//!
//! Indexing takes a file through these modules:
//!
//! 1. `discover` walks a folder and selects the files worth reading, with a reason for each skipped file. It asks
//!    `git` for the tracked files.
//! 2. [`extract`] parses a file into symbols. It walks the syntax tree by a table of the language's node kinds, from
//!    [`languages`]. The same tree yields [`facts`] about names.
//! 3. [`store`] keeps content, symbols and the search index, each file once for all checkouts, and commits them in
//!    one step.
//! 4. [`pipeline`] runs the three in parallel, and detects later changes.
//!
//! A query takes this way:
//!
//! 1. A front end receives it: [`mcp`] from an agent, `lsp` from an editor, `web` from a browser, [`cli`] from a
//!    person. Over the network, `http` knows who may ask, and how much.
//! 2. [`tools::call`] finds the tool and runs it through [`answer`], which checks arguments and enforces the time
//!    limit and the token budget.
//! 3. The tool finds the repository (`catalog`) and makes sure that its index is fresh. `parts` holds what several
//!    tools share.
//! 4. For relations, [`resolve`] binds all names of the checkout from the facts of its files. [`store`] keeps the
//!    result until something changes.
//! 5. [`query`] searches a [`store::Snapshot`], which is immutable, and ranks the results.
//!
//! [`embed`] turns texts into vectors by a model that the user has set up, for searches by meaning. `summarize` asks a
//! model what symbols without documentation are for.
//!
//! `enrich` reads what files of a project say of others: a dbt project's descriptions, owners, packages.
//!
//! `github` searches repositories and reads commits over GitHub's REST API. `net` is the guarded HTTP client for
//! all network access, with checks on hosts, secrets, time and size.
//!
//! `installed` finds the packages that a project imports, whose sources are indexed apart from it.
//!
//! [`watch`] keeps indexes fresh while files change, so that queries need not scan for changes.
//!
//! `compilers` reads what compilers' indexers say of a project's names, which is joined with its edges.
//!
//! `pictures` draws calls, classes and imports as graphs. `export` writes definitions and uses for other programs.
//!
//! `fleet` keeps a queue of repositories to index, on NATS.
//! `ship` sends stores to files and folders, and takes them from there.
//!
//! [`setup`] writes the server into the configurations of clients.
//!
//! [`model`] holds the shared data types, [`config`] all settings, `parsing` the parser with its bounds, and
//! [`allocator`] the memory allocator.
//!
//! ```
//! use codelode::{extract::extract, languages};
//!
//! let source = b"def add(a, b):\n    'Adds.'\n    return a + b\n";
//! let (_, python) = languages::of_file("numbers.py", source).unwrap();
//! let symbols = extract(python, source).symbols;
//! assert_eq!(symbols[0].name.of(source), b"add");
//! ```

pub mod cli;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod setup;

pub use codelode_base::{allocator, config, model};
pub use codelode_index::{embed, pipeline, watch};
pub use codelode_lang::{extract, facts, languages};
pub use codelode_mcp as mcp;
pub use codelode_query as query;
pub use codelode_resolve as resolve;
pub use codelode_service::{answer, tools};
pub use codelode_store as store;
