//! Placement of repositories on nodes: two copies of each, by weighted rendezvous hashing, so that a node that comes or goes
//! moves few of them. Large ones are placed first, where they have room; for the others weights of nodes are adjusted until all
//! hold about the same number of bytes.
//!
//! Every node computes the same placement from the same list of nodes and sizes, and none has to be told of it.

use std::collections::HashMap;

/// Copies of each repository.
const COPIES: usize = 2;
/// Rounds of adjusting weights, and the difference from its share at which a node is left as it is.
const ROUNDS: usize = 60;
const EVEN: f64 = 0.08;
/// How much of a difference the first round makes up for, and what is left of that in each later one: a repository that goes
/// back and forth between nodes stays where it is when steps are small.
const STEP: f64 = 0.6;
const CALMER: f64 = 0.95;
/// Part of a node's share from which a repository is large, and part up to which large ones fill a node.
const LARGE: f64 = 0.05;
const FULL: f64 = 0.97;
/// Factor of a node's strength for a large repository that has no room there, and the least part of a share that is left for
/// small ones.
const NO_ROOM: f64 = 1e-9;
const LEAST: f64 = 0.01;

/// Nodes of each repository, the one that is asked first in front.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    nodes: Vec<String>,
    of: HashMap<String, Vec<u32>>,
}

impl Placement {
    /// Places repositories of some sizes on nodes. The order of neither matters.
    pub fn new(nodes: impl IntoIterator<Item = String>, repos: impl IntoIterator<Item = (String, u64)>) -> Self {
        let mut nodes: Vec<String> = nodes.into_iter().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut repos: Vec<(String, u64)> = repos.into_iter().collect();
        repos.sort_unstable();
        let hashes: Vec<u64> = nodes.iter().map(|node| hash(node)).collect();
        // The node with the largest product of weight and strength has a repository.
        let of_repo = |(repo, _): &(String, u64)| -> Vec<f64> {
            let own = hash(repo);
            hashes.iter().map(|node| -1.0 / fraction(mixed(own ^ node)).ln()).collect()
        };
        let strengths: Vec<Vec<f64>> = repos.iter().map(of_repo).collect();
        let total: f64 = repos.iter().map(|(_, bytes)| *bytes as f64).sum();
        let share = total * copies(nodes.len()) as f64 / nodes.len().max(1) as f64;
        let mut of = vec![Vec::new(); repos.len()];
        let large = place_large(&mut of, &repos, &strengths, nodes.len(), share);
        place_small(&mut of, &repos, &strengths, &large, share);
        Self { nodes, of: repos.into_iter().map(|(repo, _)| repo).zip(of).collect() }
    }

    /// Nodes that hold a repository, the one that is asked first in front; none for one that is not placed.
    pub fn holders(&self, repo: &str) -> impl Iterator<Item = &str> {
        let nodes = self.of.get(repo).into_iter().flatten();
        nodes.filter_map(|node| self.nodes.get(*node as usize)).map(String::as_str)
    }
}

/// Copies of each repository on so many nodes.
fn copies(n_nodes: usize) -> usize {
    COPIES.min(n_nodes)
}

/// Places repositories that are a large part of a node's share, the largest first, on the strongest nodes that have room for them.
/// Weights could not spread them evenly: all of one comes or goes with a small step. Returns the bytes on each node.
fn place_large(
    of: &mut [Vec<u32>],
    repos: &[(String, u64)],
    strengths: &[Vec<f64>],
    n_nodes: usize,
    share: f64,
) -> Vec<f64> {
    let mut order: Vec<usize> = (0..repos.len()).filter(|at| repos[*at].1 as f64 > share * LARGE).collect();
    order.sort_by_key(|at| std::cmp::Reverse(repos[*at].1));
    let mut held = vec![0.0; n_nodes];
    for at in order {
        let bytes = repos[at].1 as f64;
        // Where none has room, the emptiest are the strongest.
        let room = |held: &f64| match held + bytes <= share * FULL {
            true => 1.0,
            false => NO_ROOM * (share / (held + bytes)).powi(4),
        };
        let room: Vec<f64> = held.iter().map(room).collect();
        of[at] = strongest(&strengths[at], &room, copies(n_nodes));
        of[at].iter().for_each(|node| held[*node as usize] += bytes);
    }
    held
}

/// Places the other repositories, so that the nodes hold about a share each. `large` is what they hold already.
fn place_small(of: &mut [Vec<u32>], repos: &[(String, u64)], strengths: &[Vec<f64>], large: &[f64], share: f64) {
    let small: Vec<usize> = (0..repos.len()).filter(|at| of[*at].is_empty()).collect();
    let copies = copies(large.len());
    let (mut weights, mut step) = (vec![1.0; large.len()], STEP);
    let mut best = (f64::INFINITY, Vec::new());
    for _ in 0..ROUNDS {
        let chosen: Vec<Vec<u32>> = small.iter().map(|at| strongest(&strengths[*at], &weights, copies)).collect();
        let mut held = large.to_vec();
        for (of, at) in chosen.iter().zip(&small) {
            of.iter().for_each(|node| held[*node as usize] += repos[*at].1 as f64);
        }
        let off = held.iter().map(|held| (held / share - 1.0).abs()).fold(0.0, f64::max);
        if off < best.0 || best.1.is_empty() {
            best = (off, chosen);
        }
        // Without bytes there is no share to compare with.
        if best.0 <= EVEN || share <= 0.0 {
            break;
        }
        for ((weight, held), large) in weights.iter_mut().zip(held).zip(large) {
            let (wanted, got) = ((share - large).max(share * LEAST), held - large);
            *weight *= (wanted / got.max(wanted / 4.0)).powf(step);
        }
        step *= CALMER;
    }
    small.iter().zip(best.1).for_each(|(at, chosen)| of[*at] = chosen);
}

