//! Models in folders: small ones made here, and folders without a model.

use std::path::Path;

use serde_json::{Value, json};

use super::folders::{save, save_table, save_tokenizer};
use super::*;

fn embed(model: &Local, texts: &[&str], purpose: Purpose) -> Vec<Vec<f32>> {
    model.embed(texts, purpose, &Arc::default()).expect("nothing is cancelled")
}

#[test]
fn a_table_adds_up_the_vectors_of_known_words() {
    let folder = tempfile::tempdir().expect("there is room");
    save_table(folder.path(), &[("send", &[1.0, 0.0]), ("packet", &[0.0, 2.0]), ("##s", &[0.5, 0.0])]);
    let model = Local::open(folder.path()).expect("it is a model");
    let vectors = embed(&model, &["sendPackets strange", "send", ""], Purpose::Document);
    assert_eq!(vectors, [[1.5, 2.0], [1.0, 0.0], [0.0, 0.0]]);
    assert_eq!((model.name(), model.host()), ("local", None));
    let cancelled = Arc::new(AtomicBool::new(true));
    assert!(model.embed(&["send"], Purpose::Document, &cancelled).expect_err("it is cancelled").is_cancelled());
}

#[test]
fn a_model_is_the_same_wherever_it_lies() {
    let (one, other) = (tempfile::tempdir().expect("there is room"), tempfile::tempdir().expect("there is room"));
    let identity = |folder: &Path, number: f32| {
        save_table(folder, &[("send", &[number])]);
        Local::open(folder).expect("it is a model").identity()
    };
    assert_eq!(identity(one.path(), 1.0), identity(other.path(), 1.0));
    assert_ne!(identity(one.path(), 1.0), identity(other.path(), 2.0));
}

/// Writes an encoder whose numbers are sines, so that numpy can compute the expected vectors.
fn save_encoder(folder: &Path, config: &Value) {
    let (width, inner) = (8, 16);
    let mut shapes: Vec<(String, Vec<usize>)> = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![8, width]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![16, width]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, width]),
        ("embeddings.LayerNorm.weight".to_owned(), vec![width]),
        ("embeddings.LayerNorm.bias".to_owned(), vec![width]),
    ];
    for layer in 0..2 {
        let linear = [
            ("attention.self.query", width, width),
            ("attention.self.key", width, width),
            ("attention.self.value", width, width),
            ("attention.output.dense", width, width),
            ("intermediate.dense", inner, width),
            ("output.dense", width, inner),
        ];
        for (name, outputs, inputs) in linear {
            shapes.push((format!("encoder.layer.{layer}.{name}.weight"), vec![outputs, inputs]));
            shapes.push((format!("encoder.layer.{layer}.{name}.bias"), vec![outputs]));
        }
        for name in ["attention.output", "output"] {
            shapes.push((format!("encoder.layer.{layer}.{name}.LayerNorm.weight"), vec![width]));
            shapes.push((format!("encoder.layer.{layer}.{name}.LayerNorm.bias"), vec![width]));
        }
    }
    let sines = |number: usize, shape: &[usize]| -> Vec<f32> {
        let count = shape.iter().product::<usize>();
        (0..count).map(|at| ((at * at) as f64 * 0.37 + number as f64).sin() as f32).collect()
    };
    let tensors: Vec<(&str, Vec<usize>, Vec<f32>)> = shapes
        .iter()
        .enumerate()
        .map(|(number, (name, shape))| (name.as_str(), shape.clone(), sines(number, shape)))
        .collect();
    save(&folder.join("model.safetensors"), &tensors);
    save_tokenizer(folder, &["[UNK]", "[CLS]", "[SEP]", "buy", "goods", "send", "now", "##er"]);
    std::fs::write(folder.join("config.json"), config.to_string()).expect("the folder is ours");
}

fn encoder_config() -> Value {
    json!({
        "model_type": "bert", "hidden_act": "gelu", "hidden_size": 8, "intermediate_size": 16, "num_attention_heads": 2,
        "num_hidden_layers": 2, "max_position_embeddings": 16, "type_vocab_size": 2, "layer_norm_eps": 1e-12
    })
}

