//! Places for shipments: a folder, as of a shared disk, a bucket, and a web server to read from.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use url::Url;

use super::Error;
use super::bucket::{Bucket, SCHEMES};
use codelode_net as net;

/// Condition of a write.
#[derive(Clone, Copy, Debug)]
pub(super) enum WriteCondition<'a> {
    /// None.
    Always,
    /// Nothing is there.
    Absent,
    /// It is still what had this tag.
    Is(&'a str),
}

/// An entry of a place.
pub(super) struct PlaceEntry {
    /// Name in its folder.
    pub name: String,
    /// Time since it was written.
    pub age: Duration,
}

/// A place that holds bytes by path. Each write is whole or not at all.
pub(super) trait Place: Send + Sync {
    /// Its name, for people.
    fn shown(&self) -> String;
    /// The content of at most so many bytes, with a tag that another content has not; `None` when there is none.
    fn get(&self, path: &str, most: u64) -> Result<Option<(Vec<u8>, String)>, Error>;
    /// Writes a content. `false` when the condition does not hold.
    fn put(&self, path: &str, bytes: &[u8], when: WriteCondition<'_>) -> Result<bool, Error>;
    /// Entries of a folder.
    fn list(&self, folder: &str) -> Result<Vec<PlaceEntry>, Error>;
    /// Names of the folders in a folder; `None` where they cannot be listed. Those that begin with a dot are left out.
    fn folders(&self, folder: &str) -> Result<Option<Vec<String>>, Error>;
    /// The tag of a content, as [`Place::get`] gives it.
    fn tag(&self, path: &str, most: u64) -> Result<Option<String>, Error> {
        Ok(self.get(path, most)?.map(|(_, tag)| tag))
    }
    /// Removes a content, if it is there.
    fn remove(&self, path: &str) -> Result<(), Error>;
}

/// Opens a place by its URL, or by the path of a folder.
pub(super) fn open(url: &str, client: &net::Client) -> Result<Box<dyn Place>, Error> {
    let unknown = || Error::Url(url.to_owned());
    if !url.contains("://") {
        return Ok(Box::new(Folder { root: PathBuf::from(url) }));
    }
    let parsed = Url::parse(url).map_err(|_| unknown())?;
    match parsed.scheme() {
        "file" => Ok(Box::new(Folder { root: parsed.to_file_path().map_err(|()| unknown())? })),
        scheme if SCHEMES.contains(&scheme) => Ok(Box::new(Bucket::open(parsed, client)?)),
        "http" | "https" => Ok(Box::new(Web { base: parsed, client: client.clone() })),
        _ => Err(unknown()),
    }
}

/// A folder on a disk.
struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Mode of new files: as far as the folder may be read.
    fn mode(&self) -> u32 {
        fs::metadata(&self.root).map_or(0o600, |folder| folder.permissions().mode() & 0o666 | 0o600)
    }
}

impl Place for Folder {
    fn shown(&self) -> String {
        self.root.display().to_string()
    }

    fn get(&self, path: &str, most: u64) -> Result<Option<(Vec<u8>, String)>, Error> {
        let path = self.root.join(path);
        let file = match File::open(&path) {
            Err(err) if err.kind() == ErrorKind::NotFound => return Ok(None),
            other => other.map_err(Error::io("cannot open", &path))?,
        };
        let mut bytes = Vec::new();
        file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(Error::io("cannot read", &path))?;
        if bytes.len() as u64 > most {
            return Err(Error::damaged(&path.display().to_string(), "it is larger than announced"));
        }
        let tag = blake3::hash(&bytes).to_hex().to_string();
        Ok(Some((bytes, tag)))
    }

