//! Pictures of relations: calls, classes and files as layered graphs, written as SVG, Mermaid or DOT.
//!
//! [`calls()`], [`classes()`], [`files()`] and [`blast()`] build a [`Graph`] of at most [`MOST`] nodes, `layout` places
//! them, and `svg` and `text` write the result. [`matrix()`] counts imports between folders, with cycles.

mod graph;
mod layout;
mod matrix;
mod relations;
mod svg;
mod text;

pub use graph::EdgeCertainty;
pub use graph::Graph;
pub use matrix::{Matrix, matrix};
pub use relations::{blast, calls, classes, files};
pub use svg::sample;
pub use svg::svg;
pub use text::{dot, mermaid};

/// The most nodes of a picture; a larger one is unreadable.
pub const MOST: usize = 60;

/// The most possible callers of a symbol in a picture, and possible callees.
pub const MOST_POSSIBLE: usize = 12;
