//! Layout: layers side by side, and in each layer an order with few line crossings.

use super::graph::Graph;

/// Rounds over all layers; further ones change little.
const ROUNDS: usize = 8;
/// Width of a letter, and size of a node around its text.
const LETTER: f64 = 7.3;
const HEIGHT: f64 = 40.0;
const PADDING: f64 = 20.0;
/// Space between layers, and between nodes of one.
const GAP: f64 = 64.0;
const SPACE: f64 = 12.0;
/// Room for the mark of a node with more neighbours.
pub(super) const MARK: f64 = 22.0;
/// The most letters of a label.
pub(super) const LONGEST: usize = 34;

/// A node's place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct NodePosition {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// A graph with positions.
pub(super) struct Layout {
    pub places: Vec<NodePosition>,
    pub width: f64,
    pub height: f64,
}

/// Gives every node a position.
pub(super) fn layout(graph: &Graph) -> Layout {
    let mut layers: Vec<i32> = graph.nodes.iter().map(|node| node.layer).collect();
    layers.sort_unstable();
    layers.dedup();
    let mut columns: Vec<Vec<usize>> = layers
        .iter()
        .map(|layer| (0..graph.nodes.len()).filter(|node| graph.nodes[*node].layer == *layer).collect())
        .collect();
    order(graph, &mut columns);
    let tallest = columns.iter().map(|column| extent(column.len())).fold(HEIGHT, f64::max);
    let mut places = vec![NodePosition::default(); graph.nodes.len()];
    let mut x = PADDING;
    for column in &columns {
        let width = column.iter().map(|node| width(graph, *node)).fold(0.0, f64::max);
        let mut y = PADDING + (tallest - extent(column.len())) / 2.0;
        for node in column {
            places[*node] = NodePosition { x, y, width, height: HEIGHT };
            y += HEIGHT + SPACE;
        }
        x += width + GAP;
    }
    Layout { places, width: x - GAP + PADDING, height: tallest + 2.0 * PADDING }
}

/// Height of a layer with `nodes` nodes.
fn extent(nodes: usize) -> f64 {
    nodes as f64 * (HEIGHT + SPACE) - SPACE
}

fn width(graph: &Graph, node: usize) -> f64 {
    let node = &graph.nodes[node];
    let letters = |text: &str| text.chars().count().min(LONGEST) as f64;
    let mark = if node.more.is_empty() { 0.0 } else { MARK };
    letters(&node.label).max(letters(&node.detail)) * LETTER + 20.0 + mark
}

/// Orders the nodes of each layer by the mean position of their neighbours, back and forth.
fn order(graph: &Graph, columns: &mut [Vec<usize>]) {
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    for edge in &graph.edges {
        neighbours[edge.from].push(edge.to);
        neighbours[edge.to].push(edge.from);
    }
    let mut rank = vec![0.0; graph.nodes.len()];
    let note = |column: &[usize], rank: &mut [f64]| {
        // Layers are centred, so positions count from the middle.
        let middle = (column.len() as f64 - 1.0) / 2.0;
        column.iter().enumerate().for_each(|(place, node)| rank[*node] = place as f64 - middle);
    };
    columns.iter().for_each(|column| note(column, &mut rank));
    for round in 0..ROUNDS {
        let mut turn: Vec<usize> = (0..columns.len()).collect();
        if round % 2 == 1 {
            turn.reverse();
        }
        for index in turn {
            let mean = |node: &usize| match &neighbours[*node][..] {
                [] => rank[*node],
                all => all.iter().map(|other| rank[*other]).sum::<f64>() / all.len() as f64,
            };
            let mut column: Vec<(f64, usize)> = columns[index].iter().map(|node| (mean(node), *node)).collect();
            column.sort_by(|a, b| a.0.total_cmp(&b.0));
            columns[index] = column.into_iter().map(|(_, node)| node).collect();
            note(&columns[index], &mut rank);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph::{Edge, EdgeCertainty, Graph, Node};
    use super::layout;

    #[test]
    fn layers_stand_side_by_side_without_needless_crossings() {
        let node = |label: &str, layer| Node { label: label.into(), layer, ..Node::default() };
        let nodes = vec![node("a", 0), node("b", 0), node("c", 1), node("d", 1)];
        let edge = |from, to| Edge { from, to, sureness: EdgeCertainty::Resolved };
        let graph = Graph { nodes, edges: vec![edge(0, 3), edge(1, 2)], left: 0 };
        let found = layout(&graph);
        let [a, b, c, d] = found.places[..] else { panic!("four places") };
        assert!(a.x + a.width < c.x && a.x == b.x && c.x == d.x);
        assert!((a.y < b.y) == (d.y < c.y), "the lines do not cross");
        for (i, one) in found.places.iter().enumerate() {
            assert!(one.x >= 0.0 && one.x + one.width <= found.width && one.y + one.height <= found.height);
            for other in &found.places[i + 1..] {
                assert!(one.x != other.x || (one.y - other.y).abs() >= one.height, "they do not overlap");
            }
        }
        assert!(layout(&Graph::default()).places.is_empty());
    }
}
