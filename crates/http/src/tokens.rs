//! Callers and their tokens: several, named, in a file that is read again when it changes, or in the environment, which
//! may have one without a name as well.
//!
//! A file holds digests, so it gives nobody a token. Tokens are compared by digest and in constant time.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File as Opened};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use codelode_base::config::{Http, NAMED_TOKENS, Secret};
use codelode_base::model::Rights;

/// Fewest characters of a token in the environment: a shorter one could be guessed.
const SHORTEST: usize = 16;
/// Name of the caller with the token of the environment. No name in a file begins like this.
const OWN: &str = "_environment";
/// Most characters of a caller's name.
const LONGEST_NAME: usize = 64;
/// Random bytes of a token that is made here.
const RANDOM: usize = 32;
/// Size limit of the file.
const LARGEST_FILE: u64 = 1 << 20;

/// A caller and its rights.
pub struct Grant {
    /// Name of the caller.
    pub name: String,
    /// Its rights.
    pub rights: Arc<Rights>,
    /// The repository that it means when it names none.
    pub default: Option<String>,
    /// Digest of its token, for one that is listed.
    digest: Option<[u8; 32]>,
}

impl Grant {
    /// A caller whose token is not listed here.
    pub(super) fn of(name: String, rights: Rights) -> Self {
        Self { name, rights: Arc::new(rights), default: None, digest: None }
    }
}

/// Rights of callers whose tokens an authorization server issues with this scope.
pub(super) struct Scope {
    pub(super) name: String,
    repos: Vec<String>,
    index: bool,
    invalidate: bool,
}

/// Content of a file.
#[derive(Clone, Default)]
struct Listed {
    grants: Arc<Vec<Arc<Grant>>>,
    scopes: Arc<Vec<Scope>>,
}

/// Tokens of all callers.
pub struct Tokens {
    /// Those of the environment.
    own: Vec<Arc<Grant>>,
    file: Option<File>,
}

/// A file of tokens, as last read.
struct File {
    path: PathBuf,
    roots: Vec<PathBuf>,
    read: Mutex<Read>,
}

struct Read {
    stamp: Option<Stamp>,
    /// `Err` when the file is unusable.
    listed: Result<Listed, String>,
}

type Stamp = (SystemTime, u64, u64);

/// An entry of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    repos: Vec<String>,
    #[serde(default)]
    index: bool,
    #[serde(default)]
    invalidate: bool,
    /// The repository that the caller means when it names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<String>,
}

impl Entry {
    /// Entry for a token.
    pub fn new(token: &str, repos: Vec<String>, index: bool, invalidate: bool) -> Self {
        let sha256 = digest(token).iter().map(|byte| format!("{byte:02x}")).collect();
        Self { sha256: Some(sha256), scope: None, repos, index, invalidate, default: None }
    }

    /// The entry as a file holds it.
    pub fn written(self, name: &str) -> Result<String, String> {
        self.grant(name, &[]).map_err(|problem| format!("the token {name:?} {problem}"))?;
        toml::to_string(&BTreeMap::from([(name, self)])).map_err(|err| err.to_string())
    }

    /// The caller and its rights.
    fn grant(&self, name: &str, roots: &[PathBuf]) -> Result<Grant, String> {
        // Statistics of a caller lie in a folder of its name.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if name.is_empty() || name.len() > LONGEST_NAME || name.starts_with(['.', '_']) || !name.chars().all(is_plain) {
            return Err(format!(
                "is misnamed; a name begins with a letter or digit, and has {LONGEST_NAME} letters, digits, `.`, `_` and `-` at most"
            ));
        }
        let digest = self.sha256.as_deref().and_then(bytes).ok_or("has no `sha256` of 64 hexadecimal digits")?;
        let roots = Some(roots.to_vec());
        let rights = Rights { index: self.index, invalidate: self.invalidate, roots, ..rights_to(&self.repos)? };
        let default = self.default.clone();
        Ok(Grant { name: name.to_owned(), rights: Arc::new(rights), default, digest: Some(digest) })
    }

    /// The scope and its rights.
    fn scope(&self, scope: &str) -> Result<Scope, String> {
        if self.sha256.is_some() {
            return Err("has both `sha256` and `scope`; give one".to_owned());
        }
        if self.default.is_some() {
            return Err("has a `scope`, whose callers may have several defaults".to_owned());
        }
        if scope.is_empty() || scope.bytes().any(|byte| !byte.is_ascii_graphic() || b"\"\\".contains(&byte)) {
            return Err("has a `scope` with letters that no scope has".to_owned());
        }
        Rights::to_see(&self.repos)?;
        let Self { ref repos, index, invalidate, .. } = *self;
        Ok(Scope { name: scope.to_owned(), repos: repos.clone(), index, invalidate })
    }
}

