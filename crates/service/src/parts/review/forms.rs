//! A review as other programs read it: SARIF for code scanning, and workflow commands that GitHub shows at lines.

use serde_json::{Value, json};

use super::Review;

/// A remark at a line.
struct Remark<'r> {
    rule: &'static str,
    is_warning: bool,
    file: &'r str,
    line: u32,
    text: String,
}

/// The rules of remarks, with what they are about.
const RULES: &[(&str, &str)] = &[
    ("api", "A public symbol changed"),
    ("callers", "A symbol with callers changed its declaration"),
    ("dead", "Nothing uses a symbol any more"),
    ("ring", "Folders import each other in a cycle"),
];

fn remarks(review: &Review) -> Vec<Remark<'_>> {
    let mut remarks = Vec::new();
    let file = |id: &'_ str| id.find("::").unwrap_or(id.len());
    for changed in &review.changes {
        let (path, id) = (&changed.symbol_id[..file(&changed.symbol_id)], &changed.symbol_id);
        let reached = format!("{} callers, {} possible", changed.caller_count, changed.possible_count);
        if let Some(breaking) = changed.breaks_public_api {
            let how = if breaking { "may break its users" } else { "stays compatible" };
            let text = format!("public API: {id} ({}) {how}; {reached}", changed.change);
            remarks.push(Remark { rule: "api", is_warning: breaking, file: path, line: changed.line, text });
        } else if changed.caller_count > 0 && matches!(changed.change, "signature" | "removed" | "renamed") {
            let text = format!("{id} ({}) has {reached}", changed.change);
            remarks.push(Remark { rule: "callers", is_warning: false, file: path, line: changed.line, text });
        }
    }
    for dead in &review.newly_dead {
        let path = &dead.symbol_id[..file(&dead.symbol_id)];
        let text = format!("nothing uses {} now (confidence {})", dead.symbol_id, dead.confidence);
        remarks.push(Remark { rule: "dead", is_warning: true, file: path, line: dead.line, text });
    }
    for ring in &review.new_rings {
        let text = format!("a new import creates a cycle of folders: {}", ring.folders.join(" → "));
        remarks.push(Remark { rule: "ring", is_warning: true, file: &ring.file, line: ring.line, text });
    }
    remarks
}

/// The remarks as a log of SARIF 2.1.0.
pub fn sarif(review: &Review) -> String {
    let result = |remark: Remark<'_>| {
        json!({
            "ruleId": remark.rule,
            "level": if remark.is_warning { "warning" } else { "note" },
            "message": {"text": remark.text},
            "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": as_uri(remark.file), "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": remark.line.max(1)},
            }}],
        })
    };
    let results: Vec<Value> = remarks(review).into_iter().map(result).collect();
    let rule = |(id, text): &(&str, &str)| json!({"id": id, "shortDescription": {"text": text}});
    let rules: Vec<Value> = RULES.iter().map(rule).collect();
    let driver = json!({"name": "codelode", "version": env!("CARGO_PKG_VERSION"), "rules": rules});
    let log = json!({
        "version": "2.1.0",
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    });
    format!("{log:#}\n")
}

/// The remarks as workflow commands of GitHub.
pub fn annotations(review: &Review) -> String {
    let line = |remark: Remark<'_>| {
        let level = if remark.is_warning { "warning" } else { "notice" };
        let file = escaped(remark.file).replace(':', "%3A").replace(',', "%2C");
        let title = RULES.iter().find(|(id, _)| *id == remark.rule).map_or(remark.rule, |(_, text)| *text);
        format!("::{level} file={file},line={},title={title}::{}\n", remark.line.max(1), escaped(&remark.text))
    };
    remarks(review).into_iter().map(line).collect()
}

/// A text in a workflow command. Names of a repository may hold anything.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A path as a relative address.
fn as_uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' => uri.push(char::from(byte)),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}