/// The nodes that are strongest for a repository, the strongest first.
fn strongest(strengths: &[f64], weights: &[f64], copies: usize) -> Vec<u32> {
    let mut found: Vec<(f64, u32)> = Vec::with_capacity(copies + 1);
    for (node, (own, by)) in (0..).zip(strengths.iter().zip(weights)) {
        let strength = own * by;
        let place = found.partition_point(|(known, _)| *known >= strength);
        if place < copies {
            found.insert(place, (strength, node));
            found.truncate(copies);
        }
    }
    found.into_iter().map(|(_, node)| node).collect()
}

/// A number between 0 and 1, neither of them.
fn fraction(number: u64) -> f64 {
    ((number >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// Hash of a name, the same in all versions: FNV-1a, mixed.
fn hash(text: &str) -> u64 {
    mixed(text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)))
}

/// Mixes the bits of a number, as splitmix64 does.
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Repositories with sizes as real ones have them: most are small, a few are a thousand times the median.
    fn synthetic(n: u64, seed: u64) -> Vec<(String, u64)> {
        let uniform = |number: u64| {
            (mixed(number.wrapping_add(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 11) as f64 / (1_u64 << 53) as f64
        };
        let size = |at: u64| {
            let normal = (-2.0 * uniform(at * 2 + 1).max(1e-12).ln()).sqrt()
                * (std::f64::consts::TAU * uniform(at * 2 + 2)).cos();
            // The median is 10 MB.
            (1e7 * (1.7 * normal).exp()) as u64
        };
        (0..n).map(|at| (format!("org{}/repo{at}", at % 40), size(at))).collect()
    }

    fn nodes(n: usize) -> Vec<String> {
        (0..n).map(|at| format!("node-{at}")).collect()
    }

    fn holders(placement: &Placement, repo: &str) -> Vec<String> {
        placement.holders(repo).map(str::to_owned).collect()
    }

    #[test]
    fn ten_thousand_repositories_are_spread_evenly_by_bytes() {
        for (seed, n_nodes) in [(1, 3), (2, 8), (3, 20), (4, 60)] {
            let repos = synthetic(10_000, seed * 1_000_003);
            let placement = Placement::new(nodes(n_nodes), repos.clone());
            let mut held: HashMap<String, u64> = HashMap::new();
            for (repo, bytes) in &repos {
                let of = holders(&placement, repo);
                assert!(of.len() == 2 && of[0] != of[1], "{repo}: {of:?}");
                of.into_iter().for_each(|node| *held.entry(node).or_default() += bytes);
            }
            let share = held.values().sum::<u64>() as f64 / n_nodes as f64;
            for (node, bytes) in held {
                let off = bytes as f64 / share - 1.0;
                assert!(off.abs() <= 0.15, "{node} of {n_nodes} holds {:.1} % more than its share", off * 100.0);
            }
        }
    }

    #[test]
    fn a_node_that_comes_moves_little_more_than_its_share() {
        for (seed, n_nodes) in [(11, 3), (12, 9)] {
            let repos = synthetic(10_000, seed * 1_000_003);
            let before = Placement::new(nodes(n_nodes), repos.clone());
            let after = Placement::new(nodes(n_nodes + 1), repos.clone());
            let (mut moved, mut moved_bytes, mut all_bytes) = (0, 0, 0);
            for (repo, bytes) in &repos {
                let known = holders(&before, repo);
                let new = holders(&after, repo).iter().filter(|node| !known.contains(node)).count();
                moved += new;
                moved_bytes += new as u64 * bytes;
                all_bytes += 2 * bytes;
            }
            let share = 1.0 / (n_nodes + 1) as f64;
            let (copies, bytes) = (moved as f64 / 20_000.0, moved_bytes as f64 / all_bytes as f64);
            assert!(
                copies <= share + 0.03,
                "{copies:.3} of the copies move to the node {n_nodes}, whose share is {share:.3}"
            );
            assert!(
                bytes <= share + 0.03,
                "{bytes:.3} of the bytes move to the node {n_nodes}, whose share is {share:.3}"
            );
        }
    }

    #[test]
    fn all_compute_the_same_whatever_the_order() {
        let mut repos = synthetic(500, 7);
        let one = Placement::new(nodes(4), repos.clone());
        repos.reverse();
        let mut names = nodes(4);
        names.reverse();
        assert_eq!(one, Placement::new(names, repos));
        assert_eq!(holders(&one, "org/unknown"), [""; 0]);
        let alone = Placement::new(nodes(1), [("a/b".to_owned(), 5)]);
        assert_eq!(holders(&alone, "a/b"), ["node-0"]);
        assert_eq!(holders(&Placement::new(nodes(0), [("a/b".to_owned(), 5)]), "a/b"), [""; 0]);
    }
}
