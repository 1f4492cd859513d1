//! Files and folders in a folder of a commit.

use gix::bstr::ByteSlice;

use super::{Error, History, is_plain, unreadable};

/// A file or a folder in a folder of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its own name.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Bytes of a file, if the repository has it.
    pub size: Option<u64>,
}

impl History {
    /// The first `most` entries of a folder of a commit, folders first, with the number of all; `None` if the commit has no
    /// such folder. Links, submodules and what may hold a credential are left out.
    pub fn folder(&self, commit: &str, path: &str, most: usize) -> Result<Option<(Vec<Entry>, usize)>, Error> {
        let Some(root) = self.tree(commit)? else { return Ok(None) };
        let tree = match path {
            "" => root,
            path if !is_plain(path) => return Ok(None),
            path => {
                let entry = root.lookup_entry_by_path(path).map_err(unreadable)?.filter(|entry| entry.mode().is_tree());
                let Some(entry) = entry else { return Ok(None) };
                self.repository.find_tree(entry.object_id()).map_err(unreadable)?
            }
        };
        let mut entries: Vec<(Entry, gix::ObjectId)> = Vec::new();
        for entry in tree.iter() {
            let entry = entry.map_err(unreadable)?;
            let (mode, is_folder) = (entry.mode(), entry.mode().is_tree());
            let Ok(name) = entry.filename().to_str() else { continue };
            let whole = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            let is_hidden = self.secrets.hides(&if is_folder { format!("{whole}/") } else { whole });
            if (mode.is_blob() || is_folder) && !is_hidden {
                entries.push((Entry { name: name.to_owned(), is_folder, size: None }, entry.object_id()));
            }
        }
        let all = entries.len();
        entries.sort_by(|(a, _), (b, _)| b.is_folder.cmp(&a.is_folder).then_with(|| a.name.cmp(&b.name)));
        entries.truncate(most);
        let sized = |(entry, id): (Entry, gix::ObjectId)| {
            let header = if entry.is_folder { None } else { self.repository.find_header(id).ok() };
            Entry { size: header.map(|header| header.size()), ..entry }
        };
        Ok(Some((entries.into_iter().map(sized).collect(), all)))
    }
}
