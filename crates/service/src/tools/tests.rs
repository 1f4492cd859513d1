//! Calls of toy tools: arguments and answers.

mod context;
mod meaning;
mod summaries;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::call::call_among;
use super::{Call, Context, Envelope, Error, Freshness, Request, Tool, ToolSpec, tokens};
use codelode_base::config::Config;

/// Finds numbers.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
struct FindArgs {
    /// Names of each.
    query: String,
    /// How many there are.
    all: usize,
    /// How many at once.
    max_results: Option<u32>,
    /// How long the text of each is.
    length: usize,
    #[schemars(range(min = 1, max = 3))]
    depth: u8,
    weight: f64,
    fuzzy: bool,
    #[schemars(extend("x-aliases" = ["symbols"]))]
    names: Vec<String>,
    kind: Option<Kind>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// One that is called.
    Function,
    /// One that holds.
    Class,
}

#[derive(Serialize, JsonSchema)]
struct FindOutput {
    result_count: usize,
    results: Vec<Value>,
}

struct Find;

impl Tool for Find {
    const NAME: &'static str = "find_numbers";
    const COMMAND: &'static str = "find";
    const LIST: Option<&'static str> = Some("results");
    type Args = FindArgs;
    type Output = FindOutput;

    fn run(call: &Call<'_>, args: FindArgs) -> Result<FindOutput, Error> {
        call.repo("local/numbers");
        call.freshness("local/numbers", Freshness::Fresh);
        call.narrow("give a longer query");
        let text = "words of the text ".repeat(args.length / 18 + 1);
        let item = |n| json!({"n": n, "name": format!("{}{n}", args.query), "text": text[..args.length]});
        let results = call.page((0..args.all).map(item).collect(), args.max_results.map_or(usize::MAX, |n| n as usize));
        Ok(FindOutput { result_count: results.len(), results })
    }
}

/// A tool that returns its arguments.
struct Echo;

impl Tool for Echo {
    const NAME: &'static str = "echo";
    const COMMAND: &'static str = "echo";
    type Args = FindArgs;
    type Output = FindArgs;

    fn run(call: &Call<'_>, args: FindArgs) -> Result<FindArgs, Error> {
        call.baseline("a", (4000, 100), (20, 20));
        call.baseline("a", (4000, 100), (90, 90));
        call.baseline("b", (80_000, 1000), (500, 500));
        call.note("content_verified", true);
        Ok(args)
    }
}

#[derive(Deserialize, JsonSchema)]
struct FailArgs {
    /// How.
    how: String,
    /// With what.
    names: Vec<String>,
}

struct Fail;

impl Tool for Fail {
    const NAME: &'static str = "fail";
    const COMMAND: &'static str = "fail";
    type Args = FailArgs;
    type Output = Value;

