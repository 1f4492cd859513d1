//! BERT: an encoder of layers, each with attention between the tokens and a small network per token. A text's vector is
//! the mean of its tokens' vectors, or the first of them.

use std::path::Path;

use serde_json::Value;

use super::matrix::{Matrix, add_plain_product, add_product};
use super::pieces::Tokenizer;
use super::tensors::Tensors;

/// An encoder.
#[derive(Debug)]
pub(super) struct Bert {
    tokenizer: Tokenizer,
    /// Tokens at the start and the end of a text.
    ends: (u32, u32),
    /// The most tokens of a text.
    longest: usize,
    /// The length of a token's vector.
    width: usize,
    heads: usize,
    epsilon: f32,
    /// Whether the first token's vector stands for the text, not the mean.
    first: bool,
    words: Vec<f32>,
    /// A vector for each position. The vector of the only segment is added to it.
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

#[derive(Debug)]
struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attended_norm: Norm,
    wide: Linear,
    narrow: Linear,
    norm: Norm,
}

/// A weight matrix with one row per output, and a bias.
#[derive(Debug)]
struct Linear {
    weight: Vec<f32>,
    bias: Vec<f32>,
    inputs: usize,
}

#[derive(Debug)]
struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Bert {
    /// The name of a tensor that every such encoder has, after a prefix.
    const WORDS: &'static str = "embeddings.word_embeddings.weight";

    /// Whether the tensors belong to such an encoder.
    pub fn is_it(tensors: &Tensors) -> bool {
        tensors.names().any(|name| name.ends_with(Self::WORDS))
    }

    /// Reads an encoder. Fails with a description of the problem.
    pub fn of(tensors: &Tensors, tokenizer: Tokenizer, config: &Value, folder: &Path) -> Result<Self, String> {
        let number = |key: &str| config[key].as_u64().map(|number| number as usize).filter(|number| *number > 0);
        let needed = |key: &str| number(key).ok_or_else(|| format!("its config.json has no {key}"));
        for (key, supported) in
            [("model_type", "bert"), ("hidden_act", "gelu"), ("position_embedding_type", "absolute")]
        {
            if let Some(other) = config[key].as_str().filter(|other| *other != supported) {
                return Err(format!("its {key} is {other}; only {supported} is supported"));
            }
        }
        let (width, heads, inner) =
            (needed("hidden_size")?, needed("num_attention_heads")?, needed("intermediate_size")?);
        if width % heads != 0 {
            return Err("its width is not divisible by its heads".to_owned());
        }
        let prefix = tensors.names().find_map(|name| name.strip_suffix(Self::WORDS)).unwrap_or_default();
        let get = |name: &str, shape: &[usize]| tensors.shaped(&format!("{prefix}{name}"), shape);
        let norm = |name: &str| {
            let get = |part: &str| get(&format!("{name}.LayerNorm.{part}"), &[width]);
            Ok::<_, String>(Norm { weight: get("weight")?, bias: get("bias")? })
        };
        let linear = |name: &str, outputs: usize, inputs: usize| {
            let weight = get(&format!("{name}.weight"), &[outputs, inputs])?;
            Ok::<_, String>(Linear { weight, bias: get(&format!("{name}.bias"), &[outputs])?, inputs })
        };
        let layer = |number: usize| {
            let within = |name: &str| format!("encoder.layer.{number}.{name}");
            let square = |name: &str| linear(&within(name), width, width);
            Ok::<_, String>(Layer {
                query: square("attention.self.query")?,
                key: square("attention.self.key")?,
                value: square("attention.self.value")?,
                attended: square("attention.output.dense")?,
                attended_norm: norm(&within("attention.output"))?,
                wide: linear(&within("intermediate.dense"), inner, width)?,
                narrow: linear(&within("output.dense"), width, inner)?,
                norm: norm(&within("output"))?,
            })
        };
        let (most, segments) = (needed("max_position_embeddings")?, number("type_vocab_size").unwrap_or(1));
        let mut positions = get("embeddings.position_embeddings.weight", &[most, width])?;
        let segment = get("embeddings.token_type_embeddings.weight", &[segments, width])?;
        for position in positions.chunks_exact_mut(width) {
            position.iter_mut().zip(&segment).for_each(|(number, segment)| *number += segment);
        }
        let read = |path: &str| {
            let text = std::fs::read(folder.join(path)).unwrap_or_default();
            serde_json::from_slice::<Value>(&text).unwrap_or_default()
        };
        let longest = read("sentence_bert_config.json")["max_seq_length"].as_u64().map_or(most, |most| most as usize);
        let words = tensors.get(&format!("{prefix}{}", Self::WORDS))?;
        let words = match words.shape[..] {
            [count, columns] if count > tokenizer.largest() as usize && columns == width => words.numbers,
            _ => return Err("its vectors of words do not fit its tokenizer".to_owned()),
        };
        let end = |piece: &str| tokenizer.token(piece).ok_or_else(|| format!("its tokenizer has no {piece}"));
        Ok(Self {
            ends: (end("[CLS]")?, end("[SEP]")?),
            longest: longest.min(most).max(3),
            width,
            heads,
            epsilon: config["layer_norm_eps"].as_f64().unwrap_or(1e-12) as f32,
            first: read("1_Pooling/config.json")["pooling_mode_cls_token"] == true,
            words,
            positions,
            norm: norm("embeddings")?,
            layers: (0..needed("num_hidden_layers")?).map(layer).collect::<Result<_, _>>()?,
            tokenizer,
        })
    }

    /// The vectors of some texts. Their tokens pass through the layers together, so that the matrix products are large.
    pub fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let width = self.width;
        let mut rows = Vec::new();
        let mut lengths = Vec::new();
        for text in texts {
            let tokens = self.tokenizer.tokens(text, self.longest - 2);
            let tokens = [self.ends.0].into_iter().chain(tokens).chain([self.ends.1]);
            let before = rows.len();
            for (token, position) in tokens.zip(self.positions.chunks_exact(width)) {
                let word = &self.words[token as usize * width..][..width];
                rows.extend(word.iter().zip(position).map(|(word, position)| word + position));
            }
            lengths.push((rows.len() - before) / width);
        }
        self.norm.apply(&mut rows, width, self.epsilon);
        for layer in &self.layers {
            rows = self.through(layer, &rows, &lengths);
        }
        let mut rest = &rows[..];
        let mut vectors = Vec::with_capacity(texts.len());
        for length in lengths {
            let (own, others) = rest.split_at(length * width);
            rest = others;
            let mut vector = vec![0.0; width];
            for token in own.chunks_exact(width).take(if self.first { 1 } else { length }) {
                vector.iter_mut().zip(token).for_each(|(sum, number)| *sum += number);
            }
            vectors.push(vector);
        }
        vectors
    }

    fn through(&self, layer: &Layer, rows: &[f32], lengths: &[usize]) -> Vec<f32> {
        let (queries, keys, values) = (layer.query.of(rows), layer.key.of(rows), layer.value.of(rows));
        let mut seen = vec![0.0; rows.len()];
        let (width, each) = (self.width, self.width / self.heads);
        let factor = (each as f32).sqrt().recip();
        let mut start = 0;
        let mut scores = Vec::new();
        for length in lengths {
            for head in 0..self.heads {
                let at = start * width + head * each;
                let own = |numbers| Matrix { numbers, rows: *length, columns: each, stride: width };
                scores.clear();
                scores.resize(length * length, 0.0);
                add_product(factor, own(&queries[at..]), own(&keys[at..]), &mut scores, *length);
                scores.chunks_exact_mut(*length).for_each(shares);
                let scores = Matrix { numbers: &scores, rows: *length, columns: *length, stride: *length };
                add_plain_product(scores, own(&values[at..]), &mut seen[at..], width);
            }
            start += length;
        }
        let mut attended = layer.attended.of(&seen);
        add(&mut attended, rows);
        layer.attended_norm.apply(&mut attended, width, self.epsilon);
        let mut wide = layer.wide.of(&attended);
        wide.iter_mut().for_each(|number| *number = gelu(*number));
        let mut narrow = layer.narrow.of(&wide);
        add(&mut narrow, &attended);
        layer.norm.apply(&mut narrow, width, self.epsilon);
        narrow
    }
}

