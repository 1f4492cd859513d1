//! Texts that permanent addresses name by their hash: kept beside the stores, so that they are there when the file has changed.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::time::SystemTime;

use super::packs::map::UNFINISHED;
use super::{Error, FileView, Store};

/// Texts of a store, and their bytes; the oldest make room.
const MOST: usize = 1_000;
const MOST_BYTES: u64 = 64 << 20;
/// Folder beside those of the stores.
const FOLDER: &str = "kept";

impl Store {
    /// Keeps the text of a file, to be found by its path and hash.
    pub fn keep(&self, file: FileView<'_>) -> Result<(), Error> {
        let Some(folder) = self.kept_folder() else { return Ok(()) };
        let path = folder.join(format!("{}{}", hex(&file.hash()[..]), of_path(file.path())));
        if path.exists() {
            return Ok(());
        }
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(Error::io("cannot make the folder", &folder))?;
        self.make_room(file.content().len() as u64);
        let unfinished = path.with_extension(format!("{}.{UNFINISHED}", std::process::id()));
        let written = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished);
        let written = written.and_then(|mut text| text.write_all(file.content()));
        written.map_err(Error::io("cannot write", &unfinished))?;
        fs::rename(&unfinished, &path).map_err(Error::io("cannot write", &path))
    }

    /// A kept text, by the path of its file and the beginning of its hash, with the whole hash.
    pub fn kept(&self, path: &str, hash: &str) -> Option<(String, Vec<u8>)> {
        let ending = of_path(path);
        let entries = fs::read_dir(self.kept_folder()?).ok()?.flatten();
        let mut names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let whole =
            names.find_map(|name| name.strip_suffix(&ending).filter(|own| own.starts_with(hash)).map(str::to_owned))?;
        let content = fs::read(self.kept_folder()?.join(format!("{whole}{ending}"))).ok()?;
        // A text that was damaged is none.
        (hex(blake3::hash(&content).as_bytes()) == whole).then_some((whole, content))
    }

    /// Forgets all kept texts.
    pub(crate) fn forget_kept(&self) {
        if let Some(folder) = self.kept_folder() {
            let _ = fs::remove_dir_all(folder);
        }
    }

    /// Removes the oldest texts until there is room for one more.
    fn make_room(&self, bytes: u64) {
        let entries = self.kept_folder().and_then(|folder| fs::read_dir(folder).ok());
        let known = entries.into_iter().flatten().flatten().filter_map(|entry| {
            let meta = entry.metadata().ok()?;
            Some((meta.modified().unwrap_or(SystemTime::UNIX_EPOCH), meta.len(), entry.path()))
        });
        let mut all: Vec<(SystemTime, u64, PathBuf)> = known.collect();
        all.sort();
        let (mut left, mut held) = (all.len(), bytes + all.iter().map(|(_, size, _)| size).sum::<u64>());
        for (_, size, path) in all {
            if left < MOST && held <= MOST_BYTES {
                return;
            }
            (left, held) = (left - 1, held - size);
            let _ = fs::remove_file(path);
        }
    }

    fn kept_folder(&self) -> Option<PathBuf> {
        let home = self.dir().parent()?.parent()?;
        Some(home.join(FOLDER).join(self.dir().file_name()?))
    }
}

/// The end of the name of a text, by the path of its file.
fn of_path(path: &str) -> String {
    format!("-{}", hex(&blake3::hash(path.as_bytes()).as_bytes()[..8]))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
