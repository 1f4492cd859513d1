//! Files on disk that are not in the index: those that ripgrep would read, without secrets.

use std::path::{Component, Path, PathBuf};

use ignore::WalkBuilder;

use super::flags::{Binary, GrepOptions, Unrestricted};
use super::places::{Chosen, Item, SearchInput};
use codelode_base::config::Config;
use codelode_service::catalog::locate::project_root;
use codelode_service::tools::Error;

/// Keeps secrets and the index itself from being read from disk.
pub(super) struct Guard<'a> {
    config: &'a Config,
    /// The folder to which patterns of exempted secrets are relative.
    root: PathBuf,
    /// The treatment of named binary files.
    named: Binary,
    /// The number of files kept out.
    pub(super) secrets: u64,
    /// Named files that do not exist.
    pub(super) missing: Vec<PathBuf>,
}

impl<'a> Guard<'a> {
    pub(super) fn new(config: &'a Config, here: &Path, named: Binary) -> Self {
        Self { config, named, root: project_root(here).unwrap_or(here).to_owned(), secrets: 0, missing: Vec::new() }
    }

    /// A named file; `None` if it is a secret.
    pub(super) fn file(&mut self, path: &Path) -> Option<Item<'static>> {
        let size = path.metadata().map_or(0, |metadata| metadata.len());
        let is_secret = self.hides(path) || path.canonicalize().is_ok_and(|real| self.hides(&real));
        self.secrets += u64::from(is_secret);
        let haystack = SearchInput::Disk { path: path.to_owned(), size, binary: self.named };
        (!is_secret).then(|| Item { haystack, shown: path.to_owned() })
    }

    /// Whether a path may lead to a credential.
    fn hides(&self, path: &Path) -> bool {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let inside = path.strip_prefix(&self.root).unwrap_or(&path);
        let parts = inside.components().filter(|part| matches!(part, Component::Normal(_)));
        let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy()).collect();
        let inside = parts.join("/");
        // The paths of files in a key folder show that folder.
        self.config.secrets.hides(&inside) || self.config.secrets.hides_folder(&inside)
    }
}

/// The files in these places.
pub(super) fn files(
    paths: &[PathBuf],
    asked: Unrestricted,
    (how, chosen): (&GrepOptions, &Chosen),
    guard: &mut Guard<'_>,
) -> Result<(Vec<Item<'static>>, Vec<String>), Error> {
    let (mut items, mut problems) = (Vec::new(), Vec::new());
    let here = [PathBuf::from("./")];
    for path in if paths.is_empty() { &here[..] } else { paths } {
        if !path.exists() {
            guard.missing.push(path.clone());
            continue;
        }
        if path.is_file() {
            items.extend(guard.file(path));
            continue;
        }
        // The place may be a link, and then its own name says nothing.
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        let mut builder = WalkBuilder::new(path);
        let heeds = !asked.no_ignore;
        builder
            .hidden(!asked.hidden)
            .ignore(heeds)
            .git_ignore(heeds)
            .git_global(heeds)
            .git_exclude(heeds)
            .parents(heeds);
        builder.follow_links(asked.follow).max_depth(how.max_depth).max_filesize(how.max_filesize);
        builder.overrides(chosen.globs.clone()).types(chosen.types.clone());
        let folders = guard.config.folders();
        let folders: Vec<PathBuf> = folders.map(|folder| folder.canonicalize().unwrap_or(folder)).collect();
        let (top, top_real) = (path.clone(), real.clone());
        builder.filter_entry(move |entry| {
            let is_index = entry.path().strip_prefix(&top).is_ok_and(|inside| folders.contains(&top_real.join(inside)));
            !is_index && (entry.depth() == 0 || entry.file_name() != ".git")
        });
        for entry in builder.build() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(err) => {
                    problems.push(err.to_string());
                    continue;
                }
            };
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let inside = entry.path().strip_prefix(path).unwrap_or(entry.path());
            let place = real.join(inside);
            let target =
                if asked.follow { place.canonicalize().unwrap_or_else(|_| place.clone()) } else { place.clone() };
            if !target.starts_with(&real) && !target.starts_with(&guard.root) {
                problems.push(format!("{} leads out of {}", entry.path().display(), path.display()));
                continue;
            }
            if guard.hides(&place) || guard.hides(&target) {
                guard.secrets += 1;
                continue;
            }
            let shown = if paths.is_empty() { inside.to_owned() } else { entry.path().to_owned() };
            let size = entry.metadata().map_or(0, |metadata| metadata.len());
            let haystack = SearchInput::Disk { path: entry.path().to_owned(), size, binary: asked.binary };
            items.push(Item { haystack, shown });
        }
    }
    if let [path, ..] = &guard.missing[..]
        && guard.missing.len() == paths.len()
    {
        return Err(Error::not_found(format!("there is no {}", path.display())));
    }
    Ok((items, problems))
}
