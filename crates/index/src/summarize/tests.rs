//! Services against test servers with their wire formats.

use serde_json::{Value, json};

use super::*;
use codelode_base::config::Secret;
use codelode_net::test_server::{Behaviour, PATIENCE, ReceivedRequest, Reply, TestServer};

const KEY: &str = "sk-very-secret";

/// Asks the service in the settings, at a server with these replies.
fn ask(set: impl Fn(&mut Models, Url), replies: Vec<Reply>) -> (Result<Summaries, Failure>, Vec<ReceivedRequest>) {
    let folder = tempfile::tempdir().expect("there is room");
    let (n, last) = (std::sync::atomic::AtomicUsize::new(0), replies.len() - 1);
    let test_server =
        TestServer::https(move |_| replies[n.fetch_add(1, std::sync::atomic::Ordering::SeqCst).min(last)].clone());
    let ca_file = folder.path().join("ca.pem");
    std::fs::write(&ca_file, &test_server.certificate).expect("the folder is ours");
    let mut config =
        Config { trusted_hosts: vec!["localhost".to_owned()], ca_file: Some(ca_file), ..Config::default() };
    config.models.summary_timeout = PATIENCE;
    set(&mut config.models, Url::parse(&test_server.url("/v1")).expect("it is a URL"));
    let summarizer = summarizer(&config).expect("it is set up");
    let items = [Item::new("function", "add".to_owned(), b"def add(a, b): return a + b")];
    (summarizer.summarize(&items, &Arc::default()), test_server.asked())
}

fn of_openai(models: &mut Models, base: Url) {
    models.openai.base = base;
    models.openai.key = Some(Secret(KEY.to_owned()));
    models.openai.model = Some("small".to_owned());
}

fn said(text: &str) -> Reply {
    let answer = json!({
        "choices": [{"message": {"content": text}}], "usage": {"prompt_tokens": 90, "completion_tokens": 7}
    });
    Reply::new(200, answer.to_string())
}

fn body(asked: &ReceivedRequest) -> Value {
    serde_json::from_slice(&asked.body).expect("it is JSON")
}

#[test]
fn openais_interface_is_asked_in_its_form() {
    let (summaries, asked) = ask(of_openai, vec![said("1: Adds two numbers.")]);
    let summaries = summaries.expect("it answers");
    assert_eq!((&summaries.texts[..], summaries.tokens), (&[Some("Adds two numbers.".to_owned())][..], (90, 7)));
    assert_eq!(asked[0].path, "/v1/chat/completions");
    assert_eq!(asked[0].header("authorization"), Some(&*format!("Bearer {KEY}")));
    let body = body(&asked[0]);
    assert_eq!((&body["model"], &body["messages"][0]["role"]), (&json!("small"), &json!("system")));
    assert!(body["messages"][1]["content"].as_str().expect("a text").contains("return a + b"));
}

#[test]
fn anthropic_is_asked_in_its_form() {
    let answer = json!({
        "content": [{"type": "text", "text": "1: Adds."}], "usage": {"input_tokens": 3, "output_tokens": 4}
    });
    let set = |models: &mut Models, base: Url| {
        models.anthropic.base = base;
        models.anthropic.key = Some(Secret(KEY.to_owned()));
        models.summary_max_tokens = Some(77);
    };
    let (summaries, asked) = ask(set, vec![Reply::new(200, answer.to_string())]);
    let summaries = summaries.expect("it answers");
    assert_eq!((&summaries.texts[..], summaries.tokens), (&[Some("Adds.".to_owned())][..], (3, 4)));
    assert_eq!((asked[0].path.as_str(), asked[0].header("x-api-key")), ("/v1/messages", Some(KEY)));
    assert_eq!(asked[0].header("anthropic-version"), Some("2023-06-01"));
    let body = body(&asked[0]);
    assert_eq!((&body["max_tokens"], &body["model"]), (&json!(77), &json!("claude-haiku-4-5")));
    assert!(body["system"].as_str().expect("instructions").contains("data"));
}

