//! The language server, as editors see it: over the standard streams, in the words of the protocol.

mod conversation;
pub mod editor;
mod edits;
mod fuzzed;
mod headless;
mod names;
pub mod packages;
mod plugin;
mod renames;
mod unsaved;
