//! The system's own ssh and a real server of it on the loopback, with keys made for the test.

use std::fs;
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::git::tests::repository;
use crate::git::tests::servers::{access_for, files, quiet, remote, write};
use crate::git::{Age, Cache, CacheLimits, Error, FetchAccess};
use crate::skipping::skipped;
use codelode_net::test_server::{PATIENCE, Reply, TestServer};

const SSHD: &str = "/usr/sbin/sshd";

/// A server that accepts one key, and runs commands in a folder.
struct Sshd {
    child: Child,
    folder: TempDir,
    port: u16,
    user: String,
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

fn make_key(path: &Path) {
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).status();
    assert!(made.expect("it comes with ssh").success());
}

impl Sshd {
    /// Starts the server; `None` if it is not installed, or not allowed to run.
    fn start(root: &Path) -> Option<Self> {
        if !Path::new(SSHD).is_file() {
            skipped(&format!("there is no {SSHD}; the package openssh-server has it"));
            return None;
        }
        if Command::new("ssh").arg("-V").output().is_err() {
            skipped("there is no ssh");
            return None;
        }
        let folder = TempDir::new().expect("the system has room for a folder");
        for name in ["host", "user", "stranger"] {
            make_key(&folder.path().join(name));
        }
        let user = Command::new("id").arg("-un").output().expect("every system has it").stdout;
        let user = String::from_utf8_lossy(&user).trim().to_owned();
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
        let at = folder.path().display();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/host\nAuthorizedKeysFile {at}/user.pub\nStrictModes no\n\
             UsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPidFile none\nPermitRootLogin yes\n\
             SetEnv PATH={}\nForceCommand cd {} && eval \"$SSH_ORIGINAL_COMMAND\"\n",
            std::env::var("PATH").expect("tests run with one"),
            root.display(),
        );
        fs::write(folder.path().join("config"), config).expect("files can be written");
        let child = Command::new(SSHD)
            .args(["-D", "-e", "-f"])
            .arg(folder.path().join("config"))
            .stderr(fs::File::create(folder.path().join("log")).expect("files can be written"))
            .stdin(Stdio::null())
            .spawn()
            .expect("it is there");
        let mut sshd = Self { child, folder, port, user };
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(10));
            if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port))
                && stream.read_exact(&mut [0; 4]).is_ok()
            {
                return Some(sshd);
            }
            if sshd.child.try_wait().expect("it is a child of ours").is_some() {
                break;
            }
        }
        skipped(&format!("sshd does not run here: {}", sshd.log()));
        None
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// The system's ssh with one of the keys, for any host name.
    fn command(&self, key: &str) -> String {
        let at = self.folder.path().display();
        let options = "-F none -o BatchMode=yes -o IdentitiesOnly=yes -o StrictHostKeyChecking=accept-new";
        let known = format!("-o UserKnownHostsFile={at}/known -o HostName=127.0.0.1 -o Port={}", self.port);
        format!("ssh {options} {known} -i {at}/{key} -l {}", self.user)
    }
}

#[test]
fn a_real_server_of_ssh_is_cloned_from_and_updated() {
    let origin = repository(&["a.py", "deep/b.py"]);
    let Some(sshd) = Sshd::start(origin.path()) else { return };
    let folder = TempDir::new().expect("the system has room for a folder");
    let refusing = TestServer::https(|_| Reply::new(401, "who?").with("www-authenticate", "Basic realm=\"git\""));
    let cache = |name: &str, key: &str| {
        let ssh_command = sshd.command(key);
        let access = FetchAccess { ssh_command, ..access_for(&refusing.certificate, folder.path(), &[], PATIENCE) };
        Cache::shared(folder.path().join(name), access, CacheLimits::default())
    };
    // A server need not accept the variable for the newer protocol, and this one does not.
    for name in ["localhost:.git".to_owned(), format!("ssh://localhost:{}{}/.git", sshd.port, origin.path().display())]
    {
        let opened = cache(&format!("one-{}", name.len()), "user").open(&remote(&name), None, Age::Kept, &quiet());
        assert_eq!(files(&opened.unwrap_or_else(|err| panic!("{name}: {err}: {}", sshd.log()))).len(), 2);
    }
    let known = cache("known", "user");
    let named = remote("localhost:.git");
    assert_eq!(known.refs(&named, &quiet()).expect("refs are listed").all.len(), 1);
    drop(known.open(&named, None, Age::Kept, &quiet()).expect("it is cloned"));
    write(origin.path(), "c.py", "new");
    assert_eq!(files(&known.open(&named, None, Age::Now, &quiet()).expect("it is updated")).len(), 3);

    // A repository refused over https is opened over ssh, and the result says so.
    let opened = known.open(&remote(&refusing.url("/.git")), None, Age::Kept, &quiet()).expect("ssh serves it");
    assert_eq!((files(&opened).len(), opened.over.as_deref()), (3, Some("git@localhost:.git")));

    let err =
        cache("none", "user").open(&remote("localhost:none"), None, Age::Kept, &quiet()).expect_err("it is not there");
    assert!(matches!(err, Error::NoRepository { .. }), "{err:?}");
    let err = cache("stranger", "stranger").open(&named, None, Age::Kept, &quiet()).expect_err("the key is unknown");
    // On a busy machine ssh may end before its reason is read; then the repository only seems to be missing.
    assert!(matches!(err, Error::Refused { .. } | Error::NoRepository { .. }), "{err:?}");
}