impl Tokens {
    /// Tokens of the settings; `None` without any.
    pub fn of(http: &Http) -> Result<Option<Self>, String> {
        let roots = canonical(&http.roots);
        let mut own = match &http.tokens {
            Some(Secret(text)) => {
                let given = listed(text, &NAMED_TOKENS, &roots)?;
                if let Some(scope) = given.scopes.first() {
                    return Err(format!(
                        "the scope {:?} in {NAMED_TOKENS} has no token; a file may list it",
                        scope.name
                    ));
                }
                given.grants.to_vec()
            }
            None => Vec::new(),
        };
        match &http.token {
            Some(Secret(token)) if token.chars().count() < SHORTEST => {
                return Err(format!("CODELODE_HTTP_TOKEN is shorter than {SHORTEST} characters, and could be guessed"));
            }
            Some(Secret(token)) => {
                let rights = Rights { roots: Some(roots.clone()), ..Rights::default() };
                let digest = Some(digest(token));
                own.push(Arc::new(Grant { name: OWN.to_owned(), rights: Arc::new(rights), default: None, digest }));
            }
            None => {}
        }
        let read = |path: &PathBuf| File { path: path.clone(), roots, read: Mutex::new(Read::nothing()) };
        let file = http.tokens_file.as_ref().map(read);
        let is_any = !own.is_empty() || file.is_some();
        let tokens = Self { own, file };
        tokens.listed()?;
        Ok(is_any.then_some(tokens))
    }

    /// Caller with this token; an error when the file is unusable, so that nobody is let in by an older version of it.
    pub fn grant(&self, token: &str) -> Result<Option<Arc<Grant>>, String> {
        let listed = self.listed()?;
        let digest = digest(token);
        let mut found = None;
        // All are compared, so that the time tells nothing.
        for grant in self.own.iter().chain(&*listed.grants) {
            if grant.digest.is_some_and(|known| known.ct_eq(&digest).into()) {
                found = Some(grant.clone());
            }
        }
        Ok(found)
    }

    /// Scopes that have rights; the same list as before if nothing has changed.
    pub(super) fn scopes(&self) -> Result<Arc<Vec<Scope>>, String> {
        Ok(self.listed()?.scopes)
    }

    /// A caller with all rights of its scopes; `None` when they give none.
    pub(super) fn of_scopes(&self, name: String, all: &[Scope], names: &[String]) -> Option<Arc<Grant>> {
        let own: Vec<&Scope> = all.iter().filter(|scope| names.contains(&scope.name)).collect();
        let globs: Vec<String> = own.iter().flat_map(|scope| &scope.repos).cloned().collect();
        let rights = Rights {
            index: own.iter().any(|scope| scope.index),
            invalidate: own.iter().any(|scope| scope.invalidate),
            roots: Some(self.file.as_ref()?.roots.clone()),
            ..rights_to(&globs).ok()?
        };
        (!own.is_empty()).then(|| Arc::new(Grant::of(name, rights)))
    }

    /// Callers of the file. A caller has its sessions and statistics by its name, which is one caller's only.
    fn listed(&self) -> Result<Listed, String> {
        let listed = self.file.as_ref().map_or_else(|| Ok(Listed::default()), File::listed)?;
        let twice = self.own.iter().find(|own| listed.grants.iter().any(|grant| grant.name == own.name));
        match twice {
            Some(grant) => Err(format!("the token {:?} is in the file and in {NAMED_TOKENS}; remove one", grant.name)),
            None => Ok(listed),
        }
    }
}

/// A new token: random letters and digits.
pub fn random() -> io::Result<String> {
    let mut bytes = [0; RANDOM];
    Opened::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Rights to see repositories and folders, these also by their paths without links.
fn rights_to(repos: &[String]) -> Result<Rights, String> {
    let mut rights = Rights::to_see(repos)?;
    rights.folders = canonical(&rights.folders);
    Ok(rights)
}

/// Folders as given, and without links.
pub fn canonical(roots: &[PathBuf]) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = roots.iter().filter_map(|root| std::path::absolute(root).ok()).collect();
    all.extend(roots.iter().filter_map(|root| root.canonicalize().ok()));
    all
}

