//! Cost of answers: searches by form of query, a symbol's source, a new process, a server's memory, tokens.

mod measure;

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use codelode::query::terms::{self, Terms};
use codelode::query::{self, Search};
use codelode::store::{Snapshot, SymbolView, word_parts};
use codelode::tools::{self, Context, Envelope, Request};
use criterion::{Criterion, criterion_group};
use measure::results::{Results, report};
use measure::{CORPORA, Indexed, Sample, corpus, scratch};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Queries of each sort.
const QUERIES: usize = 300;
/// Times that each is asked after it was asked once.
const ROUNDS: usize = 3;
/// Whole processes that are started for a median.
const PROCESSES: usize = 20;
/// If set, searches a million symbols as well, whose index takes minutes to make.
const MILLION: &str = "CODELODE_MILLION";
/// If set, the tokens are of the queries below the first folder, about trees below the second.
const ASKED: &str = "CODELODE_ASKED";
const TREES: &str = "CODELODE_TREES";
/// One query in so many is followed by questions about its first hit.
const ABOUT_FIRST: usize = 5;

fn main() {
    let _results = Results::of("ranking");
    searches_in_a_million();
    benches();
    Criterion::default().configure_from_args().final_summary();
}

criterion_group!(benches, searches, sizes, source, processes, tokens);

thread_local! {
    // Every part asks the same index, and the first that is wanted makes it.
    static GO: OnceCell<Option<Ground>> = const { OnceCell::new() };
}

/// An index, opened once directly and once by the tools.
struct Ground {
    snapshot: Snapshot,
    cx: Context,
    indexed: Indexed,
    /// Dropped last.
    folder: TempDir,
}

impl Ground {
    /// Indexes `root` into a part of `folder`.
    fn new(root: PathBuf, folder: TempDir) -> Self {
        let indexed = Indexed::new(&root, &folder.path().join("index"));
        let (snapshot, cx) = (indexed.snapshot(), Context::new(indexed.config.clone()));
        eprintln!("{} symbols of {}", indexed.report.facts.symbols, root.display());
        Self { snapshot, cx, indexed, folder }
    }

    /// Calls a tool as a server does.
    fn call(&self, tool: &str, args: Value) -> Envelope {
        let args = args.as_object().expect("arguments are an object").clone();
        let answer = tools::call(&self.cx, tool, args, &Request::default());
        assert!(!answer.is_error, "{}", answer.text);
        answer
    }
}

/// Runs a part over Go's standard library, where its index is wanted and can be had.
fn over_go(part: &str, run: impl FnOnce(&Ground)) {
    if measure::wants(part) {
        GO.with(|go| {
            let make = || corpus("go-std").map(|root| Ground::new(root, scratch()));
            if let Some(ground) = go.get_or_init(make) {
                run(ground);
            }
        });
    }
}

/// Queries of one sort.
struct Sort {
    name: &'static str,
    fuzzy: bool,
    queries: Vec<String>,
}

