//! Requests to git servers: the list of refs, and a commit's objects without its history.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gix::protocol::handshake::Ref;
use gix::remote::fetch::{Shallow, Tags};
use gix::remote::ref_map;
use gix_transport::Protocol;
use gix_transport::client::blocking_io::{Transport as GitTransport, http};
use gix_transport::client::git::{ConnectMode, blocking_io::Connection};

use super::http::{Failure, HttpConnection, Line};
use super::preface;
use super::refs::{Refs, RemoteRef};
use super::remote::{Remote, Transport};
use super::ssh;
use super::stream::{RequestStream, STEP, ServerStream};
use crate::git::Error;
use crate::git::history::commit::causes;
use codelode_base::model::Progress;
use codelode_net as net;

/// Settings for reaching repositories.
#[derive(Clone)]
pub struct FetchAccess {
    /// The https client, with the trusted hosts.
    pub client: net::Client,
    /// Tokens by host, in lower case, with the port if there is one.
    pub tokens: Arc<Vec<(String, Token)>>,
    /// The command for `ssh`, possibly with arguments.
    pub ssh_command: String,
    /// The most bytes of one fetch.
    pub max_clone: u64,
}

/// A secret that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(pub String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

/// The callbacks of one request to a server.
#[derive(Clone)]
pub struct FetchOptions<'a> {
    /// Called with received bytes, and the current activity.
    pub progress: &'a Progress<'a>,
    /// Set when the request is cancelled.
    pub cancelled: Arc<AtomicBool>,
}

/// The longest wait for a connection to it.
const CONNECT: Duration = Duration::from_secs(10);
/// The number of attempts after temporary failures.
const ATTEMPTS: u32 = 3;

/// The first address of a host.
fn first(found: &[std::net::SocketAddr], remote: &Remote) -> Result<std::net::IpAddr, net::Error> {
    let none = || net::Error::Connect { host: remote.host.clone(), problem: "it has no address".to_owned() };
    found.first().map(std::net::SocketAddr::ip).ok_or_else(none)
}

impl FetchAccess {
    /// The token of a host.
    fn token(&self, host: &str, port: Option<u16>) -> Option<&Token> {
        let with_port = port.map(|port| format!("{host}:{port}"));
        let found = |name: &str| self.tokens.iter().find(|(host, _)| host == name).map(|(_, token)| token);
        with_port.as_deref().and_then(found).or_else(|| found(host).filter(|_| port.is_none_or(|port| port == 443)))
    }

    /// Lists the refs of a repository. `repository` is any bare one: nothing is written to it.
    pub(in crate::git) fn list(
        &self,
        repository: &gix::Repository,
        remote: &Remote,
        fetch_options: &FetchOptions<'_>,
    ) -> Result<(Refs, Remote), Error> {
        self.retry(remote, fetch_options, |remote, line| {
            let talk = || {
                let specs = ["+HEAD:refs/x/HEAD", "+refs/heads/*:refs/x/heads/*", "+refs/tags/*:refs/x/tags/*"];
                let git = at(repository, remote, &specs)?;
                let connection = self.connect(&git, remote, line)?;
                let options = ref_map::Options::default();
                Ok(connection.ref_map(gix::progress::Discard, options)?.0)
            };
            let map: gix::error::Result<_> = talk();
            map.map(|map| refs_of(&map.remote_refs))
        })
    }

    /// Fetches one commit, without its history, into a repository. `name` is the ref that it gets there.
    pub(in crate::git) fn fetch(
        &self,
        repository: &gix::Repository,
        remote: &Remote,
        source: &str,
        name: &str,
        fetch_options: &FetchOptions<'_>,
    ) -> Result<(u64, Remote), Error> {
        let received = Arc::new(AtomicU64::new(0));
        let ((), used) = self.retry(remote, fetch_options, |remote, line| {
            let line = Line { received: received.clone(), ..line.clone() };
            received.store(0, Ordering::Relaxed);
            let talk = || {
                let spec = format!("+{source}:{name}");
                let git = at(repository, remote, &[&spec])?;
                let connection = self.connect(&git, remote, &line)?;
                let prepared = connection.prepare_fetch(gix::progress::Discard, ref_map::Options::default())?;
                let prepared = prepared.with_shallow(Shallow::DepthAtRemote(NonZeroU32::MIN));
                tell(fetch_options, &received, || prepared.receive(gix::progress::Discard, &line.cancelled))?;
                Ok(())
            };
            let done: gix::error::Result<()> = talk();
            done
        })?;
        Ok((received.load(Ordering::Relaxed), used))
    }

