//! Roles of files that settings give, before those that names and contents tell.

use codelode_base::model::{Patterns, Roles};

/// Compiled patterns of [`Roles`].
pub struct RolePatterns {
    pub(super) tests: Patterns,
    pub(super) generated: Patterns,
    pub(super) vendored: Patterns,
}

impl RolePatterns {
    /// Compiles the patterns of a snapshot; `None` if there are none. They were checked when they were set.
    pub fn of(roles: &Roles) -> Option<Self> {
        let has_none = roles.tests.is_empty() && roles.generated.is_empty() && roles.vendored.is_empty();
        let compiled = |patterns: &[String]| Patterns::of(patterns).ok();
        (!has_none).then(|| {
            Some(Self {
                tests: compiled(&roles.tests)?,
                generated: compiled(&roles.generated)?,
                vendored: compiled(&roles.vendored)?,
            })
        })?
    }
}
