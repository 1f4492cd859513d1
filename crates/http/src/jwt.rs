//! Access tokens of an authorization server (JWT, RFC 9068): who issued them, for whom, until when, and with which
//! scopes. Signatures are checked against a set of public keys (JWKS, RFC 7517).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Size limit of a token.
const LARGEST: usize = 16 * 1024;
/// Keys of a set; further ones are ignored.
const MOST_KEYS: usize = 100;
/// Seconds by which clocks may differ.
const LEEWAY: u64 = 30;

/// A set of public keys.
#[derive(Debug, Default)]
pub(super) struct KeySet(Vec<Key>);

/// A public key.
#[derive(Debug)]
struct Key {
    id: Option<String>,
    /// The only algorithm that it is for, if it names one.
    algorithm: Option<String>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// Statements of a token whose signature is right.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Claims {
    /// The caller, by its name at the issuer.
    pub(super) subject: String,
    /// Names of its rights.
    pub(super) scopes: Vec<String>,
    /// The second since 1970 at which the token ends.
    pub(super) expires: u64,
}

/// The problem with a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Problem {
    #[error("this token is malformed")]
    Malformed,
    #[error("this token is signed in a way that is not accepted here")]
    Algorithm,
    #[error("the key of this token is not among those of its issuer")]
    Key,
    #[error("the signature of this token is wrong")]
    Signature,
    #[error("this token is of another issuer")]
    Issuer,
    #[error("this token is for another server")]
    Audience,
    #[error("this token has expired")]
    Expired,
    #[error("this token is not valid yet")]
    Early,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    /// Extensions that have to be understood; none is.
    crit: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Payload {
    iss: String,
    sub: String,
    aud: OneOrMany,
    exp: f64,
    nbf: Option<f64>,
    scope: Option<OneOrMany>,
    scp: Option<OneOrMany>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn all(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

#[derive(Deserialize)]
struct Jwks {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    used_for: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl KeySet {
    /// Keys of a set that can be used. Sets may hold keys of other kinds.
    pub(super) fn read(text: &[u8]) -> Result<Self, String> {
        let jwks: Jwks = serde_json::from_slice(text).map_err(|err| format!("it is not a set of keys: {err}"))?;
        let keys = jwks.keys.into_iter().take(MOST_KEYS);
        let keys: Vec<Key> = keys.filter_map(|key| Key::of(serde_json::from_value(key).ok()?)).collect();
        if keys.is_empty() { Err("it holds no public key that can be used".to_owned()) } else { Ok(Self(keys)) }
    }

    /// Claims of a token, if it is right in every respect.
    pub(super) fn check(&self, token: &str, issuer: &str, audience: &str, now: u64) -> Result<Claims, Problem> {
        let (signed, signature) = token.rsplit_once('.').filter(|_| looks_right(token)).ok_or(Problem::Malformed)?;
        let (header, payload) = signed.split_once('.').ok_or(Problem::Malformed)?;
        let header: Header = part(header)?;
        if header.crit.is_some() || header.typ.as_deref().is_some_and(|typ| !is_access_token(typ)) {
            return Err(Problem::Malformed);
        }
        self.verify(&header, signed.as_bytes(), &bytes(signature).ok_or(Problem::Malformed)?)?;
        // Nothing is read of a token that anyone could have made.
        let payload: Payload = part(payload)?;
        let seconds =
            |number: f64| if number.is_finite() && number >= 0.0 { Ok(number as u64) } else { Err(Problem::Malformed) };
        let expires = seconds(payload.exp)?;
        if payload.iss != issuer {
            return Err(Problem::Issuer);
        }
        if !payload.aud.all().iter().any(|one| one == audience) {
            return Err(Problem::Audience);
        }
        if expires.saturating_add(LEEWAY) <= now {
            return Err(Problem::Expired);
        }
        if payload.nbf.map(seconds).transpose()?.is_some_and(|begin| begin > now.saturating_add(LEEWAY)) {
            return Err(Problem::Early);
        }
        if payload.sub.is_empty() {
            return Err(Problem::Malformed);
        }
        let scopes = payload.scope.iter().chain(&payload.scp).flat_map(OneOrMany::all);
        let scopes = scopes.flat_map(|scopes| scopes.split_ascii_whitespace()).map(str::to_owned).collect();
        Ok(Claims { subject: payload.sub, scopes, expires })
    }

    fn verify(&self, header: &Header, signed: &[u8], signature: &[u8]) -> Result<(), Problem> {
        if !Kind::is_known(&header.alg) {
            return Err(Problem::Algorithm);
        }
        let fits = |key: &&Key| {
            let is_named = header.kid.is_none() || key.id == header.kid;
            is_named && key.kind.takes(&header.alg) && key.algorithm.as_ref().is_none_or(|only| *only == header.alg)
        };
        let mut fitting = self.0.iter().filter(fits).peekable();
        if fitting.peek().is_none() {
            return Err(Problem::Key);
        }
        let is_right = fitting.any(|key| key.kind.verifies(&header.alg, signed, signature));
        if is_right { Ok(()) } else { Err(Problem::Signature) }
    }
}

impl Key {
    fn of(key: Jwk) -> Option<Self> {
        if key.used_for.is_some_and(|used_for| used_for != "sig") {
            return None;
        }
        let point = |x: Option<String>, y: Option<String>, size: usize| {
            let (x, y) = (bytes(&x?)?, bytes(&y?)?);
            (x.len() == size && y.len() == size).then(|| [&[4][..], &x, &y].concat())
        };
        let kind = match (&*key.kty, key.crv.as_deref()) {
            ("RSA", _) => Kind::Rsa { modulus: bytes(&key.n?)?, exponent: bytes(&key.e?)? },
            ("EC", Some("P-256")) => Kind::P256(point(key.x, key.y, 32)?),
            ("EC", Some("P-384")) => Kind::P384(point(key.x, key.y, 48)?),
            ("OKP", Some("Ed25519")) => Kind::Ed25519(bytes(&key.x?)?),
            _ => return None,
        };
        Some(Self { id: key.kid, algorithm: key.alg, kind })
    }
}

impl Kind {
    /// Whether an algorithm is one of public keys: a secret that is shared, or none at all, proves nothing here.
    fn is_known(algorithm: &str) -> bool {
        ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"].contains(&algorithm)
    }

    fn takes(&self, algorithm: &str) -> bool {
        match self {
            Self::Rsa { .. } => algorithm.starts_with("RS") || algorithm.starts_with("PS"),
            Self::P256(_) => algorithm == "ES256",
            Self::P384(_) => algorithm == "ES384",
            Self::Ed25519(_) => algorithm == "EdDSA",
        }
    }

    fn verifies(&self, algorithm: &str, signed: &[u8], signature: &[u8]) -> bool {
        let verified = match self {
            Self::Rsa { modulus, exponent } => {
                let how = match algorithm {
                    "RS256" => &signature::RSA_PKCS1_2048_8192_SHA256,
                    "RS384" => &signature::RSA_PKCS1_2048_8192_SHA384,
                    "RS512" => &signature::RSA_PKCS1_2048_8192_SHA512,
                    "PS256" => &signature::RSA_PSS_2048_8192_SHA256,
                    "PS384" => &signature::RSA_PSS_2048_8192_SHA384,
                    "PS512" => &signature::RSA_PSS_2048_8192_SHA512,
                    _ => return false,
                };
                RsaPublicKeyComponents { n: modulus, e: exponent }.verify(how, signed, signature)
            }
            Self::P256(point) => {
                UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point).verify(signed, signature)
            }
            Self::P384(point) => {
                UnparsedPublicKey::new(&signature::ECDSA_P384_SHA384_FIXED, point).verify(signed, signature)
            }
            Self::Ed25519(point) => UnparsedPublicKey::new(&signature::ED25519, point).verify(signed, signature),
        };
        verified.is_ok()
    }
}

/// Whether a token may be one of an authorization server: three parts, each in the letters of base64.
pub(super) fn looks_right(token: &str) -> bool {
    let is_part = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    token.len() <= LARGEST && token.starts_with("eyJ") && token.split('.').count() == 3 && token.split('.').all(is_part)
}

/// Whether a type is that of access tokens. Many issuers still write `JWT`.
fn is_access_token(typ: &str) -> bool {
    let typ = typ.to_ascii_lowercase();
    ["jwt", "at+jwt"].contains(&typ.strip_prefix("application/").unwrap_or(&typ))
}

fn part<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    let text = bytes(text).ok_or(Problem::Malformed)?;
    serde_json::from_slice(&text).map_err(|_| Problem::Malformed)
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};
    use serde_json::{Value, json};

    use super::*;

    const ISSUER: &str = "https://login.example";
    const AUDIENCE: &str = "https://code.example/mcp";
    const NOW: u64 = 1_000_000;

    /// An issuer with two keys.
    struct Issuer {
        ed: Ed25519KeyPair,
        ec: EcdsaKeyPair,
    }

    fn encoded(bytes: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(bytes)
    }

    impl Issuer {
        fn new() -> Self {
            let random = SystemRandom::new();
            let ed = Ed25519KeyPair::generate_pkcs8(&random).expect("random bytes");
            let ec = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("random bytes");
            let ec = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, ec.as_ref(), &random);
            Self { ed: Ed25519KeyPair::from_pkcs8(ed.as_ref()).expect("it is one"), ec: ec.expect("it is one") }
        }

        fn jwks(&self) -> Value {
            let point = self.ec.public_key().as_ref();
            let (x, y) = (encoded(&point[1..33]), encoded(&point[33..]));
            json!({"keys": [
                {"kty": "OKP", "crv": "Ed25519", "kid": "ed", "use": "sig", "x": encoded(self.ed.public_key().as_ref())},
                {"kty": "EC", "crv": "P-256", "kid": "ec", "alg": "ES256", "x": x, "y": y},
                {"kty": "oct", "kid": "shared", "k": encoded(b"a secret that is shared")},
                {"kty": "RSA", "kid": "short", "n": "AQAB", "e": "AQAB"},
                "nonsense",
            ]})
        }

        fn keys(&self) -> KeySet {
            KeySet::read(self.jwks().to_string().as_bytes()).expect("it has keys")
        }

        fn token(&self, header: &Value, payload: &Value) -> String {
            let signed =
                format!("{}.{}", encoded(header.to_string().as_bytes()), encoded(payload.to_string().as_bytes()));
            let signature = match header["kid"].as_str() {
                Some("ec") => {
                    self.ec.sign(&SystemRandom::new(), signed.as_bytes()).expect("it signs").as_ref().to_vec()
                }
                _ => self.ed.sign(signed.as_bytes()).as_ref().to_vec(),
            };
            format!("{signed}.{}", encoded(&signature))
        }
    }

    fn payload() -> Value {
        json!({"iss": ISSUER, "sub": "alice", "aud": [AUDIENCE, "x"], "exp": NOW + 60, "scope": "read index"})
    }

    fn with(key: &str, value: Value) -> Value {
        let mut payload = payload();
        payload[key] = value;
        payload
    }

    fn check(keys: &KeySet, token: &str) -> Result<Claims, Problem> {
        keys.check(token, ISSUER, AUDIENCE, NOW)
    }

    #[test]
    fn a_token_of_the_issuer_tells_the_caller_and_its_scopes() {
        let issuer = Issuer::new();
        for header in [
            json!({"alg": "EdDSA", "kid": "ed", "typ": "at+jwt"}),
            json!({"alg": "ES256", "kid": "ec"}),
            json!({"alg": "EdDSA"}),
        ] {
            let claims = check(&issuer.keys(), &issuer.token(&header, &payload())).expect("it is right");
            let scopes = ["read", "index"].map(str::to_owned).to_vec();
            assert_eq!(claims, Claims { subject: "alice".to_owned(), scopes, expires: NOW + 60 });
        }
        let listed = with("scp", json!(["admin"]));
        let claims =
            check(&issuer.keys(), &issuer.token(&json!({"alg": "EdDSA", "kid": "ed"}), &listed)).expect("right");
        assert_eq!(claims.scopes, ["read", "index", "admin"]);
    }

    #[test]
    fn a_token_of_another_issuer_audience_or_time_opens_nothing() {
        let issuer = Issuer::new();
        let header = json!({"alg": "EdDSA", "kid": "ed"});
        for (payload, problem) in [
            (with("iss", json!("https://evil.example")), Problem::Issuer),
            (with("iss", json!(format!("{ISSUER}/"))), Problem::Issuer),
            (with("aud", json!("https://other.example")), Problem::Audience),
            (with("aud", json!([])), Problem::Audience),
            (with("exp", json!(NOW - 31)), Problem::Expired),
            (with("exp", json!(-1)), Problem::Malformed),
            (with("exp", Value::Null), Problem::Malformed),
            (with("exp", json!("9999999999")), Problem::Malformed),
            (with("nbf", json!(NOW + 31)), Problem::Early),
            (with("sub", json!("")), Problem::Malformed),
        ] {
            assert_eq!(check(&issuer.keys(), &issuer.token(&header, &payload)), Err(problem), "{payload}");
        }
    }

    #[test]
    fn a_token_that_anyone_could_have_made_opens_nothing() {
        let (issuer, other) = (Issuer::new(), Issuer::new());
        let keys = issuer.keys();
        let header = json!({"alg": "EdDSA", "kid": "ed"});
        let good = issuer.token(&header, &payload());
        assert_eq!(check(&keys, &other.token(&header, &payload())), Err(Problem::Signature));
        for (header, problem) in [
            (json!({"alg": "none"}), Problem::Algorithm),
            (json!({"alg": "None", "kid": "ed"}), Problem::Algorithm),
            (json!({"alg": "", "kid": "ed"}), Problem::Algorithm),
            // The public key as the secret of both.
            (json!({"alg": "HS256", "kid": "ed"}), Problem::Algorithm),
            (json!({"alg": "HS256", "kid": "shared"}), Problem::Algorithm),
            (json!({"alg": "RS256", "kid": "ed"}), Problem::Key),
            (json!({"alg": "RS256", "kid": "short"}), Problem::Signature),
            (json!({"alg": "ES256", "kid": "ed"}), Problem::Key),
            (json!({"alg": "EdDSA", "kid": "gone"}), Problem::Key),
            (json!({"alg": "EdDSA", "kid": "ed", "crit": ["exp"]}), Problem::Malformed),
            (json!({"alg": "EdDSA", "kid": "ed", "typ": "logout+jwt"}), Problem::Malformed),
            (json!({"kid": "ed"}), Problem::Malformed),
        ] {
            assert_eq!(check(&keys, &issuer.token(&header, &payload())), Err(problem), "{header}");
        }
        let (signed, signature) = good.rsplit_once('.').expect("three parts");
        let forged = encoded(with("sub", json!("chief")).to_string().as_bytes());
        let head = signed.split('.').next().expect("three parts");
        for (token, problem) in [
            (format!("{signed}."), Problem::Signature),
            (format!("{head}.{forged}.{signature}"), Problem::Signature),
            (format!("{head}..{signature}"), Problem::Signature),
            (format!("{good}="), Problem::Malformed),
            (format!("{good}.x"), Problem::Malformed),
            (signed.to_owned(), Problem::Malformed),
            (format!("{}{}", head, "A".repeat(20_000)), Problem::Malformed),
            ("a.b.c".to_owned(), Problem::Malformed),
            (String::new(), Problem::Malformed),
        ] {
            assert_eq!(check(&keys, &token), Err(problem), "{token:.100}");
        }
    }

    #[test]
    fn a_set_without_keys_is_none() {
        for text in ["", "{}", "[]", "{\"keys\": []}", "{\"keys\": [{\"kty\": \"oct\", \"k\": \"AAAA\"}]}"] {
            assert!(KeySet::read(text.as_bytes()).is_err(), "{text}");
        }
        let many: Vec<Value> =
            (0..10_000).map(|i| json!({"kty": "OKP", "crv": "Ed25519", "kid": i.to_string(), "x": ""})).collect();
        let read = KeySet::read(json!({"keys": many}).to_string().as_bytes()).expect("it has keys");
        assert_eq!(read.0.len(), MOST_KEYS);
    }
}
