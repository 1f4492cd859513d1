//! Remote repositories: their names, and access to them.

pub(super) mod fetch;
pub(super) mod http;
mod preface;
pub(super) mod refs;
pub(super) mod remote;
pub(super) mod ssh;
mod stream;