#[test]
fn an_encoder_gives_the_vectors_that_another_program_computes() {
    let folder = tempfile::tempdir().expect("there is room");
    save_encoder(folder.path(), &encoder_config());
    let model = Local::open(folder.path()).expect("it is a model");
    let unit = |vector: &Vec<f32>| -> Vec<f32> {
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        vector.iter().map(|number| number / length).collect()
    };
    // Computed by numpy from the same sines.
    let expected = [
        [-0.3312, -0.45118, 0.17055, 0.59637, -0.29171, 0.31483, 0.1176, -0.32241],
        [-0.33601, -0.47099, 0.15953, 0.57614, -0.28965, 0.3164, 0.1475, -0.31956],
        [-0.34464, -0.47158, 0.16021, 0.55939, -0.29042, 0.32383, 0.17442, -0.3172],
    ];
    // Texts of one call do not affect each other.
    let vectors = embed(&model, &["Buy goods", "send", ""], Purpose::Document);
    for (vector, expected) in vectors.iter().map(unit).zip(expected) {
        let is_near = vector.iter().zip(expected).all(|(number, expected)| (number - expected).abs() < 1e-4);
        assert!(is_near, "{vector:?} instead of {expected:?}");
    }
    let alone = embed(&model, &["send"], Purpose::Document);
    assert!(alone[0].iter().zip(&vectors[1]).all(|(number, other)| (number - other).abs() < 1e-5));
    let long = embed(&model, &[&"buy goods ".repeat(100)], Purpose::Question);
    assert!(long[0].iter().all(|number| number.is_finite()));
}

#[test]
fn prompts_are_put_before_questions() {
    let folder = tempfile::tempdir().expect("there is room");
    save_table(folder.path(), &[("query", &[4.0]), ("send", &[1.0])]);
    let prompts = json!({"prompts": {"query": "query: ", "document": ""}});
    std::fs::write(folder.path().join("config_sentence_transformers.json"), prompts.to_string()).expect("it is ours");
    let model = Local::open(folder.path()).expect("it is a model");
    assert_eq!(embed(&model, &["send"], Purpose::Document), [[1.0]]);
    assert_eq!(embed(&model, &["send"], Purpose::Question), [[5.0]]);
}

#[test]
fn folders_without_a_model_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path();
    let refused = |path: &Path| Local::open(path).expect_err("it is not a model").to_string();
    assert!(refused(&path.join("potion")).contains("nothing is downloaded"));
    assert!(refused(path).contains("model.safetensors"));
    save_table(path, &[("send", &[1.0])]);
    std::fs::remove_file(path.join("tokenizer.json")).expect("it is ours");
    assert!(refused(path).contains("tokenizer.json"));
    save_tokenizer(path, &["[UNK]", "send", "more"]);
    assert!(refused(path).contains("2 vectors, which do not fit the 3 tokens"));
    save(&path.join("model.safetensors"), &[("wte.weight", vec![1], vec![1.0])]);
    assert!(refused(path).contains("neither a table"));
    for (key, value, said) in [
        ("hidden_size", json!(16), "shape"),
        ("num_attention_heads", json!(3), "not divisible"),
        ("num_attention_heads", Value::Null, "num_attention_heads"),
        ("num_hidden_layers", json!(3), "encoder.layer.2"),
        ("hidden_act", json!("relu"), "relu"),
        ("model_type", json!("roberta"), "roberta"),
    ] {
        let mut config = encoder_config();
        config[key] = value;
        save_encoder(path, &config);
        let refused = refused(path);
        assert!(refused.contains(said), "{key}: {refused}");
    }
    save_encoder(path, &encoder_config());
    let whole = std::fs::read(path.join("model.safetensors")).expect("it is there");
    for end in (0..whole.len()).step_by(97) {
        std::fs::write(path.join("model.safetensors"), &whole[..end]).expect("it is ours");
        refused(path);
    }
}
