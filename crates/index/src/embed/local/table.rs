//! Model2Vec: a table with one vector per token. A text's vector is the mean of its tokens' vectors.

use serde_json::Value;

use super::pieces::Tokenizer;
use super::tensors::{Tensor, Tensors};

/// The most tokens of a text if the model does not define it.
const LONGEST: usize = 512;
/// The name of the tensor in models of Model2Vec and of sentence-transformers.
const NAMES: [&str; 2] = ["embeddings", "embedding.weight"];

/// A table of vectors.
#[derive(Debug)]
pub(super) struct Table {
    tokenizer: Tokenizer,
    dimensions: usize,
    /// Rows of `dimensions` numbers each.
    rows: Vec<f32>,
    /// The row of each token; empty if the token's number is its row.
    row_of: Vec<f32>,
    /// The weight of each token; empty if all are equal.
    weights: Vec<f32>,
    longest: usize,
}

impl Table {
    /// Whether the tensors belong to such a table.
    pub fn is_it(tensors: &Tensors) -> bool {
        NAMES.iter().any(|name| tensors.has(name))
    }

    /// Reads a table. Fails with a description of the problem.
    pub fn of(tensors: &Tensors, tokenizer: Tokenizer, config: &Value) -> Result<Self, String> {
        let name = NAMES.into_iter().find(|name| tensors.has(name)).unwrap_or(NAMES[0]);
        let Tensor { shape, numbers } = tensors.get(name)?;
        let [count, dimensions @ (1..)] = shape[..] else { return Err(format!("the tensor {name} is not a table")) };
        let of_tokens = |name: &str| match tensors.has(name) {
            true => Ok(tensors.get(name)?.numbers),
            false => Ok::<_, String>(Vec::new()),
        };
        let (row_of, weights) = (of_tokens("mapping")?, of_tokens("weights")?);
        let n_tokens = tokenizer.largest() as usize + 1;
        let fits = |list: &[f32]| list.is_empty() || list.len() >= n_tokens;
        let within = row_of.iter().all(|row| (0.0..count as f32).contains(row));
        if !fits(&row_of) || !fits(&weights) || !within || (row_of.is_empty() && count < n_tokens) {
            return Err(format!("it has {count} vectors, which do not fit the {n_tokens} tokens of its tokenizer"));
        }
        let longest = config["max_length"].as_u64().map_or(LONGEST, |length| length as usize);
        Ok(Self { tokenizer, dimensions, rows: numbers, row_of, weights, longest })
    }

    /// Vector of a text.
    pub fn embed(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; self.dimensions];
        for token in self.tokenizer.tokens(text, self.longest) {
            if token == self.tokenizer.unknown() {
                continue;
            }
            let token = token as usize;
            let row = self.row_of.get(token).map_or(token, |row| *row as usize);
            let weight = self.weights.get(token).copied().unwrap_or(1.0);
            let row = self.rows.chunks_exact(self.dimensions).nth(row).unwrap_or_default();
            sum.iter_mut().zip(row).for_each(|(sum, number)| *sum += weight * number);
        }
        sum
    }
}
