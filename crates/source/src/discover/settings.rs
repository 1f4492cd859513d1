//! Reading of a settings file in an untrusted folder.

use std::io::{self, Read};
use std::path::Path;

use super::disk::{FileStamp, Links, read_small};
use codelode_base::model::Input;

/// Largest settings file that is read, in bytes. A hostile one could hold millions of patterns.
pub const LARGEST: u64 = 64 * 1024;

/// Size and times of a file in a folder, or of one elsewhere by its absolute path, to be recorded as an input; `None` if
/// there is none. Links are not followed.
pub fn stamped(root: &Path, name: &str) -> Option<Input> {
    let metadata = root.join(name).symlink_metadata().ok().filter(|metadata| metadata.is_file())?;
    Some(FileStamp::of(&metadata).input(name))
}

/// A whole file of at most so many bytes.
pub fn read_bounded(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {most} bytes"));
    let file = std::fs::File::open(path)?;
    let size = file.metadata()?.len();
    if size > most {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

/// Content of a settings file at the root of a folder, and the input to record; `None` if there is none. Links are not
/// followed.
pub fn settings_file(root: &Path, name: &str) -> Option<(io::Result<Vec<u8>>, Option<Input>)> {
    let path = root.join(name);
    match read_small(&path, Links::Refuse, LARGEST) {
        Ok((bytes, stamp)) => Some((Ok(bytes), Some(stamp.input(name)))),
        Err(err) if err.kind() == io::ErrorKind::NotFound => None,
        Err(err) => {
            let metadata = path.symlink_metadata().ok().filter(|metadata| metadata.is_file());
            Some((Err(err), metadata.map(|metadata| FileStamp::of(&metadata).input(name))))
        }
    }
}
