//! A review as Markdown: a summary of at most forty lines, and the rest in folded parts.

use std::fmt::Write;

use super::{Changed, Earlier, NewRing, Review, Tested, Usual};

/// The most touched symbols in the summary.
const CHANGES: usize = 8;
/// The most files of tests in the summary.
const TESTS: usize = 10;
/// The most steps of a way that are shown; those in the middle are left out.
const STEPS: usize = 5;

/// A review as Markdown.
pub fn written(review: &Review) -> String {
    let mut text = String::new();
    let range = format!("{}..{}", short(&review.base), short(&review.head));
    let _ = writeln!(text, "## Review of {range}\n");
    let callers: usize = review.changes.iter().map(|changed| changed.caller_count).sum();
    let possible: usize = review.changes.iter().map(|changed| changed.possible_count).sum();
    let _ = writeln!(
        text,
        "{} touched in {}, {}{}, {}.",
        n_of(review.changed_symbols_count, "symbol"),
        n_of(review.changed_files_count, "changed file"),
        n_of(callers, "caller"),
        if possible > 0 { format!(" ({possible} more possible)") } else { String::new() },
        n_of(review.tests_count, "test file") + " to run",
    );
    if let Some(why) = &review.empty_because {
        let _ = writeln!(text, "\nNothing is known to depend on it: {why}.");
    }
    if !review.changes.is_empty() {
        text.push_str("\n| change | symbol | callers |\n|---|---|---|\n");
        let mut first: Vec<&Changed> = review.changes.iter().collect();
        first.sort_by_key(|changed| (is_quiet(changed), std::cmp::Reverse(changed.caller_count)));
        first.iter().take(CHANGES).for_each(|changed| row(&mut text, changed));
    }
    if !review.tests.is_empty() {
        text.push_str("\n**Tests to run**, the most direct first\n\n");
        for (place, tested) in review.tests.iter().take(TESTS).enumerate() {
            let _ = writeln!(text, "{}. {}", place + 1, test(tested));
        }
    }
    beside(&mut text, review);
    fold(&mut text, "Touched symbols", review.changes.len(), CHANGES, |text| {
        text.push_str("| change | symbol | callers |\n|---|---|---|\n");
        review.changes.iter().for_each(|changed| row(text, changed));
    });
    fold(&mut text, "Tests to run", review.tests.len(), TESTS, |text| {
        for (place, tested) in review.tests.iter().enumerate().skip(TESTS) {
            let _ = writeln!(text, "{}. {}", place + 1, test(tested));
        }
    });
    fold(&mut text, "Tests that the change touches", review.changed_tests.len(), 0, |text| {
        for name in &review.changed_tests {
            let _ = writeln!(text, "- {}", code(name));
        }
    });
    text
}

/// The most facts of a kind in a line of the summary.
const BESIDE: usize = 3;

/// Facts beside: a line for each kind.
fn beside(text: &mut String, review: &Review) {
    let mut lines = Vec::new();
    let mut line = |title: &str, facts: Vec<String>| {
        if !facts.is_empty() {
            let more = if facts.len() > BESIDE { format!(" and {} more", facts.len() - BESIDE) } else { String::new() };
            lines.push(format!("- **{title}**: {}{more}", facts[..facts.len().min(BESIDE)].join(", ")));
        }
    };
    let public = |wanted: bool| -> Vec<String> {
        let of_kind = review.changes.iter().filter(|changed| changed.breaks_public_api == Some(wanted));
        of_kind.map(|changed| format!("{} ({})", code(name_of(&changed.symbol_id)), changed.change)).collect()
    };
    line("Public API, may break users", public(true));
    line("Public API, compatible", public(false));
    line("Nothing uses any more", review.newly_dead.iter().map(|dead| code(name_of(&dead.symbol_id))).collect());
    let ring = |ring: &NewRing| {
        format!("{} at {}", code(&ring.folders.join(" → ")), code(&format!("{}:{}", ring.file, ring.line)))
    };
    line("New cycle of folders", review.new_rings.iter().map(ring).collect());
    let usual = |usual: &Usual| {
        format!("{} ({} of {} times with {})", code(&usual.file), usual.both, usual.of, code(&usual.with))
    };
    line("Usually changed too", review.usually_changed_too.iter().map(usual).collect());
    line("Owners", review.owners.iter().map(|owner| format!("{} ({})", code(&owner.owner), owner.files)).collect());
    let earlier = |earlier: &Earlier| format!("{} {}", code(short(&earlier.commit)), code(&earlier.title));
    line("Last changed by", review.last_commits.iter().map(earlier).collect());
    if !lines.is_empty() {
        let _ = writeln!(text, "\n{}", lines.join("\n"));
    }
}

