//! Prints the symbols of a source file: `cargo run --example symbols src/lib.rs`.

use codelode::{extract, languages};

fn main() {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: symbols FILE");
        std::process::exit(2);
    };
    let source = match std::fs::read(&path) {
        Ok(source) => source,
        Err(err) => {
            eprintln!("{path}: {err}");
            std::process::exit(2);
        }
    };
    // The language follows from the file's name, or from its first line.
    let Some((_, language)) = languages::of_file(&path, &source) else {
        eprintln!("{path}: symbols are not read from this language");
        std::process::exit(1);
    };
    for symbol in extract::extract(language, &source).symbols {
        let name = String::from_utf8_lossy(symbol.name.of(&source)).into_owned();
        println!("{path}:{} {} {name}", symbol.line, symbol.detail.as_str());
    }
}
