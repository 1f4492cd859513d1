//! Reading of a settings file in an untrusted folder.

use std::io;
use std::path::Path;

use super::disk::{Links, Stamp, read_small};
use crate::model::Input;

/// Largest settings file that is read, in bytes. A hostile one could hold millions of patterns.
pub const LARGEST: u64 = 64 * 1024;

/// Content of a settings file at the root of a folder, and the input to record; `None` if there is none. Links are not
/// followed.
pub fn settings_file(root: &Path, name: &str) -> Option<(io::Result<Vec<u8>>, Option<Input>)> {
    let path = root.join(name);
    match read_small(&path, Links::Refuse, LARGEST) {
        Ok((bytes, stamp)) => Some((Ok(bytes), Some(stamp.input(name)))),
        Err(err) if err.kind() == io::ErrorKind::NotFound => None,
        Err(err) => {
            let metadata = path.symlink_metadata().ok().filter(|metadata| metadata.is_file());
            Some((Err(err), metadata.map(|metadata| Stamp::of(&metadata).input(name))))
        }
    }
}