/// A part that is folded, if there is more than the summary shows.
fn fold(text: &mut String, title: &str, n: usize, shown: usize, write: impl FnOnce(&mut String)) {
    if n > shown {
        let _ = writeln!(text, "\n<details><summary>{title} ({n})</summary>\n");
        write(text);
        text.push_str("\n</details>\n");
    }
}

/// Whether a change can hardly break its users.
fn is_quiet(changed: &Changed) -> u8 {
    match changed.change {
        "removed" | "signature" | "renamed" => 0,
        "added" => 2,
        _ => 1,
    }
}

fn row(text: &mut String, changed: &Changed) {
    let mut callers: Vec<String> =
        changed.callers.iter().take(2).map(|caller| code(name_of(&caller.symbol_id))).collect();
    let more = changed.caller_count.saturating_sub(callers.len());
    if more > 0 {
        callers.push(if callers.is_empty() { n_of(more, "caller") } else { format!("{more} more") });
    }
    if changed.possible_count > 0 {
        callers.push(format!("{} possible", changed.possible_count));
    }
    let (file, name) = (file_of(&changed.symbol_id), name_of(&changed.symbol_id));
    let was = changed.was.as_deref().map(|was| format!(" (was {})", code(name_of(was)))).unwrap_or_default();
    let place = code(&format!("{file}:{}", changed.line));
    let _ = writeln!(text, "| {} | {}{was} {place} | {} |", changed.change, code(name), callers.join(", "));
}

/// A file of tests in one line.
fn test(tested: &Tested) -> String {
    let mut line = code(&tested.file);
    if !tested.tests.is_empty() {
        let names: Vec<String> = tested.tests.iter().take(2).map(|name| code(name)).collect();
        let more = tested.tests.len() - names.len() + tested.more;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = write!(line, ": {}{more}", names.join(", "));
    }
    let mut way: Vec<&str> = tested.way.iter().map(String::as_str).collect();
    if way.len() > STEPS {
        way.splice(STEPS - 2..way.len() - 1, ["…"]);
    }
    let by = match tested.through {
        "name" => " (by its name)".to_owned(),
        "history" => " (it changed with changed files before)".to_owned(),
        through => {
            let way: Vec<String> =
                way.into_iter().map(|step| if step == "…" { step.to_owned() } else { code(step) }).collect();
            let sure = if through == "uses" { String::new() } else { format!(", {through}") };
            format!(" ({}{sure})", way.join(" → "))
        }
    };
    line + &by
}

/// A text as code. Names of a repository may hold anything.
fn code(text: &str) -> String {
    let clean: String = text.chars().filter(|c| !c.is_control() && *c != '`').collect();
    format!("`{}`", clean.replace('|', "\\|"))
}

fn file_of(id: &str) -> &str {
    id.split("::").next().unwrap_or(id)
}

/// The qualified name in an id.
fn name_of(id: &str) -> &str {
    let name = id.split_once("::").map_or(id, |(_, name)| name);
    name.rsplit_once('#').map_or(name, |(name, _)| name)
}

fn n_of(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A commit as people write it.
fn short(commit: &str) -> &str {
    let is_id = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id { &commit[..10] } else { commit }
}
