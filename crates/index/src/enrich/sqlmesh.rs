//! SQLMesh: models in SQL (`MODEL (name db.orders, …)`) and Python (`@model("db.orders")`), and tables of
//! `external_models.yaml`. Reads their descriptions, tags and columns, and the models that each one reads.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::{
    Column, Files, LARGEST, LONGEST_NAME, Link, MOST_FACTS, ProjectContext, Provider, first_paragraph, split, yaml,
};

/// Folder of models.
const MODELS: &str = "models";
/// Names, without extension, of the file and the folder that describe external tables.
const EXTERNAL: &str = "external_models";
/// The longest description, in characters.
const DESCRIPTION: usize = 300;
/// The most models of one blueprint, and the most columns of one model.
const MOST_OF_BLUEPRINT: usize = 100;
const MOST_COLUMNS: usize = 2_000;

/// See the module.
pub(super) struct SqlMesh;

/// Models and tables, with references between them.
#[derive(Default)]
struct Models {
    facts: BTreeMap<String, Vec<String>>,
    columns: Vec<Column>,
    links: Vec<Link>,
    defined: Vec<(String, String)>,
    /// Indices in `defined` by the lower-case last part of the name.
    by_last: HashMap<String, Vec<usize>>,
    n_models: usize,
    n_external: usize,
}

/// A described model or table.
#[derive(Default)]
struct Described {
    names: Vec<String>,
    kind: String,
    description: String,
    owner: String,
    tags: Vec<String>,
    /// Columns by name, with type and description.
    columns: BTreeMap<String, (String, String)>,
}

impl Provider for SqlMesh {
    fn name(&self) -> &'static str {
        "sqlmesh"
    }

    fn detect(&self, path: &str) -> bool {
        path.ends_with(".sql") && project_of(path).is_some()
    }

    fn is_of_data(&self) -> bool {
        true
    }

    fn read(&self, files: &dyn Files) -> Option<Box<dyn ProjectContext>> {
        let paths = files.paths();
        let text = |path: &str| {
            let text = files.text(path).filter(|text| text.len() <= LARGEST);
            text.and_then(|text| str::from_utf8(text).ok())
        };
        let mut models = Models::default();
        for path in paths.iter().filter(|path| project_of(path).is_some()) {
            let described = match path.rsplit_once('.') {
                Some((_, "sql")) => text(path).and_then(of_sql),
                Some((_, "py")) => text(path).and_then(of_python),
                _ => None,
            };
            models.n_models += described.as_ref().map_or(0, |described| described.names.len());
            described.into_iter().for_each(|described| models.add("model", path, described));
        }
        if models.n_models == 0 {
            return None;
        }
        let roots: HashSet<&str> = models.defined.iter().filter_map(|(_, path)| project_of(path)).collect();
        let roots: Vec<String> = roots.into_iter().map(str::to_owned).collect();
        for path in paths.iter().filter(|path| roots.iter().any(|root| is_external(root, path))) {
            for described in text(path).map(of_external).unwrap_or_default() {
                models.n_external += 1;
                models.add("external", path, described);
            }
        }
        for path in paths.iter().filter(|path| roots.iter().any(|root| is_below(root, path).is_some())) {
            if let Some((form, text)) = Form::of(path).zip(text(path)) {
                models.link(path, form, text);
            }
        }
        Some(Box::new(models))
    }
}

impl ProjectContext for Models {
    fn about(&self, path: &str) -> Vec<String> {
        self.facts.get(path).cloned().unwrap_or_default()
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn counts(&self) -> Vec<(&'static str, usize)> {
        let all = [("models", self.n_models), ("external", self.n_external), ("columns", self.columns.len())];
        all.into_iter().filter(|(_, count)| *count > 0).collect()
    }

    fn links(&self) -> &[Link] {
        &self.links
    }

    fn defined(&self) -> &[(String, String)] {
        &self.defined
    }
}

/// The project of a file in a models folder.
fn project_of(path: &str) -> Option<&str> {
    let folder = split(path).0;
    let at = format!("/{folder}/").find(&format!("/{MODELS}/"))?;
    Some(folder[..at].trim_end_matches('/'))
}

/// The rest of a path below a folder; `None` if it lies elsewhere.
fn is_below<'p>(root: &str, path: &'p str) -> Option<&'p str> {
    if root.is_empty() { Some(path) } else { path.strip_prefix(root)?.strip_prefix('/') }
}

