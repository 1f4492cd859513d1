//! Each language's table held against its grammar.
//!
//! `UPDATE_EXPECT=1` writes the lists of silent node kinds anew after a change of rules or of a grammar.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use expect_test::expect_file;
use serde_json::Value;

use super::shape::Shape;
use super::spec::TextFilter;
use super::{LANGUAGES, LanguageSpec, Rule};

/// For each kind of node, the possible kinds of children.
fn parts(spec: &LanguageSpec) -> BTreeMap<String, BTreeSet<String>> {
    let types: Value = serde_json::from_str(spec.grammar.node_types).expect("a grammar's description is JSON");
    let named = |value: &Value| value["type"].as_str().unwrap_or_default().to_owned();
    let all = |value: &Value| value.as_array().into_iter().flatten().map(named).collect::<Vec<_>>();
    let mut parts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for node in types.as_array().into_iter().flatten().filter(|node| node["named"] == true) {
        let inside = parts.entry(named(node)).or_default();
        inside.extend(all(&node["subtypes"]));
        inside.extend(all(&node["children"]["types"]));
        for field in node["fields"].as_object().into_iter().flat_map(|fields| fields.values()) {
            inside.extend(all(&field["types"]));
        }
    }
    parts
}

/// The kinds without a rule from which no kind with a rule can be reached.
fn silent(spec: &LanguageSpec, ignored: &[&str]) -> Vec<String> {
    let parts = parts(spec);
    let named: BTreeMap<&str, &Rule> =
        spec.rules.iter().rev().flat_map(|(rule, kinds)| kinds.iter().map(move |kind| (*kind, rule))).collect();
    let mut telling: BTreeSet<&str> = BTreeSet::new();
    telling.extend(
        named
            .iter()
            .filter(|(_, rule)| !matches!(rule, Rule::Skip | Rule::Walk | Rule::WalkIf(_)))
            .map(|(kind, _)| *kind),
    );
    let is_cut = |kind: &str| matches!(named.get(kind), Some(Rule::Skip)) && !ignored.contains(&kind);
    loop {
        let before = telling.len();
        for (kind, inside) in &parts {
            if !is_cut(kind) && inside.iter().any(|part| telling.contains(part.as_str())) {
                telling.insert(kind);
            }
        }
        if telling.len() == before {
            break;
        }
    }
    let is_silent = |kind: &&String| !telling.contains(kind.as_str()) && !kind.starts_with('_');
    let is_free = |kind: &&String| !named.contains_key(kind.as_str()) || ignored.contains(&kind.as_str());
    parts.keys().filter(is_silent).filter(is_free).cloned().collect()
}

#[test]
fn silent_kinds_are_those_the_grammar_lets_hold_nothing() {
    let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/languages");
    for (number, spec) in LANGUAGES.iter().enumerate() {
        let is_dialect = LANGUAGES[..number].iter().any(|other| other.id == spec.id);
        let name = if is_dialect { format!("silent.{}.txt", spec.extensions[0]) } else { "silent.txt".to_owned() };
        let mut list = silent(spec, &[]).join("\n");
        list.push('\n');
        expect_file![room.join(spec.id).join(name)].assert_eq(&list);
    }
}

#[test]
fn no_rule_skips_a_kind_that_is_silent_anyway() {
    let mut needless = Vec::new();
    for spec in LANGUAGES {
        let skipped = spec.rules.iter().filter(|(rule, _)| matches!(rule, Rule::Skip)).flat_map(|(_, kinds)| *kinds);
        let skipped: Vec<&str> = skipped.copied().collect();
        let silent = silent(spec, &skipped);
        needless.extend(silent.into_iter().filter(|kind| skipped.contains(&kind.as_str())).map(|kind| (spec.id, kind)));
    }
    assert!(needless.is_empty(), "{needless:?}");
}

/// The steps of a way to a part, see [`super::symbol::part`].
fn steps(way: &str) -> impl Iterator<Item = &str> {
    way.trim_start_matches("../").split(['/', '|', ':', '^', '$', '>']).filter(|step| !step.is_empty())
}

#[test]
fn every_kind_and_part_that_a_table_names_is_in_its_grammar() {
    for spec in LANGUAGES {
        let grammar = spec.language().expect("tests are built with every language");
        let kinds: BTreeSet<&str> =
            (0..grammar.node_kind_count() as u16).filter_map(|id| grammar.node_kind_for_id(id)).collect();
        let is_kind = |kind: &str| assert!(kinds.contains(kind), "{}: no node is called {kind}", spec.id);
        let is_part = |step: &str| {
            let known = kinds.contains(step) || grammar.field_id_for_name(step).is_some();
            assert!(known, "{}: neither a field nor a node is called {step}", spec.id);
        };
        spec.rules.iter().flat_map(|(_, kinds)| *kinds).for_each(|kind| is_kind(kind));
        spec.decorators.iter().chain(spec.around).chain(spec.syntax.text).for_each(|kind| is_kind(kind));
        spec.imports.iter().for_each(|(kind, _)| is_kind(kind));
        for (kind, owner, name) in spec.qualified {
            is_kind(kind);
            steps(owner).chain(steps(name)).for_each(is_part);
        }
        let shapes = spec.relating.map_or(&[][..], |relating| relating.shapes);
        shapes.iter().flat_map(|(_, kinds)| *kinds).for_each(|kind| is_kind(kind));
        for (shape, _) in shapes {
            match shape {
                Shape::Member { of, name } => [of, name].into_iter().for_each(|part| is_part(part)),
                Shape::Of(_, of) | Shape::Instance(of) | Shape::Part(of) => is_part(of),
                Shape::Assign { left, right } => [left, right].into_iter().for_each(|part| is_part(part)),
                _ => {}
            }
        }
        for (rule, _) in spec.rules {
            match rule {
                Rule::Symbol { name, body, .. } => steps(name).chain(steps(body)).for_each(is_part),
                Rule::BySign { signs, name, body } => {
                    steps(name).chain(steps(body)).for_each(is_part);
                    signs
                        .iter()
                        .filter(|(sign, ..)| sign.contains(['/', ':']))
                        .flat_map(|(sign, ..)| steps(sign))
                        .for_each(is_part);
                }
                Rule::Called { function, names, .. } => steps(function).chain(steps(names)).for_each(is_part),
                _ => {}
            }
        }
    }
}

/// The text that a grammar reads instead, each line without the spaces that do not matter.
pub(super) fn preprocessed(preprocess: TextFilter, text: &str) -> String {
    let made = preprocess(text.as_bytes()).map_or(text.to_owned(), |made| String::from_utf8(made).unwrap());
    assert_eq!(made.len(), text.len());
    made.lines().map(|line| format!("{}\n", line.split_whitespace().collect::<Vec<_>>().join(" "))).collect()
}
