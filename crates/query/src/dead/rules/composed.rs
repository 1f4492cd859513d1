//! Names composed at run time: `getattr(self, "do_" + name)`, `` eval(`on${event}()`) ``.

use rustc_hash::FxHashSet;

use super::{Answers, Asks, Evidence, Reached, Rule, Stage, Walk};
use codelode_store::FileView;

pub static RULE: Rule = Rule {
    name: "composed",
    stage: Stage::Reach,
    lowers_to: Reached::Possible,
    reason: "a name that is put together at run time may be its own",
    asks: Asks::All(ask),
};

fn ask<'a>(walk: &mut Walk<'_, 'a>, nodes: &[u32]) -> Answers {
    let graph = walk.project.graph;
    let files = graph.snapshot.files().filter(|file| !file.exercises());
    let of_file = |file: FileView<'a>| {
        let names = graph.file_marks(file.number()).into_iter().flat_map(|marks| &marks.beginnings);
        names.map(move |name| name.of(file.content()))
    };
    let all: FxHashSet<&[u8]> = files.flat_map(of_file).collect();
    let is_meant = |node: &u32| {
        let name = graph.symbols[*node as usize].name_bytes();
        (1..=name.len()).any(|end| all.contains(&name[..end]))
    };
    nodes.iter().copied().filter(is_meant).map(|node| (node, Evidence::Plain)).collect()
}
