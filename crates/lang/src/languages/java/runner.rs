//! Tests of Java: JUnit, selected through Maven.

use crate::languages::{Runner, Test};

/// See [`Runner`].
pub static RUNNER: Runner = Runner {
    name: "maven",
    tests: &["test"],
    around: &["setUp", "tearDown", "before", "after"],
    givers: &[],
    launches: &[],
    by_name: false,
    files: &["Test*", "*Test", "*Tests", "*TestCase", "*IT"],
    folders: &[],
    arguments,
};

/// One argument: `-Dtest=CartTest#total+redeem,StoreTest`. A class that is selected as a whole needs no methods.
fn arguments(tests: &[Test]) -> Vec<String> {
    let mut classes: Vec<(String, Vec<&str>, bool)> = Vec::new();
    for test in tests {
        let class = if test.owners.is_empty() { test.stem().to_owned() } else { test.owners.join("$") };
        let place = classes.iter().position(|(known, ..)| *known == class);
        let place = place.unwrap_or_else(|| {
            classes.push((class, Vec::new(), false));
            classes.len() - 1
        });
        match &test.name {
            Some(name) => classes[place].1.push(name),
            None => classes[place].2 = true,
        }
    }
    let selected = classes.into_iter().map(|(class, mut methods, is_whole)| {
        methods.dedup();
        if is_whole || methods.is_empty() { class } else { format!("{class}#{}", methods.join("+")) }
    });
    let selected: Vec<String> = selected.collect();
    if selected.is_empty() { Vec::new() } else { vec![format!("-Dtest={}", selected.join(","))] }
}
