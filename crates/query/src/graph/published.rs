//! Files that a package's manifest names as its entry points.

use codelode_store::{FileView, Snapshot};

/// The files under some keys of a JSON manifest. A path may leave out one of `endings`.
pub fn package_files(
    file: FileView<'_>,
    folder: &str,
    snapshot: &Snapshot,
    keys: &[&str],
    endings: &[&str],
) -> Vec<u32> {
    let Ok(package) = serde_json::from_slice::<serde_json::Value>(file.content()) else { return Vec::new() };
    let mut waiting: Vec<(&str, &serde_json::Value)> =
        keys.iter().filter_map(|key| Some((*key, package.get(*key)?))).collect();
    let mut found = Vec::new();
    while let Some((key, value)) = waiting.pop() {
        match value {
            serde_json::Value::String(path) => {
                let path = path.trim_start_matches("./");
                let path = if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
                let made = |path: &str| {
                    let mut endings = std::iter::once(&"").chain(endings);
                    endings.find_map(|ending| Some(snapshot.file(&format!("{path}{ending}"))?.number()))
                };
                // `"./cart": "./dist/shop-cart.js"` is built from `src/cart.ts`.
                let named = key.strip_prefix("./").map(|name| within(folder, name));
                let sources = || sources_of(&path, folder).into_iter().chain(named.clone());
                found.extend(made(&path).or_else(|| sources().find_map(|path| made(&path))));
            }
            serde_json::Value::Array(all) => waiting.extend(all.iter().map(|value| (key, value))),
            // Conditions such as `import` have no path of their own.
            serde_json::Value::Object(all) => waiting
                .extend(all.iter().map(|(own, value)| (if own.starts_with('.') { own.as_str() } else { key }, value))),
            _ => {}
        }
    }
    found
}

/// Possible source paths, without extension, of a built file that is not in the repository.
fn sources_of(path: &str, folder: &str) -> Vec<String> {
    let inside = path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/');
    let inside = inside.strip_suffix(".d.ts").or(inside.rsplit_once('.').map(|(stem, _)| stem)).unwrap_or(inside);
    let Some((_, rest)) = inside.split_once('/') else { return Vec::new() };
    // `dist/esm/index.js` is built from `src/index.ts`, and so is `dist/index.js`; `dist/lib/a.js` from `lib/a.ts`.
    let rests = [Some(rest), rest.split_once('/').map(|(_, rest)| rest)];
    let beside = if folder.is_empty() { rest.to_owned() } else { format!("{folder}/{rest}") };
    rests.into_iter().flatten().map(|rest| within(folder, rest)).chain([beside]).collect()
}

/// A path among the sources of a package.
fn within(folder: &str, rest: &str) -> String {
    [folder, "src", rest].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("/")
}

/// Path prefixes of files that others may import by name, because a pattern in the manifest's exports covers them:
/// `"./*": "./dist/*.js"` offers `src/cart.ts`.
pub fn open_folders(file: FileView<'_>, folder: &str) -> Vec<String> {
    let Ok(package) = serde_json::from_slice::<serde_json::Value>(file.content()) else { return Vec::new() };
    let patterns = package.get("exports").and_then(serde_json::Value::as_object).into_iter().flatten();
    let starts = patterns.filter(|(_, target)| !target.is_null()).filter_map(|(name, _)| {
        let (start, _) = name.strip_prefix("./")?.split_once('*')?;
        Some(start)
    });
    let beside = |start: &str| if folder.is_empty() { start.to_owned() } else { format!("{folder}/{start}") };
    starts.flat_map(|start| [beside(start), within(folder, start)]).collect()
}

/// `module.path:name` entries of a Python package's description.
pub fn scripts(file: FileView<'_>) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(file.content());
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut found = Vec::new();
    for (colon, _) in text.match_indices(':') {
        let before = &text[..colon];
        let module = &before[before.trim_end_matches(is_part).len()..];
        let after = &text[colon + 1..];
        let name = &after[..after.find(|c| !is_part(c)).unwrap_or(after.len())];
        if !module.is_empty() && !name.is_empty() {
            found.push((module.to_owned(), name.split('.').next().unwrap_or(name).to_owned()));
        }
    }
    found
}
