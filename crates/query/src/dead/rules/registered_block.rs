//! Members of a block whose attribute may register them: `#[pymethods] impl Shop { … }`.

use super::{Asks, Reached, Rule, Stage, Subject};
use crate::dead::project::block_attributes;

pub static RULE: Rule = Rule {
    name: "registered_block",
    stage: Stage::Root,
    lowers_to: Reached::Live,
    reason: "an attribute of its block may register it",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    let plain = subject.language().plain_decorators;
    let registers = |text: &[u8]| {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':');
        let path = &text[..text.iter().position(|byte| !is_part(byte)).unwrap_or(text.len())];
        let name = path.rsplit(|byte| *byte == b':').next().unwrap_or(path);
        !plain.iter().any(|plain| plain.as_bytes() == name)
    };
    // On a block for a trait, an attribute exposes only the trait's own methods.
    subject.is_entry()
        && block_attributes(&subject.symbol).any(registers)
        && subject.graph().filled_in(&subject.symbol).is_none()
}
