//! Index directories that cannot be written.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// The user `nobody`, whom permissions bind also where tests run as root.
const NOBODY: u32 = 65_534;

/// Gives all files below a folder to this user, with these modes.
fn give(path: &Path, user: Option<u32>, folders: u32, files: u32) {
    let is_folder = path.is_dir();
    if is_folder {
        fs::read_dir(path).expect("it is ours").flatten().for_each(|entry| give(&entry.path(), user, folders, files));
    }
    chown(path, user, None).expect("it is ours");
    fs::set_permissions(path, Permissions::from_mode(if is_folder { folders } else { files })).expect("it is ours");
}

#[test]
fn indexes_that_can_only_be_read_answer_and_new_ones_are_made_elsewhere() {
    let folder = tempfile::tempdir().expect("there is room");
    let place = folder.path();
    let user = (place.metadata().expect("it is there").uid() == 0).then_some(NOBODY);
    let program = place.join("codelode");
    fs::copy(super::program(), &program).expect("it is built");
    for name in ["old", "new"] {
        fs::create_dir(place.join(name)).expect("the folder is new");
        fs::write(place.join(name).join("a.py"), format!("def {name}(): pass\n")).expect("the folder is ours");
    }
    give(place, user, 0o755, 0o755);
    let run = |folder: &str, arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(place.join(folder)).env_clear().env("HOME", place);
        user.into_iter().for_each(|user| _ = command.uid(user));
        let output = command.output().expect("it is built");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    run("old", &["index", "."]);
    give(&place.join(".code-index"), user.map(|_| 0), 0o555, 0o444);
    let told = run("new", &["index", "."]);
    assert!(told.contains(".code-index/codelode cannot be written; new indexes are kept in"), "{told}");
    for name in ["old", "new"] {
        let found = run(name, &["search", name]);
        assert!(found.contains(&format!("def {name}()")) && !found.contains("cannot be written"), "{found}");
    }
    let listed = run("old", &["list"]);
    assert!(listed.contains("local/old-") && listed.contains("local/new-"), "{listed}");
    // One that was made elsewhere takes its place.
    fs::write(place.join("old/b.py"), "def newer(): pass\n").expect("the folder is ours");
    run("old", &["index", "."]);
    let found = run("old", &["search", "newer"]);
    assert!(found.contains("def newer()"), "{found}");
    // So that the folder can be removed.
    give(&place.join(".code-index"), user.map(|_| 0), 0o755, 0o644);
}
