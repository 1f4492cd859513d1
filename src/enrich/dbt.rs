//! dbt: models, seeds, snapshots, sources and exposures with their descriptions, tags and columns, from the YAML files
//! and docs blocks of a project, and from `manifest.json` where it is among the files; and what each model reads, by `ref()` and
//! `source()`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    Column, Files, LARGEST, LONGEST_NAME, Link, MOST_FACTS, ProjectContext, Provider, first_paragraph, split, yaml,
};

/// Name of the file at the root of a project.
const PROJECT: &str = "dbt_project.yml";
/// Name of the file into which dbt compiles all that it has read.
const MANIFEST: &str = "manifest.json";
/// Letters of a description.
const DESCRIPTION: usize = 300;
/// Most bytes of a docs block of which descriptions are made, and of a description before it is cut.
const LONGEST_TEXT: usize = 4 << 10;
/// Most bytes of what stands in the parentheses of `ref()`.
const LONGEST_CALL: usize = 500;
/// Kinds of described things, by the key of their list.
const KINDS: [(&str, &str); 4] =
    [("models", "model"), ("seeds", "seed"), ("snapshots", "snapshot"), ("exposures", "exposure")];
/// Endings of files that define models.
const DEFINING: [&str; 3] = ["sql", "py", "csv"];
/// Endings of files that name models.
const READING: [&str; 4] = ["sql", "py", "yml", "yaml"];

/// See the module.
pub(super) struct Dbt;

/// Statements of a project about its files.
#[derive(Default)]
struct Project {
    /// Facts by path.
    facts: HashMap<String, Vec<String>>,
    columns: Vec<Column>,
    counts: [usize; 5],
    links: Vec<Link>,
    /// Names of models, seeds, snapshots and tables of sources, with the file of each.
    defined: Vec<(String, String)>,
    /// Kinds and names of what is described.
    described: HashSet<(String, String)>,
}

impl Provider for Dbt {
    fn name(&self) -> &'static str {
        "dbt"
    }

    fn read(&self, files: &dyn Files) -> Option<Box<dyn ProjectContext>> {
        let paths = files.paths();
        // Packages that a project has installed are not its own.
        let is_own = |path: &&str| !path.split('/').any(|part| part == "dbt_packages");
        let paths: Vec<&str> = paths.into_iter().filter(is_own).collect();
        let roots = paths.iter().filter(|path| split(path).1 == PROJECT).map(|path| split(path).0);
        let mut projects: BTreeMap<&str, Vec<&str>> = roots.map(|root| (root, Vec::new())).collect();
        if projects.is_empty() {
            return None;
        }
        // A project in a project is one of its own, so that each file is read once.
        for path in paths {
            if let Some(root) = folders_of(path).find(|folder| projects.contains_key(folder)) {
                projects.entry(root).or_default().push(path);
            }
        }
        let mut project = Project::default();
        projects.values().for_each(|own| project.read(files, own));
        Some(Box::new(project))
    }

    fn detect(&self, path: &str) -> bool {
        split(path).1 == PROJECT
    }

    fn is_of_data(&self) -> bool {
        true
    }
}