impl File {
    /// Callers of the file, read again when it has changed.
    fn listed(&self) -> Result<Listed, String> {
        let stamp = fs::metadata(&self.path).and_then(|file| Ok((file.modified()?, file.len(), file.ino()))).ok();
        // A panic leaves either version.
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if stamp.is_none() || read.stamp != stamp {
            let listed = self.read();
            if let Err(problem) = &listed
                && read.listed.as_ref().err() != Some(problem)
            {
                tracing::error!("{problem}");
            }
            *read = Read { stamp, listed };
        }
        read.listed.clone()
    }

    fn read(&self) -> Result<Listed, String> {
        let shown = self.path.display();
        let unreadable = |err: io::Error| format!("cannot read the tokens in {shown}: {err}");
        if fs::metadata(&self.path).map_err(unreadable)?.len() > LARGEST_FILE {
            return Err(format!("the tokens in {shown} are larger than {LARGEST_FILE} bytes"));
        }
        let text = fs::read_to_string(&self.path).map_err(unreadable)?;
        listed(&text, &shown, &self.roots)
    }
}

/// Callers in a text, which stands at a place that people know.
fn listed(text: &str, shown: &dyn fmt::Display, roots: &[PathBuf]) -> Result<Listed, String> {
    let entries: BTreeMap<String, Entry> =
        toml::from_str(text).map_err(|err| format!("the tokens in {shown} are malformed: {err}"))?;
    let (mut grants, mut scopes) = (Vec::new(), Vec::new());
    for (name, entry) in &entries {
        let read = match &entry.scope {
            Some(scope) => entry.scope(scope).map(|scope| scopes.push(scope)),
            None => entry.grant(name, roots).map(|grant| grants.push(Arc::new(grant))),
        };
        read.map_err(|problem| format!("the token {name:?} in {shown} {problem}"))?;
    }
    Ok(Listed { grants: Arc::new(grants), scopes: Arc::new(scopes) })
}

impl Read {
    fn nothing() -> Self {
        Self { stamp: None, listed: Ok(Listed::default()) }
    }
}