impl Linear {
    fn of(&self, rows: &[f32]) -> Vec<f32> {
        let (count, outputs) = (rows.len() / self.inputs, self.bias.len());
        let mut out = self.bias.repeat(count);
        let input = Matrix { numbers: rows, rows: count, columns: self.inputs, stride: self.inputs };
        let weight = Matrix { numbers: &self.weight, rows: outputs, columns: self.inputs, stride: self.inputs };
        add_product(1.0, input, weight, &mut out, outputs);
        out
    }
}

impl Norm {
    fn apply(&self, rows: &mut [f32], width: usize, epsilon: f32) {
        for row in rows.chunks_exact_mut(width) {
            let mean = row.iter().sum::<f32>() / width as f32;
            let variance = row.iter().map(|number| (number - mean) * (number - mean)).sum::<f32>() / width as f32;
            let factor = (variance + epsilon).sqrt().recip();
            for ((number, weight), bias) in row.iter_mut().zip(&self.weight).zip(&self.bias) {
                *number = (*number - mean) * factor * weight + bias;
            }
        }
    }
}

fn add(sum: &mut [f32], other: &[f32]) {
    sum.iter_mut().zip(other).for_each(|(sum, number)| *sum += number);
}

/// Turns scores into shares of one (softmax).
fn shares(scores: &mut [f32]) {
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores.iter_mut().for_each(|score| *score = (*score - largest).exp());
    let sum = scores.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    scores.iter_mut().for_each(|score| *score /= sum);
}

/// Gaussian error linear unit. The error function is 7.1.26 of Abramowitz and Stegun, exact to 1.5e-7.
fn gelu(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = (1.0 + 0.327_591_1 * z).recip();
    let series = ((((1.061_405_4 * t - 1.453_152_1) * t + 1.421_413_8) * t - 0.284_496_72) * t + 0.254_829_6) * t;
    let erf = (1.0 - series * (-z * z).exp()).copysign(x);
    0.5 * x * (1.0 + erf)
}
