//! Paths given by callers, relative to their directory or to the root.

use std::path::{Path, PathBuf};

use super::{Caller, Repo};
use codelode_base::model::on_disk;

impl Repo {
    /// Converts a path to index form: relative to the root, with `/` between the parts. Paths beginning with `./` or
    /// `../` start at the caller's directory. Others start at the root, or at the caller's directory when the root
    /// has no such path.
    pub fn relative(&self, path: &str) -> String {
        // The path is normalized as text first, so that no part of it touches the disk outside the root.
        let path = path.trim();
        // The spelling of a name that is not UTF-8.
        if path.contains('\\') && self.snapshot.file(path).is_some() {
            return path.to_owned();
        }
        let path = path.replace('\\', "/");
        let path = if path.starts_with('/') { format!("/{}", normal(&path)) } else { path };
        let root = self.root.as_deref().map(|root| root.to_string_lossy().into_owned());
        let below_root = |path: &str| {
            let rest = path.strip_prefix(root.as_deref()?)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| rest.to_owned())
        };
        // The root is canonical, but the path may contain links.
        let inside = below_root(&path).or_else(|| below_root(self.real(&path)?.to_str()?));
        let below = |path: &str| normal(&format!("{}/{path}", self.here));
        let is_from_here = path == "." || path == ".." || path.starts_with("./") || path.starts_with("../");
        if is_from_here && inside.is_none() {
            return below(&path);
        }
        // An absolute path elsewhere stays absolute, unless it only exists below the root.
        let exists = || self.looks_in.is_none() && Path::new(&path).exists();
        if inside.is_none() && path.starts_with('/') && (exists() || !self.has(&normal(&path))) {
            return path;
        }
        let from_root = normal(inside.as_deref().unwrap_or(&path));
        if self.here.is_empty() || inside.is_some() || self.has(&from_root) {
            return from_root;
        }
        Some(below(&path)).filter(|path| self.has(path)).unwrap_or(from_root)
    }

    /// Converts a symbol's id to index form.
    pub fn own_id(&self, id: &str) -> String {
        match id.rsplit_once("::") {
            Some((path, name)) if path.contains('/') || !self.here.is_empty() => {
                format!("{}::{name}", self.relative(path))
            }
            _ => match id.rsplit_once(':') {
                Some((path, line)) if !line.is_empty() && line.bytes().all(|digit| digit.is_ascii_digit()) => {
                    format!("{}:{line}", self.relative(path))
                }
                _ => id.to_owned(),
            },
        }
    }

    /// The canonical path, if the disk may be accessed there.
    fn real(&self, path: &str) -> Option<PathBuf> {
        let path = Path::new(path);
        let is_allowed =
            self.looks_in.as_ref().is_none_or(|folders| folders.iter().any(|folder| path.starts_with(folder)));
        if path.is_absolute() && is_allowed { path.canonicalize().ok() } else { None }
    }

    /// Whether a file or folder with this path exists. For callers with restricted rights only indexed paths exist,
    /// because a link may lead anywhere.
    fn has(&self, path: &str) -> bool {
        if self.snapshot.file(path).is_some() || self.snapshot.table().below(path).next().is_some() {
            return true;
        }
        let root = self.root.as_deref().filter(|_| self.looks_in.is_none());
        root.is_some_and(|root| on_disk(root, path).exists())
    }
}

/// Normalizes a path: removes `.` and empty parts, and keeps `..` only at the start.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match part {
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// The caller's folder relative to a root; empty outside the root.
pub(super) fn here(caller: &Caller<'_>, root: &Path) -> String {
    let place = caller.places().next().and_then(|place| place.canonicalize().ok());
    let below = place.as_deref().and_then(|place| place.strip_prefix(root).ok()?.to_str());
    below.unwrap_or_default().to_owned()
}
