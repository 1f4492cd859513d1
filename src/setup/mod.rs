//! Setup of clients: finds those that are there, writes the server's entry into their configuration, takes it out again,
//! and tells what has drifted since. Where each client keeps its files, and in which form, is data: [`clients`].

mod edit;
mod entry;
mod error;
mod extras;
mod file;
mod probe;
mod program;
mod record;
mod table;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde_json::Value;

pub use edit::Format;
use edit::Place;
pub use edit::lines::{Hunk, hunks};
pub use entry::{Launch, NAME};
pub use error::Error;
use extras::is_there;
pub use extras::{Files, Hooks, LanguageServers, Part, Texts};
use file::Text;
pub use probe::ProbeAnswer;
use record::{Record, Records};
pub use table::{Client, Confirmed, LoadedMark, Paths, clients};

/// Surroundings in which clients are looked for.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Folder of the user.
    pub user: PathBuf,
    /// Root of the project that the person stands in; `None` in the folder of the user.
    pub project: Option<PathBuf>,
    /// Codelode's own folder, for records.
    pub home: PathBuf,
    /// This program.
    pub program: PathBuf,
    /// Value of an environment variable that is set and not empty.
    pub variable: fn(&str) -> Option<String>,
    /// Certificates (PEM) of authorities trusted beside the system's.
    pub ca_file: Option<PathBuf>,
}

/// Owner of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The user, in every project.
    User,
    /// A project, for everybody who works on it.
    Project,
}

/// Request for a setup.
#[derive(Clone, Debug, Default)]
pub struct SetupRequest {
    /// Ids of clients, found or not; empty for all that are found.
    pub clients: Vec<String>,
    /// Scope of the configuration; `None` for the user's, or the project's of a client that is found there only.
    pub scope: Option<Scope>,
    /// Endpoint of a server over HTTP, instead of a program that the client starts.
    pub url: Option<String>,
    /// Environment variable with the token for that server.
    pub token: Option<String>,
    /// Parts that are written beside the server.
    pub beside: Vec<Part>,
    /// Texts of those parts.
    pub texts: Texts,
    /// Endings of the files that the language server knows, as `.py`, with the names of their languages.
    pub endings: Vec<(String, String)>,
}

/// One file to be written or removed.
#[derive(Debug)]
pub struct Step {
    /// The client that reads it.
    pub client: &'static Client,
    /// Its owner.
    pub scope: Scope,
    /// The file, as the client names it.
    pub path: PathBuf,
    /// Parts of the setup in it.
    pub parts: Vec<Part>,
    /// Change to the file, or the reason why there can be none.
    pub action: Result<Action, Error>,
    file: Option<Text>,
}

/// Deed of a step.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing: it is as it should be.
    Nothing,
    /// The file gets this text.
    Write(String),
    /// The file is removed, because it was made here.
    Remove,
}

/// A configuration that no longer does what it was written for.
#[derive(Debug, PartialEq, Eq)]
pub struct Drift {
    /// The file.
    pub path: PathBuf,
    /// Fault of the entry.
    pub what: String,
    /// Command or act that mends it.
    pub remedy: String,
}

impl Step {
    /// The text of the file now; empty if there is none.
    pub fn before(&self) -> &str {
        self.file.as_ref().and_then(|file| file.text.as_deref()).unwrap_or_default()
    }

    /// Whether the file is new.
    pub fn is_new(&self) -> bool {
        self.file.as_ref().is_some_and(|file| file.text.is_none())
    }

    /// Whether there is something to do.
    pub fn is_due(&self) -> bool {
        matches!(self.action, Ok(Action::Write(_) | Action::Remove))
    }
}

/// The client of that id.
pub fn client(id: &str) -> Result<&'static Client, Error> {
    clients().iter().find(|client| client.id == id).ok_or_else(|| {
        let ids = || clients().iter().map(|client| client.id.as_str());
        let nearest = codelode_base::model::nearest(id, ids(), 1).first().map(|near| (*near).to_owned());
        Error::UnknownClient { id: id.to_owned(), nearest, known: ids().collect::<Vec<_>>().join(", ") }
    })
}

