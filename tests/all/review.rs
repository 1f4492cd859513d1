//! Reviews of changes, through the real program on real repositories.

use std::fs;

use serde_json::{Value, json};

use crate::client::Server;
use crate::place::Place;

/// The status of a run, and what it prints.
fn said(place: &Place, args: &[&str]) -> (i32, String) {
    let ran = place.run(args);
    (ran.status, ran.out)
}

/// The texts at a pointer's keys of every item of a list.
fn each<'v>(answer: &'v Value, list: &str, key: &str) -> Vec<&'v str> {
    let items = answer[list].as_array().unwrap_or_else(|| panic!("{list} is a list: {answer}"));
    items.iter().filter_map(|item| item[key].as_str()).collect()
}

const STORE: &str = "class Store:\n    def price_of(self, name):\n        raise NotImplementedError\n\n\n\
                     class MemoryStore(Store):\n    def __init__(self, prices):\n        self.prices = prices\n\n    \
                     def price_of(self, name):\n        return self.prices[name]\n";
const CART: &str = "from shop.store import Store\n\n\ndef total(store: Store, names):\n    \
                    return sum(store.price_of(name) for name in names)\n\n\ndef receipt(store: Store, names):\n    \
                    return f\"{total(store, names)} cents\"\n";
const TESTS: &str = "import pytest\nfrom shop.cart import receipt, total\nfrom shop.store import MemoryStore\n\n\n\
                     @pytest.fixture\ndef store():\n    return MemoryStore({\"tea\": 3})\n\n\n\
                     def test_total():\n    assert total(MemoryStore({}), []) == 0\n\n\n\
                     def test_receipt(store):\n    assert receipt(store, [\"tea\"]) == \"3 cents\"\n";

fn shop() -> Place {
    let place = Place::repository();
    place.write("shop/__init__.py", "").write("shop/store.py", STORE).write("shop/cart.py", CART);
    place.write("tests/test_cart.py", TESTS).write("README.md", "A shop.\n");
    place.commit("The shop");
    place
}

#[test]
fn a_change_leads_to_its_callers_and_tests_through_what_it_overrides() {
    let place = shop();
    place.write("shop/store.py", &STORE.replace("self.prices[name]", "self.prices.get(name, 0)"));
    place.commit("Unknown items are free");
    let review = place.call("review_changes", json!({"base": "HEAD~1..HEAD"}));
    assert_eq!(each(&review, "changes", "symbol_id"), ["shop/store.py::MemoryStore.price_of#method"], "{review}");
    let changed = &review["changes"][0];
    assert_eq!((&changed["change"], &changed["caller_count"]), (&json!("body"), &json!(1)), "{review}");
    assert_eq!(changed["callers"][0]["symbol_id"], "shop/cart.py::total#function", "{review}");
    assert_eq!(changed["callers"][0]["via"], "Store.price_of", "{review}");
    let first = &review["tests"][0];
    assert_eq!((&first["file"], &first["through"]), (&json!("tests/test_cart.py"), &json!("uses")), "{review}");
    assert_eq!(first["tests"], json!(["test_total", "test_receipt"]), "{review}");
    assert_eq!(first["way"], json!(["test_total", "total", "MemoryStore.price_of"]), "{review}");
    assert!(review.get("empty_because").is_none(), "{review}");
}

#[test]
fn callers_of_a_constructor_are_those_that_make_objects() {
    let place = shop();
    let below = "\n\nclass Shelf(MemoryStore):\n    def __init__(self):\n        super().__init__({})\n";
    place.write("shop/store.py", &format!("{STORE}{below}"));
    place.write("shop/make.py", "from shop.store import Shelf\n\n\ndef made() -> Shelf:\n    return Shelf()\n");
    place.commit("A shelf");
    place.write("shop/store.py", &format!("{STORE}{}", below.replace("({})", "({\"tea\": 1})")));
    let review = place.call("review_changes", json!({}));
    let callers = &review["changes"][0]["callers"];
    assert_eq!(callers, &json!([{"symbol_id": "shop/make.py::made#function", "line": 4}]), "{review}");
}

