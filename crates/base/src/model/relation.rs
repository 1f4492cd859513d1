//! Relations between symbols: which occurrence refers to which definition.

/// Declares an enum once: variant, word, description.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident {
        $first:ident $word_of_first:literal $meaning_of_first:literal,
        $($variant:ident $word:literal $meaning:literal,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(zerocopy::TryFromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout)]
        #[repr(u8)]
        pub enum $name {
            #[default]
            #[doc = $meaning_of_first]
            $first,
            $(#[doc = $meaning] $variant,)*
        }

        impl $name {
            /// All variants, indexed by number.
            pub const ALL: &'static [Self] = &[Self::$first, $(Self::$variant,)*];

            /// The word used in answers.
            pub fn as_str(self) -> &'static str {
                match self {
                    Self::$first => $word_of_first,
                    $(Self::$variant => $word,)*
                }
            }
        }
    };
}

words! {
    /// Use of a name at an occurrence.
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
    /// Outcome of binding an occurrence.
    How {
        Resolved "resolved" "Through scopes, imports, members and types.",
        NoReceiver "unknown receiver" "The receiver is unknown: the name may mean any definition with it.",
        NoMember "no such member" "The receiver's type is known and has no such member; it may be inherited from outside.",
        Outside "outside" "It comes from a module that is not in the repository, or is built in.",
        Compiler "compiler" "Confirmed by a compiler's index.",
        OtherReceiver "other receiver" "The receiver is declared with an external type.",
    }
}

impl How {
    /// Whether its definition is known.
    pub fn is_bound(self) -> bool {
        matches!(self, Self::Resolved | Self::Compiler)
    }

    /// Whether the occurrence may still mean any definition of that name.
    pub fn is_possible(self) -> bool {
        self == Self::NoReceiver
    }

    /// Whether what it is a member of was not found.
    pub fn is_unbound_member(self) -> bool {
        matches!(self, Self::NoReceiver | Self::OtherReceiver)
    }
}

/// An occurrence of a name in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occurrence {
    /// Index of the file among the resolved files.
    pub file: u32,
    /// Offset of the first byte.
    pub at: u32,
    /// Length in bytes.
    pub len: u16,
    /// Use of the name.
    pub role: Role,
    /// Outcome of binding it.
    pub how: How,
    /// Index of the first target in [`Relations::targets`].
    pub first_target: u32,
    /// Number of targets: several for an ambiguous name or for overloads.
    pub targets: u32,
}

/// A definition, identified by the position of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// Index of the file among the resolved files.
    pub file: u32,
    /// Offset of the first byte of the name.
    pub at: u32,
}

/// References, imports and base classes of files that were resolved together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relations {
    /// Sorted by file and offset.
    pub occurrences: Vec<Occurrence>,
    /// Definitions that the occurrences refer to.
    pub targets: Vec<Site>,
    /// Importing file, imported file, and offset of the import; sorted, each pair once.
    pub imports: Vec<(u32, u32, u32)>,
    /// Class and direct base; sorted, each pair once.
    pub bases: Vec<(Site, Site)>,
}