fn is_external(root: &str, path: &str) -> bool {
    let is_it = |rest: &str| rest.split(['/', '.']).next() == Some(EXTERNAL);
    path.ends_with(".yaml") && is_below(root, path).is_some_and(is_it)
}

impl Models {
    fn add(&mut self, sort: &str, path: &str, described: Described) {
        let Described { names, kind, description, owner, tags, columns } = described;
        let file: Arc<str> = Arc::from(path);
        for name in names {
            let mut fact = format!("{sort} {name}");
            if !kind.is_empty() {
                fact.push_str(&format!(" ({kind})"));
            }
            let owner = if owner.is_empty() { String::new() } else { format!("owner: {owner}") };
            let tags = if tags.is_empty() { String::new() } else { format!("tags: {}", tags.join(", ")) };
            let parts = [(": ", &description), ("; ", &owner), ("; ", &tags)];
            for (before, part) in parts.into_iter().filter(|(_, part)| !part.is_empty()) {
                fact.push_str(before);
                fact.push_str(part);
            }
            let facts = self.facts.entry(path.to_owned()).or_default();
            if facts.len() < MOST_FACTS {
                facts.push(fact);
            }
            let model: Arc<str> = Arc::from(name.as_str());
            for (name, (kind, says)) in columns.iter().take(MOST_COLUMNS) {
                let parts = [kind.as_str(), says].into_iter().filter(|part| !part.is_empty());
                let description = parts.collect::<Vec<_>>().join("; ");
                self.columns.push(Column { model: model.clone(), file: file.clone(), name: name.clone(), description });
            }
            self.by_last.entry(last_part(&name)).or_default().push(self.defined.len());
            self.defined.push((name, path.to_owned()));
        }
    }

    /// The model that a name in a file means: one of the same project, or the only one of the repository. The name may
    /// begin with a catalogue.
    fn meant(&self, from: &str, written: &str) -> Option<(&str, &str)> {
        let is_it = |name: &str| {
            let rest = written.len().checked_sub(name.len()).and_then(|at| written.split_at_checked(at));
            rest.is_some_and(|(before, rest)| {
                rest.eq_ignore_ascii_case(name) && (before.is_empty() || before.ends_with('.'))
            })
        };
        let all = self.by_last.get(&last_part(written)).into_iter().flatten().map(|place| &self.defined[*place]);
        let all: Vec<&(String, String)> = all.filter(|(name, _)| is_it(name)).collect();
        let is_near = |path: &str| project_of(path).is_some_and(|root| is_below(root, from).is_some());
        let near = all.iter().find(|(_, path)| is_near(path));
        let found = near.or(all.first().filter(|_| all.len() == 1))?;
        Some((&found.0, &found.1))
    }

    /// Adds the places where a file names models.
    fn link(&mut self, path: &str, form: Form, text: &str) {
        let own: HashSet<String> =
            self.defined.iter().filter(|(_, other)| other == path).map(|(name, _)| name.clone()).collect();
        let mut known: HashMap<String, Option<(String, Arc<str>)>> = HashMap::new();
        let (from, mut reads): (Arc<str>, Vec<String>) = (Arc::from(path), Vec::new());
        for (at, written) in named(form, text) {
            let meant = known.entry(written.to_owned()).or_insert_with(|| {
                let (name, file) = self.meant(path, written)?;
                (!own.contains(name)).then(|| (name.to_owned(), Arc::from(file)))
            });
            let (Some((name, to)), Ok(at)) = (meant, u32::try_from(at)) else { continue };
            if !reads.contains(name) {
                reads.push(name.clone());
            }
            self.links.push(Link { from: from.clone(), at, name: name.clone(), to: Some(to.clone()) });
        }
        if !reads.is_empty() && !own.is_empty() {
            self.facts.entry(path.to_owned()).or_default().push(format!("reads {}", reads.join(", ")));
        }
    }
}

