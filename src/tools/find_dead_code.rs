//! Symbols and files without uses.

use std::borrow::Cow;

use globset::{Glob, GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Error, Tool, related};
use crate::query::{self, Certainty, DeadCodeDoubt};

/// Detect unused code: functions, methods, classes or files that are never called or reached from an entry point, to be
/// deleted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: the current one).
    #[serde(default)]
    repo: Option<String>,
    /// Symbols or files.
    #[serde(default)]
    granularity: Granularity,
    /// 1 unused, 0.9 tests use it, 0.8 offered to others, 0.7 dead code.
    #[serde(default = "sure")]
    #[schemars(range(min = 0.0, max = 1.0))]
    min_confidence: f64,
    /// Judge tests, too.
    #[serde(default)]
    include_tests: bool,
    /// Globs of used paths, names or ids.
    #[serde(default)]
    entry_point_patterns: Vec<String>,
}

fn sure() -> f64 {
    0.8
}

/// Symbols that are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Granularity {
    /// Symbols; what lies in a dead one is dead with it and not listed.
    #[default]
    Symbol,
    /// Files.
    File,
}

/// The surest first, then by path and place.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    granularity: Granularity,
    min_confidence: f64,
    /// Symbols that use begins at: mains, decorated ones, what is offered to others.
    live_root_count: usize,
    /// Not listed: nothing was seen to use them, but an unresolved reference, or a name in quotes or in a file that is no code, may.
    #[serde(skip_serializing_if = "is_zero")]
    perhaps_used_count: usize,
    /// Not judged: files in languages whose names are not resolved, generated ones, and copies of others' code.
    #[serde(skip_serializing_if = "is_zero")]
    files_not_judged: usize,
    /// Not listed: dead less surely than asked, most of it used by dead code alone; a lower min_confidence lists it.
    #[serde(skip_serializing_if = "is_zero")]
    less_sure_count: usize,
    dead_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    dead_symbols: Option<Vec<Item>>,
    /// Instead of symbols, where files are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    dead_files: Option<Vec<Item>>,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// Dead symbols.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol_id: Option<String>,
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    confidence: f64,
    reason: Cow<'static, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    importer_count: Option<usize>,
}

/// See [`Args`].
pub struct FindDeadCode;

impl Tool for FindDeadCode {
    const NAME: &'static str = "find_dead_code";
    const COMMAND: &'static str = "dead";
    const LIST: Option<&'static str> = Some("dead_symbols");
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        patterns(&args.entry_point_patterns)?;
        let mut output = related::answer(call, args.repo.as_deref(), |repo, edges| {
            related::note_unread(call, repo);
            let snapshot = &repo.snapshot;
            let patterns = patterns(&[&*args.entry_point_patterns, &snapshot.facts().roles.entry_points].concat())?;
            let mut found = query::dead_code(snapshot, edges, args.include_tests, &patterns);
            for (path, text) in related::large_sources(call, repo) {
                found.doubt_names_in(&path, &text);
            }
            let known = |certainty: Certainty| if related::are_whole(edges) { certainty } else { Certainty::HalfKnown };
            let sure = |certainty: Certainty| known(certainty).confidence() >= args.min_confidence - 1e-9;
            let symbols = found.symbols.iter().filter(|dead| sure(dead.certainty)).map(|dead| Item {
                symbol_id: Some(dead.symbol.id()),
                file: dead.symbol.file.path().to_owned(),
                line: Some(dead.symbol.line()),
                confidence: known(dead.certainty).confidence(),
                reason: match &dead.doubt {
                    Some(doubt) if matches!(dead.certainty, Certainty::Doubtful | Certainty::Offered) => doubted(doubt),
                    _ => reason(known(dead.certainty)).into(),
                },
                importer_count: None,
            });
            let files = found.files.iter().filter(|dead| sure(dead.certainty)).map(|dead| Item {
                symbol_id: None,
                file: dead.file.path().to_owned(),
                line: None,
                confidence: known(dead.certainty).confidence(),
                reason: reason(known(dead.certainty)).into(),
                importer_count: Some(dead.importers),
            });
            let mut dead: Vec<Item> = match args.granularity {
                Granularity::Symbol => symbols.collect(),
                Granularity::File => files.collect(),
            };
            dead.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
            // Each is said to have no users.
            call.absent(true);
            let paths = dead.iter().map(|item| item.file.clone()).collect();
            let found_count = match args.granularity {
                Granularity::Symbol => found.symbols.len(),
                Granularity::File => found.files.len(),
            };
            let output = Output {
                granularity: args.granularity,
                min_confidence: args.min_confidence,
                live_root_count: found.roots,
                perhaps_used_count: found.perhaps_used,
                files_not_judged: found.files_not_judged,
                less_sure_count: found_count - dead.len(),
                dead_count: dead.len(),
                dead_symbols: None,
                dead_files: None,
            };
            let output = match args.granularity {
                Granularity::Symbol => Output { dead_symbols: Some(dead), ..output },
                Granularity::File => Output { dead_files: Some(dead), ..output },
            };
            Ok((output, paths))
        })?;
        let dead =
            if args.granularity == Granularity::File { &mut output.dead_files } else { &mut output.dead_symbols };
        if args.granularity == Granularity::File {
            call.list("dead_files");
        }
        call.found(dead.as_ref().is_some_and(|dead| !dead.is_empty()));
        call.narrow("give min_confidence 1");
        *dead = dead.take().map(|dead| call.page(dead, usize::MAX));
        Ok(output)
    }
}

