//! Filters from a query's terms and its parameters: `kind:class` in the query means the same as the parameter `kind`.

use globset::{GlobBuilder, GlobMatcher};

use super::{Error, nearest};
use codelode_base::model::{Detail, Kind};
use codelode_lang::languages::{ids, named};
use codelode_query::{self as query, Order, Search, terms};

/// Words that languages use differently, each with the kinds that it means in one of them.
const SEVERAL: &[(&str, &[&str])] = &[
    ("property", &["property", "getter", "setter"]),
    ("attribute", &["field", "property", "getter", "setter"]),
    ("accessor", &["getter", "setter"]),
];

/// The kind of a hit that is a whole file.
pub const FILE: &str = "file";
/// The longest query, in bytes.
const LONGEST: usize = 65_536;

/// A query's words and the filters on its answers.
pub struct Filters {
    /// The words without the terms; empty when only filters are given.
    pub text: String,
    phrases: Vec<String>,
    words: usize,
    /// Some of the five kinds, or languages' own words; empty for all.
    kinds: Vec<String>,
    /// Whole files are wanted, in the place of symbols.
    pub wants_files: bool,
    /// Id of the language.
    pub language: Option<String>,
    /// Paths match all of these.
    globs: Vec<GlobMatcher>,
    /// Paths match none of these.
    other_globs: Vec<GlobMatcher>,
    /// The repositories named in the query.
    pub repos: Vec<String>,
}

impl Filters {
    /// Reads a query and the parameters beside it.
    pub fn read(query: &str, kind: Option<&str>, language: Option<&str>, paths: Option<&str>) -> Result<Self, Error> {
        if query.len() > LONGEST {
            let message = "`query` is longer than 64 KB; give the title and the most telling part";
            return Err(Error::invalid_arguments(message));
        }
        let terms = terms::parse(query);
        let kinds = terms.kinds.iter().map(|kind| meant(kind, KINDS));
        let kind = one("kind", kind.map(|kind| meant(kind, KINDS)), kinds)?;
        let languages = terms.languages.iter().map(|language| named(language));
        let language = one("language", language.map(named), languages)?;
        let wants_files = kind.as_deref() == Some(FILE);
        let kind = kind.filter(|_| !wants_files);
        kind.as_deref().map(check_kind).transpose()?;
        language.as_deref().filter(|_| !wants_files).map(check_language).transpose()?;
        let mut globs: Vec<GlobMatcher> = paths.map(path_glob).transpose()?.into_iter().collect();
        if let Some(value) = terms.negated.first() {
            let message =
                format!("only `-file:` excludes; instead of excluding {value:?}, describe the wanted results");
            return Err(Error::invalid_arguments(message));
        }
        let glob = |value: &String| {
            let wrong = |err| {
                Error::invalid_arguments(format!(
                    "file:{value} is not a glob ({err}); give a part of a path, or a glob such as src/**/*.rs"
                ))
            };
            terms::file_glob(value).map_err(wrong)
        };
        for value in &terms.files {
            globs.push(glob(value)?);
        }
        let other_globs = terms.other_files.iter().map(glob).collect::<Result<Vec<_>, Error>>()?;
        let is_filtered =
            kind.is_some() || wants_files || language.is_some() || !globs.is_empty() || !other_globs.is_empty();
        if terms.text.trim().is_empty() && !is_filtered {
            let message = match terms.repos.is_empty() {
                true => "`query` is empty; give a name, a few words or a sentence",
                false => "`query` only names a repository; add a name, a few words or a sentence",
            };
            return Err(Error::invalid_arguments(message));
        }
        let query::terms::Terms { text, phrases, words, repos, .. } = terms;
        let kinds = kind.iter().flat_map(|kind| alternatives(kind)).collect();
        Ok(Self { text, phrases, words, kinds, wants_files, language, globs, other_globs, repos })
    }

    /// Whether a path passes the filters.
    pub fn fit(&self, path: &str) -> bool {
        self.globs.iter().all(|glob| glob.is_match(path)) && !self.other_globs.iter().any(|glob| glob.is_match(path))
    }

    /// Whether every path passes.
    pub fn take_all_files(&self) -> bool {
        self.globs.is_empty() && self.other_globs.is_empty()
    }

