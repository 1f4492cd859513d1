//! Repository map: files and symbols, the most central first.

use std::collections::HashMap;

use super::importance::page_rank;
use super::{Graph, is_use};
use codelode_store::{EdgeTable, FileView, Snapshot, SymbolId, SymbolView};

/// A file of the map.
pub struct MapFile<'a> {
    /// The file.
    pub file: FileView<'a>,
    /// Its symbols with their PageRank shares, the most central first.
    pub symbols: Vec<(SymbolView<'a>, f64)>,
}

/// Files by the centrality of their symbols, without tests. With a focus, the symbols that it uses, directly or
/// indirectly, are the central ones.
pub fn repo_map<'a>(snapshot: &'a Snapshot, edges: &'a EdgeTable, focus: &[SymbolId]) -> Vec<MapFile<'a>> {
    let graph = Graph::new(snapshot, edges);
    let uses = graph.uses(false, |edge, to| is_use(&graph, edge, to));
    let focus: Vec<u32> = focus.iter().filter_map(|symbol| graph.owner(*symbol)).collect();
    let mut start = vec![0.0; graph.symbols.len()];
    if focus.is_empty() {
        let counted = (0..start.len()).filter(|node| !graph.is_value(*node as u32)).count();
        let each = 1.0 / counted.max(1) as f64;
        (0..start.len()).filter(|node| !graph.is_value(*node as u32)).for_each(|node| start[node] = each);
    } else {
        focus.iter().for_each(|node| start[*node as usize] += 1.0 / focus.len() as f64);
    }
    let (shares, _) = page_rank(&uses, &start);
    let mut files: HashMap<u32, MapFile<'a>> = HashMap::new();
    for (symbol, share) in graph.symbols.iter().zip(shares) {
        if share <= 0.0 || (focus.is_empty() && symbol.file.is_test()) {
            continue;
        }
        let file = symbol.file;
        let entry = files.entry(file.number()).or_insert_with(|| MapFile { file, symbols: Vec::new() });
        entry.symbols.push((*symbol, share));
    }
    let mut files: Vec<(f64, MapFile<'a>)> = files
        .into_values()
        .map(|mut file| {
            file.symbols.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.number().cmp(&b.0.number())));
            (file.symbols.iter().map(|(_, share)| share).sum(), file)
        })
        .collect();
    files.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.file.path().cmp(b.1.file.path())));
    files.into_iter().map(|(_, file)| file).collect()
}