pub(super) fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// The bytes of a digest in hexadecimal.
fn bytes(hex: &str) -> Option<[u8; 32]> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = hex.as_bytes().chunks(2).map(|pair| match pair {
        [high, low] => Some(digit(*high)? * 16 + digit(*low)?),
        _ => None,
    });
    pairs.collect::<Option<Vec<u8>>>()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn hex(token: &str) -> String {
        digest(token).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn tokens(file: Option<&Path>, token: Option<&str>) -> Result<Option<Tokens>, String> {
        let token = token.map(|token| Secret(token.to_owned()));
        Tokens::of(&Http { tokens_file: file.map(Path::to_owned), token, ..Http::default() })
    }

    fn name(tokens: &Tokens, token: &str) -> Result<Option<String>, String> {
        Ok(tokens.grant(token)?.map(|grant| grant.name.clone()))
    }

    #[test]
    fn a_token_names_its_caller_and_rights() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tokens.toml");
        let text = format!("[alice]\nsha256 = \"{}\"\nrepos = [\"acme/*\"]\nindex = true\n", hex("alices token"));
        fs::write(&path, &text).expect("written");
        let both = tokens(Some(&path), Some("a token of the environment")).expect("usable").expect("some");
        let alice = both.grant("alices token").expect("readable").expect("known");
        assert_eq!(alice.name, "alice");
        assert!(alice.rights.sees("acme/shop") && !alice.rights.sees("other/shop"));
        assert!(alice.rights.index && !alice.rights.invalidate);
        assert!(both.grant("a token of the environment").expect("readable").expect("known").rights.sees_all());
        for wrong in ["", "alices toke", "alices token ", &hex("alices token")] {
            assert_eq!(name(&both, wrong), Ok(None), "{wrong}");
        }
        assert!(tokens(None, None).expect("usable").is_none());
    }

    #[test]
    fn the_environment_may_name_several_callers() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tokens.toml");
        let entry = |name: &str| format!("[{name}]\nsha256 = \"{}\"\nrepos = [\"{name}/*\"]\n", hex(name));
        let of = |text: &str, file: Option<&Path>| {
            let tokens = Some(Secret(text.to_owned()));
            Tokens::of(&Http { tokens, tokens_file: file.map(Path::to_owned), ..Http::default() })
        };
        let both = of(&(entry("alice") + &entry("bob")), None).expect("usable").expect("some");
        let bob = both.grant("bob").expect("readable").expect("known");
        assert!(bob.name == "bob" && bob.rights.sees("bob/x") && !bob.rights.sees("alice/x"));
        assert_eq!((name(&both, "alice"), name(&both, "carol")), (Ok(Some("alice".to_owned())), Ok(None)));
        fs::write(&path, entry("carol")).expect("written");
        let all = of(&entry("alice"), Some(&path)).expect("usable").expect("some");
        assert!(
            name(&all, "carol") == Ok(Some("carol".to_owned())) && name(&all, "alice").is_ok_and(|it| it.is_some())
        );
        // One name is one caller.
        fs::write(&path, entry("alice") + &entry("longer")).expect("written");
        assert!(name(&all, "alice").is_err_and(|err| err.contains("remove one")));
        for (text, problem) in
            [("[a]", "repos"), ("[a]\nscope = \"x\"\nrepos = []", "has no token"), ("a", "malformed")]
        {
            let refused = of(text, None).err().unwrap_or_default();
            assert!(refused.contains(problem) && refused.contains("CODELODE_HTTP_TOKENS"), "{refused}");
        }
    }

    #[test]
    fn scopes_add_up_to_the_rights_of_a_caller() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tokens.toml");
        let text = "[readers]\nscope = \"read\"\nrepos = [\"acme/*\"]\n[makers]\nscope = \"make\"\nrepos = [\"own/*\"]\nindex = true\n";
        fs::write(&path, text).expect("written");
        let tokens = tokens(Some(&path), None).expect("usable").expect("some");
        let scopes = tokens.scopes().expect("readable");
        let rights = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            tokens.of_scopes("_x".to_owned(), &scopes, &names).map(|grant| grant.rights.clone())
        };
        let (read, both) = (rights(&["read", "other"]).expect("a right"), rights(&["make", "read"]).expect("rights"));
        assert!(read.sees("acme/shop") && !read.sees("own/x") && !read.index);
        assert!(both.sees("acme/shop") && both.sees("own/x") && both.index && !both.invalidate);
        assert!(rights(&["other"]).is_none() && rights(&[]).is_none());
        assert_eq!(name(&tokens, "read"), Ok(None), "a scope is not a token");
    }

    #[test]
    fn a_changed_file_counts_at_once_and_a_broken_one_lets_nobody_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tokens.toml");
        let entry = |name: &str, token: &str| format!("[{name}]\nsha256 = \"{}\"\nrepos = []\n", hex(token));
        fs::write(&path, entry("a", "first")).expect("written");
        let tokens = tokens(Some(&path), None).expect("usable").expect("some");
        assert_eq!(name(&tokens, "first"), Ok(Some("a".to_owned())));
        fs::write(&path, entry("long", "second")).expect("written");
        assert_eq!((name(&tokens, "first"), name(&tokens, "second")), (Ok(None), Ok(Some("long".to_owned()))));
        fs::write(&path, "[a]\nsha256 = ").expect("written");
        assert!(name(&tokens, "second").is_err());
        fs::remove_file(&path).expect("removed");
        assert!(name(&tokens, "second").is_err());
        fs::write(&path, entry("back", "third")).expect("written");
        assert_eq!(name(&tokens, "third"), Ok(Some("back".to_owned())));
    }

    #[test]
    fn tokens_that_say_too_little_are_refused_at_the_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tokens.toml");
        let digest = hex("x");
        for (text, problem) in [
            ("[a]\nsha256 = \"12\"\nrepos = []".to_owned(), "64 hexadecimal digits"),
            (format!("[a]\nsha256 = \"{digest}\""), "repos"),
            ("[a]\nrepos = []".to_owned(), "64 hexadecimal digits"),
            (format!("[a]\nsha256 = \"{digest}\"\nscope = \"read\"\nrepos = []"), "give one"),
            ("[a]\nscope = \"a b\"\nrepos = []".to_owned(), "letters that no scope has"),
            (format!("[a]\nsha256 = \"{digest}\"\nrepos = []\nadmin = true"), "admin"),
            (format!("[a]\nsha256 = \"{digest}\"\nrepos = [\"a[\"]"), "broken glob"),
            (format!("[\"../a\"]\nsha256 = \"{digest}\"\nrepos = []"), "misnamed"),
            ("a".repeat(2 << 20), "larger"),
        ] {
            fs::write(&path, &text).expect("written");
            let refused = tokens(Some(&path), None).err().unwrap_or_default();
            assert!(refused.contains(problem), "{refused}");
        }
        assert!(tokens(None, Some("short")).err().unwrap_or_default().contains("shorter than 16"));
    }
}
