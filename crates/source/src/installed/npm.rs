//! Packages of JavaScript: folders named `node_modules` above the importing file.

use std::path::Path;

use serde_json::Value;

use super::{Installed, manifest};
use codelode_base::model::Ecosystem;

/// The package of a name, and the one with its types.
pub(super) fn find(folder: &Path, name: &str) -> Vec<Installed> {
    let types = match name.strip_prefix('@').and_then(|scoped| scoped.split_once('/')) {
        Some((scope, name)) => format!("@types/{scope}__{name}"),
        None => format!("@types/{name}"),
    };
    [name, &types].into_iter().filter_map(|name| nearest(folder, name)).collect()
}

fn nearest(folder: &Path, name: &str) -> Option<Installed> {
    let place = folder.ancestors().map(|above| above.join("node_modules").join(name)).find(|place| place.is_dir())?;
    let (place, folder) = (place.canonicalize().ok()?, folder.canonicalize().ok()?);
    // A link leads to a package of the same workspace, whose sources are the project's own; or anywhere, as the project
    // likes, so that it is followed only into the folders where packages of this file are looked for.
    if !folder.ancestors().any(|above| place.starts_with(above.join("node_modules"))) {
        return None;
    }
    let text: Value = serde_json::from_str(&manifest(&place.join("package.json"))?).ok()?;
    let version = text.get("version").and_then(Value::as_str)?;
    Installed::new(Ecosystem::Npm, name, version, &place, Vec::new())
}
