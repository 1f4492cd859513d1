//! Facts about names: read from a file, packed, and joined with other files.

use codelode_base::model::Relations;
use codelode_lang::extract::extract;
use codelode_lang::facts::{Facts, Project, ProjectFile, mentions, unpack};
use codelode_lang::languages::{LANGUAGES, LanguageSpec, of_file};
use codelode_resolve::{resolve, resolve_again, resolve_noting};
use codelode_store::Prepared;

/// A file in any language. The first byte chooses the language.
pub fn extraction(data: &[u8]) {
    let Some((spec, text)) = language(data) else { return };
    let found = extract(spec, text);
    for symbol in &found.symbols {
        let spans = [symbol.span, symbol.name, symbol.doc, symbol.signature, symbol.container];
        assert!(spans.iter().all(|span| span.start <= span.end && span.end as usize <= text.len()), "{symbol:?}");
    }
    if !found.facts.is_empty() {
        let tables = unpack(&found.facts).expect("what was packed is unpacked");
        assert!(Facts::open(&tables).is_some_and(|facts| facts.is_sound()), "what was packed is sound");
    }
    let number = data.first().map(|first| first % LANGUAGES.len() as u8);
    drop(Prepared::new(format!("a.{}", spec.extensions[0]), text.to_vec(), [0; 32], number, &found));
}

/// Packed facts as a store holds them; after an odd byte, before they are compressed.
pub fn facts(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let without_mentions = |mut tables: Vec<u8>| {
        tables.extend_from_slice(&[0; 4]);
        tables
    };
    let compressed = (first % 2 == 1).then(|| without_mentions(lz4_flex::block::compress_prepend_size(rest)));
    let _: u64 = mentions(rest).map(u64::from).sum();
    let files = vec![ProjectFile::new("a", compressed.as_deref().unwrap_or(rest))];
    let semantics: Vec<_> = LANGUAGES.iter().filter_map(|spec| spec.relating).collect();
    let semantics = semantics[*first as usize / 2 % semantics.len()].semantics;
    check(&resolve(&Project { files, read: &|_| None, paths: &["a"] }, semantics));
}

/// A small project: files with a NUL byte between them, each with its name in its first line. It is resolved, then
/// again after the last file has lost its second half.
pub fn resolver(data: &[u8]) {
    let named = |file| -> Option<(&str, &[u8])> {
        let file: &[u8] = file;
        let end = memchr::memchr(b'\n', file)?;
        Some((std::str::from_utf8(&file[..end]).ok()?, &file[end + 1..]))
    };
    let mut files: Vec<(&str, &[u8])> = data.split(|byte| *byte == 0).filter_map(named).collect();
    let Some((last, text)) = files.last().copied() else { return };
    files.sort_unstable();
    files.dedup_by_key(|(path, _)| *path);
    let Some(relating) = of_file(last, text).and_then(|(_, spec)| spec.relating) else { return };
    let is_of_it =
        |spec: &LanguageSpec| spec.relating.is_some_and(|own| std::ptr::eq(own.semantics, relating.semantics));
    let facts_of = |path: &str, text: &[u8]| {
        let (_, spec) = of_file(path, text).filter(|(_, spec)| is_of_it(spec))?;
        Some(extract(spec, text).facts)
    };
    let facts: Vec<_> = files.iter().filter_map(|(path, text)| Some((*path, facts_of(path, text)?))).collect();
    let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    let read = |path: &str| files.iter().find(|(other, _)| *other == path).map(|(_, text)| *text);
    let at = |_, at| Some(at);
    let before = Project { files: listed(&facts, None), read: &read, paths: &paths };
    let (relations, notes) = resolve_noting(&before, relating.semantics, &at);
    check(&relations);

    let Some(edited) = facts_of(last, &text[..text.len() / 2]) else { return };
    let after = Project { files: listed(&facts, Some((last, &edited))), read: &read, paths: &paths };
    let Some(place) = after.find(last) else { return };
    let Some(mut plan) = notes.plan(&after, relating.semantics, &[place], &at) else { return };
    if let Some((relations, _)) = resolve_again(&after, relating.semantics, notes, &mut plan) {
        check(&relations);
    }
}

/// The files of a project, one of them with other facts.
fn listed<'a>(facts: &'a [(&'a str, Vec<u8>)], edited: Option<(&str, &'a [u8])>) -> Vec<ProjectFile<'a>> {
    let of = |(path, facts): &'a (&'a str, Vec<u8>)| match edited {
        Some((other, edited)) if other == *path => ProjectFile::new(path, edited),
        _ => ProjectFile::new(path, facts),
    };
    facts.iter().map(of).collect()
}

/// Looks up all targets.
fn check(relations: &Relations) {
    for occurrence in &relations.occurrences {
        let first = occurrence.first_target as usize;
        assert!(relations.targets.get(first..first + occurrence.targets as usize).is_some(), "{occurrence:?}");
    }
}

/// The language that the first byte chooses, and the rest.
pub(super) fn language(data: &[u8]) -> Option<(&'static LanguageSpec, &[u8])> {
    let (first, rest) = data.split_first()?;
    Some((LANGUAGES[*first as usize % LANGUAGES.len()], rest))
}
