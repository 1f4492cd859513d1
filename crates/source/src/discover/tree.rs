//! Choice of files from a commit: the rules of a walk, applied to git trees.

use std::collections::{BTreeMap, HashMap};

use super::folder::OWN_IGNORE;
use super::layers::{Layers, Patterns, extra};
use super::package::{self, MAX_ENTRY};
use super::results::Results;
use super::tools::{ToolOutput, Tools, filled};
use super::{Error, Rules, Walk, binary, limits, noise};
use codelode_base::model::{EntryMode, SkipReason, SourceError, SourceFile, SourceTree, TreeEntry};

/// State of a folder from its entries and its parents.
struct Folder {
    git: Layers,
    ignore: Layers,
    tools: Tools,
    /// Reason why everything below is left out.
    left_out: Option<SkipReason>,
}

/// Chooses files among the entries of a tree, which are sorted by path. Tracked files are never build output, and the
/// user's global excludes do not apply: they concern folders of this machine.
pub fn choose(tree: &dyn SourceTree, entries: &[TreeEntry], rules: &Rules) -> Result<Walk, Error> {
    let extra = extra(rules)?;
    let mut below: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, entry) in entries.iter().enumerate() {
        below.entry(folder_of(&entry.path)).or_default().push(place);
    }
    let mut found = Results::default();
    let mut folders: HashMap<&str, Folder> = HashMap::new();
    let mut manifests = BTreeMap::new();
    for (place, entry) in entries.iter().enumerate() {
        if !is_path(&entry.path) {
            found.skip_unreadable(entry.path.clone());
            continue;
        }
        // Every folder on the way is judged once; the deepest inherits the verdict.
        let ends = entry.path.match_indices('/').map(|(end, _)| &entry.path[..end]);
        for folder in std::iter::once("").chain(ends) {
            if folders.contains_key(folder) {
                continue;
            }
            let parent = (!folder.is_empty()).then(|| &folders[folder_of(folder)]);
            let judged = enter(tree, entries, below.get(folder), folder, parent, &extra, rules, &mut found);
            if let Some(reason) = judged.left_out
                && parent.is_none_or(|parent| parent.left_out.is_none())
            {
                found.skip(reason, folder);
            }
            folders.insert(folder, judged);
        }
        let folder = &folders[folder_of(&entry.path)];
        if folder.left_out.is_some() {
            continue;
        }
        let name = entry.path.rsplit('/').next().unwrap_or_default();
        // Patterns of git's are for files that it does not track.
        let ignored = folder.ignore.ignores(&entry.path, false);
        let size = entry.size.unwrap_or(0);
        let reason = match entry.mode {
            EntryMode::Symlink => Some(SkipReason::Symlink),
            EntryMode::Submodule => Some(SkipReason::Submodule),
            EntryMode::File | EntryMode::Executable if ignored == Some(true) => Some(SkipReason::Ignored),
            _ if extra.matched(&entry.path, false).is_ignore() => Some(SkipReason::ExtraIgnored),
            _ if noise::file(name) => Some(SkipReason::Noise),
            _ if rules.secrets.hides_file(&entry.path) => Some(SkipReason::Secret),
            _ if binary::file(&entry.path) => Some(SkipReason::Binary),
            _ if size > rules.max_file_size => {
                let named = size <= MAX_ENTRY && is_named(tree, entries, &below, &entry.path, &mut manifests);
                (!named).then_some(SkipReason::TooLarge)
            }
            _ => None,
        };
        match reason {
            Some(reason) => found.skip(reason, &entry.path),
            None => {
                let mtime_ns = stamp(&entries[place].id);
                found.files.push(SourceFile { path: entry.path.clone(), size, mtime_ns, ctime_ns: 0 })
            }
        }
    }
    Ok(finish(found, rules))
}

/// A stand-in for a file's time, derived from its content's id. It is negative, so that it is never mistaken for a
/// recent time.
pub fn stamp(id: &str) -> i64 {
    let hash = blake3::hash(id.as_bytes());
    let eight = hash.as_bytes().first_chunk().expect("a hash has more than eight bytes");
    -i64::try_from(u64::from_le_bytes(*eight) >> 2).unwrap_or(i64::MAX) - 2
}

fn finish(mut found: Results, rules: &Rules) -> Walk {
    let total = found.files.len();
    let mut files = std::mem::take(&mut found.files);
    files.sort_unstable();
    if let Some(max) = rules.max_files {
        let cut = limits::cut(&mut files, max);
        if cut > 0 {
            found.skipped[SkipReason::FileLimit as usize] += cut as u64;
            found.warnings.push(format!("{max} of {total} files were indexed: the limit max_files"));
        }
    }
    let unreadable = found.unreadable.len();
    if unreadable > 0 {
        found.warnings.push(format!("{unreadable} paths cannot be paths of files, as {:?}", found.unreadable[0]));
    }
    let counted = SkipReason::ALL.iter().map(|&reason| (reason, found.skipped[reason as usize]));
    let skipped = counted.filter(|&(_, count)| count > 0).collect();
    Walk { files, skipped, left_out: found.left_out, inputs: Vec::new(), warnings: found.warnings }
}

