//! Answers of several repositories, each below the name of its own.

use serde_json::Value;

use super::{Fields, Wording, list_of, number_of, worded};

/// One answer after another.
pub(super) fn text(fields: &Fields, say: Wording<'_>) -> Option<String> {
    let answers = list_of(fields, "answers");
    let repo_of = |answer: &Value| answer.get("repo").and_then(Value::as_str).map(str::to_owned);
    let repos: Option<Vec<String>> = answers.iter().map(repo_of).collect();
    let repos = repos.filter(|repos| !repos.is_empty())?;
    let of_one = |(repo, answer): (&String, &Value)| {
        let mut own = answer.clone();
        own.as_object_mut().map(|fields| fields.shift_remove("repo"));
        format!("{repo}\n{}", worded(&own, say))
    };
    let each: Vec<String> = repos.iter().zip(answers).map(of_one).collect();
    let count = number_of(fields, "count").map(|count| format!("count {count}\n")).unwrap_or_default();
    Some(format!("{count}{}", each.join("\n\n")))
}