impl ProjectContext for Project {
    fn about(&self, path: &str) -> Vec<String> {
        self.facts.get(path).cloned().unwrap_or_default()
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn counts(&self) -> Vec<(&'static str, usize)> {
        let [models, seeds, snapshots, exposures, sources] = self.counts;
        let columns = self.columns.len();
        let all = [
            ("models", models),
            ("seeds", seeds),
            ("snapshots", snapshots),
            ("exposures", exposures),
            ("sources", sources),
            ("columns", columns),
        ];
        all.into_iter().filter(|(_, count)| *count > 0).collect()
    }

    fn links(&self) -> &[Link] {
        &self.links
    }

    fn defined(&self) -> &[(String, String)] {
        &self.defined
    }
}

impl Project {
    /// Reads the files of one project.
    fn read(&mut self, files: &dyn Files, paths: &[&str]) {
        let ends = |path: &str, endings: &[&str]| path.rsplit_once('.').is_some_and(|(_, end)| endings.contains(&end));
        let text = |path: &str| files.text(path).filter(|text| text.len() <= LARGEST);
        let mut docs = HashMap::new();
        for path in paths.iter().filter(|path| ends(path, &["md"])) {
            docs_blocks(&String::from_utf8_lossy(text(path).unwrap_or_default()), &mut docs);
        }
        let mut defining: BTreeMap<String, &str> = BTreeMap::new();
        for path in paths.iter().filter(|path| ends(path, &DEFINING)) {
            let name = split(path).1;
            let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            let snapshots = if ends(path, &["sql"]) { snapshots(text(path).unwrap_or_default()) } else { Vec::new() };
            for name in snapshots.into_iter().chain([name.to_owned()]) {
                defining.entry(name).or_insert(path);
            }
        }
        let is_yaml = |path: &&&str| ends(path, &["yml", "yaml"]) && split(path).1 != PROJECT;
        for path in paths.iter().filter(is_yaml) {
            let Some(described) = text(path).and_then(yaml::value) else { continue };
            for (place, (key, kind)) in KINDS.into_iter().enumerate() {
                for item in described[key].as_array().into_iter().flatten() {
                    let Some(name) = name(item) else { continue };
                    let file = defining.get(name).copied().unwrap_or(path);
                    self.counts[place] += 1;
                    self.describe(kind, name, file, item, &docs);
                }
            }
            for source in described["sources"].as_array().into_iter().flatten() {
                let Some(owner) = name(source) else { continue };
                for table in source["tables"].as_array().into_iter().flatten() {
                    let Some(name) = name(table) else { continue };
                    self.counts[4] += 1;
                    let name = format!("{owner}.{name}");
                    self.describe("source", &name, path, table, &docs);
                    defining.entry(name).or_insert(path);
                }
            }
        }
        for path in paths.iter().filter(|path| split(path).1 == MANIFEST) {
            let manifest = text(path).and_then(|text| serde_json::from_slice(text).ok());
            self.read_manifest(path, &manifest.unwrap_or_default(), &defining);
        }
        self.described.clear();
        let files_of: HashMap<&str, Arc<str>> = defining.values().map(|path| (*path, Arc::from(*path))).collect();
        for path in paths.iter().filter(|path| ends(path, &READING)) {
            let from: Arc<str> = Arc::from(*path);
            // Places are those of the file's own bytes.
            let Some(reads) = text(path).and_then(|text| str::from_utf8(text).ok()).map(reads) else { continue };
            let (mut names, mut seen) = (Vec::new(), HashSet::new());
            for read in reads {
                let shown = if read.is_source { format!("source {}", read.name) } else { read.name.clone() };
                if seen.insert(shown.clone()) {
                    names.push(shown);
                }
                let to = defining.get(&read.name).and_then(|path| files_of.get(path)).cloned();
                self.links.push(Link { from: from.clone(), at: read.at, name: read.name, to });
            }
            if !names.is_empty() && ends(path, &["sql", "py"]) {
                self.facts.entry((*path).to_owned()).or_default().push(format!("reads {}", names.join(", ")));
            }
        }
        self.defined.extend(defining.into_iter().map(|(name, path)| (name, path.to_owned())));
    }

