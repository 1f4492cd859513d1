//! The language server, as editors see it: over the standard streams, in the words of the protocol.

mod conversation;
mod editor;
mod edits;
mod fuzzed;
mod headless;
mod names;
mod plugin;
mod renames;
mod unsaved;
