//! Files of a source, before they are read.

/// A file that is worth reading, as the walk saw it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceFile {
    /// Relative to the root, with `/` between the parts.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// Time of the last change in nanoseconds since 1970; negative before.
    pub mtime_ns: i64,
    /// When the system last noted a change of the file or of what is known of it: whoever sets the other time back cannot set
    /// this one. Zero where there is no such time.
    pub ctime_ns: i64,
}

/// Something the choice of files depended on: a directory or an ignore file. When none of them changed, and no file
/// did, the walk would find the same again.
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

/// Names each reason once: variant, word, what it means.
macro_rules! reasons {
    ($($variant:ident $word:literal $meaning:literal,)*) => {
        /// Why a file was left out.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum SkipReason {
            $(#[doc = $meaning] $variant,)*
        }

        impl SkipReason {
            /// Every reason, by its number.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word that answers carry.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// What it means, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }
        }
    };
}

reasons! {
    Ignored "ignored" "An ignore file or a global exclude names it.",
    ExtraIgnored "extra_ignored" "A pattern given by the caller names it.",
    Noise "noise" "Never worth reading: version control, installed packages, tool caches, lock files, minified code.",
    BuildOutput "build_output" "Written by a build tool that is at home beside it.",
    Vendored "vendored" "Somebody else's code, copied in.",
    Secret "secret" "It may hold a credential.",
    Binary "binary" "Not text.",
    TooLarge "too_large" "Above the size limit.",
    FileLimit "file_limit" "Cut by the limit on the number of files.",
    Symlink "symlink" "A symbolic link, and links are not followed.",
    SymlinkEscape "symlink_escape" "A symbolic link that leads out of the root, or round in a circle.",
    Unreadable "unreadable" "The system would not let it be read.",
    NotAFile "not_a_file" "A socket, a pipe or a device.",
    Submodule "submodule" "Another repository, which can be indexed by itself.",
    Missing "missing" "The repository names it and does not hold its content.",
}

/// What a path of a commit's tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryMode {
    /// A plain file.
    File,
    /// A file that may be run.
    Executable,
    /// A symbolic link; its content is the path that it leads to.
    Symlink,
    /// Another repository, named by a commit; this one does not hold its files.
    Submodule,
}

/// A path of a commit's tree, folders left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeEntry {
    /// Relative to the root of the repository, with `/` between the parts. Whoever writes it to a disk must judge it first.
    pub path: String,
    /// What it is.
    pub mode: EntryMode,
    /// The name of its content, in hex: a blob, or the commit of a submodule.
    pub id: String,
    /// Bytes, where the source says so without being read.
    pub size: Option<u64>,
}

/// As much of a content is looked at to tell whether it is text. Git looks at as much.
pub const FIRST: usize = 8_000;

/// Whether a content that begins like this is text: it holds no NUL, or says that it is UTF-16.
pub fn is_text(first: &[u8]) -> bool {
    let wide = first.starts_with(&[0xff, 0xfe]) || first.starts_with(&[0xfe, 0xff]);
    wide || !first.contains(&0)
}

/// The files of one commit, wherever they are kept: a clone's object database, an archive, an API.
pub trait SourceTree: Send + Sync {
    /// The commit, in hex.
    fn commit(&self) -> &str;

    /// The commit's root tree, in hex: it names the content of all files together. Empty where the source does not say.
    fn tree(&self) -> &str;

    /// Every path, sorted by its bytes.
    fn entries(&self) -> Result<Vec<TreeEntry>, SourceError>;

    /// The same, without sizes where finding them takes time.
    fn paths(&self) -> Result<Vec<TreeEntry>, SourceError> {
        self.entries()
    }

    /// Told what will be read, before the first is: a source that is far away may fetch it all at once. Fails only where
    /// nothing could be read.
    fn prepare(&self, wanted: &[&TreeEntry]) -> Result<(), SourceError> {
        let _ = wanted;
        Ok(())
    }

    /// Whether the content of an entry can be read without fetching it.
    fn is_here(&self, entry: &TreeEntry) -> bool {
        let _ = entry;
        true
    }

    /// The content of one entry that is a file or a link. Called from several threads at once.
    fn read(&self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError>;

    /// Reads the same into a buffer, which may hold another before, if its first bytes are wanted: [`FIRST`] of them, or all
    /// when there are fewer. Whether they were is the answer; when not, the buffer holds anything.
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

/// Why files of a commit could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The tree names a content that the source does not hold. Other files may be fine.
    #[error("the repository does not hold the content of {path} ({id})")]
    Missing {
        /// The file.
        path: String,
        /// Its content's name.
        id: String,
    },
    /// The content is not what the tree says: its size or its hash is another. Other files may be fine.
    #[error("the content of {path} is not what the tree says: {what}")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong.
        what: String,
    },
    /// It may hold a credential, and nobody said that it may be read.
    #[error(
        "{path} may hold a credential, so it is not read; who means to names it: --allow-secrets, or `allow_secrets` in config.toml"
    )]
    Secret {
        /// The file.
        path: String,
    },
    /// The source fails as a whole, so no other file can be read either.
    #[error(transparent)]
    Failed(Box<dyn std::error::Error + Send + Sync>),
}
