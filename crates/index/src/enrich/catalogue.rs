//! Database catalogues: rows of `information_schema.columns` and `information_schema.tables` in a JSON file of the
//! project, as `select json_agg(c) from information_schema.columns c` returns them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Column, Files, LARGEST, LONGEST_NAME, MOST_FACTS, ProjectContext, Provider, first_paragraph, split};

/// A part of the names of such files.
const NAME: &str = "information_schema";
/// The longest comment, in characters.
const COMMENT: usize = 300;
/// The keys of a comment in different databases.
const COMMENTS: [&str; 4] = ["column_comment", "table_comment", "comment", "description"];

/// See the module.
pub(super) struct Catalogue;

/// Tables by file.
#[derive(Default)]
struct Tables {
    facts: BTreeMap<String, Vec<String>>,
    columns: Vec<Column>,
    tables: usize,
}

impl Provider for Catalogue {
    fn name(&self) -> &'static str {
        "catalogue"
    }

    fn detect(&self, path: &str) -> bool {
        let name = split(path).1;
        name.ends_with(".json") && name.contains(NAME)
    }

    fn is_of_data(&self) -> bool {
        true
    }

    fn read(&self, files: &dyn Files) -> Option<Box<dyn ProjectContext>> {
        let mut tables = Tables::default();
        for path in files.paths().into_iter().filter(|path| self.detect(path)) {
            let text = files.text(path).filter(|text| text.len() <= LARGEST);
            let rows = text.and_then(|text| serde_json::from_slice(text).ok()).map(rows).unwrap_or_default();
            tables.add(path, &rows);
        }
        (tables.tables > 0).then(|| Box::new(tables) as Box<dyn ProjectContext>)
    }
}

impl ProjectContext for Tables {
    fn about(&self, path: &str) -> Vec<String> {
        self.facts.get(path).cloned().unwrap_or_default()
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn counts(&self) -> Vec<(&'static str, usize)> {
        vec![("tables", self.tables), ("columns", self.columns.len())]
    }
}

/// The rows of a file: a list of objects, or the lists in an object. Keys may be in capitals.
fn rows(value: Value) -> Vec<Map<String, Value>> {
    let lists = match value {
        Value::Array(rows) => vec![rows],
        Value::Object(lists) => lists
            .into_iter()
            .filter_map(|(_, list)| if let Value::Array(rows) = list { Some(rows) } else { None })
            .collect(),
        _ => Vec::new(),
    };
    let small = |row: Value| match row {
        Value::Object(row) => Some(row.into_iter().map(|(key, value)| (key.to_lowercase(), value)).collect()),
        _ => None,
    };
    lists.into_iter().flatten().filter_map(small).collect()
}

impl Tables {
    fn add(&mut self, path: &str, rows: &[Map<String, Value>]) {
        let file: Arc<str> = Arc::from(path);
        let mut tables: BTreeMap<String, (Arc<str>, &str)> = BTreeMap::new();
        for row in rows {
            let text = |key: &str| row.get(key).and_then(Value::as_str).map(str::trim).unwrap_or_default();
            let named = |key: &str| Some(text(key)).filter(|name| !name.is_empty() && name.len() <= LONGEST_NAME);
            let Some(table) = named("table_name") else { continue };
            let table = named("table_schema").map_or_else(|| table.to_owned(), |schema| format!("{schema}.{table}"));
            let comment = COMMENTS.iter().map(|key| text(key)).find(|comment| !comment.is_empty()).unwrap_or_default();
            let (model, says) = tables.entry(table.clone()).or_insert_with(|| (table.into(), ""));
            match named("column_name") {
                Some(name) => {
                    let (name, description) = (name.to_owned(), described(row, comment));
                    self.columns.push(Column { model: model.clone(), file: file.clone(), name, description });
                }
                None => *says = comment,
            }
        }
        self.tables += tables.len();
        let fact = |(table, (_, says)): (&String, &(Arc<str>, &str))| match first_paragraph(says, COMMENT) {
            says if says.is_empty() => format!("table {table}"),
            says => format!("table {table}: {says}"),
        };
        self.facts.insert(path.to_owned(), tables.iter().take(MOST_FACTS).map(fact).collect());
    }
}

/// A description of a column: its type and its comment.
fn described(row: &Map<String, Value>, comment: &str) -> String {
    let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
    let required = if text("is_nullable").eq_ignore_ascii_case("no") { ", not null" } else { "" };
    let kind = first_paragraph(&format!("{}{required}", text("data_type")), LONGEST_NAME);
    let comment = first_paragraph(comment, COMMENT);
    let parts = [kind.trim_start_matches(", "), &comment];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::super::Made;
    use super::*;

    #[test]
    fn tables_and_columns_are_those_of_the_rows() {
        let postgres = r#"[
            {"table_schema": "shop", "table_name": "orders", "column_name": "id", "data_type": "integer", "is_nullable": "NO"},
            {"table_schema": "shop", "table_name": "orders", "column_name": "paid", "data_type": "numeric", "description": "What was paid.\n\nIn cents."},
            {"table_name": 3}, 7
        ]"#;
        let mysql = r#"{"TABLES": [{"TABLE_NAME": "users", "TABLE_COMMENT": "People who buy."}],
            "COLUMNS": [{"TABLE_NAME": "users", "COLUMN_NAME": "email", "COLUMN_COMMENT": "Where to write to."}]}"#;
        let files = Made(vec![
            ("db/information_schema.columns.json", postgres),
            ("db/mysql.information_schema.json", mysql),
            ("db/information_schema.broken.json", "["),
            ("db/columns.json", postgres),
        ]);
        let known = Catalogue.read(&files).expect("there are rows");
        let column = |column: &Column| format!("{}.{}: {}", column.model, column.name, column.description);
        let columns: Vec<String> = known.columns().iter().map(column).collect();
        let expected = [
            "shop.orders.id: integer, not null",
            "shop.orders.paid: numeric; What was paid.",
            "users.email: Where to write to.",
        ];
        assert_eq!(columns, expected);
        assert_eq!(known.counts(), [("tables", 2), ("columns", 3)]);
        assert_eq!(known.about("db/mysql.information_schema.json"), ["table users: People who buy."]);
        assert!(Catalogue.read(&Made(vec![("db/columns.json", postgres)])).is_none());
    }
}
