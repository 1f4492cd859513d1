//! `shim`: an `rg` on the PATH of an agent that gives ripgrep's answers. Where an index knows which files cannot match, the others
//! alone are read; everything else is left to the real program, which takes the place of this process.

pub(super) mod line;

use std::env::current_exe;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::os::unix::fs::symlink;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use super::grep::stand_in;
use super::{FAILED, FOUND, NOTHING, complain, hook, output};
use crate::config::{self, Config, Flags, Settings};
use crate::tools::Context;

/// Put an `rg` into a folder that answers as ripgrep does, and from the index where that saves reading.
///
/// The folder has to come before ripgrep's own on the PATH of the agent. Flags, bytes and exit status are ripgrep's; the real program
/// is started for everything that the index cannot speed up.
#[derive(Args)]
pub(super) struct Shim {
    /// Make the link in this folder.
    #[arg(long, value_name = "FOLDER", required_unless_present = "uninstall")]
    install: Option<PathBuf>,
    /// Remove the link from this folder.
    #[arg(long, value_name = "FOLDER", conflicts_with = "install")]
    uninstall: Option<PathBuf>,
}

/// Name of the program that is stood in for.
const NAME: &str = "rg";
/// Variable that counts the shims in a chain of programs that start each other.
pub(super) const DEPTH: &str = "CODELODE_SHIM_DEPTH";
/// Shims in a chain before something is wrong: a wrapper that finds the shim again, each time.
const DEEPEST: usize = 16;
/// Exit status of a shell for a program that is not there.
const NOT_THERE: u8 = 127;

/// Makes or removes the link.
pub(super) fn set_up(how: &Shim) -> u8 {
    let done = match (&how.install, &how.uninstall) {
        (Some(folder), _) => install(folder),
        (_, Some(folder)) => uninstall(folder),
        _ => return FOUND,
    };
    match done {
        Ok(said) => {
            output::print_bytes(format!("{said}\n").as_bytes());
            FOUND
        }
        Err(problem) => complain(&problem),
    }
}

fn install(folder: &Path) -> Result<String, String> {
    let own = current_exe().map_err(|err| format!("this program has no path: {err}"))?;
    let link = folder.join(NAME);
    let real =
        real_programs().into_iter().next().ok_or("there is no rg on the PATH to stand in for; install ripgrep")?;
    if link.symlink_metadata().is_ok() && !is_own(&link) {
        return Err(format!("{} is there and is no link of codelode; choose another folder", link.display()));
    }
    if !is_own(&link) {
        std::fs::create_dir_all(folder)
            .and_then(|()| symlink(own, &link))
            .map_err(|err| format!("{} cannot be made: {err}", link.display()))?;
    }
    let (link, real) = (link.display(), real.display());
    Ok(format!("{link} stands in for {real}; put {} first on the agent's PATH", folder.display()))
}

fn uninstall(folder: &Path) -> Result<String, String> {
    let link = folder.join(NAME);
    if !is_own(&link) {
        return Err(format!("{} is no link of codelode; nothing was removed", link.display()));
    }
    std::fs::remove_file(&link).map_err(|err| format!("{} cannot be removed: {err}", link.display()))?;
    Ok(format!("removed {}", link.display()))
}

/// Whether a path leads to this program.
fn is_own(path: &Path) -> bool {
    let own = current_exe().and_then(|own| own.canonicalize());
    path.canonicalize().is_ok_and(|real| own.is_ok_and(|own| own == real))
}

/// The programs of that name on the PATH that are not this one, in its order.
fn real_programs() -> Vec<PathBuf> {
    let path = config::variable("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(NAME));
    let is_program = |path: &PathBuf| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    found.filter(is_program).filter(|path| !is_own(path)).collect()
}

/// Whether this process was started under the name of ripgrep.
pub(super) fn is_meant(args: &[OsString]) -> bool {
    args.first().is_some_and(|program| Path::new(program).file_name() == Some(OsStr::new(NAME)))
}

/// Answers as ripgrep does.
pub(super) fn run(args: &[OsString]) -> u8 {
    let args = args.get(1..).unwrap_or_default();
    let depth = config::variable(DEPTH).and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
    let programs = real_programs();
    // A program that was started by a shim and finds this one again is a wrapper: the next one is meant.
    let Some(real) = programs.get(depth).or(programs.last()).filter(|_| depth < DEEPEST) else {
        output::complain("rg: command not found\n");
        return NOT_THERE;
    };
    let config = config::load(&Flags { index_dir: None, settings: Settings::default() }).ok();
    let Some(config) = config.filter(|_| depth == 0) else { return replaced_by(real, args, depth) };
    if let Some(line) = line::plain(args)
        && let Some(found) = stand_in::answer(real, &line, &config)
    {
        hint(&line.patterns, &config);
        return if found { FOUND } else { NOTHING };
    }
    match hinted(args, &config) {
        Some(patterns) => started(real, args, depth, &patterns, &config),
        None => replaced_by(real, args, depth),
    }
}

/// Lets the real program take the place of this process. Returns only if it cannot be started.
fn replaced_by(real: &Path, args: &[OsString], depth: usize) -> u8 {
    let err = Command::new(real).args(args).env(DEPTH, (depth + 1).to_string()).exec();
    output::complain(&format!("rg: {}: {err}\n", real.display()));
    NOT_THERE
}

/// The patterns of a command line whose end a line about the index may follow.
fn hinted(args: &[OsString], config: &Config) -> Option<Vec<String>> {
    let is_watched = config.shim_hints && io::stderr().is_terminal();
    line::patterns(args).filter(|_| is_watched)
}

/// Runs the real program, and adds a line about the name that was searched for. A signal of the terminal ends both.
fn started(real: &Path, args: &[OsString], depth: usize, patterns: &[String], config: &Config) -> u8 {
    let Ok(status) = Command::new(real).args(args).env(DEPTH, (depth + 1).to_string()).status() else {
        return replaced_by(real, args, depth);
    };
    if status.success() {
        hint(patterns, config);
    }
    // A shell says it so of a program that was ended by a signal.
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED)
}

/// Prints a line about a name for a person, if that was asked for.
fn hint(patterns: &[String], config: &Config) {
    let [pattern] = patterns else { return };
    if !config.shim_hints || !io::stderr().is_terminal() {
        return;
    }
    let Ok(here) = std::env::current_dir() else { return };
    let cx = Context::new(config.clone());
    if let Some(line) = hook::line(&cx, &here, pattern) {
        output::complain(&format!("# {line}\n"));
    }
    cx.end();
}
