//! Owners of files, as `CODEOWNERS` names them. If several patterns match, the last one counts.

use std::collections::HashMap;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::{Files, ProjectContext, Provider};

/// Possible paths of the file, in order of precedence.
const PLACES: [&str; 4] = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"];

/// See the module.
pub(super) struct Codeowners;

/// The largest file that is read, in bytes; GitHub allows three times as much.
const LARGEST: usize = 1 << 20;
/// The most compiled patterns: each takes about a kilobyte.
const MOST: usize = 20_000;

/// Patterns with their owners, in order.
struct Owners {
    patterns: Gitignore,
    /// The position and the owners of each pattern. Of equal patterns, the last one counts.
    owners: HashMap<String, (usize, String)>,
}

impl Provider for Codeowners {
    fn name(&self) -> &'static str {
        "codeowners"
    }

    fn detect(&self, path: &str) -> bool {
        PLACES.contains(&path)
    }

    fn read(&self, files: &dyn Files) -> Option<Box<dyn ProjectContext>> {
        let text = PLACES.iter().find_map(|place| files.text(place)).filter(|text| text.len() <= LARGEST)?;
        let mut builder = GitignoreBuilder::new("");
        let mut owners = HashMap::new();
        let text = String::from_utf8_lossy(text);
        for (place, (pattern, names)) in text.lines().filter_map(rule).take(MOST).enumerate() {
            // An invalid pattern matches nothing.
            let _ = builder.add_line(None, pattern);
            owners.insert(pattern.to_owned(), (place, names));
        }
        Some(Box::new(Owners { patterns: builder.build().ok()?, owners }))
    }
}

/// A pattern and its owners. A pattern without owners removes the owners of earlier ones.
fn rule(line: &str) -> Option<(&str, String)> {
    let line = line.split(" #").next().unwrap_or(line).trim();
    // Brackets begin a section in GitLab's format.
    if line.is_empty() || line.starts_with(['#', '[', '!']) {
        return None;
    }
    let end = line.char_indices().scan(' ', |before, (at, letter)| {
        let ends = letter.is_whitespace() && *before != '\\';
        *before = letter;
        Some((at, ends))
    });
    let end = end.into_iter().find(|(_, ends)| *ends).map_or(line.len(), |(at, _)| at);
    let (pattern, owners) = line.split_at(end);
    Some((pattern, owners.split_whitespace().collect::<Vec<_>>().join(" ")))
}

impl ProjectContext for Owners {
    fn about(&self, path: &str) -> Vec<String> {
        let above = path.rmatch_indices('/').map(|(end, _)| (&path[..end], true));
        let fitting = above.chain([(path, false)]).filter_map(|(path, is_folder)| {
            let pattern = self.patterns.matched(path, is_folder).inner()?.original();
            self.owners.get(pattern)
        });
        let owners = fitting.max_by_key(|(place, _)| *place).map(|(_, owners)| owners);
        owners.filter(|owners| !owners.is_empty()).map(|owners| format!("owned by {owners}")).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Made;
    use super::*;

    #[test]
    fn the_last_pattern_that_matches_names_the_owners() {
        let text = "# owners\n*  @all\n*.js @web # scripts\n/docs/ @writers @ed\napps/ @apps\nsrc/a\\ b.py @odd\nsecret.txt\n[Section]\n";
        let known = Codeowners.read(&Made(vec![(".github/CODEOWNERS", text)])).expect("it is there");
        let owner = |path: &str| known.about(path).pop().unwrap_or_default();
        assert_eq!(owner("main.rs"), "owned by @all");
        assert_eq!(owner("x/y.js"), "owned by @web");
        assert_eq!(owner("docs/a/b.js"), "owned by @writers @ed");
        assert_eq!(
            (owner("x/docs/b.md"), owner("x/apps/b.js")),
            ("owned by @all".to_owned(), "owned by @apps".to_owned())
        );
        assert_eq!(owner("src/a b.py"), "owned by @odd");
        assert_eq!(owner("secret.txt"), "");
        assert!(Codeowners.read(&Made(vec![("main.rs", "")])).is_none());
        let text = "*.js @web\n/docs/ @writers\n*.js @late\n*.js @late @last\n/docs @folder\n/docs/x/ \n";
        let known = Codeowners.read(&Made(vec![("CODEOWNERS", text)])).expect("it is there");
        let owner = |path: &str| known.about(path).pop().unwrap_or_default();
        assert_eq!((owner("a.js"), owner("docs/a.js")), ("owned by @late @last".into(), "owned by @folder".into()));
        assert_eq!(owner("docs/x/a.js"), "");
    }
}
