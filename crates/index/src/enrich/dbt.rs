//! dbt: models, seeds, snapshots, sources and exposures with their descriptions, tags and columns, and the models that
//! each model reads by `ref()` and `source()`. They come from a project's YAML files and docs blocks, and from
//! `manifest.json` if it is indexed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::templates::{DbtReference, described, docs_blocks, reads, snapshots};
use super::{Column, Files, LARGEST, LONGEST_NAME, Link, MOST_FACTS, ProjectContext, Provider, split, yaml};

/// Name of the file at the root of a project.
const PROJECT: &str = "dbt_project.yml";
/// The file into which dbt compiles a project.
const MANIFEST: &str = "manifest.json";
/// The YAML list of each kind, and the kind's name.
const KINDS: [(&str, &str); 4] =
    [("models", "model"), ("seeds", "seed"), ("snapshots", "snapshot"), ("exposures", "exposure")];
/// Extensions of files that define models.
const DEFINING: [&str; 3] = ["sql", "py", "csv"];
/// Settings with the folders of models, seeds and snapshots, including older setting names, each with its default
/// folders.
const PLACES: [(&[&str], &[&str]); 3] = [
    (&["model-paths", "source-paths"], &["models"]),
    (&["seed-paths", "data-paths"], &["seeds", "data"]),
    (&["snapshot-paths"], &["snapshots"]),
];
/// The setting with the folders of tests, and its default.
const TESTS: (&[&str], &[&str]) = (&["test-paths"], &["tests"]);
/// Files that list a project's packages.
const PACKAGES: [&str; 2] = ["packages.yml", "dependencies.yml"];
/// The most tests listed for one item.
const MOST_TESTS: usize = 12;
/// Extensions of files that may reference models.
const READING: [&str; 4] = ["sql", "py", "yml", "yaml"];

/// See the module.
pub(super) struct Dbt;

/// Facts about the files of all dbt projects.
#[derive(Default)]
struct Project {
    /// Facts by path.
    facts: HashMap<String, Vec<String>>,
    columns: Vec<Column>,
    counts: [usize; 6],
    links: Vec<Link>,
    /// Names of models, seeds, snapshots and source tables, each with its file.
    defined: Vec<(String, String)>,
    /// Kinds and names of described items.
    described: HashSet<(String, String)>,
}

impl Provider for Dbt {
    fn name(&self) -> &'static str {
        "dbt"
    }

    fn read(&self, files: &dyn Files) -> Option<Box<dyn ProjectContext>> {
        let paths = files.paths();
        // Installed packages do not belong to the project.
        let is_own = |path: &&str| !path.split('/').any(|part| matches!(part, "dbt_packages" | "dbt_modules"));
        let paths: Vec<&str> = paths.into_iter().filter(is_own).collect();
        let roots = paths.iter().filter(|path| split(path).1 == PROJECT).map(|path| split(path).0);
        let mut projects: BTreeMap<&str, Vec<&str>> = roots.map(|root| (root, Vec::new())).collect();
        if projects.is_empty() {
            return None;
        }
        // A nested project is separate, so that each file is read once.
        for path in paths {
            if let Some(root) = folders_of(path).find(|folder| projects.contains_key(folder)) {
                projects.entry(root).or_default().push(path);
            }
        }
        let mut all: Vec<Own<'_>> = projects.into_iter().map(|(root, paths)| Own::of(files, root, paths)).collect();
        let mut project = Project::default();
        all.iter_mut().for_each(|own| project.read(files, own));
        (0..all.len()).for_each(|place| project.link(files, &all, place));
        project.defined = all.into_iter().flat_map(Own::defined).collect();
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
        let [models, seeds, snapshots, exposures, sources, tests] = self.counts;
        let columns = self.columns.len();
        let all = [
            ("models", models),
            ("seeds", seeds),
            ("snapshots", snapshots),
            ("exposures", exposures),
            ("sources", sources),
            ("columns", columns),
            ("tests", tests),
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

/// The text of a file, unless it is too large.
fn text<'f>(files: &'f dyn Files, path: &str) -> Option<&'f [u8]> {
    files.text(path).filter(|text| text.len() <= LARGEST)
}

fn ends(path: &str, endings: &[&str]) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| endings.contains(&end))
}

/// One dbt project, with the names that it defines.
struct Own<'f> {
    root: String,
    name: String,
    /// Roots of the projects in this repository that it installs as packages.
    packages: Vec<String>,
    paths: Vec<&'f str>,
    /// Files of models, seeds, snapshots and source tables, by name. A model with versions has the file of its latest
    /// version.
    defining: BTreeMap<String, &'f str>,
    /// Files of model versions, by name and version.
    versions: BTreeMap<(String, String), &'f str>,
    /// The number of test files.
    tests: usize,
}

