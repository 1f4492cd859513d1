//! OpenAPI: finds the function that handles each operation. The operation's route decides (`@app.get("/users/{id}")`,
//! `router.get('/users/:id', show)`, `@GetMapping("/users/{id}")`), or else its id.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::routing::{Call, LONGEST_ROUTE, METHODS, is_prefix, literals};
use super::{Files, Function, LARGEST, LONGEST_NAME, MOST_FACTS, Place, ProjectContext, Provider, split};

/// Parts of the names of files that describe an interface, and their extensions.
const NAMES: [&str; 2] = ["openapi", "swagger"];
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];
/// The most operations.
const MOST: usize = 5_000;
/// The part of a description, in bytes, that is searched for servers, and the most servers.
const HEAD: usize = 10_000;
const MOST_BASES: usize = 4;
/// With more functions of an operation's name, none of them is reported.
const MOST_OF_NAME: usize = 3;

/// See the module.
pub(super) struct OpenApi;

/// Operations with handlers: facts at the operation's symbol, or about its file if operations are no symbols there.
#[derive(Default)]
struct Handled {
    facts: HashMap<String, Vec<String>>,
    places: Vec<Place>,
}

impl ProjectContext for Handled {
    fn about(&self, path: &str) -> Vec<String> {
        self.facts.get(path).cloned().unwrap_or_default()
    }

    fn places(&self) -> &[Place] {
        &self.places
    }
}

/// An operation of an interface.
struct Operation<'f> {
    file: &'f str,
    /// The byte of its name, if it is a symbol.
    at: Option<u32>,
    method: String,
    path: String,
    id: Option<String>,
}

impl Provider for OpenApi {
    fn name(&self) -> &'static str {
        "openapi"
    }

    fn detect(&self, path: &str) -> bool {
        let (folder, name) = split(path);
        let says = |name: &str| NAMES.iter().any(|part| name.to_ascii_lowercase().contains(part));
        let ends = name.rsplit_once('.').is_some_and(|(_, end)| ENDINGS.contains(&end));
        ends && (says(name) || says(split(folder).1))
    }

    fn read(&self, files: &dyn Files) -> Option<Box<dyn ProjectContext>> {
        let functions = files.functions();
        let code: HashSet<&str> = files.code().into_iter().filter(|path| !self.detect(path)).collect();
        let (described, mut functions): (Vec<Function<'_>>, Vec<Function<'_>>) =
            functions.into_iter().partition(|function| self.detect(function.path));
        functions.retain(|function| code.contains(function.path));
        let (mut operations, mut bases): (Vec<Operation<'_>>, BTreeSet<String>) = Default::default();
        for path in files.paths().into_iter().filter(|path| self.detect(path)) {
            let Some(text) = files.text(path).filter(|text| text.len() <= LARGEST) else { continue };
            bases.extend(bases_of(text));
            match path.ends_with("json") {
                true => operations.extend(of_json(path, text)),
                false => operations.extend(described.iter().filter_map(|one| of_symbol(path, text, one))),
            }
        }
        operations.truncate(MOST);
        if operations.is_empty() {
            return None;
        }
        let routes = Routes::of(&operations, &bases);
        let names = by_name(&functions);
        let mut handlers: Vec<Vec<Handler<'_>>> = operations.iter().map(|_| Vec::new()).collect();
        let own: HashMap<&str, &[Function<'_>]> =
            functions.chunk_by(|a, b| a.path == b.path).map(|own| (own[0].path, own)).collect();
        for path in code {
            let text = files.text(path).filter(|text| text.len() <= LARGEST);
            if let Some(text) = text.and_then(|text| str::from_utf8(text).ok()) {
                let functions = own.get(path).copied().unwrap_or_default();
                File { path, text, functions, names: &names }.handlers(&routes, &operations, &mut handlers);
            }
        }
        let mut handled = Handled::default();
        for (operation, mut own) in operations.iter().zip(handlers) {
            if own.is_empty() {
                own = of_id(operation, &names);
            }
            own.sort_by_key(|handler| (handler.path, handler.line));
            own.dedup();
            handled.add(operation, &own);
        }
        Some(Box::new(handled))
    }
}

/// The operation of a YAML symbol such as `paths./users/{id}.getUser`. Its text begins with the method.
fn of_symbol<'f>(path: &'f str, text: &[u8], symbol: &Function<'_>) -> Option<Operation<'f>> {
    let written = text.get(symbol.span.start as usize..)?;
    let method =
        str::from_utf8(&written[..written.iter().take_while(|byte| byte.is_ascii_alphabetic()).count()]).ok()?;
    let owner = symbol.owner.strip_prefix("paths.").filter(|_| symbol.path == path && METHODS.contains(&method))?;
    let id = Some(symbol.name.to_string()).filter(|name| name != method);
    Some(Operation { file: path, at: Some(symbol.at), method: method.to_owned(), path: owner.to_owned(), id })
}

/// The operations of a JSON description, where they are no symbols.
fn of_json<'f>(file: &'f str, text: &[u8]) -> Vec<Operation<'f>> {
    let described: Value = serde_json::from_slice(text).unwrap_or_default();
    let operation = |path: &String, method: &String, about: &Value| {
        let id = about["operationId"].as_str().filter(|id| id.len() <= LONGEST_NAME).map(str::to_owned);
        let is_one = METHODS.contains(&method.as_str()) && path.len() <= LONGEST_ROUTE;
        is_one.then(|| Operation { file, at: None, method: method.clone(), path: path.clone(), id })
    };
    let paths = described["paths"].as_object().into_iter().flatten();
    let all = paths.filter_map(|(path, methods)| Some((path, methods.as_object()?)));
    all.flat_map(|(path, methods)| methods.iter().filter_map(move |(method, about)| operation(path, method, about)))
        .collect()
}

