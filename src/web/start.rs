//! Start page: the indexed repositories.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use maud::{Markup, html};

use super::layout::Page;
use super::links;
use super::routes::Asked;
use super::text::Visible;
use crate::answer::session::Stats;
use crate::store::Sidecar;

/// Languages named in a row.
const MOST_LANGUAGES: usize = 4;

pub(super) fn page(asked: &Asked<'_>) -> Page {
    let mut all = asked.cx.indexes.registry().all();
    all.sort_by_key(|sidecar| std::cmp::Reverse(sidecar.indexed_at));
    let body = html! {
        main.start {
            h1 { "Repositories" }
            @if all.is_empty() {
                p { "Nothing is indexed yet that you may see. " code { "codelode index FOLDER" } " indexes a folder." }
            } @else {
                div.scrolls tabindex="0" role="region" aria-label="Repositories" {
                    table {
                        thead { tr {
                            th scope="col" { "Repository" }
                            th.number scope="col" { "Files" }
                            th.number scope="col" { "Symbols" }
                            th scope="col" { "Languages" }
                            th scope="col" { "Looked at" }
                        } }
                        tbody { @for sidecar in &all { (row(sidecar)) } }
                    }
                }
            }
            (figures(&asked.cx.session.stats()))
        }
    };
    Page::new("Repositories", body)
}

/// Calls of the caller since the server began, and how long they took.
fn figures(stats: &Stats) -> Markup {
    let most = stats.latency_per_tool.values().map(|latency| latency.count).max().unwrap_or(0);
    html! {
        @if most > 0 {
            section {
                h2 { "Your calls " span.weak { (grouped(stats.session_calls)) " since the server began, "
                    (grouped(stats.total_calls)) " in all, " (grouped(stats.total_tokens_saved)) " tokens saved" } }
                div.scrolls tabindex="0" role="region" aria-label="Your calls" { table.figures {
                    thead { tr {
                        th scope="col" { "Tool" }
                        th scope="col" { "Calls" }
                        th.number scope="col" { "Half within" }
                        th.number scope="col" { "95 of 100 within" }
                        th.number scope="col" { "Errors" }
                    } }
                    tbody { @for (tool, latency) in &stats.latency_per_tool {
                        tr {
                            th scope="row" { (tool) }
                            td { meter min="0" max=(most) value=(latency.count) aria-label="Calls" {} " " (grouped(latency.count)) }
                            td.number { (milliseconds(latency.p50_ms)) }
                            td.number { (milliseconds(latency.p95_ms)) }
                            td.number { (latency.errors) }
                        }
                    } }
                } }
            }
        }
    }
}

fn milliseconds(ms: f64) -> String {
    format!("{ms:.1} ms")
}

fn row(sidecar: &Sidecar) -> Markup {
    let mut languages: Vec<(&String, &u64)> = sidecar.languages.iter().collect();
    languages.sort_by_key(|(name, files)| (std::cmp::Reverse(**files), *name));
    let commit = sidecar.git_head.as_deref().and_then(|head| head.get(..10));
    html! {
        tr {
            th scope="row" {
                a href=(links::folder(&sidecar.repo, "")) { (Visible(&name(sidecar))) }
                @if let Some(commit) = commit { " " span.weak { (commit) } }
            }
            td.number { (grouped(sidecar.file_count)) }
            td.number { (grouped(sidecar.symbol_count)) }
            td {
                @for (place, (language, files)) in languages.iter().take(MOST_LANGUAGES).enumerate() {
                    @if place > 0 { ", " }
                    (language) " " span.weak { (grouped(**files)) }
                }
                @if languages.len() > MOST_LANGUAGES { ", …" }
            }
            td { (ago(sidecar.indexed_at)) }
        }
    }
}

/// The name of a repository for people: that of its remote, else of its folder with its id's number.
pub(super) fn name(sidecar: &Sidecar) -> String {
    sidecar.origin.clone().unwrap_or_else(|| sidecar.repo.clone())
}

/// The time since a moment, in words.
fn ago(seconds: i64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let since = now.saturating_sub(Duration::from_secs(u64::try_from(seconds).unwrap_or(0))).as_secs();
    let (number, unit) = match since {
        0..60 => return "just now".to_owned(),
        60..3_600 => (since / 60, "minute"),
        3_600..86_400 => (since / 3_600, "hour"),
        _ => (since / 86_400, "day"),
    };
    format!("{number} {unit}{} ago", if number == 1 { "" } else { "s" })
}

/// A number with a space before each group of three digits.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut all = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            all.push('\u{202f}');
        }
        all.push(digit);
    }
    all
}
