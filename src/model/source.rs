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
}
