//! Source files before their content is read: paths, sizes, skip reasons, and trees of commits.

/// A file selected for indexing, with the metadata seen by the walk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceFile {
    /// Relative to the root, with `/` between the parts.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// Time of the last change in nanoseconds since 1970; negative before.
    pub mtime_ns: i64,
    /// Time of the last change of content or metadata, set by the system only, unlike `mtime_ns`. Zero where there is
    /// no such time.
    pub ctime_ns: i64,
}

/// A directory or ignore file that the selection of files depended on. If no input and no file changed, the walk
/// would find the same files again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Input {
    /// Relative to the root with `/` between the parts, empty for the root; absolute when it lies outside.
    pub path: String,
    /// Bytes for a file, zero for a directory.
    pub size: u64,
    /// Time of the last change in nanoseconds since 1970; `i64::MIN` for a file that does not exist.
    pub mtime_ns: i64,
    /// See [`SourceFile::ctime_ns`].
    pub ctime_ns: i64,
    /// Whether it is a directory.
    pub is_dir: bool,
}

/// Declares the skip reasons once: variant, word, description.
macro_rules! reasons {
    ($($variant:ident $word:literal $meaning:literal,)*) => {
        /// Reason for skipping a file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum SkipReason {
            $(#[doc = $meaning] $variant,)*
        }

        impl SkipReason {
            /// All reasons, indexed by number.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word used in answers.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// Description in one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }
        }
    };
}

reasons! {
    Ignored "ignored" "An ignore file or a global exclude names it.",
    ExtraIgnored "extra_ignored" "A pattern given by the caller names it.",
    Noise "noise" "Not source code: version control, installed packages, tool caches, lock files, minified code.",
    BuildOutput "build_output" "Build output.",
    Vendored "vendored" "Vendored code.",
    Secret "secret" "It may hold a credential.",
    Binary "binary" "Not text.",
    TooLarge "too_large" "Above the size limit.",
    FileLimit "file_limit" "Cut by the limit on the number of files.",
    Symlink "symlink" "A symbolic link, and links are not followed.",
    SymlinkEscape "symlink_escape" "A symbolic link out of the root, or in a cycle.",
    Unreadable "unreadable" "The system denied reading it.",
    NotAFile "not_a_file" "A socket, a pipe or a device.",
    Submodule "submodule" "Another repository, which can be indexed by itself.",
    Missing "missing" "Its content is missing: not fetched, or excluded by a sparse checkout.",
    LfsPointer "lfs_pointer" "A Git LFS pointer; its content is stored elsewhere.",
    Utf16 "utf_16" "UTF-16 text with an error in it, which is not decoded.",
}

/// Type of an entry in a commit's tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryMode {
    /// A regular file.
    File,
    /// An executable file.
    Executable,
    /// A symbolic link; its content is the target path.
    Symlink,
    /// A submodule: a commit of another repository, whose files are not in this one.
    Submodule,
}

/// An entry of a commit's tree; directories are left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeEntry {
    /// Relative to the repository root, with `/` between the parts. Untrusted: validate it before writing to disk.
    pub path: String,
    /// Type of the entry.
    pub mode: EntryMode,
    /// Object id in hex: of a blob, or of a submodule's commit.
    pub id: String,
    /// Size in bytes, if known without reading the content.
    pub size: Option<u64>,
}

/// Number of leading bytes checked by [`is_text`], the same as in Git.
pub const FIRST: usize = 8_000;

/// Whether content that begins with these bytes is text: no NUL, or a UTF-16 byte order mark.
pub fn is_text(first: &[u8]) -> bool {
    let wide = first.starts_with(&[0xff, 0xfe]) || first.starts_with(&[0xfe, 0xff]);
    wide || !first.contains(&0)
}

/// Files of one commit, from any source: a clone's object database, an archive, an API.
pub trait SourceTree: Send + Sync {
    /// The commit hash, in hex.
    fn commit(&self) -> &str;

    /// Hash of the commit's root tree, in hex, which identifies the content of all files. Empty if the source does
    /// not know it.
    fn tree(&self) -> &str;

    /// All entries, sorted by the bytes of their paths.
    fn entries(&self) -> Result<Vec<TreeEntry>, SourceError>;

    /// All entries, possibly without sizes if those are slow to find.
    fn paths(&self) -> Result<Vec<TreeEntry>, SourceError> {
        self.entries()
    }

    /// Announces the entries to be read, before the first read, so that a remote source can fetch them at once. Fails
    /// only if no entry could be read.
    fn prepare(&self, wanted: &[&TreeEntry]) -> Result<(), SourceError> {
        let _ = wanted;
        Ok(())
    }

    /// Whether the content of an entry is available without fetching it.
    fn is_here(&self, entry: &TreeEntry) -> bool {
        let _ = entry;
        true
    }

    /// Reads the content of a file or link. Called from several threads at once.
    fn read(&self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError>;

    /// Reads the content into a reused buffer if `wanted` accepts its first [`FIRST`] bytes (or all, if fewer).
    /// Returns whether it did; if not, the buffer's content is unspecified.
    fn read_if(
        &self,
        entry: &TreeEntry,
        wanted: &dyn Fn(&[u8]) -> bool,
        buffer: &mut Vec<u8>,
    ) -> Result<bool, SourceError> {
        *buffer = self.read(entry)?;
        Ok(wanted(&buffer[..buffer.len().min(FIRST)]))
    }
}

/// Error while reading files of a commit.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A blob named by the tree is missing. Other files may be readable.
    #[error("the repository does not hold the content of {path} ({id})")]
    Missing {
        /// The file.
        path: String,
        /// Object id of its content.
        id: String,
    },
    /// The content does not match the size or hash in the tree. Other files may be readable.
    #[error("the content of {path} is not what the tree says: {what}")]
    Damaged {
        /// The file.
        path: String,
        /// The mismatch.
        what: String,
    },
    /// The file may hold a credential and was not explicitly allowed.
    #[error(
        "{path} may hold a credential, so it is not read; to read it, use --allow-secrets, or `allow_secrets` in config.toml"
    )]
    Secret {
        /// The file.
        path: String,
    },
    /// The whole source failed, so no other file can be read.
    #[error(transparent)]
    Failed(Box<dyn std::error::Error + Send + Sync>),
}
