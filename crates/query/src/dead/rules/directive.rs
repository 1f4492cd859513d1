//! Comments that expose a definition to another program: `//export name`.

use super::{Asks, Reached, Rule, Stage, Subject};

pub static RULE: Rule = Rule {
    name: "directive",
    stage: Stage::Root,
    lowers_to: Reached::Live,
    reason: "a directive above it exposes it to another program",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    let directives = subject.language().directives;
    if directives.is_empty() {
        return false;
    }
    let above = subject.file().content().get(..subject.symbol.span().start as usize).unwrap_or_default();
    let lines = above.trim_ascii_end().rsplit(|byte| *byte == b'\n');
    let mut comments = lines.take_while(|line| line.starts_with(b"//"));
    comments.any(|line| directives.iter().any(|directive| line.starts_with(directive.as_bytes())))
}