/// Queries of every sort, drawn from a corpus' own names and sentences, the same at every run.
fn sorts(snapshot: &Snapshot) -> Vec<Sort> {
    let symbols: Vec<SymbolView<'_>> = snapshot.files().flat_map(|file| file.symbols()).collect();
    let mut draw = Draw(0x5eed);
    let mut sort = |name, fuzzy, make: &dyn Fn(&SymbolView<'_>, &mut Draw) -> Option<String>| {
        let (mut seen, mut queries) = (HashSet::new(), Vec::new());
        // Some corpora have no sentences: then there are fewer queries.
        for _ in 0..QUERIES * 200 {
            if queries.len() == QUERIES {
                break;
            }
            let symbol = symbols[draw.below(symbols.len())];
            queries.extend(make(&symbol, &mut draw).filter(|query| seen.insert(query.clone())));
        }
        Sort { name, fuzzy, queries }
    };
    let long_name = |symbol: &SymbolView<'_>| Some(symbol.name().into_owned()).filter(|name| name.chars().count() >= 6);
    vec![
        sort("identifier", false, &|symbol, _| Some(symbol.name().into_owned()).filter(|name| name.len() >= 3)),
        sort("qualified", false, &|symbol, _| {
            let qualified = symbol.qualified_name();
            let mut parts = qualified.rsplit('.');
            let (name, owner) = (parts.next()?, parts.next()?);
            Some(format!("{owner}.{name}"))
        }),
        sort("prefix", false, &|symbol, _| {
            let name = long_name(symbol)?;
            Some(name.chars().take(name.chars().count() * 2 / 3).collect())
        }),
        sort("typo", false, &|symbol, draw| Some(draw.slip(&long_name(symbol)?))),
        sort("typo, fuzzy", true, &|symbol, draw| Some(draw.slip(&long_name(symbol)?))),
        sort("two words", false, &|symbol, draw| {
            let name = symbol.name();
            let parts = word_parts(&name);
            let first = draw.below(parts.len().checked_sub(1).filter(|pairs| *pairs > 0)?);
            Some(format!("{} {}", parts[first], parts[first + 1]).to_lowercase())
        }),
        sort("sentence", false, &|symbol, _| {
            Some(symbol.summary(120)).filter(|sentence| sentence.split_whitespace().count() >= 6)
        }),
        sort("phrase", false, &|symbol, draw| {
            let sentence = symbol.summary(120);
            let words: Vec<&str> = sentence.split_whitespace().filter(|word| !word.contains('"')).collect();
            let first = draw.below(words.len().checked_sub(2).filter(|triples| *triples > 0)?);
            Some(format!("\"{}\"", words[first..first + 3].join(" ")))
        }),
        sort("with a term", false, &|symbol, _| {
            let name = Some(symbol.name().into_owned()).filter(|name| name.len() >= 3)?;
            Some(format!("{name} lang:{}", symbol.file.language()))
        }),
        sort("nothing", false, &|_, draw| Some((0..12).map(|_| char::from(b"qxzjvwk"[draw.below(7)])).collect())),
    ]
}

/// Numbers that look random and are the same at every run (Steele et al. 2014, splitmix).
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }

    /// A name with one slip of the finger: a letter left out, doubled, swapped with the next, or another.
    fn slip(&mut self, name: &str) -> String {
        let mut letters: Vec<char> = name.chars().collect();
        let at = self.below(letters.len() - 1);
        match self.below(4) {
            0 => drop(letters.remove(at)),
            1 => letters.insert(at, letters[at]),
            2 => letters.swap(at, at + 1),
            _ => letters[at] = char::from(b'a' + self.below(26) as u8),
        }
        letters.into_iter().collect()
    }
}

/// A search without the tools around it.
fn search(snapshot: &Snapshot, query: &str, fuzzy: bool) -> query::Found {
    let Terms { text, phrases, words, languages, .. } = terms::parse(query);
    let language = languages.first().map(String::as_str);
    let search = Search { fuzzy, phrases: &phrases, words, language, ..Search::of(&text, 10) };
    query::search(snapshot, &search).expect("the index can be read")
}

/// Asks every query, and then again with the clock running.
fn sample(queries: &[String], ask: &dyn Fn(&str)) -> Sample {
    queries.iter().for_each(|query| ask(query));
    let timed = |query: &String| {
        let started = Instant::now();
        ask(query);
        started.elapsed()
    };
    Sample::new((0..ROUNDS).flat_map(|_| queries.iter().map(timed)).collect())
}

