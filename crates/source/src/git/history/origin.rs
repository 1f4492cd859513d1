//! The `owner/name` in the address of a GitHub repository.

/// Reads `owner/name` out of an address at github.com in any form git takes: `https`, `ssh`, `git` or
/// `owner@host:path`.
pub(in crate::git) fn github_id(url: &str) -> Option<String> {
    let (host, path) = match url.split_once("://") {
        Some((_scheme, rest)) => rest.split_once('/')?,
        None => url.split_once(':')?,
    };
    let host = host.rsplit('@').next()?;
    let host = host.split_once(':').map_or(host, |(name, _port)| name);
    if !["github.com", "www.github.com", "ssh.github.com"].iter().any(|known| host.eq_ignore_ascii_case(known)) {
        return None;
    }
    let path = path.trim_matches('/');
    let (owner, name) = path.strip_suffix(".git").unwrap_or(path).split_once('/')?;
    (is_name(owner) && is_name(name)).then(|| format!("{owner}/{name}"))
}

/// Whether a name has only the characters that GitHub allows. Others could smuggle a path or a line break into an id.
fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !text.is_empty() && text != "." && text != ".." && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::github_id;

    #[test]
    fn every_form_of_address_is_read() {
        for url in [
            "https://github.com/rust-lang/cargo",
            "https://github.com/rust-lang/cargo.git",
            "https://user:token@github.com/rust-lang/cargo.git/",
            "http://www.github.com/rust-lang/cargo",
            "git@github.com:rust-lang/cargo.git",
            "github.com:rust-lang/cargo",
            "ssh://git@github.com/rust-lang/cargo.git",
            "ssh://git@ssh.github.com:443/rust-lang/cargo.git",
            "git://GitHub.com/rust-lang/cargo.git",
        ] {
            assert_eq!(github_id(url).as_deref(), Some("rust-lang/cargo"), "{url}");
        }
    }

    #[test]
    fn other_hosts_and_odd_paths_have_no_id() {
        for url in [
            "https://gitlab.com/owner/name",
            "https://github.com.evil.org/owner/name",
            "https://evil.org/github.com/name",
            "https://github.com/owner",
            "https://github.com/owner/name/tree/main",
            "https://github.com/owner/..",
            "https://github.com/ow ner/name",
            "/srv/git/name.git",
            "../name",
            "file:///srv/git/name",
            "",
        ] {
            assert_eq!(github_id(url), None, "{url}");
        }
    }
}