#[test]
fn gemini_is_asked_in_its_form() {
    let answer = json!({"candidates": [{"content": {"parts": [{"text": "1: Ad"}, {"text": "ds."}]}}]});
    let set = |models: &mut Models, base: Url| {
        models.google.base = base;
        models.google.key = Some(Secret(KEY.to_owned()));
        models.google.model = Some("models/gemini-x".to_owned());
    };
    let (summaries, asked) = ask(set, vec![Reply::new(200, answer.to_string())]);
    assert_eq!(summaries.expect("it answers").texts, [Some("Adds.".to_owned())]);
    assert_eq!(asked[0].path, "/v1/models/gemini-x:generateContent");
    assert_eq!((asked[0].header("x-goog-api-key"), asked[0].header("authorization")), (Some(KEY), None));
}

#[test]
fn overload_is_waited_for_and_errors_hold_no_key() {
    for reply in [
        Reply::new(429, "{}").with("retry-after", "0"),
        Reply::new(529, "overloaded"),
        Reply::new(200, "").with_behaviour(Behaviour::HangsUp),
    ] {
        let (summaries, asked) = ask(of_openai, vec![reply, said("1: Adds.")]);
        assert!(summaries.is_ok() && asked.len() == 2, "{summaries:?}");
    }
    for (reply, expected) in [
        (Reply::new(401, json!({"error": {"message": KEY}}).to_string()), "refuses the key"),
        (Reply::new(400, json!({"error": {"message": format!("no {KEY}")}}).to_string()), "no ***"),
        (Reply::new(200, "{}"), "it holds no text"),
    ] {
        let (summaries, asked) = ask(of_openai, vec![reply]);
        let problem = summaries.expect_err("it fails").to_string();
        assert!(problem.contains(expected) && !problem.contains(KEY) && asked.len() == 1, "{problem}");
    }
}

#[test]
fn the_first_service_that_is_set_up_is_asked_and_none_without_a_key() {
    let named = |set: &dyn Fn(&mut Models)| {
        let mut config = Config::default();
        set(&mut config.models);
        summarizer(&config).map(|summarizer| summarizer.name())
    };
    let key = || Some(Secret(KEY.to_owned()));
    assert_eq!(named(&|_| {}), None);
    assert_eq!(named(&|models| models.openai.model = Some("small".to_owned())), None, "OpenAI wants a key");
    assert_eq!(named(&|models| models.google.key = key()), Some("gemini"));
    let both = |models: &mut Models| (models.google.key, models.anthropic.key) = (key(), key());
    assert_eq!(named(&both), Some("anthropic"));
    let chosen = |models: &mut Models| {
        both(models);
        models.summary_provider = Some("gemini".to_owned());
    };
    assert_eq!(named(&chosen), Some("gemini"));
}

#[test]
fn a_service_inside_is_asked_only_when_it_is_trusted() {
    let test_server = TestServer::http(|_| said("1: Adds."));
    let mut config = Config::default();
    config.models.openai.base = Url::parse(&test_server.url("/v1")).expect("it is a URL");
    config.models.openai.model = Some("small".to_owned());
    let ask = |config: &Config| {
        let items = [Item::new("function", "add".to_owned(), b"")];
        summarizer(config).expect("it is set up").summarize(&items, &Arc::default()).map_err(|err| err.to_string())
    };
    let refused = ask(&config).expect_err("it is not named");
    assert!(refused.contains("trusted_hosts") && test_server.connections() == 0, "{refused}");
    config.trusted_hosts = vec!["localhost".to_owned()];
    assert_eq!(ask(&config).expect("it is named").texts, [Some("Adds.".to_owned())]);
}

#[test]
fn costs_are_those_of_the_model_or_of_the_user() {
    let mut config = Config::default();
    config.models.anthropic.key = Some(Secret(KEY.to_owned()));
    let summarizer = |config: &Config| summarizer(config).expect("it is set up");
    assert_eq!(summarizer(&config).cost((1_000_000, 100_000)), Some(1.5));
    let (sent, received) = summarizer(&config).estimate(20, 8_000);
    assert!((2_000..4_000).contains(&sent) && received == 600, "{sent} {received}");
    config.models.summary_price = Some((2.0, 10.0));
    assert_eq!(summarizer(&config).cost((1_000_000, 100_000)), Some(3.0));
    config.models.summary_price = None;
    config.models.anthropic.model = Some("unheard-of".to_owned());
    assert_eq!(summarizer(&config).cost((1, 1)), None);
}

