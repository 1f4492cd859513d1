//! Counts of requests and calls, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Upper bounds of the histogram, in seconds.
const BOUNDS: [f64; 13] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

/// Counts since the process began.
#[derive(Default)]
pub struct Metrics(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    /// Calls by tool and outcome.
    calls: BTreeMap<(&'static str, &'static str), u64>,
    /// Times of calls by tool.
    times: BTreeMap<&'static str, Times>,
    /// Answers by status.
    answers: BTreeMap<u16, u64>,
}

#[derive(Default)]
struct Times {
    /// Calls up to each bound; the last is for those beyond.
    buckets: [u64; BOUNDS.len() + 1],
    seconds: f64,
}

impl Metrics {
    /// Counts a call. Both names come from tables, so their number is bounded.
    pub fn call(&self, tool: &'static str, outcome: &'static str, took: Duration) {
        let mut counts = self.counts();
        *counts.calls.entry((tool, outcome)).or_default() += 1;
        let times = counts.times.entry(tool).or_default();
        let seconds = took.as_secs_f64();
        times.buckets[BOUNDS.iter().take_while(|bound| seconds > **bound).count()] += 1;
        times.seconds += seconds;
    }

    /// Counts an answer.
    pub(super) fn answer(&self, status: u16) {
        *self.counts().answers.entry(status).or_default() += 1;
    }

    /// Writes all counts.
    pub(super) fn write(&self, page: &mut Page) {
        let counts = self.counts();
        let answers = counts.answers.iter().map(|(status, n)| (vec![("status", status.to_string())], *n as f64));
        page.counter("codelode_http_answers_total", "Answers by HTTP status.", answers);
        let calls = counts.calls.iter().map(|((tool, outcome), n)| {
            (vec![("tool", (*tool).to_owned()), ("outcome", (*outcome).to_owned())], *n as f64)
        });
        page.counter("codelode_calls_total", "Calls of tools by outcome.", calls);
        page.head("codelode_call_seconds", "histogram", "Times of calls.");
        for (tool, times) in &counts.times {
            let mut sum = 0;
            let bounds = BOUNDS.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
            for (bound, n) in bounds.zip(times.buckets) {
                sum += n;
                page.line("codelode_call_seconds_bucket", &[("tool", (*tool).to_owned()), ("le", bound)], sum as f64);
            }
            page.line("codelode_call_seconds_sum", &[("tool", (*tool).to_owned())], times.seconds);
            page.line("codelode_call_seconds_count", &[("tool", (*tool).to_owned())], sum as f64);
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        // A panic leaves a count short by one at most.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Labels of a value.
pub type Labels = Vec<(&'static str, String)>;

/// A page of measurements.
#[derive(Default)]
pub struct Page(pub(super) String);

impl Page {
    /// Writes a gauge: its name, meaning and values.
    pub fn gauge(&mut self, name: &str, help: &str, values: impl IntoIterator<Item = (Labels, f64)>) {
        self.family(name, "gauge", help, values);
    }

    /// Writes a counter: its name, meaning and values.
    pub fn counter(&mut self, name: &str, help: &str, values: impl IntoIterator<Item = (Labels, f64)>) {
        self.family(name, "counter", help, values);
    }

    fn family(&mut self, name: &str, kind: &str, help: &str, values: impl IntoIterator<Item = (Labels, f64)>) {
        self.head(name, kind, help);
        for (labels, value) in values {
            self.line(name, &labels, value);
        }
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &[(&str, String)], value: f64) {
        let escaped = |text: &str| text.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
        let labels: Vec<String> = labels.iter().map(|(key, text)| format!("{key}=\"{}\"", escaped(text))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        _ = writeln!(self.0, "{name}{labels} {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_fall_into_buckets_that_add_up() {
        let metrics = Metrics::default();
        for milliseconds in [1, 3, 3, 100_000] {
            metrics.call("search_text", "ok", Duration::from_millis(milliseconds));
        }
        metrics.answer(200);
        let mut page = Page::default();
        metrics.write(&mut page);
        page.gauge("x", "X.", [(vec![("repo", "a\"b\\c\nd".to_owned())], 1.5)]);
        for line in [
            "codelode_http_answers_total{status=\"200\"} 1",
            "codelode_calls_total{tool=\"search_text\",outcome=\"ok\"} 4",
            "codelode_call_seconds_bucket{tool=\"search_text\",le=\"0.0005\"} 0",
            "codelode_call_seconds_bucket{tool=\"search_text\",le=\"0.001\"} 1",
            "codelode_call_seconds_bucket{tool=\"search_text\",le=\"0.005\"} 3",
            "codelode_call_seconds_bucket{tool=\"search_text\",le=\"30\"} 3",
            "codelode_call_seconds_bucket{tool=\"search_text\",le=\"+Inf\"} 4",
            "codelode_call_seconds_count{tool=\"search_text\"} 4",
            r#"x{repo="a\"b\\c\nd"} 1.5"#,
        ] {
            assert!(page.0.lines().any(|other| other == line), "{line} is not in\n{}", page.0);
        }
    }
}
