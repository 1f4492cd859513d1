//! Table-driven symbols: finds their name, signature, decorators and documentation.

use tree_sitter::Node;

use super::definition::{Cx, Definition, Place, span_of};
use codelode_base::model::{Detail, Kind, Span};

/// Maximum number of parts before the name that are searched for words and decorators.
const BEFORE: u32 = 24;

impl<'t> Cx<'_, 't> {
    /// Defines a symbol for each part of `node` that `name` leads to, with a signature up to the part `body`.
    /// Documentation and decorators follow the language's spec.
    pub fn symbol(&mut self, node: Node<'t>, kind: Kind, detail: Detail, name: &str, body: &str) {
        let end = match body.strip_suffix('>') {
            Some(head) => part(node, head).map(|head| head.end_byte()),
            None => part(node, body).map(|body| body.start_byte()),
        };
        let runs = body.is_empty() || end.is_some();
        let mut cursor = node.walk();
        let comments: Vec<usize> =
            node.children(&mut cursor).filter(Node::is_extra).map(|comment| comment.start_byte()).collect();
        for named in parts(node, name) {
            // One statement may name a million variables.
            if !self.has_time() {
                break;
            }
            let (named, container) = self.unqualified(named);
            // In some trees, a comment at the start of the body precedes the body node.
            let comment = comments.get(comments.partition_point(|start| *start <= named.end_byte())).copied();
            let end = [end, comment].into_iter().flatten().min();
            if let Some(definition) = self.described(node, named, container, kind, detail, end) {
                self.define(Definition { runs: definition.runs && runs, ..definition });
            }
        }
    }

    /// Describes the symbol of one name; `None` for values local to a function.
    fn described(
        &self,
        node: Node<'t>,
        named: Node<'t>,
        container: Span,
        mut kind: Kind,
        mut detail: Detail,
        end: Option<usize>,
    ) -> Option<Definition> {
        let place = self.place();
        match (kind, detail) {
            // Variables in functions are not symbols.
            (Kind::Constant, _) if place == Place::Function => return None,
            (Kind::Constant, Detail::Variable) if place == Place::Type => detail = Detail::Field,
            (Kind::Function, Detail::Function) if place == Place::Type || !container.is_empty() => {
                (kind, detail) = (Kind::Method, Detail::Method);
            }
            _ => {}
        }
        let outer = self.outermost(node, self.spec.around);
        let mut definition = Definition::new(node, named, kind, detail).within(outer);
        // `operator bool` has a name of two words.
        if let Some(of) = named.next_sibling().filter(|_| !named.is_named() && self.text(named) == "operator") {
            definition.name.end = of.end_byte() as u32;
        }
        definition.signature.end =
            end.map_or(definition.signature.end, |end| end as u32).max(definition.signature.start);
        definition.container = container;
        definition.decorators = self.attributes().to_vec();
        let before = definition.decorators.first().map_or(definition.span.start, |first| first.start);
        definition.span.start = before.min(definition.span.start);
        self.decorate(&mut definition, outer);
        if outer != node {
            self.decorate(&mut definition, node);
        }
        let comments = self.spec.comments;
        let starts = [definition.span.start, definition.signature.start];
        let docs = starts.map(|start| self.doc_above(start as usize, |comment| comments.document(comment)));
        definition.doc = docs.into_iter().find(|doc| !doc.is_empty()).unwrap_or_default();
        let signature = definition.signature.of(self.source()).trim_ascii_end();
        let mut ends = [";", "{", "="].into_iter().filter_map(|end| signature.strip_suffix(end.as_bytes()));
        let signature = ends.next().unwrap_or(signature);
        definition.signature.end = definition.signature.start + signature.trim_ascii_end().len() as u32;
        Some(definition)
    }

    /// Defines the symbol of `node` by its first matching sign, see [`super::Rule::BySign`].
    pub fn symbol_by_sign(&mut self, node: Node<'t>, signs: &[(&str, Kind, Detail)], name: &str, body: &str) {
        let end = part(node, name).map_or(node.end_byte(), |name| name.start_byte());
        let said: Vec<&str> = self.parts_before(node, end).into_iter().map(|part| self.text(part)).collect();
        let bears = |sign: &str| match sign.strip_prefix("../") {
            Some(around) => self.ancestor(0).is_some_and(|parent| parent.kind() == around),
            None if sign.contains(['/', ':']) => part(node, sign).is_some(),
            None => sign.is_empty() || said.contains(&sign),
        };
        if let Some((_, kind, detail)) = signs.iter().find(|(sign, _, _)| bears(sign)) {
            self.symbol(node, *kind, *detail, name, body);
        }
    }

    /// Defines the names that a call gives to what its function makes, see [`super::Rule::Called`].
    pub fn called(&mut self, node: Node<'t>, function: &str, words: &[(&str, Kind, Detail)], names: &str) {
        let word = part(node, function).map(|function| self.text(function)).unwrap_or_default();
        let Some((_, kind, detail)) = words.iter().find(|(known, _, _)| *known == word) else { return };
        let comments = self.spec.comments;
        let doc = self.doc_above(node.start_byte(), |comment| comments.document(comment));
        for name in parts(node, names) {
            let mut definition = Definition::new(node, name, *kind, *detail);
            definition.name.start += u32::from(self.text(name).starts_with(':'));
            self.define(Definition { doc, ..definition });
        }
    }

    /// Parts of a definition before byte `end`, and their parts.
    fn parts_before(&self, node: Node<'t>, end: usize) -> Vec<Node<'t>> {
        let within = |of: Node<'t>| {
            let parts = (0..of.child_count().min(BEFORE)).filter_map(move |at| of.child(at));
            parts.take_while(move |part| part.start_byte() < end)
        };
        within(node).flat_map(|part| std::iter::once(part).chain(within(part))).collect()
    }

    /// Adds the decorators in `node`; the signature starts after the leading ones.
    fn decorate(&self, definition: &mut Definition, node: Node<'t>) {
        if self.spec.decorators.is_empty() {
            return;
        }
        for part in self.parts_before(node, definition.name.start as usize) {
            if !self.spec.decorators.contains(&part.kind()) {
                continue;
            }
            let span = span_of(part);
            if !definition.decorators.contains(&span) {
                definition.decorators.push(span);
            }
            if span.start == definition.signature.start {
                let rest = self.source().get(span.end as usize..definition.name.start as usize).unwrap_or_default();
                definition.signature.start = span.end + (rest.len() - rest.trim_ascii_start().len()) as u32;
            }
        }
    }

    /// Splits a qualified name into name and owner: `b` and `a` of `a.b`.
    fn unqualified(&self, mut named: Node<'t>) -> (Node<'t>, Span) {
        let mut container = Span::default();
        // Names are not nested deeply, but the tree around a syntax error may be.
        for _ in 0..8 {
            let rule = self.spec.qualified.iter().find(|(kind, _, _)| *kind == named.kind());
            let Some((inner, owner)) = rule.and_then(|(_, owner, name)| Some((part(named, name)?, owner))) else {
                break;
            };
            let owner = part(named, owner).map(|owner| self.unqualified(owner).0);
            container = owner.map_or(container, span_of);
            named = inner;
        }
        (named, container)
    }
}