/// Prints how long searches take, by sort of query.
fn print_searches(ground: &Ground, sorts: &[Sort]) {
    let symbols = ground.indexed.report.facts.symbols;
    report!("| {symbols} symbols, ms | in process p50 | p99 | with tools p50 | p99 |\n|---|---|---|---|---|");
    let print = |name: &str, inside: &Sample, around: &Sample| {
        let [a, b, c, d] = [inside.percentile(50), inside.percentile(99), around.percentile(50), around.percentile(99)];
        report!("| {name} | {a:.3} | {b:.3} | {c:.3} | {d:.3} |");
    };
    let (mut all_inside, mut all_around) = (Sample::default(), Sample::default());
    for Sort { name, fuzzy, queries } in sorts {
        let inside = sample(queries, &|query| drop(black_box(search(&ground.snapshot, query, *fuzzy))));
        let around = sample(queries, &|query| {
            black_box(ground.call("search_symbols", json!({"query": query, "fuzzy": fuzzy})));
        });
        print(name, &inside, &around);
        all_inside.add(inside);
        all_around.add(around);
    }
    print("of every sort as many", &all_inside, &all_around);
    report!();
}

fn searches(criterion: &mut Criterion) {
    over_go("search", |ground| measure_searches(criterion, "search", ground));
}

/// The searches in a hundredth, a tenth and a third of the corpus, the last with about 100,000 symbols: its smallest
/// folders, up to that size.
fn sizes(criterion: &mut Criterion) {
    let Some(root) = Some("sizes").filter(|part| measure::wants(part)).and_then(|_| corpus("go-std")) else { return };
    let entries = std::fs::read_dir(&root).expect("corpora can be read").flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    let mut folders: Vec<(u64, PathBuf)> = folders.map(|path| (measure::bytes_below(&path), path)).collect();
    folders.sort();
    let all: u64 = folders.iter().map(|(bytes, _)| bytes).sum();
    for part in [100, 10, 3] {
        let folder = scratch();
        let small = folder.path().join("corpus");
        let mut copied = 0;
        for (bytes, from) in &folders {
            if copied >= all / part {
                break;
            }
            copied += bytes;
            measure::copy(from, &small.join(from.file_name().expect("it lies in the corpus")), true);
        }
        let ground = Ground::new(small, folder);
        measure_searches(criterion, &format!("search in 1/{part}"), &ground);
    }
}

/// Prints how long searches take, and measures each sort.
fn measure_searches(criterion: &mut Criterion, what: &str, ground: &Ground) {
    let sorts = sorts(&ground.snapshot);
    print_searches(ground, &sorts);
    let mut group = criterion.benchmark_group(what);
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    for Sort { name, fuzzy, queries } in sorts.iter().filter(|sort| !sort.queries.is_empty()) {
        let mut next = queries.iter().cycle();
        group.bench_function(*name, |bencher| {
            bencher.iter(|| search(&ground.snapshot, next.next().expect("it goes round"), *fuzzy));
        });
    }
    group.finish();
}

/// A million symbols: every corpus, and as many copies as it takes. Common names become still more common by that, so this is
/// rather a hard million than an easy one.
fn searches_in_a_million() {
    if std::env::var_os(MILLION).is_none() || !measure::wants("million") {
        return;
    }
    let there: Vec<PathBuf> = CORPORA.into_iter().filter_map(corpus).collect();
    if there.is_empty() {
        return;
    }
    let folder = scratch();
    let root = folder.path().join("million");
    // A corpus has about one symbol for each kilobyte of all that lies in it.
    let once = there.iter().map(|from| measure::bytes_below(from)).sum::<u64>() / 1_000;
    for round in 0..1_000_000_u64.div_ceil(once.max(1)) {
        for from in &there {
            let name = from.file_name().expect("a corpus has a name");
            measure::copy(from, &root.join(round.to_string()).join(name), true);
        }
    }
    let ground = Ground::new(root, folder);
    print_searches(&ground, &sorts(&ground.snapshot));
}

