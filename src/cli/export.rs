//! `export`: writes the index in formats of other programs.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::render::n_of;
use super::{FOUND, Global, NOTHING, PATIENCE, here, output, server, visible, with_context};
use codelode_query::export::{self, Form, Source};
use codelode_service::answer::{Error, Request};
use codelode_service::catalog::related;

/// Export the index for other programs: definitions and their resolved uses.
///
/// Code hosts and review tools read SCIP, editors read tags, scripts read lines of JSON. Exit status: 0 written, 1
/// nothing to write, 2 error.
#[derive(Args)]
#[command(after_help = "Example: codelode export --scip code.scip")]
pub(super) struct Export {
    /// Write SCIP to this file: short for `--format scip FILE`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "file"])]
    scip: Option<PathBuf>,
    /// Format: scip, ctags or ndjson [default: scip].
    #[arg(long, value_name = "FORM", hide_possible_values = true)]
    format: Option<Forms>,
    /// File to write; `-` for standard output [default: -].
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Forms by their names.
#[derive(Clone, Copy, ValueEnum)]
enum Forms {
    /// See [`Form::Scip`].
    Scip,
    /// See [`Form::Ctags`].
    Ctags,
    /// See [`Form::Ndjson`].
    Ndjson,
}

/// Writes the index of a repository after updating it.
pub(super) fn run(global: &Global, how: &Export) -> u8 {
    with_context(global, |cx| {
        server::refuse(cx)?;
        let form = match how.format {
            None | Some(Forms::Scip) => Form::Scip,
            Some(Forms::Ctags) => Form::Ctags,
            Some(Forms::Ndjson) => Form::Ndjson,
        };
        let directory = std::env::current_dir().ok();
        let request = Request { directory, patience: Some(PATIENCE), for_people: true, ..Request::default() };
        let caller = cx.caller(&request);
        let repo = global.repo.clone().map(|repo| here::local_path(repo, false));
        let repo = related::open_now(&caller, repo.as_deref())?;
        let root = url::Url::from_directory_path(&repo.sidecar.root).map(String::from).unwrap_or_default();
        let source = Source { snapshot: &repo.snapshot, edges: related::edges(&repo)?, root: &root };
        let file = how.scip.as_deref().or(how.file.as_deref()).unwrap_or(Path::new("-"));
        let failed = |err: io::Error| Error::unavailable(format!("cannot write {}: {err}", file.display()));
        let written = to(file, &mut |out| export::write(&source, form, out)).map_err(failed)?;
        let (definitions, references) = (
            n_of(written.definitions, "definition", "definitions"),
            n_of(written.references, "reference", "references"),
        );
        if !global.quiet && file != Path::new("-") {
            let files = n_of(written.files, "file", "files");
            output::complain(&format!("{}: {definitions} and {references} in {files}\n", file.display()));
        }
        Ok(if written.definitions == 0 { NOTHING } else { FOUND })
    })
}

/// Writes to a file, which is replaced atomically, or to standard output.
fn to<T>(file: &Path, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<T>) -> io::Result<T> {
    if file == Path::new("-") {
        let mut bytes = Vec::new();
        let written = write(&mut bytes)?;
        // The export contains no colours of this program.
        let is_shown = io::stdout().is_terminal();
        output::print_bytes(&if is_shown { visible::uncoloured(&bytes) } else { Cow::Borrowed(&*bytes) });
        return Ok(written);
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut out = BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
    let written = write(&mut out)?;
    let out = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    out.persist(file).map_err(|err| err.error)?;
    Ok(written)
}