#[test]
fn the_variables_of_services_reach_them() {
    let folder = tempfile::tempdir().expect("there is room");
    let test_server = TestServer::https(|asked| {
        let text = "1: Adds.";
        let answer = match asked.path.as_bytes().get(1) {
            Some(b'a') => json!({"content": [{"type": "text", "text": text}]}),
            Some(b'g') => json!({"candidates": [{"content": {"parts": [{"text": text}]}}]}),
            _ => json!({"choices": [{"message": {"content": text}}]}),
        };
        Reply::new(200, answer.to_string())
    });
    let ca_file = folder.path().join("ca.pem");
    std::fs::write(&ca_file, &test_server.certificate).expect("the folder is ours");
    let bases = ["/a/v1", "/g/v1beta", "/o/v1"].map(|path| test_server.url(path));
    let env = [
        ("CODELODE_CA_FILE", ca_file.to_str().expect("it is text")),
        ("CODELODE_TRUSTED_HOSTS", "localhost"),
        ("ANTHROPIC_API_BASE", &bases[0]),
        ("ANTHROPIC_API_KEY", "sk-a"),
        ("ANTHROPIC_MODEL", "claude-x"),
        ("GOOGLE_API_BASE", &bases[1]),
        ("GOOGLE_API_KEY", "AIza-g"),
        ("GOOGLE_MODEL", "gem-x"),
        ("OPENAI_API_BASE", &bases[2]),
        ("OPENAI_API_KEY", "sk-o"),
        ("OPENAI_MODEL", "gpt-x"),
        ("OPENAI_MAX_TOKENS", "77"),
        ("OPENAI_BATCH_SIZE", "5"),
        ("OPENAI_CONCURRENCY", "3"),
    ];
    let summarizer_without = |left_out: &[&str]| {
        let env = |name: &str| {
            let given = env.iter().find(|(key, _)| *key == name && !left_out.contains(key));
            given.map(|(_, value)| (*value).to_owned())
        };
        let config = codelode_base::config::apply(
            folder.path().to_owned(),
            None,
            &env,
            &codelode_base::config::Flags::default(),
        );
        summarizer(&config.expect("it is right"))
    };
    let (anthropic, google) = ("ANTHROPIC_API_KEY", "GOOGLE_API_KEY");
    // Anthropic comes first, then Gemini, then a server with OpenAI's interface.
    let gem = "/g/v1beta/models/gem-x:generateContent";
    let services = [
        (&[][..], ("/a/v1/messages", "x-api-key", "sk-a", Some("claude-x"), "/max_tokens")),
        (&[anthropic], (gem, "x-goog-api-key", "AIza-g", None, "/generationConfig/maxOutputTokens")),
        (
            &[anthropic, google],
            ("/o/v1/chat/completions", "authorization", "Bearer sk-o", Some("gpt-x"), "/max_tokens"),
        ),
    ];
    for (left_out, (path, header, key, model, most)) in services {
        let summarizer = summarizer_without(left_out).expect("it is set up");
        assert_eq!((summarizer.batch(), summarizer.concurrency()), (5, 3));
        let items = [Item::new("function", "add".to_owned(), b"")];
        assert_eq!(
            summarizer.summarize(&items, &Arc::default()).expect("it answers").texts,
            [Some("Adds.".to_owned())]
        );
        let asked = test_server.asked().pop().expect("it was asked");
        assert_eq!((asked.path.as_str(), asked.header(header)), (path, Some(key)));
        let body = body(&asked);
        assert_eq!((body["model"].as_str(), body.pointer(most)), (model, Some(&json!(77))), "{path}");
    }
    assert!(summarizer_without(&[anthropic, google, "OPENAI_MODEL"]).is_none());
}
