//! Start page: the indexed repositories, index runs, the caller's calls, and findings about the indexes.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use maud::{Markup, html};

use super::layout::Page;
use super::routes::Asked;
use super::text::Visible;
use super::{doctor, links, plots, runs};
use codelode_service::answer::Request;
use codelode_service::answer::session::Stats;
use codelode_service::catalog::indexes;
use codelode_service::tools::Context;
use codelode_store::Sidecar;

/// Languages named in a row.
const MOST_LANGUAGES: usize = 4;
/// Time for comparing repositories with their folders; the rest stay unchecked.
const COMPARING: Duration = Duration::from_millis(80);

pub(super) fn page(asked: &Asked<'_>) -> Page {
    let mut all = asked.cx.indexes.registry().all();
    all.sort_by_key(|sidecar| std::cmp::Reverse(sidecar.indexed_at));
    let until = Instant::now() + COMPARING;
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
                            th.number scope="col" { "Index" }
                            th scope="col" { "Languages" }
                            th scope="col" { "State" }
                        } }
                        tbody { @for sidecar in &all { (row(asked.cx, sidecar, freshness(asked.cx, sidecar, until))) } }
                    }
                }
            }
            section {
                h2 { "Index runs" }
                ul #runs.runs data-events="/events" { (runs::list(asked.cx)) }
            }
            (figures(&asked.cx.session.stats()))
            @if doctor::is_for(asked) {
                section {
                    h2 { a href="/doctor" { "Findings" } }
                    div data-part="/doctor?as=part" {}
                }
            }
        }
    };
    Page::new("Repositories", body)
}

/// How fresh a repository is, in a word.
fn freshness(cx: &Context, sidecar: &Sidecar, until: Instant) -> &'static str {
    if sidecar.remote.is_some() {
        return "a commit";
    }
    let patience = until.saturating_duration_since(Instant::now());
    if patience.is_zero() {
        return "unchecked";
    }
    let request = Request { for_people: true, patience: Some(patience), ..Request::default() };
    let opened = indexes::open(&cx.caller(&request), Some(&sidecar.repo));
    opened.map_or("unreadable", |repo| repo.freshness.map_or("unchecked", |freshness| freshness.as_str()))
}

/// Calls of the caller since the server began, how long they took, and what they saved.
fn figures(stats: &Stats) -> Markup {
    let most = stats.latency_per_tool.values().map(|latency| latency.count).max().unwrap_or(0);
    let saved = |tool: &str| stats.tool_breakdown.get(tool).copied().unwrap_or(0);
    let most_saved = stats.tool_breakdown.values().copied().max().unwrap_or(0);
    html! {
        @if most > 0 {
            section {
                h2 { "Your calls " span.weak { (grouped(stats.session_calls)) " since the server began, "
                    (grouped(stats.total_calls)) " in all, " (grouped(stats.total_tokens_saved)) " tokens saved" } }
                div.scrolls tabindex="0" role="region" aria-label="Your calls" { table.figures {
                    thead { tr {
                        th scope="col" { "Tool" }
                        th scope="col" { "Calls" }
                        th scope="col" { "Half, 95 of 100, all within" }
                        th scope="col" { "Tokens saved" }
                        th.number scope="col" { "Errors" }
                    } }
                    tbody { @for (tool, latency) in &stats.latency_per_tool {
                        tr {
                            th scope="row" { (tool) }
                            td { (plots::share(latency.count, most)) " " (grouped(latency.count)) }
                            td {
                                (plots::times(latency)) " "
                                (milliseconds(latency.p50_ms)) ", " (milliseconds(latency.p95_ms)) ", " (milliseconds(latency.max_ms))
                            }
                            td { (plots::share(saved(tool), most_saved)) " " (grouped(saved(tool))) }
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

fn row(cx: &Context, sidecar: &Sidecar, freshness: &str) -> Markup {
    let mut languages: Vec<(&String, &u64)> = sidecar.languages.iter().collect();
    languages.sort_by_key(|(name, files)| (std::cmp::Reverse(**files), *name));
    let commit = sidecar.git_head.as_deref().and_then(|head| head.get(..10));
    html! {
        tr {
            th scope="row" {
                a href=(links::folder(&sidecar.repo, "")) { (Visible(&name(sidecar))) }
                @if let Some(given) = cx.indexes.given_name(&sidecar.repo) { " " span.badge { (Visible(&given)) } }
                @if let Some(commit) = commit { " " span.weak { (commit) } }
            }
            td.number { (grouped(sidecar.file_count)) }
            td.number { (grouped(sidecar.symbol_count)) }
            td.number { (grouped(cx.indexes.registry().store(&sidecar.store).bytes().div_ceil(1 << 20))) " MB" }
            td {
                @for (place, (language, files)) in languages.iter().take(MOST_LANGUAGES).enumerate() {
                    @if place > 0 { ", " }
                    (language) " " span.weak { (grouped(**files)) }
                }
                @if languages.len() > MOST_LANGUAGES { ", …" }
            }
            td { (freshness) " " span.weak { "indexed " (ago(sidecar.indexed_at)) } }
        }
    }
}

/// The name of a repository for people: that of its remote, else of its folder with its id's number.
pub(super) fn name(sidecar: &Sidecar) -> String {
    sidecar.origin.clone().unwrap_or_else(|| sidecar.repo.clone())
}

/// The time since a moment, in words.
pub(super) fn ago(seconds: i64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    past(now.saturating_sub(Duration::from_secs(u64::try_from(seconds).unwrap_or(0))))
}

/// A time that is over, in words.
pub(super) fn past(since: Duration) -> String {
    let since = since.as_secs();
    let (number, unit) = match since {
        0..60 => return "just now".to_owned(),
        60..3_600 => (since / 60, "minute"),
        3_600..86_400 => (since / 3_600, "hour"),
        86_400..5_184_000 => (since / 86_400, "day"),
        5_184_000..63_072_000 => (since / 2_629_800, "month"),
        _ => (since / 31_557_600, "year"),
    };
    format!("{} ago", counted(number as usize, unit))
}

/// A number of things, whose name takes an `s`.
pub(super) fn counted(number: usize, name: &str) -> String {
    format!("{} {name}{}", grouped(number as u64), if number == 1 { "" } else { "s" })
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
