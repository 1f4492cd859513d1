//! Calls with type arguments, which patterns without them find as well. In the grammar of TypeScript an `await` before such
//! a call is a part of its function, so that `await f<T>(x)` is another tree than `await f(x)`.

use std::slice::from_ref;

use ast_grep_core::matcher::PatternNode;
use ast_grep_core::meta_var::MetaVariable;
use ast_grep_core::{Matcher, Pattern};

/// The most calls of a pattern of which each may have type arguments or not; with more, all have them or none.
const MOST_CALLS: u32 = 3;

/// A form of a pattern.
#[derive(Clone)]
pub(super) struct Form {
    pub pattern: Pattern,
    /// Whether it matches an `await` before the code that is meant.
    pub is_awaited: bool,
}

/// Parts of the tree of `await f<T>(x)`.
struct TypedCall {
    call: u16,
    awaited: u16,
    word: PatternNode,
    types: u16,
    arguments: u16,
}

impl TypedCall {
    /// `None` where the grammar reads it as something else.
    fn of(node: &PatternNode) -> Option<Self> {
        let PatternNode::Internal { kind_id: call, children } = node else { return None };
        let [PatternNode::Internal { kind_id: awaited, children: inner }, types, arguments] = &children[..] else {
            return None;
        };
        let (PatternNode::Internal { kind_id: types, .. }, PatternNode::Internal { kind_id: arguments, .. }) =
            (types, arguments)
        else {
            return None;
        };
        let word = inner.first().filter(|word| word.is_trivial() && inner.len() == 2)?.clone();
        Some(Self { call: *call, awaited: *awaited, word, types: *types, arguments: *arguments })
    }

    /// The parts of a call, with or without type arguments: before them, they, and behind them.
    fn parts<'p>(&self, node: &'p PatternNode) -> Option<(&'p [PatternNode], &'p [PatternNode], &'p PatternNode)> {
        let PatternNode::Internal { children, .. } = node else { return None };
        let is =
            |node: &PatternNode, kind: u16| matches!(node, PatternNode::Internal { kind_id, .. } if *kind_id == kind);
        let (arguments, before) = children.split_last().filter(|(last, _)| is(last, self.arguments))?;
        match before.split_last() {
            Some((types, before)) if is(types, self.types) => Some((before, from_ref(types), arguments)),
            _ => Some((before, &[], arguments)),
        }
    }

    /// A pattern in which the calls of a set have type arguments, counted in the order of the text.
    fn typed(&self, node: &PatternNode, set: u32, n_calls: &mut u32) -> PatternNode {
        let PatternNode::Internal { kind_id, children } = node else { return node.clone() };
        let parts = self.parts(node);
        let is_free = parts.is_some_and(|(_, types, _)| types.is_empty());
        let is_chosen = is_free && set >> *n_calls & 1 == 1;
        *n_calls += u32::from(is_free);
        let mut made: Vec<PatternNode> = children.iter().map(|child| self.typed(child, set, n_calls)).collect();
        if is_chosen {
            let any = PatternNode::MetaVar { meta_var: MetaVariable::Multiple };
            made.insert(made.len() - 1, PatternNode::Internal { kind_id: self.types, children: vec![any] });
        }
        // `await` with a call that has type arguments becomes a part of its function.
        if *kind_id == self.awaited
            && let [_, call] = &made[..]
            && let Some(awaited) = self.awaited(call)
        {
            return awaited;
        }
        PatternNode::Internal { kind_id: *kind_id, children: made }
    }

    /// A call with type arguments, behind an `await`.
    fn awaited(&self, call: &PatternNode) -> Option<PatternNode> {
        let is_call = matches!(call, PatternNode::Internal { kind_id, .. } if *kind_id == self.call);
        let (before, types, arguments) =
            self.parts(call).filter(|(before, types, _)| is_call && before.len() == 1 && !types.is_empty())?;
        let function =
            PatternNode::Internal { kind_id: self.awaited, children: vec![self.word.clone(), before[0].clone()] };
        let children = vec![function, types[0].clone(), arguments.clone()];
        Some(PatternNode::Internal { kind_id: self.call, children })
    }
}

/// All forms of a pattern, the first as it is written. `sample` is the tree of `await f<T>(x)`.
pub(super) fn forms(pattern: Pattern, sample: Option<&PatternNode>) -> Vec<Form> {
    let written = Form { pattern, is_awaited: false };
    let Some(typed) = sample.and_then(TypedCall::of) else { return vec![written] };
    let with = |node: PatternNode, is_awaited: bool| {
        let mut form = Form { is_awaited, ..written.clone() };
        form.pattern.node = node;
        form
    };
    let mut n_calls = 0;
    let own = typed.typed(&written.pattern.node, 0, &mut n_calls);
    let sets = if n_calls <= MOST_CALLS { (0..1 << n_calls).collect() } else { vec![0, u32::MAX] };
    let mut forms: Vec<Form> = Vec::new();
    for set in sets {
        let node = if set == 0 { own.clone() } else { typed.typed(&written.pattern.node, set, &mut 0) };
        // An awaited call comes first: its function would be taken for one with the `await`.
        forms.extend(typed.awaited(&node).map(|node| with(node, true)));
        forms.push(with(node, false));
    }
    forms
}

/// The kinds of nodes that a pattern may match; `None` for any.
pub(super) fn kinds_of(forms: &[Form]) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    for form in forms {
        all.extend(form.pattern.potential_kinds()?.iter());
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

#[cfg(test)]
mod tests {
    use crate::text::syntax::SyntaxQuery;
    use codelode_lang::languages::of_id;

    #[test]
    fn calls_are_found_with_type_arguments_and_without() {
        let (number, _) = of_id("typescript").expect("it is a language");
        let found = |pattern: &str, text: &str| -> Vec<String> {
            let query = SyntaxQuery::new(pattern, Some("typescript")).expect("it is a pattern");
            let hits = query.find_in(number, text.as_bytes(), &|| false).hits;
            hits.iter().map(|hit| text[hit.start..hit.end].to_owned()).collect()
        };
        let text = "const a = f(1);\nconst b = f<T>(2);\nconst c = await f<T, U>(3);\nconst d = await f(4);\nnew f<T>(5);\nf?.(6);\n";
        assert_eq!(found("f($A)", text), ["f(1)", "f<T>(2)", "f<T, U>(3)", "f(4)"]);
        assert_eq!(found("await $F($$$A)", text), ["await f<T, U>(3)", "await f(4)"]);
        assert_eq!(found("f<$$$T>($A)", text), ["f<T>(2)", "f<T, U>(3)"]);
        assert_eq!(found("await f<$$$T>($A)", text), ["await f<T, U>(3)"]);
        assert_eq!(found("new f($A)", text), ["new f<T>(5)"]);
        assert_eq!(found("const $N = await f($A)", text).len(), 2);
        let text = "a.b(x).c<T>(y);\na.b<T>(x).c(y);\na.b(x).c(y);\n";
        assert_eq!(found("a.b(x).c(y)", text).len(), 3);
        assert_eq!(found("$F(y)", "g(await k<T>(y))"), ["k<T>(y)"]);
    }
}
