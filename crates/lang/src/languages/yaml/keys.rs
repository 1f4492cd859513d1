//! Keys of YAML documents that are symbols: those at the top, and those in them that name jobs, services and operations.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::symbol::part;
use super::super::{Cx, Definition};
use codelode_base::model::{Detail, Kind, Span};

/// The most keys of one mapping that are symbols. A mapping of more is data.
const MOST: usize = 300;

/// Top keys with the definitions of a known kind of document in them: CI, Compose, CloudFormation, OpenAPI 2.
const GROUPS: [(&str, Kind, Detail); 4] = [
    ("jobs", Kind::Class, Detail::Object),
    ("services", Kind::Class, Detail::Object),
    ("Resources", Kind::Class, Detail::Object),
    ("definitions", Kind::Class, Detail::Record),
];
/// Operations of a path in OpenAPI.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// A key of a mapping.
#[derive(Clone, Copy)]
struct Key<'t> {
    name: Span,
    pair: Node<'t>,
}

/// Defines the symbols of a document.
pub fn document<'t>(cx: &mut Cx<'_, 't>, document: Node<'t>) {
    let Some(mapping) = part(document, "block_node/block_mapping") else { return };
    let keys = keys(cx, mapping);
    if let Some((kind, name)) = object(cx, &keys) {
        let definition = Definition::new(mapping, mapping, Kind::Class, Detail::Object);
        return cx.define(Definition { name, container: kind, signature: kind, ..definition });
    }
    let is_api = named(cx, &keys, "openapi").or(named(cx, &keys, "swagger")).is_some();
    for key in &keys {
        let inside = inside(key.pair);
        let is_group = part(key.pair, "value:block_node").is_some();
        let (kind, detail) = if is_group { (Kind::Type, Detail::Section) } else { (Kind::Constant, Detail::Property) };
        define(cx, *key, kind, detail);
        let Some(inside) = inside else { continue };
        let name = text(cx, key.name);
        match GROUPS.iter().find(|(group, ..)| *group == name) {
            Some((_, kind, detail)) => self::keys(cx, inside).iter().for_each(|key| define(cx, *key, *kind, *detail)),
            None if is_api && name == "paths" => operations(cx, inside),
            None if is_api && name == "components" => schemas(cx, inside),
            None => {}
        }
    }
}

/// The kind and the name of an object of Kubernetes.
fn object(cx: &Cx<'_, '_>, keys: &[Key<'_>]) -> Option<(Span, Span)> {
    named(cx, keys, "apiVersion")?;
    let kind = scalar(cx, named(cx, keys, "kind")?.pair)?;
    let about = self::keys(cx, inside(named(cx, keys, "metadata")?.pair)?);
    let name = named(cx, &about, "name").or(named(cx, &about, "generateName"))?;
    Some((kind, scalar(cx, name.pair)?))
}

/// Operations by their ids, or by their methods; each in its path.
fn operations<'t>(cx: &mut Cx<'_, 't>, paths: Node<'t>) {
    for path in keys(cx, paths) {
        define(cx, path, Kind::Type, Detail::Section);
        let Some(inside) = inside(path.pair) else { continue };
        for method in keys(cx, inside) {
            if !METHODS.contains(&text(cx, method.name)) {
                continue;
            }
            let about = self::inside(method.pair).map(|about| keys(cx, about)).unwrap_or_default();
            let id = named(cx, &about, "operationId").and_then(|id| scalar(cx, id.pair));
            define(cx, Key { name: id.unwrap_or(method.name), ..method }, Kind::Function, Detail::Function);
        }
    }
}

/// Schemas of OpenAPI 3.
fn schemas<'t>(cx: &mut Cx<'_, 't>, components: Node<'t>) {
    let groups = keys(cx, components);
    let Some(inside) = named(cx, &groups, "schemas").and_then(|schemas| inside(schemas.pair)) else { return };
    keys(cx, inside).into_iter().for_each(|key| define(cx, key, Kind::Class, Detail::Record));
}

/// Defines a key: its signature is its first line.
fn define<'t>(cx: &mut Cx<'_, 't>, key: Key<'t>, kind: Kind, detail: Detail) {
    let mut definition = Definition::new(key.pair, key.pair, kind, detail);
    let line = definition.span.of(cx.source());
    let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
    definition.signature.end = definition.span.start + line.trim_ascii_end().len() as u32;
    let comments = cx.spec.comments;
    let doc = cx.doc_above(key.pair.start_byte(), |comment| comments.document(comment));
    cx.define(Definition { name: key.name, doc, runs: false, ..definition });
}

/// The keys of a mapping; none of a mapping of more than [`MOST`].
fn keys<'t>(cx: &Cx<'_, 't>, mapping: Node<'t>) -> Vec<Key<'t>> {
    let mut cursor = mapping.walk();
    let pairs = mapping.named_children(&mut cursor).filter(|pair| pair.kind() == "block_mapping_pair");
    let key = |pair: Node<'t>| Some(Key { name: bare(cx, part(pair, "key:flow_node")?), pair });
    let keys: Vec<Key<'t>> = pairs.take_while(|_| cx.has_time()).take(MOST + 1).filter_map(key).collect();
    if keys.len() > MOST { Vec::new() } else { keys }
}

fn named<'t>(cx: &Cx<'_, 't>, keys: &[Key<'t>], name: &str) -> Option<Key<'t>> {
    keys.iter().find(|key| text(cx, key.name) == name).copied()
}

/// The mapping that is the value of a key.
fn inside(pair: Node<'_>) -> Option<Node<'_>> {
    part(pair, "value:block_node/block_mapping")
}

/// The value of a key, if it is a text.
fn scalar(cx: &Cx<'_, '_>, pair: Node<'_>) -> Option<Span> {
    part(pair, "value:flow_node").map(|value| bare(cx, value))
}

/// A text without its quotes.
fn bare(cx: &Cx<'_, '_>, node: Node<'_>) -> Span {
    let span = span_of(node);
    let text = span.of(cx.source());
    let is_quoted = text.len() > 2 && matches!(text[0], b'"' | b'\'') && text.last() == text.first();
    if is_quoted { Span { start: span.start + 1, end: span.end - 1 } } else { span }
}

fn text<'s>(cx: &Cx<'s, '_>, span: Span) -> &'s str {
    std::str::from_utf8(span.of(cx.source())).unwrap_or_default()
}
