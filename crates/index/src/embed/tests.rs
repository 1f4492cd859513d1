//! Providers against servers that speak their wire formats, well and badly.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use super::*;
use codelode_base::config::{Models, Secret};
use codelode_net::test_server::{Behaviour, PATIENCE, ReceivedRequest, Reply, TestServer};

const KEY: &str = "sk-very-secret";

/// Settings for a trusted server.
fn config(test_server: &TestServer, folder: &std::path::Path, set: impl Fn(&mut Models, Url)) -> Config {
    let mut config = Config { trusted_hosts: vec!["localhost".to_owned()], ..Config::default() };
    if !test_server.certificate.is_empty() {
        let path = folder.join("ca.pem");
        std::fs::write(&path, &test_server.certificate).expect("the folder is ours");
        config.ca_file = Some(path);
    }
    set(&mut config.models, Url::parse(&test_server.url("/v1")).expect("it is a URL"));
    config
}

fn of_openai(models: &mut Models, base: Url) {
    models.openai.base = base;
    models.openai.key = Some(Secret(KEY.to_owned()));
    models.openai.embed_model = Some("small".to_owned());
    models.embed_timeout = PATIENCE;
}

/// Embeds texts by a server with these replies, in order; the last one repeats.
fn embed(texts: &[&str], replies: Vec<Reply>) -> (Result<Vec<Vec<f32>>, Error>, Vec<ReceivedRequest>) {
    let (n, folder) = (AtomicUsize::new(0), tempfile::tempdir().expect("there is room"));
    let (last, first) = (replies.len() - 1, replies.first().map(|reply| reply.behaviour));
    let test_server = TestServer::https(move |_| replies[n.fetch_add(1, Ordering::SeqCst).min(last)].clone());
    let mut config = config(&test_server, folder.path(), of_openai);
    if first == Some(Behaviour::Silent) {
        config.models.embed_timeout = Duration::from_secs(2);
    }
    let provider = provider(&config).expect("it is right").expect("it is set up");
    let vectors = provider.embed(texts, Purpose::Document, &Arc::default());
    (vectors, test_server.asked())
}

fn two() -> Reply {
    let data = json!([{"index": 1, "embedding": [0.0, 1]}, {"index": 0, "embedding": [1.5, 0.0]}]);
    Reply::new(200, json!({ "data": data }).to_string())
}

#[test]
fn a_batch_is_one_request_and_its_vectors_come_in_order() {
    let (vectors, asked) = embed(&["a", "b"], vec![two()]);
    assert_eq!(vectors.expect("it answers"), [[1.5, 0.0], [0.0, 1.0]]);
    let [asked] = &asked[..] else { panic!("one request: {asked:?}") };
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/v1/embeddings"));
    assert_eq!(asked.header("authorization"), Some(&*format!("Bearer {KEY}")));
    let body: Value = serde_json::from_slice(&asked.body).expect("it is JSON");
    assert_eq!(body, json!({"model": "small", "input": ["a", "b"]}));
}

#[test]
fn limits_overload_silence_and_cut_connections_are_waited_for() {
    let passing = [
        Reply::new(429, "{}").with("retry-after", "0"),
        Reply::new(503, "busy"),
        Reply::new(200, two().body).with_behaviour(Behaviour::Breaks),
        Reply::new(200, "").with_behaviour(Behaviour::Silent),
        Reply::new(200, "").with_behaviour(Behaviour::HangsUp),
    ];
    for reply in passing {
        let (vectors, asked) = embed(&["a", "b"], vec![reply.clone(), two()]);
        assert!(vectors.is_ok() && asked.len() >= 2, "{reply:?}: {vectors:?}");
    }
    let (limited, asked) = embed(&["a", "b"], vec![Reply::new(429, "{}").with("retry-after", "3600")]);
    let limited = limited.expect_err("an hour is too long");
    assert_eq!(
        (limited.to_string().as_str(), asked.len()),
        ("localhost allows no more requests for now; try again in 3600 s", 1)
    );
}

