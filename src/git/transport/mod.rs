//! How a repository elsewhere is named and reached.

pub(super) mod fetch;
pub(super) mod http;
mod preface;
pub(super) mod refs;
pub(super) mod remote;
pub(super) mod ssh;
