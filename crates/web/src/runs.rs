//! Index runs: those that go on with their progress, and the last ones, as a list and as a stream of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use maud::{Markup, html};
use tokio::sync::mpsc::Sender;

use super::links;
use super::start::grouped;
use super::text::Visible;
use super::view;
use codelode_http::Bytes;
use codelode_service::catalog::runs;
use codelode_service::tools::Context;

/// Ended runs of the list.
const MOST_ENDED: usize = 5;
/// Time between two looks.
const EVERY: Duration = Duration::from_millis(500);
/// Time limit of a stream: the browser asks again, and its rights are checked again.
const LONGEST: Duration = Duration::from_secs(60);

/// The list, as far as the caller may see it.
pub(super) fn list(cx: &Context) -> Markup {
    let request = view::request();
    let caller = cx.caller(&request);
    let (going, ended): (Vec<_>, Vec<_>) = runs::on(&caller).into_iter().partition(|run| run.took.is_none());
    let elsewhere = runs::elsewhere(&caller);
    html! {
        @for run in &going {
            li {
                (name(cx, &run.repo)) " "
                @match run.of.filter(|of| *of > 0) {
                    Some(of) => { progress max=(of) value=(run.done.min(of)) aria-label="Progress" {} " " (grouped(run.done)) " of " (grouped(of)) " files, " }
                    None => { progress aria-label="Progress" {} " " }
                }
                (Visible(&run.step)) ", " (run.began.elapsed().as_secs()) " s"
            }
        }
        @for repo in &elsewhere { li { (name(cx, repo)) " " progress aria-label="Progress" {} " in another process" } }
        @if going.is_empty() && elsewhere.is_empty() { li.weak { "Nothing is being indexed." } }
        @for run in ended.iter().take(MOST_ENDED) {
            @let took = run.took.unwrap_or_default();
            li.weak {
                (name(cx, &run.repo)) " "
                @if let Some(of) = run.of { (grouped(of)) " files " }
                "in " (format!("{:.1} s", took.as_secs_f64()))
            }
        }
    }
}

/// The name of a repository, which is a link once it can be read.
fn name(cx: &Context, repo: &str) -> Markup {
    match cx.indexes.registry().get(repo) {
        Some(sidecar) => html! { a href=(links::folder(repo, "")) { (Visible(&super::start::name(&sidecar))) } },
        None => html! { strong { (Visible(repo)) } },
    }
}

/// Sends the list as an event whenever it changes, until the browser leaves or the time is over.
pub(super) async fn tell(cx: Arc<Context>, sender: Sender<Bytes>) {
    let until = Instant::now() + LONGEST;
    let mut last = String::new();
    while Instant::now() < until && !sender.is_closed() {
        let of = cx.clone();
        let Ok(made) = tokio::task::spawn_blocking(move || list(&of).into_string()).await else { break };
        if made != last {
            let lines: String = made.lines().map(|line| format!("data: {line}\n")).collect();
            if sender.send(format!("event: runs\n{lines}\n").into()).await.is_err() {
                break;
            }
            last = made;
        }
        tokio::time::sleep(EVERY).await;
    }
}
