//! Discovery of tools by their purpose: clients that load tools on demand rank names, descriptions and arguments by
//! BM25 or by a regular expression, and load the first.

use std::collections::HashMap;

use regex::Regex;
use serde_json::Value;

use super::surface::{self, KINDS_OF_WORK, MORE_TOOLS};
use codelode_base::config::Surface;
use codelode_service::answer::SHARED;
use codelode_service::tools::{TOOLS, ToolTier};

/// Tasks as people and models phrase them: the tool, a tab, the phrase.
const TASKS: &str = include_str!("tasks.tsv");
/// Tasks that descriptions were not written for: phrased before them, or in the words of other servers and protocols.
const OTHERS: &str = include_str!("others.tsv");

/// Tasks from public questions, each with its tools and the question: two for each kind of work, the next two, and what was left,
/// by which no description was made.
const QUESTIONS: [&str; 3] =
    [include_str!("questions.tsv"), include_str!("questions_later.tsv"), include_str!("questions_last.tsv")];

/// Words without meaning for a search.
const STOP: &str = "a an the of in to for and or is are this that what which who it its by with on me my i one be does do how \
                    from all at before without find list show give get";

/// A tool as a client searches it.
fn documents(surface: &Surface) -> Vec<(String, String)> {
    let document = |tool: rmcp::model::Tool| {
        let mut text = format!("{} {}", tool.name.replace('_', " "), tool.description.unwrap_or_default());
        let arguments = tool.input_schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, schema) in arguments.filter(|(name, _)| !SHARED.contains(&name.as_str())) {
            let choices = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let said = std::iter::once(name.as_str()).chain(schema["description"].as_str()).chain(choices);
            said.for_each(|said| text.extend([" ", &said.replace('_', " ")]));
        }
        (tool.name.into_owned(), text)
    };
    surface::listing(surface).into_iter().map(document).collect()
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|char: char| !char.is_ascii_alphanumeric()).map(str::to_lowercase);
    let words = words.filter(|word| !word.is_empty() && !STOP.split_whitespace().any(|stop| stop == word));
    let singular = |word: String| match word.strip_suffix('s') {
        Some(one) if one.len() > 2 && !one.ends_with('s') => one.to_owned(),
        _ => word,
    };
    words.map(singular).collect()
}

/// The places by score, the highest first, as listed among equals.
fn ranked<S: PartialOrd>(scores: &[S]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..scores.len()).collect();
    places.sort_by(|a, b| scores[*b].partial_cmp(&scores[*a]).expect("scores are numbers"));
    places
}

fn by_bm25(documents: &[Vec<String>], phrase: &str) -> Vec<usize> {
    let (n, all) = (documents.len() as f64, documents.iter().map(Vec::len).sum::<usize>() as f64);
    let holders = |word: &String| documents.iter().filter(|document| document.contains(word)).count() as f64;
    let mut asked = words(phrase);
    asked.sort();
    asked.dedup();
    let weights: HashMap<&String, f64> =
        asked.iter().map(|word| (word, (1.0 + (n - holders(word) + 0.5) / (holders(word) + 0.5)).ln())).collect();
    let score = |document: &Vec<String>| {
        let length = 0.25 + 0.75 * document.len() as f64 / (all / n);
        let each = weights.iter().map(|(word, weight)| {
            let times = document.iter().filter(|other| other == word).count() as f64;
            weight * times * 2.2 / (times + 1.2 * length)
        });
        each.sum::<f64>()
    };
    ranked(&documents.iter().map(score).collect::<Vec<_>>())
}

/// The places of tools by the words of a phrase that they hold, then by occurrences.
fn by_regex(documents: &[(String, String)], phrase: &str) -> Vec<usize> {
    let mut asked: Vec<String> = words(phrase).into_iter().filter(|word| word.len() > 2).collect();
    asked.sort();
    asked.dedup();
    let patterns: Vec<Regex> =
        asked.iter().map(|word| Regex::new(&format!(r"(?i)\b{word}")).expect("a word is a pattern")).collect();
    let score = |(_, text): &(String, String)| {
        let times: Vec<usize> = patterns.iter().map(|pattern| pattern.find_iter(text).count()).collect();
        (times.iter().filter(|times| **times > 0).count(), times.iter().sum::<usize>())
    };
    ranked(&documents.iter().map(score).collect::<Vec<_>>())
}