/// A normalized route: parameters have no names, and there is no trailing slash.
fn plain(route: &str) -> String {
    let mut plain = String::new();
    for part in route.split('/').filter(|part| !part.is_empty() && *part != "^" && *part != "$") {
        let is_parameter = part.starts_with([':', '{', '<', '*', '$', '(']);
        plain.push('/');
        plain.push_str(if is_parameter { "{}" } else { part });
    }
    plain
}

/// The base paths of an interface, from its servers' URLs or its base path.
fn bases_of(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(&text[..text.len().min(HEAD)]);
    let base = |line: &str| {
        let line = line.trim_start_matches(['-', ' ', '"', '\'', '{', '\t']);
        let value = ["url", "basePath"].iter().find_map(|key| line.strip_prefix(key))?;
        let value = value.trim_start_matches(['"', '\'', ':', ' ']).split(['"', '\'', ',', ' ', '}']).next()?;
        let path = value.split_once("://").map_or(value, |(_, rest)| rest.find('/').map_or("", |at| &rest[at..]));
        path.starts_with('/').then(|| plain(path)).filter(|path| !path.is_empty())
    };
    text.lines().filter_map(base).take(MOST_BASES).collect()
}

/// The operations by the ends of their routes.
struct Routes {
    /// For each end of a route, the part before it and the operation's index.
    ends: HashMap<String, Vec<(String, usize)>>,
}

impl Routes {
    fn of(operations: &[Operation<'_>], bases: &BTreeSet<String>) -> Self {
        let mut ends: HashMap<String, Vec<(String, usize)>> = HashMap::new();
        let bases: Vec<&str> = bases.iter().map(String::as_str).filter(|base| !base.is_empty()).chain([""]).collect();
        for (place, operation) in operations.iter().enumerate() {
            for base in &bases {
                let route = format!("{base}{}", plain(&operation.path));
                let starts = route.match_indices('/').map(|(at, _)| at).chain([route.len()]);
                for at in starts {
                    ends.entry(route[at..].to_owned()).or_default().push((route[..at].to_owned(), place));
                }
            }
        }
        Self { ends }
    }
}

/// A function that handles an operation, or the place of an anonymous one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Handler<'f> {
    path: &'f str,
    line: u32,
    /// The function's name and its byte; `None` for an anonymous function.
    function: Option<(String, u32)>,
    /// Whether only its name matches the operation.
    is_by_name: bool,
}

