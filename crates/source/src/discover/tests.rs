//! Walks of real files and folders, and their later steps.

mod git;
mod inputs;
mod links;
mod reading;
mod rules;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::changes::Changes;
use super::{RecordedEntry, Rules, Walk, changes, walk};
use codelode_base::config::Secrets;
use codelode_base::model::{Input, SkipReason, SourceFile};

/// Rules as a plain index has them.
fn rules() -> Rules {
    Rules {
        extra_ignore: Vec::new(),
        secrets: Secrets::default(),
        follow_symlinks: false,
        max_file_size: 500_000,
        max_files: None,
        stop_after: None,
        never: Vec::new(),
    }
}

fn following() -> Rules {
    Rules { follow_symlinks: true, ..rules() }
}

/// A folder of its own, gone with the test.
struct Source {
    folder: TempDir,
}

impl Source {
    /// A folder that holds `files`, each with a line of text.
    fn with(files: &[&str]) -> Self {
        let source = Self { folder: TempDir::new().expect("the system has room for a folder") };
        for path in files {
            source.write(path, "text\n");
        }
        source
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("the folder is there")
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("folders can be made");
        fs::write(path, content).expect("files can be written");
    }

    #[cfg(unix)]
    fn link(&self, path: &str, target: impl AsRef<Path>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a link lies in a folder")).expect("folders can be made");
        std::os::unix::fs::symlink(target, path).expect("links can be made");
    }

    /// Runs git in a folder, without the machine's configuration.
    fn git(&self, at: &str, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.arg("-C").arg(self.path(at)).args(["-c", "user.name=a", "-c", "user.email=a@b.c"]).args(arguments);
        let command = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        let output = command.output().expect("git is installed where tests run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn walk(&self) -> Walk {
        self.walk_by(&rules())
    }

    fn walk_by(&self, rules: &Rules) -> Walk {
        walk_at(&self.root(), rules)
    }

    fn changes(&self, walk: &Walk) -> Vec<String> {
        changes_by(&self.root(), walk, &rules())
    }
}

fn walk_at(root: &Path, rules: &Rules) -> Walk {
    let found = walk(root, rules).expect("the root is there");
    assert_eq!(walk(root, rules).expect("the root is there"), found, "a second walk finds the same");
    found
}

fn paths(walk: &Walk) -> Vec<&str> {
    walk.files.iter().map(|file| file.path.as_str()).collect()
}

fn skipped(walk: &Walk, reason: SkipReason) -> u64 {
    walk.skipped.get(&reason).copied().unwrap_or_default()
}

/// The files and inputs of a walk that are not as they were, each with its fate.
fn changes_by(root: &Path, walk: &Walk, rules: &Rules) -> Vec<String> {
    let mut all: BTreeMap<&str, RecordedEntry<'_>> = BTreeMap::new();
    for input in &walk.inputs {
        let Input { ref path, size, mtime_ns, ctime_ns, is_dir } = *input;
        all.insert(path, RecordedEntry { path, size, mtime_ns, ctime_ns: Some(ctime_ns), is_dir });
    }
    for file in &walk.files {
        let SourceFile { ref path, size, mtime_ns, ctime_ns } = *file;
        all.insert(path, RecordedEntry { path, size, mtime_ns, ctime_ns: Some(ctime_ns), is_dir: false });
    }
    let known: Vec<_> = all.into_values().collect();
    let listed = |place: usize| known.get(place).copied();
    let Changes { changed, gone } = changes(root, (known.len(), &listed), rules.follow_symlinks, 2);
    let changed = changed.into_iter().map(|place| format!("changed {}", known[place].path));
    changed.chain(gone.into_iter().map(|place| format!("gone {}", known[place].path))).collect()
}