/// Checks that the right tool is first for so many tasks of a hundred, and one of the first three for so many.
fn check(tasks: &str, first: usize, of_three: usize) {
    let documents = documents(&Surface::Full);
    let split: Vec<Vec<String>> = documents.iter().map(|(_, text)| words(text)).collect();
    let tasks: Vec<(&str, &str)> = tasks.lines().filter_map(|line| line.split_once('\t')).collect();
    assert!(tasks.len() >= 60);
    type Finder<'a> = &'a dyn Fn(&str) -> Vec<usize>;
    let finders: [(&str, Finder<'_>); 2] =
        [("BM25", &|phrase| by_bm25(&split, phrase)), ("regex", &|phrase| by_regex(&documents, phrase))];
    for (how, find) in finders {
        let found: Vec<Vec<&str>> =
            tasks.iter().map(|(_, phrase)| find(phrase).iter().map(|at| documents[*at].0.as_str()).collect()).collect();
        let n_right = |among: usize| {
            let pairs = tasks.iter().zip(&found);
            pairs.filter(|((wanted, _), found)| found[..among].contains(wanted)).count()
        };
        let wrong = tasks.iter().zip(&found).filter(|((wanted, _), found)| found[0] != *wanted);
        let wrong: Vec<String> =
            wrong.map(|((wanted, phrase), found)| format!("{phrase:?} finds {}, not {wanted}", found[0])).collect();
        let (n_first, n_of_three) = (n_right(1), n_right(3));
        eprintln!("{how}: first {n_first}, of three {n_of_three}, of {}", tasks.len());
        let is_met = n_first * 100 >= tasks.len() * first && n_of_three * 100 >= tasks.len() * of_three;
        assert!(is_met, "{how}: first {n_first}, of three {n_of_three} of {}\n{}", tasks.len(), wrong.join("\n"));
    }
}

#[test]
fn the_right_tool_is_found_first_for_nine_tasks_of_ten() {
    for (tool, _) in documents(&Surface::Full) {
        assert!(TASKS.lines().any(|line| line.split('\t').next() == Some(&tool)), "no task is for {tool}");
    }
    check(TASKS, 90, 97);
}

#[test]
fn tasks_in_words_of_others_find_their_tools() {
    check(OTHERS, 75, 90);
}

/// The questions of a list whose first tool on a surface is neither the right one nor the one that calls the hidden ones; and their
/// number.
fn missed(questions: &str, surface: &Surface) -> (Vec<String>, usize) {
    let documents = documents(surface);
    let split: Vec<Vec<String>> = documents.iter().map(|(_, text)| words(text)).collect();
    let mut missed = Vec::new();
    for line in questions.lines() {
        let [wanted, phrase, _] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("three fields: {line}") };
        let first = &documents[by_bm25(&split, phrase)[0]].0;
        if first != MORE_TOOLS && !wanted.split('|').any(|tool| tool == first) {
            missed.push(format!("{phrase:?} finds {first}, not {wanted}"));
        }
    }
    (missed, questions.lines().count())
}

#[test]
fn public_questions_find_their_tools() {
    for (questions, [in_lean, in_full]) in QUESTIONS.iter().zip([[36, 38], [32, 36], [23, 25]]) {
        for (surface, least) in [(Surface::Lean, in_lean), (Surface::Full, in_full)] {
            let (missed, n) = missed(questions, &surface);
            let n_right = n - missed.len();
            eprintln!("{surface:?}: {n_right} of {n}");
            assert!(n_right >= least, "{surface:?}: {n_right} of {n}\n{}", missed.join("\n"));
        }
    }
}

#[test]
fn hidden_tools_are_behind_a_kind_of_work() {
    let behind = |name: &str| KINDS_OF_WORK.iter().any(|(_, tools)| tools.contains(&name));
    let hidden = TOOLS.iter().filter(|spec| spec.shown > Some(ToolTier::Lean));
    let left: Vec<&str> = hidden.map(|spec| spec.name).filter(|name| !behind(name)).collect();
    assert_eq!(left, ["get_related_symbols", "get_symbol_diff", "get_session_stats"]);
}
