//! Indexes on many machines: [`ship`] sends stores to files, folders and buckets and takes them from there, `fleet`
//! keeps a queue of repositories to index, on NATS.
//!
//! A build for a desk never compiles it. It will never know what an answer is: it moves stores and names of repositories.

#[cfg(feature = "fleet")]
pub mod fleet;
pub mod ship;
