//! Numbers that terms are weighed by when several nodes search their own indexes for one question: each tells its own, and adds
//! those of the others, so that scores are those of one node with all indexes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tantivy::Term;
use tantivy::schema::Field;

use super::index::Search;
use crate::Error;

/// Numbers of documents, of one node or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frequencies {
    /// Documents that have a field, and terms in it, by the field's number.
    #[serde(default)]
    fields: BTreeMap<u32, (u64, u64)>,
    /// Documents that hold a term, by field and text.
    #[serde(default)]
    terms: BTreeMap<String, u64>,
    /// Terms whose numbers another node asks for, which searched for them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    wanted: BTreeSet<String>,
    /// Whether a symbol has the name that was searched for: then names that are only similar are no answers.
    #[serde(default)]
    pub is_named: bool,
}

impl Frequencies {
    /// A question for the terms that are in `all` and not in these; `None` where there are none.
    pub fn asking(&self, all: &Self) -> Option<Self> {
        let wanted: BTreeSet<String> = all.terms.keys().filter(|key| !self.terms.contains_key(*key)).cloned().collect();
        (!wanted.is_empty()).then(|| Self { wanted, ..Self::default() })
    }

    /// Adds those of another node.
    pub fn add(&mut self, other: &Self) {
        for (field, (documents, tokens)) in &other.fields {
            let known = self.fields.entry(*field).or_default();
            *known = (known.0.saturating_add(*documents), known.1.saturating_add(*tokens));
        }
        for (term, documents) in &other.terms {
            let known = self.terms.entry(term.clone()).or_default();
            *known = known.saturating_add(*documents);
        }
        self.is_named |= other.is_named;
    }
}

/// The part of a node in a search over several.
#[derive(Debug, Default)]
pub struct Shard {
    /// Numbers of the other nodes.
    others: Frequencies,
    /// Its own, of all terms that were searched for so far.
    own: Mutex<Frequencies>,
}

impl Shard {
    /// The part of a node beside others with these numbers.
    pub fn beside(others: Frequencies) -> Self {
        Self { others, own: Mutex::default() }
    }

    /// Numbers of this node, for the terms that it was asked for.
    pub fn own(&self) -> Frequencies {
        self.lock().clone()
    }

    /// Whether another node has a symbol of the name that is searched for.
    pub fn is_named_elsewhere(&self) -> bool {
        self.others.is_named
    }

    /// Notes whether this node has one.
    pub fn name(&self, is_named: bool) {
        self.lock().is_named |= is_named;
    }

    /// Notes its numbers of the terms that another node asks for.
    pub fn count(&self, among: &[&Search]) -> Result<(), Error> {
        for key in &self.others.wanted {
            let Some((field, text)) = key.split_once(':') else { continue };
            let field = field.parse().ok().filter(|field| (*field as usize) < among[0].n_fields());
            let Some(field) = field.map(Field::from_field_id) else { continue };
            let term = Term::from_field_text(field, text);
            let (mut holding, mut documents, mut tokens) = (0, 0, 0);
            for one in among {
                holding += one.holding(&term, &one.infos(&term)?)?;
                documents += one.having(field)?;
                tokens += one.tokens(field)?;
            }
            self.holding(&term, holding);
            self.field(field.field_id(), documents, tokens);
        }
        Ok(())
    }

    /// Notes how many of its documents hold a term. Returns how many of the others' do.
    pub(super) fn holding(&self, term: &Term, documents: u64) -> u64 {
        let key = format!("{}:{}", term.field().field_id(), String::from_utf8_lossy(term.serialized_value_bytes()));
        let others = self.others.terms.get(&key).copied().unwrap_or(0);
        self.lock().terms.insert(key, documents);
        others
    }

    /// Notes how many of its documents have a field, and the terms in it. Returns those of the others.
    pub(super) fn field(&self, field: u32, documents: u64, tokens: u64) -> (u64, u64) {
        self.lock().fields.insert(field, (documents, tokens));
        self.others.fields.get(&field).copied().unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Frequencies> {
        // Each change is one step.
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