#[test]
fn every_kind_of_change_has_its_word() {
    let place = Place::repository();
    let longer = "    value = first * 2\n    return value + 40\n";
    let text = format!("def gone():\n    return 1\n\n\ndef wider(a):\n    return a\n\n\ndef named(first):\n{longer}");
    place.write("a.py", &text).write("b.py", "def moved(x):\n    total = x * 3\n    return total - 11\n");
    place.commit("before");
    place.write("a.py", &format!("def wider(a, b=2):\n    return a\n\n\ndef other(first):\n{longer}"));
    fs::remove_file(place.source().join("b.py")).expect("it is ours");
    place.write("c.py", "def moved(x):\n    total = x * 3\n    return total - 11\n\n\ndef fresh():\n    return 5\n");
    let review = place.call("review_changes", json!({}));
    let told: Vec<(&str, &str)> =
        each(&review, "changes", "symbol_id").into_iter().zip(each(&review, "changes", "change")).collect();
    let expected = [
        ("a.py::gone#function", "removed"),
        ("a.py::wider#function", "signature"),
        ("a.py::other#function", "renamed"),
        ("c.py::moved#function", "moved"),
        ("c.py::fresh#function", "added"),
    ];
    assert_eq!(told, expected, "{review}");
    assert_eq!(review["changes"][2]["was"], "a.py::named#function");
    assert_eq!((review["head"].as_str(), review["changed_symbols_count"].as_u64()), (Some("WORKTREE"), Some(5)));
}

#[test]
fn what_is_staged_is_reviewed_alone() {
    let place = shop();
    place.write("shop/store.py", &STORE.replace("self.prices[name]", "self.prices.get(name)"));
    place.git(&["add", "shop/store.py"]);
    place.write("shop/cart.py", &CART.replace("cents", "pence"));
    let review = place.call("review_changes", json!({"staged": true}));
    assert_eq!(each(&review, "changes", "symbol_id"), ["shop/store.py::MemoryStore.price_of#method"], "{review}");
    assert_eq!(review["head"], "STAGED");
    let all = place.call("review_changes", json!({}));
    assert_eq!(each(&all, "changes", "change").len(), 2, "{all}");
}

#[test]
fn a_range_of_three_dots_begins_at_the_fork() {
    let place = shop();
    place.git(&["checkout", "-q", "-b", "topic"]);
    place.write("shop/cart.py", &CART.replace("cents", "pence"));
    place.commit("Pence");
    place.git(&["checkout", "-q", "main"]);
    place.write("shop/store.py", &STORE.replace("self.prices[name]", "self.prices.get(name)"));
    place.commit("Elsewhere");
    place.git(&["checkout", "-q", "topic"]);
    let review = place.call("review_changes", json!({"base": "main...topic"}));
    assert_eq!(each(&review, "changes", "symbol_id"), ["shop/cart.py::receipt#function"], "{review}");
    let review = place.call("review_changes", json!({"base": "main..topic"}));
    assert_eq!(each(&review, "changes", "symbol_id").len(), 2, "{review}");
}

#[test]
fn an_empty_review_says_why() {
    let why = |place: &Place| place.call("review_changes", json!({}))["empty_because"].as_str().map(str::to_owned);
    let place = shop();
    assert_eq!(why(&place).as_deref(), Some("nothing differs"));
    // Documents and tests that changed together say nothing of each other.
    for n in 0..4 {
        place.write("README.md", &format!("{n} shops.\n")).write("tests/test_cart.py", &format!("{TESTS}\n# {n}\n"));
        place.commit("Together");
    }
    place.write("tests/test_cart.py", TESTS);
    place.commit("As before");
    // A language that the change does not touch says nothing of it.
    place.write("stock.sql", "SELECT 1;\n");
    place.commit("A query");
    place.write("README.md", "Another shop.\n");
    assert_eq!(why(&place).as_deref(), Some("only documents, data and settings differ"));
    place.write("stock.sql", "SELECT 2;\n");
    assert_eq!(why(&place).as_deref(), Some("no changed file has symbols; files in sql have none"));
    place.write("stock.sql", "SELECT 1;\n");
    place.write("tests/test_cart.py", &TESTS.replace("== 0", "== 0.0"));
    assert_eq!(why(&place).as_deref(), Some("only tests differ"));
    place.git(&["checkout", "-q", "."]);
    place.write("run.sh", "greet() {\n  echo hello\n}\n");
    place.commit("A script");
    place.write("run.sh", "greet() {\n  echo goodbye\n}\n");
    assert_eq!(why(&place).as_deref(), Some("names in bash are not resolved"));
    let place = Place::repository();
    place.write("a.py", "class A:\n    def go(self):\n        return 1\n\n\ndef run(it):\n    return it.go()\n");
    place.commit("before");
    place.write("a.py", "class A:\n    def go(self):\n        return 2\n\n\ndef run(it):\n    return it.go()\n");
    let said = why(&place).unwrap_or_default();
    assert!(said.starts_with("no resolved use of the changed symbols; 1 place"), "{said}");
}

