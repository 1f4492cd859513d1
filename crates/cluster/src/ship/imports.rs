//! Repositories that import a module, as a place lists them, so that a server which holds few indexes knows where a package is
//! used.
//!
//! An empty object stands for each module that a repository imports. It is written before the listing is, and stays when the
//! repository no longer imports the module: a repository that is looked at in vain costs less than one that is missed.

use std::collections::BTreeSet;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::place::{Place, WriteCondition};
use super::{Error, is_repo_name};

/// Folder of all of them. Repositories are not called so.
const FOLDER: &str = ".imports";
/// Repositories with more imports than are listed, and how many are.
const ANY: &str = "any";
const MOST: usize = 5_000;
/// Longest name of a folder that is written out.
const LONGEST: usize = 150;

/// Folder of the repositories that import a module. An import is an ecosystem, a slash, and the module's name.
fn folder(import: &str) -> String {
    let (ecosystem, module) = import.split_once('/').unwrap_or((ANY, import));
    let plain = |byte: u8| match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        // Some disks do not tell large letters from small ones.
        other => format!("={other:02x}"),
    };
    let name: String = module.bytes().map(plain).collect();
    match name.len() <= LONGEST {
        true => format!("{FOLDER}/{ecosystem}/{name}"),
        false => format!("{FOLDER}/{ecosystem}/={}", blake3::hash(module.as_bytes()).to_hex()),
    }
}

/// Name of the object of a repository: `owner,name`.
fn object(repo: &str) -> String {
    repo.replacen('/', ",", 1)
}

/// The imports of a repository as they are kept: all of them, or that there are too many.
pub(super) fn kept(imports: BTreeSet<String>) -> BTreeSet<String> {
    if imports.len() > MOST { BTreeSet::from([ANY.to_owned()]) } else { imports }
}

/// Lists a repository under its imports; those that an earlier listing names are there.
pub(super) fn put(
    place: &dyn Place,
    repo: &str,
    imports: &BTreeSet<String>,
    earlier: &BTreeSet<String>,
) -> Result<(), Error> {
    let new: Vec<&String> = imports.difference(earlier).collect();
    new.par_iter().try_for_each(|import| {
        place.put(&format!("{}/{}", folder(import), object(repo)), b"", WriteCondition::Always).map(drop)
    })
}

/// Repositories that import one of some modules, or so much that it is not listed.
pub(super) fn importers(place: &dyn Place, imports: &BTreeSet<String>) -> Result<BTreeSet<String>, Error> {
    let any = ANY.to_owned();
    let mut found = BTreeSet::new();
    for import in imports.iter().chain([&any]) {
        let names = place.list(&folder(import))?.into_iter().map(|entry| entry.name.replacen(',', "/", 1));
        found.extend(names.filter(|name| is_repo_name(name)));
    }
    Ok(found)
}