/// The last part of a dotted name, in lower case.
fn last_part(name: &str) -> String {
    name.rsplit('.').next().unwrap_or(name).to_lowercase()
}

/// The format of a file that may name models.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Sql,
    /// Names are strings.
    Python,
    Yaml,
}

impl Form {
    fn of(path: &str) -> Option<Self> {
        match path.rsplit_once('.')?.1 {
            "sql" => Some(Self::Sql),
            "py" => Some(Self::Python),
            "yaml" | "yml" if !split(path).1.starts_with(EXTERNAL) => Some(Self::Yaml),
            _ => None,
        }
    }
}

/// Names in a file that may mean models, with their positions. A name without a schema only counts after `FROM` or
/// `JOIN`.
fn named(form: Form, text: &str) -> Vec<(usize, &str)> {
    let tokens = tokens(text, form);
    let mut found = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let written = &text[token.start..token.end];
        let is_name = match (form, token.kind) {
            (Form::Python, TokenKind::Text) => !written.contains(char::is_whitespace),
            (Form::Python, _) | (_, TokenKind::Sign) => false,
            (_, TokenKind::Text) => false,
            (_, TokenKind::Word) if written.contains('.') => true,
            (_, TokenKind::Word) => {
                let before = place.checked_sub(1).map(|before| &text[tokens[before].start..tokens[before].end]);
                before.is_some_and(|word| ["from", "join"].iter().any(|other| word.eq_ignore_ascii_case(other)))
            }
        };
        if is_name && written.len() <= LONGEST_NAME && !written.is_empty() {
            found.push((token.start, written));
        }
    }
    found
}

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenKind {
    /// A name, which may contain dots and `@`.
    Word,
    /// A quoted text, without its quotes.
    Text,
    /// Any other character.
    Sign,
}

/// A token with its place.
#[derive(Clone, Copy, Debug)]
struct Token {
    kind: TokenKind,
    start: usize,
    end: usize,
}

/// The tokens of a text, without comments.
fn tokens(text: &str, form: Form) -> Vec<Token> {
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80 || b"_.@$".contains(&byte);
    let (mut found, mut at) = (Vec::new(), 0);
    let line_end = |at: usize| memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        let rest = &bytes[at..];
        at += 1;
        if byte.is_ascii_whitespace() {
            continue;
        }
        if form == Form::Sql && rest.starts_with(b"--") || form != Form::Sql && byte == b'#' {
            at = line_end(start);
        } else if form == Form::Sql && rest.starts_with(b"/*") {
            at = memchr::memmem::find(&rest[2..], b"*/").map_or(bytes.len(), |length| start + length + 4);
        } else if matches!(byte, b'\'' | b'"') {
            let length = memchr::memchr(byte, &bytes[at..]).unwrap_or(bytes.len() - at);
            found.push(Token { kind: TokenKind::Text, start: at, end: at + length });
            at = (at + length + 1).min(bytes.len());
        } else if is_word(byte) {
            at = start + rest.iter().take_while(|byte| is_word(**byte)).count();
            // A dot at the end belongs to the sentence.
            let end = start + text[start..at].trim_end_matches('.').len();
            found.push(Token { kind: TokenKind::Word, start, end: end.max(start + 1) });
        } else {
            found.push(Token { kind: TokenKind::Sign, start, end: at });
        }
    }
    found
}