/// The source of a symbol by its id.
fn source(criterion: &mut Criterion) {
    over_go("get_symbol_source", |ground| {
        let mut draw = Draw(0x50);
        let symbols: Vec<SymbolView<'_>> = ground.snapshot.files().flat_map(|file| file.symbols()).collect();
        let ids: Vec<String> = (0..QUERIES).map(|_| symbols[draw.below(symbols.len())].id()).collect();
        let inside = sample(&ids, &|id| {
            let symbol = query::by_id(&ground.snapshot, id).unwrap_or_else(|_| panic!("{id} is an id"));
            black_box(symbol.source());
        });
        let get = |id: &str| ground.call("get_symbol_source", json!({"symbol_id": id}));
        let around = sample(&ids, &|id| drop(black_box(get(id))));
        report!("| get_symbol_source, ms | p50 | p99 |\n|---|---|---|");
        for (how, took) in [("in process", inside), ("with tools", around)] {
            report!("| {how} | {:.4} | {:.4} |", took.percentile(50), took.percentile(99));
        }
        report!();
        let mut group = criterion.benchmark_group("get_symbol_source");
        group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
        let mut next = ids.iter().cycle();
        group.bench_function("tools", |bencher| bencher.iter(|| get(next.next().expect("it goes round"))));
        group.finish();
    });
}

/// The program as started by people and clients: from nothing to the first answer.
fn processes(_: &mut Criterion) {
    over_go("process", |ground| {
        let Ground { snapshot, indexed, folder, .. } = ground;
        let symbol = snapshot.files().flat_map(|file| file.symbols()).nth(50_000).expect("there are 190,000");
        let index_dir = folder.path().join("index");
        let start = |args: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_codelode"));
            command.arg("--index-dir").arg(&index_dir).args(args).current_dir(&indexed.root);
            command
        };
        let whole = |args: &[&str]| {
            let started = Instant::now();
            let output = start(args).output().expect("the program starts");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            started.elapsed()
        };
        let (name, id) = (symbol.name(), symbol.id());
        let served = || {
            let started = Instant::now();
            let mut server = Server::new(start(&["serve"]));
            server.call("search_symbols", &json!({"query": name, "repo": indexed.root}));
            started.elapsed()
        };
        report!("| new process to first answer, ms | p50 | p95 |\n|---|---|---|");
        let print = |what: &str, run: &dyn Fn() -> Duration| {
            let took = Sample::new((0..PROCESSES).map(|_| run()).collect());
            report!("| {what} | {:.1} | {:.1} |", took.percentile(50), took.percentile(95));
        };
        print("--version", &|| whole(&["--version"]));
        print("search", &|| whole(&["search", &name]));
        print("get", &|| whole(&["get", &id]));
        print("serve, initialize, search_symbols", &served);

        let mut server = Server::new(start(&["serve"]));
        for Sort { fuzzy, queries, .. } in sorts(snapshot) {
            for query in queries.iter().take(5) {
                server.call("search_symbols", &json!({"query": query, "fuzzy": fuzzy, "repo": indexed.root}));
            }
        }
        let process = server.process.id().to_string();
        let [own, all] = ["RssAnon", "VmRSS"].map(|line| measure::megabytes(&process, line));
        report!("\nA server at rest after 40 searches: {own:.1} MB of its own, {all:.1} MB with mapped files.\n");
    });
}