/// The steps that set up the clients, in the order of the table.
pub fn plan(around: &Surroundings, options: &SetupRequest) -> Result<Vec<Step>, Error> {
    let mut places: Vec<Site> = Vec::new();
    for (client, scope) in chosen(around, options)? {
        // A server elsewhere answers for its own repositories; hooks and commands would ask this machine.
        let beside = options.beside.iter().filter(|_| options.url.is_none());
        for part in [Part::Server].iter().chain(beside) {
            let has_command = *part != Part::Hooks || extras::hook_command(around, scope)?.is_some();
            if let Some(path) = around.file(client, *part, scope).filter(|_| has_command) {
                Site::add(&mut places, client, scope, path, *part);
            }
        }
    }
    let records = Records::load(&around.home);
    let written = |site: &Site, file: &Text| {
        let before = file.text.as_deref().unwrap_or_default();
        let is_own = before.is_empty() || records.of(&file.target).is_some_and(|record| record.is_of(before));
        let mut text = before.to_owned();
        for part in &site.parts {
            text = around.with_part(site.client, site.scope, *part, &text, is_own, options, file)?;
        }
        Ok(if text == before { Action::Nothing } else { Action::Write(text) })
    };
    let mut steps = Vec::new();
    for site in places {
        if site.parts.contains(&Part::Server) {
            // An address or a program that cannot be is wrong for all files.
            around.launch(site.scope, options)?;
        }
        steps.push(around.step(site, written));
    }
    Ok(steps)
}

/// The steps that take back what was set up: byte for byte where the file is as it was written, else only the entry.
pub fn plan_undo(around: &Surroundings, options: &SetupRequest) -> Result<Vec<Step>, Error> {
    let records = Records::load(&around.home);
    for id in &options.clients {
        client(id)?;
    }
    let is_meant = |client: &Client, scope| {
        (options.clients.is_empty() || options.clients.contains(&client.id))
            && options.scope.is_none_or(|wanted| wanted == scope)
    };
    let mut places: Vec<Site> = Vec::new();
    for client in clients() {
        for scope in [Scope::User, Scope::Project].into_iter().filter(|scope| is_meant(client, *scope)) {
            for part in Part::ALL {
                let path = around.file(client, part, scope);
                path.into_iter().for_each(|path| Site::add(&mut places, client, scope, path, part));
            }
        }
    }
    // Files in other projects, or in folders that were named differently.
    for record in records.all() {
        let is_known =
            places.iter().any(|site| file::read(&site.path, None).is_ok_and(|text| text.target == record.path));
        let scope = if record.is_project { Scope::Project } else { Scope::User };
        if let (false, Ok(client)) = (is_known, client(&record.client))
            && is_meant(client, scope)
        {
            places.push(Site { client, scope, path: record.path.clone(), parts: record.parts.clone() });
        }
    }
    let undone = |site: &Site, file: &Text| {
        let Some(text) = file.text.as_deref() else { return Ok(Action::Nothing) };
        if let Some(record) = records.of(&file.target).filter(|record| record.is_of(text)) {
            return Ok(record.undone(text).map_or(Action::Remove, Action::Write));
        }
        let mut rest = text.to_owned();
        for part in &site.parts {
            rest = around.without_part(site.client, *part, &rest, file)?;
        }
        Ok(if rest == text { Action::Nothing } else { Action::Write(rest) })
    };
    let mut steps: Vec<Step> = Vec::new();
    for site in places {
        let step = around.step(site, undone);
        // A file of another client is none of ours: it is not there, or holds no entry.
        if step.is_due() || (step.action.is_err() && !step.before().is_empty()) {
            steps.push(step);
        }
    }
    // Folders go with the file that they were made for, once the others in them are gone.
    steps.reverse();
    Ok(steps)
}

/// Does a step, and records it.
pub fn apply(around: &Surroundings, step: &Step) -> Result<(), Error> {
    let (Ok(action), Some(file)) = (&step.action, &step.file) else { return Ok(()) };
    let mut records = Records::load(&around.home);
    match action {
        Action::Nothing => return Ok(()),
        Action::Write(text) => {
            let folders = file::write(file, text, step.scope == Scope::Project)?;
            let is_project = step.scope == Scope::Project;
            let record = Record::new(file.target.clone(), &step.client.id, is_project, &step.parts, folders);
            records.add(record, file.text.as_deref(), text);
        }
        Action::Remove => file::remove(file)?,
    }
    records.save(&around.home)
}

