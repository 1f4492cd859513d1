//! Folders of hostile files made of each language's sample, each met by every kind of question.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use super::sweep::{Asker, is_wanted, questions};
use super::{Place, hostile};

/// Bytes of a folder.
const FOLDER: usize = 1_000_000;
/// Beginnings that are never ended, in one language or another.
const UNENDED: [&str; 20] = [
    "\"", "'", "`", "/*", "\"\"\"", "'''", "(*", "{-", "<!--", "<<EOF\n", "[[", "${", "#{", "\"${", "%q(", "@\"",
    "r#\"", "--[[", "#|", "\\",
];

/// The samples of all languages by the language's folder: the file's name and its text.
fn samples() -> BTreeMap<String, Vec<(String, String)>> {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/lang/src/languages");
    let mut samples = BTreeMap::<String, Vec<_>>::new();
    for folder in fs::read_dir(folders).expect("the sources are here").flatten().map(|entry| entry.path()) {
        for file in fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with("sample.") && !name.ends_with(".tags") {
                let language = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let text = fs::read_to_string(&file).expect("samples are text");
                samples.entry(language).or_default().push((name["sample.".len()..].to_owned(), text));
            }
        }
    }
    samples
}

/// Words, signs and line ends of a text.
fn tokens(text: &str) -> Vec<&str> {
    let kind = |letter: char| match letter {
        '\n' => 0,
        _ if letter.is_alphanumeric() || letter == '_' => 1,
        _ if letter.is_whitespace() => 2,
        _ => 3,
    };
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|letter: char| kind(letter) != kind(first)).unwrap_or(rest.len());
        tokens.push(&rest[..end]);
        rest = &rest[end..];
    }
    tokens.retain(|token| kind(token.chars().next().unwrap_or(' ')) != 2);
    tokens
}

/// Hostile files of this size made of a sample.
fn made_of(sample: &str, size: usize) -> Vec<String> {
    let fill = |piece: &str| piece.repeat(size / piece.len().max(1) + 1);
    let lines: Vec<&str> = sample.lines().filter(|line| !line.trim().is_empty()).collect();
    let tokens = tokens(sample);
    let mut next = hostile::choices();
    let mut files = vec![fill(&format!("{sample}\n")), fill(&lines.join(" ")), hostile::mutated(&fill(sample))];
    for _ in 0..12 {
        files.push(fill(&format!("{}\n", lines[next(lines.len())])));
        files.push(fill(&format!("{} ", lines[next(lines.len())])));
        let (one, two, three) = (tokens[next(tokens.len())], tokens[next(tokens.len())], tokens[next(tokens.len())]);
        files.push(fill(&format!("{one} {two} ")));
        files.push(fill(&format!("{one}{two}{three}")));
    }
    for begin in UNENDED {
        files.push(fill(begin));
        files.push(format!("{}{begin}{}", &sample[..sample.floor_char_boundary(sample.len() / 2)], fill(sample)));
    }
    for _ in 0..4 {
        files.push((0..size / 4).map(|_| tokens[next(tokens.len())]).collect());
    }
    files
}

/// `CODELODE_SWEEP=python,rust` names languages; all are taken otherwise.
#[test]
#[ignore = "takes an hour"]
fn samples_of_every_language() {
    let mut breaches = Vec::new();
    for (language, samples) in samples() {
        if !is_wanted(&language) {
            continue;
        }
        let begun = Instant::now();
        let files: Vec<(String, String)> = samples
            .iter()
            .flat_map(|(ending, sample)| {
                let files = made_of(sample, FOLDER / samples.len() / made_of(sample, 1).len());
                files.into_iter().enumerate().map(move |(number, text)| (format!("a{number}.{ending}"), text))
            })
            .collect();
        let place = Place::with(files.iter().map(|(name, text)| (name.as_str(), text.clone())));
        let mut asker = Asker::new(&place, &language);
        for (tool, arguments) in questions(&files[files.len() / 2].0, &language) {
            asker.ask(tool, arguments);
        }
        asker.ask_about_symbols();
        let (worst, found) = asker.end();
        println!("{language}: {:.0?}, at most {:.1} s for {}", begun.elapsed(), worst.0, worst.1);
        breaches.extend(found);
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}
