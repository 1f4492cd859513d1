//! Reading of files found by a walk, which may have changed since.

use std::fs;

use super::{Source, rules};
use crate::discover::{Rules, read};
use codelode_base::model::{SkipReason, SourceFile};

fn file(path: &str, size: u64) -> SourceFile {
    SourceFile { path: path.to_owned(), size, mtime_ns: 0, ctime_ns: 0 }
}

#[test]
fn bytes_come_as_they_are() {
    let source = Source::with(&[]);
    for content in [&b""[..], b"plain", "\u{feff}mark\r\n".as_bytes(), b"latin \xe9\n", &[b'x'; 100_000]] {
        source.write("deep/a.txt", content);
        let found = source.walk();
        assert_eq!(read(&source.root(), &found.files[0], &rules()).as_deref(), Ok(content));
    }
    source.write("deep/a.txt", b"\xff\xfea\0\xac\x20");
    assert_eq!(read(&source.root(), &source.walk().files[0], &rules()).as_deref(), Ok("a\u{20ac}".as_bytes()));
}

#[test]
fn what_is_not_text_is_refused() {
    let source = Source::with(&[]);
    let wide = SkipReason::Utf16;
    for (content, reason) in [(&b"a\0b"[..], SkipReason::Binary), (b"\xff\xfea", wide), (b"\xfe\xff\xdc\0", wide)] {
        source.write("a.txt", content);
        assert_eq!(read(&source.root(), &source.walk().files[0], &rules()), Err(reason));
    }
}

#[test]
fn a_file_that_grew_over_the_limit_is_refused() {
    let source = Source::with(&["a.py", "main.js"]);
    let rules = Rules { max_file_size: 100, ..rules() };
    source.write("a.py", "a".repeat(101));
    assert_eq!(read(&source.root(), &file("a.py", 5), &rules), Err(SkipReason::TooLarge));
    // The walk let this one pass at its size, because a package names it.
    source.write("main.js", "a".repeat(200));
    assert_eq!(read(&source.root(), &file("main.js", 200), &rules).map(|bytes| bytes.len()), Ok(200));
}

#[test]
fn paths_out_of_the_root_are_refused() {
    let outside = Source::with(&["inside/a.py", "secret.py"]);
    let root = outside.path("inside");
    let absolute = outside.path("secret.py").to_string_lossy().into_owned();
    for path in ["../secret.py", "x/../../secret.py", &absolute, "", ".", "/", "a.py\0"] {
        for follow_symlinks in [false, true] {
            let rules = Rules { follow_symlinks, ..rules() };
            assert_eq!(read(&root, &file(path, 5), &rules), Err(SkipReason::Unreadable), "{path:?}");
        }
    }
}

#[test]
fn what_is_gone_or_became_a_folder_is_refused() {
    let source = Source::with(&["a.py"]);
    fs::create_dir(source.path("folder")).expect("folders can be made");
    assert_eq!(read(&source.root(), &file("none.py", 5), &rules()), Err(SkipReason::Unreadable));
    assert_eq!(read(&source.root(), &file("a.py/none.py", 5), &rules()), Err(SkipReason::Unreadable));
    assert_eq!(read(&source.root(), &file("folder", 5), &rules()), Err(SkipReason::NotAFile));
}

#[cfg(unix)]
#[test]
fn pipes_and_sockets_are_not_waited_for() {
    let source = Source::with(&[]);
    let made = std::process::Command::new("mkfifo").arg(source.path("pipe")).status();
    assert!(made.expect("mkfifo is installed where tests run").success());
    assert_eq!(read(&source.root(), &file("pipe", 5), &rules()), Err(SkipReason::NotAFile));
    let _socket = std::os::unix::net::UnixListener::bind(source.path("socket")).expect("the path is short");
    assert_eq!(read(&source.root(), &file("socket", 5), &rules()), Err(SkipReason::NotAFile));
}