    /// Whether symbols of every kind pass.
    pub fn take_all_kinds(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Accepts several kinds, one of which the query may name; with none, all are accepted.
    pub fn keep_kinds(&mut self, kinds: Vec<String>) -> Result<(), Error> {
        let kinds: Vec<String> = kinds.iter().flat_map(|kind| alternatives(kind)).collect();
        if let Some(term) = self.kinds.iter().find(|term| !kinds.is_empty() && !kinds.contains(term)) {
            let message = format!("the query has kind:{term}, which `include_kinds` lacks; give matching kinds");
            return Err(Error::invalid_arguments(message));
        }
        if self.kinds.is_empty() {
            self.kinds = kinds;
        }
        Ok(())
    }

    /// The repositories to search: those of `repo:` terms, or of the parameters.
    pub fn repositories(
        &self,
        repo: Option<&str>,
        repos: Option<&[String]>,
    ) -> Result<(Option<String>, Option<Vec<String>>), Error> {
        let given = (repo.map(str::to_owned), repos.map(<[String]>::to_vec));
        let others = match (repo, repos) {
            (Some(repo), None) => self.repos.iter().find(|named| *named != repo),
            (None, Some(repos)) if repos.iter().all(|repo| repo != "*") => {
                self.repos.iter().find(|named| !repos.contains(named))
            }
            _ => None,
        };
        if let Some(other) = others {
            let message = format!("the query has repo:{other}, but `repo` names another; give one");
            return Err(Error::invalid_arguments(message));
        }
        Ok(match &self.repos[..] {
            [] => given,
            // `repositories` rejects `repo` with `repos`.
            _ if repo.is_some() => given,
            [one] => (Some(one.clone()), None),
            several => (None, Some(several.to_vec())),
        })
    }

    /// The search for the best `limit` answers.
    pub fn search(&self, order: Order, limit: usize) -> Search<'_> {
        Search {
            phrases: &self.phrases,
            words: self.words,
            kinds: &self.kinds,
            language: self.language.as_deref(),
            files: &self.globs,
            other_files: &self.other_globs,
            order,
            ..Search::of(&self.text, limit)
        }
    }
}

/// The common value of a parameter and a query's terms.
fn one(parameter: &str, given: Option<String>, terms: impl Iterator<Item = String>) -> Result<Option<String>, Error> {
    let mut agreed: Option<(String, bool)> = given.map(|given| (given, true));
    for term in terms {
        match &agreed {
            Some((first, is_parameter)) if *first != term => {
                let first =
                    if *is_parameter { format!("`{parameter}` is {first:?}") } else { format!("{parameter}:{first}") };
                let message = format!("{first}, but the query has {parameter}:{term}; give one");
                return Err(Error::invalid_arguments(message));
            }
            Some(_) => {}
            None => agreed = Some((term, false)),
        }
    }
    Ok(agreed.map(|(value, _)| value))
}

/// The kinds that a word means.
pub fn alternatives(kind: &str) -> Vec<String> {
    let several = SEVERAL.iter().find(|(word, _)| *word == kind).map(|(_, kinds)| *kinds);
    several.unwrap_or(&[kind]).iter().map(|kind| (*kind).to_owned()).collect()
}

/// Refuses an unknown kind.
pub fn check_kind(kind: &str) -> Result<(), Error> {
    let is_several = SEVERAL.iter().any(|(word, _)| *word == kind);
    if is_several || Kind::parse(kind).is_some() || Detail::parse(kind).is_some() {
        return Ok(());
    }
    let known = Detail::ALL.iter().map(|detail| detail.as_str()).chain(["type", FILE]);
    let message = format!(
        "there is no kind {kind:?}; the kinds are function, class, method, constant, type and, in search_symbols, file"
    );
    Err(Error::invalid_arguments(message).with("nearest", nearest(kind, known, 3)))
}

fn check_language(language: &str) -> Result<(), Error> {
    if ids().contains(&language) {
        return Ok(());
    }
    let message = format!("there are no symbols for {language:?}; the languages are {}", ids().join(", "));
    Err(Error::invalid_arguments(message))
}

/// A glob of paths, with the usual shorthands.
pub fn path_glob(pattern: &str) -> Result<GlobMatcher, Error> {
    let pattern = pattern.trim().trim_start_matches("./").trim_start_matches('/');
    let anywhere = match pattern {
        "" | "." => "**".to_owned(),
        // A folder means everything in it; `src/net` may be one, and a name with an extension is a file.
        _ if pattern.ends_with('/') => format!("{pattern}**"),
        _ if pattern.contains('/') && !pattern.contains(['*', '?', '[', '{', '.']) => format!("{pattern}{{,/**}}"),
        _ if pattern.contains('/') => pattern.to_owned(),
        // As in .gitignore, a pattern without a slash may match at any depth, a folder's name too.
        _ => format!("{{**/{pattern},**/{pattern}/**}}"),
    };
    match GlobBuilder::new(&anywhere).literal_separator(true).empty_alternates(true).build() {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(err) => {
            let message = format!("`file_pattern` is not a glob: {err}; write it like src/**/*.py");
            Err(Error::invalid_arguments(message))
        }
    }
}

/// Other words for kinds, with the word they mean.
pub const KINDS: &[(&str, &str)] = &[
    ("func", "function"),
    ("fn", "function"),
    ("def", "function"),
    ("functions", "function"),
    ("classes", "class"),
    ("methods", "method"),
    ("const", "constant"),
    ("constants", "constant"),
    ("var", "variable"),
    ("variables", "variable"),
    ("types", "type"),
    ("properties", "property"),
    ("prop", "property"),
    ("attributes", "attribute"),
    ("attr", "attribute"),
    ("fields", "field"),
    ("ctor", "constructor"),
    ("variant", "member"),
    ("enumerator", "member"),
    ("typedef", "alias"),
    ("modules", "module"),
    ("macros", "macro"),
    ("interfaces", "interface"),
    ("traits", "trait"),
    ("structs", "struct"),
    ("enums", "enum"),
];

/// The word that another means, or the word itself, in lower case.
pub fn meant(word: &str, table: &[(&str, &str)]) -> String {
    let word = word.trim().to_lowercase();
    table.iter().find(|(other, _)| *other == word).map_or(word, |(_, meant)| (*meant).to_owned())
}