    /// Tries several times, and over ssh if https is refused.
    fn retry<T>(
        &self,
        remote: &Remote,
        fetch_options: &FetchOptions<'_>,
        talk: impl Fn(&Remote, &Line) -> gix::error::Result<T>,
    ) -> Result<(T, Remote), Error> {
        let began = Instant::now();
        let attempt = |remote: &Remote| {
            let mut attempt = 1;
            loop {
                let line =
                    Line { limit: self.max_clone, cancelled: fetch_options.cancelled.clone(), ..Line::default() };
                let err = match talk(remote, &line) {
                    Ok(done) => return Ok(done),
                    Err(err) => err,
                };
                let failure = line.failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
                // The client retries connections by itself; a conversation that breaks off later is retried here. A
                // daemon closes the connection without a message.
                let passing = match &failure {
                    Some(Failure::Net(net::Error::Broken { .. }) | Failure::Status(500..)) => true,
                    None => remote.transport == Transport::Git,
                    Some(_) => false,
                };
                let err = self.explain(remote, &line, failure, &err, began.elapsed());
                let told_why =
                    matches!(err, Error::Refused { .. } | Error::NoRepository { .. } | Error::NotServed { .. });
                let passing = passing && !told_why;
                if !passing || attempt >= ATTEMPTS || fetch_options.cancelled.load(Ordering::Relaxed) {
                    return Err(match err {
                        Error::Net(net::Error::Timeout { host, .. }) => {
                            net::Error::Timeout { host, after: began.elapsed() }.into()
                        }
                        err => err,
                    });
                }
                std::thread::sleep(Duration::from_millis(200 << attempt));
                attempt += 1;
            }
        };
        match attempt(remote) {
            Ok(done) => Ok((done, remote.clone())),
            Err(refused @ (Error::Refused { .. } | Error::NoRepository { .. })) => {
                let Some(over_ssh) = remote.over_ssh().filter(|over_ssh| self.could_ssh(over_ssh)) else {
                    return Err(refused);
                };
                match attempt(&over_ssh) {
                    Ok(done) => Ok((done, over_ssh)),
                    Err(Error::Cancelled) => Err(Error::Cancelled),
                    // The error of the requested transport is the one that the caller can mend.
                    Err(_) => Err(refused),
                }
            }
            Err(err) => Err(err),
        }
    }

    /// Whether ssh has a key to offer: without one, trying costs seconds in vain.
    fn could_ssh(&self, remote: &Remote) -> bool {
        ssh::has_identity(&self.ssh_command) && self.check_host(remote).is_ok()
    }

    /// Refuses a host that is not public, for connections outside the client.
    fn check_host(&self, remote: &Remote) -> Result<Vec<std::net::SocketAddr>, net::Error> {
        let default = if remote.transport == Transport::Ssh { 22 } else { 9418 };
        let at = (remote.host.as_str(), remote.port.unwrap_or(default));
        let problem = |err: io::Error| net::Error::Connect { host: remote.host.clone(), problem: err.to_string() };
        let found: Vec<_> = at.to_socket_addrs().map_err(problem)?.collect();
        let private = found.iter().find(|address| !net::is_public(address.ip()));
        match private {
            Some(address) if !self.client.guard().trusts(&remote.host) => {
                Err(net::Error::Private { host: remote.host.clone(), address: address.ip() })
            }
            _ => Ok(found),
        }
    }

