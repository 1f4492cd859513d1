//! Search by meaning in 100,000 symbols that are made here: embedding them by a table on this machine, and the nearest
//! hundred to a question. `CODELODE_BENCH_MODEL` names the folder of a model to time on the first thousand.

mod measure;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use codelode::config::Config;
use codelode::embed::{self, Provider, Purpose};
use codelode::pipeline::{self, Embedding};
use codelode::store::Snapshot;
use measure::results::{Results, report};
use measure::{Indexed, Sample, scratch, wants};
use serde_json::{Map, Value, json};

const FILES: usize = 1_000;
const FUNCTIONS: usize = 100;
const WORDS: usize = 5_000;
const DIMENSIONS: usize = 256;
const NEAREST: usize = 100;
const QUESTIONS: usize = 100;
/// Names the folder of another model.
const MODEL: &str = "CODELODE_BENCH_MODEL";

fn main() {
    let _results = Results::of("meaning");
    if wants("meaning") {
        meaning();
    }
}

fn meaning() {
    let folder = scratch();
    let (root, model) = (folder.path().join("code"), folder.path().join("model"));
    let mut draw = Draw(0x5eed);
    write_code(&root, FILES, &mut draw);
    write_model(&model, &mut draw);
    let indexed = Indexed::new(&root, &folder.path().join("index"));
    let snapshot = indexed.snapshot();
    let provider = provider(&model);
    report("a table", &snapshot, &provider);

    let vectors =
        |text: &str| provider.embed(&[text], Purpose::Question, &Arc::default()).expect("it is here").remove(0);
    let meanings = pipeline::meanings(&snapshot, &provider.identity()).expect("it was made").expect("it was made");
    let questions: Vec<Vec<f32>> = (0..QUESTIONS).map(|_| vectors(&draw.words(6))).collect();
    let ask = |question: &Vec<f32>| {
        let began = Instant::now();
        black_box(meanings.nearest(question, NEAREST, &mut |_| true));
        began.elapsed()
    };
    questions.iter().take(5).for_each(|question| _ = ask(question));
    let sample = Sample::new(questions.iter().map(ask).collect());
    let (median, last) = (sample.percentile(50), sample.percentile(99));
    report!("nearest {NEAREST} of {}: median {median:.2} ms, p99 {last:.2} ms", meanings.len());

    if let Some(model) = std::env::var_os(MODEL).map(PathBuf::from) {
        let few = folder.path().join("few");
        write_code(&few, 10, &mut draw);
        let indexed = Indexed::new(&few, &folder.path().join("other"));
        report(&model.display().to_string(), &indexed.snapshot(), &self::provider(&model));
    }
}

fn provider(model: &Path) -> Arc<dyn Provider> {
    let mut config = Config::default();
    config.models.embed_model = Some(model.to_owned());
    embed::provider(&config).expect("it is a model").expect("it is set")
}

/// Embeds everything and prints how long that takes.
fn report(name: &str, snapshot: &Snapshot, provider: &Arc<dyn Provider>) {
    let missing = pipeline::missing(snapshot, &provider.identity(), false).expect("the store is ours");
    let (progress, cancelled, patience) = (&codelode::model::unfollowed, &Arc::default(), Duration::ZERO);
    let how = Embedding { provider, batch: None, force: false, until: None, progress, cancelled, patience };
    let (began, cpu) = (Instant::now(), measure::cpu_seconds());
    let done = pipeline::embed(snapshot, &missing, &how).map_err(|(err, _)| err).expect("the store is ours");
    let (wall, cpu) = (began.elapsed().as_secs_f64(), measure::cpu_seconds() - cpu);
    report!("{name}: {} texts of {} tokens in {wall:.2} s, {cpu:.2} s of processors", done.embedded, done.tokens);
}

/// Random numbers, the same at every run.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn word(&mut self) -> String {
        format!("w{}", self.next() as usize % WORDS)
    }

    fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

fn write_code(root: &Path, files: usize, draw: &mut Draw) {
    std::fs::create_dir_all(root).expect("the scratch folder can be written");
    for file in 0..files {
        let function = |number| {
            let (name, doc, body) = (draw.word(), draw.words(12), draw.words(20).replace(' ', "(), "));
            format!("def {name}_{file}_{number}(a, b):\n    \"\"\"{doc}\"\"\"\n    return [{body}()]\n\n\n")
        };
        let text: String = (0..FUNCTIONS).map(function).collect();
        std::fs::write(root.join(format!("m{file}.py")), text).expect("there is room");
    }
}

/// Writes a table of Model2Vec with a random vector for each word.
fn write_model(folder: &Path, draw: &mut Draw) {
    std::fs::create_dir_all(folder).expect("the scratch folder can be written");
    let words = std::iter::once("[UNK]".to_owned()).chain((0..WORDS).map(|number| format!("w{number}")));
    let vocabulary: Map<String, Value> = (0..).zip(words).map(|(number, word)| (word, Value::from(number))).collect();
    let count = vocabulary.len();
    let bytes: Vec<u8> =
        (0..count * DIMENSIONS).flat_map(|_| (draw.next() as i32 as f32 / i32::MAX as f32).to_le_bytes()).collect();
    let place = json!({"dtype": "F32", "shape": [count, DIMENSIONS], "data_offsets": [0, bytes.len()]});
    let header = json!(BTreeMap::from([("embeddings", place)])).to_string();
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &bytes].concat();
    std::fs::write(folder.join("model.safetensors"), file).expect("there is room");
    let tokenizer = json!({
        "normalizer": {"type": "BertNormalizer"},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {"type": "WordPiece", "vocab": vocabulary, "unk_token": "[UNK]"},
    });
    std::fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).expect("there is room");
}
