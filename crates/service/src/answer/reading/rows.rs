//! Lines of code and of symbols below their files.

/// Rows of an answer, each with its file.
#[derive(Default)]
pub(super) struct Rows {
    rows: Vec<(String, String)>,
}

impl Rows {
    /// Adds a row that begins with the number of its line.
    pub(super) fn add(&mut self, file: &str, row: impl Into<String>) {
        self.rows.push((file.to_owned(), row.into()));
    }

    /// Adds the numbers of further lines of a file as one row, and takes them.
    pub(super) fn add_further(&mut self, file: &str, lines: &mut Vec<String>) {
        if !lines.is_empty() {
            self.add(file, format!("and {}", std::mem::take(lines).join(", ")));
        }
    }

    /// The rows as text. A file with several rows in succession stands above them, with one in front of it.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for of_file in self.rows.chunk_by(|(file, _), (other, _)| file == other) {
            let (file, first) = &of_file[0];
            match of_file.len() {
                1 if first.is_empty() => text.push_str(&format!("{file}\n")),
                1 => text.push_str(&format!("{file}:{first}\n")),
                _ => {
                    text.push_str(&format!("{file}\n"));
                    of_file.iter().for_each(|(_, row)| text.push_str(&format!("{row}\n")));
                }
            }
        }
        text
    }
}

/// Lines of source with their numbers.
pub(super) fn numbered(first: u64, source: &str) -> String {
    (first..).zip(source.lines()).map(|(number, line)| format!("{number}:{line}\n")).collect()
}
