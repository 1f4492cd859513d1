//! Tokens of an authorization server: its metadata and keys come from a server of ours, which also signs.

use serde_json::{Value, json};

use super::issuer::{Issuer, RESOURCE, encoded, ready};
use super::web::Site;

const V2025: &str = "2025-06-18";

#[test]
fn scopes_of_a_token_are_rights() {
    let (issuer, place) = (Issuer::start(), tempfile::tempdir().expect("a folder"));
    let site = issuer.site(place.path());
    let (reader, all) = (issuer.token("code:read other"), issuer.token("code:all"));
    ready(&site, &reader);
    for (token, n_repos, code) in
        [(&reader, 1, "access_denied"), (&all, 2, "access_denied"), (&reader, 1, "access_denied")]
    {
        let mut client = site.client().with_token(token);
        client.open(V2025);
        assert_eq!(client.call("list_repos", json!({}))["count"], n_repos);
        assert_eq!(client.call("invalidate_cache", json!({"repo": site.repo("shop")}))["code"], code);
    }
    assert_eq!(site.client().with_token(&reader).get("/metrics").status, 403);
    assert_eq!(site.client().with_token(&all).get("/metrics").status, 200);
    assert_eq!(site.client().with_token(&reader).get("/").status, 200, "pages as well");
    assert!(!site.log().contains("alice"), "{}", site.log());
}

#[test]
fn clients_learn_where_to_get_a_token() {
    let (issuer, place) = (Issuer::start(), tempfile::tempdir().expect("a folder"));
    let site = issuer.site(place.path());
    let metadata_url = "https://code.example/.well-known/oauth-protected-resource/mcp";
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let metadata = site.client().get(path);
        let metadata: Value = serde_json::from_str(&metadata.body).expect("it is JSON");
        assert_eq!(metadata["resource"], RESOURCE);
        assert_eq!(metadata["authorization_servers"], json!([issuer.url]));
        assert_eq!(metadata["scopes_supported"], json!(["code:all", "code:read"]));
    }
    let asked = site.client().post_ping();
    let challenge = asked.header("www-authenticate").expect("a challenge").to_owned();
    assert_eq!(asked.status, 401);
    assert!(challenge.contains(&format!("resource_metadata=\"{metadata_url}\"")), "{challenge}");
    assert!(challenge.contains("scope=\"code:all code:read\"") && !challenge.contains("error="), "{challenge}");
    ready(&site, &issuer.token("code:read"));
    let poor = site.client().with_token(&issuer.token("email")).post_ping();
    let challenge = poor.header("www-authenticate").expect("a challenge").to_owned();
    assert!(poor.status == 403 && challenge.contains("error=\"insufficient_scope\""), "{poor:?}");
    let wrong = site.client().with_token("eyJhbGciOiJub25lIn0.e30.").post_ping();
    let challenge = wrong.header("www-authenticate").expect("a challenge").to_owned();
    assert!(wrong.status == 401 && challenge.contains("error=\"invalid_token\""), "{wrong:?}");
}

#[test]
fn tokens_that_are_not_right_open_nothing() {
    let (issuer, place) = (Issuer::start(), tempfile::tempdir().expect("a folder"));
    let site = issuer.site(place.path());
    ready(&site, &issuer.token("code:all"));
    let header = json!({"alg": "EdDSA", "kid": "1"});
    let claims = |key: &str, value: Value| {
        let mut claims = issuer.claims("code:all");
        claims[key] = value;
        claims
    };
    let other = Issuer::start();
    let good = issuer.token("code:all");
    let unsigned = encoded(json!({"alg": "none"}).to_string().as_bytes());
    let payload = good.split('.').nth(1).expect("three parts");
    for wrong in [
        other.token("code:all"),
        other.signed(&header, &issuer.claims("code:all")),
        format!("{unsigned}.{payload}."),
        issuer.signed(&json!({"alg": "none", "kid": "1"}), &issuer.claims("code:all")),
        issuer.signed(&json!({"alg": "HS256", "kid": "1"}), &issuer.claims("code:all")),
        issuer.signed(&json!({"alg": "EdDSA", "kid": "2"}), &issuer.claims("code:all")),
        issuer.signed(&header, &claims("exp", json!(1_000_000_000))),
        issuer.signed(&header, &claims("nbf", json!(9_999_999_999_u64))),
        issuer.signed(&header, &claims("aud", json!("https://other.example"))),
        issuer.signed(&header, &claims("iss", json!("https://other.example"))),
        format!("{good}x"),
        good.replacen('.', "..", 1),
    ] {
        let refused = site.client().with_token(&wrong).post_ping();
        assert_eq!(refused.status, 401, "{wrong}: {refused:?}");
    }
    // A ping without a session is let in as far as that.
    assert_eq!(site.client().with_token(&good).post_ping().status, 400);
    assert!(!site.log().contains(&good), "{}", site.log());
}

#[test]
fn keys_that_cannot_be_had_let_nobody_in_and_are_asked_for_again() {
    let (issuer, place) = (Issuer::start(), tempfile::tempdir().expect("a folder"));
    let good = std::mem::replace(&mut *issuer.keys.lock().expect("nobody panics"), " ".repeat(1 << 20));
    let site = issuer.site(place.path());
    let token = issuer.token("code:all");
    assert_eq!(site.client().with_token(&token).post_ping().status, 503, "too large a set");
    assert!(site.log_with("cannot be read").contains("cannot be read"));
    *issuer.keys.lock().expect("nobody panics") = good;
    ready(&site, &token);
    assert_eq!(site.client().with_token(&token).post_ping().status, 400);
}

#[test]
fn an_authorization_server_needs_rights_for_its_scopes() {
    let said = Site::refused(&["--oauth-issuer", "https://login.example", "--oauth-resource", RESOURCE], &[]);
    assert!(said.contains("`scope`"), "{said}");
    let said = Site::refused(&[], &[("CODELODE_OAUTH_ISSUER", "https://login.example")]);
    assert!(said.contains("--oauth-resource"), "{said}");
}

#[test]
fn only_a_trusted_proxy_says_who_asks_and_by_which_name() {
    let told = [("X-Forwarded-For", "6.6.6.6, 8.8.8.8"), ("X-Forwarded-Host", "code.example")];
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let (open, behind) = (
        Site::start(&["--allow-host", "code.example"]),
        Site::start(&["--trust-proxy", "127.0.0.0/8", "--allow-host", "code.example"]),
    );
    let evil = [("X-Forwarded-For", "8.8.8.8"), ("X-Forwarded-Host", "evil.example")];
    for (site, from) in [(&open, "127.0.0.1"), (&behind, "8.8.8.8")] {
        let refused =
            site.client().send_with("POST", &ping, &[&told[..], &[("Origin", "https://evil.example")]].concat());
        assert_eq!(refused.status, 403);
        let id = refused.header("x-request-id").expect("every answer has one").to_owned();
        let log = site.log_with(&id);
        let line = log.lines().find(|line| line.contains(&id)).expect("it is logged");
        assert!(line.contains(&format!("from=\"{from}\"")), "{line}");
    }
    assert_eq!(open.client().send_with("POST", &ping, &evil).status, 400, "nobody asks a stranger");
    assert_eq!(behind.client().send_with("POST", &ping, &evil).status, 403);
    assert_eq!(behind.client().send_with("POST", &ping, &told).status, 400);
}
