//! The list of languages, each with its files and with what is known of them.

use super::LANGUAGES;

/// A language as people are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its id in answers and filters.
    pub id: &'static str,
    /// Its other names.
    pub aliases: Vec<&'static str>,
    /// Extensions, with a dot.
    pub extensions: Vec<String>,
    /// Whole file names.
    pub file_names: Vec<&'static str>,
    /// Extensions of files that are of this language only if their text looks like it, with a dot.
    pub shared: Vec<String>,
    /// Whether symbols are read; not if the build leaves the grammar out.
    pub symbols: bool,
    /// Whether names are resolved: references, calls, hierarchies, imports.
    pub relations: bool,
    /// Whether code that nothing uses is found.
    pub unused: bool,
}

impl Listed {
    /// Its files: extensions and names.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let names = self.file_names.iter().copied();
        self.extensions.iter().map(String::as_str).chain(names).chain(self.shared.iter().map(String::as_str))
    }
}

/// All languages in the order of their numbers; dialects that share an id are one.
pub fn listed() -> Vec<Listed> {
    let mut all: Vec<Listed> = Vec::new();
    let dotted = |ending: &str| format!(".{ending}");
    for spec in LANGUAGES {
        if all.iter().all(|known| known.id != spec.id) {
            let relations = spec.relating.is_some();
            all.push(Listed {
                id: spec.id,
                aliases: spec.aliases.to_vec(),
                extensions: Vec::new(),
                file_names: Vec::new(),
                shared: Vec::new(),
                symbols: spec.is_built(),
                relations: relations && spec.is_built(),
                unused: relations && spec.is_built() && spec.conventions.tells_dead,
            });
        }
        let Some(one) = all.iter_mut().find(|known| known.id == spec.id) else { continue };
        one.extensions.extend(spec.extensions.iter().map(|ending| dotted(ending)));
        one.file_names.extend(spec.file_names);
        one.shared.extend(spec.claims.iter().map(|(ending, _)| dotted(ending)));
    }
    all
}
