//! Relations: who means whom.

/// Names each role once: variant, word, what it means.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $word:literal $meaning:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name {
            $(#[doc = $meaning] $variant,)*
        }

        impl $name {
            /// Each, by its number.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word that answers carry.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

words! {
    /// What a name does where it is written.
    Role {
        Reference "reference" "It is read, passed on, or otherwise mentioned.",
        Call "call" "It is called.",
        Import "import" "It is imported.",
        Base "base" "A class extends or implements it.",
        Type "type" "It is written as a type.",
        Write "write" "Something is assigned to it.",
    }
}

words! {
    /// How an occurrence was bound, or why it was not.
    How {
        Resolved "resolved" "Through scopes, imports, members and types.",
        NoReceiver "unknown receiver" "Nothing is known of what it is a member of: the name may mean any definition that bears it.",
        NoMember "no such member" "What it is a member of is known and has no such member; it may be inherited from outside.",
        Outside "outside" "It comes from a module that is not in the repository, or is built in.",
    }
}

impl How {
    /// Whether a definition of the name could be meant though it was not found.
    pub fn is_possible(self) -> bool {
        self == Self::NoReceiver
    }
}

/// A place where a name is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    /// The file, by its place among those that were resolved.
    pub file: u32,
    /// First byte.
    pub at: u32,
    /// Bytes.
    pub len: u16,
    /// What it does.
    pub role: Role,
    /// How it was bound.
    pub how: How,
    /// First of its targets in [`Relations::targets`].
    pub first_target: u32,
    /// How many it has: several where it is ambiguous, or where one name has several definitions (overloads).
    pub targets: u32,
}

/// A definition, by where its name is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// The file, by its place among those that were resolved.
    pub file: u32,
    /// First byte of its name.
    pub at: u32,
}

/// Who means whom, in files that were resolved together. Files are known by their place among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relations {
    /// By file and place.
    pub occurrences: Vec<Occurrence>,
    /// What occurrences mean.
    pub targets: Vec<Site>,
    /// A file that imports, a file that it imports, and where that is written; sorted, each pair once.
    pub imports: Vec<(u32, u32, u32)>,
    /// A class and a direct base of it; sorted, each pair once.
    pub bases: Vec<(Site, Site)>,
}
