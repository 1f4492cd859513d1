//! The page of proofs is what its results give: nothing on it was written by hand.

use std::path::Path;
use std::process::Command;

use super::client::skipped;

#[test]
fn the_page_of_proofs_is_drawn_from_its_results() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/proof/draw.py");
    let Ok(ran) = Command::new("python3").arg("-B").arg(script).arg("--check").output() else {
        return skipped("python3 is not installed");
    };
    let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
}