#[test]
fn the_summary_has_forty_lines_and_the_rest_is_folded() {
    let place = Place::repository();
    let functions =
        |by: usize| -> String { (0..60).map(|n| format!("def f{n}():\n    return {n} * {by}\n\n\n")).collect() };
    place.write("lib.py", &functions(1));
    for n in 0..60 {
        place.write(&format!("tests/test_{n}.py"), &format!("from lib import f{n}\n\n\ndef test_it():\n    f{n}()\n"));
    }
    place.commit("before");
    place.write("lib.py", &functions(2));
    place.commit("after");
    let (status, text) = said(&place, &["review", "HEAD~1..HEAD"]);
    assert_eq!(status, 0, "{text}");
    let summary = text.split("<details>").next().unwrap_or_default();
    assert!(summary.lines().count() <= 40 && summary.contains("60 symbols touched"), "{summary}");
    assert!(summary.contains("1. `tests/test_0.py`: `test_it` (`test_it` → `f0`)"), "{summary}");
    assert!(text.contains("<summary>Touched symbols (60)</summary>") && text.contains("| body | `f59`"), "{text}");
    assert!(text.contains("50. "), "{text}");
}

#[test]
fn tests_are_named_as_their_runners_take_them() {
    let place = shop();
    place.write("go.mod", "module example.org/shop\n");
    place.write("price/price.go", "package price\n\nfunc Of(n int) int {\n\treturn n * 2\n}\n");
    let test =
        "package price\n\nimport \"testing\"\n\nfunc TestOf(t *testing.T) {\n\tif Of(1) != 2 {\n\t\tt.Fail()\n\t}\n}\n";
    place.write("price/price_test.go", test).write("price/rate.go", "package price\n\nconst rate = 3\n");
    let test = "package price\n\nimport \"testing\"\n\nfunc TestRate(t *testing.T) {\n\tt.Log()\n}\n";
    place.write("price/rate_test.go", test);
    place.write("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"1.0.0\"\n");
    let text = "pub fn tax(n: u32) -> u32 {\n    n / 5\n}\n\n#[cfg(test)]\nmod tests {\n    use super::tax;\n\n    #[test]\n    \
                fn a_fifth() {\n        assert_eq!(tax(5), 1);\n    }\n}\n";
    place.write("src/lib.rs", "pub mod tax;\n").write("src/tax.rs", text);
    place.write("tests/whole.rs", "#[test]\nfn of_ten() {\n    assert_eq!(shop::tax::tax(10), 2);\n}\n");
    place.write("web/basket.ts", "export function sum(all: number[]): number {\n  return all.length;\n}\n");
    let test = "import { sum } from \"./basket\";\n\nit(\"adds\", () => {\n  sum([1]);\n});\n";
    place.write("web/basket.test.ts", test);
    let java = "package shop;\n\npublic class Box {\n    public int size() {\n        return 3;\n    }\n}\n";
    place.write("src/main/java/shop/Box.java", java);
    let test = "package shop;\n\nimport org.junit.Test;\n\npublic class BoxTest {\n    @Test\n    public void holds() {\n        \
                new Box().size();\n    }\n}\n";
    place.write("src/test/java/shop/BoxTest.java", test);
    place.commit("All languages");
    let tests = |target: &str| said(&place, &["tests", target]).1;
    assert_eq!(tests("shop/cart.py::receipt#function"), "tests/test_cart.py::test_receipt\n");
    assert_eq!(tests("price/price.go"), "-run\n^(TestOf)$\n./price\n");
    assert_eq!(tests("price/rate.go"), "-run\n^(TestRate)$\n./price\n");
    assert_eq!(tests("src/tax.rs::tax#function"), "test(=tax::tests::a_fifth) | (binary(=whole) & test(=of_ten))\n");
    assert_eq!(tests("web/basket.ts"), "web/basket.test.ts\n");
    assert_eq!(tests("src/main/java/shop/Box.java"), "-Dtest=BoxTest#holds\n");

    place.write("shop/cart.py", &CART.replace("cents", "pence"));
    assert_eq!(said(&place, &["tests", "--changed"]), (0, "tests/test_cart.py::test_receipt\n".to_owned()));
    place.write("web/basket.ts", "export function sum(all: number[]): number {\n  return all.length + 1;\n}\n");
    let both = said(&place, &["tests", "--changed"]).1;
    assert!(both.contains("# jest\nweb/basket.test.ts\n") && both.contains("# pytest\n"), "{both}");
    let refused = place.call("find_tests", json!({}));
    assert_eq!(refused["code"], "invalid_arguments", "{refused}");
}

