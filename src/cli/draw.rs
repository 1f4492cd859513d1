//! Pictures in place of lists: `calls`, `hierarchy`, `deps` and `blast` with `--svg`, `--mermaid` or `--dot`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, builder::ValueParser};
use serde_json::{Map, Value};

use super::{FOUND, Global, NOTHING, PATIENCE, here, output, server, with_context};
use codelode_query::pictures::{self, Graph};
use codelode_service::answer::{Error, Request};
use codelode_service::catalog::{files, related};
use codelode_service::tools::{Context, ToolSpec};

/// Tools with pictures.
const DRAWN: [&str; 4] = ["get_call_hierarchy", "get_class_hierarchy", "get_dependency_graph", "get_blast_radius"];
/// Picture formats: the flag's name, and the name for people.
const FORMS: [(&str, &str); 3] = [("svg", "SVG"), ("mermaid", "Mermaid"), ("dot", "DOT")];
/// The deepest level of calls or imports in a picture.
const DEEPEST: u64 = 3;

/// A requested picture: its format, and the file to write.
pub(super) struct PictureRequest {
    form: &'static str,
    file: PathBuf,
}

/// Adds the picture flags to a command, if its tool has pictures.
pub(super) fn flags(mut command: Command, spec: &ToolSpec) -> Command {
    if !DRAWN.contains(&spec.name) {
        return command;
    }
    for (flag, form) in FORMS {
        let help = format!("Draw a picture instead, as {form}, to a file; `-` for standard output");
        let arg = Arg::new(format!("draw-{flag}")).long(flag).value_name("FILE").help(help);
        command = command.arg(arg.value_parser(ValueParser::path_buf()).conflicts_with_all(others(flag)));
    }
    command
}

fn others(flag: &str) -> impl Iterator<Item = String> {
    FORMS.iter().filter(move |(other, _)| *other != flag).map(|(other, _)| format!("draw-{other}"))
}

/// The picture that the flags request, if any.
pub(super) fn wanted(given: &ArgMatches) -> Option<PictureRequest> {
    FORMS.iter().find_map(|(form, _)| {
        let file = given.try_get_one::<PathBuf>(&format!("draw-{form}")).ok().flatten()?.clone();
        Some(PictureRequest { form, file })
    })
}

/// Draws a picture.
pub(super) fn run(global: &Global, tool: &str, arguments: &Map<String, Value>, wanted: &PictureRequest) -> u8 {
    with_context(global, |cx| {
        server::refuse(cx)?;
        let (graph, title) = graph(cx, global, tool, arguments)?;
        let text = match wanted.form {
            "svg" => pictures::svg(&graph, &title, false) + "\n",
            "mermaid" => pictures::mermaid(&graph),
            _ => pictures::dot(&graph),
        };
        write(&wanted.file, &text)?;
        if let Some(left_out) = graph.left_out().filter(|_| !global.quiet) {
            output::complain(&format!("{left_out}\n"));
        }
        Ok(if graph.edges.is_empty() { NOTHING } else { FOUND })
    })
}

fn graph(cx: &Context, global: &Global, tool: &str, arguments: &Map<String, Value>) -> Result<(Graph, String), Error> {
    let directory = std::env::current_dir().ok();
    let request = Request { directory, patience: Some(PATIENCE), for_people: true, ..Request::default() };
    let caller = cx.caller(&request);
    let text = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
    let depth = arguments.get("depth").or(arguments.get("max_depth")).and_then(Value::as_u64);
    let depth = depth.unwrap_or(if tool == "get_blast_radius" { DEEPEST } else { 1 }).clamp(1, DEEPEST) as u32;
    let repo = global.repo.clone().map(|repo| here::local_path(repo, false));
    related::answer(&caller, repo.as_deref(), |repo, edges| {
        let (snapshot, none) = (&*repo.snapshot, String::new());
        if tool == "get_dependency_graph" {
            let path = repo.relative(text("file"));
            let file = snapshot.file(&path).ok_or_else(|| files::unknown_file(&caller, repo, &path))?;
            let graph = pictures::files(snapshot, edges, file, depth, &|_| none.clone());
            return Ok(((graph, format!("Imports around {path}")), vec![path]));
        }
        let symbol = related::symbol(repo, text("symbol_id"))?;
        let (name, paths) = (symbol.qualified_name(), vec![symbol.file.path().to_owned()]);
        Ok(match tool {
            "get_call_hierarchy" => {
                let graph = pictures::calls(snapshot, edges, &symbol, (depth, &[]), &|_| none.clone());
                ((graph, format!("Calls around {name}")), paths)
            }
            "get_blast_radius" => {
                let graph = pictures::blast(snapshot, edges, &[symbol], depth, &|_| none.clone());
                ((graph, format!("Users of {name}")), paths)
            }
            _ => {
                let graph = pictures::classes(snapshot, edges, &symbol, &|_| none.clone());
                ((graph, format!("Classes around {name}")), paths)
            }
        })
    })
}

fn write(file: &Path, text: &str) -> Result<(), Error> {
    if file == Path::new("-") {
        output::print_bytes(text.as_bytes());
        return Ok(());
    }
    let failed = |err| Error::unavailable(format!("cannot write {}: {err}", file.display()));
    fs::write(file, text).map_err(failed)
}
