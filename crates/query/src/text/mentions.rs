//! Mentions: every place where a name is written, in code, comments and strings.

use memchr::memmem::Finder;

use codelode_store::{FileView, Snapshot};

/// A file that contains a name, and the places, in bytes.
pub struct Mentioned<'a> {
    /// The file.
    pub file: FileView<'a>,
    /// First bytes of the mentions, ascending.
    pub at: Vec<u32>,
}

/// Every file that contains `name` as a whole word, by path.
pub fn mentions<'a>(snapshot: &'a Snapshot, name: &str) -> impl Iterator<Item = Mentioned<'a>> + use<'a> {
    let finder = Finder::new(name.as_bytes()).into_owned();
    let is_word =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte > 127);
    let of_file = move |file: FileView<'a>| {
        let text = file.content();
        let whole = |at: &usize| {
            let before = at.checked_sub(1).and_then(|before| text.get(before));
            !is_word(before) && !is_word(text.get(at + finder.needle().len()))
        };
        let at: Vec<u32> = finder.find_iter(text).filter(whole).map(|at| at as u32).collect();
        (!at.is_empty()).then_some(Mentioned { file, at })
    };
    let files = if name.is_empty() { Vec::new() } else { snapshot.files_with(name.as_bytes()) };
    files.into_iter().filter_map(of_file)
}