/// The parts of a list in parentheses, which the first token opens, split at commas; and the number of tokens read.
fn parts<'t>(text: &str, tokens: &'t [Token]) -> (Vec<&'t [Token]>, usize) {
    let (mut depth, mut from, mut found) = (0_usize, 1, Vec::new());
    for (place, token) in tokens.iter().enumerate() {
        let sign = if token.kind == TokenKind::Sign { &text[token.start..token.end] } else { "" };
        match sign {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" => {
                let Some(above) = depth.checked_sub(1) else { break };
                depth = above;
                if depth == 0 {
                    found.push(&tokens[from..place]);
                    return (found, place + 1);
                }
            }
            "," if depth == 1 => {
                found.push(&tokens[from..place]);
                from = place + 1;
            }
            _ if depth == 0 => break,
            _ => {}
        }
    }
    (Vec::new(), tokens.len())
}

/// The text from the first token to the last.
fn written<'t>(text: &'t str, tokens: &[Token]) -> &'t str {
    match tokens {
        [] => "",
        [one] => &text[one.start..one.end],
        // Quotes lie outside a token.
        [first, .., last] => text[first.start..last.end].trim_matches(['\'', '"']),
    }
}

/// The words or quoted texts of a value, which may be a list.
fn listed(text: &str, value: &[Token]) -> Vec<String> {
    let names = value.iter().filter(|token| token.kind != TokenKind::Sign);
    names.map(|token| text[token.start..token.end].to_owned()).filter(|name| name.len() <= LONGEST_NAME).collect()
}

/// The model in a file that begins with `MODEL (…)`.
fn of_sql(text: &str) -> Option<Described> {
    let tokens = tokens(text, Form::Sql);
    let is = |token: &Token, word: &str| text[token.start..token.end].eq_ignore_ascii_case(word);
    let [first, list @ ..] = &tokens[..] else { return None };
    if !is(first, "MODEL") || !list.first().is_some_and(|token| is(token, "(")) {
        return None;
    }
    let mut described = Described::default();
    let mut variables: Vec<(&str, &str)> = Vec::new();
    for part in parts(text, list).0 {
        let [key, value @ ..] = part else { continue };
        let says = || first_paragraph(written(text, value), DESCRIPTION);
        let list = || if value.first().is_some_and(|token| is(token, "(")) { parts(text, value).0 } else { Vec::new() };
        match text[key.start..key.end].to_ascii_lowercase().as_str() {
            "name" => described.names = vec![written(text, value).to_owned()],
            "kind" => described.kind = written(text, &value[..value.len().min(1)]).to_lowercase(),
            "description" => described.description = says(),
            "owner" => described.owner = says(),
            "tags" => described.tags = listed(text, value),
            "columns" => list().into_iter().for_each(|column| described.note(text, column, false)),
            "column_descriptions" => list().into_iter().for_each(|column| described.note(text, column, true)),
            "blueprints" => {
                for blueprint in list() {
                    for pair in parts(text, blueprint).0.into_iter().take(MOST_OF_BLUEPRINT) {
                        if let [key, colon, equals, value @ ..] = pair
                            && is(colon, ":")
                            && is(equals, "=")
                        {
                            variables.push((written(text, &[*key]), written(text, value)));
                        }
                    }
                }
            }
            _ => {}
        }
    }
    if let Some(variable) = described.names.first().and_then(|name| name.strip_prefix('@')) {
        let values = variables.iter().filter(|(key, _)| *key == variable).map(|(_, value)| (*value).to_owned());
        described.names = values.take(MOST_OF_BLUEPRINT).collect();
    }
    described.names.retain(|name| !name.is_empty() && name.len() <= LONGEST_NAME && !name.contains('@'));
    if described.description.is_empty() {
        let above = text[..first.start].trim().trim_start_matches("/*").trim_end_matches("*/");
        let above: Vec<&str> = above.lines().map(|line| line.trim().trim_start_matches("--").trim()).collect();
        described.description = first_paragraph(above.join("\n").trim(), DESCRIPTION);
    }
    (!described.names.is_empty()).then_some(described)
}

impl Described {
    /// Notes the type of a column, `id INT`, or its description, `id = 'Key.'`.
    fn note(&mut self, text: &str, tokens: &[Token], is_description: bool) {
        let [name, rest @ ..] = tokens else { return };
        let name = written(text, &[*name]);
        if name.is_empty() || name.len() > LONGEST_NAME {
            return;
        }
        let column = self.columns.entry(name.to_owned()).or_default();
        match is_description {
            true => column.1 = first_paragraph(rest.get(1..).map_or("", |says| written(text, says)), DESCRIPTION),
            false => column.0 = first_paragraph(written(text, rest), LONGEST_NAME),
        }
    }
}

