//! Findings about the index directory, for those who may see all of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use maud::{Markup, html};

use super::failure::Failure;
use super::layout::Page;
use super::routes::{Asked, Reply};
use super::start::{grouped, past};
use super::text::Visible;
use super::view;
use codelode_service::catalog::doctor::{self, Report};

/// Age up to which findings are shown again: an examination reads every index.
const OLDEST: Duration = Duration::from_secs(600);

/// The last examination of this process.
static LAST: Mutex<Last> = Mutex::new(Last { found: None, is_running: false });

struct Last {
    found: Option<(Instant, Arc<Report>)>,
    is_running: bool,
}

/// Whether the caller may see findings, which name folders of this machine.
pub(super) fn is_for(asked: &Asked<'_>) -> bool {
    let request = view::request();
    asked.cx.caller(&request).rights.sees_all()
}

/// Shows findings about the index directory; `as=part` for these alone, `again=1` for new ones.
pub(super) fn page(asked: &Asked<'_>) -> Result<Reply, Failure> {
    if !is_for(asked) {
        return Err(Failure::missing("Nothing has this address."));
    }
    let oldest = if asked.value("again").is_empty() { OLDEST } else { Duration::ZERO };
    let found = match examined(asked, oldest) {
        Some((at, report)) => findings(&report, at.elapsed()),
        None => html! { p.weak { "The indexes are being examined; load the page again in a moment." } },
    };
    if asked.value("as") == "part" {
        return Ok(Reply::Part(found));
    }
    let body = html! {
        main {
            h1 { "Findings" }
            (found)
            p.weak { code { "codelode doctor --fix" } " applies the remedies. " a href="/doctor?again=1" { "Examine again" } }
        }
    };
    Ok(Reply::Page(Page::new("Findings", body)))
}

/// The last examination, or a new one if that is too old; `None` while the first one goes on.
fn examined(asked: &Asked<'_>, oldest: Duration) -> Option<(Instant, Arc<Report>)> {
    {
        let mut last = last();
        if last.is_running || last.found.as_ref().is_some_and(|(at, _)| at.elapsed() < oldest) {
            return last.found.clone();
        }
        last.is_running = true;
    }
    let report = Arc::new(doctor::examine(&asked.cx.config, false, &|_| {}));
    let mut last = last();
    last.is_running = false;
    last.found.insert((Instant::now(), report)).clone().into()
}

fn last() -> MutexGuard<'static, Last> {
    // A panic in an examination only ends the findings.
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

fn findings(report: &Report, age: Duration) -> Markup {
    html! {
        p.weak {
            (if report.repos == 1 { "1 repository".to_owned() } else { format!("{} repositories", report.repos) }) ", " (grouped(report.bytes >> 20)) " MB of indexes, version " (report.version)
            ", examined " (past(age))
        }
        @if report.findings.is_empty() { p { "Nothing is wrong." } }
        ul.findings {
            @for finding in &report.findings {
                li {
                    @if finding.is_problem { strong.problem { "Problem" } " " }
                    code { (Visible(&finding.subject)) } " " (Visible(&finding.what))
                    @if let Some(remedy) = &finding.remedy { div.weak { (Visible(remedy)) } }
                }
            }
        }
    }
}
