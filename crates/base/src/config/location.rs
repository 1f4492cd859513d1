//! Location of indexes when the index directory cannot be written: the user's state folder, else a folder among
//! temporary files.

use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::FOLDER;

/// Name of the folders used instead of the index directory.
const INSTEAD: &str = "code-index";

/// The folder that indexes are kept in.
#[derive(Debug)]
pub(super) struct IndexLocation {
    pub(super) home: PathBuf,
    /// The wanted folder, if its indexes can be read but not written.
    pub(super) beneath: Option<PathBuf>,
    /// Message that the wanted folder cannot be written.
    pub(super) why: Option<String>,
}

/// The first of these folders that can be written.
pub(super) fn choose(
    home: PathBuf,
    env: &dyn Fn(&str) -> Option<String>,
    user: Option<&Path>,
    temporary: &Path,
) -> IndexLocation {
    let (stores, repos) = (home.join("stores"), home.join("repos"));
    if can_be_written(&stores) && can_be_written(&repos) {
        return IndexLocation { home, beneath: None, why: None };
    }
    let state = env("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(user?.join(".local/state"))).map(|folder| folder.join(INSTEAD));
    let other = state.filter(|folder| can_be_written(folder)).or_else(|| own_folder(temporary));
    let Some(other) = other.map(|folder| folder.join(FOLDER)) else {
        return IndexLocation { home, beneath: None, why: None };
    };
    let beneath = Some(home).filter(|_| stores.is_dir());
    let (what, wanted) = match &beneath {
        Some(wanted) => ("new indexes", wanted.as_path()),
        None => ("indexes", repos.parent().unwrap_or(&repos)),
    };
    let why = format!("{} cannot be written; {what} are kept in {}", wanted.display(), other.display());
    IndexLocation { home: other, beneath, why: Some(why) }
}

/// Makes a folder of this user among temporary files, where another user may have put something of the same name.
fn own_folder(temporary: &Path) -> Option<PathBuf> {
    // A new file belongs to this user.
    let user = tempfile::tempfile_in(temporary).and_then(|file| file.metadata()).ok()?.uid();
    let folder = temporary.join(format!("{INSTEAD}-{user}"));
    let _ = DirBuilder::new().mode(0o700).create(&folder);
    let found = folder.symlink_metadata().ok()?;
    let is_ours = found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0;
    (is_ours && can_be_written(&folder)).then_some(folder)
}

/// Whether files can be made in a folder, or in the nearest folder above it that exists.
fn can_be_written(folder: &Path) -> bool {
    for folder in folder.ancestors() {
        match fs::metadata(folder) {
            Ok(found) => return found.is_dir() && access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok(),
            Err(err) if err.kind() == ErrorKind::NotFound => {}
            Err(_) => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::path::Path;

    #[test]
    fn another_folder_is_used_where_the_index_directory_cannot_be_written() {
        let folder = tempfile::tempdir().expect("there is room");
        let (user, temporary) = (folder.path().join("user"), folder.path().join("temporary"));
        fs::create_dir_all(&user).and_then(|()| fs::create_dir_all(&temporary)).expect("they are new");
        fs::write(user.join("file"), "in the way").expect("it is ours");
        let choose = |home: &str, state: Option<&Path>| {
            let state = state.map(|state| state.to_string_lossy().into_owned());
            let env = |name: &str| state.clone().filter(|_| name == "XDG_STATE_HOME");
            let place = super::choose(user.join(home), &env, Some(&user), &temporary);
            let (home, is_wanted) = (place.home, place.why.is_none());
            assert_eq!(is_wanted, home.starts_with(user.join("index")), "{:?}", place.why);
            home.strip_prefix(folder.path()).expect("nothing else is tried").to_owned()
        };
        assert_eq!(choose("index/codelode", None), Path::new("user/index/codelode"));
        // Nothing can be made below a file, not even by root.
        assert_eq!(choose("file/codelode", None), Path::new("user/.local/state/code-index/codelode"));
        let named = user.join("named");
        assert_eq!(choose("file/codelode", Some(&named)), Path::new("user/named/code-index/codelode"));
        let uid = user.metadata().expect("it is there").uid();
        let own = temporary.join(format!("code-index-{uid}"));
        let of_file = user.join("file");
        assert_eq!(folder.path().join(choose("file/codelode", Some(&of_file))), own.join("codelode"));
        assert_eq!(own.metadata().expect("it was made").mode() & 0o777, 0o700);
        // Indexes that can only be read lie beneath.
        fs::create_dir_all(user.join("full/codelode/stores")).expect("it is new");
        fs::write(user.join("full/codelode/repos"), "in the way").expect("it is new");
        assert_eq!(choose("full/codelode", None), Path::new("user/.local/state/code-index/codelode"));
        let place = super::choose(user.join("full/codelode"), &|_| None, Some(&user), &temporary);
        assert_eq!(place.beneath, Some(user.join("full/codelode")));
        // Others may look into this one.
        fs::set_permissions(&own, Permissions::from_mode(0o755)).expect("it is ours");
        assert_eq!(super::own_folder(&temporary), None);
    }
}
