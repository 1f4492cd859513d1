//! `init`: adds the server to the configurations of clients after showing the changes, and removes it again.

use std::io::{self, BufRead as _, IsTerminal};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::first::{self, FirstQuestion};
use super::output::{self, Output, Paint};
use super::render::n_of;
use super::{FAILED, FOUND, Global, NOTHING, complain, fail, guide};
use crate::setup::{self, Action, Launch, Part, ProbeAnswer, SetupRequest, Step, Surroundings};
use codelode_base::config::{self, Config};
use codelode_lang::languages::{LANGUAGES, LanguageSpec};

/// Set up the clients on this machine: find them, show the changes, ask once, write, and try the result.
///
/// Then begins the index of the current repository, and ends with a question that it answers.
///
/// Writes the server entry `codelode` and, if a client supports them, hooks, a skill, a sub-agent and five lines of
/// instructions. The rest of a file stays unchanged. Exit status: 0 done, 1 no client found, 2 error.
#[derive(Args)]
pub(super) struct Init {
    /// Set up this client, found or not, for example claude-code; repeatable [default: all found].
    #[arg(long, value_name = "CLIENT")]
    client: Vec<String>,
    /// Configuration to write: user or project [default: user].
    #[arg(long, value_name = "SCOPE", hide_possible_values = true)]
    scope: Option<Scope>,
    /// Connect clients to the server at this URL, instead of a program that they start.
    #[arg(long, value_name = "URL")]
    http: Option<String>,
    /// Environment variable with clients' token for that server.
    #[arg(long, value_name = "VARIABLE", requires = "http")]
    token_variable: Option<String>,
    /// Skip the hooks, which add facts from the index to an agent's searches.
    #[arg(long)]
    no_hooks: bool,
    /// Skip the skill.
    #[arg(long)]
    no_skill: bool,
    /// Skip the sub-agent.
    #[arg(long)]
    no_agent: bool,
    /// Skip the five lines in the instructions file, for example AGENTS.md, that say when to ask codelode.
    #[arg(long)]
    no_agents_md: bool,
    /// Also set up the language server, for clients that take one: Copilot CLI, Crush, opencode.
    #[arg(long, conflicts_with_all = ["undo", "http"])]
    lsp: bool,
    /// Undo: remove what init wrote. A file without later changes is restored byte for byte.
    #[arg(long, conflicts_with_all = ["http", "print_config"])]
    undo: bool,
    /// Show the changes and write nothing.
    #[arg(long)]
    dry_run: bool,
    /// Write without asking.
    #[arg(long, short)]
    yes: bool,
    /// Print the configuration for this client and write nothing.
    #[arg(long, value_name = "CLIENT", conflicts_with = "client")]
    print_config: Option<String>,
}

/// Owner of a configuration.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scope {
    /// The user.
    User,
    /// The project.
    Project,
}

impl Init {
    /// The parts to write in addition to the server entry.
    fn beside(&self) -> Vec<Part> {
        let parts = [
            (Part::Hooks, !self.no_hooks),
            (Part::Skill, !self.no_skill),
            (Part::Agent, !self.no_agent),
            (Part::Guide, !self.no_agents_md),
            (Part::Lsp, self.lsp),
        ];
        parts.into_iter().filter(|(_, is_wanted)| *is_wanted).map(|(part, _)| part).collect()
    }
}

/// Sets up clients, or undoes that.
pub(super) fn run(how: &Init, global: &Global, config: &Config) -> u8 {
    let around = match surroundings(config) {
        Ok(around) => around,
        Err(problem) => return complain(&problem),
    };
    let options = SetupRequest {
        clients: how.client.clone(),
        scope: how.scope.map(|scope| if scope == Scope::User { setup::Scope::User } else { setup::Scope::Project }),
        url: how.http.clone(),
        token: how.token_variable.clone(),
        beside: how.beside(),
        texts: guide::texts(),
        endings: endings(),
    };
    if let Some(id) = &how.print_config {
        return print_config(&around, id, &options);
    }
    let planned = if how.undo { setup::plan_undo(&around, &options) } else { setup::plan(&around, &options) };
    let steps = match planned {
        Ok(steps) => steps,
        Err(err) => return fail(&err),
    };
    Setup { how, global, config, around, paint: Paint::of(global.color, io::stdout().is_terminal()) }.run(&steps)
}

