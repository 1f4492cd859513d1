//! Folders and files that are never indexed: version control, installed packages, caches of tools, lock files,
//! minified code and source maps.

use std::path::Path;

use super::disk;

/// Whether a folder of this name is noise.
#[rustfmt::skip] // One name a line would hide how few there are.
pub(super) fn folder(name: &str) -> bool {
    is_version_control(name)
        || matches!(
            name,
            "node_modules" | "bower_components" | "jspm_packages"
                | "__pycache__" | "__pypackages__" | ".tox" | ".nox" | ".eggs" | ".mypy_cache" | ".pytest_cache"
                | ".ruff_cache" | ".pytype" | ".hypothesis" | ".ipynb_checkpoints" | ".pixi"
                | ".gradle" | ".idea" | ".vs" | ".settings" | ".metals" | ".bloop" | ".bsp"
                | ".terraform" | ".terragrunt-cache" | ".serverless" | ".aws-sam" | ".vagrant"
                | ".next" | ".nuxt" | ".svelte-kit" | ".angular" | ".astro" | ".docusaurus" | ".expo"
                | ".turbo" | ".nx" | ".parcel-cache" | ".sass-cache" | ".nyc_output" | ".yarn" | ".pnpm-store"
                | ".cache" | ".ccls-cache" | ".direnv" | ".bundle" | ".dart_tool" | ".stack-work" | ".zig-cache"
                | ".elixir_ls" | ".cargo-home"
        )
        || name.ends_with(".egg-info")
        || name.ends_with(".dist-info")
}

/// Whether this is the name of a version control folder. A file can have the name as well: the `.git` of a worktree
/// only points to the repository.
pub(super) fn is_version_control(name: &str) -> bool {
    matches!(name, ".git" | ".hg" | ".svn" | ".jj" | ".bzr" | ".pijul" | "_darcs" | "CVS")
}

/// Whether a file of this name is noise.
pub(super) fn file(name: &str) -> bool {
    matches!(name, ".git" | ".DS_Store" | "Thumbs.db" | "desktop.ini" | ".pnp.cjs" | ".pnp.loader.mjs")
        || is_lock_file(name)
        || is_minified(name)
        || is_source_map(name)
}

/// Lock files of package managers.
#[rustfmt::skip]
fn is_lock_file(name: &str) -> bool {
    matches!(
        name,
        "package-lock.json" | "npm-shrinkwrap.json" | "yarn.lock" | "pnpm-lock.yaml" | "bun.lock" | "bun.lockb"
            | "deno.lock" | "Cargo.lock" | "go.sum" | "go.work.sum" | "poetry.lock" | "uv.lock" | "pdm.lock"
            | "pixi.lock" | "Pipfile.lock" | "conda-lock.yml" | "composer.lock" | "Gemfile.lock" | "gems.locked"
            | "flake.lock" | "mix.lock" | "rebar.lock" | "pubspec.lock" | "Podfile.lock" | "Cartfile.resolved"
            | "Package.resolved" | "gradle.lockfile" | "buildscript-gradle.lockfile" | "packages.lock.json"
            | "project.assets.json" | ".terraform.lock.hcl" | "stack.yaml.lock" | "cabal.project.freeze" | "shard.lock"
            | "MODULE.bazel.lock" | "Chart.lock"
    )
}

/// Minified code; its source lies elsewhere.
fn is_minified(name: &str) -> bool {
    let Some((stem, "js" | "mjs" | "cjs" | "css")) = name.rsplit_once('.') else { return false };
    [".min", "-min", ".bundle", ".chunk", ".packed"].iter().any(|mark| stem.ends_with(mark))
}

/// Source maps of minified code. Other `.map` files are kept.
fn is_source_map(name: &str) -> bool {
    let Some(mapped) = name.strip_suffix(".map") else { return false };
    matches!(
        mapped.rsplit_once('.'),
        Some((_, "js" | "mjs" | "cjs" | "jsx" | "css" | "scss" | "ts" | "mts" | "cts" | "tsx" | "wasm"))
    )
}

/// Whether an entry of this name makes its folder noise: an environment of Python or conda.
pub(super) fn marks_environment(name: &str) -> bool {
    matches!(name, "pyvenv.cfg" | "conda-meta")
}

/// Name of the file that marks a folder as a cache. Its content must agree too, see [`is_cache_tag`].
pub(super) const CACHE_TAG: &str = "CACHEDIR.TAG";

/// Whether the file at `path` has the content of a cache mark, not only its name.
pub(super) fn is_cache_tag(path: &Path) -> bool {
    let found = disk::read_small(path, disk::Links::Refuse, 4096);
    found.is_ok_and(|(text, _)| text.starts_with(b"Signature: 8a477f597d28d172789f06886806bc55"))
}

#[cfg(test)]
mod tests {
    use super::{file, folder};

    #[test]
    fn noise_is_known_by_name() {
        for name in ["node_modules", ".git", "__pycache__", ".venv.egg-info", ".mypy_cache", ".next"] {
            assert!(folder(name), "{name}");
        }
        for name in ["Cargo.lock", "jquery.min.js", "app.bundle.js", "main.css.map", "index.d.ts.map", ".git"] {
            assert!(file(name), "{name}");
        }
    }

    #[test]
    fn names_that_only_look_like_noise_are_kept() {
        for name in ["src", ".github", ".circleci", "venv", "target", "build", "cache", "git", ".vscode", ".config"] {
            assert!(!folder(name), "{name}");
        }
        for name in ["lock.rs", "Cargo.toml", "min.js", "bundle.js", "world.map", "map.js", ".gitignore", "admin.js"] {
            assert!(!file(name), "{name}");
        }
    }
}