/// A server that is spoken to over its standard streams.
struct Server {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn new(mut command: Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
        let input = process.stdin.take().expect("it is piped");
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut server = Self { process, input, output };
        let client = json!({"name": "bench", "version": "1"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        server.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
        server.tell(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn tell(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("the server listens");
    }

    /// Sends a request and waits for its answer.
    fn ask(&mut self, message: &Value) -> Value {
        self.tell(message);
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("the server speaks") > 0, "the server has ended");
            let answer: Value = serde_json::from_str(&line).expect("the server speaks JSON");
            if answer["id"] == message["id"] {
                return answer;
            }
        }
    }

    fn call(&mut self, tool: &str, args: &Value) {
        let params = json!({"name": tool, "arguments": args});
        let answer = self.ask(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}));
        assert_ne!(answer["result"]["isError"], true, "{answer}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Prints the tokens of answers, which a model pays.
fn tokens(_: &mut Criterion) {
    let mut spent = Spent::default();
    let asked = std::env::var_os(ASKED).map(PathBuf::from).zip(std::env::var_os(TREES).map(PathBuf::from));
    match asked {
        Some((asked, trees)) if measure::wants("tokens") => {
            for (tree, queries) in queries_below(&asked) {
                let root = trees.join(&tree).canonicalize().unwrap_or_else(|_| panic!("{} is no tree", tree.display()));
                spent.ask_all(&Ground::new(root, scratch()), queries.iter());
            }
        }
        _ => over_go("tokens", |ground| {
            let sorts = sorts(&ground.snapshot);
            spent.ask_all(ground, sorts.iter().flat_map(|sort| sort.queries.iter().take(25)));
        }),
    }
    spent.print();
}

/// Queries by the tree that they are about: lines of JSON with `query`, and `repo` and `corpus`, which make the tree's
/// path.
fn queries_below(folder: &Path) -> BTreeMap<PathBuf, Vec<String>> {
    let mut queries: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(&folder).expect("it is a folder").flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                for line in std::fs::read_to_string(&path).expect("it is text").lines() {
                    let line: Value = serde_json::from_str(line).expect("a line is JSON");
                    let text = |key: &str| line[key].as_str().expect("it says so").to_owned();
                    queries.entry(Path::new(&text("repo")).join(text("corpus"))).or_default().push(text("query"));
                }
            }
        }
    }
    queries
}

/// Tokens of answers by sort, each in JSON and compact.
#[derive(Default)]
struct Spent(BTreeMap<&'static str, [Vec<usize>; 2]>);

impl Spent {
    /// Asks queries, and about the first hit of some.
    fn ask_all<'a>(&mut self, ground: &Ground, queries: impl Iterator<Item = &'a String>) {
        for (n, query) in queries.enumerate() {
            let found = ground.call("search_symbols", json!({"query": query})).value;
            // Fewer than ten would flatter the figures.
            if found["result_count"] == 10 {
                self.ask(ground, "1 ten hits", "search_symbols", &json!({"query": query}));
            }
            let hit = &found["results"][0];
            if n % ABOUT_FIRST != 0 || hit.is_null() {
                continue;
            }
            let id = json!({"symbol_id": hit["id"]});
            self.ask(ground, "2 source", "get_symbol_source", &id);
            self.ask(ground, "3 outline", "get_file_outline", &json!({"file_path": hit["file"]}));
            self.ask(ground, "4 references", "find_references", &id);
            self.ask(ground, "5 bundle", "get_context_bundle", &id);
            self.ask(ground, "6 context", "get_ranked_context", &json!({"query": query}));
        }
    }

    fn ask(&mut self, ground: &Ground, sort: &'static str, tool: &str, args: &Value) {
        let encoding = tiktoken_rs::cl100k_base_singleton();
        for (place, format) in ["json", "compact"].into_iter().enumerate() {
            let mut args = args.clone();
            args["format"] = format.into();
            let n_tokens = encoding.encode_ordinary(&ground.call(tool, args).text).len();
            self.0.entry(sort).or_default()[place].push(n_tokens);
        }
    }

    fn print(mut self) {
        if self.0.is_empty() {
            return;
        }
        report!("| tokens: mean, median, 90th percentile | answers | JSON | compact |\n|---|---|---|---|");
        for (sort, sizes) in &mut self.0 {
            let [json, compact] = sizes.each_mut().map(|sizes| {
                sizes.sort_unstable();
                let mean = sizes.iter().sum::<usize>() / sizes.len();
                format!("{mean}, {}, {}", sizes[sizes.len() / 2], sizes[sizes.len() * 9 / 10])
            });
            report!("| {} | {} | {json} | {compact} |", &sort[2..], sizes[0].len());
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_codelode"));
        command.args(["serve", "--tools", "lean"]);
        let list = Server::new(command).ask(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}));
        let list = list["result"]["tools"].to_string();
        report!("\nThe lean list: {} tokens.\n", tiktoken_rs::cl100k_base_singleton().encode_ordinary(&list).len());
    }
}
