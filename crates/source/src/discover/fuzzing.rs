//! Ignore files and globs made of any bytes.

use super::Rules;
use super::layers::{Layers, Patterns, extra};
use codelode_base::config::Secrets;

/// Patterns, one a line, before the first NUL byte; what follows are paths, one a line.
pub fn globs(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (patterns, paths) = text.split_once('\0').unwrap_or((&text, "src/a.rs\nlib/deep/er/b.py"));
    let mut layers = Layers::default();
    for at in ["", "src"] {
        let (mut ignored, mut warnings) = (Patterns::new(at), Vec::new());
        ignored.add_bytes(".gitignore", patterns.as_bytes(), &mut warnings);
        layers = layers.with(ignored.build(&mut warnings));
    }
    let lines: Vec<String> = patterns.lines().map(str::to_owned).collect();
    let secrets = Secrets::except(lines.clone()).unwrap_or_default();
    let rules = Rules {
        extra_ignore: lines,
        secrets,
        follow_symlinks: false,
        max_file_size: 0,
        max_files: None,
        stop_after: None,
        never: Vec::new(),
    };
    if let Ok(matcher) = extra(&rules) {
        layers = layers.with(matcher);
    }
    for path in paths.lines().take(50).filter(|path| !path.starts_with('/')) {
        let _ = (layers.ignores(path, false), layers.ignores_with_parents(path), rules.secrets.hides(path));
    }
}
