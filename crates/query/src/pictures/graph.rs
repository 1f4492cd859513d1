//! A graph whose nodes form layers from left to right.

use std::collections::{HashMap, HashSet};

use super::{MOST, MOST_POSSIBLE};

/// A node of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub label: String,
    /// A second line, such as a file and line.
    pub detail: String,
    /// The address that it links to; empty for none.
    pub link: String,
    /// The id of its symbol; empty for none.
    pub id: String,
    /// Whether it has neighbours that are not in the graph.
    pub has_more: bool,
    /// The address that shows its neighbours; empty for none.
    pub more: String,
    /// Layer: 0 for the start, negative to its left.
    pub layer: i32,
}

/// A line between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Index of the node that it begins at.
    pub from: usize,
    /// Index of the node that it points to.
    pub to: usize,
    /// How certain the relation is.
    pub sureness: EdgeCertainty,
}

/// How certain a relation is, the most certain first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeCertainty {
    /// It is resolved.
    Resolved,
    /// It goes through an overridden method.
    Through,
    /// Only the name matches.
    Possible,
}

/// A graph without a layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Its nodes.
    pub nodes: Vec<Node>,
    /// Its lines, each pair once.
    pub edges: Vec<Edge>,
    /// The number of nodes left out.
    pub left: usize,
}

impl Graph {
    /// Describes the nodes left out; `None` if there are none.
    pub fn left_out(&self) -> Option<String> {
        let many = format!("a picture has at most {MOST}, and {MOST_POSSIBLE} possible ones at a side of a symbol");
        (self.left > 0).then(|| format!("{} more are left out: {many}.", self.left))
    }
}

/// Collects nodes and lines; each node has a key `K`.
pub(super) struct Builder<K> {
    pub graph: Graph,
    known: HashMap<K, usize>,
    refused: HashSet<K>,
    most: usize,
}

impl<K: std::hash::Hash + Eq> Builder<K> {
    pub fn new(most: usize) -> Self {
        Self { graph: Graph::default(), known: HashMap::new(), refused: HashSet::new(), most }
    }

    /// The index of the node with this key. A new node is made if there is room, else `None`.
    pub fn node(&mut self, key: K, make: impl FnOnce() -> Node) -> Option<usize> {
        if let Some(index) = self.known.get(&key) {
            return Some(*index);
        }
        if self.graph.nodes.len() >= self.most {
            self.leave(key);
            return None;
        }
        self.graph.left -= usize::from(self.refused.remove(&key));
        self.graph.nodes.push(make());
        self.known.insert(key, self.graph.nodes.len() - 1);
        Some(self.graph.nodes.len() - 1)
    }

    /// Counts a node as left out.
    pub fn leave(&mut self, key: K) {
        self.graph.left += usize::from(self.refused.insert(key));
    }

    /// Raises the limit of nodes.
    pub fn grow(&mut self, most: usize) {
        self.most = most;
    }

    /// The index of an existing node.
    pub fn find(&self, key: &K) -> Option<usize> {
        self.known.get(key).copied()
    }

    /// The key and the index of every node.
    pub fn known(&self) -> Vec<(K, usize)>
    where
        K: Clone,
    {
        self.known.iter().map(|(key, index)| (key.clone(), *index)).collect()
    }

    /// Adds a line between two nodes.
    pub fn edge(&mut self, from: usize, to: usize, sureness: EdgeCertainty) {
        match self.graph.edges.iter_mut().find(|edge| edge.from == from && edge.to == to) {
            Some(edge) => edge.sureness = edge.sureness.min(sureness),
            None => self.graph.edges.push(Edge { from, to, sureness }),
        }
    }
}