/// Extensions of files with name resolution, and the names of their languages.
fn endings() -> Vec<(String, String)> {
    let specs = LANGUAGES.iter().filter(|spec| spec.relating.is_some());
    let of = |spec: &&LanguageSpec| {
        let id = spec.id;
        spec.extensions.iter().map(move |ending| (format!(".{ending}"), id.to_owned()))
    };
    specs.flat_map(of).collect()
}

/// The places to search for clients: the user's home, and the project around the current folder.
pub(super) fn surroundings(config: &Config) -> Result<Surroundings, String> {
    let user = config::user().ok_or("no home folder: set HOME to an absolute path")?;
    let program = std::env::current_exe().map_err(|err| format!("this program has no path: {err}"))?;
    let here = std::env::current_dir().map_err(|err| format!("the current folder cannot be read: {err}"))?;
    let root = here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&here).to_owned();
    let project = Some(root).filter(|root| !config::is_home(root));
    let (home, ca_file) = (config.home.clone(), config.ca_file.clone());
    Ok(Surroundings { user, project, home, program, variable: config::variable, ca_file })
}

/// Prints the configuration of one client, and on standard error its path.
fn print_config(around: &Surroundings, id: &str, options: &SetupRequest) -> u8 {
    let (client, text) =
        match setup::client(id).and_then(|client| Ok((client, setup::sample(around, client, options)?))) {
            Ok(found) => found,
            Err(err) => return fail(&err),
        };
    output::print_bytes(text.as_bytes());
    let files = client.user.here().iter().chain(&client.project).cloned().collect::<Vec<_>>().join(", or ");
    let files = if files.is_empty() { client.note.clone().unwrap_or_default() } else { files };
    output::complain(&format!("{}: {files}\n", client.name));
    FOUND
}

/// A setup, with the state needed to report it.
struct Setup<'a> {
    how: &'a Init,
    global: &'a Global,
    config: &'a Config,
    around: Surroundings,
    paint: Paint,
}