#[test]
fn facts_beside_a_change_come_from_history_visibility_and_the_graph() {
    let place = shop();
    place.write(".github/CODEOWNERS", "* @all\n/shop/ @shop/team\n");
    for n in 0..4 {
        place.write("shop/cart.py", &CART.replace("cents", &format!("cents{n}")));
        place.write("shop/labels.py", &format!("LABEL = {n}\n"));
        place.commit(&format!("Label {n}"));
    }
    place.write("shop/cart.py", CART).write("shop/labels.py", "LABEL = 9\n\n\ndef only():\n    return LABEL\n");
    let cart = CART.replace("f\"{", "only(f\"{").replace("cents\"", "cents\")");
    place.write("shop/cart.py", &format!("from shop.labels import only\n{cart}"));
    place.commit("Only");
    place.write("base/money.py", "from shop.cart import total\n\n\ndef money():\n    return total\n");
    place.commit("Money");
    let cart = CART.replace("def total(store: Store, names)", "def total(store: Store, names, tax)");
    place
        .write("shop/cart.py", &format!("from base.money import money\n{cart}\n\ndef fresh(money=money):\n    pass\n"));
    place.commit("Taxes");
    let review = place.call("review_changes", json!({"base": "HEAD~1..HEAD"}));
    let public = |id: &str| {
        let changes = review["changes"].as_array().expect("a list");
        changes.iter().find(|changed| changed["symbol_id"] == id).map(|changed| changed["breaks_public_api"].clone())
    };
    assert_eq!(public("shop/cart.py::total#function"), Some(json!(true)), "{review}");
    assert_eq!(public("shop/cart.py::fresh#function"), Some(json!(false)), "{review}");
    assert_eq!(public("shop/cart.py::receipt#function"), Some(Value::Null), "{review}");
    assert_eq!(review["owners"], json!([{"owner": "@shop/team", "files": 1}]), "{review}");
    assert_eq!(each(&review, "usually_changed_too", "file"), ["shop/labels.py"], "{review}");
    assert!(each(&review, "newly_dead", "symbol_id").contains(&"shop/labels.py::only#function"), "{review}");
    assert_eq!(review["new_rings"][0]["folders"], json!(["shop", "base", "shop"]), "{review}");
    assert_eq!(each(&review, "last_commits", "title")[0], "Only", "{review}");

    let (_, sarif) = said(&place, &["review", "HEAD~1..HEAD", "--output", "sarif"]);
    let sarif: Value = serde_json::from_str(&sarif).expect("SARIF is JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("a list");
    let rules: Vec<&str> = results.iter().filter_map(|result| result["ruleId"].as_str()).collect();
    assert!(["api", "dead", "ring"].iter().all(|rule| rules.contains(rule)), "{sarif}");
    let (_, commands) = said(&place, &["review", "HEAD~1..HEAD", "--output", "annotations"]);
    let first = "::warning file=shop/cart.py,line=5,title=A public symbol changed::public API: ";
    assert!(commands.lines().any(|line| line.starts_with(first)), "{commands}");
    let (_, text) = said(&place, &["review", "HEAD~1..HEAD"]);
    assert!(text.contains("- **Public API, may break users**: `total` (signature)"), "{text}");
}

#[test]
fn names_that_a_file_exports_in_a_list_are_public() {
    let place = Place::repository();
    let text = "function add(a) {\n  return a;\n}\n\nfunction hidden(a) {\n  return add(a);\n}\n\nexport { add };\n";
    place.write("lib.js", text).write("Area.java", "public interface Area {\n    int of(int side);\n}\n");
    place.commit("before");
    place.write("lib.js", &text.replace("(a) {", "(a, b) {"));
    place.write("Area.java", "public interface Area {\n    int of(int side, int other);\n}\n");
    let review = place.call("review_changes", json!({}));
    let changes = review["changes"].as_array().expect("a list");
    let public: Vec<(&str, &Value)> = changes
        .iter()
        .map(|changed| (changed["symbol_id"].as_str().unwrap_or_default(), &changed["breaks_public_api"]))
        .collect();
    let yes = json!(true);
    let expected = [
        ("Area.java::Area.of#method", &yes),
        ("lib.js::add#function", &yes),
        ("lib.js::hidden#function", &Value::Null),
    ];
    assert_eq!(public, expected, "{review}");
}

#[test]
fn tests_that_run_the_program_reach_what_it_runs() {
    let place = Place::repository();
    place.write("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"1.0.0\"\n");
    let main = "fn main() {\n    greet();\n}\n\nfn greet() {\n    println!(\"hello\");\n}\n";
    let test = "use std::process::Command;\n\nfn shop() -> Command {\n    Command::new(env!(\"CARGO_BIN_EXE_shop\"))\n}\n\n\
                #[test]\nfn greets() {\n    shop().output();\n}\n";
    place.write("src/main.rs", main).write("tests/cli.rs", test);
    place.commit("before");
    place.write("src/main.rs", &main.replace("hello", "good day"));
    let review = place.call("review_changes", json!({}));
    assert_eq!(review["tests"][0]["way"], json!(["greets", "shop", "main", "greet"]), "{review}");
}

#[test]
fn tests_that_hand_an_object_to_a_library_reach_what_the_library_calls() {
    let place = Place::repository();
    place.write("shop.py", "import http.server\n\n\nclass Till(http.server.BaseHTTPRequestHandler):\n    def do_GET(self):\n        return 1\n");
    let test = "import http.server\nfrom shop import Till\n\n\ndef test_payment():\n    http.server.HTTPServer((\"\", 0), Till)\n";
    place.write("tests/test_payment.py", &format!("{test}\n\ndef test_nothing():\n    assert True\n"));
    place.commit("before");
    let found = place.call("find_tests", json!({"targets": ["shop.py::Till.do_GET#method"]}));
    assert_eq!(found["tests"][0]["tests"], json!(["test_payment"]), "{found}");
    assert_eq!(found["tests"][0]["through"], "possible", "{found}");
}

#[test]
fn a_function_inside_of_a_test_is_part_of_it() {
    let place = Place::repository();
    place.write("shop.py", "def price():\n    return 1\n");
    let test = "from shop import price\n\n\ndef test_price():\n    def test():\n        return price()\n\n    assert test() == 1\n";
    place.write("tests/test_price.py", test);
    place.commit("before");
    let found = place.call("find_tests", json!({"targets": ["shop.py::price#function"]}));
    assert_eq!(found["runs"][0]["arguments"], json!(["tests/test_price.py::test_price"]), "{found}");
}

#[test]
fn a_test_of_the_same_name_is_among_the_first() {
    let place = shop();
    for n in 0..12 {
        let text = "from shop.cart import receipt\n\n\ndef test_it():\n    receipt(None)\n";
        place.write(&format!("tests/test_{n}.py"), text);
    }
    place.write("tests/test_cart.py", "def test_cart():\n    assert 'cart' in __file__\n");
    place.commit("before");
    place.write("shop/cart.py", &CART.replace("cents", "pence"));
    let found = place.call("find_tests", json!({"changed": true}));
    let first: Vec<&str> = each(&found, "tests", "file").into_iter().take(10).collect();
    assert!(first.contains(&"tests/test_cart.py"), "{found}");
}

#[test]
fn tests_of_a_change_wait_until_it_was_read() {
    let place = shop();
    let mut server = Server::start(place.command(&["serve", "--watcher=false"]));
    server.fresh("get_repo_outline", json!({}));
    // Longer to read than a relaxed answer waits.
    let filler: String = (0..8_000).map(|n| format!("def filler_{n}():\n    return {n}\n\n\n")).collect();
    place.write("shop/filler.py", &filler);
    place.write("shop/cart.py", &CART.replace("cents", "pence"));
    let found = server.call("find_tests", json!({"changed": true}));
    assert_eq!(found["_meta"]["freshness"], "fresh", "{found}");
    assert!(each(&found, "tests", "file").contains(&"tests/test_cart.py"), "{found}");
    server.close();
}

#[test]
fn a_rename_is_a_patch_or_written_where_nothing_is_in_doubt() {
    let place = shop();
    let text = |path: &str| fs::read_to_string(place.source().join(path)).expect("it is there");
    let (status, patch) = said(&place, &["rename", "shop/store.py::Store.price_of#method", "cost_of", "--dry-run"]);
    assert_eq!((status, text("shop/store.py")), (0, STORE.to_owned()), "{patch}");
    place.write("plan.patch", &patch);
    place.git(&["apply", "plan.patch"]);
    assert_eq!(text("shop/store.py"), STORE.replace("price_of", "cost_of"));
    assert_eq!(text("shop/cart.py"), CART.replace("price_of", "cost_of"));
    assert_eq!(text("tests/test_cart.py"), TESTS);
    let renamed = said(&place, &["rename", "shop/store.py::Store.cost_of#method", "price_of"]);
    assert_eq!(renamed, (0, "cost_of is now price_of, in 3 places of 2 files\n".to_owned()));
    assert_eq!((text("shop/store.py"), text("shop/cart.py")), (STORE.to_owned(), CART.to_owned()));

    // Documentation and comments name it to people alone.
    place.write(
        "shop/more.py",
        "def late(it):\n    \"\"\"Asks `price_of`.\"\"\"\n    # or 'price_of'\n    return it.price_of(\"tea\")\n",
    );
    let args = json!({"symbol_id": "shop/store.py::Store.price_of#method", "new_name": "worth"});
    let plan = place.call("plan_rename", args);
    assert_eq!(plan["is_sure"], false, "{plan}");
    let unknown = json!([{"file": "shop/more.py", "line": 4, "why": "nothing is known of what it belongs to"}]);
    assert_eq!(plan["doubts"], unknown, "{plan}");
    assert_eq!(plan["edits"].as_array().map(Vec::len), Some(3), "{plan}");
    assert_eq!(said(&place, &["rename", "shop/store.py::Store.price_of#method", "worth"]).0, 2);
    assert_eq!(text("shop/store.py"), STORE);
    assert_eq!(said(&place, &["rename", "shop/store.py::Store.price_of#method", "worth", "--force"]).0, 0);
    assert_eq!(text("shop/cart.py"), CART.replace("price_of", "worth"));
    assert!(text("shop/more.py").contains("it.price_of("));
    assert_eq!(said(&place, &["rename", "shop/store.py::Store#class", "no name"]).0, 2);
}

#[test]
fn a_deletion_leads_to_every_place_and_says_what_is_in_doubt() {
    let place = shop();
    place.write("shop/old.py", "from shop.cart import receipt as bill\n\n\ndef lone():\n    return bill\n");
    let (status, text) = said(&place, &["plan-delete", "shop/cart.py::receipt#function"]);
    let expected = "shop/cart.py:8:5: definition: def receipt(store: Store, names):\n\
                    shop/old.py:1:23: import: from shop.cart import receipt as bill\n\
                    shop/old.py:5:12: reference: return bill\n\
                    tests/test_cart.py:2:23: import: from shop.cart import receipt, total\n\
                    tests/test_cart.py:16:12: call: assert receipt(store, [\"tea\"]) == \"3 cents\"\n";
    assert_eq!((status, &*text), (0, expected));
    let plan = place.call("plan_delete", json!({"symbol_id": "shop/old.py::lone#function"}));
    assert_eq!((&plan["is_sure"], &plan["is_used"]), (&json!(true), &json!(false)), "{plan}");

    // A method that a base demands, and one that overrides it.
    let plan = place.call("plan_delete", json!({"symbol_id": "shop/store.py::MemoryStore.price_of#method"}));
    assert_eq!(each(&plan, "doubts", "file"), ["shop/cart.py", "shop/store.py"], "{plan}");
    let plan = place.call("plan_delete", json!({"symbol_id": "shop/store.py::Store.price_of#method"}));
    assert_eq!(each(&plan, "places", "reason"), ["call", "definition", "override"], "{plan}");

    // Members of a type go with it, and a name after something unknown may be one of them.
    place.write("shop/more.py", "def late(it):\n    return it.price_of(\"tea\")\n");
    let plan = place.call("plan_delete", json!({"symbol_id": "shop/store.py::Store#class"}));
    assert_eq!(each(&plan, "doubts", "file"), ["shop/more.py"], "{plan}");
    let of_store: Vec<&str> = each(&plan, "places", "reason");
    assert_eq!(of_store, ["import", "type", "call", "type", "definition", "base"], "{plan}");
    let (status, _) = said(&place, &["plan-delete", "shop/store.py::Store#class"]);
    assert_eq!(status, 2);
    let (status, text) = said(&place, &["plan-delete", "shop/store.py::Store#class", "--force"]);
    assert!(status == 0 && text.contains("shop/more.py:2: in doubt: "), "{text}");

    place.write("shop/web.py", "from outside import route\n\n\n@route(\"/\")\ndef page():\n    return 1\n");
    let plan = place.call("plan_delete", json!({"symbol_id": "shop/web.py::page#function"}));
    assert!(each(&plan, "doubts", "why")[0].starts_with("a framework, a runner"), "{plan}");
}

#[test]
fn a_changed_declaration_leads_to_those_alike_and_to_every_call() {
    let place = shop();
    let plan = place.call("plan_change_signature", json!({"symbol_id": "shop/store.py::MemoryStore.price_of#method"}));
    assert_eq!(
        each(&plan, "places", "text")[1..],
        ["def price_of(self, name):", "def price_of(self, name):"],
        "{plan}"
    );
    assert_eq!((&plan["is_sure"], each(&plan, "places", "reason")[0]), (&json!(true), "call"), "{plan}");
    // Calls of a class are calls of its constructor, also through classes without one.
    place.write("shop/more.py", "from shop.store import MemoryStore\n\n\nclass Shelf(MemoryStore):\n    pass\n\n\ndef shelf():\n    return Shelf({})\n");
    let plan = place.call("plan_change_signature", json!({"symbol_id": "shop/store.py::MemoryStore#class"}));
    assert_eq!(plan["symbol"], "shop/store.py::MemoryStore.__init__#method", "{plan}");
    assert_eq!(
        each(&plan, "places", "file"),
        ["shop/more.py", "shop/store.py", "tests/test_cart.py", "tests/test_cart.py"],
        "{plan}"
    );
    let args =
        json!({"symbol_id": "shop/cart.py::total#function", "new_signature": "def total(store: Store, names, tax=0)"});
    assert_eq!(place.call("plan_change_signature", args)["calls_may_stay"], true);
    let args = json!({"symbol_id": "shop/cart.py::total#function", "new_signature": "def total(names)"});
    assert_eq!(place.call("plan_change_signature", args)["calls_may_stay"], false);
    place.write("shop/each.py", "from shop.cart import total\n\n\ndef handed():\n    return map(total, [])\n");
    let plan = place.call("plan_change_signature", json!({"symbol_id": "shop/cart.py::total#function"}));
    assert_eq!(each(&plan, "doubts", "why"), ["it is passed on here, and called elsewhere"], "{plan}");
    let refused = place.call("plan_change_signature", json!({"symbol_id": "shop/store.py::Store#class"}));
    assert_eq!(refused["code"], "invalid_arguments", "{refused}");
}

#[test]
fn a_recording_of_coverage_says_which_tests_run_changed_lines() {
    let place = shop();
    place.write("shop/store.py", &STORE.replace("self.prices[name]", "self.prices.get(name, 0)"));
    let both = "tests/test_cart.py::test_total\ntests/test_cart.py::test_receipt\n".to_owned();
    assert_eq!(said(&place, &["tests", "--changed"]), (0, both.clone()));
    // Line 10 is the declaration, which runs when the file is read; line 11 is what changed.
    let json = |tests: &str| {
        let contexts = format!(r#"{{"10": ["tests/test_cart.py::test_total|run"], "11": [""{tests}]}}"#);
        let other = r#""shop/cart.py": {"contexts": {"5": ["tests/test_cart.py::test_total|run"]}}"#;
        format!(
            r#"{{"meta": {{"format": 3}}, "files": {{{other}, "shop/store.py": {{"executed_lines": [10, 11], "contexts": {contexts}}}}}}}"#
        )
    };
    let lcov = "TN:tests/test_cart.py::test_receipt\nSF:./shop/store.py\nDA:11,2\nend_of_record\nTN:tests/test_cart.py::test_total\nSF:shop/store.py\nDA:11,0\nend_of_record\n";
    let one = "tests/test_cart.py::test_receipt\n".to_owned();
    for recording in
        [&json(r#", "tests/test_cart.py::test_receipt[tea]|run""#), &json(r#", "test_cart.test_receipt""#), lcov]
    {
        place.write("coverage", recording);
        assert_eq!(said(&place, &["tests", "--changed", "--recording", "coverage"]), (0, one.clone()), "{recording}");
    }
    let found = place.call("find_tests", json!({"changed": true, "recording": "coverage"}));
    assert_eq!(each(&found, "tests", "through"), ["recorded", "uses"], "{found}");
    let found = place.call(
        "find_tests",
        json!({"targets": ["shop/store.py::MemoryStore.price_of#method"], "recording": "coverage"}),
    );
    assert_eq!(found["tests"][0]["tests"], json!(["test_receipt"]), "{found}");

    // A constant is read before any test runs, so its change is tested by what reaches it, too.
    let other = "PRICE = 1\n\n\ndef spare():\n    return PRICE\n";
    place.write("shop/spare.py", other).git(&["add", "shop/spare.py"]);
    place.git(&["commit", "-q", "-m", "Spare", "shop/spare.py"]);
    place.write("shop/spare.py", &other.replace('1', "2"));
    let found = place.call("find_tests", json!({"changed": true, "recording": "coverage"}));
    assert_eq!(found["runs"][0]["arguments"].as_array().map(Vec::len), Some(2), "{found}");
    assert!(found["_meta"]["hint"].as_str().is_some_and(|hint| hint.contains("by names are added")), "{found}");
    place.git(&["checkout", "-q", "shop/spare.py"]);

    // Code that no recorded test ran is tested by what reaches it.
    place.write("coverage", &json(r#", "tests/test_gone.py::test_gone|run""#));
    let found = place.call("find_tests", json!({"changed": true, "recording": "coverage"}));
    assert_eq!(
        (&found["_meta"]["not_recorded"], &found["runs"][0]["arguments"].as_array().map(Vec::len)),
        (&json!(1), &Some(2)),
        "{found}"
    );

    place.write(
        "coverage",
        r#"{"meta": {"show_contexts": false}, "files": {"shop/store.py": {"executed_lines": [11]}}}"#,
    );
    place.write("secret.json", r#"{"meta": "hunter2"}"#);
    for (recording, why) in [
        ("coverage", "names no tests"),
        ("README.md", "neither"),
        ("secret.json", "is not coverage.py JSON; see line 1"),
        ("none", "is not there"),
        ("../index", "must be a file in"),
        ("shop", "must be a file in"),
    ] {
        let refused = place.call("find_tests", json!({"changed": true, "recording": recording}));
        let is_told = |error: &str| error.contains(why) && !error.contains("hunter2");
        assert!(refused["error"].as_str().is_some_and(is_told), "{refused}");
    }
}
