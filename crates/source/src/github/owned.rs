//! Repositories of an organisation, or of a user.

use super::{Client, Error, Repository};

/// Most pages of a hundred repositories.
const PAGES: usize = 1_000;

/// Lists all repositories of an organisation, or of a user, that the token may see.
pub fn owned(client: &Client, owner: &str) -> Result<Vec<Repository>, Error> {
    let list = |kind: &str| {
        let mut url = client.url(&[kind, owner, "repos"]);
        url.query_pairs_mut().append_pair("per_page", "100");
        client.pages::<Repository>(url, PAGES)
    };
    match list("orgs") {
        Err(Error::NotFound { .. }) => list("users"),
        result => result,
    }
}