impl Setup<'_> {
    fn run(&self, steps: &[Step]) -> u8 {
        if steps.is_empty() {
            return self.nobody();
        }
        let n_due = steps.iter().filter(|step| step.is_due()).count();
        let is_wrong = steps.iter().any(|step| step.action.is_err());
        if !self.global.json {
            self.show(steps);
        }
        if n_due > 0 && !self.how.dry_run && !self.how.yes {
            if !io::stdin().is_terminal() || self.global.json {
                return complain("nothing was written; --yes writes without asking, --dry-run only shows");
            }
            if !self.agreed(n_due) {
                output::complain("nothing was written\n");
                return FOUND;
            }
        }
        let (mut done, mut failed) = (Vec::new(), is_wrong);
        if !self.how.dry_run {
            for step in steps.iter().filter(|step| step.is_due()) {
                let result = match self.how.undo {
                    true => setup::apply_undo(&self.around, step),
                    false => setup::apply(&self.around, step),
                };
                match result {
                    Ok(()) => done.push(step),
                    Err(err) => failed = fail(&err) == FAILED,
                }
            }
        }
        let is_idle = |step: &&Step| matches!(step.action, Ok(Action::Nothing));
        let ready: Vec<&Step> = steps.iter().filter(is_idle).chain(done.iter().copied()).collect();
        let answers = if self.how.dry_run || self.how.undo { Vec::new() } else { self.answers(&ready) };
        failed |= answers.iter().any(|(_, answer)| answer.is_err());
        match self.global.json {
            true => self.print(steps, &done, &answers, self.first_question()),
            false => {
                self.tell(&done, &answers);
                self.tell_question(self.first_question());
            }
        }
        if failed { FAILED } else { FOUND }
    }

    /// Reports that there is nothing to set up or to undo.
    fn nobody(&self) -> u8 {
        if self.how.undo {
            output::complain("nothing to undo\n");
            return FOUND;
        }
        let ids: Vec<&str> = setup::clients().iter().map(|client| client.id.as_str()).collect();
        output::complain(&format!("no client was found; --client sets one up anyway: {}\n", ids.join(", ")));
        NOTHING
    }

    /// Shows the changes before writing.
    fn show(&self, steps: &[Step]) {
        let mut out = Output::new(self.paint);
        for step in steps {
            let parts: Vec<&str> = step.parts.iter().map(|part| part.name()).collect();
            let (name, path) = (self.paint.name(&step.client.name), self.shown(&step.path));
            let title = format!("{name}: {path} ({})", parts.join(", "));
            match &step.action {
                Err(err) => {
                    out.line(title);
                    out.line(format!("  {} {}", self.paint.bad("error:"), said(err)));
                }
                Ok(Action::Nothing) => out.line(format!("{title}: nothing to do")),
                Ok(Action::Remove) => out.line(format!("{title}: removed, as init made it")),
                Ok(Action::Write(text)) => {
                    out.line(format!("{title}{}", if step.is_new() { ", new" } else { "" }));
                    for hunk in setup::hunks(step.before(), text) {
                        if !step.is_new() {
                            out.line(self.paint.dim(&format!("  line {}:", hunk.line)));
                        }
                        hunk.removed
                            .iter()
                            .for_each(|line| out.line(format!("  {}", self.paint.bad(&format!("- {line}")))));
                        hunk.added
                            .iter()
                            .for_each(|line| out.line(format!("  {}", self.paint.name(&format!("+ {line}")))));
                    }
                }
            }
        }
        out.print();
    }

    /// Asks the user for agreement.
    fn agreed(&self, n_due: usize) -> bool {
        let what = if n_due == 1 { "this file".to_owned() } else { format!("these {n_due} files") };
        output::complain(&format!("{} {what}? [y/N] ", if self.how.undo { "Restore" } else { "Write" }));
        let mut answer = String::new();
        let _ = io::stdin().lock().read_line(&mut answer);
        ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
    }

    /// Starts or contacts the server as each configured client would, each way once.
    fn answers(&self, steps: &[&Step]) -> Vec<(Launch, Result<ProbeAnswer, String>)> {
        let mut answers: Vec<(Launch, Result<ProbeAnswer, String>)> = Vec::new();
        for step in steps {
            let Some(launch) = setup::launch_of(&self.around, step) else { continue };
            if !answers.iter().any(|(known, _)| *known == launch) {
                let answer = setup::probe(&self.around, &launch);
                answers.push((launch, answer));
            }
        }
        answers
    }

    /// Reports the changes, and whether the server answers.
    fn tell(&self, done: &[&Step], answers: &[(Launch, Result<ProbeAnswer, String>)]) {
        let mut out = Output::new(self.paint);
        for step in done {
            let verb = match (&step.action, self.how.undo) {
                (Ok(Action::Remove), _) => "removed",
                (_, true) => "restored",
                _ => "wrote",
            };
            out.line(format!("{verb} {}", self.shown(&step.path)));
        }
        for (launch, answer) in answers {
            let command = match launch {
                Launch::Local { program, args } => format!("{program} {}", args.join(" ")),
                Launch::Remote { url, .. } => url.clone(),
            };
            match answer {
                Ok(answer) => out.line(format!(
                    "{command}: {} answers in {} ms, with {}: {}",
                    answer.server,
                    answer.time.as_millis(),
                    n_of(answer.tools.len() as u64, "tool", "tools"),
                    answer.tools.join(", ")
                )),
                Err(problem) => out.line(format!("{} {command}: {problem}", self.paint.bad("error:"))),
            }
        }
        if !self.global.quiet && !self.how.undo && !done.is_empty() {
            let mut notes: Vec<String> = Vec::new();
            for step in done {
                let of_project = step.client.project_note.iter().filter(|_| step.scope == setup::Scope::Project);
                let is_of = |part: Part| step.parts.contains(&part);
                let of_hooks =
                    step.client.hooks.iter().filter(|_| is_of(Part::Hooks)).filter_map(|it| it.note.as_ref());
                let of_lsp = step.client.lsp.iter().filter(|_| is_of(Part::Lsp)).filter_map(|it| it.note.as_ref());
                let of_client = step
                    .client
                    .note
                    .iter()
                    .chain(of_project)
                    .filter(|_| is_of(Part::Server))
                    .chain(of_hooks)
                    .chain(of_lsp);
                notes.extend(of_client.map(|note| format!("{}: {note}", step.client.name)));
            }
            let by_name = done.iter().filter(|step| step.scope == setup::Scope::Project && step.client.is_desktop);
            let by_name: Vec<&str> = by_name.map(|step| step.client.name.as_str()).collect();
            if !by_name.is_empty() && self.how.http.is_none() {
                let names = by_name.join(", ");
                notes.push(format!("{names}: codelode must be on the desktop's PATH, for example in /usr/local/bin"));
            }
            let last = "restart running clients to apply this; `codelode init --undo` reverts it";
            notes.push(last.to_owned());
            out.notes(notes, Paint::of(self.global.color, io::stderr().is_terminal()));
        }
        out.print();
    }

    /// Begins the index of the current repository, and asks it a first question.
    fn first_question(&self) -> Option<FirstQuestion> {
        let is_elsewhere = self.how.http.is_some() || self.config.server.is_some();
        if self.how.undo || self.how.dry_run || is_elsewhere {
            return None;
        }
        let root = self.around.project.as_deref().filter(|root| root.join(".git").exists())?;
        first::asked(root, self.config.clone(), self.global)
    }

    /// Ends with a question that the user can ask now, and the beginning of its answer as a comment of the shell.
    fn tell_question(&self, question: Option<FirstQuestion>) {
        let Some(FirstQuestion { command, answer }) = question.filter(|_| !self.global.quiet) else { return };
        let mut out = Output::new(self.paint);
        out.line(format!("{}  {}", self.paint.name(&command), self.paint.dim(&format!("# {answer}"))));
        out.print();
    }

    /// Prints the result as JSON.
    fn print(
        &self,
        steps: &[Step],
        done: &[&Step],
        answers: &[(Launch, Result<ProbeAnswer, String>)],
        question: Option<FirstQuestion>,
    ) {
        let files: Vec<Value> = steps
            .iter()
            .map(|step| {
                let is_done = done.iter().any(|other| std::ptr::eq(*other, step));
                let (action, error) = match &step.action {
                    Ok(Action::Nothing) => ("nothing", None),
                    Ok(Action::Write(_)) => ("write", None),
                    Ok(Action::Remove) => ("remove", None),
                    Err(err) => ("error", Some(said(err))),
                };
                let scope = if step.scope == setup::Scope::User { "user" } else { "project" };
                json!({"client": step.client.id, "scope": scope, "file": step.path, "parts": step.parts, "action": action, "done": is_done, "error": error})
            })
            .collect();
        let servers: Vec<Value> = answers
            .iter()
            .map(|(launch, answer)| {
                let way = match launch {
                    Launch::Local { program, args } => json!({"command": program, "args": args}),
                    Launch::Remote { url, .. } => json!({"url": url}),
                };
                match answer {
                    Ok(answer) => json!({"launch": way, "server": answer.server, "tools": answer.tools}),
                    Err(problem) => json!({"launch": way, "error": problem}),
                }
            })
            .collect();
        let question = question.map(|asked| json!({"command": asked.command, "answer": asked.answer}));
        let printed = json!({"files": files, "servers": servers, "question": question});
        output::print_bytes(format!("{printed}\n").as_bytes());
    }

    /// A path as users write it, with `~`.
    fn shown(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.around.user).map(|rest| PathBuf::from("~").join(rest));
        self.paint.path(&inside.unwrap_or_else(|_| path.to_owned()).to_string_lossy())
    }
}

/// The text of an error with its cause.
fn said(err: &setup::Error) -> String {
    match std::error::Error::source(err) {
        Some(cause) => format!("{err}: {cause}"),
        None => err.to_string(),
    }
}