    /// Adds what only a manifest describes. Descriptions in it are complete: docs blocks are in their places.
    fn read_manifest(&mut self, path: &str, manifest: &Value, defining: &BTreeMap<String, &str>) {
        let own = &manifest["metadata"]["project_name"];
        let all = ["nodes", "sources", "exposures"].map(|key| manifest[key].as_object());
        for item in all.into_iter().flatten().flat_map(|items| items.values()) {
            // Installed packages are not the project's own.
            if !own.is_null() && item["package_name"] != *own {
                continue;
            }
            let (Some(kind), Some(name)) = (item["resource_type"].as_str(), name(item)) else { continue };
            let place = KINDS.iter().position(|(_, known)| *known == kind);
            let (place, name) = match (place, item["source_name"].as_str()) {
                (Some(place), _) => (place, name.to_owned()),
                (None, Some(source)) if kind == "source" && source.len() <= LONGEST_NAME => {
                    (4, format!("{source}.{name}"))
                }
                _ => continue,
            };
            if self.described.contains(&(kind.to_owned(), name.clone())) {
                continue;
            }
            let columns: Vec<&Value> = item["columns"].as_object().into_iter().flat_map(|all| all.values()).collect();
            let item = json!({"description": item["description"], "tags": item["tags"], "columns": columns});
            self.counts[place] += 1;
            let file = defining.get(&name).copied().unwrap_or(path);
            self.describe(kind, &name, file, &item, &HashMap::new());
        }
    }

    /// Adds the facts and columns of a described thing.
    fn describe(&mut self, kind: &str, name: &str, file: &str, item: &Value, docs: &HashMap<String, String>) {
        let said = |item: &Value| described(item["description"].as_str().unwrap_or_default(), docs);
        self.described.insert((kind.to_owned(), name.to_owned()));
        let mut fact = format!("{kind} {name}");
        let description = said(item);
        if !description.is_empty() {
            fact.push_str(": ");
            fact.push_str(&description);
        }
        let tags = tags(item);
        if !tags.is_empty() {
            fact.push_str(&format!("; tags: {}", tags.join(", ")));
        }
        let facts = self.facts.entry(file.to_owned()).or_default();
        if facts.len() < MOST_FACTS {
            facts.push(fact);
        }
        let (model, file): (Arc<str>, Arc<str>) = (Arc::from(name), Arc::from(file));
        for column in item["columns"].as_array().into_iter().flatten() {
            let Some(name) = self::name(column).map(str::to_owned) else { continue };
            self.columns.push(Column { model: model.clone(), file: file.clone(), name, description: said(column) });
        }
    }
}

/// The name of a thing; none that is longer than a name can be.
fn name(item: &Value) -> Option<&str> {
    item["name"].as_str().filter(|name| name.len() <= LONGEST_NAME)
}

/// The folders that a path lies in, the nearest first and the root last.
fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.rmatch_indices('/').map(|(end, _)| end).chain((!path.starts_with('/')).then_some(0));
    ends.map(move |end| &path[..end])
}

/// Tags of a thing, which may stand in its configuration.
fn tags(item: &Value) -> Vec<String> {
    let given = [&item["tags"], &item["config"]["tags"]];
    let each = |tags: &Value| match tags {
        Value::String(tag) => vec![tag.clone()],
        _ => tags.as_array().into_iter().flatten().filter_map(|tag| tag.as_str().map(str::to_owned)).collect(),
    };
    given.into_iter().flat_map(each).collect()
}

/// A description with the docs blocks that it names.
fn described(text: &str, docs: &HashMap<String, String>) -> String {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{").filter(|_| whole.len() < LONGEST_TEXT) {
        let Some((inside, behind)) = after.split_once("}}") else { break };
        whole.push_str(before);
        let name = inside.trim().strip_prefix("doc").map(quoted).and_then(|names| names.last().cloned());
        whole.push_str(name.and_then(|name| docs.get(&name)).map_or("", String::as_str));
        rest = behind;
    }
    whole.push_str(rest);
    first_paragraph(&whole, DESCRIPTION)
}

/// Adds the docs blocks of a text: `{% docs name %}` to `{% enddocs %}`.
fn docs_blocks(text: &str, docs: &mut HashMap<String, String>) {
    let mut rest = text;
    while let Some((_, tag)) = rest.split_once("{%") {
        let Some((inside, behind)) = tag.split_once("%}") else { return };
        rest = behind;
        let mut words = inside.trim_matches('-').split_whitespace();
        if words.next() == Some("docs")
            && let (Some(name), Some((block, after))) = (words.next(), behind.split_once("{%"))
        {
            let block = block.trim();
            docs.insert(name.to_owned(), block[..block.floor_char_boundary(LONGEST_TEXT)].to_owned());
            rest = after;
        }
    }
}

