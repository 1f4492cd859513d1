//! `shim`: an `rg` and a `grep` on the PATH of an agent that give the answers of ripgrep and GNU grep. Where an index knows which
//! files cannot match, the others alone are read; everything else is left to the real program, which takes the place of this process.

pub(super) mod line;
mod recursive;

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
use line::DEPTH;

/// Put an `rg` and a `grep` into a folder that answer as ripgrep and GNU grep do, and from the index where that saves reading.
///
/// The folder has to come before the programs' own on the PATH of the agent. Flags, bytes and exit status are theirs; the real program
/// is started for everything that the index cannot speed up.
#[derive(Args)]
pub(super) struct Shim {
    /// Make the links in this folder.
    #[arg(long, value_name = "FOLDER", required_unless_present = "uninstall")]
    install: Option<PathBuf>,
    /// Remove the links from this folder.
    #[arg(long, value_name = "FOLDER", conflicts_with = "install")]
    uninstall: Option<PathBuf>,
}

/// Names of the programs that are stood in for.
const RIPGREP: &str = "rg";
const GREP: &str = "grep";
const NAMES: [&str; 2] = [RIPGREP, GREP];
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
    let real = NAMES.iter().filter_map(|name| Some((folder.join(name), real_programs(name).into_iter().next()?)));
    let real: Vec<(PathBuf, PathBuf)> = real.filter(|(link, real)| link.ends_with(RIPGREP) || is_gnu(real)).collect();
    if real.is_empty() {
        return Err("there is no rg and no GNU grep on the PATH to stand in for; install ripgrep".to_owned());
    }
    if let Some((link, _)) = real.iter().find(|(link, _)| link.symlink_metadata().is_ok() && !is_own(link)) {
        return Err(format!("{} is there and is no link of codelode; choose another folder", link.display()));
    }
    let mut said = Vec::new();
    for (link, real) in &real {
        if !is_own(link) {
            std::fs::create_dir_all(folder)
                .and_then(|()| symlink(&own, link))
                .map_err(|err| format!("{} cannot be made: {err}", link.display()))?;
        }
        said.push(format!("{} stands in for {}", link.display(), real.display()));
    }
    Ok(format!("{}; put {} first on the agent's PATH", said.join(", "), folder.display()))
}

/// Whether a grep is GNU's: others print and order files in ways of their own.
fn is_gnu(grep: &Path) -> bool {
    let said = Command::new(grep).arg("--version").output();
    said.is_ok_and(|said| memchr::memmem::find(&said.stdout, b"GNU grep").is_some())
}

fn uninstall(folder: &Path) -> Result<String, String> {
    let links: Vec<PathBuf> = NAMES.iter().map(|name| folder.join(name)).filter(|link| is_own(link)).collect();
    if links.is_empty() {
        return Err(format!("{} holds no link of codelode; nothing was removed", folder.display()));
    }
    for link in &links {
        std::fs::remove_file(link).map_err(|err| format!("{} cannot be removed: {err}", link.display()))?;
    }
    let links: Vec<String> = links.iter().map(|link| link.display().to_string()).collect();
    Ok(format!("removed {}", links.join(", ")))
}

/// Whether a path leads to this program.
fn is_own(path: &Path) -> bool {
    let own = current_exe().and_then(|own| own.canonicalize());
    path.canonicalize().is_ok_and(|real| own.is_ok_and(|own| own == real))
}

/// The programs of a name on the PATH that are not this one, in its order.
fn real_programs(name: &str) -> Vec<PathBuf> {
    let path = config::variable("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name));
    let is_program = |path: &PathBuf| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    found.filter(is_program).filter(|path| !is_own(path)).collect()
}

/// The program under whose name this process was started.
fn meant(args: &[OsString]) -> Option<&'static str> {
    let program = Path::new(args.first()?).file_name()?;
    NAMES.into_iter().find(|name| program == OsStr::new(name))
}

/// Whether this process was started under the name of another program.
pub(super) fn is_meant(args: &[OsString]) -> bool {
    meant(args).is_some()
}

/// Answers as the program does whose name was used.
pub(super) fn run(args: &[OsString]) -> u8 {
    let name = meant(args).unwrap_or(RIPGREP);
    let (own_name, args) = args.split_first().map_or((OsStr::new(name), args), |(own, rest)| (own.as_os_str(), rest));
    let depth = config::variable(DEPTH).and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
    let programs = real_programs(name);
    // A program that was started by a shim and finds this one again is a wrapper: the next one is meant.
    let Some(real) = programs.get(depth).or(programs.last()).filter(|_| depth < DEEPEST) else {
        output::complain(&format!("{name}: command not found\n"));
        return NOT_THERE;
    };
    let load = || config::load(&Flags { index_dir: None, settings: Settings::default() }).ok();
    if name == GREP {
        let fewer = if depth == 0 { recursive::arguments(args, load) } else { None };
        return replaced_by(real, own_name, fewer.as_deref().unwrap_or(args), depth);
    }
    let Some(config) = load().filter(|_| depth == 0) else { return replaced_by(real, own_name, args, depth) };
    if let Some(line) = line::plain(args)
        && let Some(found) = stand_in::answer(real, &line, &config)
    {
        hint(&line.patterns, &config);
        return if found { FOUND } else { NOTHING };
    }
    match hinted(args, &config) {
        Some(patterns) => started(real, args, depth, &patterns, &config),
        None => replaced_by(real, own_name, args, depth),
    }
}

/// Lets the real program take the place of this process. Returns only if it cannot be started.
fn replaced_by(real: &Path, name: &OsStr, args: &[OsString], depth: usize) -> u8 {
    // Some programs begin their messages with the name that they were called by.
    let err = Command::new(real).arg0(name).args(args).env(DEPTH, (depth + 1).to_string()).exec();
    output::complain(&format!("{}: {err}\n", real.display()));
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
        return replaced_by(real, OsStr::new(RIPGREP), args, depth);
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
