//! Places of installed packages on this machine, as the environment names them.

use std::path::{Path, PathBuf};

/// Where the tools of languages keep what they have installed. Nothing is looked for yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toolchains {
    /// Environments of Python that are active: `VIRTUAL_ENV`, `CONDA_PREFIX`.
    pub environments: Vec<PathBuf>,
    /// Folders of programs, as `PATH` lists them.
    pub programs: Vec<PathBuf>,
    /// Versions of Python that pyenv keeps.
    pub pyenv: Option<PathBuf>,
    /// Crates of Cargo.
    pub cargo: Option<PathBuf>,
    /// Go's modules.
    pub go_modules: Option<PathBuf>,
    /// Maven's artifacts.
    pub maven: Option<PathBuf>,
    /// Artifacts that Gradle has downloaded.
    pub gradle: Option<PathBuf>,
}

impl Toolchains {
    /// Reads the environment.
    pub(super) fn of(env: &dyn Fn(&str) -> Option<String>, user: Option<&Path>) -> Self {
        let named = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let below = |path: &str| user.map(|user| user.join(path));
        let go = || named("GOPATH").or_else(|| below("go")).map(|path| path.join("pkg/mod"));
        let gradle = || named("GRADLE_USER_HOME").or_else(|| below(".gradle"));
        Self {
            environments: ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(named).collect(),
            programs: env("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default(),
            pyenv: named("PYENV_ROOT").or_else(|| below(".pyenv")),
            cargo: named("CARGO_HOME").or_else(|| below(".cargo")),
            go_modules: named("GOMODCACHE").or_else(go),
            maven: below(".m2/repository"),
            gradle: gradle().map(|path| path.join("caches/modules-2/files-2.1")),
        }
    }
}