#[test]
fn errors_are_said_once_and_without_the_key() {
    let echo = json!({"error": {"message": format!("bad key {KEY}\nin\u{7} request")}}).to_string();
    for (reply, said) in [
        (Reply::new(401, echo.clone()), "localhost refuses the key (status 401)"),
        (Reply::new(400, echo), "localhost answers with status 400: bad key *** in request"),
        (Reply::new(404, "<html>"), "localhost answers with status 404"),
        (Reply::new(200, "<html>"), "it is not JSON"),
        (Reply::new(200, "{}"), "it holds no embeddings"),
        (Reply::new(200, r#"{"data": [{"embedding": [1]}]}"#), "1 embeddings for 2 texts"),
        (Reply::new(200, r#"{"data": [{"embedding": [1]}, {"embedding": [1, 2]}]}"#), "unequal lengths"),
        (Reply::new(200, r#"{"data": [{"index": 7, "embedding": [1]}]}"#), "it holds no embeddings"),
        (Reply::new(200, r#"{"data": [{"embedding": ["x"]}, {"embedding": [1]}]}"#), "it holds no embeddings"),
        (Reply::new(200, r#"{"data": [{"embedding": [1e99]}, {"embedding": [1]}]}"#), "not a number"),
    ] {
        let (vectors, asked) = embed(&["a", "b"], vec![reply]);
        let said_so = vectors.expect_err("it is refused").to_string();
        assert!(said_so.contains(said) && !said_so.contains(KEY), "{said_so}");
        assert_eq!(asked.len(), 1, "{said}");
    }
}

#[test]
fn a_batch_that_is_too_large_is_halved() {
    let folder = tempfile::tempdir().expect("there is room");
    let test_server = TestServer::https(|asked| {
        let body: Value = serde_json::from_slice(&asked.body).expect("it is JSON");
        let texts = body["input"].as_array().expect("texts");
        if texts.len() > 2 {
            return Reply::new(413, "{}");
        }
        let row = |text: &Value| json!({"embedding": [text.as_str().map_or(0, str::len)]});
        Reply::new(200, json!({"data": texts.iter().map(row).collect::<Vec<_>>()}).to_string())
    });
    let provider =
        provider(&config(&test_server, folder.path(), of_openai)).expect("it is right").expect("it is set up");
    let vectors = provider.embed(&["a", "ab", "abc", "abcd", "abcde"], Purpose::Document, &Arc::default());
    assert_eq!(vectors.expect("it answers"), [[1.0], [2.0], [3.0], [4.0], [5.0]]);
}

#[test]
fn hosts_inside_are_asked_only_when_they_are_trusted() {
    let folder = tempfile::tempdir().expect("there is room");
    let test_server = TestServer::http(|_| two());
    let trusting = config(&test_server, folder.path(), of_openai);
    let ask = |config: &Config| {
        let provider = provider(config).expect("it is right").expect("it is set up");
        provider.embed(&["a", "b"], Purpose::Document, &Arc::default()).map_err(|err| err.to_string())
    };
    let refused = ask(&Config { trusted_hosts: Vec::new(), ..trusting.clone() }).expect_err("it is not named");
    assert!(refused.contains("trusted_hosts") && test_server.connections() == 0, "{refused}");
    assert_eq!(ask(&trusting).expect("it is named").len(), 2);
    // The key must not leave unencrypted.
    assert_eq!(test_server.asked()[0].header("authorization"), None);
}

#[test]
fn a_caller_who_cancels_does_not_wait() {
    let folder = tempfile::tempdir().expect("there is room");
    let cancelled: Arc<AtomicBool> = Arc::default();
    let seen = cancelled.clone();
    let test_server = TestServer::https(move |_| {
        seen.store(true, Ordering::SeqCst);
        Reply::new(429, "{}").with("retry-after", "60")
    });
    let provider =
        provider(&config(&test_server, folder.path(), of_openai)).expect("it is right").expect("it is set up");
    let outcome = provider.embed(&["a"], Purpose::Document, &cancelled);
    assert!(outcome.expect_err("it was cancelled").is_cancelled());
}

#[test]
fn gemini_is_asked_in_its_own_form() {
    let folder = tempfile::tempdir().expect("there is room");
    let bodies: Arc<Mutex<Vec<Value>>> = Arc::default();
    let seen = bodies.clone();
    let test_server = TestServer::https(move |asked| {
        seen.lock().expect("nothing panics").push(serde_json::from_slice(&asked.body).expect("it is JSON"));
        Reply::new(200, json!({"embeddings": [{"values": [0.5, 0.25]}]}).to_string())
    });
    let config = config(&test_server, folder.path(), |models, base| {
        models.google.base = base;
        models.google.key = Some(Secret(KEY.to_owned()));
        models.google.embed_model = Some("models/gemini-embedding-001".to_owned());
        models.embed_batch = 1000;
    });
    let provider = provider(&config).expect("it is right").expect("it is set up");
    assert_eq!((provider.name(), provider.model(), provider.batch()), ("gemini", "gemini-embedding-001", 100));
    let vectors = provider.embed(&["a"], Purpose::Question, &Arc::default()).expect("it answers");
    assert_eq!(vectors, [[0.5, 0.25]]);
    let asked = &test_server.asked()[0];
    assert_eq!(asked.path, "/v1/models/gemini-embedding-001:batchEmbedContents");
    assert_eq!((asked.header("x-goog-api-key"), asked.header("authorization")), (Some(KEY), None));
    let content = json!({"parts": [{"text": "a"}]});
    let name = "models/gemini-embedding-001";
    let request = json!({"model": name, "content": content, "taskType": "CODE_RETRIEVAL_QUERY"});
    assert_eq!(bodies.lock().expect("nothing panics")[0], json!({ "requests": [request] }));
}

#[test]
fn nothing_is_set_up_by_a_key_or_a_model_alone() {
    let with = |set: &dyn Fn(&mut Models)| {
        let mut config = Config::default();
        set(&mut config.models);
        provider(&config).expect("nothing is wrong").map(|provider| provider.identity())
    };
    let key = || Some(Secret(KEY.to_owned()));
    assert_eq!(with(&|_| {}), None);
    assert_eq!(with(&|models| models.openai.key = key()), None);
    assert_eq!(with(&|models| models.google.key = key()), None);
    assert_eq!(with(&|models| models.openai.embed_model = Some("small".to_owned())), None, "OpenAI wants a key");
    assert_eq!(with(&|models| models.google.embed_model = Some("small".to_owned())), None);
    let both = with(&|models| {
        models.openai.embed_model = Some("small".to_owned());
        models.openai.key = key();
    });
    assert_eq!(both.as_deref(), Some("openai https://api.openai.com/v1 small"));
}

/// Settings from environment variables, adjusted to reach a test server.
fn of_environment(test_server: &TestServer, folder: &std::path::Path, env: &[(&str, &str)]) -> Config {
    let ca_file = folder.join("ca.pem");
    std::fs::write(&ca_file, &test_server.certificate).expect("the folder is ours");
    let env = |name: &str| match name {
        "CODELODE_CA_FILE" => Some(ca_file.display().to_string()),
        "CODELODE_TRUSTED_HOSTS" => Some("localhost".to_owned()),
        _ => env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()),
    };
    codelode_base::config::apply(folder.to_owned(), None, &env, &codelode_base::config::Flags::default())
        .expect("it is right")
}

#[test]
fn the_variables_of_services_reach_them() {
    let folder = tempfile::tempdir().expect("there is room");
    let test_server = TestServer::https(|asked| match asked.path.contains("batchEmbedContents") {
        true => Reply::new(200, json!({"embeddings": [{"values": [0.5, 0.25]}]}).to_string()),
        false => Reply::new(200, json!({"data": [{"embedding": [0.5, 0.25]}]}).to_string()),
    });
    let (openai, google) = (test_server.url("/o/v1"), test_server.url("/g/v1beta"));
    let services = [
        (
            [("OPENAI_API_BASE", openai.as_str()), ("OPENAI_EMBED_MODEL", "nomic"), ("OPENAI_API_KEY", "sk-o")],
            ("/o/v1/embeddings", "authorization", "Bearer sk-o", "/model", "nomic"),
        ),
        (
            [("GOOGLE_API_BASE", google.as_str()), ("GOOGLE_EMBED_MODEL", "gem"), ("GOOGLE_API_KEY", "AIza-g")],
            ("/g/v1beta/models/gem:batchEmbedContents", "x-goog-api-key", "AIza-g", "/requests/0/model", "models/gem"),
        ),
    ];
    for (env, (path, header, key, place, model)) in services {
        let config = of_environment(&test_server, folder.path(), &env);
        let provider = provider(&config).expect("it is right").expect("it is set up");
        assert_eq!(provider.embed(&["a"], Purpose::Document, &Arc::default()).expect("it answers"), [[0.5, 0.25]]);
        let asked = test_server.asked().pop().expect("it was asked");
        assert_eq!((asked.path.as_str(), asked.header(header)), (path, Some(key)));
        let body: Value = serde_json::from_slice(&asked.body).expect("it is JSON");
        assert_eq!(body.pointer(place), Some(&json!(model)));
        // Without the model nothing is set up, and neither without Google's key.
        let without = |name: &str| {
            let rest: Vec<(&str, &str)> = env.into_iter().filter(|(key, _)| *key != name).collect();
            super::provider(&of_environment(&test_server, folder.path(), &rest)).expect("it is right").is_none()
        };
        assert!(without(env[1].0), "{env:?}");
        assert_eq!(without(env[2].0), path.starts_with("/g"), "{env:?}");
    }
}

#[cfg(feature = "local-models")]
#[test]
fn a_folder_that_a_variable_names_embeds_and_no_service_is_asked() {
    let folder = tempfile::tempdir().expect("there is room");
    save_table(folder.path(), &[("send", &[1.0, 0.0])]);
    let test_server = TestServer::https(|_| two());
    let (base, path) = (test_server.url("/v1"), folder.path().display().to_string());
    let env = [
        ("JCODEMUNCH_EMBED_MODEL", path.as_str()),
        ("OPENAI_API_BASE", &base),
        ("OPENAI_EMBED_MODEL", "nomic"),
        ("OPENAI_API_KEY", KEY),
    ];
    let config = of_environment(&test_server, folder.path(), &env);
    let provider = provider(&config).expect("it is right").expect("it is set up");
    assert_eq!((provider.name(), provider.host()), ("local", None));
    assert_eq!(provider.embed(&["send"], Purpose::Document, &Arc::default()).expect("it embeds"), [[1.0, 0.0]]);
    assert_eq!(test_server.connections(), 0);
}