impl<'f> Handler<'f> {
    fn of(function: &Function<'f>, is_by_name: bool) -> Self {
        let named = Some((function.name.to_string(), function.at));
        Self { path: function.path, line: function.line, function: named, is_by_name }
    }
}

/// Functions by their lower-case names without `_`.
type Names<'a, 'f> = HashMap<String, Vec<&'a Function<'f>>>;

fn flat(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn by_name<'a, 'f>(functions: &'a [Function<'f>]) -> Names<'a, 'f> {
    let mut names: Names<'a, 'f> = HashMap::new();
    for function in functions {
        names.entry(flat(&function.name)).or_default().push(function);
    }
    names
}

/// Functions named like an operation's id, perhaps with `Handler` appended. An id such as `users.show` needs a file
/// named `users`.
fn of_id<'f>(operation: &Operation<'_>, names: &Names<'_, 'f>) -> Vec<Handler<'f>> {
    let Some(id) = operation.id.as_deref() else { return Vec::new() };
    let with = |name: &str, end: &str, owner: &str| {
        let all = names.get(&format!("{}{end}", flat(name))).into_iter().flatten();
        let is_owned = |one: &&&Function<'_>| owner.is_empty() || flat(split(one.path).1).starts_with(&flat(owner));
        let all: Vec<&Function<'f>> = all.filter(is_owned).copied().collect();
        if all.len() <= MOST_OF_NAME { all } else { Vec::new() }
    };
    let (owner, last) = id.rsplit_once('.').map_or(("", id), |(owner, last)| (split_last(owner), last));
    let found = [with(id, "handler", ""), with(id, "", ""), with(last, "", owner)];
    let found = found.into_iter().find(|all| !all.is_empty());
    found.into_iter().flatten().map(|function| Handler::of(function, true)).collect()
}

/// The last part of a dotted name.
fn split_last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// A code file.
struct File<'a, 'f> {
    path: &'f str,
    text: &'a str,
    functions: &'a [Function<'f>],
    names: &'a Names<'a, 'f>,
}

impl<'f> File<'_, 'f> {
    /// Finds the handlers that the file registers for routes.
    fn handlers(&self, routes: &Routes, operations: &[Operation<'_>], handlers: &mut [Vec<Handler<'f>>]) {
        let mut earlier: HashSet<String> = HashSet::new();
        for (at, literal) in literals(self.text) {
            let (method, route) = match literal.split_once(' ') {
                Some((method, route)) => (Some(method.to_ascii_lowercase()), route),
                None => (None, literal),
            };
            let route = plain(route);
            let meant = routes.ends.get(&route).into_iter().flatten();
            // The first part of the route may belong to the router, or to the class.
            let meant: Vec<usize> = meant
                .filter(|(before, _)| before.is_empty() || earlier.contains(before))
                .map(|(_, place)| *place)
                .collect();
            if !meant.is_empty()
                && let Some(call) = Call::around(self.text, at, literal)
            {
                for place in meant {
                    let wanted = operations[place].method.as_str();
                    let is_meant = match &method {
                        Some(method) => method == wanted,
                        None => call.is_of(wanted, self.above(&call, at).map_or("", |(_, above)| above)),
                    };
                    if is_meant && let Some(handler) = self.handler(&call, wanted, at) {
                        handlers[place].push(handler);
                    }
                }
            }
            if is_prefix(self.text, at) {
                earlier.insert(route);
            }
        }
    }

    /// The function below a decorator, and the text from its first decorator to its name.
    fn above(&self, call: &Call<'_>, at: usize) -> Option<(&Function<'f>, &str)> {
        let is_above = |function: &&Function<'_>| (function.span.start as usize) < at && at < function.at as usize;
        let function = self.functions.iter().rfind(is_above).filter(|_| call.is_decorator)?;
        Some((function, &self.text[function.span.start as usize..function.at as usize]))
    }

    /// The handler that a call registers for a method's operations.
    fn handler(&self, call: &Call<'_>, method: &str, at: usize) -> Option<Handler<'f>> {
        if call.is_decorator {
            return self.above(call, at).map(|(function, _)| Handler::of(function, false));
        }
        // The last function in the arguments is the handler; others, such as permission checks, come before it.
        let words = call.words(method);
        if let Some(all) = words.iter().rev().map(|word| self.named(word)).find(|all| !all.is_empty()) {
            let [function] = all[..] else { return None };
            return Some(Handler::of(function, false));
        }
        let line = 1 + memchr::memchr_iter(b'\n', &self.text.as_bytes()[..at]).count();
        let line = u32::try_from(line).ok()?;
        call.is_inline().then_some(Handler { path: self.path, line, function: None, is_by_name: false })
    }

    /// Functions that a name may mean. Functions of the same file come first, then of the file or class before the
    /// name, then of the same folder, then others. Several if the name is ambiguous.
    fn named(&self, word: &str) -> Vec<&Function<'f>> {
        let parts: Vec<&str> = word.split(['.', ':']).filter(|part| !part.is_empty()).collect();
        let (Some(last), owner) = (parts.last(), parts.iter().rev().nth(1)) else { return Vec::new() };
        let all = self.names.get(&flat(last)).into_iter().flatten().copied();
        let mut all: Vec<&Function<'f>> = all.filter(|function| function.name == *last).collect();
        let of_owner = |function: &Function<'_>| {
            let stem = split(function.path).1.split('.').next().unwrap_or_default();
            owner.is_some_and(|owner| flat(owner) == flat(stem) || split_last(&function.owner) == *owner)
        };
        let nearer: [&dyn Fn(&Function<'_>) -> bool; 3] =
            [&|function| function.path == self.path, &of_owner, &|function| {
                split(function.path).0 == split(self.path).0
            }];
        for is_near in nearer {
            if all.iter().any(|function| is_near(function)) {
                all.retain(|function| is_near(function));
                break;
            }
        }
        all
    }
}

