//! dbt: models, seeds, snapshots, sources and exposures with their descriptions, tags and columns, from the YAML files
//! and docs blocks of a project; and what each model reads, by `ref()` and `source()`.

use std::collections::HashMap;

use serde_json::Value;

use super::{Column, Files, Known, Provider, first_paragraph, is_in, split, yaml};

/// Name of the file at the root of a project.
const PROJECT: &str = "dbt_project.yml";
/// Letters of a description.
const DESCRIPTION: usize = 300;
/// Largest file that is read, in bytes.
const LARGEST: usize = 4 << 20;
/// Kinds of described things, by the key of their list.
const KINDS: [(&str, &str); 4] =
    [("models", "model"), ("seeds", "seed"), ("snapshots", "snapshot"), ("exposures", "exposure")];
/// Endings of files that define models.
const DEFINING: [&str; 3] = ["sql", "py", "csv"];

/// See the module.
pub(super) struct Dbt;

/// What a project says of its files.
#[derive(Default)]
struct Project {
    /// Facts by path.
    facts: HashMap<String, Vec<String>>,
    columns: Vec<Column>,
    counts: [usize; 5],
}

impl Provider for Dbt {
    fn name(&self) -> &'static str {
        "dbt"
    }

    fn read(&self, files: &dyn Files) -> Option<Box<dyn Known>> {
        let paths = files.paths();
        // Packages that a project has installed are not its own.
        let is_own = |path: &&str| !path.split('/').any(|part| part == "dbt_packages");
        let paths: Vec<&str> = paths.into_iter().filter(is_own).collect();
        let roots: Vec<&str> = paths.iter().filter(|path| split(path).1 == PROJECT).map(|path| split(path).0).collect();
        if roots.is_empty() {
            return None;
        }
        let mut project = Project::default();
        for root in roots {
            let own: Vec<&str> = paths.iter().copied().filter(|path| is_in(path, root)).collect();
            project.read(files, &own);
        }
        Some(Box::new(project))
    }
}

impl Known for Project {
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
        let mut defining: HashMap<&str, &str> = HashMap::new();
        for path in paths.iter().filter(|path| ends(path, &DEFINING)) {
            let name = split(path).1;
            defining.entry(name.rsplit_once('.').map_or(name, |(stem, _)| stem)).or_insert(path);
        }
        let is_yaml = |path: &&&str| ends(path, &["yml", "yaml"]) && split(path).1 != PROJECT;
        for path in paths.iter().filter(is_yaml) {
            let Some(described) = text(path).and_then(yaml::value) else { continue };
            for (place, (key, kind)) in KINDS.into_iter().enumerate() {
                for item in described[key].as_array().into_iter().flatten() {
                    let Some(name) = item["name"].as_str() else { continue };
                    let file = defining.get(name).copied().unwrap_or(path);
                    self.counts[place] += 1;
                    self.describe(kind, name, file, item, &docs);
                }
            }
            for source in described["sources"].as_array().into_iter().flatten() {
                let Some(owner) = source["name"].as_str() else { continue };
                for table in source["tables"].as_array().into_iter().flatten() {
                    let Some(name) = table["name"].as_str() else { continue };
                    self.counts[4] += 1;
                    self.describe("source", &format!("{owner}.{name}"), path, table, &docs);
                }
            }
        }
        for path in paths.iter().filter(|path| ends(path, &["sql", "py"])) {
            let reads = reads(&String::from_utf8_lossy(text(path).unwrap_or_default()));
            if !reads.is_empty() {
                self.facts.entry((*path).to_owned()).or_default().push(format!("reads {}", reads.join(", ")));
            }
        }
    }

    /// Adds the facts and columns of a described thing.
    fn describe(&mut self, kind: &str, name: &str, file: &str, item: &Value, docs: &HashMap<String, String>) {
        let said = |item: &Value| described(item["description"].as_str().unwrap_or_default(), docs);
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
        self.facts.entry(file.to_owned()).or_default().push(fact);
        for column in item["columns"].as_array().into_iter().flatten() {
            let Some(column_name) = column["name"].as_str() else { continue };
            let (model, file, name) = (name.to_owned(), file.to_owned(), column_name.to_owned());
            self.columns.push(Column { model, file, name, description: said(column) });
        }
    }
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
    while let Some((before, after)) = rest.split_once("{{") {
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
            docs.insert(name.to_owned(), block.trim().to_owned());
            rest = after;
        }
    }
}

/// Models and sources that a model reads, each once.
fn reads(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for call in ["ref", "source"] {
        for (at, _) in text.match_indices(call) {
            let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
            let after = text[at + call.len()..].trim_start();
            let Some(arguments) = after.strip_prefix('(').filter(|_| !text[..at].ends_with(is_word)) else { continue };
            let names = quoted(arguments.split_once(')').map_or("", |(inside, _)| inside));
            let name = match (call, &names[..]) {
                ("source", [owner, name, ..]) => format!("source {owner}.{name}"),
                // A first name of two is that of a package.
                ("ref", [.., name]) => name.clone(),
                _ => continue,
            };
            if !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
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
        assert_eq!(known.about("shop/models/schema.yml"), ["source raw.payments: What was paid."]);
        let column = |model: &str, file: &str, name: &str, description: &str| Column {
            model: model.to_owned(),
            file: file.to_owned(),
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
