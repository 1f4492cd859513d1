//! From a name to what it means, who uses it, and what is around it.

use serde_json::{Value, json};

use super::editor::{Editor, one, shown, usual};

const PROJECT: &str = r#"
--- shop/item.py
"""What is sold."""


class Priced:
    """Has a price."""

    def price(self) -> int:
        """The price in cents."""
        raise NotImplementedError


class Item(Priced):
    limit: int = 3

    def price(self) -> int:
        return 1 + self.limit


def ælf():
    return Item()
--- shop/cart.py
from .item import Item, ælf
import shop.item


class Cart:
    def __init__(self):
        self.first: Item = Item()

    def total(self) -> int:
        return self.first.price()


def show(cart: Cart) -> Item:
    "𝒳"; cart.total(); ælf()
    return cart.first


show(Cart())
--- shop/more.py
from shop import item

item.Item.limit
--- web/view.ts
export interface View { render(): string }
export class Page implements View { render() { return "page" } }
export function draw(view: View) { return view.render() }
--- notes.txt
Nothing with symbols.
"#;

#[test]
fn a_use_leads_to_its_definition_and_an_import_to_its_file() {
    let mut editor = Editor::open(PROJECT);
    let mut check = |path: &str, text: &str, nth: usize, expected: &[&str]| {
        let found = editor.at("textDocument/definition", path, text, nth);
        assert_eq!(shown(&found), expected, "{text} {nth}");
    };
    check("shop/cart.py", "Item", 0, &["shop/item.py:12:7"]);
    check("shop/cart.py", "price", 0, &["shop/item.py:15:9"]);
    check("shop/cart.py", "total(); ", 0, &["shop/cart.py:9:9"]);
    check("shop/cart.py", "ælf()", 0, &["shop/item.py:19:5"]);
    check("shop/cart.py", "first.price", 0, &["shop/cart.py:7:14"]);
    check("shop/cart.py", ".item", 0, &["shop/item.py:1:1"]);
    check("shop/cart.py", "shop.item", 0, &[]);
    check("shop/more.py", "item.Item", 0, &["shop/item.py:1:1"]);
    check("shop/item.py", "Item", 0, &["shop/item.py:12:7"]);
    check("web/view.ts", "View", 1, &["web/view.ts:1:18"]);
    check("shop/cart.py", "cart.total", 0, &["shop/cart.py:13:10"]);
    check("shop/cart.py", "self.first.price", 0, &["shop/cart.py:9:15"]);
    check("shop/cart.py", "return", 0, &[]);
    check("notes.txt", "Nothing", 0, &[]);
    assert_eq!(editor.close(), Some(0));
}

#[test]
fn names_lead_to_declarations_types_implementations_and_uses() {
    let mut editor = Editor::open(PROJECT);
    let mut check = |what: &str, path: &str, text: &str, nth: usize, expected: &[&str]| {
        let found = editor.at(&format!("textDocument/{what}"), path, text, nth);
        assert_eq!(shown(&found), expected, "{what} {text} {nth}");
    };
    check("declaration", "shop/cart.py", "price", 0, &["shop/item.py:7:9"]);
    check("declaration", "shop/cart.py", "total(); ", 0, &["shop/cart.py:9:9"]);
    check("typeDefinition", "shop/cart.py", "first.price", 0, &["shop/item.py:12:7"]);
    check("typeDefinition", "shop/cart.py", "show", 0, &["shop/item.py:12:7"]);
    check("typeDefinition", "shop/cart.py", "Cart", 0, &["shop/cart.py:5:7"]);
    check("implementation", "shop/item.py", "Priced", 0, &["shop/item.py:12:7"]);
    check("implementation", "shop/item.py", "price(self)", 0, &["shop/item.py:15:9"]);
    check("implementation", "web/view.ts", "View", 0, &["web/view.ts:2:14"]);
    check(
        "references",
        "shop/item.py",
        "Item",
        0,
        &[
            "shop/cart.py:13:25",
            "shop/cart.py:1:19",
            "shop/cart.py:7:21",
            "shop/cart.py:7:28",
            "shop/item.py:20:12",
            "shop/more.py:3:6",
        ],
    );
    check("references", "shop/cart.py", "cart.total", 0, &["shop/cart.py:14:11", "shop/cart.py:15:12"]);
    check("documentHighlight", "web/view.ts", "view.", 0, &[":3:22", ":3:43"]);
    check("documentHighlight", "shop/cart.py", "first", 0, &[":10:21", ":15:17", ":7:14"]);
}

