//! `config`: every setting with its value and origin.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::output::{self, Output, Paint};
use super::{FOUND, Global};
use codelode_base::config::{Config, PROJECT_FILE, SettingValue};
use codelode_service::catalog::locate::root_at;
use codelode_service::catalog::{Indexes, OfProject, of_project};

/// Show every setting with its value and origin: default, config.toml, environment, the project's .codelode.toml, or
/// command line.
#[derive(Args)]
pub(super) struct Settings {
    /// Show only these settings.
    #[arg(value_name = "SETTING")]
    keys: Vec<String>,
}

/// Prints the settings that apply in the current folder, or in the named repository.
pub(super) fn run(asked: &Settings, global: &Global, config: &Config) -> u8 {
    let indexes = Indexes::new(config);
    let registry = indexes.registry();
    let named = global.repo.as_deref();
    let known = named.and_then(|repo| registry.get(repo)).map(|sidecar| config.path_map.to_local(&sidecar.root));
    let place = known.unwrap_or_else(|| named.map_or_else(|| PathBuf::from("."), PathBuf::from));
    let root = root_at(registry, config, &place);
    let OfProject { config, warnings, .. } = of_project(&root, config);
    let all = config.shown();
    if let Some(unknown) = asked.keys.iter().find(|key| !all.iter().any(|shown| shown.key == key.as_str())) {
        return super::complain(&format!("there is no setting `{unknown}`; `codelode config` lists them"));
    }
    let is_asked = |shown: &&SettingValue| asked.keys.is_empty() || asked.keys.iter().any(|key| key == shown.key);
    let settings: Vec<&SettingValue> = all.iter().filter(is_asked).collect();
    if global.json {
        let project = root.join(PROJECT_FILE);
        let answer = json!({
            "settings": settings,
            "user_file": config.file(),
            "project_file": project.exists().then_some(project),
            "warnings": warnings,
        });
        output::print_bytes(format!("{answer}\n").as_bytes());
        return FOUND;
    }
    let mut out = Output::new(Paint::of(global.color, io::stdout().is_terminal()));
    let written: Vec<(String, &SettingValue)> =
        settings.into_iter().map(|shown| (format!("{} = {}", shown.key, written(&shown.value)), shown)).collect();
    let width = written.iter().map(|(text, _)| text.chars().count()).filter(|width| *width < WIDEST).max().unwrap_or(0);
    for (text, shown) in written {
        let places = out.paint.dim(&format!("# {}", shown.places.join(", then ")));
        out.line(format!("{text:width$}  {places}"));
    }
    if !global.quiet {
        let paint = Paint::of(global.color, io::stderr().is_terminal());
        out.notes(warnings.iter().map(|warning| format!("warning: {warning}")).collect(), paint);
    }
    out.print();
    FOUND
}

/// The widest setting with which the origins of others are aligned.
const WIDEST: usize = 60;

/// A value in the syntax of a settings file.
fn written(value: &Value) -> String {
    match value {
        Value::Null => "\"\"".to_owned(),
        Value::Array(all) => format!("[{}]", all.iter().map(written).collect::<Vec<_>>().join(", ")),
        plain => plain.to_string(),
    }
}
