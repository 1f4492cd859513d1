//! Names of repositories, parsed into a [`Remote`]: transport, address, and the ref or folder in it.

use std::fmt;
use std::path::{Path, PathBuf};

/// The transport to a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Transport {
    /// Over TLS; the only one that carries a token.
    Https,
    /// In the clear; only to hosts that the operator trusts.
    Http,
    /// Through the system's `ssh`.
    Ssh,
    /// A git daemon, in the clear.
    Git,
    /// On this machine, read in place.
    Local,
}

impl Transport {
    fn scheme(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
            Self::Ssh => "ssh",
            Self::Git => "git",
            Self::Local => "file",
        }
    }
}

/// A repository by any of its names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Remote {
    /// The transport.
    pub transport: Transport,
    /// The host, in lower case; empty on this machine.
    pub host: String,
    /// The port, if it is not the default.
    pub port: Option<u16>,
    /// The user name for ssh.
    pub user: Option<String>,
    /// The path on the host, as written: `owner/name.git`, `/srv/git/name`. Absolute on this machine.
    pub path: String,
    /// The ref or folder in the name, if there is one.
    pub place: Option<Place>,
}

/// A ref, and possibly a folder or a file, as in a web page's address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// `main/src/lib.rs`: both may contain slashes, so only the server's refs show where one ends.
    Joined(String),
    /// The ref alone.
    Ref(String),
}

/// The reason why a text names no repository.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The text is empty.
    #[error("no repository is named: give owner/name, a URL or a path")]
    Empty,
    /// The text is in no known form.
    #[error(
        "{0:?} names no repository: give owner/name, github:owner/name, https://host/path, git@host:path or a path"
    )]
    Unknown(String),
    /// A password or token is part of the name, where it would be stored and shown.
    #[error("the URL of {0} holds a password: remove it, and set a token with CODELODE_GIT_TOKENS={0}=<token>")]
    Password(String),
    /// An unknown scheme, or one that would run a program.
    #[error("{0}:// is not supported: use https, ssh, git or file")]
    Scheme(String),
    /// A part that a program could take for an option, or that is invalid.
    #[error("{0:?} cannot be part of a repository's name")]
    Part(String),
}

/// Short names of hosts, before a colon.
const SHORT: &[(&str, &str)] = &[
    ("github", "github.com"),
    ("gh", "github.com"),
    ("gitlab", "gitlab.com"),
    ("codeberg", "codeberg.org"),
    ("bitbucket", "bitbucket.org"),
];

/// Hosts with the same path over https and ssh, and without distinction of case.
const FORGES: &[&str] = &["github.com", "gitlab.com", "codeberg.org", "bitbucket.org"];

