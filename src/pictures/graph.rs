//! A graph whose nodes stand in layers from left to right.

use std::collections::{HashMap, HashSet};

/// A node of a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub label: String,
    /// A second line, such as a file and line.
    pub detail: String,
    /// Address that it leads to; empty for none.
    pub link: String,
    /// Id of its symbol; empty for none.
    pub id: String,
    /// Whether there is more around it that is not in the picture.
    pub has_more: bool,
    /// Address that shows what is around it; empty for none.
    pub more: String,
    /// Layer; 0 for the one asked for, negative to its left.
    pub layer: i32,
}

/// A line between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Index of the node that it begins at.
    pub from: usize,
    /// Index of the node that it points to.
    pub to: usize,
    /// Whether the relation is certain.
    pub is_sure: bool,
}

/// A picture without places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Its nodes.
    pub nodes: Vec<Node>,
    /// Its lines, each pair once.
    pub edges: Vec<Edge>,
    /// Nodes that are left out.
    pub left: usize,
}

/// Nodes of a graph by what they stand for.
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

    /// The index of a node, which is made if there is room.
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

    /// Leaves a node out.
    pub fn leave(&mut self, key: K) {
        self.graph.left += usize::from(self.refused.insert(key));
    }

    /// Makes room for further nodes.
    pub fn grow(&mut self, most: usize) {
        self.most = most;
    }

    /// The index of a node that is there.
    pub fn find(&self, key: &K) -> Option<usize> {
        self.known.get(key).copied()
    }

    /// Every node with its index.
    pub fn known(&self) -> Vec<(K, usize)>
    where
        K: Clone,
    {
        self.known.iter().map(|(key, index)| (key.clone(), *index)).collect()
    }

    /// Adds a line between two nodes.
    pub fn edge(&mut self, from: usize, to: usize, is_sure: bool) {
        match self.graph.edges.iter_mut().find(|edge| edge.from == from && edge.to == to) {
            Some(edge) => edge.is_sure |= is_sure,
            None => self.graph.edges.push(Edge { from, to, is_sure }),
        }
    }
}
