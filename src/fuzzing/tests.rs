//! The corpora through the same doors.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use tar::Archive;

use super::DOORS;

#[test]
fn corpora_are_taken() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, door) in DOORS {
        let file = File::open(folder.join(format!("{name}.tar.gz"))).expect("every target has a corpus");
        let mut archive = Archive::new(GzDecoder::new(file));
        let mut count = 0;
        for entry in archive.entries().expect("it is an archive") {
            let mut entry = entry.expect("it is whole");
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("it is whole");
            if !bytes.is_empty() {
                door(&bytes);
                count += 1;
            }
        }
        assert!(count > 5, "the corpus of {name} has {count} inputs");
    }
}

#[test]
fn every_door_is_a_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/targets");
    let mut targets: Vec<_> = std::fs::read_dir(folder)
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").path().file_stem().expect("a name").to_owned())
        .collect();
    targets.sort();
    assert_eq!(targets, DOORS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}