impl<'f> Own<'f> {
    /// Finds the files of a project that define something.
    fn of(files: &dyn Files, root: &str, paths: Vec<&'f str>) -> Self {
        let at = if root.is_empty() { PROJECT.to_owned() } else { format!("{root}/{PROJECT}") };
        let settings = text(files, &at).and_then(yaml::value).unwrap_or_default();
        let is_within = |path: &str, folders: &[String]| {
            let path = path.strip_prefix(root).unwrap_or(path).trim_start_matches('/');
            folders.iter().any(|folder| match path.strip_prefix(folder.as_str()) {
                Some(rest) => folder.is_empty() || rest.starts_with('/'),
                None => false,
            })
        };
        let places: Vec<String> = PLACES.iter().flat_map(|place| folders(&settings, *place)).collect();
        let (tests, mut defining) = (folders(&settings, TESTS), BTreeMap::new());
        for path in paths.iter().filter(|path| ends(path, &DEFINING) && is_within(path, &places)) {
            let name = split(path).1;
            let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            let is_sql = ends(path, &["sql"]);
            let snapshots = if is_sql { snapshots(text(files, path).unwrap_or_default()) } else { Vec::new() };
            for name in snapshots.into_iter().chain([name.to_owned()]) {
                defining.entry(name).or_insert(*path);
            }
        }
        let is_test = |path: &&&str| ends(path, &["sql"]) && is_within(path, &tests) && !path.contains("/generic/");
        let (tests, name) = (paths.iter().filter(is_test).count(), name(&settings).unwrap_or_default().to_owned());
        let packages = packages(files, root);
        Self { root: root.to_owned(), name, packages, paths, defining, versions: BTreeMap::new(), tests }
    }

    /// Notes the files of a model's versions: `orders_v2.sql`, or the file that a version names.
    fn note_versions(&mut self, name: &str, item: &Value) {
        let said = |value: &Value| match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let mut files: Vec<(String, &'f str)> = Vec::new();
        for version in item["versions"].as_array().into_iter().flatten() {
            let Some(v) = said(&version["v"]).filter(|v| v.len() <= LONGEST_NAME) else { continue };
            let stem = version["defined_in"].as_str().map_or_else(|| format!("{name}_v{v}"), str::to_owned);
            // The file without a version in its name is the latest one.
            if let Some(file) = self.defining.get(&stem).or_else(|| self.defining.get(name)).copied() {
                files.push((v, file));
            }
        }
        let rank = |v: &str| (v.parse::<u64>().unwrap_or(0), v.to_owned());
        let latest = said(&item["latest_version"]);
        let of_latest = files.iter().find(|(v, _)| Some(v) == latest.as_ref());
        if let Some((_, file)) = of_latest.or_else(|| files.iter().max_by_key(|(v, _)| rank(v))) {
            self.defining.entry(name.to_owned()).or_insert(file);
        }
        self.versions.extend(files.into_iter().map(|(v, file)| ((name.to_owned(), v), file)));
    }

    /// The file that defines a referenced model or source.
    fn file(&self, read: &DbtReference) -> Option<&'f str> {
        let version = read.version.clone().and_then(|version| self.versions.get(&(read.name.clone(), version)));
        version.or_else(|| self.defining.get(&read.name)).copied()
    }