impl Handled {
    fn add(&mut self, operation: &Operation<'_>, handlers: &[Handler<'_>]) {
        let Operation { file, method, path, id, .. } = operation;
        let name = format!("{} {path}", method.to_uppercase());
        for handler in handlers {
            let Some((_, at)) = &handler.function else { continue };
            let id = id.as_deref().map_or_else(String::new, |id| format!(" ({id})"));
            let verb = if handler.is_by_name { "named as" } else { "handles" };
            self.places.push(Place {
                file: Arc::from(handler.path),
                at: *at,
                text: format!("{verb} {name}{id} of {file}"),
            });
        }
        let told: BTreeSet<String> = handlers
            .iter()
            .map(|handler| {
                let (verb, named) =
                    (if handler.is_by_name { "named as" } else { "handled by" }, handler.function.as_ref());
                let named = named.map_or_else(String::new, |(name, _)| format!(" {name}"));
                format!("{verb}{named} {}:{}", handler.path, handler.line)
            })
            .collect();
        if told.is_empty() {
            return;
        }
        let told = told.into_iter().collect::<Vec<_>>().join(", ");
        match operation.at {
            Some(at) => self.places.push(Place { file: Arc::from(*file), at, text: told }),
            None => {
                let facts = self.facts.entry((*file).to_owned()).or_default();
                if facts.len() < MOST_FACTS {
                    facts.push(format!("{name} {told}"));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Made;
    use super::*;
    use codelode_base::model::Span;

    /// Files in which functions are lines such as `def name`, and operations are YAML symbols.
    struct WithFunctions(Made);

    impl Files for WithFunctions {
        fn paths(&self) -> Vec<&str> {
            self.0.paths()
        }

        fn text(&self, path: &str) -> Option<&[u8]> {
            self.0.text(path)
        }

        fn hash(&self, path: &str) -> Option<[u8; 32]> {
            self.0.hash(path)
        }

        /// A function is a line with `fn NAME`, with the lines above it up to an empty one. An operation is a line with
        /// `METHOD: # ROUTE ID`.
        fn functions(&self) -> Vec<Function<'_>> {
            let mut found = Vec::new();
            for (path, text) in &self.0.0 {
                let mut begun = 0;
                for line in text.split_inclusive('\n') {
                    let at = line.as_ptr() as usize - text.as_ptr() as usize;
                    let number = 1 + text[..at].matches('\n').count() as u32;
                    let mut add = |name: &'static str, owner: String, start: usize| {
                        let name_at = name.as_ptr() as usize - text.as_ptr() as usize;
                        let span = Span::new(start, at + line.len());
                        found.push(Function { path, name: name.into(), owner, at: name_at as u32, line: number, span });
                    };
                    if let Some((_, rest)) = line.split_once("fn ") {
                        add(rest.split('(').next().unwrap_or_default(), String::new(), begun);
                    } else if let Some((method, rest)) = line.trim().split_once(": # ") {
                        let (route, name) = rest.split_once(' ').unwrap_or((rest, method));
                        add(name, format!("paths.{route}"), at + line.len() - line.trim_start().len());
                    }
                    if line.trim().is_empty() {
                        begun = at + line.len();
                    }
                }
            }
            found
        }
    }

    const API: &str = "openapi: 3.0.0\nservers:\n  - url: https://example.org/api\npaths:\n  get: # /users listUsers\n  post: # /users addUser\n  get: # /users/{id} getUser\n  delete: # /users/{id}\n  get: # /carts/{id} readCart\n";

    /// The facts about operations, for a description beside these files.
    fn handled(files: Vec<(&'static str, &'static str)>) -> Vec<String> {
        let files = WithFunctions(Made([vec![("openapi.yaml", API)], files].concat()));
        let known = OpenApi.read(&files).expect("there are operations");
        let mut told = Vec::new();
        for place in known.places().iter().filter(|place| &*place.file == "openapi.yaml") {
            let functions = files.functions();
            let one = functions.iter().find(|one| one.path == "openapi.yaml" && one.at == place.at).expect("a symbol");
            told.push(format!("{} {}", one.name, place.text));
        }
        told
    }

    #[test]
    fn decorators_and_annotations_name_the_route() {
        let python = "users = APIRouter(prefix=\"/users\")\n\n@users.get(\"/\")\nfn all_users()\n\n@users.delete('/{user_id}')\nfn drop_user()\n\n@app.route(\"/carts/<int:id>\", methods=[\"GET\"])\nfn cart()\n\n@app.route(\"/carts/<int:id>\", methods=[\"PUT\"])\nfn no_cart()\n";
        let expected = [
            "listUsers handled by all_users api.py:4",
            "delete handled by drop_user api.py:7",
            "readCart handled by cart api.py:10",
        ];
        assert_eq!(handled(vec![("api.py", python)]), expected);
        let java = "@RequestMapping(\"/api/users\")\n\n@GetMapping(path = \"/{id}\")\nfn one(\n\n@RequestMapping(value = {\"\"}, method = RequestMethod.POST)\nfn add(\n";
        let expected = ["addUser handled by add Users.java:7", "getUser handled by one Users.java:4"];
        assert_eq!(handled(vec![("Users.java", java)]), expected);
        let jax = "@Path(\"/users/{id}\") @DELETE\nfn away(\n\n@Path(\"/carts/{id}\")\n@GET fn cart(\n\n@app.route('/users')\nfn all(\n";
        let expected = [
            "listUsers handled by all a.java:8",
            "delete handled by away a.java:2",
            "readCart handled by cart a.java:5",
        ];
        assert_eq!(handled(vec![("a.java", jax)]), expected);
        let rust = "#[get(\"/carts/{id}\")]\nfn cart()\n";
        assert_eq!(handled(vec![("a.rs", rust)]), ["readCart handled by cart a.rs:2"]);
    }

    #[test]
    fn calls_name_the_route_and_the_handler() {
        let show = ("users.js", "fn show(\n\nfn list(\n");
        let express = "router.get('/api/users/:id', auth, users.show)\nrouter.get('/users', async (req, res) => {})\nfetch('/users')\naxios.get('/carts/:id', options)\n";
        let expected = ["listUsers handled by routes.js:2", "getUser handled by show users.js:1"];
        assert_eq!(handled(vec![("routes.js", express), show, ("carts.js", "fn show(\n")]), expected);
        let two = vec![
            (
                "api/routes.go",
                "g.GET(\"/users/{id}\", may(hasID(a.One)))\ng.POST(\"/users\", hasID(a.Two))\ng.GET(\"/\", func(c) {})\n\"/users\"\nfn hasID(\n",
            ),
            ("api/users.go", "fn One(\n"),
            ("core/users.go", "fn One(\n\nfn Two(\n"),
            ("more/users.go", "fn Two(\n"),
        ];
        // Two functions are ambiguous, and the route of another call does not decide.
        assert_eq!(handled(two), ["getUser handled by One api/users.go:1"]);
        let go = "r.HandleFunc(\"GET /users/{id}\", may(hasID(s.getOne), \"users:delete\"))\nfn getOne(\nr.POST(\"/users\", create)\nfn create(\n";
        let expected = ["addUser handled by create a.go:4", "getUser handled by getOne a.go:2"];
        assert_eq!(handled(vec![("a.go", go)]), expected);
        let rust = "app.route(\"/users\", get(all).post(new_one))\nfn all(\nfn new_one(\n";
        assert_eq!(
            handled(vec![("a.rs", rust)]),
            ["listUsers handled by all a.rs:2", "addUser handled by new_one a.rs:3"]
        );
        let django = "urls = [path(\"users/<int:pk>/\", views.one)]\n";
        let expected = ["getUser handled by one views.py:1", "delete handled by one views.py:1"];
        assert_eq!(handled(vec![("urls.py", django), ("views.py", "fn one(\n")]), expected);
    }

    #[test]
    fn names_of_operations_are_spelt_in_several_ways() {
        let files = vec![("a.py", "fn get_user(\n\nfn users(\n"), ("b.go", "fn readCartHandler(\nfn readCart(\n")];
        assert_eq!(handled(files), ["getUser named as get_user a.py:1", "readCart named as readCartHandler b.go:1"]);
        let api = r#"{"paths": {"/a": {"get": {"operationId": "api.users.show"}}}}"#;
        let files = vec![("swagger/all.json", api), ("users.py", "fn show(\n"), ("carts.py", "fn show(\n")];
        let known = OpenApi.read(&WithFunctions(Made(files))).expect("there is an operation");
        assert_eq!(known.about("swagger/all.json"), ["GET /a named as show users.py:1"]);
        let many = vec![
            ("a.py", "fn getUser(\n"),
            ("b.py", "fn getUser(\n"),
            ("c.py", "fn getUser(\n"),
            ("d.py", "fn getUser(\n"),
        ];
        assert_eq!(handled(many), [""; 0], "a name that many have tells nothing");
    }

    #[test]
    fn handlers_tell_their_operations_and_json_is_told_by_file() {
        let api =
            r#"{"swagger": "2.0", "paths": {"/users/{id}": {"get": {"operationId": "getUser"}, "parameters": []}}}"#;
        let code = "@app.get('/users/{id}')\nfn one(\n";
        let files = WithFunctions(Made(vec![("docs/swagger.json", api), ("a.py", code)]));
        let known = OpenApi.read(&files).expect("there are operations");
        let places: Vec<(&str, u32, &str)> =
            known.places().iter().map(|place| (&*place.file, place.at, place.text.as_str())).collect();
        assert_eq!(places, [("a.py", 27, "handles GET /users/{id} (getUser) of docs/swagger.json")]);
        assert_eq!(known.about("docs/swagger.json"), ["GET /users/{id} handled by one a.py:2"]);
        assert!(OpenApi.read(&WithFunctions(Made(vec![("swagger.json", "{"), ("a.py", code)]))).is_none());
    }

    #[test]
    fn what_is_cut_off_does_no_harm() {
        let text = "é('/users') get(\"/users\", (é = [\"/users\" , `x` 'GET /users'";
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            handled(vec![("a.py", Box::leak(text[..end].to_owned().into_boxed_str()))]);
        }
    }
}
