//! `token`: a new token for a caller of an HTTP server.

use clap::Args;

use super::{FOUND, complain, fail, output};
use crate::http::tokens::{Entry, random};

/// Make a token for a caller of an HTTP server. The token is written to standard error, and shown this once; the entry for
/// the server's file of tokens, which holds only a digest, to standard output.
#[derive(Args)]
pub(super) struct Token {
    /// The caller.
    name: String,
    /// Repositories that it may see: ids as of `codelode list`, with `*` for any letters; repeatable.
    #[arg(long, value_name = "GLOB", required = true)]
    repos: Vec<String>,
    /// It may index, and read repositories elsewhere.
    #[arg(long)]
    index: bool,
    /// It may remove indexes.
    #[arg(long)]
    invalidate: bool,
}

/// Prints a new token and its entry.
pub(super) fn run(how: Token) -> u8 {
    let Token { name, repos, index, invalidate } = how;
    let token = match random() {
        Ok(token) => token,
        Err(err) => return fail(&err),
    };
    match Entry::new(&token, repos, index, invalidate).written(&name) {
        Ok(entry) => {
            output::print_bytes(entry.as_bytes());
            output::complain(&format!("the token of {name}, which is shown this once: {token}\n"));
            FOUND
        }
        Err(problem) => complain(&problem),
    }
}
