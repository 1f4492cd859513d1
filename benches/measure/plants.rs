//! Functions of known fate, planted into files of a repository.

use std::fs;
use std::path::{Path, PathBuf};

/// The fate of a planted definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing can reach it.
    Dead,
    /// Something uses it.
    Live,
}

/// A text to plant. `NAME`, `OTHER` and `TYPE` become names of their own; a line with `†` defines something dead, one
/// with `‡` something live.
pub struct Plant {
    /// The language.
    pub language: &'static str,
    /// The text.
    pub text: &'static str,
}

/// A planted definition.
pub struct Planted {
    /// Its file.
    pub path: PathBuf,
    /// Its line.
    pub line: u32,
    /// See [`Fate`].
    pub fate: Fate,
}

/// Files that take each plant.
const TIMES: usize = 5;
/// Shorter files may be empty but for a license; longer ones are not indexed.
const SHORTEST: usize = 800;
const LONGEST: usize = 400_000;

const fn of(language: &'static str, text: &'static str) -> Plant {
    Plant { language, text }
}

/// The plants of every language with relations.
pub const PLANTS: &[Plant] = &[
    of("python", "def NAME(a, b):†\n    return a + b\n"),
    of("python", "def _NAME(a):†\n    return a * 2\n"),
    of("python", "def NAME(k):†\n    return 0 if k < 1 else NAME(k - 1)\n"),
    of("python", "def NAME(k):†\n    return OTHER(k)\ndef OTHER(k):†\n    return 1 if k else NAME(k)\n"),
    of("python", "# NAME() adds one\ndef NAME(a):†\n    \"\"\"NAME(1) is 2.\"\"\"\n    return a + 1\n"),
    of(
        "python",
        "class TYPE:‡\n    def NAME(self):‡\n        return 1\ndef NAME(a):†\n    return a\n_OTHER = TYPE().NAME()\n",
    ),
    of("python", "def NAME(a):‡\n    return a\n_OTHER = [NAME]\n"),
    of(
        "python",
        "class TYPEBase:‡\n    def go(self):‡\n        return self.NAME()\nclass TYPE(TYPEBase):‡\n    def NAME(self):‡\n        return 1\n_OTHER = TYPE().go()\n",
    ),
    of("javascript", "function NAME(a, b) { return a + b; }†\n"),
    of("javascript", "const NAME = (a) => a * 2;†\n"),
    of("javascript", "function NAME(k) { return k < 1 ? 0 : NAME(k - 1); }†\n"),
    of("javascript", "function NAME(k) { return OTHER(k); }†\nfunction OTHER(k) { return k ? 1 : NAME(k); }†\n"),
    of("javascript", "// NAME() adds one\n/** NAME(1) is 2. */\nfunction NAME(a) { return a + 1; }†\n"),
    of(
        "javascript",
        "class TYPE {‡\n  NAME() { return 1; }‡\n}\nfunction NAME(a) { return a; }†\nglobalThis.OTHER = new TYPE().NAME();\n",
    ),
    of("javascript", "function NAME(a) { return a; }‡\nglobalThis.OTHER = [NAME];\n"),
    of(
        "javascript",
        "class TYPEBase {‡\n  go() { return this.NAME(); }‡\n}\nclass TYPE extends TYPEBase {‡\n  NAME() { return 1; }‡\n}\nglobalThis.OTHER = new TYPE().go();\n",
    ),
    of("typescript", "function NAME(a: number, b: number) { return a + b; }†\n"),
    of("typescript", "const NAME = (a: number) => a * 2;†\n"),
    of("typescript", "function NAME(k: number): number { return k < 1 ? 0 : NAME(k - 1); }†\n"),
    of(
        "typescript",
        "function NAME(k: number): number { return OTHER(k); }†\nfunction OTHER(k: number): number { return k ? 1 : NAME(k); }†\n",
    ),
    of("typescript", "// NAME() adds one\n/** NAME(1) is 2. */\nfunction NAME(a: number) { return a + 1; }†\n"),
    of(
        "typescript",
        "class TYPE {‡\n  NAME() { return 1; }‡\n}\nfunction NAME(a: number) { return a; }†\n(globalThis as any).OTHER = new TYPE().NAME();\n",
    ),
    of("typescript", "function NAME(a: number) { return a; }‡\n(globalThis as any).OTHER = [NAME];\n"),
    of(
        "typescript",
        "interface TYPEFace { NAME(): number }‡\nclass TYPE implements TYPEFace {‡\n  NAME() { return 1; }‡\n}\n(globalThis as any).OTHER = ((face: TYPEFace) => face.NAME())(new TYPE());\n",
    ),
    of("go", "func NAME(a, b int) int { return a + b }†\n"),
    of("go", "func NAME(k int) int { if k < 1 { return 0 }; return NAME(k - 1) }†\n"),
    of(
        "go",
        "func NAME(k int) int { return OTHER(k) }†\nfunc OTHER(k int) int { if k > 0 { return 1 }; return NAME(k) }†\n",
    ),
    of("go", "// NAME adds one: NAME(1) is 2\nfunc NAME(a int) int { return a + 1 }†\n"),
    of(
        "go",
        "type TYPE struct{}‡\nfunc (TYPE) NAME() int { return 1 }‡\nfunc NAME(a int) int { return a }†\nvar OTHER = TYPE{}.NAME()\n",
    ),
    of("go", "func NAME(a int) int { return a }‡\nvar OTHER = []func(int) int{NAME}\n"),
    of(
        "go",
        "type TYPEFace interface{ NAME() int }‡\ntype TYPE struct{}‡\nfunc (TYPE) NAME() int { return 1 }‡\nvar OTHER = func(face TYPEFace) int { return face.NAME() }(TYPE{})\n",
    ),
    of("java", "private static int NAME(int a, int b) { return a + b; }†\n"),
    of("java", "static int NAME(int a) { return a * 2; }†\n"),
    of("java", "private static int NAME(int k) { return k < 1 ? 0 : NAME(k - 1); }†\n"),
    of(
        "java",
        "private static int NAME(int k) { return OTHER(k); }†\nprivate static int OTHER(int k) { return k > 0 ? 1 : NAME(k); }†\n",
    ),
    of(
        "java",
        "/** {@link #NAME(int)} adds one. */\n// NAME() adds one\nprivate static int NAME(int a) { return a + 1; }†\n",
    ),
    of(
        "java",
        "private static int NAME(int a) { return a; }‡\nprivate static int NAME(String a, String b) { return 2; }†\npublic static final int OTHER = NAME(3);\n",
    ),
    of(
        "java",
        "private static int NAME(int a) { return a; }‡\npublic static final java.util.function.IntUnaryOperator OTHER = x -> NAME(x);\n",
    ),
    of(
        "java",
        "private interface TYPEFace { int NAME(); }‡\nprivate static class TYPE implements TYPEFace { public int NAME() { return 1; } }‡\npublic static final int OTHER = ((java.util.function.ToIntFunction<TYPEFace>) face -> face.NAME()).applyAsInt(new TYPE());\n",
    ),
    of("rust", "fn NAME(a: i32, b: i32) -> i32 { a + b }†\n"),
    of("rust", "pub(crate) fn NAME(a: i32) -> i32 { a * 2 }†\n"),
    of("rust", "fn NAME(k: i32) -> i32 { if k < 1 { 0 } else { NAME(k - 1) } }†\n"),
    of("rust", "fn NAME(k: i32) -> i32 { OTHER(k) }†\nfn OTHER(k: i32) -> i32 { if k > 0 { 1 } else { NAME(k) } }†\n"),
    of("rust", "/// Adds one: `NAME(1)` is 2.\n// NAME() adds one\nfn NAME(a: i32) -> i32 { a + 1 }†\n"),
    of(
        "rust",
        "struct TYPE;‡\nimpl TYPE { fn NAME(&self) -> i32 { 1 } }‡\nfn NAME(a: i32) -> i32 { a }†\npub static OTHER: fn() -> i32 = || TYPE.NAME();\n",
    ),
    of("rust", "fn NAME(a: i32) -> i32 { a }‡\npub static OTHER: [fn(i32) -> i32; 1] = [NAME];\n"),
    of(
        "rust",
        "trait TYPEFace { fn NAME(&self) -> i32; }‡\nstruct TYPE;‡\nimpl TYPEFace for TYPE { fn NAME(&self) -> i32 { 1 } }‡\npub static OTHER: fn() -> i32 = || { let face: &dyn TYPEFace = &TYPE; face.NAME() };\n",
    ),
];

