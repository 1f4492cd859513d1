//! Similarity of source and test names: `cart.py` and `test_cart.py`, `Cart.java` and `CartTest.java`.

use codelode_lang::languages;

/// Words of test file names that do not name the subject.
const OF_TESTS: &[&str] = &["test", "tests", "spec", "specs", "it", "unit", "case", "integration"];
/// File names that stand for their folder, in addition to those of each language.
const OF_FOLDERS: &[&str] = &["lib", "main", "tests", "test"];

/// The sorted words of a file's name in lower case; the folder's words if the name stands for the folder.
pub fn words(path: &str) -> Vec<String> {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or(path);
    let stem = name.split('.').find(|part| !part.is_empty()).unwrap_or(name);
    let is_of_folder = OF_FOLDERS.contains(&stem) || languages::stands_for_folder(stem);
    let stem = if is_of_folder { parts.next().unwrap_or(stem) } else { stem };
    let mut words: Vec<String> = codelode_store::word_parts(stem).into_iter().map(|word| word.to_lowercase()).collect();
    words.retain(|word| !OF_TESTS.contains(&word.as_str()));
    words.sort_unstable();
    words.dedup();
    words
}

/// The similarity of a source's words and a test's words, from 0 (none in common) to 1 (equal).
pub fn likeness(source: &[String], test: &[String]) -> f64 {
    if source.is_empty() || test.is_empty() {
        return 0.0;
    }
    let common = source.iter().filter(|word| test.contains(word)).count();
    if common < source.len() && common < test.len() {
        return 0.0;
    }
    common as f64 / source.len().max(test.len()) as f64
}
