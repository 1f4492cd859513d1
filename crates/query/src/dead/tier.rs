//! Tiers of verdicts: words for people, with a number for callers that ask by `min_confidence`.

/// The surety that a definition can be deleted, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Part of what a library offers; nothing in the repository uses it.
    PublicApi,
    /// No use was found, and a rule doubts that there is none.
    Unclear,
    /// Only dead code uses it.
    DeadUsers,
    /// Visible inside of the program; nothing uses it.
    Likely,
    /// Only tests use it.
    OnlyTests,
    /// Private to its file, class or package; nothing uses it.
    Certain,
}

impl Tier {
    /// All tiers, the surest first.
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

    /// The reason in words, where no rule gives another.
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
