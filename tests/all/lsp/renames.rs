//! Renaming: every place, or an error that says where it is in doubt.

use serde_json::{Value, json};

use super::editor::{Editor, shown};

/// The project after a rename, or the reason against it.
fn renamed(project: &str, path: &str, text: &str, nth: usize, new: &str) -> Result<String, String> {
    let mut editor = Editor::open(project);
    let at = json!({"textDocument": {"uri": editor.uri(path)}, "position": editor.place(path, text, nth)});
    let mut params = at.clone();
    params["newName"] = json!(new);
    let id = editor.begin_asking("textDocument/rename", params);
    let answer = editor.answer(id);
    let id = editor.begin_asking("textDocument/prepareRename", at);
    let prepared = editor.answer(id);
    if let Some(why) = answer["error"]["message"].as_str() {
        return Err(why.to_owned());
    }
    assert!(prepared["result"]["range"].is_object(), "{prepared}");
    let mut files: Vec<String> = Vec::new();
    for (uri, edits) in answer["result"]["changes"].as_object().expect("there are changes") {
        let path = uri.split_once("/project/").expect("it lies in the project").1;
        let text = std::fs::read_to_string(editor.root().join(path)).expect("it is there");
        files.push(format!("--- {path}\n{}", edited(&text, edits)));
    }
    files.sort();
    Ok(files.concat())
}

/// Applies edits from the last to the first. All texts here are ASCII.
fn edited(text: &str, edits: &Value) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let mut edits = edits.as_array().expect("a list").clone();
    let place = |edit: &Value, end: &str, key: &str| edit["range"][end][key].as_u64().expect("a number") as usize;
    edits.sort_by_key(|edit| std::cmp::Reverse((place(edit, "start", "line"), place(edit, "start", "character"))));
    for edit in &edits {
        let range = place(edit, "start", "character")..place(edit, "end", "character");
        lines[place(edit, "start", "line")].replace_range(range, edit["newText"].as_str().expect("a text"));
    }
    lines.join("\n")
}

const SHOP: &str = "--- base.py\nclass Base:\n    def price(self): return 0\n\ndef plain(): return Base()\n--- item.py\nfrom base \
import Base, plain as simple\n\nclass Item(Base):\n    def price(self): return super().price() + 1\n\ndef both(a: Base, b: Item):\n    \
simple()\n    return a.price() + b.price()\n";

#[test]
fn a_symbol_is_renamed_wherever_it_is_written() {
    let found = renamed(SHOP, "base.py", "price", 0, "cost").expect("nothing is in doubt");
    assert_eq!(found, SHOP.replace("price", "cost"));
    let found = renamed(SHOP, "item.py", "Base", 1, "Root").expect("nothing is in doubt");
    assert_eq!(found, SHOP.replace("Base", "Root"));
    // Another name that an import gave stays.
    let found = renamed(SHOP, "base.py", "plain", 0, "made").expect("nothing is in doubt");
    assert_eq!(found, SHOP.replace("plain", "made"));
}

#[test]
fn examples_of_go_follow_what_they_are_named_after() {
    let project = "--- go.mod\nmodule shop\n--- cart.go\npackage shop\n\ntype Cart struct{}\n\nfunc (c Cart) Total() int { return 1 }\n\n\
        func Open() Cart { return Cart{} }\n--- cart_test.go\npackage shop\n\nfunc ExampleCart() {}\n\nfunc ExampleCart_Total_empty() {}\n\n\
        func ExampleOpen() {}\n\nfunc ExampleCartTotal() {}\n";
    let found = renamed(project, "cart.go", "Total", 0, "Sum").expect("nothing is in doubt");
    assert_eq!(
        found,
        project
            .replace("--- go.mod\nmodule shop\n", "")
            .replace("Total()", "Sum()")
            .replace("Cart_Total", "Cart_Sum")
            .replace("CartSum()", "CartTotal()")
    );
    let found = renamed(project, "cart.go", "Open", 0, "New").expect("nothing is in doubt");
    assert!(found.contains("ExampleNew()") && found.contains("func New()"), "{found}");
    let why = renamed(project, "cart.go", "Open", 0, "open").expect_err("examples have no such name");
    assert!(why.contains("cart_test.go:7 (an example is named after it)"), "{why}");
}