/// The model of a decorator `@model("db.orders", …)`.
fn of_python(text: &str) -> Option<Described> {
    let tokens = tokens(text, Form::Python);
    let is = |token: &Token, word: &str| text[token.start..token.end] == *word;
    let at = tokens.windows(2).position(|pair| is(&pair[0], "@model") && is(&pair[1], "("))?;
    let mut described = Described::default();
    for (place, part) in parts(text, &tokens[at + 1..]).0.into_iter().enumerate() {
        let (key, value) = match part {
            [name] if place == 0 && name.kind == TokenKind::Text => ("name", part),
            [key, equals, value @ ..] if is(equals, "=") => (written(text, &[*key]), value),
            _ => continue,
        };
        let pairs =
            || if value.first().is_some_and(|token| is(token, "{")) { parts(text, value).0 } else { Vec::new() };
        match key {
            "name" => described.names = listed(text, value).into_iter().take(1).collect(),
            "description" => described.description = first_paragraph(written(text, value), DESCRIPTION),
            "owner" => described.owner = first_paragraph(written(text, value), LONGEST_NAME),
            "tags" => described.tags = listed(text, value),
            "columns" | "column_descriptions" => {
                for pair in pairs() {
                    if let [name, colon, value @ ..] = pair
                        && is(colon, ":")
                    {
                        let says = first_paragraph(written(text, value), DESCRIPTION);
                        let column = described.columns.entry(written(text, &[*name]).to_owned()).or_default();
                        if key == "columns" { column.0 = says } else { column.1 = says }
                    }
                }
            }
            _ => {}
        }
    }
    described.names.retain(|name| !name.is_empty() && !name.contains('@'));
    (!described.names.is_empty()).then_some(described)
}

