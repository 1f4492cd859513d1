//! Settings that live with a project, in a file at its root. A project is untrusted: it may say how its files are seen,
//! and never runs anything, names a host, leads out of itself or raises a limit. The user's own settings win.

use super::settings::KEYS;
use super::{Config, Origin, Settings};
use crate::model::Roles;

/// Name of the file at the root of a project.
pub const PROJECT_FILE: &str = ".codelode.toml";
/// The setting of patterns to leave out, and its shorter name.
const EXTRA_IGNORE: &str = "extra_ignore";
const IGNORE: &str = "ignore";

impl Config {
    /// This configuration with the settings of a project's file, and warnings about those that were refused.
    pub fn of_project(&self, text: &str) -> (Self, Vec<String>) {
        let (mut config, mut warnings) = (self.clone(), Vec::new());
        let table: toml::Table = match toml::from_str(text) {
            Ok(table) => table,
            Err(err) => {
                warnings.push(format!("{PROJECT_FILE} was not used: {}", on_one_line(text, &err)));
                return (config, warnings);
            }
        };
        let both = table.contains_key(IGNORE) && table.contains_key(EXTRA_IGNORE);
        if both {
            warnings.push(format!("`{IGNORE}` in {PROJECT_FILE} was not used: it is an alias of `{EXTRA_IGNORE}`"));
        }
        for (key, value) in table.into_iter().filter(|(key, _)| !both || key != IGNORE) {
            let key = if key == IGNORE { EXTRA_IGNORE.to_owned() } else { key };
            if let Err(problem) = config.take_of_project(&key, value) {
                warnings.push(format!("`{key}` in {PROJECT_FILE} {problem}"));
            }
        }
        (config, warnings)
    }

    fn take_of_project(&mut self, key: &str, value: toml::Value) -> Result<(), String> {
        let Some(known) = KEYS.iter().find(|known| known.name == key) else {
            let near = nearest_of_project(key).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(format!("is not a setting{near}"));
        };
        if !known.is_for_projects {
            let allowed = KEYS.iter().filter(|key| key.is_for_projects).map(|key| key.name);
            let allowed = allowed.collect::<Vec<_>>().join(", ");
            return Err(format!(
                "was refused: a project may not run a program, name a host, hold a secret or decide for its user; it may \
                set {allowed}"
            ));
        }
        let table = toml::Table::from_iter([(key.to_owned(), value)]);
        let settings: Settings = table.try_into().map_err(|err| format!("was not used: {}", err.message()))?;
        // The same checks as for the user's values.
        Self::default().set(settings.clone()).map_err(|(_, problem)| problem)?;
        let is_users = self.origins.contains_key(known.name);
        let lowered = [
            lowered(&mut self.max_file_size, settings.max_file_size, is_users),
            lowered(self.max_files.get_or_insert(usize::MAX), settings.max_files.filter(|n| *n > 0), is_users),
        ];
        self.max_files = self.max_files.filter(|n| *n < usize::MAX);
        if let Some(limit) = lowered.into_iter().find_map(Result::err) {
            return Err(format!("was not used: {limit}, which only the user's own settings can raise"));
        }
        if is_users && (settings.max_file_size.is_some() || settings.max_files.is_some()) {
            return Ok(());
        }
        self.origins.entry(known.name).or_default().insert(0, Origin::ProjectFile);
        let project = &mut *self.project;
        for (ours, given) in [
            (&mut project.extra_ignore, settings.extra_ignore),
            (&mut project.include, settings.include),
            (&mut project.tests, settings.tests),
            (&mut project.generated, settings.generated),
            (&mut project.vendored, settings.vendored),
            (&mut project.entry_points, settings.entry_points),
            (&mut project.languages, settings.languages),
            (&mut project.not_secret, settings.not_secret),
        ] {
            *ours = given.or_else(|| ours.take());
        }
        let named = project.not_secret.clone().unwrap_or_default();
        self.secrets = std::mem::take(&mut self.secrets).without(&named)?;
        Ok(())
    }

    /// A list of the project followed by the user's own, whose patterns win because the last that fits decides.
    pub(super) fn whole(&self, from: fn(&Settings) -> &Option<Vec<String>>, own: &[String]) -> Vec<String> {
        from(&self.project).iter().flatten().chain(own).cloned().collect()
    }

    /// Patterns that choose files, in gitignore syntax: the project's, then the user's.
    pub fn patterns(&self) -> Vec<String> {
        let back = |patterns: &[String]| patterns.iter().map(|pattern| format!("!{pattern}")).collect::<Vec<_>>();
        let project = &self.project;
        let given = |list: &Option<Vec<String>>| list.clone().unwrap_or_default();
        [given(&project.extra_ignore), back(&given(&project.include)), self.extra_ignore.clone(), back(&self.include)]
            .concat()
    }

    /// Roles and languages of files: the project's, then the user's.
    pub fn all_roles(&self) -> Roles {
        let own = &self.roles;
        Roles {
            tests: self.whole(|from| &from.tests, &own.tests),
            generated: self.whole(|from| &from.generated, &own.generated),
            vendored: self.whole(|from| &from.vendored, &own.vendored),
            entry_points: self.whole(|from| &from.entry_points, &own.entry_points),
            languages: self.whole(|from| &from.languages, &own.languages),
        }
    }
}

/// The most similar of the settings that a project may make.
fn nearest_of_project(key: &str) -> Option<&'static str> {
    let allowed = KEYS.iter().filter(|known| known.is_for_projects).map(|known| known.name);
    crate::model::nearest(key, allowed.chain([IGNORE]), 1).first().copied()
}

/// An error of the parser with its line, without the text around it.
fn on_one_line(text: &str, err: &toml::de::Error) -> String {
    let message = err.message().replace('\n', ", ");
    match err.span().and_then(|span| text.get(..span.start)) {
        Some(before) => format!("line {}: {message}", before.matches('\n').count() + 1),
        None => message,
    }
}

/// Lowers a limit to a project's, unless the user has set it. An error names a limit that the project would raise.
fn lowered<N: Copy + Ord + std::fmt::Display>(limit: &mut N, wanted: Option<N>, is_users: bool) -> Result<(), String> {
    match wanted {
        Some(wanted) if wanted > *limit => Err(format!("{wanted} is above the limit of {limit}")),
        Some(wanted) if !is_users => {
            *limit = wanted;
            Ok(())
        }
        _ => Ok(()),
    }
}