#[test]
fn what_is_in_doubt_is_not_renamed() {
    let check = |more: &str, expected: &str| {
        let why = renamed(&format!("{SHOP}{more}"), "base.py", "price", 0, "cost").expect_err("it is in doubt");
        assert!(why.contains(expected), "{why}");
    };
    check("--- more.py\ndef f(thing):\n    return thing.price()\n", "more.py:2 (nothing is known");
    check("--- more.py\nfrom base import Base\nprint(getattr(Base(), 'price'))\n", "more.py:2 (a text names it)");
    check("--- page.html\n{{ item.price }}\n", "page.html:1 (it occurs in a file");
    check(
        "--- more.py\nimport abc\nfrom base import Base\nclass C(Base, abc.ABC):\n    def price(self): return 1\n",
        "from outside",
    );
    check(
        "--- more.py\nfrom base import Base\nclass C(Base):\n    def cost(self): return 1\n    def price(self): return 1\n",
        "taken",
    );
    let why = renamed(SHOP, "base.py", "plain", 0, "Item").expect_err("the name is in use");
    assert!(why.contains("item.py:3 (the new name is written here)"), "{why}");
    for new in ["", "1st", "a b", "a.b"] {
        assert!(renamed(SHOP, "base.py", "plain", 0, new).expect_err("it is not a name").contains("is not a name"));
    }
    assert!(renamed(SHOP, "item.py", "simple", 1, "x").expect_err("it is another name").contains("an import gives it"));
    assert!(renamed(SHOP, "item.py", "return", 0, "x").expect_err("it is not a name").contains("no symbol here"));
}

#[test]
fn names_that_others_call_are_left_alone() {
    let check = |project: &str, path: &str, name: &str, expected: &str| {
        let why = renamed(project, path, name, 0, "other").expect_err("something calls it by its name");
        assert!(why.contains(expected), "{why}");
    };
    check("--- a.go\npackage a\n\nfunc init() {}\n", "a.go", "init", "the language");
    check(
        "--- A.java\nclass A {\n  public String toString() { return \"\"; }\n}\n",
        "A.java",
        "toString",
        "the language",
    );
    let router = "--- a.go\npackage a\n\nimport \"net/http\"\n\ntype Router interface {\n\thttp.Handler\n\tTrace()\n}\n\
                  --- b.go\npackage a\n\ntype Mux struct{}\n\nfunc (m *Mux) Trace() {}\n";
    check(router, "b.go", "Trace", "an interface declares a method of that name");
    check(router, "a.go", "Trace", "an interface declares a method of that name");
    let object = "--- a.ts\nexport const options = {\n  header(n: number) { return n; },\n};\n";
    check(object, "a.ts", "header", "its object may be of a type");
    let argument =
        "--- a.ts\nimport { use } from 'other';\nuse({\n  missing: {\n    header: () => 'none',\n  },\n});\n";
    check(argument, "a.ts", "header", "its object may be of a type");
    let item = "--- a.rs\nstruct S;\nimpl Iterator for S {\n    type Item = u32;\n    fn next(&mut self) -> Option<u32> { None }\n}\n";
    check(item, "a.rs", "Item", "a trait declares it");
    let fixture = "--- tests/conftest.py\nimport pytest\n\n\n@pytest.fixture\ndef shop():\n    return 1\n";
    check(fixture, "tests/conftest.py", "shop", "tests take it by its name");
}

#[test]
fn names_of_keys_and_files_are_left_alone() {
    let project =
        "--- a.ts\nexport const size = 1;\n--- b.ts\nimport { size } from './a';\nexport const all = { size };\n";
    let why = renamed(project, "a.ts", "size", 0, "width").expect_err("it is a key, too");
    assert!(why.contains("b.ts:2 (it is both a key"), "{why}");
    let project =
        "--- Item.java\npublic class Item {\n  public Item() {}\n  static Item of() { return new Item(); }\n}\n";
    let modules = "--- src/main.rs\nmod shop;\nfn main() { shop::open(); }\n--- src/shop.rs\npub fn open() {}\n";
    let why = renamed(modules, "src/main.rs", "shop", 0, "store").expect_err("a file is named after it");
    assert!(why.contains("named after it"), "{why}");
    let why = renamed(project, "Item.java", "Item", 0, "Thing").expect_err("the file is named after it");
    assert!(why.contains("named after it"), "{why}");
    let project = project.replace("--- Item.java\npublic ", "--- Other.java\n");
    let found = renamed(&project, "Other.java", "Item", 0, "Thing").expect("nothing is in doubt");
    assert_eq!(found, project.replace("Item", "Thing"));
}

#[test]
fn an_unsaved_text_is_renamed_as_it_is() {
    let mut editor = Editor::open(SHOP);
    editor.at("textDocument/hover", "base.py", "Base", 0);
    let text = "\n\nfrom base import plain\n\nplain()\n";
    let document = json!({"uri": editor.uri("item.py"), "languageId": "python", "version": 1, "text": text});
    editor.tell("textDocument/didOpen", json!({"textDocument": document}));
    let mut params =
        json!({"textDocument": {"uri": editor.uri("base.py")}, "position": editor.place("base.py", "plain", 0)});
    params["newName"] = json!("made");
    let answer = editor.ask("textDocument/rename", params);
    let uri = editor.uri("item.py");
    assert_eq!(shown(&answer["changes"][&uri]), [":3:18", ":5:1"]);
}
