//! Small model folders, made for tests.

use std::path::Path;

use serde_json::{Map, Value, json};

/// Writes a safetensors file of single precision.
pub fn save(path: &Path, tensors: &[(&str, Vec<usize>, Vec<f32>)]) {
    let (mut header, mut bytes) = (Map::new(), Vec::new());
    for (name, shape, numbers) in tensors {
        let from = bytes.len();
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        let place = json!({"dtype": "F32", "shape": shape, "data_offsets": [from, bytes.len()]});
        header.insert((*name).to_owned(), place);
    }
    let header = Value::Object(header).to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(bytes);
    std::fs::write(path, file).expect("the folder is ours");
}

/// Writes a tokenizer that knows these pieces.
pub fn save_tokenizer(folder: &Path, pieces: &[&str]) {
    let vocabulary: Map<String, Value> =
        (0..).zip(pieces).map(|(number, piece)| ((*piece).to_owned(), Value::from(number))).collect();
    let json = json!({
        "normalizer": {"type": "BertNormalizer", "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {"type": "WordPiece", "vocab": vocabulary, "unk_token": "[UNK]"},
    });
    std::fs::write(folder.join("tokenizer.json"), json.to_string()).expect("the folder is ours");
}

/// Writes a table of Model2Vec: words with their vectors.
pub fn save_table(folder: &Path, words: &[(&str, &[f32])]) {
    let dimensions = words.first().map_or(1, |(_, vector)| vector.len());
    let pieces: Vec<&str> = std::iter::once("[UNK]").chain(words.iter().map(|(word, _)| *word)).collect();
    let unknown = vec![9.0; dimensions];
    let numbers = unknown.into_iter().chain(words.iter().flat_map(|(_, vector)| vector.iter().copied())).collect();
    save(&folder.join("model.safetensors"), &[("embeddings", vec![pieces.len(), dimensions], numbers)]);
    save_tokenizer(folder, &pieces);
}
