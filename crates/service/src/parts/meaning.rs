//! Search by meaning, as tools ask for it.

use std::sync::Arc;

use super::errors::store_error;
use super::indexes::Repo;
use super::{Call, Code, Error};
use crate::catalog::meaning::{self, Provider};
use codelode_query::{self as query, Found, Question, Search};

/// Weight of meaning against words when the caller gives none: a share of .3 in the score of a description of code, and next to
/// none for names, changes and tables of words. First sentences of documentation in repositories that nothing was fitted on, with
/// all-MiniLM-L6-v2, recall at 10: 77.1 with .2, 76.4 by words alone, 72.6 with .5.
const WEIGHT: f32 = 0.2;

/// A question by meaning.
pub struct Meaning {
    provider: Arc<dyn Provider>,
    /// `None` when the provider failed, so that words alone must do.
    vector: Option<Vec<f32>>,
    weight: f32,
    alone: bool,
}

impl Meaning {
    /// Embeds a question. When the provider fails, words alone answer, unless the caller wants none of them.
    pub fn of(call: &Call<'_>, text: &str, weight: Option<f32>, alone: bool) -> Result<Self, Error> {
        let provider = meaning::provider(call)?;
        if text.trim().is_empty() {
            return Err(Error::invalid_arguments("`query` has no words to search by meaning"));
        }
        let vector = match meaning::question(call, &provider, text) {
            Ok(vector) => Some(vector),
            Err(err) if alone || err.code == Code::Cancelled => return Err(err),
            Err(err) => {
                call.note("embedding_warning", format!("found by words alone: {}", err.message));
                None
            }
        };
        Ok(Self { provider, vector, weight: weight.unwrap_or(WEIGHT), alone })
    }

    /// The question as a description gets it unasked: where a model is set up that has embedded this repository, and
    /// answers.
    pub fn unasked(call: &Call<'_>, repo: &Repo, text: &str) -> Result<Option<Self>, Error> {
        if !meaning::is_embedded(call, repo) {
            return Ok(None);
        }
        Self::of(call, text, None, false).map(Some)
    }

    /// Searches one repository; `None` when words alone must do.
    pub fn ask(&self, call: &Call<'_>, repo: &Repo, search: &Search<'_>) -> Result<Option<Found>, Error> {
        let Some(vector) = &self.vector else { return Ok(None) };
        let Some(meanings) = meaning::meanings(call, repo, &self.provider)? else {
            let message = "nothing is embedded yet; call embed_repo";
            return if self.alone { Err(Error::unavailable(message)) } else { Ok(None) };
        };
        if meanings.dimensions() != vector.len() {
            let message = format!(
                "the model has {} dimensions, but stored vectors have {}; call embed_repo with force",
                vector.len(),
                meanings.dimensions()
            );
            return Err(Error::invalid_arguments(message));
        }
        let (weight, of_table, alone) = (self.weight, self.provider.is_table(), self.alone);
        let question = Question { meanings: &meanings, vector, weight, of_table, alone };
        let found = query::search_by_meaning(&repo.snapshot, search, &question);
        found.map(Some).map_err(|err| store_error(err, &repo.sidecar))
    }
}
