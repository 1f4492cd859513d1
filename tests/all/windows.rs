//! Windows of long files: parsed without the definitions around them, they look as in the whole file.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use codelode::config::Config;
use codelode::model::Span;
use codelode::pipeline::{self, Options, RunControl};
use codelode::query::text::colours::{HighlightedRange, read};
use codelode::query::text::window::{Pieces, pieces};
use codelode::store::Registry;

/// Long files: the beginning, a definition that is repeated with another number for each `#`, and the end.
const FILES: &[(&str, &str, &str, &str)] = &[
    (
        "a.py",
        "import os\n\nclass A:\n",
        "    def m#(self, a):\n        '''It\n        is #.'''\n        return [a, # ]  # one\n\n",
        "\ndef f():\n    return 1\n",
    ),
    (
        "b.py",
        "'''All.'''\n",
        "@wraps(1)\nasync def f#(b):\n    if b:\n        x = f\"{b} \\\" #\"\n    return x\n\n",
        "",
    ),
    (
        "a.rs",
        "use a::b;\n\nimpl A {\n",
        "    /// One \"of\n    fn m#<'a>(&'a self) -> &'a str {\n        r#\"#\"#\n    }\n\n",
        "}\n\nfn f() {}\n",
    ),
    (
        "a.ts",
        "export class A {\n",
        "  /** It's #. */\n  m#(a: number): string {\n    return `x ${a + #} y`;\n  }\n\n",
        "}\n",
    ),
    (
        "A.java",
        "package a;\n\nclass A {\n",
        "    // one of\n    int m#(int a) { /* # */\n        return a + \"\\\"#\".length();\n    }\n",
        "}\n",
    ),
    ("a.go", "package a\n\n", "// F# is one.\nfunc F#(a int) string {\n\treturn `a\n#` + \"b\"\n}\n\n", ""),
    (
        "a.c",
        "#include <a.h>\n\n",
        "/* It's # */\nstatic int f#(int a)\n{\n\tchar b = '\"';\n\treturn a + #;\n}\n\n",
        "",
    ),
    ("a.rb", "module A\n", "  # It's\n  def m#(a)\n    \"#{a} #\" if a\n  end\n\n", "end\n"),
];
/// Repetitions, and bytes of a window.
const TIMES: usize = 1_600;
const WINDOW: usize = 20_000;

#[test]
fn a_window_of_a_long_file_looks_as_in_the_whole() {
    let folder = tempfile::tempdir().expect("there is room");
    let root = folder.path().join("source");
    std::fs::create_dir(&root).expect("a new folder");
    for (path, start, each, end) in FILES {
        // `r#"` and `#{` are of the language.
        let each = each
            .replace("r#\"", "r\u{1}\"")
            .replace("\"#\n", "\"\u{1}\n")
            .replace("#{", "\u{1}{")
            .replace("# It", "\u{1} It")
            .replace("# one", "\u{1} one");
        let all: String =
            (0..TIMES).map(|number| each.replace('#', &number.to_string()).replace('\u{1}', "#")).collect();
        std::fs::write(root.join(path), format!("{start}{all}{end}")).expect("a file can be written");
    }
    let config = Config { home: folder.path().join("home"), ..Config::default() };
    let never = AtomicBool::new(false);
    let watcher =
        RunControl { progress: &codelode::model::unfollowed, cancelled: &never, patience: Duration::from_secs(60) };
    let report = pipeline::index_folder(&root, &config, &Options::default(), &watcher).expect("it is indexed");
    let store = Registry::new(&config.home).store(&report.sidecar.store);
    let snapshot = store.snapshot(&report.sidecar.snapshot).expect("it was committed just now");
    for (path, ..) in FILES {
        let file = snapshot.file(path).expect("it is indexed");
        assert!(!file.is_partly_read(), "{path}");
        let content = file.content();
        let whole = shown(&read(content, Span::new(0, content.len()), &Pieces::default(), file.spec(), &|| false));
        let n_windows = content.len() / WINDOW;
        for number in [0, n_windows / 3, n_windows / 2, n_windows] {
            let line_at = |byte: usize| content[..byte].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let (start, end) = (line_at(number * WINDOW), line_at(((number + 1) * WINDOW).min(content.len())));
            let part = Span::new(start, end);
            let few = pieces(file, part);
            assert!(few.len() < content.len() / 4, "{path} {number}: {} of {}", few.len(), content.len());
            let own = shown(&read(content, part, &few, file.spec(), &|| false));
            assert!(own == whole[start..end], "{path} {number}: {} differs from {}", &own, &whole[start..end]);
        }
    }
}

/// A letter for the colour of each byte.
fn shown(painted: &HighlightedRange) -> String {
    let letter = |colour: &Option<_>| colour.map_or('.', |colour| format!("{colour:?}").chars().next().unwrap_or('?'));
    painted.colours.iter().map(letter).collect()
}