/// Judges a folder by its name and its entries.
#[allow(clippy::too_many_arguments, reason = "what `choose` has at hand")]
fn enter(
    tree: &dyn SourceTree,
    entries: &[TreeEntry],
    inside: Option<&Vec<usize>>,
    path: &str,
    parent: Option<&Folder>,
    extra: &ignore::gitignore::Gitignore,
    rules: &Rules,
    found: &mut Results,
) -> Folder {
    let (git, ignore) = parent.map(|parent| (parent.git.clone(), parent.ignore.clone())).unwrap_or_default();
    let mut folder = Folder { git, ignore, tools: Tools::default(), left_out: None };
    if let Some(parent) = parent {
        folder.left_out = parent.left_out.or_else(|| leaves_out(path, parent, extra, rules));
        if folder.left_out.is_some() {
            return folder;
        }
    }
    for entry in inside.into_iter().flatten().map(|place| &entries[*place]) {
        let name = entry.path.rsplit('/').next().unwrap_or_default();
        let is_file = matches!(entry.mode, EntryMode::File | EntryMode::Executable);
        match name {
            ".gitignore" | ".ignore" | OWN_IGNORE if is_file => {
                let mut patterns = Patterns::new(path);
                // An unreadable ignore file is reported when its own entry is read.
                let Ok(bytes) = tree.read(entry) else { continue };
                patterns.add_bytes(&entry.path, &bytes, &mut found.warnings);
                let built = patterns.build(&mut found.warnings);
                let layers = if name == ".gitignore" { &mut folder.git } else { &mut folder.ignore };
                *layers = layers.with(built);
            }
            _ if noise::marks_environment(name) => folder.left_out = Some(SkipReason::Noise),
            _ if is_file => folder.tools = folder.tools.and(Tools::of_sign(name)),
            _ => {}
        }
    }
    folder
}

fn leaves_out(path: &str, parent: &Folder, extra: &ignore::gitignore::Gitignore, rules: &Rules) -> Option<SkipReason> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let by_git = || parent.git.ignores(path, true).filter(|ignores| !ignores || filled(name, parent.tools).is_some());
    let ignored = parent.ignore.ignores(path, true).or_else(by_git);
    if ignored == Some(true) {
        Some(SkipReason::Ignored)
    } else if extra.matched(path, true).is_ignore() {
        Some(SkipReason::ExtraIgnored)
    } else if noise::folder(name) {
        Some(SkipReason::Noise)
    } else if filled(name, parent.tools) == Some(ToolOutput::Vendored) {
        Some(SkipReason::Vendored)
    } else {
        rules.secrets.hides_folder(path).then_some(SkipReason::Secret)
    }
}

/// Whether a `package.json` beside or above a file names it as an entry point.
fn is_named<'e>(
    tree: &dyn SourceTree,
    entries: &'e [TreeEntry],
    below: &HashMap<&str, Vec<usize>>,
    path: &'e str,
    manifests: &mut BTreeMap<&'e str, Vec<String>>,
) -> bool {
    let mut folder = path;
    while !folder.is_empty() {
        folder = folder_of(folder);
        let named = manifests.entry(folder).or_insert_with(|| {
            let inside = below.get(folder).into_iter().flatten().map(|place| &entries[*place]);
            let manifest = inside.into_iter().find(|entry| entry.path.rsplit('/').next() == Some("package.json"));
            let bytes =
                manifest.filter(|entry| entry.size.is_some_and(|size| size < 1 << 20)).map(|entry| tree.read(entry));
            bytes.and_then(Result::ok).map(|bytes| package::entries_in(&bytes)).unwrap_or_default()
        });
        let inside = if folder.is_empty() { path } else { &path[folder.len() + 1..] };
        if named.iter().any(|entry| package::means(entry, inside)) {
            return true;
        }
    }
    false
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Whether a path is relative and safe: a tree can hold any bytes as a name.
fn is_path(path: &str) -> bool {
    !path.is_empty()
        && !path.contains(['\0', '\\'])
        && path
            .split('/')
            .all(|part| !part.is_empty() && part != "." && part != ".." && !part.eq_ignore_ascii_case(".git"))
}

/// Reason for leaving out a chosen file whose content cannot be read.
pub fn reason(err: &SourceError) -> SkipReason {
    match err {
        SourceError::Missing { .. } => SkipReason::Missing,
        SourceError::Secret { .. } => SkipReason::Secret,
        SourceError::Damaged { .. } | SourceError::Failed(_) => SkipReason::Unreadable,
    }
}
