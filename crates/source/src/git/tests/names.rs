//! The names of repositories.

use std::path::Path;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use crate::git::{Place, Remote, is_ref};

fn read(text: &str) -> String {
    match Remote::parse(text, Some(Path::new("/home/me"))) {
        Ok(remote) => {
            let place = match &remote.place {
                Some(Place::Joined(text)) => format!(" joined {text}"),
                Some(Place::Ref(text)) => format!(" ref {text}"),
                None => String::new(),
            };
            format!("{remote} id {}{place}", remote.id(None))
        }
        Err(err) => format!("error: {err}"),
    }
}

fn check(texts: &[&str], expected: Expect) {
    let lines: Vec<String> = texts.iter().map(|text| format!("{text}\n    {}\n", read(text))).collect();
    expected.assert_eq(&lines.concat());
}

#[test]
fn every_name_of_a_repository_is_read() {
    check(
        &[
            "rust-lang/cargo",
            "rust-lang/cargo@0.90.0",
            "github:rust-lang/cargo",
            "gitlab:group/sub/name",
            "codeberg:forgejo/forgejo@v1",
            "https://github.com/rust-lang/cargo",
            "https://user@www.GitHub.com/rust-lang/cargo.git/",
            "github.com/rust-lang/cargo",
            "git@github.com:rust-lang/cargo.git",
            "ssh://git@github.com/rust-lang/cargo",
            "ssh://me@host.example:2222/srv/git/x.git",
            "host.example:x/y",
            "git://host.example/x.git",
            "git+https://github.com/rust-lang/cargo.git",
            "http://git.example:8080/deep/er/name.git",
            "https://git.example/x.git",
            "https://[2606:4700::1111]:8443/x.git",
            "file:///srv/git/x.git",
            "/srv/git/x.git",
            "./x",
        ],
        expect![[r#"
            rust-lang/cargo
                https://github.com/rust-lang/cargo.git id rust-lang/cargo
            rust-lang/cargo@0.90.0
                https://github.com/rust-lang/cargo.git id rust-lang/cargo ref 0.90.0
            github:rust-lang/cargo
                https://github.com/rust-lang/cargo.git id rust-lang/cargo
            gitlab:group/sub/name
                https://gitlab.com/group/sub/name.git id gitlab.com/name-7419f549
            codeberg:forgejo/forgejo@v1
                https://codeberg.org/forgejo/forgejo.git id codeberg.org/forgejo-eee0bafd ref v1
            https://github.com/rust-lang/cargo
                https://github.com/rust-lang/cargo.git id rust-lang/cargo
            https://user@www.GitHub.com/rust-lang/cargo.git/
                https://github.com/rust-lang/cargo.git id rust-lang/cargo
            github.com/rust-lang/cargo
                https://github.com/rust-lang/cargo.git id rust-lang/cargo
            git@github.com:rust-lang/cargo.git
                git@github.com:rust-lang/cargo.git id rust-lang/cargo
            ssh://git@github.com/rust-lang/cargo
                ssh://git@github.com/rust-lang/cargo id rust-lang/cargo
            ssh://me@host.example:2222/srv/git/x.git
                ssh://me@host.example:2222/srv/git/x.git id host.example/x-82b63f37
            host.example:x/y
                host.example:x/y id host.example/y-4acdecda
            git://host.example/x.git
                git://host.example/x.git id host.example/x-5b0f1c54
            git+https://github.com/rust-lang/cargo.git
                https://github.com/rust-lang/cargo.git id rust-lang/cargo
            http://git.example:8080/deep/er/name.git
                http://git.example:8080/deep/er/name.git id git.example/name-1d6ec892
            https://git.example/x.git
                https://git.example/x.git id git.example/x-66f1c8bc
            https://[2606:4700::1111]:8443/x.git
                https://[2606:4700::1111]:8443/x.git id 2606-4700--1111/x-c5403c81
            file:///srv/git/x.git
                /srv/git/x.git id file/x-6a392fd9
            /srv/git/x.git
                /srv/git/x.git id file/x-6a392fd9
            ./x
                /home/me/./x id file/x-b4e90ed9
        "#]],
    );
}

#[test]
fn a_web_page_says_what_of_a_repository_is_meant() {
    check(
        &[
            "https://github.com/a/b/tree/feature/x/src",
            "https://github.com/a/b/blob/main/src/lib.rs#L10-L20",
            "https://github.com/a/b/commit/0123456789abcdef0123456789abcdef01234567",
            "https://github.com/a/b/releases/tag/v1.0",
            "https://github.com/a/b/issues/7",
            "https://raw.githubusercontent.com/a/b/main/x.py",
            "https://gitlab.com/g/s/n/-/tree/main/src?ref_type=heads",
            "https://gitlab.com/g/s/n/-/issues",
            "https://codeberg.org/a/b/src/branch/main/x",
            "https://git.corp.example/a/b/tree/main/src",
            "https://github.com/a/b/tree/caf%C3%A9",
        ],
        expect![[r#"
            https://github.com/a/b/tree/feature/x/src
                https://github.com/a/b.git id a/b joined feature/x/src
            https://github.com/a/b/blob/main/src/lib.rs#L10-L20
                https://github.com/a/b.git id a/b joined main/src/lib.rs
            https://github.com/a/b/commit/0123456789abcdef0123456789abcdef01234567
                https://github.com/a/b.git id a/b ref 0123456789abcdef0123456789abcdef01234567
            https://github.com/a/b/releases/tag/v1.0
                https://github.com/a/b.git id a/b ref v1.0
            https://github.com/a/b/issues/7
                https://github.com/a/b.git id a/b
            https://raw.githubusercontent.com/a/b/main/x.py
                https://github.com/a/b.git id a/b joined main/x.py
            https://gitlab.com/g/s/n/-/tree/main/src?ref_type=heads
                https://gitlab.com/g/s/n.git id gitlab.com/n-880644e7 joined main/src
            https://gitlab.com/g/s/n/-/issues
                https://gitlab.com/g/s/n.git id gitlab.com/n-880644e7
            https://codeberg.org/a/b/src/branch/main/x
                https://codeberg.org/a/b.git id codeberg.org/b-3f157de5 joined main/x
            https://git.corp.example/a/b/tree/main/src
                https://git.corp.example/a/b id git.corp.example/b-4457f4f0 joined main/src
            https://github.com/a/b/tree/caf%C3%A9
                https://github.com/a/b.git id a/b joined café
        "#]],
    );
}

#[test]
fn what_is_dangerous_or_nothing_is_refused() {
    check(
        &[
            "",
            "name",
            "a/b/c",
            "https://github.com/owner",
            "https://me:secret@github.com/a/b",
            "ext::sh -c true",
            "javascript://x/y",
            "ssh://-oProxyCommand=x/y",
            "-oProxyCommand=x:y",
            "git@host:-x",
            "https://host.example/../x",
            "ssh://host/a\\b",
            "https://host.example/%00",
            "a/b@-x",
            "owner/na me",
        ],
        expect![[r#"

                error: no repository is named: give owner/name, a URL or a path
            name
                error: "name" names no repository: give owner/name, github:owner/name, https://host/path, git@host:path or a path
            a/b/c
                error: "a/b/c" names no repository: give owner/name, github:owner/name, https://host/path, git@host:path or a path
            https://github.com/owner
                error: "github.com/owner" names no repository: give owner/name, github:owner/name, https://host/path, git@host:path or a path
            https://me:secret@github.com/a/b
                error: the URL of github.com holds a password: remove it, and set a token with CODELODE_GIT_TOKENS=github.com=<token>
            ext::sh -c true
                error: ext:// is not supported: use https, ssh, git or file
            javascript://x/y
                error: javascript:// is not supported: use https, ssh, git or file
            ssh://-oProxyCommand=x/y
                error: "-oProxyCommand=x" names no repository: give owner/name, github:owner/name, https://host/path, git@host:path or a path
            -oProxyCommand=x:y
                error: "-oProxyCommand=x:y" names no repository: give owner/name, github:owner/name, https://host/path, git@host:path or a path
            git@host:-x
                error: "-x" cannot be part of a repository's name
            https://host.example/../x
                error: "../x" cannot be part of a repository's name
            ssh://host/a\b
                error: "a\\b" cannot be part of a repository's name
            https://host.example/%00
                error: "%00" cannot be part of a repository's name
            a/b@-x
                error: "-x" names no repository: give owner/name, github:owner/name, https://host/path, git@host:path or a path
            owner/na me
                error: "owner/na me" names no repository: give owner/name, github:owner/name, https://host/path, git@host:path or a path
        "#]],
    );
}

#[test]
fn names_of_one_repository_have_one_identity() {
    let identity = |text| Remote::parse(text, None).expect("a name").identity();
    for other in ["https://github.com/Owner/Name", "git@github.com:owner/name.git", "github:owner/name@v1"] {
        assert_eq!(identity("owner/name"), identity(other), "{other}");
    }
    assert_ne!(identity("owner/name"), identity("gitlab:owner/name"));
    let url = |text: &str| Remote::parse(text, None).expect("it is a name").url();
    assert_eq!(url("git@git.example:/x/"), "ssh://git@git.example/x");
    assert_ne!(identity("https://git.example/x"), identity("https://git.example:8443/x"));
    assert_eq!(identity("https://git.example/x"), identity("https://git.example/x/"));
}

proptest! {
    #[test]
    fn nothing_panics(text in "\\PC{0,60}") {
        let _ = Remote::parse(&text, Some(Path::new("/home/me")));
        let _ = is_ref(&text);
    }

    #[test]
    fn nothing_that_looks_like_a_name_panics(
        scheme in "(https://|ssh://|git://|file://|github:|[a-z]{1,3}:|)",
        user in "([a-z]{1,3}(:[a-z]{1,3})?@|)",
        rest in "[-a-zA-Z0-9._~/:@%?#\\[\\]]{0,40}",
    ) {
        let text = format!("{scheme}{user}{rest}");
        if let Ok(remote) = Remote::parse(&text, None) {
            prop_assert!(!remote.id(None).is_empty());
            prop_assert_eq!(remote.id(None).split('/').count(), 2);
            prop_assert!(!remote.path.starts_with('-') && !remote.host.starts_with('-'));
            // Its own URL names it again.
            let again = Remote::parse(&remote.url(), None).expect("a URL of ours");
            prop_assert_eq!(again.identity(), remote.identity());
            prop_assert_eq!(again.url(), remote.url());
        }
    }

    #[test]
    fn a_password_is_never_shown(secret in "[a-z]{12}", rest in "[-a-z./@ ]{0,20}") {
        let text = format!("https://me:{secret}@{rest}");
        match Remote::parse(&text, None) {
            Ok(remote) => prop_assert!(!remote.url().contains(&secret)),
            Err(err) => prop_assert!(!err.to_string().contains(&secret), "{}", err),
        }
    }
}