#[test]
fn a_hover_shows_signature_documentation_and_place() {
    let mut editor = Editor::open(PROJECT);
    let found = editor.at("textDocument/hover", "shop/item.py", "price", 1);
    let expected =
        "```python\ndef price(self) -> int:\n```\n\nThe price in cents.\n\nmethod of Priced · `shop/item.py:7`";
    let expected = expected.replace("int:", "int");
    assert_eq!(found["contents"], json!({"kind": "markdown", "value": expected}));
    assert_eq!(editor.at("textDocument/hover", "shop/cart.py", "return", 0), Value::Null);

    let mut plain = Editor::with(PROJECT, json!({}), Value::Null);
    let found = plain.at("textDocument/hover", "shop/cart.py", "Cart", 0);
    assert_eq!(found["contents"], json!({"kind": "plaintext", "value": "class Cart\n\nclass · shop/cart.py:5"}));
}

/// The names of symbols with those inside them.
fn tree(symbols: &Value) -> String {
    let one = |symbol: &Value| format!("{}{}", symbol["name"].as_str().unwrap_or("?"), tree(&symbol["children"]));
    let all: Vec<String> = symbols.as_array().into_iter().flatten().map(one).collect();
    if all.is_empty() { String::new() } else { format!("({})", all.join(" ")) }
}

#[test]
fn symbols_of_a_document_are_nested_where_the_editor_can_show_it() {
    let mut editor = Editor::open(PROJECT);
    let params = json!({"textDocument": {"uri": editor.uri("shop/cart.py")}});
    assert_eq!(tree(&editor.ask("textDocument/documentSymbol", params)), "(Cart(__init__ first total) show)");
    let params = json!({"textDocument": {"uri": editor.uri("notes.txt")}});
    assert_eq!(editor.ask("textDocument/documentSymbol", params), json!([]));

    let mut flat = Editor::with(PROJECT, json!({}), Value::Null);
    let params = json!({"textDocument": {"uri": flat.uri("shop/cart.py")}});
    let found = flat.ask("textDocument/documentSymbol", params);
    assert_eq!(
        (tree(&found), &found[1]["containerName"]),
        ("(Cart __init__ first total show)".to_owned(), &json!("Cart"))
    );
}

#[test]
fn symbols_of_the_workspace_come_by_our_ranking() {
    let mut editor = Editor::open(PROJECT);
    let found = editor.ask("workspace/symbol", json!({"query": "item"}));
    assert_eq!(one(&found[0]), "shop/item.py:12:7");
    let found = editor.ask("workspace/symbol", json!({"query": "what the cart costs in total"}));
    assert_eq!(found[0]["name"], "total");
    assert_eq!(editor.ask("workspace/symbol", json!({"query": "zzzz"})), json!([]));
}

#[test]
fn calls_and_types_have_hierarchies() {
    let mut editor = Editor::open(PROJECT);
    let item = editor.at("textDocument/prepareCallHierarchy", "shop/cart.py", "total", 0)[0].clone();
    let incoming = editor.ask("callHierarchy/incomingCalls", json!({"item": item}));
    assert_eq!(incoming[0]["from"]["name"], "show");
    assert_eq!(incoming[0]["fromRanges"][0]["start"], json!({"line": 13, "character": 15}));
    let outgoing = editor.ask("callHierarchy/outgoingCalls", json!({"item": item}));
    assert_eq!(one(&outgoing[0]["to"]), "shop/item.py:15:9");
    let item = editor.at("textDocument/prepareCallHierarchy", "web/view.ts", "render", 1)[0].clone();
    let incoming = editor.ask("callHierarchy/incomingCalls", json!({"item": item}));
    assert_eq!([&incoming[0]["from"]["name"], &incoming[0]["from"]["detail"]], ["draw", "through View.render"]);
    let top = editor.at("textDocument/prepareCallHierarchy", "shop/cart.py", "show", 0)[0].clone();
    let incoming = editor.ask("callHierarchy/incomingCalls", json!({"item": top}));
    assert_eq!(incoming[0]["from"]["name"], "cart.py", "a call outside of every function is the file's");

    let item = editor.at("textDocument/prepareTypeHierarchy", "shop/cart.py", "Item", 0)[0].clone();
    let above = editor.ask("typeHierarchy/supertypes", json!({"item": item}));
    assert_eq!((above[0]["name"].as_str(), above[1].is_null()), (Some("Priced"), true));
    let below = editor.ask("typeHierarchy/subtypes", json!({"item": above[0]}));
    assert_eq!(below[0]["name"], "Item");
    assert_eq!(editor.at("textDocument/prepareTypeHierarchy", "shop/cart.py", "show", 0), Value::Null);
}

#[test]
fn possible_references_are_given_to_those_who_ask_for_them() {
    let project = "--- a.py\nclass A:\n    def run(self): pass\n\nA().run()\n\ndef go(thing):\n    thing.run()\n";
    let mut editor = Editor::open(project);
    let sure = editor.at("textDocument/references", "a.py", "run", 0);
    assert_eq!(shown(&sure), ["a.py:4:5"]);
    let mut editor = Editor::with(project, usual(), json!({"possibleReferences": true}));
    let all = editor.at("textDocument/references", "a.py", "run", 0);
    assert_eq!(shown(&all), ["a.py:4:5", "a.py:7:11"]);
}

