//! The files of a repository: as a tree of names, or with the most important symbols of each.

use serde_json::Value;

use super::{Fields, Wording, list_of, n_of, next_page, number_of, objects_of, text_of, texts_of};

/// A tree of folders and files, or a map of files and symbols.
pub(super) fn text(fields: &Fields, say: Wording<'_>) -> Option<String> {
    let mut text = String::new();
    if is_list(fields, "tree", "path") {
        text.push_str("files, with their numbers of lines\n");
        objects_of(fields, "tree").for_each(|node| add(node, "", 0, &mut text));
    } else if is_list(fields, "files", "symbols") {
        objects_of(fields, "files").for_each(|file| text.push_str(&mapped(file)));
    } else {
        return None;
    }
    if let Some(left) = number_of(fields, "left") {
        text.insert_str(0, &format!("{left} more files are left out{}\n", next_page(fields, say)));
    }
    Some(text)
}

/// Whether an answer has a list whose items all have a key.
fn is_list(fields: &Fields, list: &str, key: &str) -> bool {
    let has_key = |item: &Value| item.get(key).is_some();
    let items = list_of(fields, list);
    !items.is_empty() && items.iter().all(has_key)
}

/// A folder with what it holds, or a file with its number of lines: names below that of the folder around.
fn add(node: &Fields, above: &str, depth: usize, text: &mut String) {
    let path = text_of(node, "path");
    text.extend(std::iter::repeat_n(' ', depth));
    text.push_str(path.strip_prefix(above).unwrap_or(path));
    if let Some(lines) = number_of(node, "line_count") {
        text.push_str(&format!(" {lines}"));
    }
    if let Some(files) = number_of(node, "file_count") {
        text.push_str(&format!(" {}", n_of(files, "file", "files")));
    }
    let summary = text_of(node, "summary");
    if !summary.is_empty() {
        text.push_str(&format!(" — {summary}"));
    }
    text.push('\n');
    objects_of(node, "children").for_each(|child| add(child, path, depth + 1, text));
}

/// A file above its symbols, which have their lines.
fn mapped(file: &Fields) -> String {
    let mut text = format!("{}\n", text_of(file, "file"));
    texts_of(file, "symbols").iter().for_each(|symbol| text.push_str(&format!("{symbol}\n")));
    if let Some(left) = number_of(file, "symbols_left_out") {
        text.push_str(&format!("{left} more\n"));
    }
    text
}
