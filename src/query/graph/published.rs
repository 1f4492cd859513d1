//! Files that the manifest of a package names for those who install it.

use crate::store::{FileView, Snapshot};

/// The files under some keys of a JSON description; `endings` may be left out there.
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
            // Conditions such as `import` belong to the path above them.
            serde_json::Value::Object(all) => waiting
                .extend(all.iter().map(|(own, value)| (if own.starts_with('.') { own.as_str() } else { key }, value))),
            _ => {}
        }
    }
    found
}

/// Files that the configuration of a bundler names in quotes: `entry: "./src/widget"`. Pages and other programs use what
/// they give.
pub fn bundled_files(file: FileView<'_>, folder: &str, snapshot: &Snapshot, endings: &[&str]) -> Vec<u32> {
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`');
    let quoted = file.content().split(|byte| *byte == b'\n').flat_map(|line| line.split(is_quote).skip(1).step_by(2));
    let paths = quoted.filter(|text| text.contains(&b'/')).filter_map(|text| std::str::from_utf8(text).ok());
    let made = |path: &str| {
        let (mut folder, mut path) = (folder, path.trim_start_matches("./").trim_start_matches('/'));
        while let Some(above) = path.strip_prefix("../") {
            (folder, path) = (folder.rsplit_once('/').map_or("", |(folder, _)| folder), above);
        }
        let beside = if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") };
        let mut all = [beside.as_str(), path]
            .into_iter()
            .flat_map(|path| std::iter::once(&"").chain(endings).map(move |ending| format!("{path}{ending}")));
        all.find_map(|path| Some(snapshot.file(&path)?.number()))
    };
    paths.filter_map(made).collect()
}

/// Possible sources, without extension, of a package's file that is not in the repository.
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

/// The starts of paths of files that others may import by name, since the manifest's exports have a pattern for them:
/// `"./*": "./dist/*.js"` offers `src/cart.ts`, and so does `"./esm/*": "./esm/*.js"` without a folder `esm`. A private
/// package that offers its sources has no others, and one that offers built files may be published from elsewhere.
pub(super) fn open_folders(file: FileView<'_>, folder: &str, snapshot: &Snapshot) -> Vec<String> {
    let Ok(package) = serde_json::from_slice::<serde_json::Value>(file.content()) else { return Vec::new() };
    let is_private = package.get("private").and_then(serde_json::Value::as_bool) == Some(true);
    let patterns = package.get("exports").and_then(serde_json::Value::as_object).into_iter().flatten();
    let offers = |target: &serde_json::Value| !(target.is_null() || is_private && names_source(target));
    let own = |start: &str| if folder.is_empty() { start.to_owned() } else { format!("{folder}/{start}") };
    let mut found = Vec::new();
    for (name, target) in patterns.filter(|(_, target)| offers(target)) {
        let Some((start, _)) = name.strip_prefix("./").and_then(|name| name.split_once('*')) else { continue };
        found.extend([own(start), within(folder, start)]);
        for built in built_folders(target).filter(|_| !start.contains("internal")) {
            let is_there = |built: &str| snapshot.files().any(|file| file.path().starts_with(&own(built)));
            if let Some((_, rest)) = built.split_once('/').filter(|_| !is_there(&built)) {
                found.push(within(folder, rest));
            }
        }
    }
    found
}

/// Folders of the modules that a target of exports names by a pattern: `esm/` of `./esm/*.js`.
fn built_folders(target: &serde_json::Value) -> Box<dyn Iterator<Item = String> + '_> {
    match target {
        serde_json::Value::String(path) => {
            let is_module = [".js", ".mjs", ".cjs"].iter().any(|ending| path.ends_with(ending));
            let folder = path.strip_prefix("./").and_then(|path| path.split_once('*')).filter(|_| is_module);
            Box::new(folder.map(|(folder, _)| folder.to_owned()).into_iter())
        }
        serde_json::Value::Array(all) => Box::new(all.iter().flat_map(built_folders)),
        serde_json::Value::Object(all) => Box::new(all.values().flat_map(built_folders)),
        _ => Box::new(std::iter::empty()),
    }
}

/// Whether a target of exports is a source that is compiled by whoever imports it.
fn names_source(target: &serde_json::Value) -> bool {
    match target {
        serde_json::Value::String(path) => {
            let (stem, ending) = path.rsplit_once('.').unwrap_or((path, ""));
            matches!(ending, "ts" | "tsx" | "jsx") && !stem.ends_with(".d")
        }
        serde_json::Value::Array(all) => all.iter().any(names_source),
        serde_json::Value::Object(all) => all.values().any(names_source),
        _ => false,
    }
}
