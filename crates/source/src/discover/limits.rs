//! Limit on the number of files: which files are kept.

use std::cmp::Reverse;

use codelode_base::model::SourceFile;

/// Folders of the main source code, kept first.
const FIRST: [&str; 5] = ["src", "lib", "pkg", "cmd", "internal"];

/// Keeps the `max` most important files, sorted by path. Returns the number of removed files.
pub(super) fn cut(files: &mut Vec<SourceFile>, max: usize) -> usize {
    let cut = files.len().saturating_sub(max);
    if cut > 0 {
        files.sort_by_cached_key(|file| (Reverse(is_first(&file.path)), depth(&file.path), file.path.clone()));
        files.truncate(max);
        files.sort();
    }
    cut
}

fn is_first(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _name)| folders);
    folders.split('/').any(|folder| FIRST.contains(&folder))
}

fn depth(path: &str) -> usize {
    path.bytes().filter(|&byte| byte == b'/').count()
}

#[cfg(test)]
mod tests {
    use super::cut;
    use codelode_base::model::SourceFile;

    #[test]
    fn source_folders_come_first_then_shallow_files_then_names() {
        let paths = ["a.py", "b.py", "docs/x.md", "src/deep/er/y.py", "src/z.py", "tests/t.py", "app/lib/q.py"];
        let kept = |max| {
            let mut files: Vec<_> =
                paths.map(|path| SourceFile { path: path.to_owned(), size: 1, mtime_ns: 1, ctime_ns: 1 }).into();
            assert_eq!(cut(&mut files, max), paths.len().saturating_sub(max));
            files.into_iter().map(|file| file.path).collect::<Vec<_>>()
        };
        assert_eq!(kept(1), ["src/z.py"]);
        assert_eq!(kept(3), ["app/lib/q.py", "src/deep/er/y.py", "src/z.py"]);
        assert_eq!(kept(5), ["a.py", "app/lib/q.py", "b.py", "src/deep/er/y.py", "src/z.py"]);
        assert_eq!(kept(6).len(), 6);
        assert_eq!(kept(100).len(), 7);
        assert!(kept(0).is_empty());
    }
}
