//! `doctor`: reports problems of the index directory and of clients' configurations, and fixes what it can on request.

use std::io::{self, IsTerminal};

use clap::Args;
use serde_json::json;

use super::output::{self, Output, Paint};
use super::render::n_of;
use super::{FOUND, Global, NOTHING};
use crate::setup;
use codelode_base::config::Config;
use codelode_service::catalog::doctor::{self, Finding};

/// Find problems in the index directory: damaged or leftover files, missing folders, permissions, disk space, limits;
/// and clients' configurations that name a missing program.
///
/// Exit status: 0 nothing is wrong or all was mended, 1 something is wrong, 2 error.
#[derive(Args)]
pub(super) struct Doctor {
    /// Fix problems: reindex damaged checkouts, forget missing folders, remove leftover files.
    #[arg(long)]
    fix: bool,
}

/// Examines and prints.
pub(super) fn run(how: &Doctor, global: &Global, config: &Config) -> u8 {
    let paint = Paint::of(global.color, io::stderr().is_terminal());
    let tell = |what: &str| {
        if !global.quiet {
            output::complain(&format!("{}\n", paint.dim(what)));
        }
    };
    let mut report = doctor::examine(config, how.fix, &tell);
    report.findings.extend(drifted(config));
    if global.json {
        output::print_bytes(format!("{}\n", json!(report)).as_bytes());
    } else {
        show(&report, how.fix, Paint::of(global.color, io::stdout().is_terminal()));
    }
    if report.is_ill() { NOTHING } else { FOUND }
}

/// Clients whose configuration no longer starts this program.
fn drifted(config: &Config) -> Vec<Finding> {
    let drifts = super::init::surroundings(config).map(|around| setup::drift(&around)).unwrap_or_default();
    let finding = |drift: setup::Drift| Finding {
        subject: drift.path.display().to_string(),
        what: drift.what,
        is_problem: true,
        remedy: Some(drift.remedy),
        mended: false,
    };
    drifts.into_iter().map(finding).collect()
}

fn show(report: &doctor::Report, fix: bool, paint: Paint) {
    let mut out = Output::new(paint);
    let (repos, stores) = (n_of(report.repos as u64, "repo", "repos"), n_of(report.stores as u64, "store", "stores"));
    out.line(paint.dim(&format!(
        "codelode {}, format {}.{}; {} with {repos} in {stores}, {} MB",
        report.version,
        report.format,
        report.content,
        report.index_directory,
        report.bytes.div_ceil(1 << 20)
    )));
    for finding in &report.findings {
        let mark = match (finding.is_problem, finding.mended) {
            (true, true) => "mended:",
            (true, false) => "wrong:",
            (false, _) => "note:",
        };
        let mark = if finding.is_problem && !finding.mended { paint.bad(mark) } else { paint.name(mark) };
        out.line(format!("{mark} {}: {}", finding.subject, finding.what));
        if let Some(remedy) = finding.remedy.as_ref().filter(|_| !finding.mended) {
            out.line(paint.dim(&format!("  remedy: {}", out.words.say(remedy))));
        }
    }
    let problems = report.findings.iter().filter(|finding| finding.is_problem);
    let left = problems.clone().filter(|finding| !finding.mended).count();
    match (problems.count(), left) {
        (0, _) => out.line("nothing is wrong"),
        (_, 0) => out.line("all was mended"),
        (_, left) if fix => out.line(format!("{} could not be fixed", n_of(left as u64, "problem", "problems"))),
        (_, left) => {
            let left = n_of(left as u64, "problem", "problems");
            out.line(format!("{left}; try `codelode doctor --fix`"));
        }
    }
    out.print();
}
