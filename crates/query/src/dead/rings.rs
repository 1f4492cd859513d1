//! Rings (strongly connected components) of nodes that use each other, and whether anything outside uses them.

/// For each of `nodes` nodes, whether it is used from outside its ring. `uses` are pairs of user and used node.
///
/// The algorithm is by Kosaraju (1978) and Sharir (1981).
pub(super) fn used_from_other_rings(nodes: usize, uses: &[(u32, u32)]) -> Vec<bool> {
    let (forth, back) = (rows(nodes, uses, |pair| *pair), rows(nodes, uses, |(from, to)| (*to, *from)));
    let mut order = Vec::with_capacity(nodes);
    let mut seen = vec![false; nodes];
    for start in 0..nodes as u32 {
        visit(start, &forth, &mut seen, |node| order.push(node));
    }
    let mut ring = vec![0; nodes];
    let mut seen = vec![false; nodes];
    for start in order.into_iter().rev() {
        visit(start, &back, &mut seen, |node| ring[node as usize] = start);
    }
    let mut used = vec![false; nodes];
    for (_, to) in uses.iter().filter(|(from, to)| ring[*from as usize] != ring[*to as usize]) {
        used[*to as usize] = true;
    }
    // A ring is used from outside if any of its nodes is.
    let mut rings = vec![false; nodes];
    (0..nodes).filter(|node| used[*node]).for_each(|node| rings[ring[node] as usize] = true);
    ring.into_iter().map(|ring| rings[ring as usize]).collect()
}

fn rows(nodes: usize, uses: &[(u32, u32)], pair: impl Fn(&(u32, u32)) -> (u32, u32)) -> Vec<Vec<u32>> {
    let mut rows = vec![Vec::new(); nodes];
    for (from, to) in uses.iter().map(pair) {
        rows[from as usize].push(to);
    }
    rows
}

/// Visits all unseen nodes reachable from `start`, each after all nodes behind it.
fn visit(start: u32, rows: &[Vec<u32>], seen: &mut [bool], mut give: impl FnMut(u32)) {
    if std::mem::replace(&mut seen[start as usize], true) {
        return;
    }
    let mut waiting = vec![(start, 0)];
    while let Some((node, next)) = waiting.last_mut() {
        let row = &rows[*node as usize];
        match row.get(*next) {
            Some(to) => {
                *next += 1;
                if !std::mem::replace(&mut seen[*to as usize], true) {
                    waiting.push((*to, 0));
                }
            }
            None => {
                give(*node);
                waiting.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::used_from_other_rings;

    #[test]
    fn a_ring_is_used_when_any_of_it_is_from_outside() {
        // 0 and 1 use each other, and 1 uses 2; 3 and 4 use each other, and 5 uses 4.
        let used = used_from_other_rings(6, &[(0, 1), (1, 0), (1, 2), (3, 4), (4, 3), (5, 4)]);
        assert_eq!(used, [false, false, true, true, true, false]);
    }
}