    fn run(_: &Call<'_>, args: FailArgs) -> Result<Value, Error> {
        match args.how.as_str() {
            "panic" => panic!("asked for"),
            "nested" => {
                Ok(json!({"file": "a.rs", "matches": (0..5000).map(|n| json!({"line": n})).collect::<Vec<_>>()}))
            }
            "numbers" => Ok(json!((0..100).map(|n| (format!("number {n}"), json!(n))).collect::<Map<_, _>>())),
            _ => Err(Error::ambiguous("two repositories bear that name").with("candidates", args.names)),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct GiveArgs {
    /// The text.
    answer: Map<String, Value>,
}

/// A tool that returns a given answer.
struct Give;

impl Tool for Give {
    const NAME: &'static str = "give";
    const COMMAND: &'static str = "give";
    const LIST: Option<&'static str> = Some("inner.results");
    type Args = GiveArgs;
    type Output = Map<String, Value>;

    fn run(call: &Call<'_>, args: GiveArgs) -> Result<Map<String, Value>, Error> {
        call.baseline("c", (100_000, 10), (1, 10));
        Ok(args.answer)
    }
}

static TOYS: &[ToolSpec] =
    &[ToolSpec::of::<Find>(), ToolSpec::of::<Echo>(), ToolSpec::of::<Fail>(), ToolSpec::of::<Give>()];

fn ask(tool: &str, args: Value) -> Envelope {
    let home = tempfile::tempdir().expect("a directory");
    let config = Config { home: home.path().to_owned(), ..Config::default() };
    let Value::Object(args) = args else { panic!("arguments are an object") };
    let envelope = call_among(TOYS, &Context::new(config), tool, args, &Request::default());
    assert!(envelope.value["_meta"]["timing_ms"].as_f64().is_some_and(|ms| ms >= 0.0));
    assert_eq!(envelope.is_error, envelope.value.get("error").is_some());
    assert_eq!(
        envelope.value.as_object().and_then(|answer| answer.keys().next_back()).map(String::as_str),
        Some("_meta")
    );
    envelope
}

fn check(tool: &str, args: Value, expected: Expect) {
    let mut value = ask(tool, args).value;
    // Values that depend on the machine or on the estimator are blanked.
    for key in ["timing_ms", "tokens_saved", "total_tokens_saved"] {
        if let Some(number) = value["_meta"].get_mut(key) {
            *number = 0.into();
        }
    }
    expected.assert_eq(&value.to_string());
}

#[test]
fn an_answer_ends_with_what_is_known_of_it() {
    check(
        "find_numbers",
        json!({"query": "a", "all": 2, "length": 5}),
        expect![[
            r#"{"result_count":2,"results":[{"n":0,"name":"a0","text":"words"},{"n":1,"name":"a1","text":"words"}],"_meta":{"timing_ms":0,"repo":"local/numbers","freshness":"fresh"}}"#
        ]],
    );
}

#[test]
fn an_unknown_tool_names_the_nearest() {
    check(
        "find_number",
        json!({}),
        expect![[
            r#"{"error":"there is no tool `find_number`; did you mean `find_numbers`?","code":"not_found","details":{"nearest":["find_numbers"]},"_meta":{"timing_ms":0}}"#
        ]],
    );
    check(
        "zzz",
        json!({}),
        expect![[r#"{"error":"there is no tool `zzz`","code":"not_found","_meta":{"timing_ms":0}}"#]],
    );
}

#[test]
fn an_unknown_parameter_names_the_nearest() {
    check(
        "echo",
        json!({"querry": "a", "zzz": 1}),
        expect![[
            r#"{"error":"unknown parameters `querry` (did you mean `query`?), `zzz`","code":"invalid_arguments","details":{"known":["query","all","max_results","length","depth","weight","fuzzy","names","kind","max_tokens","format","cursor","count_only"]},"_meta":{"timing_ms":0}}"#
        ]],
    );
}

#[test]
fn a_missing_parameter_is_named() {
    check(
        "fail",
        json!({}),
        expect![[
            r#"{"error":"`how` (a string) and `names` (a list of strings) must be given","code":"invalid_arguments","details":{"missing":["how","names"]},"_meta":{"timing_ms":0}}"#
        ]],
    );
    check(
        "fail",
        json!({"how": null, "names": []}),
        expect![[
            r#"{"error":"`how` (a string) must be given","code":"invalid_arguments","details":{"missing":["how"]},"_meta":{"timing_ms":0}}"#
        ]],
    );
}

#[test]
fn what_is_plainly_meant_is_taken() {
    check(
        "echo",
        json!({"query": 404, "all": "2", "max_results": 3.0, "depth": " 1 ", "weight": "0.5", "fuzzy": "true",
               "symbols": "[\"a\", \"b\"]", "kind": "CLASS", "length": null}),
        expect![[
            r#"{"query":"404","all":2,"max_results":3,"length":0,"depth":1,"weight":0.5,"fuzzy":true,"names":["a","b"],"kind":"class","_meta":{"timing_ms":0,"tokens_saved":0,"total_tokens_saved":0,"estimate_method":"100_lines_a_hit/4","content_verified":true}}"#
        ]],
    );
    check(
        "echo",
        json!({"names": "only"}),
        expect![[
            r#"{"query":"","all":0,"max_results":null,"length":0,"depth":0,"weight":0.0,"fuzzy":false,"names":["only"],"kind":null,"_meta":{"timing_ms":0,"tokens_saved":0,"total_tokens_saved":0,"estimate_method":"100_lines_a_hit/4","content_verified":true}}"#
        ]],
    );
}

#[test]
fn what_does_not_fit_is_refused_with_what_would() {
    for (args, expected) in [
        (json!({"all": "many"}), expect![[r#"`all` must be a whole number of 0 or more; it was "many""#]]),
        (json!({"all": -1}), expect!["`all` must be a whole number of 0 or more; it was -1"]),
        (json!({"all": 1e300}), expect!["`all` must be a whole number of at most 18446744073709551615; it was 1e+300"]),
        (
            json!({"max_results": u64::MAX}),
            expect!["`max_results` must be a whole number of at most 4294967295; it was 18446744073709551615"],
        ),
        (json!({"depth": 4}), expect!["`depth` must be a whole number from 1 to 3; it was 4"]),
        (
            json!({"kind": "clas"}),
            expect![[r#"`kind` must be one of function, class; it was "clas". Did you mean `class`?"#]],
        ),
        (json!({"names": {"a": 1}}), expect!["`names` must be a list of strings; it was an object"]),
        (json!({"query": ["a"]}), expect!["`query` must be a string; it was a list"]),
        (json!({"weight": "NaN"}), expect![[r#"`weight` must be a number; it was "NaN""#]]),
        (json!({"max_tokens": "few"}), expect![[r#"`max_tokens` must be a whole number of 0 or more; it was "few""#]]),
        (json!({"max_tokens": -5}), expect!["`max_tokens` must be a whole number of 0 or more; it was -5"]),
        (json!({"format": "xml"}), expect![[r#"`format` must be one of json, compact; it was "xml""#]]),
        (json!({"count_only": 7}), expect!["`count_only` must be true or false; it was 7"]),
        (
            json!({"cursor": "c10-0000"}),
            expect![[r#"`cursor` "c10-0000" is not from this question to echo; omit it to start from the beginning"#]],
        ),
        (
            json!({"cursor": "é".repeat(4_000)}),
            expect![[
                r#"`cursor` "éééééééééééééééééééééééééééééééééééééééé" is not from this question to echo; omit it to start from the beginning"#
            ]],
        ),
    ] {
        expected.assert_eq(ask("echo", args).value["error"].as_str().expect("an error"));
    }
}

#[test]
fn a_panic_is_an_error_like_another() {
    check(
        "fail",
        json!({"how": "panic", "names": []}),
        expect![[r#"{"error":"internal error in fail: asked for","code":"internal","_meta":{"timing_ms":0}}"#]],
    );
    check(
        "fail",
        json!({"how": "refuse", "names": ["a", "b"]}),
        expect![[
            r#"{"error":"two repositories bear that name","code":"ambiguous","details":{"candidates":["a","b"]},"_meta":{"timing_ms":0}}"#
        ]],
    );
}

#[test]
fn savings_and_facts_are_told() {
    let meta = ask("echo", json!({})).value["_meta"].clone();
    assert_eq!(meta["content_verified"], true);
    assert_eq!(meta["estimate_method"], "100_lines_a_hit/4");
    let saved = meta["tokens_saved"].as_u64().expect("a number");
    assert!((2800..3000).contains(&saved), "{saved}");
    assert_eq!(meta["total_tokens_saved"], saved);
}

#[test]
fn pages_cover_every_item_once() {
    for (format, max_tokens, max_results) in
        [("json", 300, 1000), ("compact", 300, 1000), ("json", 150, 3), ("compact", 1000, 7), ("json", 100_000, 1000)]
    {
        let mut seen = Vec::new();
        let mut cursor = Value::Null;
        loop {
            let answer = ask(
                "find_numbers",
                json!({"query": "number", "all": 120, "length": 20, "format": format, "max_tokens": max_tokens,
                       "max_results": max_results, "cursor": cursor}),
            );
            assert!(!answer.is_error && answer.found, "{}", answer.text);
            assert!(tokens::estimate(&answer.text) <= max_tokens, "{}", answer.text);
            let value = &answer.value;
            let results = value["results"].as_array().expect("a list");
            assert_eq!(value["result_count"], results.len());
            seen.extend(results.iter().map(|item| item["n"].as_u64().expect("a number")));
            cursor = value["next_cursor"].clone();
            if cursor.is_null() {
                assert!(value.get("truncated").is_none() && value["_meta"].get("truncated").is_none());
                break;
            }
            assert_eq!(value["total"], 120);
            assert_eq!(value["left"], 120 - seen.len());
            assert_eq!(value["narrow"], "give a longer query");
            assert!(value["truncated"] == true && value["_meta"]["truncated"] == true);
        }
        assert_eq!(seen, (0..120).collect::<Vec<_>>());
    }
}

#[test]
fn a_cut_uses_the_budget() {
    let answer = ask("find_numbers", json!({"query": "number", "all": 50_000, "length": 20, "max_tokens": 2000}));
    let tokens = tokens::estimate(&answer.text);
    assert!((1950..=2000).contains(&tokens), "{tokens}");
}

#[test]
fn one_huge_item_is_shortened() {
    let answer = ask("find_numbers", json!({"query": "n", "all": 3, "length": 200_000, "max_tokens": 500}));
    assert!(tokens::estimate(&answer.text) <= 500);
    assert_eq!(answer.value["shortened"], json!(["text"]));
    assert_eq!(answer.value["left"], 2);
    let text = answer.value["results"][0]["text"].as_str().expect("text");
    assert!(text.ends_with('…') && text.len() > 1000, "{text}");
    let answer = ask("fail", json!({"how": "nested", "names": [], "max_tokens": 500}));
    let kept = answer.value["matches"].as_array().expect("a list").len();
    assert_eq!(answer.value["shortened"], json!([format!("matches: {} more", 5000 - kept)]));
    assert!(kept > 50 && tokens::estimate(&answer.text) <= 500);
}

#[test]
fn what_cannot_be_cut_says_how_much_it_needs() {
    let small = ask("fail", json!({"how": "numbers", "names": [], "max_tokens": 100}));
    assert_eq!(small.value["code"], "invalid_arguments");
    let needed = small.value["details"]["max_tokens"].clone();
    assert!(!ask("fail", json!({"how": "numbers", "names": [], "max_tokens": needed})).is_error);
}

#[test]
fn only_the_number() {
    check(
        "find_numbers",
        json!({"query": "a", "all": 70_000, "max_results": 5, "count_only": "true"}),
        expect![[r#"{"count":70000,"_meta":{"timing_ms":0,"repo":"local/numbers","freshness":"fresh"}}"#]],
    );
    let none = ask("find_numbers", json!({"count_only": true}));
    assert!(!none.found && none.value["count"] == 0);
}

#[test]
fn nothing_found_is_no_error() {
    let none = ask("find_numbers", json!({"query": "a"}));
    assert!(!none.is_error && !none.found);
    assert!(ask("echo", json!({})).found);
}

#[test]
fn long_errors_fit_too() {
    let names: Vec<String> = (0..1_000).map(|n| format!("candidate {n} {}", "of many ".repeat(20))).collect();
    let refused = ask("fail", json!({"how": "refuse", "names": names}));
    assert_eq!(refused.value["code"], "ambiguous");
    assert!(tokens::estimate(&refused.text) <= 8000);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,200}".prop_map(Value::from),
        "[a-z0-9.\\[\\]\"\n -]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec(("[a-z_]{1,8}", inner), 0..8).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn no_arguments_break_the_door(
        args in prop::collection::vec((prop::sample::select(vec![
            "query", "all", "max_results", "length", "depth", "weight", "fuzzy", "names", "symbols", "kind", "max_tokens",
            "format", "cursor", "count_only", "other",
        ]), any_json()), 0..5),
    ) {
        let args = args.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>();
        let envelope = ask("echo", args.into());
        prop_assert!(!envelope.is_error || envelope.value["code"] == "invalid_arguments", "{}", envelope.text);
    }

    #[test]
    fn whatever_is_answered_fits(
        results in prop::collection::vec(any_json(), 0..40), more in any_json(), max_tokens in 50usize..2000, compact: bool,
    ) {
        let format = if compact { "compact" } else { "json" };
        let answer = json!({"more": more, "inner": {"results": results}});
        let ask_with = |max_tokens| ask("give", json!({"answer": answer, "max_tokens": max_tokens, "format": format}));
        let mut envelope = ask_with(max_tokens);
        let mut limit = max_tokens;
        if envelope.is_error {
            limit = envelope.value["details"]["max_tokens"].as_u64().expect("a number") as usize;
            prop_assert!(limit > max_tokens);
            envelope = ask_with(limit);
        }
        prop_assert!(!envelope.is_error, "{}", envelope.text);
        prop_assert!(tokens::estimate(&envelope.text) <= limit, "{} > {limit}", tokens::estimate(&envelope.text));
        let kept = envelope.value["inner"]["results"].as_array().expect("a list").len();
        let left = envelope.value["left"].as_u64().unwrap_or(0) as usize;
        prop_assert_eq!(kept + left, results.len());
        prop_assert_eq!(left > 0, envelope.value.get("next_cursor").is_some());
        if envelope.value.get("truncated").is_none() {
            prop_assert_eq!(&envelope.value["inner"], &answer["inner"]);
        }
    }
}
