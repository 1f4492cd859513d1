//! Pictures of relations: calls, classes and files as layered graphs, written as SVG, Mermaid or DOT.
//!
//! [`calls()`], [`classes()`], [`files()`] and [`blast()`] choose what is shown, at most [`MOST`] nodes; [`Graph`] holds it, `layout`
//! gives every node a place, and `svg` and `text` write it. [`matrix()`] counts imports between folders, with cycles.

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

/// The most nodes of a picture: with more, nobody sees anything.
pub const MOST: usize = 60;

/// The most possible callers of a symbol in a picture, and possible callees.
pub const MOST_POSSIBLE: usize = 12;
