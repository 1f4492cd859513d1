//! Reads one file again.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments::without_effect;
use super::indexes::{open_sidecar, pipeline_error, store_error};
use super::{Call, Code, Error, Tool};
use crate::pipeline::{self, Drift, Watcher, owner};

/// Re-index one file of an indexed folder.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file, absolute or relative to the working directory.
    path: String,
    /// Summarise by a model, where one is set up.
    #[serde(default)]
    #[schemars(extend("x-hidden" = true))]
    use_ai_summaries: Option<bool>,
    /// Let context providers add what they know.
    #[serde(default)]
    #[schemars(extend("x-hidden" = true))]
    context_providers: Option<bool>,
}

/// What became of the file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    success: bool,
    repo: String,
    file: String,
    /// `indexed`, `unchanged` or `removed`.
    message: &'static str,
    symbol_count: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    duration_seconds: f64,
}

/// See [`Args`].
pub struct IndexFile;

impl Tool for IndexFile {
    const NAME: &'static str = "index_file";
    const COMMAND: &'static str = "index-file";
    const POSITIONAL: &'static [&'static str] = &["path"];
    const READ_ONLY: bool = false;
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let started = Instant::now();
        let given = Path::new(args.path.trim());
        let path = match &call.request.directory {
            Some(directory) if given.is_relative() => directory.join(given),
            _ => given.to_owned(),
        };
        // A file that is gone still has a folder, and both may be reached by a link.
        let path = path.canonicalize().unwrap_or_else(|_| {
            let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
            folder.zip(path.file_name()).map_or_else(|| path.clone(), |(folder, name)| folder.join(name))
        });
        let (registry, config) = (call.cx.indexes.registry(), &call.cx.config);
        let folder = path.parent().unwrap_or(&path);
        let Some(sidecar) = owner(registry, config, folder) else {
            let message = format!("no indexed folder holds {}; call index_folder first", path.display());
            return Err(Error::new(Code::NotIndexed, message));
        };
        let root = config.path_map.to_local(&sidecar.root);
        let relative = path.strip_prefix(&root).ok().and_then(Path::to_str).map(|path| path.replace('\\', "/"));
        let Some(file) = relative.filter(|path| !path.is_empty()) else {
            return Err(Error::new(Code::InvalidArguments, format!("{} is not a file", path.display())));
        };
        if path.is_dir() {
            let message = format!("{} is a folder; call index_folder", path.display());
            return Err(Error::new(Code::InvalidArguments, message));
        }

        let store = registry.store(&sidecar.store);
        let before = store.snapshot(&sidecar.snapshot).map_err(|err| store_error(err, &sidecar))?;
        let held = before.file(&file).map(|view| view.number());
        let known = before.table().find(&file).is_some();
        // A file that is not known yet must pass the rules, which need the whole walk.
        let drift = match known && path.exists() {
            true => Drift { changed: vec![file.clone()], unseen: true, ..Drift::default() },
            false => Drift { elsewhere: true, ..Drift::default() },
        };
        let cancelled = AtomicBool::new(false);
        let watcher = Watcher { progress: &|_, _, _| {}, cancelled: &cancelled, patience: Duration::from_secs(10) };
        pipeline::refresh(&sidecar, &before, &drift, config, &watcher).map_err(|err| pipeline_error(err, &sidecar))?;

        let repo = open_sidecar(call, sidecar)?;
        call.repo(&repo.sidecar.repo);
        let now = repo.snapshot.file(&file);
        let message = match (held, now.map(|view| view.number())) {
            (before, Some(now)) if before == Some(now) => "unchanged",
            (_, Some(_)) => "indexed",
            (Some(_), None) => "removed",
            (None, None) => {
                let reason = repo.snapshot.table().find(&file).and_then(|row| row.state.err());
                let reason = reason.map_or("an ignore rule names it or it is not there", |reason| reason.as_str());
                let message = format!("{file} is not indexed: {reason}; see `skipped` of index_folder");
                return Err(Error::new(Code::NotFound, message));
            }
        };
        let symbol_count = now.map_or(0, |view| view.symbol_count());
        let duration_seconds = (started.elapsed().as_secs_f64() * 1e4).round() / 1e4;
        let (summaries, providers) = (args.use_ai_summaries, args.context_providers);
        let warnings = without_effect(&[("use_ai_summaries", summaries), ("context_providers", providers)]);
        let repo = repo.sidecar.repo.clone();
        Ok(Output { success: true, repo, file, message, symbol_count, warnings, duration_seconds })
    }
}