/// Plants every text of a language into some files of a folder.
pub fn plant(root: &Path, language: &str) -> Vec<Planted> {
    let mut files = Vec::new();
    gather(root, root, language, &mut files);
    files.sort_by_key(|path| codelode::facts::hash(&path.strip_prefix(root).unwrap_or(path).to_string_lossy()));
    let mut planted = Vec::new();
    let texts = PLANTS.iter().filter(|plant| plant.language == language).flat_map(|plant| [plant.text; TIMES]);
    for (number, (text, path)) in texts.zip(files.iter().cycle()).enumerate() {
        planted.extend(plant_one(path, language, text, number));
    }
    planted
}

/// Plants a text into a file: at its end, in Java before the end of its class.
fn plant_one(path: &Path, language: &str, text: &str, number: usize) -> Vec<Planted> {
    let Ok(mut source) = fs::read_to_string(path) else { return Vec::new() };
    let close = if language == "java" { source.rfind('}') } else { None };
    let rest = close.map_or_else(String::new, |close| source.split_off(close));
    source.push('\n');
    let snake = matches!(language, "python" | "rust");
    let name = |word: &str| if snake { format!("{word}_seed_{number}") } else { format!("{word}Seed{number}") };
    let text = text.replace("NAME", &name("tally")).replace("TYPE", &format!("Seedling{number}"));
    let constant = if language == "rust" { format!("SEED_{number}_OF") } else { name("merge") };
    let is_value = |line: &str| line.contains("static OTHER:");
    let mut planted = Vec::new();
    for line in text.lines() {
        let at = source.matches('\n').count() as u32 + 1;
        let other = if is_value(line) { constant.clone() } else { name("merge") };
        for (mark, fate) in [('†', Fate::Dead), ('‡', Fate::Live)] {
            if line.contains(mark) {
                planted.push(Planted { path: path.to_owned(), line: at, fate });
            }
        }
        source.push_str(&line.replace(['†', '‡'], "").replace("OTHER", &other));
        source.push('\n');
    }
    fs::write(path, source + &rest).expect("the copy can be written");
    planted
}