    fn connect<'a, 'r>(
        &'a self,
        git: &'a gix::Remote<'r>,
        remote: &Remote,
        line: &Line,
    ) -> gix::error::Result<gix::remote::Connection<'a, 'a, 'r, Box<dyn GitTransport + Send>>> {
        let fail = |err: net::Error| {
            line.fail(Failure::Net(err.clone()));
            gix::error::Error::from_error(err)
        };
        let transport: Box<dyn GitTransport + Send> = match remote.transport {
            Transport::Https | Transport::Http => {
                let url = gix::url::parse(remote.url().as_str())?;
                let carrier = HttpConnection::new(self.client.clone(), line.clone());
                Box::new(http::connect_http(carrier, url, Protocol::V2, false))
            }
            Transport::Ssh => {
                // Ssh resolves names again, and by a configuration of its own: it is told the address that was checked. A
                // host that the user trusts may be an alias there.
                let at = match self.client.guard().trusts(&remote.host) {
                    true => None,
                    false => Some(self.check_host(remote).and_then(|found| first(&found, remote)).map_err(fail)?),
                };
                let url = gix::url::parse(remote.url().as_str())?;
                let silence = self.client.silence();
                let (read, write) =
                    ssh::dial(&self.ssh_command, &url, at, silence).map_err(gix::error::Error::from_error)?;
                let read = ServerStream::new(read, line, &remote.host, silence, CONNECT);
                let write = RequestStream::new(write, line);
                let path = url.path.clone();
                let nobody = None::<(String, Option<u16>)>;
                let spoken = Connection::new(read, write, Protocol::V2, path, nobody, ConnectMode::Process, false);
                Box::new(spoken.custom_url(Some(url.to_bstring())))
            }
            Transport::Git => {
                if !self.client.guard().trusts(&remote.host) {
                    return Err(fail(net::Error::Scheme { scheme: "git".to_owned(), host: remote.host.clone() }));
                }
                let addresses = self.check_host(remote).map_err(fail)?;
                let silence = self.client.silence();
                let (read, write) = dial(&addresses, silence)
                    .map_err(|err| fail(net::Error::Connect { host: remote.host.clone(), problem: err.to_string() }))?;
                let read = ServerStream::new(read, line, &remote.host, silence, Duration::ZERO);
                let write = RequestStream::new(write, line);
                let (path, host) = (remote.path.as_str(), Some((remote.host.clone(), remote.port)));
                Box::new(Connection::new(read, write, Protocol::V2, path, host, ConnectMode::Daemon, false))
            }
            Transport::Local => unreachable!("a repository on this machine is read where it lies"),
        };
        let connection = git.to_connection_with_transport(transport);
        let (access, secure) = (self.clone(), remote.transport == Transport::Https);
        Ok(connection.with_credentials(move |action| Ok(access.credentials(&action, secure))))
    }

    /// The credentials for a server that asks, if there is a token for exactly that server.
    fn credentials(
        &self,
        action: &gix::credentials::helper::Action,
        secure: bool,
    ) -> Option<gix::credentials::protocol::Outcome> {
        let context = action.context().filter(|_| secure)?;
        let url = url::Url::parse(&context.url.as_ref()?.to_string()).ok()?;
        if url.scheme() != "https" {
            return None;
        }
        let host = url.host_str()?.to_ascii_lowercase();
        let token = self.token(&host, url.port())?;
        // GitHub accepts any user, GitLab needs this one for every kind of token.
        let (username, password) = match token.0.split_once(':') {
            Some((user, password)) => (user.to_owned(), password.to_owned()),
            None if host.contains("gitlab") => ("oauth2".to_owned(), token.0.clone()),
            None => ("x-access-token".to_owned(), token.0.clone()),
        };
        let identity = gix::sec::identity::Account { username, password, oauth_refresh_token: None };
        Some(gix::credentials::protocol::Outcome { identity, next: context.clone().into() })
    }

    /// The error for a failure after this time.
    fn explain(
        &self,
        remote: &Remote,
        line: &Line,
        failure: Option<Failure>,
        err: &gix::error::Error,
        after: Duration,
    ) -> Error {
        let name = remote.to_string();
        if line.cancelled.load(Ordering::Relaxed) {
            return Error::Cancelled;
        }
        match failure {
            Some(Failure::Net(net::Error::Cancelled)) => return Error::Cancelled,
            Some(Failure::Net(err)) => return Error::Net(err),
            Some(Failure::NoPack) => {
                let (most, after) = (preface::LONGEST >> 20, after.as_secs_f64());
                let problem = format!("its list of refs is larger than {most} MB (after {after:.1} s)");
                return Error::Broken { remote: name, problem };
            }
            Some(Failure::TooLarge) => return Error::TooLarge { remote: name, limit: self.max_clone },
            Some(Failure::Status(404 | 410)) => return Error::NoRepository { remote: name },
            Some(Failure::Status(status @ (401 | 403 | 407))) => {
                return Error::Refused { remote: name, what: format!("its answer is {status}") };
            }
            Some(Failure::Status(status)) => {
                return Error::Broken { remote: name, problem: format!("the server answers with status {status}") };
            }
            None => {}
        }
        let problem = causes(err);
        let wants_account = gix::error::classify(err).is_unauthenticated();
        let told_no =
            ["Permission denied", "publickey", "not accepted", "credentials"].iter().any(|no| problem.contains(no));
        let unknown = ["not found", "does not exist", "not exported", "does not appear to be a git repository"];
        let what = match self.token(&remote.host, remote.port) {
            Some(_) if remote.transport == Transport::Https => "the token for this host was rejected".to_owned(),
            None if remote.transport == Transport::Https => {
                format!("there is no token for it: set CODELODE_GIT_TOKENS={}=<token>", remote.host)
            }
            _ => "all keys were rejected".to_owned(),
        };
        // Ssh does not pass on a server's last words: a connection closed at once means that there is no such
        // repository.
        let hung_up = remote.transport == Transport::Ssh && problem.contains("failed to fill whole buffer");
        if wants_account || told_no {
            Error::Refused { remote: name, what }
        } else if ["not our ref", "unadvertised object"].iter().any(|no| problem.contains(no)) {
            Error::NotServed { remote: name }
        } else if hung_up || unknown.iter().any(|no| problem.to_lowercase().contains(no)) {
            Error::NoRepository { remote: name }
        } else {
            Error::Broken { remote: name, problem: self.without_secrets(problem) }
        }
    }

    /// Removes tokens from a text: a server may repeat them.
    fn without_secrets(&self, mut text: String) -> String {
        for (_, token) in self.tokens.iter().filter(|(_, token)| !token.0.is_empty()) {
            text = text.replace(&token.0, "***");
        }
        text
    }
}