/// A place where a text names a model or a source.
struct DbtReference {
    at: u32,
    name: String,
    is_source: bool,
}

/// Places where a text names a model by `ref()` or a source by `source()`, in their order. Comments of templates count for
/// nothing, those of SQL do: dbt reads templates before anything else.
fn reads(text: &str) -> Vec<DbtReference> {
    let mut comments: Vec<(usize, usize)> = Vec::new();
    let mut end = 0;
    while let Some(start) = text[end..].find("{#").map(|start| end + start) {
        end = text[start..].find("#}").map_or(text.len(), |length| start + length);
        comments.push((start, end));
    }
    let is_comment = |at: usize| {
        let before = comments.partition_point(|(start, _)| *start <= at);
        comments[..before].last().is_some_and(|(_, end)| at < *end)
    };
    let mut found: Vec<DbtReference> = Vec::new();
    for call in ["ref", "source"] {
        for (at, _) in text.match_indices(call).filter(|(at, _)| !is_comment(*at)) {
            let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
            let after = text[at + call.len()..].trim_start();
            let Some(arguments) = after.strip_prefix('(').filter(|_| !text[..at].ends_with(is_word)) else { continue };
            // A text may open many that it never closes.
            let near = &arguments[..arguments.floor_char_boundary(LONGEST_CALL)];
            let inside = near.split_once(')').map_or("", |(inside, _)| inside);
            let names = quoted(inside);
            let (name, last) = match (call, &names[..]) {
                ("source", [owner, name, ..]) => (format!("{owner}.{name}"), name),
                // A first name of two is that of a package.
                ("ref", [.., name]) => (name.clone(), name),
                _ => continue,
            };
            let at = text.len() - arguments.len() + inside.rfind(last.as_str()).unwrap_or(0);
            let Ok(at) = u32::try_from(at) else { continue };
            found.push(DbtReference { at, name, is_source: call == "source" });
        }
    }
    found.sort_by_key(|read| read.at);
    found
}

/// Names of the snapshots that a file defines: `{% snapshot name %}`.
fn snapshots(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let tags = text.split("{%").skip(1).filter_map(|tag| tag.split_once("%}"));
    let name = |(inside, _): (&str, &str)| {
        let mut words = inside.trim_matches('-').split_whitespace();
        (words.next() == Some("snapshot")).then(|| words.next().map(str::to_owned)).flatten()
    };
    tags.filter_map(name).collect()
}

