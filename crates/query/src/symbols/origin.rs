//! Origins of files: the project's code, its tests, generated code, and copies of other projects.

use codelode_lang::languages::{self, is_built};
use codelode_store::FileView;

/// Origin of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Code of the project.
    Code,
    /// A test, an example or documentation.
    Test,
    /// Generated: by a generator, a bundler or a build.
    Generated,
    /// Copied from another project.
    Vendored,
}

impl Origin {
    /// The origin of a file by its path, its beginning and its longest lines.
    pub fn of(file: FileView<'_>) -> Self {
        match () {
            () if file.is_generated() || is_built(file.path()) => Self::Generated,
            () if is_vendored(file) => Self::Vendored,
            () if file.is_test() => Self::Test,
            () => Self::Code,
        }
    }

    /// The word in answers; `None` for code and tests of the project.
    pub fn mark(self) -> Option<&'static str> {
        match self {
            Self::Code | Self::Test => None,
            Self::Generated => Some("generated"),
            Self::Vendored => Some("vendored"),
        }
    }

    /// Whether people write the file for this project.
    pub fn is_written(self) -> bool {
        matches!(self, Self::Code | Self::Test)
    }
}

/// The bytes of a file that are searched for a banner.
const BANNER: usize = 400;

/// Whether a file was copied from another project: `vendor/a.go`, `packages/urllib3/util.py`, `jquery-3.5.1.js`,
/// `/*! XRegExp 2.0.0 …`.
fn is_vendored(file: FileView<'_>) -> bool {
    if let Some(given) = file.given_as_vendored() {
        return given;
    }
    let (path, rules) = (file.path(), file.conventions());
    let is_served = || rules.served.iter().any(|ending| path.ends_with(ending));
    languages::is_vendored(path)
        || is_bundled_package(path, rules.bundles)
        || is_served() && (has_version(path) || has_banner(file.content()))
}

/// Whether a module lies in a folder where another package keeps third-party code.
fn is_bundled_package(path: &str, bundles: &[&str]) -> bool {
    let mut folders = path.split('/').rev().skip(2);
    folders.any(|folder| bundles.contains(&folder)) && folders.next().is_some()
}

/// Whether a file's name ends with a version.
fn has_version(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let version = stem.trim_end_matches(".min").rsplit_once('-').map_or("", |(_, version)| version);
    version.contains('.') && version.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// Whether a script begins with a comment that bundlers keep, which names a version and a licence.
fn has_banner(content: &[u8]) -> bool {
    let banner = content.get(..BANNER).unwrap_or(content).trim_ascii_start();
    if !banner.starts_with(b"/*!") {
        return false;
    }
    let banner = String::from_utf8_lossy(banner).to_lowercase();
    let banner = banner.split("*/").next().unwrap_or_default();
    let is_version = |word: &str| {
        let word = word.trim_start_matches('v').trim_end_matches([',', '.', ';']);
        word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    let is_licensed = ["licen", "(c)", "©", "copyright"].iter().any(|sign| banner.contains(sign));
    is_licensed && banner.split_whitespace().any(is_version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_others_is_known_by_its_path() {
        for path in ["requests/packages/urllib3/util.py", "a/b/packages/c/d/e.py"] {
            assert!(is_bundled_package(path, &["packages"]), "{path}");
        }
        for path in ["packages/core/util.py", "shop/packages/cart.py", "shop/packages.py"] {
            assert!(!is_bundled_package(path, &["packages"]), "{path}");
        }
        assert!(has_version("static/jquery-3.5.1.js") && has_version("a-1.2.min.js"));
        assert!(!has_version("src/rule-2.js") && !has_version("a.1.js") && !has_version("base-x.y.js"));
    }

    #[test]
    fn code_of_others_is_known_by_its_banner() {
        assert!(has_banner(b"/*!\n * XRegExp 2.0.0\n * MIT License\n */\nvar a;"));
        assert!(has_banner("/*! jQuery v3.5.1 | © OpenJS */".as_bytes()));
        assert!(!has_banner(b"/*!\n * shop\n * Copyright(c) 2009\n */ var a = 1.5;"));
        assert!(!has_banner(b"/* jQuery v3.5.1 (c) */") && !has_banner(b""));
    }
}