/// The tables in a file of external models.
fn of_external(text: &str) -> Vec<Described> {
    let listed = yaml::value(text.as_bytes()).unwrap_or_default();
    let table = |item: &Value| {
        let name = item["name"].as_str().filter(|name| name.len() <= LONGEST_NAME)?.replace('"', "");
        let kind = |(name, kind): (&String, &Value)| {
            let kind = kind.as_str().unwrap_or_default().to_owned();
            (name.clone(), (kind, String::new()))
        };
        Some(Described {
            names: vec![name],
            description: first_paragraph(item["description"].as_str().unwrap_or_default(), DESCRIPTION),
            columns: item["columns"].as_object().into_iter().flatten().map(kind).collect(),
            ..Described::default()
        })
    };
    listed.as_array().into_iter().flatten().filter_map(table).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Made;
    use super::*;

    #[test]
    fn models_are_described_and_follow_one_another() {
        let orders = "/* Orders as they come.\n   More. */\nMODEL (\n  name sushi.orders,\n  kind INCREMENTAL_BY_TIME_RANGE (time_column day),\n  owner jen,\n  tags (pii, fact),\n  columns (id INT, price DECIMAL(10, 2)),\n  column_descriptions (id = 'Key, of an order', \"price\" = 'In yen'),\n);\n\nSELECT o.id, 'sushi.items' AS said -- from sushi.items\nFROM raw.orders AS o JOIN cat.sushi.items AS i ON o.item = i.id JOIN flat USING (id)\n";
        let items = "from sqlmesh import model\n\n# sushi.orders\n@model(\n    \"sushi.items\",\n    columns={\"id\": \"int\", \"name\": \"text\"},\n    column_descriptions={\"id\": \"Key.\"},\n    audits=[(\"not_null\", {\"columns\": [x]})],\n)\ndef execute(context):\n    return context.resolve_table(\"sushi.orders\")\n";
        let files = Made(vec![
            ("shop/audits/one.sql", "AUDIT (name one);\nSELECT * FROM sushi.orders WHERE id < 0"),
            (
                "shop/external_models.yaml",
                "- name: '\"raw\".\"orders\"'\n  description: As sent.\n  columns: {id: int}\n",
            ),
            (
                "shop/models/copy/flat.sql",
                "model (name flat, description 'Flat, as it is.');\nselect * from sushi.orders",
            ),
            ("shop/models/items.py", items),
            (
                "shop/models/many.sql",
                "MODEL (name @n, blueprints ((n := a.x, m := 1), (n := a.y)));\nSELECT 1 FROM sushi.gone",
            ),
            ("shop/models/no.sql", "SELECT * FROM sushi.orders"),
            ("shop/models/orders.sql", orders),
            ("shop/tests/test.yaml", "test:\n  model: sushi.orders # sushi.items\n"),
            ("other/rows.sql", "SELECT * FROM sushi.orders"),
        ]);
        let known = SqlMesh.read(&files).expect("there are models");
        let orders_says =
            "model sushi.orders (incremental_by_time_range): Orders as they come. More.; owner: jen; tags: pii, fact";
        assert_eq!(known.about("shop/models/orders.sql"), [orders_says, "reads raw.orders, sushi.items, flat"]);
        assert_eq!(known.about("shop/models/items.py"), ["model sushi.items", "reads sushi.orders"]);
        assert_eq!(known.about("shop/models/many.sql"), ["model a.x", "model a.y"]);
        assert_eq!(known.about("shop/external_models.yaml"), ["external raw.orders: As sent."]);
        assert_eq!(known.about("shop/models/copy/flat.sql"), ["model flat: Flat, as it is.", "reads sushi.orders"]);
        let column = |column: &Column| format!("{}.{}: {}", column.model, column.name, column.description);
        let expected = [
            "sushi.items.id: int; Key.",
            "sushi.items.name: text",
            "sushi.orders.id: INT; Key, of an order",
            "sushi.orders.price: DECIMAL(10, 2); In yen",
            "raw.orders.id: int",
        ];
        assert_eq!(known.columns().iter().map(column).collect::<Vec<_>>(), expected);
        let link = |link: &Link| format!("{} {} {}", link.from, link.name, link.to.as_deref().unwrap_or_default());
        let expected = [
            "shop/audits/one.sql sushi.orders shop/models/orders.sql",
            "shop/models/copy/flat.sql sushi.orders shop/models/orders.sql",
            "shop/models/items.py sushi.orders shop/models/orders.sql",
            "shop/models/no.sql sushi.orders shop/models/orders.sql",
            "shop/models/orders.sql raw.orders shop/external_models.yaml",
            "shop/models/orders.sql sushi.items shop/models/items.py",
            "shop/models/orders.sql flat shop/models/copy/flat.sql",
            "shop/tests/test.yaml sushi.orders shop/models/orders.sql",
        ];
        assert_eq!(known.links().iter().map(link).collect::<Vec<_>>(), expected);
        let first = known.links().iter().find(|link| &*link.name == "raw.orders").expect("it is there");
        assert_eq!(orders[first.at as usize..].get(..10), Some("raw.orders"));
        assert_eq!(known.counts(), [("models", 5), ("external", 1), ("columns", 5)]);
        assert!(SqlMesh.read(&Made(vec![("models/a.sql", "select 1")])).is_none());
    }

    #[test]
    fn what_is_cut_off_does_no_harm() {
        let whole = "-- é\nMODEL (name a.b, columns (x INT), blueprints ((k := 1)), description 'd''é');\nSELECT \"x\" /* */ FROM c.d";
        for end in (0..=whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            of_sql(&whole[..end]);
            named(Form::Sql, &whole[..end]);
        }
        for text in ["@model(", "@model(\"", "@model(\"a.b\", columns={\"x\"", "@model(\"a.b\", columns={\"x\": 1}"] {
            of_python(text);
        }
        assert!(of_sql(")))").is_none() && of_sql("MODEL ))").is_none());
    }
}
