//! Texts that are not saved: the editor's, not the disk's, is what answers are about.

use serde_json::{Value, json};

use super::editor::{Editor, one, position, shown};

const ITEM: &str = "class Item:\n    def price(self):\n        return 1\n";
const CART: &str = "from item import Item\n\n\ndef show(item: Item):\n    return item.price()\n";

fn opened() -> Editor {
    let mut editor = Editor::open(&format!("--- item.py\n{ITEM}--- cart.py\n{CART}"));
    editor.at("textDocument/hover", "item.py", "Item", 0);
    editor
}

impl Editor {
    fn did_open(&mut self, path: &str, text: &str) {
        let document = json!({"uri": self.uri(path), "languageId": "x", "version": 1, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// Replaces the first place where a text stands in the text of before.
    fn did_change(&mut self, path: &str, text: &str, old: &str, new: &str) {
        let start = position(text, old, 0);
        let end = position(&text.replacen(old, &format!("{old}\u{0}"), 1), "\u{0}", 0);
        let change = json!({"range": {"start": start, "end": end}, "text": new});
        let document = json!({"uri": self.uri(path), "version": 2});
        self.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": [change]}));
    }

    /// Asks about a text in the document as it is open.
    fn on(&mut self, method: &str, path: &str, text: &str, at: &str, nth: usize) -> Value {
        let mut params = json!({"textDocument": {"uri": self.uri(path)}, "position": position(text, at, nth)});
        if method == "references" {
            params["context"] = json!({"includeDeclaration": true});
        }
        self.ask(&format!("textDocument/{method}"), params)
    }
}

#[test]
fn an_unsaved_text_is_what_answers_are_about() {
    let mut editor = opened();
    editor.did_open("cart.py", CART);
    editor.did_change("cart.py", CART, "def show", "\n\ndef 𝒳(): return Item()\n\n\ndef show");
    let now = CART.replace("def show", "\n\ndef 𝒳(): return Item()\n\n\ndef show");
    assert_eq!(shown(&editor.on("definition", "cart.py", &now, "price", 0)), ["item.py:2:9"]);
    assert_eq!(shown(&editor.on("definition", "cart.py", &now, "Item()", 0)), ["item.py:1:7"]);
    let params = json!({"textDocument": {"uri": editor.uri("cart.py")}});
    let symbols = editor.ask("textDocument/documentSymbol", params);
    assert_eq!([&symbols[0]["name"], &symbols[1]["name"]], ["𝒳", "show"]);
    let found = editor.on("references", "item.py", ITEM, "Item", 0);
    assert_eq!(shown(&found), ["cart.py:1:18", "cart.py:6:18", "cart.py:9:16", "item.py:1:7"]);
    // Closed without being saved, it is as on the disk.
    editor.tell("textDocument/didClose", json!({"textDocument": {"uri": editor.uri("cart.py")}}));
    let found = editor.on("references", "item.py", ITEM, "Item", 0);
    assert_eq!(shown(&found), ["cart.py:1:18", "cart.py:4:16", "item.py:1:7"]);
}

#[test]
fn other_files_see_an_unsaved_definition_where_it_is_now() {
    let mut editor = opened();
    editor.did_open("item.py", ITEM);
    editor.did_change("item.py", ITEM, "class", "import os\n\n\nclass Other: pass\n\n\nclass");
    assert_eq!(shown(&editor.at("textDocument/definition", "cart.py", "price", 0)), ["item.py:8:9"]);
    let found = editor.ask("workspace/symbol", json!({"query": "price"}));
    assert_eq!((one(&found[0]), &found[0]["name"]), ("item.py:8:9".to_owned(), &json!("price")));
    let now = ITEM.replace("class", "import os\n\n\nclass Other: pass\n\n\nclass");
    assert_eq!(shown(&editor.on("references", "item.py", &now, "price", 0)), ["cart.py:5:17", "item.py:8:9"]);
    // A definition that is gone has no place.
    editor.did_change("item.py", &now, "price", "cost");
    assert_eq!(shown(&editor.at("textDocument/definition", "cart.py", "price", 0)), Vec::<String>::new());
}

#[test]
fn several_unsaved_texts_see_each_other() {
    let mut editor = opened();
    editor.did_open("item.py", ITEM);
    editor.did_open("cart.py", CART);
    editor.did_change("item.py", ITEM, "class Item", "class Base: pass\n\n\nclass Item(Base)");
    editor.did_change("cart.py", CART, "import Item", "import Item, Base");
    let now = CART.replace("import Item", "import Item, Base");
    assert_eq!(shown(&editor.on("definition", "cart.py", &now, "Base", 0)), ["item.py:1:7"]);
    let item = editor.on("prepareTypeHierarchy", "cart.py", &now, "Base", 0)[0].clone();
    assert_eq!(editor.ask("typeHierarchy/subtypes", json!({"item": item}))[0]["name"], "Item");
}

#[test]
fn a_text_that_is_being_written_does_not_lose_the_rest() {
    let mut editor = opened();
    editor.did_open("cart.py", CART);
    editor.did_change("cart.py", CART, "    return", "    item.\n    return");
    let now = CART.replace("    return", "    item.\n    return");
    assert_eq!(shown(&editor.on("definition", "cart.py", &now, "Item)", 0)), ["item.py:1:7"]);
    let whole = json!({"textDocument": {"uri": editor.uri("cart.py"), "version": 3}, "contentChanges": [{"text": ""}]});
    editor.tell("textDocument/didChange", whole);
    assert_eq!(
        editor.ask("textDocument/documentSymbol", json!({"textDocument": {"uri": editor.uri("cart.py")}})),
        json!([])
    );
}

#[test]
fn documents_that_are_no_files_of_the_workspace_are_left_alone() {
    let mut editor = opened();
    for uri in ["untitled:1", "file:///etc/hostname", "git:/a.py"] {
        let document = json!({"uri": uri, "languageId": "python", "version": 1, "text": "def f(): pass\n"});
        editor.tell("textDocument/didOpen", json!({"textDocument": document}));
        let params = json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 5}});
        assert_eq!(editor.ask("textDocument/hover", params), Value::Null);
        let change = json!({"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "x"}]});
        editor.tell("textDocument/didChange", change);
    }
    let change =
        json!({"textDocument": {"uri": editor.uri("cart.py"), "version": 2}, "contentChanges": [{"text": "x"}]});
    editor.tell("textDocument/didChange", change);
    assert_eq!(shown(&editor.at("textDocument/definition", "cart.py", "price", 0)), ["item.py:2:9"]);
}

#[test]
fn folds_and_selections_follow_each_text() {
    let mut editor = opened();
    editor.did_open("cart.py", CART);
    let params = json!({"textDocument": {"uri": editor.uri("cart.py")}});
    let folds = |editor: &mut Editor| {
        let found = editor.ask("textDocument/foldingRange", params.clone());
        let lines = |fold: &Value| (fold["startLine"].as_u64(), fold["endLine"].as_u64());
        found.as_array().expect("a list").iter().map(lines).collect::<Vec<_>>()
    };
    let saved = [(Some(3), Some(4))];
    assert_eq!(folds(&mut editor), saved);
    assert_eq!(folds(&mut editor), saved, "the same text has the same folds again");
    editor.did_change("cart.py", CART, "def show", "def more():\n    pass\n\n\ndef show");
    let now = CART.replace("def show", "def more():\n    pass\n\n\ndef show");
    assert_eq!(folds(&mut editor), [(Some(3), Some(4)), (Some(7), Some(8))]);
    let mut select = |text: &str, at: &str| {
        let params = json!({"textDocument": {"uri": editor.uri("cart.py")}, "positions": [position(text, at, 0)]});
        editor.ask("textDocument/selectionRange", params)[0]["range"]["end"].clone()
    };
    assert_eq!(select(&now, "pass"), json!({"line": 4, "character": 8}));
    assert_eq!(select(&now, "price"), json!({"line": 8, "character": 21}));
    editor.did_change("cart.py", &now, "def more():\n    pass\n\n\ndef show", "def show");
    assert_eq!(folds(&mut editor), saved);
    assert_eq!(editor.close(), Some(0));
}

#[test]
fn a_name_that_an_unsaved_text_writes_leaves_a_rename_in_doubt() {
    let mut editor = opened();
    let at = json!({"textDocument": {"uri": editor.uri("item.py")}, "position": position(ITEM, "price", 0)});
    assert!(editor.ask("textDocument/prepareRename", at.clone())["range"].is_object());
    editor.did_open("cart.py", CART);
    editor.did_change("cart.py", CART, "def show", "getattr(Item(), \"price\")\n\n\ndef show");
    let id = editor.begin_asking("textDocument/prepareRename", at);
    let why = editor.answer(id)["error"]["message"].to_string();
    assert!(why.contains("cart.py:4 (a text names it)"), "{why}");
}