#[test]
fn text_folds_and_selections_grow() {
    let mut editor = Editor::open(PROJECT);
    let document = json!({"uri": editor.uri("shop/item.py")});
    let folds = editor.ask("textDocument/foldingRange", json!({"textDocument": document}));
    let lines: Vec<_> =
        folds.as_array().expect("a list").iter().map(|fold| (&fold["startLine"], &fold["endLine"])).collect();
    assert_eq!(lines.first(), Some(&(&json!(3), &json!(8))));
    let position = editor.place("shop/item.py", "limit", 1);
    let found = editor.ask("textDocument/selectionRange", json!({"textDocument": document, "positions": [position]}));
    let [inner, outer] = [&found[0]["range"], &found[0]["parent"]["range"]];
    assert_eq!((&inner["start"]["character"], &outer["start"]["character"]), (&json!(24), &json!(19)));
}

#[test]
fn a_text_that_is_nested_without_end_folds_and_is_selected() {
    let nested = |depth: usize| "function f(){".repeat(depth) + &"}".repeat(depth);
    // A syntax error before it has the parser try everything else.
    let files = format!("\n--- deep.js\n{}\n--- worse.js\na{}\n", nested(7_000), nested(34_000));
    let mut editor = Editor::open(&files);
    for (file, character) in [("deep.js", 90_000), ("worse.js", 400_000)] {
        let document = json!({"uri": editor.uri(file)});
        let folds = editor.ask("textDocument/foldingRange", json!({"textDocument": document}));
        assert!(folds.is_array(), "{folds}");
        let positions = json!([{"line": 0, "character": character}]);
        let found =
            editor.ask("textDocument/selectionRange", json!({"textDocument": document, "positions": positions}));
        assert!(found[0]["range"].is_object(), "{found}");
    }
    assert_eq!(editor.close(), Some(0));
}

#[test]
fn positions_are_counted_as_agreed() {
    let columns = |encoding: &str| {
        let mut capabilities = usual();
        capabilities["general"]["positionEncodings"] = json!([encoding]);
        let mut editor = Editor::with(PROJECT, capabilities, Value::Null);
        assert_eq!(editor.offered["capabilities"]["positionEncoding"], encoding);
        let position = editor.place("shop/item.py", "ælf", 0);
        let params = json!({"textDocument": {"uri": editor.uri("shop/item.py")}, "position": position,
            "context": {"includeDeclaration": false}});
        let found = editor.ask("textDocument/references", params);
        let range =
            |place: &Value| [&place["range"]["start"], &place["range"]["end"]].map(|at| at["character"].as_u64());
        found.as_array().expect("a list").iter().map(range).collect::<Vec<_>>()
    };
    assert_eq!(columns("utf-8"), [[Some(24), Some(28)], [Some(26), Some(30)]]);
    assert_eq!(columns("utf-16"), [[Some(24), Some(27)], [Some(24), Some(27)]]);
    assert_eq!(columns("utf-32"), [[Some(24), Some(27)], [Some(23), Some(26)]]);
}

#[test]
fn the_signatures_of_one_function_have_their_uses_together() {
    let script = "export function one(a: number): number;\nexport function one(a: string): string;\nexport function one(a: any) { return a; }\n\
        one(1);\none('');\n";
    let java = "class A {\n  int one(int a) { return a; }\n  int one(long a, long b) { return one(1); }\n}\n";
    let mut editor = Editor::open(&format!("--- a.ts\n{script}--- A.java\n{java}"));
    assert_eq!(shown(&editor.at("textDocument/references", "a.ts", "one", 0)), ["a.ts:4:1", "a.ts:5:1"]);
    assert_eq!(shown(&editor.at("textDocument/references", "A.java", "one", 0)), ["A.java:3:36"]);
    assert_eq!(shown(&editor.at("textDocument/references", "A.java", "one", 1)), Vec::<String>::new());
}

#[test]
fn names_are_coloured_by_what_they_mean() {
    let project = "--- a.py\nclass A:\n    limit = 3\n\n\n'𝒳'; A.limit\n--- b.py\nfrom a import A as B\n";
    let mut editor = Editor::open(project);
    let types = editor.offered["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"].clone();
    let params = json!({"textDocument": {"uri": editor.uri("a.py")}});
    let found = editor.ask("textDocument/semanticTokens/full", params);
    let data: Vec<u64> = found["data"].as_array().expect("a list").iter().filter_map(Value::as_u64).collect();
    let shown: Vec<String> = data
        .chunks(5)
        .map(|one| format!("+{}:{} {} {} {}", one[0], one[1], one[2], types[one[3] as usize], one[4]))
        .collect();
    let [class, property] = ["\"class\"", "\"property\""];
    let expected = [
        format!("+0:6 1 {class} 1"),
        format!("+1:4 5 {property} 1"),
        format!("+3:6 1 {class} 0"),
        format!("+0:2 5 {property} 0"),
    ];
    assert_eq!(shown, expected);
}