/// Takes a step back, and forgets it. Folders that were made for it go if they are empty.
pub fn apply_undo(around: &Surroundings, step: &Step) -> Result<(), Error> {
    let (Ok(action), Some(file)) = (&step.action, &step.file) else { return Ok(()) };
    match action {
        Action::Nothing => return Ok(()),
        Action::Write(text) => drop(file::write(file, text, step.scope == Scope::Project)?),
        Action::Remove => file::remove(file)?,
    }
    let mut records = Records::load(&around.home);
    for folder in records.of(&file.target).filter(|_| *action == Action::Remove).into_iter().flat_map(|it| &it.folders)
    {
        if std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
    records.forget(&file.target);
    records.save(&around.home)
}

/// The launch that a client's file asks for, as the client reads it.
pub fn launch_of(around: &Surroundings, step: &Step) -> Option<Launch> {
    if !step.parts.contains(&Part::Server) {
        return None;
    }
    let text = file::read(&step.path, around.root_of(step.scope)).ok()?.text?;
    let place = Place { path: &step.client.key, name: NAME };
    entry::read(step.client, &edit::get(step.client.format, &text, place).ok()??)
}

/// Starts or calls the server as a client does, and asks for its tools.
pub fn probe(around: &Surroundings, launch: &Launch) -> Result<ProbeAnswer, String> {
    let folder = around.project.as_deref().unwrap_or(&around.user);
    let token = match launch {
        Launch::Remote { token: Some(name), .. } => {
            Some((around.variable)(name).ok_or_else(|| format!("the variable {name} is not set here"))?)
        }
        _ => None,
    };
    probe::probe(launch, folder, token.as_deref(), around.ca_file.as_deref())
}

/// The text of a configuration that holds nothing but the entry.
pub fn sample(around: &Surroundings, client: &Client, options: &SetupRequest) -> Result<String, Error> {
    let launch = around.launch(options.scope.unwrap_or(Scope::User), options)?;
    let entry = entry::wanted(client, &launch, None)
        .ok_or_else(|| Error::NoSuchForm { name: client.name.clone(), is_token: client.remote.is_some() })?;
    let place = Place { path: &client.key, name: NAME };
    edit::put(client.format, "", place, &entry).map_err(|err| Error::Broken { path: PathBuf::new(), err })
}

/// Entries that no longer work, or that would be written otherwise today.
pub fn drift(around: &Surroundings) -> Vec<Drift> {
    let mut drifts = Vec::new();
    for client in clients() {
        for scope in [Scope::User, Scope::Project] {
            drifts.extend(around.drift_of_hooks(client, scope));
            drifts.extend(around.drift_of_language_server(client, scope));
            let Some(path) = around.file(client, Part::Server, scope) else { continue };
            let Ok(Text { text: Some(text), .. }) = file::read(&path, around.root_of(scope)) else { continue };
            let place = Place { path: &client.key, name: NAME };
            let Ok(Some(existing)) = edit::get(client.format, &text, place) else { continue };
            if let Some((what, remedy)) = around.drift_of(client, scope, &existing) {
                drifts.push(Drift { path, what, remedy });
            }
        }
    }
    drifts
}

/// Clients of a options, each with the owner of the file to be written.
fn chosen(around: &Surroundings, options: &SetupRequest) -> Result<Vec<(&'static Client, Scope)>, Error> {
    if options.scope == Some(Scope::Project) && around.project.is_none() {
        return Err(Error::NoProject);
    }
    let named = options.clients.iter().map(|id| client(id)).collect::<Result<Vec<_>, _>>()?;
    let is_named = |client: &Client| named.iter().any(|other| other.id == client.id);
    let mut chosen = Vec::new();
    for client in clients().iter().filter(|client| named.is_empty() || is_named(client)) {
        let is_users = around.is_found(client);
        let in_project = around.file(client, Part::Server, Scope::Project).is_some_and(|path| is_there(&path));
        if named.is_empty() && !is_users && !in_project {
            continue;
        }
        let scope = match options.scope {
            Some(scope) => scope,
            None if !is_users && in_project => Scope::Project,
            None if around.file(client, Part::Server, Scope::User).is_none() => Scope::Project,
            None => Scope::User,
        };
        match around.file(client, Part::Server, scope) {
            Some(_) => chosen.push((client, scope)),
            None if is_named(client) => {
                return Err(Error::NoFile { name: client.name.clone(), id: client.id.clone(), scope });
            }
            None => {}
        }
    }
    Ok(chosen)
}

/// A file with the parts of a setup that belong into it.
struct Site {
    client: &'static Client,
    scope: Scope,
    path: PathBuf,
    parts: Vec<Part>,
}

impl Site {
    /// Adds a part; clients may share a file, also by a link from `CLAUDE.md` to `AGENTS.md`.
    fn add(places: &mut Vec<Self>, client: &'static Client, scope: Scope, path: PathBuf, part: Part) {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let target = real(&path);
        match places.iter_mut().find(|site| real(&site.path) == target) {
            Some(site) if site.parts.contains(&part) => {}
            Some(site) => site.parts.push(part),
            None => places.push(Self { client, scope, path, parts: vec![part] }),
        }
    }
}

impl Surroundings {
    /// Whether a client's own files or folders are there.
    fn is_found(&self, client: &Client) -> bool {
        let mut signs = client.found_by.here().iter().filter_map(|path| self.expand(path));
        signs.any(|path| is_there(&path))
    }

    fn expand(&self, template: &str) -> Option<PathBuf> {
        table::expand(template, &self.user, &self.variable)
    }

    /// The folder that a file must lie in.
    fn root_of(&self, scope: Scope) -> Option<&Path> {
        self.project.as_deref().filter(|_| scope == Scope::Project)
    }

    /// The way in which a client is to reach the server.
    fn launch(&self, scope: Scope, options: &SetupRequest) -> Result<Launch, Error> {
        if let Some(url) = &options.url {
            let is_http =
                url::Url::parse(url).is_ok_and(|url| ["http", "https"].contains(&url.scheme()) && url.has_host());
            return match is_http {
                true => Ok(Launch::Remote { url: url.clone(), token: options.token.clone() }),
                false => Err(Error::NotAUrl(url.clone())),
            };
        }
        program::command(self, scope).map(Launch::of_command)
    }

    fn step(&self, site: Site, act: impl FnOnce(&Site, &Text) -> Result<Action, Error>) -> Step {
        let (file, action) = match file::read(&site.path, self.root_of(site.scope)) {
            Ok(file) => {
                let action = act(&site, &file).and_then(|action| match action {
                    Action::Nothing => Ok(action),
                    _ => file::check_writable(&site.path, &file.target).map(|()| action),
                });
                (Some(file), action)
            }
            Err(err) => (None, Err(err)),
        };
        let Site { client, scope, path, parts } = site;
        Step { client, scope, path, parts, action, file }
    }

    /// The text of a file with a part of the setup. A whole file that a person wrote or changed stays as it is.
    #[expect(clippy::too_many_arguments, reason = "each is a different fact about the file")]
    fn with_part(
        &self,
        client: &Client,
        scope: Scope,
        part: Part,
        text: &str,
        is_own: bool,
        options: &SetupRequest,
        file: &Text,
    ) -> Result<String, Error> {
        let broken = |err| self.broken(file, err);
        match (part, &client.hooks) {
            (Part::Hooks, Some(hooks)) => {
                let command = extras::hook_command(self, scope)?;
                extras::with_hooks(hooks, text, command.as_deref()).map_err(broken)
            }
            (Part::Skill, _) if is_own => Ok(options.texts.skill.clone()),
            (Part::Agent, _) if is_own => Ok(options.texts.agent.clone()),
            (Part::Guide, _) => Ok(extras::with_section(text, Some(&options.texts.guide))),
            (Part::Hooks | Part::Skill | Part::Agent, _) => Ok(text.to_owned()),
            (Part::Lsp, _) => {
                let Some(servers) = &client.lsp else { return Ok(text.to_owned()) };
                let place = Place { path: &servers.key, name: NAME };
                let existing = edit::get(Format::Json, text, place).map_err(broken)?;
                let command = program::command(self, scope)?;
                let entry = extras::language_server(servers, &command, &options.endings, existing.as_ref());
                match existing == Some(Value::Object(entry.clone())) {
                    true => Ok(text.to_owned()),
                    false => edit::put(Format::Json, text, place, &entry).map_err(broken),
                }
            }
            (Part::Server, _) => {
                let place = Place { path: &client.key, name: NAME };
                let existing = edit::get(client.format, text, place).map_err(broken)?;
                // A project's entry may come from anybody: its flags are not passed on.
                let own = existing.as_ref().filter(|_| scope == Scope::User);
                let launch = self.launch(scope, options)?;
                let launch = entry::with_arguments_of(&launch, own.and_then(|entry| entry::read(client, entry)));
                let entry = entry::wanted(client, &launch, existing.as_ref()).ok_or_else(|| Error::NoSuchForm {
                    name: client.name.clone(),
                    is_token: client.remote.is_some(),
                })?;
                match existing == Some(Value::Object(entry.clone())) {
                    true => Ok(text.to_owned()),
                    false => edit::put(client.format, text, place, &entry).map_err(broken),
                }
            }
        }
    }

    /// The text of a file that was edited since it was written, without a part of the setup.
    fn without_part(&self, client: &Client, part: Part, text: &str, file: &Text) -> Result<String, Error> {
        let broken = |err| self.broken(file, err);
        match (part, &client.hooks) {
            (Part::Hooks, Some(hooks)) => extras::with_hooks(hooks, text, None).map_err(broken),
            (Part::Guide, _) => Ok(extras::with_section(text, None)),
            (Part::Hooks | Part::Skill | Part::Agent, _) => Ok(text.to_owned()),
            (Part::Server | Part::Lsp, _) => {
                let (format, key) = match (part, &client.lsp) {
                    (Part::Lsp, Some(servers)) => (Format::Json, &servers.key),
                    _ => (client.format, &client.key),
                };
                let place = Place { path: key, name: NAME };
                match edit::get(format, text, place).map_err(broken)? {
                    Some(_) => edit::remove(format, text, place).map_err(broken),
                    None => Ok(text.to_owned()),
                }
            }
        }
    }

    fn broken(&self, file: &Text, err: edit::Error) -> Error {
        Error::Broken { path: file.target.clone(), err }
    }

    /// Faults of a client's hooks.
    fn drift_of_hooks(&self, client: &Client, scope: Scope) -> Option<Drift> {
        let path = self.file(client, Part::Hooks, scope)?;
        let (hooks, text) = (client.hooks.as_ref()?, file::read(&path, self.root_of(scope)).ok()?.text?);
        let commands = extras::commands(hooks, &text);
        let gone = commands.iter().map(|command| extras::program_of(command)).find(|it| !program::is_there(self, it));
        let what = match gone {
            Some(program) => format!("a hook of {} starts {program}, which is not there", client.name),
            None => {
                let wanted = extras::with_hooks(hooks, &text, Some(commands.first()?)).ok()?;
                (wanted != text).then(|| format!("the hooks of {} have another form than init writes", client.name))?
            }
        };
        Some(Drift { path, what, remedy: again(client, scope) })
    }

    /// Fault of the entry of a language server.
    fn drift_of_language_server(&self, client: &Client, scope: Scope) -> Option<Drift> {
        let (servers, path) = (client.lsp.as_ref()?, self.file(client, Part::Lsp, scope)?);
        let text = file::read(&path, self.root_of(scope)).ok()?.text?;
        let entry = edit::get(Format::Json, &text, Place { path: &servers.key, name: NAME }).ok()??;
        let what = match extras::program_of_language_server(servers, &entry) {
            Some(program) if program::is_there(self, &program) => return None,
            Some(program) => format!("{} starts {program} as a language server, which is not there", client.name),
            None => format!("{} finds no program in the entry of the language server", client.name),
        };
        Some(Drift { path, what, remedy: format!("{} --lsp", again(client, scope)) })
    }

    /// Fault of an entry and its remedy; `None` if it is as it should be.
    fn drift_of(&self, client: &Client, scope: Scope, existing: &Value) -> Option<(String, String)> {
        let again = again(client, scope);
        let Some(launch) = entry::read(client, existing) else {
            return Some((format!("{} finds neither a program nor a URL in its entry", client.name), again));
        };
        if let Launch::Local { program, .. } = &launch
            && !program::is_there(self, program)
        {
            return Some((format!("{} starts {program}, which is not there", client.name), again));
        }
        let launch = match (&launch, scope) {
            (Launch::Local { .. }, Scope::Project) => Launch::of_command([NAME.to_owned()]),
            (Launch::Local { program, args }, Scope::User) => {
                let runners = &args[..entry::start_of_arguments(args).unwrap_or_default()];
                let command = std::iter::once(program).chain(runners).cloned();
                entry::with_arguments_of(&Launch::of_command(command), Some(launch))
            }
            _ => launch,
        };
        let wanted = entry::wanted(client, &launch, Some(existing))?;
        (Value::Object(wanted) != *existing)
            .then(|| (format!("the entry of {} has another form than init writes", client.name), again))
    }
}

/// The remedy for an entry that has drifted.
fn again(client: &Client, scope: Scope) -> String {
    let again = format!("run `codelode init --client {}`", client.id);
    if scope == Scope::Project { format!("{again} --scope project") } else { again }
}