impl Remote {
    /// Parses a name. A relative path is resolved in `directory`; without one it is refused.
    pub fn parse(text: &str, directory: Option<&Path>) -> Result<Self, NameError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if text.chars().any(char::is_control) {
            return Err(NameError::Part(shown(text)));
        }
        if let Some(local) = local_path(text, directory) {
            return Self::local(&local);
        }
        let text = text.strip_prefix("git+").unwrap_or(text);
        if let Some((scheme, rest)) = text.split_once("://") {
            return Self::of_url(&scheme.to_ascii_lowercase(), rest);
        }
        if text.contains("::") {
            return Err(NameError::Scheme(text.split("::").next().unwrap_or_default().to_owned()));
        }
        if let Some((before, rest)) = text.split_once(':')
            && !before.contains('/')
        {
            if let Some((_, host)) = SHORT.iter().find(|(short, _)| short.eq_ignore_ascii_case(before)) {
                return Self::short(host, rest, text);
            }
            return Self::scp(before, rest, text);
        }
        // A host without a scheme, as in a browser: `github.com/owner/name`.
        if let Some((host, rest)) = text.split_once('/')
            && host.contains('.')
            && rest.contains('/')
        {
            return Self::of_url("https", text);
        }
        Self::short("github.com", text, text)
    }

    /// A repository on this machine.
    pub fn local(path: &Path) -> Result<Self, NameError> {
        let path = path.to_str().ok_or_else(|| NameError::Part(path.to_string_lossy().into_owned()))?;
        let path = path.to_owned();
        Ok(Self { transport: Transport::Local, host: String::new(), port: None, user: None, path, place: None })
    }

    /// `owner/name`, possibly with `@ref`.
    fn short(host: &str, path: &str, text: &str) -> Result<Self, NameError> {
        let path = path.trim_matches('/');
        let (path, place) = match path.split_once('@') {
            Some((path, reference)) if is_ref(reference) => (path, Some(Place::Ref(reference.to_owned()))),
            Some(_) => return Err(NameError::Unknown(shown(text))),
            None => (path, None),
        };
        let parts: Vec<&str> = path.split('/').collect();
        let most = if host == "gitlab.com" { 20 } else { 2 };
        if !(2..=most).contains(&parts.len()) || !parts.iter().all(|part| is_plain(part)) {
            return Err(NameError::Unknown(shown(text)));
        }
        let path = format!("{}.git", path.strip_suffix(".git").unwrap_or(path));
        Ok(Self { transport: Transport::Https, host: host.to_owned(), port: None, user: None, path, place })
    }

    /// `user@host:path`.
    fn scp(before: &str, path: &str, text: &str) -> Result<Self, NameError> {
        let (user, host) = match before.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, before),
        };
        if host.is_empty() || path.is_empty() || !host.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c)) {
            return Err(NameError::Unknown(shown(text)));
        }
        Self {
            transport: Transport::Ssh,
            host: host.to_ascii_lowercase(),
            port: None,
            user: None,
            path: path.to_owned(),
            place: None,
        }
        .checked(user)
    }

    fn of_url(scheme: &str, rest: &str) -> Result<Self, NameError> {
        let transport = match scheme {
            "https" => Transport::Https,
            "http" => Transport::Http,
            "ssh" => Transport::Ssh,
            "git" => Transport::Git,
            "file" => {
                let path = rest.strip_prefix("localhost").unwrap_or(rest);
                return match path.starts_with('/') {
                    true => Self::local(Path::new(path)),
                    false => Err(NameError::Unknown(shown(rest))),
                };
            }
            other => return Err(NameError::Scheme(shown(other))),
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, address) = match authority.rsplit_once('@') {
            Some((user, address)) => (Some(user), address),
            None => (None, authority),
        };
        let (host, port) = host_and_port(address).ok_or_else(|| NameError::Unknown(shown(address)))?;
        if user.is_some_and(|user| user.contains(':')) {
            return Err(NameError::Password(host));
        }
        let is_web = matches!(transport, Transport::Https | Transport::Http);
        let path = if is_web { path.split(['?', '#']).next().unwrap_or_default() } else { path };
        // The path of an https URL is relative; ssh and git use an absolute one.
        let mut path =
            if is_web { path.trim_matches('/').to_owned() } else { format!("/{}", path.trim_end_matches('/')) };
        let (mut host, mut place) = (host, None);
        if is_web {
            if host == "www.github.com" {
                host = "github.com".to_owned();
            }
            path = decoded(&path).ok_or_else(|| NameError::Part(shown(&path)))?;
            (path, place) = web(&mut host, &path);
        }
        let forge = FORGES.contains(&host.as_str());
        if forge && path.trim_matches('/').split('/').filter(|part| is_plain(part)).count() < 2 {
            return Err(NameError::Unknown(shown(rest)));
        }
        // A user name has no meaning over https without a password.
        Self { transport, host, port, user: None, path, place }.checked(user.filter(|_| transport == Transport::Ssh))
    }

    /// Refuses parts that a program could take for an option, and invalid paths.
    fn checked(mut self, user: Option<&str>) -> Result<Self, NameError> {
        self.path.truncate(self.path.trim_end_matches('/').len());
        let slashes = self.path.len() - self.path.trim_start_matches('/').len();
        self.path.drain(..slashes.saturating_sub(1));
        let bad = |part: &str| part.starts_with('-') || part.contains(char::is_whitespace) || part.contains('\\');
        let inner = self.path.trim_matches('/');
        let climbs = inner.split('/').any(|part| part == "..");
        for part in [Some(self.host.as_str()), user, Some(inner)].into_iter().flatten() {
            if part.is_empty() || bad(part) {
                return Err(NameError::Part(shown(part)));
            }
        }
        if climbs || self.path.starts_with('-') {
            return Err(NameError::Part(shown(&self.path)));
        }
        self.user = user.map(str::to_owned);
        Ok(self)
    }

    /// The address for git. It never contains a credential.
    pub fn url(&self) -> String {
        let scheme = self.transport.scheme();
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        let user = self.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match self.transport {
            Transport::Local => format!("file://{}", self.path),
            // Only the scp form allows a path that does not start at the root.
            Transport::Ssh if !self.path.starts_with('/') && self.port.is_none() => {
                format!("{user}{host}:{}", self.path)
            }
            _ => format!("{scheme}://{user}{host}{port}/{}", self.path.trim_start_matches('/')),
        }
    }

    /// The same repository without the ref or folder.
    pub fn whole(&self) -> Self {
        Self { place: None, ..self.clone() }
    }

    /// The identity that all names of one repository share.
    pub fn identity(&self) -> String {
        let path = self.path.trim_matches('/');
        let path = path.strip_suffix(".git").filter(|path| !path.is_empty()).unwrap_or(path);
        if self.transport == Transport::Local {
            return format!("file:///{path}");
        }
        if FORGES.contains(&self.host.as_str()) && self.port.is_none() {
            return format!("{}/{}", self.host, path.to_lowercase());
        }
        // On other hosts, two servers may have different repositories.
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}/{}", self.transport.scheme(), self.host, self.path.trim_end_matches('/'))
    }

    /// `owner/name`: the path without `.git`.
    pub fn name(&self) -> &str {
        let path = self.path.trim_matches('/');
        path.strip_suffix(".git").filter(|path| !path.is_empty()).unwrap_or(path)
    }

    /// Owner and name if it is at `host` and has just these, as GitHub's API needs them.
    pub fn owner_and_name_at(&self, host: &str) -> Option<(&str, &str)> {
        let (owner, name) = self.name().split_once('/')?;
        let web = matches!(self.transport, Transport::Https | Transport::Http | Transport::Ssh);
        (web && self.host.eq_ignore_ascii_case(host) && !name.contains('/')).then_some((owner, name))
    }

    /// The repo id in answers: `owner/name` at GitHub, `host/path` elsewhere, with `@ref` unless it is the default
    /// branch.
    pub fn id(&self, reference: Option<&str>) -> String {
        let (owner, name) = match self.owner_and_name_at("github.com") {
            Some((owner, name)) if is_plain(owner) && is_plain(name) => (owner.to_owned(), name.to_owned()),
            _ => {
                let owner = if self.host.is_empty() { "file".to_owned() } else { plain(&self.host) };
                (
                    owner,
                    format!(
                        "{}-{}",
                        plain(self.name().rsplit('/').next().unwrap_or_default()),
                        short_hash(&self.identity())
                    ),
                )
            }
        };
        match reference {
            Some(reference) if is_plain(reference) => format!("{owner}/{name}@{reference}"),
            Some(reference) => format!("{owner}/{name}@{}-{}", plain(reference), short_hash(reference)),
            None => format!("{owner}/{name}"),
        }
    }

    /// The same repository over ssh, for hosts with both: at the usual port, with the user `git`.
    pub fn over_ssh(&self) -> Option<Self> {
        let both = self.transport == Transport::Https && self.host.parse::<std::net::IpAddr>().is_err();
        both.then(|| Self {
            transport: Transport::Ssh,
            user: Some("git".to_owned()),
            port: None,
            path: self.path.trim_matches('/').to_owned(),
            ..self.clone()
        })
    }

    /// Its folder, on this machine.
    pub fn folder(&self) -> Option<PathBuf> {
        (self.transport == Transport::Local).then(|| PathBuf::from(&self.path))
    }
}

impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.transport {
            Transport::Local => f.write_str(&self.path),
            _ => f.write_str(&self.url()),
        }
    }
}

/// A path on this machine, absolute; `None` for any other name.
fn local_path(text: &str, directory: Option<&Path>) -> Option<PathBuf> {
    let path = Path::new(text);
    if path.is_absolute() {
        return Some(path.to_owned());
    }
    let relative = text == "." || text == ".." || text.starts_with("./") || text.starts_with("../");
    let joined = directory.filter(|_| relative)?.join(path);
    Some(joined.canonicalize().unwrap_or(joined))
}

/// A host and a port; `None` if the host is invalid.
fn host_and_port(address: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match address.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, after.strip_prefix(':').or(after.is_empty().then_some(""))?)
        }
        None => address.split_once(':').unwrap_or((address, "")),
    };
    let port = if port.is_empty() { None } else { Some(port.parse().ok().filter(|port| *port > 0)?) };
    let known = |c: char| c.is_ascii_alphanumeric() || ".-_:".contains(c);
    (!host.is_empty() && host.chars().all(known)).then(|| (host.to_ascii_lowercase(), port))
}

/// Splits a web page's path: the repository, and the ref or folder that the page shows.
fn web(host: &mut String, path: &str) -> (String, Option<Place>) {
    let git = |path: &str| match FORGES.contains(&host.as_str()) {
        true => format!("{}.git", path.strip_suffix(".git").unwrap_or(path)),
        false => path.to_owned(),
    };
    // GitLab separates pages from repository paths, which may be deep, by a `-`.
    if let Some((repository, page)) = path.split_once("/-/") {
        let place =
            page.split_once('/').filter(|(kind, _)| PAGES.contains(kind)).map(|(kind, rest)| of_page(kind, rest));
        return (git(repository), place.flatten());
    }
    let mut parts = path.splitn(4, '/');
    let (owner, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let (kind, rest) = (parts.next(), parts.next().unwrap_or_default());
    if host == "raw.githubusercontent.com" {
        let joined = [kind.unwrap_or_default(), rest].join("/");
        *host = "github.com".to_owned();
        let place = (!joined.starts_with('/')).then(|| Place::Joined(joined.trim_matches('/').to_owned()));
        return (format!("{owner}/{name}.git"), place);
    }
    let is_forge = FORGES.contains(&host.as_str());
    match kind {
        Some(kind) if PAGES.contains(&kind) && !name.ends_with(".git") => {
            (git(&format!("{owner}/{name}")), of_page(kind, rest))
        }
        // Other pages of a forge: issues, settings, releases.
        Some(_) if is_forge && host != "gitlab.com" => (git(&format!("{owner}/{name}")), None),
        _ => (git(path), None),
    }
}

/// The second part of a page's address, before a ref.
const PAGES: &[&str] = &["tree", "blob", "raw", "blame", "commits", "commit", "src", "releases"];

fn of_page(kind: &str, rest: &str) -> Option<Place> {
    let rest = rest.trim_matches('/');
    let (first, after) = rest.split_once('/').unwrap_or((rest, ""));
    let place = match (kind, first) {
        ("commit", _) => Place::Ref(first.to_owned()),
        ("releases", "tag") => Place::Ref(after.to_owned()),
        ("releases", _) => return None,
        // In Gitea the kind of ref precedes it.
        ("src" | "raw", "branch" | "tag" | "commit") if !after.is_empty() => Place::Joined(after.to_owned()),
        _ => Place::Joined(rest.to_owned()),
    };
    match &place {
        Place::Joined(text) | Place::Ref(text) => (!text.is_empty()).then_some(place),
    }
}

/// Decodes `%2F` and the like; `None` if the result is no text, or has control characters.
fn decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            let hex = text.get(at + 1..at + 3)?;
            out.push(u8::from_str_radix(hex, 16).ok()?);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(out).ok().filter(|text| !text.chars().any(char::is_control))
}

/// Whether a text has only letters that are safe in an id, a path or a URL.
fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 100
        && !text.starts_with(['.', '-'])
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// A similar text with only such letters.
fn plain(text: &str) -> String {
    let text: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' }).take(80).collect();
    let text = text.trim_matches(['.', '-']);
    if text.is_empty() { "x".to_owned() } else { text.to_owned() }
}

/// Whether git accepts a text as the name of a ref.
pub fn is_ref(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 1000
        && !text.starts_with(['-', '/', '.'])
        && !text.ends_with(['/', '.'])
        && !text.ends_with(".lock")
        && !["..", "//", "@{", "/."].iter().any(|bad| text.contains(bad))
        && !text.chars().any(|c| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c))
}

/// A hash of eight letters.
pub(in crate::git) fn short_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..8].to_owned()
}

/// The part of a text shown in errors, without a password before an `@`.
fn shown(text: &str) -> String {
    let text = text.rsplit_once('@').map_or(text, |(_, rest)| rest);
    text.chars().take(100).collect()
}