/// Finds a part of a node by a path: steps with `/` in between. A step is a field name, or else a kind of child.
/// `a|b` is the first one that exists, `a:b` is `a` if its kind is `b`, and of several `a`, `a^` is the first and `a$` the
/// last.
pub(super) fn part<'t>(node: Node<'t>, way: &str) -> Option<Node<'t>> {
    parts(node, way).into_iter().next()
}

/// All parts of a node that match a path.
fn parts<'t>(node: Node<'t>, way: &str) -> Vec<Node<'t>> {
    if way.is_empty() {
        return Vec::new();
    }
    let into = |node: Node<'t>, step: &str| {
        step.split('|').map(|choice| step_into(node, choice)).find(|found| !found.is_empty()).unwrap_or_default()
    };
    way.split('/').fold(vec![node], |nodes, step| nodes.into_iter().flat_map(|node| into(node, step)).collect())
}

fn step_into<'t>(node: Node<'t>, step: &str) -> Vec<Node<'t>> {
    let all = |step: &str| step_into_all(node, step).into_iter();
    match (step.strip_suffix('^'), step.strip_suffix('$')) {
        (Some(step), _) => all(step).take(1).collect(),
        (_, Some(step)) => all(step).next_back().into_iter().collect(),
        _ => all(step).collect(),
    }
}

fn step_into_all<'t>(node: Node<'t>, step: &str) -> Vec<Node<'t>> {
    let (name, kind) = step.split_once(':').map_or((step, None), |(name, kind)| (name, Some(kind)));
    let mut cursor = node.walk();
    let of_field = node.children_by_field_name(name, &mut cursor);
    let mut found: Vec<Node<'t>> = of_field.filter(|child| child.kind() != ",").collect();
    if found.is_empty() {
        found.extend(node.children(&mut cursor).filter(|child| child.kind() == name));
    }
    found.retain(|child| kind.is_none_or(|kind| child.kind() == kind));
    found
}
