//! An authorization server of ours, which also signs.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

use super::web::{PATIENCE, Site};

/// The name of a server in tokens.
pub const RESOURCE: &str = "https://code.example/mcp";

/// An authorization server.
pub struct Issuer {
    pub url: String,
    pub key: Ed25519KeyPair,
    /// Answer for the keys.
    pub keys: Arc<Mutex<String>>,
}

/// Bytes as tokens write them.
pub fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Issuer {
    /// Starts one that answers from now on.
    pub fn start() -> Self {
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("random bytes");
        let key = Ed25519KeyPair::from_pkcs8(key.as_ref()).expect("it is one");
        let public = json!({"kty": "OKP", "crv": "Ed25519", "kid": "1", "x": encoded(key.public_key().as_ref())});
        let keys = Arc::new(Mutex::new(json!({"keys": [public]}).to_string()));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it listens"));
        let (told, issuer) = (keys.clone(), url.clone());
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut head = [0; 2048];
                let n_read = stream.read(&mut head).unwrap_or(0);
                let head = String::from_utf8_lossy(&head[..n_read]).into_owned();
                let body = match head.split(' ').nth(1) {
                    Some("/.well-known/openid-configuration") => {
                        json!({"issuer": issuer, "jwks_uri": format!("{issuer}/keys")}).to_string()
                    }
                    Some("/keys") => told.lock().expect("nobody panics with it").clone(),
                    _ => String::new(),
                };
                let status = if body.is_empty() { "404 Not Found" } else { "200 OK" };
                let length = body.len();
                let answer =
                    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { url, key, keys }
    }

    /// A token with this header and payload.
    pub fn signed(&self, header: &Value, payload: &Value) -> String {
        let signed = format!("{}.{}", encoded(header.to_string().as_bytes()), encoded(payload.to_string().as_bytes()));
        format!("{signed}.{}", encoded(self.key.sign(signed.as_bytes()).as_ref()))
    }

    /// Claims of a valid token.
    pub fn claims(&self, scope: &str) -> Value {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later").as_secs();
        json!({"iss": self.url, "aud": RESOURCE, "sub": "alice@login", "exp": now + 300, "scope": scope})
    }

    /// A right token.
    pub fn token(&self, scope: &str) -> String {
        self.signed(&json!({"alg": "EdDSA", "kid": "1", "typ": "at+jwt"}), &self.claims(scope))
    }

    /// A server that takes its tokens.
    #[allow(dead_code, reason = "attacks have a server of their own")]
    pub fn site(&self, folder: &Path) -> Site {
        let path = folder.join("tokens.toml");
        let text = "[readers]\nscope = \"code:read\"\nrepos = [\"local/shop-*\"]\n[all]\nscope = \"code:all\"\nrepos = [\"*\"]\nindex = true\n";
        std::fs::write(&path, text).expect("the folder is ours");
        let path = path.display().to_string();
        let flags = ["--tokens", &path, "--oauth-issuer", &self.url, "--oauth-resource", RESOURCE, "--web"];
        Site::start_with(&flags, &[("CODELODE_TRUSTED_HOSTS", "127.0.0.1")])
    }
}

/// Waits until the server has read the keys.
pub fn ready(site: &Site, token: &str) {
    let begun = Instant::now();
    while site.client().with_token(token).post_ping().status == 503 {
        assert!(begun.elapsed() < PATIENCE, "the keys are not read: {}", site.log());
        thread::sleep(Duration::from_millis(50));
    }
}
