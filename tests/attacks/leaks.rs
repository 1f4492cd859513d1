//! Credentials in files of any name.

use std::fs;

use serde_json::{Value, json};

use super::Place;
use super::client::Server;

#[test]
fn keys_and_tokens_in_files_of_any_name_are_counted_and_named() {
    // Written in parts, so that no scanner finds a key in this file.
    let key = ["-----BEGIN RSA PRIVATE", " KEY-----\n"].concat() + &"MIIEvQIBADANBgkqhkiG9w0B".repeat(3);
    let token = ["ghp", "_"].concat() + &"a7B".repeat(12);
    let place = Place::with([
        ("notes.md", format!("deploy with\n{key}\n")),
        ("client.py", format!("TOKEN = '{token}'\n")),
        ("plain.py", "TOKEN = read_token()\n".to_owned()),
    ]);
    let warnings = |arguments: &[&str]| {
        let answer: Value = serde_json::from_str(&place.run(arguments)).expect("an answer");
        answer["warnings"].to_string()
    };
    let named = "2 files seem to hold a private key or a token, indexed like any other text: client.py, notes.md";
    let told = warnings(&["index", ".", "--json"]);
    assert!(told.contains(named), "{told}");
    // They are not masked: offsets and meanings hold.
    assert!(place.call("get_file_content", &json!({"file_path": "client.py"})).to_string().contains(&token));
    let examined = place.run(&["doctor", "--json", "--quiet"]);
    assert!(examined.contains(named), "{examined}");
    let allowed = ["index", ".", "--json", "--no-incremental", "--allow-secrets", "*.md"];
    let told = warnings(&allowed);
    assert!(told.contains("1 file seems") && told.contains("client.py"), "{told}");
}

/// Arguments by which a misled model would run programs, leave the folder or read secrets.
const MISLED: [&str; 11] = [
    "../outside.txt",
    "../../../../../../etc/passwd",
    ".env",
    "./.env",
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned",
    "--upload-pack=touch pwned",
    "ext::sh -c touch% pwned",
    "ssh://-oProxyCommand=touch%20pwned/x",
    "file:///etc/passwd",
];

#[test]
fn arguments_of_a_misled_model_run_nothing_and_read_nothing_secret() {
    let place = Place::with([("a.py", "def f():\n    pass\n".to_owned()), (".env", "KEY=TOP-SECRET\n".to_owned())]);
    fs::write(place.source().join("../outside.txt"), "OUTSIDE-TEXT\n").expect("the folder is ours");
    let files = || {
        let all = fs::read_dir(place.source()).expect("it is there").flatten();
        let mut all: Vec<_> = all.map(|entry| (entry.file_name(), fs::read(entry.path()).expect("a file"))).collect();
        all.sort();
        all
    };
    let before = files();
    place.run(&["index", "."]);
    let mut server = Server::start(place.command(&["serve", "--tools", "full"]));
    let tools = server.ask("tools/list", json!({}))["result"]["tools"].clone();
    let mut n_calls = 0;
    for tool in tools.as_array().expect("there are tools") {
        let (name, schema) = (tool["name"].as_str().expect("a name"), &tool["inputSchema"]);
        let properties = schema["properties"].as_object().expect("an object");
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let texts: Vec<&String> =
            properties.iter().filter(|(_, schema)| schema["type"] == "string").map(|(name, _)| name).collect();
        for text in texts {
            for value in MISLED {
                let mut arguments = json!({ text.as_str(): value });
                required.iter().filter(|name| **name != text).for_each(|name| arguments[*name] = json!(value));
                let answer = server.ask("tools/call", json!({"name": name, "arguments": arguments})).to_string();
                n_calls += 1;
                for secret in ["TOP-SECRET", "OUTSIDE-TEXT", "root:", "internal"] {
                    assert!(!answer.contains(secret), "{name} {arguments}: {answer:.1000}");
                }
            }
        }
    }
    assert!(n_calls > 300, "{n_calls} calls");
    assert!(files() == before, "the folder has changed");
    server.close();
}