fn reason(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Unused => "unused",
        Certainty::OnlyTests => "only tests use it",
        Certainty::Offered => "unused here, but visible to others",
        Certainty::Doubtful => "no use is known, but what it belongs to may be used",
        Certainty::Tried => "only tests use it, but others can install its package",
        Certainty::HalfKnown => "no use is known, but not every name was resolved",
        Certainty::DeadUsers => "only dead code uses it",
    }
}

/// A doubt in words.
fn doubted(doubt: &DeadCodeDoubt) -> Cow<'static, str> {
    match doubt {
        DeadCodeDoubt::Written(path, line) => format!("no use is known, but its name stands in {path}:{line}").into(),
        DeadCodeDoubt::Aside => "no use is known, but its folder is for examples, scripts or copies".into(),
        DeadCodeDoubt::NotLoaded => "no use is known, but nothing loads its file: a tool may".into(),
        DeadCodeDoubt::Registered => {
            "no use is known, but a base, an interface, a macro or a decorator may hand it on".into()
        }
        DeadCodeDoubt::Callable => "no use is known, but any code that has an object may call it".into(),
        DeadCodeDoubt::Kept => "no use is known, but its own text says that it is kept for others".into(),
        DeadCodeDoubt::Default => "no use is known, but others get it as the default of its file".into(),
        DeadCodeDoubt::InProgram => "only tests use it, but these are part of the program".into(),
        DeadCodeDoubt::Shared => "no use is known, but it shares its name with a definition beside it".into(),
        DeadCodeDoubt::Conditional => "no use is known, but a build may choose another of its name".into(),
        DeadCodeDoubt::OneOfMany(count) => {
            format!("no use is known, but of {count} in this place: something may use them all").into()
        }
        DeadCodeDoubt::Namesakes(count) => {
            format!("no use is known, but {count} other places define its name: one may stand for another").into()
        }
        DeadCodeDoubt::Helper(count) => {
            format!("only tests use it, but {count} files of them do: it may be there to help them").into()
        }
        DeadCodeDoubt::Tool => "only tests use it, but they test something else: it may be there to help them".into(),
        DeadCodeDoubt::ForTests => "no use is known, but it is a test or has examples that may be run".into(),
        DeadCodeDoubt::Documented => "no use is known, but a package that others can install documents it".into(),
        DeadCodeDoubt::Importable => "no use is known, but its package lets others import its file".into(),
        DeadCodeDoubt::Face => "no use is known, but its file is for those who install its package".into(),
        DeadCodeDoubt::Marked => {
            "no use is known, but only its name hides it from those who install its package".into()
        }
        DeadCodeDoubt::Reflected => "no use is known, but code may find it by reflection".into(),
        DeadCodeDoubt::OfUser => "only code uses it that may be used itself".into(),
        DeadCodeDoubt::Short => "no use is known, but its name is too short to be looked for".into(),
        DeadCodeDoubt::PartlyRead => {
            "no use is known, but its file has syntax errors or was not read to its end".into()
        }
    }
}

fn patterns(globs: &[String]) -> Result<GlobSet, Error> {
    let wrong = |err: globset::Error| Error::invalid_arguments(format!("`entry_point_patterns`: {err}"));
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(Glob::new(glob).map_err(wrong)?);
    }
    set.build().map_err(wrong)
}