/// Files that a plant can stand in: code that is neither a test nor an entry of its package.
fn gather(root: &Path, folder: &Path, language: &str, files: &mut Vec<PathBuf>) {
    /// Whole words: `jsdoc` has no pages.
    const BESIDE: [&str; 4] = ["doc", "docs", "documentation", "integration"];
    const ASIDE: [&str; 13] = [
        "test",
        "example",
        "bench",
        "script",
        "index.",
        "__init__",
        "lib.rs",
        "mod.rs",
        "macro",
        "vendor",
        "info.java",
        "config",
        ".d.",
    ];
    let ending = match language {
        "python" => "py",
        "javascript" => "js",
        "typescript" => "ts",
        "rust" => "rs",
        other => other,
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let within = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().to_lowercase();
        let mut words = within.split(|c: char| !c.is_alphanumeric());
        let is_aside = ASIDE.iter().any(|part| within.contains(part)) || words.any(|word| BESIDE.contains(&word));
        if within.starts_with('.') || is_aside || within.contains("node_modules") {
            continue;
        }
        if path.is_dir() {
            gather(root, &path, language, files);
        } else if path.extension().is_some_and(|own| own == ending) {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let is_class = language != "java" || text.contains(&format!("class {stem}")) && text.contains("\npublic ");
            if (SHORTEST..LONGEST).contains(&text.len()) && is_class && !text.to_lowercase().contains("generated") {
                files.push(path);
            }
        }
    }
}
