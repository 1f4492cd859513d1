//! Likeness of the names of sources and tests: `cart.py` and `test_cart.py`, `Cart.java` and `CartTest.java`.

use codelode_lang::languages;

/// Words of test files' names that say nothing of what they test.
const OF_TESTS: &[&str] = &["test", "tests", "spec", "specs", "it", "unit", "case", "integration"];
/// File names that mean their folder, beside those of languages.
const OF_FOLDERS: &[&str] = &["lib", "main", "tests", "test"];

/// The words of a file's name, in lower case, sorted; those of its folder where the name stands for that.
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

/// How much a test's words are those of a source: 1 the same, down to 0 nothing in common.
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
