//! Renames symbols in files, or only shows the patch.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value};

use super::{FOUND, Global, PATIENCE, here, output, server, with_context};
use codelode_base::model::{encoded_like, on_disk, utf_8_of};
use codelode_service::answer::{Error, Request};
use codelode_service::catalog::related;
use codelode_service::tools::{Context, ToolSpec, plan_rename};

/// The flag that only shows the patch.
const DRY: &str = "dry-run";

/// Adds the flag to the command.
pub(super) fn flags(command: Command, spec: &ToolSpec) -> Command {
    if spec.name != "plan_rename" {
        return command;
    }
    let about = "Plan the rename of a symbol and write it to the files; --dry-run prints the patch and writes nothing";
    command
        .about(about)
        .long_about(about)
        .arg(Arg::new(DRY).long(DRY).action(ArgAction::SetTrue).help("Print the patch, and write nothing"))
}

/// Whether to write files: the arguments ask for no other form of the plan.
pub(super) fn is_wanted(global: &Global, spec: &ToolSpec, arguments: &Map<String, Value>) -> bool {
    let is_plan = || global.json || global.compact || arguments.contains_key("output");
    spec.name == "plan_rename" && !is_plan()
}

/// Renames a symbol in its files, or prints the patch, with all doubts.
pub(super) fn run(global: &Global, arguments: &Map<String, Value>, given: &ArgMatches) -> u8 {
    let is_dry = given.get_flag(DRY);
    with_context(global, |cx| {
        // A server has its own files, not the user's.
        server::refuse(cx)?;
        let said = rename(cx, global, arguments, is_dry)?;
        output::print_bytes(said.as_bytes());
        Ok(FOUND)
    })
}

fn rename(cx: &Context, global: &Global, arguments: &Map<String, Value>, is_dry: bool) -> Result<String, Error> {
    let directory = std::env::current_dir().ok();
    let request = Request { directory, patience: Some(PATIENCE), for_people: true, ..Request::default() };
    let caller = cx.caller(&request);
    let text = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
    let repo = global.repo.clone().map(|repo| here::local_path(repo, false));
    let repo = related::open_now(&caller, repo.as_deref())?;
    let none = || Error::unavailable("the folder of the repository is not on this machine");
    let root = repo.root.as_deref().ok_or_else(none)?;
    let (new, is_forced) = (text("new_name"), arguments.get("force") == Some(&Value::Bool(true)));
    let (symbol, plan) = plan_rename::planned(&repo, text("symbol_id"), new, is_forced || is_dry)?;
    if is_dry {
        // Doubts go to standard error, beside the patch that `git apply` reads.
        for doubt in &plan.doubts {
            output::complain(&format!("in doubt: {}:{}: {}\n", doubt.path, doubt.line, doubt.why));
        }
        return Ok(plan_rename::patch_of(&repo.snapshot, &plan, new));
    }
    let (mut files, mut n_places): (Vec<(PathBuf, Vec<u8>)>, usize) = (Vec::new(), 0);
    for (number, spans) in &plan.places {
        let Some(file) = repo.snapshot.file_by_number(*number) else { continue };
        let path = on_disk(root, file.path());
        // The plan only holds for the text that was read.
        let now = fs::read(&path).map_err(|err| failed(&path, &err))?;
        if utf_8_of(&now).as_ref().unwrap_or(&now) != file.content() {
            return Err(failed(&path, &io::Error::other("it has changed meanwhile")));
        }
        let mut edited = file.content().to_vec();
        spans.iter().rev().for_each(|span| drop(edited.splice(span.start as usize..span.end as usize, new.bytes())));
        n_places += spans.len();
        files.push((path, encoded_like(&now, &edited)));
    }
    for (path, edited) in &files {
        replace(path, edited).map_err(|err| failed(path, &err))?;
    }
    let n_of = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let (places, files) = (n_of(n_places, "place"), n_of(files.len(), "file"));
    Ok(format!("{} is now {new}, in {places} of {files}\n", symbol.name()))
}

fn failed(path: &Path, err: &io::Error) -> Error {
    Error::unavailable(format!("{} cannot be edited: {err}", path.display()))
}

/// Replaces a file atomically.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let mode = fs::symlink_metadata(path)?.permissions().mode() & 0o7777;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut new = tempfile::Builder::new().prefix(".codelode-").tempfile_in(folder)?;
    new.write_all(text)?;
    new.as_file().set_permissions(Permissions::from_mode(mode))?;
    new.persist(path).map(drop).map_err(|err| err.error)
}
