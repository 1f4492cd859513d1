//! The page of proofs is what its results give, and the harness that runs agents does so with a scripted model.

use std::path::Path;
use std::process::Command;

use super::client::skipped;

pub fn has_python() -> bool {
    let is_there = Command::new("python3").arg("--version").output().is_ok_and(|ran| ran.status.success());
    if !is_there {
        skipped("python3 is not installed");
    }
    is_there
}

/// Runs a script below `benches/` with python3.
fn python(script: &str, argument: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches").join(script);
    if !has_python() {
        return;
    }
    let ran = Command::new("python3").arg("-B").arg(script).arg(argument).output().expect("it is installed");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
}

#[test]
fn the_page_of_proofs_is_drawn_from_its_results() {
    python("proof/draw.py", "--check");
}

#[test]
fn agents_are_run_and_judged_over_both_wire_forms() {
    python("agents/selftest.py", env!("CARGO_BIN_EXE_codelode"));
}
