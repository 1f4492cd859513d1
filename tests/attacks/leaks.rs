//! Credentials in files of any name.

use serde_json::{Value, json};

use super::Place;

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