    /// All defined names, each with its file.
    fn defined(self) -> Vec<(String, String)> {
        let versions = self.versions.into_iter().map(|((name, _), path)| (name, path));
        let all = self.defining.into_iter().chain(versions).map(|(name, path)| (name, path.to_owned()));
        all.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// Roots of the packages that a project installs from folders of the repository.
fn packages(files: &dyn Files, root: &str) -> Vec<String> {
    let mut found = Vec::new();
    for name in PACKAGES {
        let at = if root.is_empty() { name.to_owned() } else { format!("{root}/{name}") };
        let listed = text(files, &at).and_then(yaml::value).unwrap_or_default();
        for package in listed["packages"].as_array().into_iter().flatten() {
            let Some(local) = package["local"].as_str().filter(|path| !path.starts_with('/')) else { continue };
            let mut parts: Vec<&str> = root.split('/').filter(|part| !part.is_empty()).collect();
            for part in local.split('/').filter(|part| !matches!(*part, "" | ".")) {
                match part {
                    ".." => {
                        parts.pop();
                    }
                    part => parts.push(part),
                }
            }
            found.push(parts.join("/"));
        }
    }
    found
}

/// The folders in a setting, relative to the project, without trailing slashes.
fn folders(settings: &Value, (keys, usual): (&[&str], &[&str])) -> Vec<String> {
    let named = keys.iter().find_map(|key| settings[*key].as_array());
    let named = named.map(|list| list.iter().filter_map(Value::as_str).collect::<Vec<_>>());
    let clean = |folder: &str| folder.trim_start_matches("./").trim_end_matches('/').trim_matches('.').to_owned();
    named.unwrap_or_else(|| usual.to_vec()).into_iter().map(clean).collect()
}

impl Project {
    /// Reads the YAML files and docs blocks of one project.
    fn read(&mut self, files: &dyn Files, own: &mut Own<'_>) {
        let mut docs = HashMap::new();
        for path in own.paths.iter().filter(|path| ends(path, &["md"])) {
            docs_blocks(&String::from_utf8_lossy(text(files, path).unwrap_or_default()), &mut docs);
        }
        self.counts[5] += own.tests;
        let is_yaml = |path: &&&str| ends(path, &["yml", "yaml"]) && split(path).1 != PROJECT;
        for path in own.paths.clone().iter().filter(is_yaml) {
            let Some(described) = text(files, path).and_then(yaml::value) else { continue };
            self.counts[5] += described["unit_tests"].as_array().map_or(0, Vec::len);
            for (place, (key, kind)) in KINDS.into_iter().enumerate() {
                for item in described[key].as_array().into_iter().flatten() {
                    let Some(name) = name(item) else { continue };
                    own.note_versions(name, item);
                    let file = own.defining.get(name).copied().unwrap_or(path);
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
                    own.defining.entry(name).or_insert(path);
                }
            }
        }
        for path in own.paths.iter().filter(|path| split(path).1 == MANIFEST) {
            let manifest = text(files, path).and_then(|text| serde_json::from_slice(text).ok());
            self.read_manifest(path, &manifest.unwrap_or_default(), &own.defining);
        }
        self.described.clear();
    }

    /// Adds the places where a project's files reference models and sources, in the project itself or in a project of
    /// the repository that it uses as a package.
    fn link(&mut self, files: &dyn Files, all: &[Own<'_>], place: usize) {
        let own = &all[place];
        let elsewhere = |read: &DbtReference| {
            let is_meant = |other: &&Own<'_>| match &read.package {
                Some(package) => *package == other.name,
                None => own.packages.contains(&other.root),
            };
            all.iter().filter(is_meant).find_map(|other| other.file(read))
        };
        let mut arcs: HashMap<&str, Arc<str>> = HashMap::new();
        for path in own.paths.iter().filter(|path| ends(path, &READING)) {
            let from: Arc<str> = Arc::from(*path);
            // Places are byte offsets in the file, so the text must be valid UTF-8.
            let Some(reads) = text(files, path).and_then(|text| str::from_utf8(text).ok()).map(reads) else { continue };
            let (mut names, mut seen) = (Vec::new(), HashSet::new());
            for read in reads {
                let shown = if read.is_source { format!("source {}", read.name) } else { read.name.clone() };
                if seen.insert(shown.clone()) {
                    names.push(shown);
                }
                let is_own = read.package.as_ref().is_none_or(|package| *package == own.name);
                let to = own.file(&read).filter(|_| is_own).or_else(|| elsewhere(&read));
                let to = to.map(|path| arcs.entry(path).or_insert_with(|| Arc::from(path)).clone());
                self.links.push(Link { from: from.clone(), at: read.at, name: read.name, to });
            }
            if !names.is_empty() && ends(path, &["sql", "py"]) {
                self.facts.entry((*path).to_owned()).or_default().push(format!("reads {}", names.join(", ")));
            }
        }
    }

    /// Adds items that only a manifest describes. Its descriptions already include docs blocks.
    fn read_manifest(&mut self, path: &str, manifest: &Value, defining: &BTreeMap<String, &str>) {
        let own = &manifest["metadata"]["project_name"];
        let all = ["nodes", "sources", "exposures"].map(|key| manifest[key].as_object());
        for item in all.into_iter().flatten().flat_map(|items| items.values()) {
            // Installed packages do not belong to the project.
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

    /// Adds the facts and columns of a described item.
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
        let tests = tests(item);
        if !tests.is_empty() {
            self.counts[5] += tests.len();
            fact.push_str(&format!("; tests: {}", tests[..tests.len().min(MOST_TESTS)].join(", ")));
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

/// The name of an item; `None` if it is too long.
fn name(item: &Value) -> Option<&str> {
    item["name"].as_str().filter(|name| name.len() <= LONGEST_NAME)
}

/// The folders around a path, nearest first, the root last.
fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.rmatch_indices('/').map(|(end, _)| end).chain((!path.starts_with('/')).then_some(0));
    ends.map(move |end| &path[..end])
}

/// The tags of an item, which may also be in its configuration.
fn tags(item: &Value) -> Vec<String> {
    let given = [&item["tags"], &item["config"]["tags"]];
    let each = |tags: &Value| match tags {
        Value::String(tag) => vec![tag.clone()],
        _ => tags.as_array().into_iter().flatten().filter_map(|tag| tag.as_str().map(str::to_owned)).collect(),
    };
    given.into_iter().flat_map(each).collect()
}

/// The tests of an item, and the tests of its columns after the column's name.
fn tests(item: &Value) -> Vec<String> {
    let named = |test: &Value| match test {
        Value::String(name) => Some(name.clone()),
        _ => test["test_name"]
            .as_str()
            .or_else(|| test.as_object()?.keys().next().map(String::as_str))
            .map(str::to_owned),
    };
    let of = |item: &Value| -> Vec<String> {
        let lists = ["tests", "data_tests"].map(|key| item[key].as_array());
        let all = lists.into_iter().flatten().flatten().filter_map(named);
        all.filter(|name| name.len() <= LONGEST_NAME).collect()
    };
    let columns = item["columns"].as_array().into_iter().flatten();
    let of_column = |column: &Value| {
        let name = name(column).unwrap_or_default().to_owned();
        of(column).into_iter().map(move |test| format!("{name} {test}"))
    };
    let mut found = of(item);
    found.extend(item["unit_tests"].as_array().into_iter().flatten().filter_map(name).map(str::to_owned));
    found.extend(columns.flat_map(of_column));
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
    fn packages_versions_and_named_arguments_are_followed() {
        let schema = "models:\n  - name: orders\n    versions: [{v: 1}, {v: 2}]\n    columns: [{name: id, tests: [unique, {relationships: {to: ref('customers'), field: id}}]}]\nunit_tests: [{name: adds_up}]\n";
        let top = "{{ ref('customers') }} {{ ref('customers', package='people') }} {{ ref('people', 'customers') }} {{ ref('orders') }}\n\
            {{ ref('orders', v=1) }} {{ ref(\"orders\", version='2') }} {{ ref(name) }} {{ ref(var('customers')) }} {{ ref('cust' ~ 'omers') }}\n\
            {{ ref('secret') }} {{ ref('other', 'secret') }} {{ ref('customers', package='shop') }} {{ ref('customers' }}";
        let files = Made(vec![
            ("shop/dbt_project.yml", "name: shop\nmodel-paths: [./models/]\n"),
            ("shop/packages.yml", "packages:\n  - local: ../people\n  - package: x/y\n"),
            ("people/dbt_project.yml", "name: people\n"),
            ("people/models/customers.sql", "select 1"),
            ("other/dbt_project.yml", "name: other\n"),
            ("other/models/secret.sql", "select 1"),
            ("shop/macros/top.sql", "{% macro top() %}{% endmacro %}"),
            ("shop/models/orders_v1.sql", "select 1"),
            ("shop/models/orders_v2.sql", "select 1"),
            ("shop/models/schema.yml", schema),
            ("shop/models/top.sql", top),
            ("shop/tests/top_is_sane.sql", "select * from {{ ref('top') }}"),
            ("shop/tests/generic/is_even.sql", "{% test is_even(model) %}{% endtest %}"),
        ]);
        let known = Dbt.read(&files).expect("there are projects");
        let of = |path: &str| -> Vec<(String, String)> {
            let links = known.links().iter().filter(|link| &*link.from == path);
            links.map(|link| (link.name.clone(), link.to.as_deref().unwrap_or_default().to_owned())).collect()
        };
        let link = |(name, to): (&str, &str)| (name.to_owned(), to.to_owned());
        let customers = ("customers", "people/models/customers.sql");
        let (first, second) = (("orders", "shop/models/orders_v1.sql"), ("orders", "shop/models/orders_v2.sql"));
        let secret = ("secret", "other/models/secret.sql");
        let expected =
            [customers, customers, customers, second, first, second, ("secret", ""), secret, ("customers", "")]
                .map(link);
        assert_eq!(of("shop/models/top.sql"), expected);
        assert_eq!(of("shop/models/schema.yml"), [customers].map(link));
        assert_eq!(of("shop/tests/top_is_sane.sql"), [("top", "shop/models/top.sql")].map(link));
        assert_eq!(known.about("shop/models/orders_v2.sql"), ["model orders; tests: id unique, id relationships"]);
        assert_eq!(known.counts(), [("models", 1), ("columns", 1), ("tests", 4)]);
        let files: Vec<&str> =
            known.defined().iter().filter(|(name, _)| name == "orders").map(|(_, file)| file.as_str()).collect();
        assert_eq!(files, [first.1, second.1]);
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
}