/// The remote in a repository, for these refs.
fn at<'r>(repository: &'r gix::Repository, remote: &Remote, specs: &[&str]) -> gix::error::Result<gix::Remote<'r>> {
    let url = gix::url::parse(remote.url().as_str())?;
    let git = repository.remote_at_without_url_rewrite(url)?.with_fetch_tags(Tags::None);
    git.with_refspecs(specs.iter().copied(), gix::remote::Direction::Fetch)
}

/// Reports the received bytes while a closure runs.
fn tell<T>(fetch_options: &FetchOptions<'_>, received: &AtomicU64, run: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let teller = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                std::thread::park_timeout(Duration::from_millis(100));
                (fetch_options.progress)(received.load(Ordering::Relaxed), None, "fetching");
            }
        });
        let result = run();
        done.store(true, Ordering::Relaxed);
        teller.thread().unpark();
        result
    })
}

/// Connects to the first reachable address.
fn dial(addresses: &[std::net::SocketAddr], silence: Duration) -> io::Result<(TcpStream, TcpStream)> {
    let mut last = io::Error::other("it has no address");
    for address in addresses {
        match TcpStream::connect_timeout(address, CONNECT) {
            Ok(stream) => {
                stream.set_read_timeout(Some(STEP))?;
                stream.set_write_timeout(Some(silence))?;
                // Requests are small and come in pieces: with Nagle's algorithm, each would wait until the last is
                // acknowledged.
                stream.set_nodelay(true)?;
                return Ok((stream.try_clone()?, stream));
            }
            Err(err) => last = err,
        }
    }
    Err(last)
}

/// The refs in a server's answer.
fn refs_of(found: &[Ref]) -> Refs {
    let mut refs = Refs::default();
    for one in found {
        let (name, target, commit) = match one {
            Ref::Peeled { full_ref_name, tag, object } => (full_ref_name, Some(tag), object),
            Ref::Direct { full_ref_name, object } => (full_ref_name, None, object),
            Ref::Symbolic { full_ref_name, target, object, .. } => {
                if full_ref_name == "HEAD" {
                    refs.default = Some(target.to_string());
                }
                (full_ref_name, None, object)
            }
            Ref::Unborn { .. } => continue,
        };
        if name == "HEAD" {
            refs.head = Some(commit.to_string());
            continue;
        }
        refs.all.push(RemoteRef {
            name: name.to_string(),
            commit: commit.to_string(),
            tag: target.map(ToString::to_string),
        });
    }
    refs.all.sort_unstable();
    refs
}

/// The refs of a repository on this machine.
pub(in crate::git) fn local_refs(path: &Path, repository: &gix::Repository) -> Result<Refs, Error> {
    let unreadable =
        |err: &(dyn std::error::Error + 'static)| Error::Unreadable { path: path.to_owned(), problem: causes(err) };
    let mut refs = Refs {
        default: repository.head_name().ok().flatten().map(|name| name.as_bstr().to_string()),
        head: repository.head_id().ok().map(|id| id.to_string()),
        all: Vec::new(),
    };
    let platform = repository.references().map_err(|err| unreadable(&err))?;
    for one in platform.all().map_err(|err| unreadable(&err))?.flatten() {
        let name = one.name().as_bstr().to_string();
        let Some(target) = one.try_id().map(|id| id.to_string()) else { continue };
        let mut one = one;
        let Ok(commit) = one.peel_to_id() else { continue };
        let commit = commit.to_string();
        if name.starts_with("refs/heads/") || name.starts_with("refs/tags/") {
            let tag = (target != commit).then_some(target);
            refs.all.push(RemoteRef { name, commit, tag });
        }
    }
    refs.all.sort_unstable();
    Ok(refs)
}