/// Texts in quotes, in order.
fn quoted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(['\'', '"']) {
        let quote = &rest[start..=start];
        let Some((inside, behind)) = rest[start + 1..].split_once(quote) else { break };
        found.push(inside.to_owned());
        rest = behind;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::Made;
    use super::*;

    #[test]
    fn a_project_describes_its_models_and_columns() {
        let schema = "version: 2\nmodels:\n  - name: orders\n    description: '{{ doc(\"orders\") }}'\n    config:\n      tags: [daily]\n    columns:\n      - name: order_id\n        description: Key of an order.\n      - name: amount\nsources:\n  - name: raw\n    tables:\n      - name: payments\n        description: What was paid.\n        columns:\n          - {name: id, description: 'Key, of {{ doc(\"gone\") }}a payment'}\n";
        let files = Made(vec![
            ("shop/dbt_project.yml", "name: shop\n"),
            ("shop/models/schema.yml", schema),
            ("shop/models/docs.md", "# x\n{% docs orders %}\nOne row for\nan order.\n\nMore.\n{% enddocs %}\n"),
            (
                "shop/models/orders.sql",
                "select * from {{ ref('stg_orders') }} join {{ source('raw', \"payments\") }} using (id) -- prefer(x)\njoin {{ref('pkg','stg_orders')}}",
            ),
            ("shop/models/bad.yml", "models: [\n"),
            ("shop/dbt_packages/x/dbt_project.yml", "name: x\n"),
            ("other/models/schema.yml", schema),
        ]);
        let known = Dbt.read(&files).expect("there is a project");
        assert_eq!(
            known.about("shop/models/orders.sql"),
            ["model orders: One row for an order.; tags: daily", "reads stg_orders, source raw.payments"]
        );
        let links: Vec<(u32, &str, Option<&str>)> =
            known.links().iter().map(|link| (link.at, link.name.as_str(), link.to.as_deref())).collect();
        let source = Some("shop/models/schema.yml");
        assert_eq!(links, [(22, "stg_orders", None), (61, "raw.payments", source), (117, "stg_orders", None)]);
        assert_eq!(known.about("shop/models/schema.yml"), ["source raw.payments: What was paid."]);
        let column = |model: &str, file: &str, name: &str, description: &str| Column {
            model: model.into(),
            file: file.into(),
            name: name.to_owned(),
            description: description.to_owned(),
        };
        let expected = [
            column("orders", "shop/models/orders.sql", "order_id", "Key of an order."),
            column("orders", "shop/models/orders.sql", "amount", ""),
            column("raw.payments", "shop/models/schema.yml", "id", "Key, of a payment"),
        ];
        assert_eq!(known.columns(), expected);
        assert_eq!(known.counts(), [("models", 1), ("sources", 1), ("columns", 3)]);
        assert!(known.about("other/models/schema.yml").is_empty());
        assert!(Dbt.read(&Made(vec![("models/schema.yml", schema)])).is_none());
    }

    #[test]
    fn a_manifest_tells_what_files_do_not() {
        let manifest = r#"{"metadata": {"project_name": "shop"},
            "nodes": {
                "model.shop.orders": {"resource_type": "model", "package_name": "shop", "name": "orders", "description": "From the manifest."},
                "model.shop.items": {"resource_type": "model", "package_name": "shop", "name": "items", "description": "Parts of an order.",
                    "tags": ["hourly"], "columns": {"sku": {"name": "sku", "description": "What was sold."}}},
                "model.utils.dates": {"resource_type": "model", "package_name": "utils", "name": "dates", "description": "Of a package."},
                "test.shop.unique": {"resource_type": "test", "package_name": "shop", "name": "unique"}},
            "sources": {"source.shop.raw.payments": {"resource_type": "source", "package_name": "shop", "source_name": "raw", "name": "payments"}}}"#;
        let files = Made(vec![
            ("dbt_project.yml", "name: shop\n"),
            ("models/schema.yml", "models:\n  - {name: orders, description: From a file.}\n"),
            ("models/orders.sql", "select 1"),
            ("models/items.sql", "select 2"),
            ("target/manifest.json", manifest),
        ]);
        let known = Dbt.read(&files).expect("there is a project");
        assert_eq!(known.about("models/orders.sql"), ["model orders: From a file."]);
        assert_eq!(known.about("models/items.sql"), ["model items: Parts of an order.; tags: hourly"]);
        assert_eq!(known.about("target/manifest.json"), ["source raw.payments"]);
        assert_eq!(known.counts(), [("models", 2), ("sources", 1), ("columns", 1)]);
        assert_eq!((known.columns()[0].name.as_str(), &*known.columns()[0].file), ("sku", "models/items.sql"));
        let broken = [("dbt_project.yml", "name: shop\n"), ("target/manifest.json", "{\"nodes\": [")];
        assert!(Dbt.read(&Made(broken.to_vec())).expect("there is a project").counts().is_empty());
    }

    #[test]
    fn what_is_cut_off_does_no_harm() {
        let mut docs = HashMap::new();
        for text in ["{%", "{% docs", "{% docs a %}", "{% docs %}x{% enddocs %}", "{% docs é %}ü"] {
            docs_blocks(text, &mut docs);
        }
        assert!(docs.is_empty());
        for text in ["ref(", "ref('", "source('a')", "ref ( 'é'", "{{ doc('"] {
            reads(text);
            described(text, &docs);
        }
    }
}
