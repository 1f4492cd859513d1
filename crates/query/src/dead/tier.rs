//! Tiers of verdicts: words for people, and numbers for `min_confidence`.

/// The confidence that a definition can be deleted, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Part of a library's API; nothing in the repository uses it.
    PublicApi,
    /// Nothing uses it, but a rule says that this proves little.
    Unclear,
    /// Only dead code uses it.
    DeadUsers,
    /// Visible within the program; nothing uses it.
    Likely,
    /// Only tests use it.
    OnlyTests,
    /// Hidden by the language outside its file, class or package; nothing uses it.
    Certain,
}

impl Tier {
    /// All tiers, highest confidence first.
    pub const ALL: &'static [Self] =
        &[Self::Certain, Self::OnlyTests, Self::Likely, Self::DeadUsers, Self::Unclear, Self::PublicApi];

    /// The tier as a number from 0 to 1.
    pub fn confidence(self) -> f64 {
        match self {
            Self::Certain => 1.0,
            Self::OnlyTests => 0.9,
            Self::Likely => 0.8,
            Self::DeadUsers => 0.7,
            Self::Unclear => 0.6,
            Self::PublicApi => 0.5,
        }
    }

    /// The reason in words, for a verdict without a rule.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Certain => "private, and nothing uses it",
            Self::OnlyTests => "only tests use it",
            Self::Likely => "nothing in the program uses it",
            Self::DeadUsers => "only dead code uses it",
            Self::Unclear => "only code uses it that may be unused itself",
            Self::PublicApi => "public API that nothing here uses",
        }
    }
}
