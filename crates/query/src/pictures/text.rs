//! Writes a graph as DOT or Mermaid.

use std::fmt::Write as _;

use super::graph::{EdgeCertainty, Graph, Node};

/// Writes a graph for Graphviz.
pub fn dot(graph: &Graph) -> String {
    let mut out = "digraph {\n  rankdir=LR;\n  node [shape=box, fontname=monospace];\n".to_owned();
    let quoted = |text: String| text.replace('\\', "\\\\").replace('"', "\\\"").replace(char::is_control, " ");
    for (number, node) in graph.nodes.iter().enumerate() {
        let bold = if node.layer == 0 { ", penwidth=2" } else { "" };
        let (label, detail) = (quoted(node.label.clone()), quoted(node.detail.clone()));
        _ = writeln!(out, "  n{number} [label=\"{label}\\n{detail}\"{bold}];");
    }
    for edge in &graph.edges {
        let style = match edge.sureness {
            EdgeCertainty::Resolved => "",
            EdgeCertainty::Through => " [style=dashed]",
            EdgeCertainty::Possible => " [style=dotted]",
        };
        _ = writeln!(out, "  n{} -> n{}{style};", edge.from, edge.to);
    }
    out.push_str("}\n");
    out
}

/// Writes a graph for Mermaid.
pub fn mermaid(graph: &Graph) -> String {
    let mut out = "flowchart LR\n".to_owned();
    for (number, node) in graph.nodes.iter().enumerate() {
        _ = writeln!(out, "  n{number}[\"{}\"]", mermaid_label(node));
    }
    for edge in &graph.edges {
        let line = match edge.sureness {
            EdgeCertainty::Resolved => "-->",
            EdgeCertainty::Through => "-.->",
            EdgeCertainty::Possible => "-.->|?|",
        };
        _ = writeln!(out, "  n{} {line} n{}", edge.from, edge.to);
    }
    out
}

/// Escapes a label: all but letters, digits and a few signs become entities.
fn mermaid_label(node: &Node) -> String {
    let written = |text: &str| {
        let mut out = String::new();
        for char in text.chars() {
            match char.is_alphanumeric() || " ._/:-".contains(char) {
                true => out.push(char),
                false => _ = write!(out, "#{};", u32::from(char)),
            }
        }
        out
    };
    format!("{}<br>{}", written(&node.label), written(&node.detail))
}

#[cfg(test)]
mod tests {
    use super::super::graph::{Edge, EdgeCertainty, Graph, Node};
    use super::{dot, mermaid};

    #[test]
    fn a_graph_is_text_for_other_programs() {
        let node = |label: &str| Node { label: label.into(), detail: "a.rs:1".into(), ..Node::default() };
        let edge = |from, to, sureness| Edge { from, to, sureness };
        let edges = vec![edge(0, 1, EdgeCertainty::Through), edge(1, 0, EdgeCertainty::Possible)];
        let graph = Graph { nodes: vec![node("f\"\\\n"), node("g<b>")], edges, left: 0 };
        let found = dot(&graph);
        assert!(
            found.contains("n0 [label=\"f\\\"\\\\ \\na.rs:1\", penwidth=2];\n")
                && found.contains("n0 -> n1 [style=dashed];")
                && found.contains("n1 -> n0 [style=dotted];"),
            "{found}"
        );
        let found = mermaid(&graph);
        assert!(
            found.contains("n1[\"g#60;b#62;<br>a.rs:1\"]") && found.contains("n0 -.-> n1\n  n1 -.->|?| n0"),
            "{found}"
        );
    }
}