    fn put(&self, path: &str, bytes: &[u8], when: WriteCondition<'_>) -> Result<bool, Error> {
        let target = self.root.join(path);
        let folder = target.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder).map_err(Error::io("cannot make the folder", folder))?;
        let failed = |err| Error::io("cannot write", &target)(err);
        let mut staged = tempfile::Builder::new().prefix(".").tempfile_in(folder).map_err(failed)?;
        staged.write_all(bytes).and_then(|()| staged.as_file().sync_all()).map_err(failed)?;
        staged.as_file().set_permissions(fs::Permissions::from_mode(self.mode())).map_err(failed)?;
        let lock = self.root.join(".lock");
        let held = File::options().create(true).truncate(false).write(true).open(&lock);
        let held = held.map_err(Error::io("cannot open", &lock))?;
        held.lock().map_err(Error::io("cannot lock", &lock))?;
        let holds = match when {
            WriteCondition::Always => true,
            WriteCondition::Absent => !target.exists(),
            WriteCondition::Is(tag) => self.get(path, u64::MAX - 1)?.is_some_and(|(_, now)| now == tag),
        };
        if holds {
            staged.persist(&target).map_err(|err| failed(err.error))?;
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        }
        Ok(holds)
    }

    fn list(&self, folder: &str) -> Result<Vec<PlaceEntry>, Error> {
        let folder = self.root.join(folder);
        let entries = match fs::read_dir(&folder) {
            Err(err) if err.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(Error::io("cannot list", &folder))?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(Error::io("cannot list", &folder))?;
            // Files that are being written begin with a dot.
            let Some(name) = entry.file_name().to_str().filter(|name| !name.starts_with('.')).map(str::to_owned) else {
                continue;
            };
            let written = entry.metadata().and_then(|meta| meta.modified());
            let age = written.ok().and_then(|written| SystemTime::now().duration_since(written).ok());
            found.push(PlaceEntry { name, age: age.unwrap_or_default() });
        }
        Ok(found)
    }

    fn tag(&self, path: &str, most: u64) -> Result<Option<String>, Error> {
        // A disk that is not mounted has not lost what it holds.
        fs::metadata(&self.root).map_err(Error::io("cannot open", &self.root))?;
        Ok(self.get(path, most)?.map(|(_, tag)| tag))
    }

    fn folders(&self, folder: &str) -> Result<Option<Vec<String>>, Error> {
        let folder = self.root.join(folder);
        let entries = fs::read_dir(&folder).map_err(Error::io("cannot list", &folder))?;
        let folders = entries.flatten().filter(|entry| entry.path().is_dir());
        let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
        Ok(Some(names.filter(|name| !name.starts_with('.')).collect()))
    }

    fn remove(&self, path: &str) -> Result<(), Error> {
        let path = self.root.join(path);
        match fs::remove_file(&path) {
            Err(err) if err.kind() != ErrorKind::NotFound => Err(Error::io("cannot remove", &path)(err)),
            _ => Ok(()),
        }
    }
}

/// A web server, which is only read.
struct Web {
    base: Url,
    client: net::Client,
}

impl Web {
    fn read_only(&self) -> Error {
        Error::ReadOnly(self.base.to_string())
    }
}

impl Place for Web {
    fn shown(&self) -> String {
        self.base.to_string()
    }

    fn get(&self, path: &str, most: u64) -> Result<Option<(Vec<u8>, String)>, Error> {
        let parts: Vec<&str> = Path::new(path).iter().filter_map(|part| part.to_str()).collect();
        let request = net::Request { limit: most, ..net::Request::get(net::api::below(&self.base, &parts)) };
        let answer = self.client.fetch(&request)?;
        match answer.head.status {
            200 => {
                let tag = blake3::hash(&answer.bytes).to_hex().to_string();
                Ok(Some((answer.bytes, tag)))
            }
            404 | 410 => Ok(None),
            status => Err(Error::Refused { place: self.shown(), status }),
        }
    }

    fn put(&self, _: &str, _: &[u8], _: WriteCondition<'_>) -> Result<bool, Error> {
        Err(self.read_only())
    }

    fn list(&self, _: &str) -> Result<Vec<PlaceEntry>, Error> {
        Err(self.read_only())
    }

    fn folders(&self, _: &str) -> Result<Option<Vec<String>>, Error> {
        Ok(None)
    }

    fn remove(&self, _: &str) -> Result<(), Error> {
        Err(self.read_only())
    }
}
