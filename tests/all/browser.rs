//! The pages in a browser without a screen, and the client that is made from its source.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use super::client::skipped;
use super::web::Site;

/// Where `.ci/run` installs the packages that `crates/web/src/client` names.
fn modules() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/npm/node_modules");
    (folder.is_dir() && Command::new("node").arg("--version").output().is_ok()).then_some(folder)
}

fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

#[test]
fn the_client_is_made_from_its_source() {
    let Some(modules) = modules() else { return skipped("there are no packages from npm") };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/web/src/client");
    let run = |program: &str, arguments: &[&str]| {
        let ran = Command::new(modules.join(".bin").join(program)).args(arguments).current_dir(&source).output();
        let ran = ran.expect("it is installed");
        assert!(
            ran.status.success(),
            "{program}: {}{}",
            String::from_utf8_lossy(&ran.stdout),
            String::from_utf8_lossy(&ran.stderr)
        );
        ran.stdout
    };
    run("tsc", &["-p", "."]);
    let made = run("esbuild", &["main.ts", "--bundle", "--minify", "--format=iife", "--target=es2022"]);
    let kept = fs::read(source.join("../assets/client.js")).expect("it is in the repository");
    assert!(made == kept, "run `npm run bundle` in crates/web/src/client");
    assert!(kept.len() < 60_000, "the client has {} bytes", kept.len());
}

#[test]
fn people_read_search_and_sign_in() {
    let Some(modules) = modules() else { return skipped("there are no packages from npm") };
    let Some(chromium) = chromium() else { return skipped("there is no chromium") };
    let site = Site::start_with(&["--web"], &[("CODELODE_EDITOR_LINK", "x-test://open{path}:{line}")]);
    let hostile = site.folder("hostile");
    let name = "a\"><script>alert(1)<\u{2044}script>&amp;#\u{202e}.py";
    fs::write(hostile.join(name), "x = '</pre><script>alert(2)</script>' # <img src=x onerror=alert(3)>\u{202e}\n")
        .expect("ours");
    // Only the user may raise the limit.
    let settings = hostile.ancestors().nth(2).expect("it lies in two folders").join("index/codelode/config.toml");
    fs::write(settings, "max_file_size = 4_000_000\n").expect("ours");
    fs::write(hostile.join("long.py"), format!("x = '{}'\n", "<script>".repeat(1 << 17))).expect("ours");
    fs::write(hostile.join("many.py"), (1..=20_000).map(|n| format!("f{n} = {n}\n")).collect::<String>())
        .expect("ours");
    let deep = format!("class Deep:\n    def method(self):\n{}", "        self.method()\n".repeat(200));
    fs::write(hostile.join("deep.py"), deep).expect("ours");
    site.run(&["index", hostile.to_str().expect("text")]);
    let kept = site.folder("kept");
    fs::write(kept.join("a.py"), "def first():\n    return 1\n").expect("ours");
    let chain = "def one():\n    return two()\n\ndef two():\n    return three()\n\ndef three():\n    return 3\n";
    fs::write(kept.join("chain.py"), chain).expect("ours");
    let wide = format!(
        "def wide(thing, {}):\n    thing.alone()\n\nclass Wide:\n    def alone(self):\n        return 1\n",
        "argument, ".repeat(40)
    );
    fs::write(kept.join("wide.py"), wide).expect("ours");
    super::pages::git(&kept, &["init", "-q"]);
    super::pages::git(&kept, &["add", "."]);
    super::pages::git(&kept, &["commit", "-qm", "First"]);
    site.run(&["index", kept.to_str().expect("text")]);
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let tokens = folder.path().join("tokens.toml");
    let entry = |name: &str, repos: &str| {
        let digest: String =
            Sha256::digest(format!("{name}-{name}")).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("[{name}]\nsha256 = \"{digest}\"\nrepos = [\"{repos}\"]\n")
    };
    fs::write(&tokens, entry("alice", &site.repo("shop")) + &entry("bob", "*")).expect("ours");
    let team = site.beside(&["--web", "--tokens", tokens.to_str().expect("text")]);
    let mut command = Command::new("node");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/pages.mjs"));
    command.env("SITE", site.url()).env("SHOP", site.repo("shop")).env("HOSTILE", site.repo("hostile"));
    command.env("KEPT", site.repo("kept")).env("FOLDER", kept).env("MODULES", modules).env("CHROMIUM", chromium);
    command.env("TEAM", team.url()).env("TOKEN", "alice-alice").env("OTHER", "bob-bob");
    let ran = command.output().expect("node is there");
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{told}{}", String::from_utf8_lossy(&ran.stderr));
}
