//! Detection of private keys and tokens in files of any name. Such files are counted and named, and their text stays as
//! it is: in popular repositories nearly all of them are test data or documentation, and masking would damage code.

use memchr::memmem;

/// Prefixes of well-known tokens with the number of letters, digits, `-` and `_` that follow at least.
const TOKENS: &[(&[u8], usize)] = &[
    (b"AKIA", 16),
    (b"ASIA", 16),
    (b"AIza", 35),
    (b"ghp_", 36),
    (b"gho_", 36),
    (b"ghu_", 36),
    (b"ghs_", 36),
    (b"ghr_", 36),
    (b"github_pat_", 82),
    (b"glpat-", 20),
    (b"hf_", 34),
    (b"npm_", 36),
    (b"pypi-AgEIcHlwaS5vcmc", 50),
    (b"sk-ant-", 90),
    (b"sk_live_", 24),
    (b"rk_live_", 24),
    (b"xoxb-", 40),
    (b"xoxp-", 40),
];
/// Words in the examples of documentation.
const PLACEHOLDERS: &[&[u8]] = &[b"EXAMPLE", b"example", b"xxxx", b"XXXX", b"0000", b"1234567"];
/// End of the first line of a private key block, and the form of OpenPGP.
const KEYS: &[&[u8]] = &[b"PRIVATE KEY-----", b"PRIVATE KEY BLOCK-----"];
/// Length of the shortest line of a private key that counts; the lines of real keys have 64 bytes.
const KEY_LINE: usize = 40;
/// Distance from the first line of a block to its key; headers about encryption stand between them.
const KEY_WITHIN: usize = 300;
/// Number of files that a warning names.
const NAMED: usize = 20;

/// Whether content has the form of a private key or a token.
pub fn holds_credential(content: &[u8]) -> bool {
    KEYS.iter().any(|end| holds_key(content, end))
        || TOKENS.iter().any(|(prefix, more)| holds_token(content, prefix, *more))
}

/// Whether content holds a private key block with the key itself, not only its first line.
fn holds_key(content: &[u8], end: &[u8]) -> bool {
    memmem::find_iter(content, end).any(|at| {
        let line = &content[memchr::memrchr(b'\n', &content[..at]).map_or(0, |end| end + 1)..at];
        let after = &content[at + end.len()..];
        let after = &after[..after.len().min(KEY_WITHIN)];
        let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        memmem::find(line, b"-----BEGIN ").is_some()
            && after.split(|byte| !is_base64(byte)).any(|word| word.len() >= KEY_LINE)
    })
}

fn holds_token(content: &[u8], prefix: &[u8], more: usize) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    memmem::find_iter(content, prefix).any(|at| {
        let is_whole = !content[..at].last().is_some_and(is_part);
        let secret = &content[at + prefix.len()..];
        let secret = &secret[..secret.iter().take(256).take_while(|byte| is_part(byte)).count()];
        let is_varied = secret.iter().any(u8::is_ascii_digit) && secret.iter().any(u8::is_ascii_alphabetic);
        let is_example = || PLACEHOLDERS.iter().any(|word| memmem::find(secret, word).is_some());
        is_whole && secret.len() >= more && is_varied && !is_example()
    })
}

/// Sentence that counts and names files with credentials.
pub fn credentials(mut files: Vec<String>) -> Option<String> {
    files.sort_unstable();
    files.dedup();
    let (count, rest) = (files.len(), files.len().saturating_sub(NAMED));
    files.truncate(NAMED);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let subject = if count == 1 { "1 file seems" } else { &format!("{count} files seem") };
    let names = files.join(", ");
    (count > 0)
        .then(|| format!("{subject} to hold a private key or a token, indexed like any other text: {names}{more}"))
}

/// Advice that goes with [`credentials`].
pub const CREDENTIALS_REMEDY: &str = "exclude such files with extra_ignore, or allow them with allow_secrets";

#[cfg(test)]
mod tests {
    use super::{credentials, holds_credential};

    #[test]
    fn keys_and_tokens_are_told_from_mentions_of_them() {
        let base64 = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ";
        // Written in parts, so that no scanner finds a key in this file.
        let begin = ["-----BEGIN RSA PRIVATE", " KEY-----"].concat();
        let pgp = ["-----BEGIN PGP PRIVATE", " KEY BLOCK-----"].concat();
        let token = |prefix: &str, n: usize| format!("token = \"{prefix}{}\"", "a7B".repeat(n));
        for text in [
            format!("{begin}\n{base64}\n"),
            format!("KEY = '''{begin}\r\n{base64}'''"),
            format!(r#"{{"private_key": "{begin}\n{base64}\n"}}"#),
            format!("{begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n{base64}\n"),
            format!("{pgp}\n\n{base64}\n"),
            token("ghp_", 12),
            token("AKIA", 6),
            token("xoxb-", 14),
            token("sk_live_", 8),
        ] {
            assert!(holds_credential(text.as_bytes()), "{text}");
        }
        for text in [
            begin.clone(),
            format!("lines that begin with {begin} and end with"),
            format!("{begin}\n...\n"),
            format!("-----BEGIN PUBLIC KEY-----\n{base64}\n"),
            "AKIA is their prefix".to_owned(),
            ["AKIA", "IOSFODNN7EXAMPLE"].concat(),
            format!("ghp_{}", "x".repeat(36)),
            format!("SAKIA{}", "A7".repeat(8)),
            "npm_config_registry".to_owned(),
        ] {
            assert!(!holds_credential(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn files_with_credentials_are_counted_and_the_first_are_named() {
        assert_eq!(credentials(Vec::new()), None);
        let one = credentials(vec!["a.py".to_owned()]).expect("there is one");
        assert!(one.starts_with("1 file seems") && one.ends_with(": a.py"), "{one}");
        let many = credentials((10..40).map(|n| format!("{n}.py")).collect()).expect("there are some");
        assert!(many.starts_with("30 files seem") && many.ends_with(" 29.py and 10 more"), "{many}");
    }
}
