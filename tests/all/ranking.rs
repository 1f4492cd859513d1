//! The order of results: a small project of several languages goes in, questions of every form are asked, and the right answers
//! come first. The project has what ranking must tell apart: the same name in letters of another case, tests, examples, generated
//! and vendored copies, overloads, bindings of what is defined elsewhere.

use std::path::PathBuf;

use codelode::answer::tokens;
use codelode::tools::{self, Context};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::place::{Place, called};

/// The project; `--- path` begins a file.
const SHOP: &str = include_str!("shop.txt");

/// Projects that were indexed.
struct Projects {
    cx: Context,
    place: Place,
}

impl Projects {
    fn new(projects: &[(&str, &str)]) -> Self {
        let place = Place::new();
        let indexed = Self { cx: place.context(), place };
        for (name, project) in projects {
            for part in project.split("--- ").skip(1) {
                let (path, text) = part.split_once('\n').expect("a path ends its line");
                indexed.place.write(&format!("{name}/{}", path.trim()), text);
            }
            indexed.ask("index_folder", json!({"path": indexed.root(name)}));
        }
        indexed
    }

    fn shop() -> Self {
        Self::new(&[("shop", SHOP)])
    }

    fn root(&self, name: &str) -> PathBuf {
        self.place.source().join(name)
    }

    fn call(&self, tool: &str, args: Value) -> tools::Envelope {
        called(&self.cx, &self.root("shop"), tool, args)
    }

    fn ask(&self, tool: &str, args: Value) -> Value {
        let answer = self.call(tool, args);
        assert!(!answer.is_error, "{}", answer.text);
        answer.value
    }

    /// The error of a question.
    fn wrong(&self, args: Value) -> String {
        let answer = self.call("search_symbols", args);
        assert!(answer.is_error, "{}", answer.text);
        answer.value["error"].as_str().expect("an error says what it is").to_owned()
    }

    fn search(&self, query: &str) -> Value {
        self.ask("search_symbols", json!({"query": query}))
    }

    /// The ids that answer.
    fn ids(&self, query: &str) -> Vec<String> {
        ids(&self.search(query))
    }
}

fn ids(answer: &Value) -> Vec<String> {
    let results = answer["results"].as_array().unwrap_or_else(|| panic!("no results in {answer}"));
    results.iter().map(|hit| hit["id"].as_str().expect("a hit has an id").to_owned()).collect()
}

/// Queries of each form with what must come first, or among the first three.
const FIRST: &[(&str, &str)] = &[
    // Names, whole and qualified, and what the case of letters tells.
    ("charge_card", "shop/payment.py::charge_card#function"),
    ("Model", "shop/models.py::Model#class"),
    ("model", "shop/registry.py::model#function"),
    ("Order.total", "shop/models.py::Order.total#method"),
    ("Cart.total", "shop/models.py::Cart.total#method"),
    ("models.Order", "shop/models.py::Order#class"),
    ("FORMATPRICE", "web/price.ts::formatPrice#function"),
    // Beginnings, pieces and slips.
    ("charge_c", "shop/payment.py::charge_card#function"),
    ("formatPrise", "web/price.ts::formatPrice#function"),
    ("chrage_card", "shop/payment.py::charge_card#function"),
    // Names among words that say what they are of, and what others give for one.
    ("the Model class", "shop/models.py::Model#class"),
    ("def charge_card", "shop/payment.py::charge_card#function"),
    ("shop/models.py::Order.total#method", "shop/models.py::Order.total#method"),
    ("charge_card()", "shop/payment.py::charge_card#function"),
    // Words.
    ("cart total", "shop/models.py::Cart.total#method"),
    ("total Order", "shop/models.py::Order.total#method"),
    ("inventory total", "stock/inventory.go::Inventory.Total#method"),
    ("charge card", "shop/payment.py::charge_card#function"),
    ("inventory reserve", "stock/inventory.go::Inventory.Reserve#method"),
    // Descriptions, and changes as commits begin.
    ("how is the price shown to customers with its currency symbol", "web/price.ts::formatPrice#function"),
    ("takes stock out of the warehouse for an order that was paid", "stock/inventory.go::Inventory.Reserve#method"),
    ("payment: retry when the gateway times out while charging", "shop/payment.py::charge_card#function"),
    // Mixtures with terms and phrases.
    ("kind:class order", "shop/models.py::Order#class"),
    ("total lang:go", "stock/inventory.go::Inventory.Total#method"),
    ("total file:models Cart", "shop/models.py::Cart.total#method"),
    ("\"gateway timeout\"", "shop/payment.py::charge_card#function"),
];

#[test]
fn each_form_of_query_finds_it_first() {
    let place = Projects::shop();
    let wrong: Vec<String> = FIRST
        .iter()
        .map(|(query, first)| (query, first, place.ids(query)))
        .filter(|(_, first, found)| found.first().map(String::as_str) != Some(**first))
        .map(|(query, first, found)| format!("{query}: {first} is not the first of {found:?}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_exercises_code_comes_below_it() {
    let place = Projects::shop();
    let found = place.ids("parse_coupon");
    let last = ["examples/demo.py", "vendor/coupons/coupon.py", "shop/coupon_pb2.py", "tests/test_coupon.py"];
    assert_eq!(found[0], "shop/coupon.py::parse_coupon#function", "{found:?}");
    for path in last {
        assert!(found[1..].iter().any(|id| id.starts_with(path)), "{path} in {found:?}");
    }
    assert_eq!(place.ids("parse_coupon file:tests/*")[0], "tests/test_coupon.py::parse_coupon#function");
}

#[test]
fn a_name_that_hundreds_bear_is_found_where_it_is_defined() {
    let test = |n| format!("--- tests/rules/rule{n}.js\nconst ruleTester = new RuleTester();\nruleTester.run({n});\n");
    let body = "    this.rules.set(name, rule); // What a rule says is kept until it runs.\n".repeat(30);
    let class = format!("--- lib/tester.js\nclass RuleTester {{\n  add(name, rule) {{\n{body}  }}\n}}\n");
    let project: String = (0..150).map(test).chain([class]).collect();
    let place = Projects::new(&[("shop", &project)]);
    for query in ["RuleTester", "rule tester", "RULETESTER", "rule-tester"] {
        assert_eq!(place.ids(query)[0], "lib/tester.js::RuleTester#class", "{query}");
    }
}

#[test]
fn a_class_comes_before_what_makes_it() {
    let reader = "--- Reader.java\npublic class Reader {\n  private Reader(String from) { open(from); }\n  void open(String from) {}\n}\n";
    let place = Projects::new(&[("shop", reader)]);
    assert_eq!(place.ids("Reader")[..2], ["Reader.java::Reader#class", "Reader.java::Reader.Reader#method"]);
    assert_eq!(place.ids("Reader.Reader")[0], "Reader.java::Reader.Reader#method");
}

#[test]
fn what_is_defined_comes_before_what_is_bound_to_it() {
    let found = Projects::shop().ids("renderCart");
    assert_eq!(found[0], "web/cart.js::renderCart#function", "{found:?}");
    assert!(found.iter().any(|id| id.starts_with("web/bindings.js::renderCart")), "{found:?}");
}

#[test]
fn terms_filter_and_agree_with_the_parameters() {
    let place = Projects::shop();
    let in_go = place.search("total lang:go");
    assert!(ids(&in_go).iter().all(|id| id.starts_with("stock/")), "{in_go}");
    assert_eq!(ids(&in_go), ids(&place.ask("search_symbols", json!({"query": "total", "language": "go"}))));
    assert_eq!(ids(&in_go), ids(&place.ask("search_symbols", json!({"query": "total lang:golang", "language": "go"}))));
    // Filters alone list what passes them.
    assert_eq!(place.ids("kind:class file:shop/models.py").len(), 4);
    let both = json!({"query": "total kind:method", "kind": "function"});
    assert!(place.wrong(both).contains("`kind` is \"function\", but the query has kind:method"), "both");
    assert!(place.wrong(json!({"query": "a lang:go lang:rust"})).contains("language:go, but the query has"), "twice");
    assert!(place.wrong(json!({"query": "kind:clas order"})).contains("there is no kind \"clas\""), "unknown");
    assert!(place.wrong(json!({"query": "file:a[b x"})).contains("not a glob"), "a glob");
    let elsewhere = place.ids("parse_coupon -file:tests -file:vendor/**");
    assert!(
        !elsewhere.is_empty() && elsewhere.iter().all(|id| !id.starts_with("tests/") && !id.starts_with("vendor/"))
    );
    assert!(place.wrong(json!({"query": "-lang:go total"})).contains("`-file:`"), "what cannot be left out");
    assert!(place.wrong(json!({"query": "repo:x total", "repo": "y"})).contains("repo:x"), "two repositories");
    assert!(place.wrong(json!({"query": "\"\""})).contains("empty"), "nothing");
    // A text that only looks like a term is a word.
    for query in ["shop::models", "a:b total", "kind: total"] {
        place.search(query);
    }
}

#[test]
fn phrases_must_be_written_where_they_are_all_that_is_asked() {
    let place = Projects::shop();
    assert_eq!(place.ids("\"gateway timeout\""), ["shop/payment.py::charge_card#function"]);
    assert_eq!(place.search("\"gateway never written\"")["confidence"], "none");
    // In a description they count, and need not be written.
    let described = place.ids("charges the card of a customer again, after \"gateway never written\"");
    assert_eq!(described.first().map(String::as_str), Some("shop/payment.py::charge_card#function"), "{described:?}");
}

#[test]
fn a_score_is_what_its_parts_say() {
    let place = Projects::shop();
    let mut kinds_of_parts = 0;
    let orders = ["relevance", "combined", "centrality"];
    for order in orders {
        for (query, _) in FIRST {
            let answer = place.ask("search_symbols", json!({"query": query, "explain": true, "sort_by": order}));
            for hit in answer["results"].as_array().expect("a list") {
                let mut score = 0.0;
                for part in hit["explain"].as_array().expect("parts").iter().filter_map(Value::as_str) {
                    let (_, value) = part.rsplit_once(' ').expect("what, and how much");
                    kinds_of_parts += 1;
                    match value.strip_prefix('×') {
                        Some(times) => score *= times.parse::<f64>().expect("a number"),
                        None => score += value.parse::<f64>().expect("a number"),
                    }
                }
                let told = hit["score"].as_f64().expect("a score");
                assert!((score - told).abs() <= 0.5 + told / 500.0, "{query}: {score} is not {told}: {hit}");
            }
            assert!(answer["evidence"]["covered"].is_number(), "{answer}");
        }
    }
    assert!(kinds_of_parts > 100);
    let plain = place.search("total");
    assert!(plain.get("evidence").is_none() && plain["results"][0].get("explain").is_none(), "{plain}");
}

#[test]
fn functions_whose_names_a_change_says_come_before_those_that_only_hold_its_words() {
    let project = "--- shop.py
def declined(card, window):
    # a declined card is tried again within its retry window
    window.retry(card)
    return card.declined


def charge(card):
    \"\"\"Charges a card, and retries declined cards in a window.\"\"\"
    for window in card.windows:
        if not declined(card, window):
            return True
    return False


def retry_window_of(card):
    first = card.first
    last = card.last
    if first is None:
        return None
    if last is None:
        return first
    if last < first:
        return first
    length = last - first
    if card.is_foreign:
        length = length * 2
    return length
";
    let projects = Projects::new(&[("shop", project)]);
    let query = "Fix retry window of declined cards";
    let names = ["declined", "retry_window_of", "charge"];
    assert_eq!(projects.ids(query), names.map(|name| format!("shop.py::{name}#function")));
    let args = json!({"query": query, "explain": true});
    let answer = projects.ask("search_symbols", args);
    let scores =
        answer["results"].as_array().expect("a list").iter().map(|hit| hit["score"].as_f64().expect("a score"));
    assert!(scores.collect::<Vec<_>>().is_sorted_by(|a, b| a >= b), "{answer}");
    assert!(answer["results"][1]["explain"].to_string().contains("place among functions"), "{answer}");
}

#[test]
fn it_says_how_sure_it_is() {
    let place = Projects::shop();
    for query in ["charge_card", "Order.total", "charge card"] {
        assert_eq!(place.search(query)["confidence"], "high", "{query}");
    }
    // Another type's member, and a name that only looks alike, are not meant.
    for query in ["Zeppelin.charge_card", "charged_carts"] {
        assert_ne!(place.search(query)["confidence"], "high", "{query}");
    }
    let vague = place.search("where does an order of some customer get its sum and price from");
    assert_eq!(vague["confidence"], "medium", "{vague}");
    for query in [
        "qxzjvwk",
        "soprano violin orchestra",
        "simmer the onions in butter until they are golden",
        "galaxy telescope",
        "frobnicate_the_quux",
    ] {
        let answer = place.search(query);
        assert_eq!((&answer["confidence"], &answer["results"]), (&json!("none"), &json!([])), "{query}: {answer}");
        assert_eq!(answer["negative_evidence"]["verdict"], "not_found");
        assert!(answer["negative_evidence"]["ask"].is_string());
    }
    assert_eq!(place.search("galaxy telescope")["unknown_words"], json!(["galaxy", "telescope"]));
}

/// A shop of many commands, of which one pays back, and more files.
fn counters(more: &str) -> Projects {
    let command = |n: usize| {
        format!(
            "--- counter_{n}.py\ndef serve_{n}(customer):\n    basket = customer.basket({n})\n    return basket.ready\n"
        )
    };
    let others: String = (0..40).map(command).collect();
    let others: String = others
        + &["payment", "receipt", "gateway", "reason", "refund", "receipt_payment"]
            .map(|word| format!("--- {word}s.py\ndef print_{word}(paper):\n    paper.print({word})\n    paper.cut()\n    return paper\n"))
            .concat();
    let refund = "--- refunding.py\ndef refund_payment(receipt, reason):\n    gateway = receipt.gateway\n    \
                  gateway.refund(receipt.payment, reason)\n    receipt.refunded = True\n    return receipt\n";
    Projects::new(&[("shop", &format!("{refund}{others}{more}"))])
}

#[test]
fn a_description_that_few_symbols_fit_is_sure() {
    // One of the first is meant, although the second is near to it.
    let twin = "--- voiding.py\ndef void_payment(receipt, reason):\n    gateway = receipt.gateway\n    \
                gateway.refund(receipt.payment, reason)\n    receipt.voided = True\n    return receipt\n";
    let place = counters(twin);
    for query in
        ["refund the payment of a receipt through its gateway", "gateway: refund payment of a receipt with a reason"]
    {
        let answer = place.search(query);
        assert_eq!(answer["confidence"], "high", "{query}: {answer}");
        let first: Vec<String> = ids(&answer).into_iter().take(5).collect();
        assert!(first.contains(&"refunding.py::refund_payment#function".to_owned()), "{query}: {answer}");
    }
    // Forty answer this one.
    let vague = place.search("serve the basket of a customer that is ready");
    assert_eq!(vague["confidence"], "low", "{vague}");
    for query in ["tune the violin of the soprano before the concert", "gateway of a telescope for galaxies in orbit"] {
        assert_ne!(place.search(query)["confidence"], "high", "{query}");
    }
}

#[test]
fn a_context_is_sure_only_of_what_it_holds() {
    let place = counters("");
    let ask = |budget: u32| {
        let query = "refund the payment of a receipt through its gateway";
        place.ask("get_ranked_context", json!({"query": query, "token_budget": budget}))
    };
    let whole = ask(4_000);
    assert_eq!(whole["confidence"], "high", "{whole}");
    assert!(whole.get("more").is_none(), "{whole}");
    // Of the five of which one is described not all are here.
    let small = ask(260);
    assert_eq!((&small["confidence"], small["left_out"] == 0), (&json!("medium"), false), "{small}");
}

#[test]
fn overloads_are_one_answer() {
    let place = Projects::shop();
    let answer = place.search("Ledger.record");
    let found: Vec<&Value> = answer["results"].as_array().expect("a list").iter().collect();
    let records: Vec<&&Value> = found.iter().filter(|hit| hit["name"] == "record").collect();
    assert_eq!((records.len(), &records[0]["overloads"]), (1, &json!(3)), "{answer}");
    for number in 1..=3 {
        let id = format!("ledger/Ledger.java::Ledger.record#method~{number}");
        assert_eq!(place.ask("get_symbol_source", json!({"symbol_id": id}))["id"], id);
    }
    // Declarations are stood for by what has a body.
    let reading = place.search("readAmount");
    let first = &reading["results"][0];
    assert_eq!(
        (&first["id"], &first["overloads"]),
        (&json!("web/price.ts::readAmount#function~3"), &json!(3)),
        "{reading}"
    );
    // A symbol that is alone says nothing of overloads.
    assert!(place.search("charge_card")["results"][0].get("overloads").is_none());
}

#[test]
fn the_central_come_first_when_that_is_asked() {
    let place = Projects::shop();
    let sorted = |by: &str| ids(&place.ask("search_symbols", json!({"query": "total", "sort_by": by})));
    let (by_relevance, central, both) = (sorted("relevance"), sorted("centrality"), sorted("combined"));
    // Five functions use it, and none the others.
    assert_eq!(central[0], "shop/models.py::Order.total#method", "{central:?}");
    assert_eq!(both[0], "shop/models.py::Order.total#method", "{both:?}");
    let mut same = (by_relevance.clone(), central);
    same.0.sort();
    same.1.sort();
    assert_eq!(same.0, same.1);
    // The first result for that may be another than the judged one.
    let sure = |query: &str, by: &str| {
        let answer = place.ask("search_symbols", json!({"query": query, "sort_by": by}));
        (ids(&answer)[0].clone(), answer["confidence"].clone())
    };
    let named = ("shop/registry.py::model#function".to_owned(), json!("high"));
    assert_eq!(sure("model", "relevance"), named);
    let (first, confidence) = sure("model", "centrality");
    assert!(first != named.0 && confidence == "medium", "{first} {confidence}");
    let name = |(id, _): &(String, Value)| id.rsplit(['.', ':']).next().map(str::to_owned);
    for (query, _) in FIRST {
        let judged = sure(query, "relevance");
        for by in ["centrality", "combined"] {
            let shown = sure(query, by);
            assert!(shown.1 != "high" || name(&shown) == name(&judged), "{query}: {shown:?} {judged:?}");
        }
    }
    assert_eq!(sorted("relevance"), by_relevance);
}

/// Questions whose answers depend on centrality in any way, and others that find out who uses whom.
fn questions() -> Vec<(&'static str, Value)> {
    let described = "takes stock out of the warehouse for an order that was paid";
    let mut all = vec![
        ("search_symbols", json!({"query": "kind:method"})),
        ("get_symbol_importance", json!({"top_n": 5})),
        ("find_references", json!({"identifier": "total"})),
        ("get_related_symbols", json!({"symbol_id": "Order.total"})),
        ("get_call_hierarchy", json!({"symbol_id": "charge_card"})),
        ("get_context_bundle", json!({"symbol_id": "charge_card"})),
        ("get_repo_map", json!({"token_budget": 800})),
        ("get_repo_outline", json!({})),
        ("find_dead_code", json!({})),
        ("suggest_queries", json!({})),
    ];
    for query in ["total", "parse_coupon", "model", "order total", described, "payment: retry on a timeout"] {
        for by in ["relevance", "combined", "centrality"] {
            all.push(("search_symbols", json!({"query": query, "sort_by": by, "explain": true})));
        }
        for strategy in ["combined", "bm25", "centrality"] {
            all.push(("get_ranked_context", json!({"query": query, "strategy": strategy, "token_budget": 1500})));
        }
    }
    all
}

proptest! {
    // Each case indexes a project.
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, max_shrink_iters: 8, ..ProptestConfig::default() })]

    #[test]
    fn answers_do_not_depend_on_what_was_asked_before(order in Just((0..questions().len()).collect::<Vec<_>>()).prop_shuffle()) {
        let questions = questions();
        let ask = |place: &Projects, which: usize| {
            let (tool, args) = &questions[which];
            let mut answer = place.ask(tool, args.clone());
            let keys = answer.as_object_mut().expect("an answer is an object");
            keys.remove("indexed_at");
            let meta = keys.remove("_meta");
            // The two projects are told apart by where they are.
            let repo = meta.as_ref().and_then(|meta| meta["repo"].as_str()).expect("it says of what it speaks").to_owned();
            answer.to_string().replace(&repo, "the shop")
        };
        let (forwards, shuffled) = (Projects::shop(), Projects::shop());
        let expected: Vec<String> = (0..questions.len()).map(|which| ask(&forwards, which)).collect();
        for which in order {
            prop_assert_eq!(&ask(&shuffled, which), &expected[which], "{:?}", questions[which]);
        }
    }
}

#[test]
fn a_long_text_is_read_as_an_issue() {
    let place = Projects::shop();
    let log = "2024-01-01 00:00:00 INFO started kind:clas file:a[b\n".repeat(900);
    let issue = format!(
        "Payment is tried twice\n\n<!-- Describe the bug, with a coupon and a price -->\n**Steps**\nSee https://example.org/cart/render.\n\
        When the gateway times out, `charge_card` is called again.\n```\n{log}```\n  File \"/srv/shop/payment.py\", line 9, in charge_card\n"
    );
    assert!(issue.len() > 40_000);
    assert_eq!(place.ids(&issue)[0], "shop/payment.py::charge_card#function");
    let longer = place.search(&"word ".repeat(20_000));
    let hint = longer["_meta"]["hint"].as_str().unwrap_or_default();
    assert_eq!(hint, "`query` has 100000 bytes; the first 65536 are used", "{longer}");
}

#[test]
fn part_of_what_is_asked_is_answered_and_the_rest_named() {
    let place = Projects::shop();
    let answer = place.search("how are coupons frobnicated");
    assert_eq!(answer["confidence"], "none", "{answer}");
    assert_eq!(answer["unknown_words"], json!(["frobnicated"]), "{answer}");
    assert!(ids(&answer).iter().any(|id| id.contains("parse_coupon")), "{answer}");
    // A name is one word, however it is spelt.
    let spelt = place.search("where do ZorkBlatter zork_blatter and zorkBlatter parse the coupon of an order");
    assert_eq!(spelt["unknown_words"], json!(["zorkblatter"]), "{spelt}");
    assert_ne!(spelt["confidence"], "none", "{spelt}");
    // The known words may be common ones, which weigh little beside the unknown.
    let common = counters("").search("serve the basket of a customer with frobnicated zorks and quuxes");
    assert_eq!(common["confidence"], "none", "{common}");
    assert_eq!(common["unknown_words"], json!(["frobnicated", "zorks", "quuxes"]), "{common}");
    assert!(ids(&common).iter().all(|id| id.contains("serve_")) && !ids(&common).is_empty(), "{common}");
    // A quoted sentence that nobody wrote is a sentence.
    let quoted = place.ids("\"takes stock out of the warehouse for an order that was paid\"");
    assert_eq!(quoted.first().map(String::as_str), Some("stock/inventory.go::Inventory.Reserve#method"), "{quoted:?}");
}

#[test]
fn the_written_comes_before_the_alike() {
    let names = ["parse_config", "parser_config", "get_card_by_id_of_user", "get_card"];
    let project: String = names.iter().map(|name| format!("def {name}(): ...\n")).collect();
    let place = Projects::new(&[("shop", &format!("--- a.py\n{project}"))]);
    assert_eq!(place.ids("parseConfigX")[0], "a.py::parse_config#function");
    assert_eq!(place.ids("arser_config")[0], "a.py::parser_config#function");
    // Words that are a whole name, however many.
    assert_eq!(place.ids("get card by id of user")[0], "a.py::get_card_by_id_of_user#function");
}

#[test]
fn of_one_name_the_canonical_definition_comes_first() {
    let class = "public class Splitter {\n  public void split(String text) { text.trim(); }\n}\n";
    let project = format!(
        "--- android/src/Splitter.java\n{class}--- guava/src/Splitter.java\n{class}--- guava-gwt/src/Splitter.java\n{class}\
        --- aa/packages/urllib3/pool.py\ndef drain(pool):\n    \"\"\"Drains it.\"\"\"\n--- aa/pool.py\ndef drain(pool): ...\n\
        --- js/a/tool.js\n/*! Tool 2.0.1 | MIT License */\nfunction trim_all(x) {{ return x; }}\n--- js/z.js\nfunction trim_all(x) {{ return x; }}\n"
    );
    let place = Projects::new(&[("shop", &project)]);
    for (query, first) in [
        ("Splitter", "guava/src/Splitter.java::Splitter#class"),
        ("drain", "aa/pool.py::drain#function"),
        ("trim_all", "js/z.js::trim_all#function"),
    ] {
        assert_eq!(place.ids(query)[0], first, "{query}");
    }
}

#[test]
fn a_context_names_what_did_not_fit() {
    let lift = |n: usize, ship: &str| {
        format!(
            "def lift_crate_{n}(crate):\n    \"\"\"Lifts a crate from the {ship}.\"\"\"\n    return crate + {n}\n\n"
        )
    };
    let one: String = (0..12).map(|n| lift(n, "ship")).collect();
    let others: String = (20..26).map(|n| format!("--- m{n}.py\n{}", lift(n, "old ship"))).collect();
    let place = Projects::new(&[("shop", &format!("--- one.py\n{one}{others}"))]);
    let ask = |budget: u64| {
        let query = "where is a crate lifted from the ship";
        place.ask("get_ranked_context", json!({"query": query, "token_budget": budget}))
    };
    let list = |answer: &Value, key: &str| answer[key].as_array().cloned().unwrap_or_default();
    let id = |item: &Value| item["symbol_id"].as_str().expect("an item has an id").to_owned();
    let small = ask(600);
    let (sent, more): (Vec<String>, _) = (list(&small, "items").iter().map(id).collect(), list(&small, "more"));
    assert!(!more.is_empty() && more.iter().all(|id| !sent.iter().any(|sent| id == sent)), "{small}");
    assert!(tokens::estimate(&small.to_string()) <= 600, "{small}");
}

/// The files that an answer lists, in order.
fn listed(answer: &Value) -> Vec<(&str, &str)> {
    let files = answer["files"].as_array().map_or(&[][..], Vec::as_slice);
    files.iter().map(|file| (file["file"].as_str().expect("a path"), file["why"].as_str().expect("text"))).collect()
}

#[test]
fn a_context_lists_files_by_their_whole_text() {
    // No single definition of the mooring says what it is for; its file does, all over.
    let part = |name: &str, word: &str| format!("# The {word} of a ship.\n{name} = 1\n\n");
    let mooring = [("ROPE", "mooring"), ("KNOT", "harbour"), ("PILE", "quay"), ("TIDE", "mooring")];
    let mooring: String = mooring.iter().map(|(name, word)| part(name, word)).collect();
    let crane = "def lift(crate):\n    \"\"\"Lifts a crate of a ship to the quay of the harbour, at its mooring.\"\"\"\n    return crate\n";
    let test =
        format!("from harbour import crane\n# {}\ndef test_lift(): ...\n", "mooring quay harbour ship ".repeat(9));
    let page = "mooring quay harbour ship\n".repeat(20);
    let project = format!(
        "--- harbour/mooring.py\n{mooring}--- harbour/crane.py\n{crane}--- tests/test_crane.py\n{test}--- docs/quay.md\n{page}"
    );
    let place = Projects::new(&[("shop", &project)]);
    let ask =
        |query: &str, budget: u64| place.ask("get_ranked_context", json!({"query": query, "token_budget": budget}));
    let answer = ask("where is the mooring of a ship at the quay of the harbour", 2_000);
    // A test comes lower although it says it more often, and a document last.
    let files = [
        ("harbour/crane.py", "lift, text"),
        ("harbour/mooring.py", "text"),
        ("tests/test_crane.py", "text"),
        ("docs/quay.md", "text"),
    ];
    assert_eq!(listed(&answer), files, "{answer}");
    // A small budget is for the best symbol.
    let small = ask("where is the mooring of a ship at the quay of the harbour", 200);
    assert!(small.get("files").is_none(), "{small}");
    assert!(tokens::estimate(&small.to_string()) <= 200, "{small}");
}

#[test]
fn a_file_without_symbols_answers_by_its_text() {
    let project =
        "--- shop/banner.tmpl\n<div>{{ voucher }} for the checkout banner</div>\n--- shop/a.py\ndef charge(): ...\n";
    let place = Projects::new(&[("shop", project)]);
    let answer = place.ask("get_ranked_context", json!({"query": "where is the voucher of the checkout banner"}));
    assert_eq!(listed(&answer), [("shop/banner.tmpl", "text")], "{answer}");
    assert_eq!((&answer["confidence"], &answer["items"]), (&json!("low"), &json!([])), "{answer}");
    // Few of these words are there.
    let nothing =
        place.ask("get_ranked_context", json!({"query": "soprano violin concert with a banner of the opera"}));
    assert!(nothing.get("files").is_none() && nothing["confidence"] == "none", "{nothing}");
}

#[test]
fn several_repositories_answer_as_one() {
    // The same function twice: once among few others, once among many of the same words.
    let crowd: String = (0..40).map(|n| format!("def unload_crate_{n}(crate):\n    return crate + {n}\n\n")).collect();
    let target = "def unload_ship(crate, harbour):\n    \"\"\"Moves every crate of a ship to the harbour.\"\"\"\n    return harbour + crate\n";
    let (small, large) = (format!("--- port.py\n{target}"), format!("--- port.py\n{target}\n{crowd}"));
    let place = Projects::new(&[("shop", &small), ("large", &large), ("other", "--- a.py\ndef charge(): ...\n")]);
    let ask = |query: &str, repos: Value| place.ask("search_symbols", json!({"query": query, "repos": repos}));
    let answer = ask("moves each crate of the ship to the harbour", json!(["*"]));
    let score = |repo: &str| {
        let results = answer["results"].as_array().expect("a list");
        let of = |hit: &&Value| {
            let (hit_repo, name) = (hit["repo"].as_str().expect("it is said whose it is"), &hit["name"]);
            name == "unload_ship" && hit_repo.starts_with(&format!("local/{repo}-"))
        };
        results.iter().find(of).unwrap_or_else(|| panic!("{repo} in {answer}"))["score"].as_f64().expect("a number")
    };
    // The very same text scores the same in both, but for how long other texts of each repository are.
    assert!((score("shop") / score("large") - 1.0).abs() < 0.02, "{answer}");
    let alone = |root: &str| {
        let query = "moves each crate of the ship to the harbour";
        place.ask("search_symbols", json!({"query": query, "repo": place.root(root)}))["results"][0]["score"].clone()
    };
    assert_ne!(alone("shop"), alone("large"));
    // One that has nothing does not speak for the other that has.
    let names = [place.root("shop"), place.root("other")];
    let listed = ask("file:a.py", json!(names));
    assert_eq!((ids(&listed), &listed["confidence"]), (vec!["a.py::charge#function".to_owned()], &json!("high")));
    assert_eq!(ask("charge", json!(names))["results"].as_array().map(Vec::len), Some(1));
    let named = place.ask("search_symbols", json!({"query": format!("charge repo:{}", place.root("other").display())}));
    assert_eq!(ids(&named), ["a.py::charge#function"]);
}

#[test]
fn a_hit_is_whole_whatever_the_budget() {
    let class = |n: usize| {
        format!(
            "--- service-{n}/src/main/java/org/example/billing/Settlement{n}.java\npackage org.example.billing;\n\
            public class Settlement{n} {{\n    /** Settles what a customer of the region still owes to the shop. Twice. */\n    \
            public SettlementResult settleOutstandingBalance(Customer customer, Currency currency) {{ return null; }}\n}}\n"
        )
    };
    let long: String = (0..30).map(|n| format!("argument_{n}: dict[str, int], ")).collect();
    let long = format!("--- long.py\ndef settleEverything({long}last=1):\n    pass\n");
    let place = Projects::new(&[("shop", &((0..12).map(class).collect::<String>() + &long))]);
    let ask = |max_tokens: u64, max_results: u64| {
        let query = "settleOutstandingBalance";
        place.ask("search_symbols", json!({"query": query, "max_tokens": max_tokens, "max_results": max_results}))
    };
    let whole = ask(8000, 12);
    let hits = whole["results"].as_array().expect("a list");
    assert_eq!(hits.len(), 12);
    for hit in hits {
        assert_eq!(hit["name"], "settleOutstandingBalance");
        assert_eq!(hit["kind"], "method");
        let signature = "public SettlementResult settleOutstandingBalance(Customer customer, Currency currency)";
        assert_eq!(hit["signature"], signature);
        assert_eq!(hit["summary"], "Settles what a customer of the region still owes to the shop.");
        let id = format!("{}::", hit["file"].as_str().expect("a file"));
        assert!(hit["id"].as_str().is_some_and(|whole| whole.starts_with(&id)) && hit["line"] == 4, "{hit}");
    }
    // The budget decides how many there are, and nothing else.
    for max_tokens in [250, 400, 700, 1000] {
        let cut = ask(max_tokens, 12);
        let kept = cut["results"].as_array().expect("a list");
        assert!((1..12).contains(&kept.len()), "{max_tokens}: {}", kept.len());
        assert_eq!(kept[..], hits[..kept.len()], "{max_tokens}");
        assert!(cut.get("shortened").is_none() && cut["next_cursor"].is_string(), "{cut}");
    }
    // Keys do not come and go.
    let undocumented = place.ask("search_symbols", json!({"query": "settleEverything"}))["results"][0].clone();
    let keys = |hit: &Value| hit.as_object().expect("a hit").keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&undocumented), keys(&hits[0]));
    assert_eq!(undocumented["summary"], "");
    let signature = undocumented["signature"].as_str().expect("text");
    assert!(signature.ends_with(": dict[str, int], …") && signature.chars().count() <= 200, "{signature}");
}

#[test]
fn a_list_says_what_it_leaves_out() {
    let many: String = (0..120).map(|n| format!("--- pkg/m{n}.py\ndef settle(x):\n    return x + {n}\n")).collect();
    let place = Projects::new(&[("shop", &many)]);
    let ask = |max_results: u64, cursor: &Value| {
        place.ask("search_symbols", json!({"query": "settle", "max_results": max_results, "cursor": cursor}))
    };
    // Page after page, each once, to the end, which alone has nothing behind it.
    let (mut all, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = ask(50, &cursor);
        all.extend(ids(&page));
        cursor = page["next_cursor"].clone();
        assert_eq!(page["truncated"].is_null(), cursor.is_null(), "{page}");
        if cursor.is_null() {
            break;
        }
        assert!(page["total"].as_u64().expect("it says how many") > all.len() as u64, "{page}");
    }
    let n_found = all.len();
    all.sort();
    all.dedup();
    assert_eq!((n_found, all.len()), (120, 120));
    let first = ask(50, &Value::Null);
    assert!(first["at_least"] == true || first["total"] == 120, "{first}");
    let count =
        |project: &Projects, query: &str| project.ask("search_symbols", json!({"query": query, "count_only": true}));
    assert_eq!(count(&place, "settle")["count"], 120);
    assert!(count(&place, "settle")["at_least"].is_null());
}

/// Ids and scores of all answers to a query, in pages of `size`.
fn in_pages(place: &Projects, query: &str, size: u64) -> Vec<(String, u64)> {
    let (mut all, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let args = json!({"query": query, "max_results": size, "cursor": cursor, "max_tokens": 100_000});
        let page = place.ask("search_symbols", args);
        let scores = page["results"].as_array().expect("a list").iter().map(|hit| hit["score"].as_u64().expect("one"));
        all.extend(ids(&page).into_iter().zip(scores));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            return all;
        }
    }
}

#[test]
fn pages_are_parts_of_one_order() {
    // All say the words, the later ones in their names, and the words of the first are few: a closer look prefers others.
    let said = |n: usize| format!("def paint_{n}(x):\n    \"\"\"Ship the parcel.\"\"\"\n    return x\n");
    let named = |n: usize| {
        format!(
            "def ship_parcel_{n}(x):\n    queue, weight, door = x.ship, x.parcel, {n}\n    return queue + weight + door\n"
        )
    };
    let project: String = (0..500).map(said).chain((0..700).map(named)).collect();
    let place = Projects::new(&[("shop", &format!("--- a.py\n{project}"))]);
    for query in ["how is a parcel shipped to its door", "Fix the ship of a parcel", "ship_parcel"] {
        let all = in_pages(&place, query, 300);
        assert!(all.is_sorted_by(|a, b| a.1 >= b.1), "{query}");
        let mut each: Vec<&String> = all.iter().map(|(id, _)| id).collect();
        each.sort();
        each.dedup();
        assert_eq!(each.len(), all.len(), "{query}");
        assert!(all.len() >= 700, "{query}: {}", all.len());
        // Pages of another size are cut from the same order.
        let other = in_pages(&place, query, 170);
        assert!(all == other, "{query}");
    }
}

#[test]
fn what_a_program_made_comes_after_what_people_write() {
    let getters: String = (0..400)
        .map(|n| format!("\ntype RefundPayment{n} struct{{ Order string }}\n\nfunc (x *RefundPayment{n}) GetRefundPayment() string {{ return x.Order }}\n"))
        .collect();
    let written = "package src\n\n// RefundPayment gives the money of an order back.\nfunc RefundPayment(order string) error {\n\treturn nil\n}\n";
    let shims: String = (0..400)
        .map(|n| format!("export interface RefundPaymentShim{n} {{ refund(payment: string): void }}\n"))
        .collect();
    let project = format!(
        "--- src/gen/payment.go\n// Code generated by protoc-gen-go. DO NOT EDIT.\n\npackage gen\n{getters}\
        --- src/gen/types.ts\n/** This file was automatically generated by running a tool. */\n{shims}\
        --- vendor/pay/pay.go\npackage pay\n\n// RefundPayment gives a payment back.\nfunc RefundPayment(order string) error {{\n\treturn nil\n}}\n\
        --- src/payment.go\n{written}"
    );
    let place = Projects::new(&[("shop", &project)]);
    let first = "src/payment.go::RefundPayment#function";
    for query in [
        "refund a payment",
        "how is a payment refunded",
        "Fix the refund of a payment",
        "refund payment",
        "RefundPayment",
    ] {
        let answer = place.search(query);
        assert_eq!(ids(&answer)[0], first, "{query}: {answer}");
        let origins: Vec<&Value> =
            answer["results"].as_array().expect("a list").iter().map(|hit| &hit["origin"]).collect();
        assert_eq!((origins[0], origins.len()), (&Value::Null, 10), "{query}");
        assert!(origins[1..].iter().all(|origin| *origin == "generated" || *origin == "vendored"), "{query}: {answer}");
    }
    let context = place.ask("get_ranked_context", json!({"query": "how is a payment refunded", "token_budget": 2000}));
    let items = context["items"].as_array().expect("a list");
    assert_eq!(items[0]["symbol_id"], first, "{context}");
    let is_made = |item: &&Value| item["symbol_id"].as_str().is_some_and(|id| id.starts_with("src/gen"));
    assert!(items.iter().filter(is_made).count() <= 1, "{context}");
    // Where nothing else is wanted, it is found.
    assert!(place.ids("refund a payment file:src/gen/**").len() == 10);
}

#[test]
fn of_names_that_are_as_near_the_one_of_the_same_letters_comes_first() {
    let names = ["ParseHeader", "parseHeader", "parse_header", "PARSE_HEADER"];
    let project: String = names.iter().map(|name| format!("def {name}(): ...\n")).collect();
    let place = Projects::new(&[("shop", &format!("--- a.py\n{project}"))]);
    for (query, first) in [
        ("parseHaeder", "parseHeader"),
        ("ParseHaeder", "ParseHeader"),
        ("parse_haeder", "parse_header"),
        ("PARSE_HEADR", "PARSE_HEADER"),
    ] {
        assert_eq!(place.ids(query)[0], format!("a.py::{first}#function"), "{query}");
    }
}

#[test]
fn of_one_name_in_several_languages_the_one_that_code_uses_comes_first() {
    let rules: String = (0..5).map(|n| format!(".page{n} .Button {{ color: red }}\n")).collect();
    let users: String = (0..4)
        .map(|n| format!("--- web/page{n}.ts\nimport {{ Button }} from './button';\nexport function page{n}() {{ return Button({n}); }}\n"))
        .collect();
    let project = format!(
        "--- web/a.css\n.Button {{ color: blue }}\n{rules}--- api/a.proto\nmessage Button {{ string label = 1; }}\n\
        --- web/button.ts\nexport function Button(label: number) {{ return label; }}\n{users}"
    );
    let place = Projects::new(&[("shop", &project)]);
    for query in ["Button", "button"] {
        let found = place.ids(query);
        assert_eq!(found[0], "web/button.ts::Button#function", "{query}: {found:?}");
    }
}

/// The spans of source that an answer sent: file, first line, number of lines.
fn sent(place: &Projects, answer: &Value) -> Vec<(String, u64, u64)> {
    let items = answer["items"].as_array().expect("a list");
    let whole = items.iter().filter(|item| item["source"].is_string());
    let span = |item: &Value| {
        let id = item["symbol_id"].as_str().expect("an id");
        let symbol = place.ask("get_symbol_source", json!({"symbol_id": id}));
        assert_eq!(symbol["source"], item["source"], "it is whole");
        let line = |key: &str| symbol[key].as_u64().expect("a line");
        (symbol["file"].as_str().expect("a file").to_owned(), line("line"), line("end_line"))
    };
    whole.map(span).collect()
}

#[test]
fn files_are_hits_where_they_are_asked_for() {
    let notes = "--- Dockerfile
FROM scratch
HEALTHCHECK CMD curl voucher-service
--- app/voucher.py
def redeem(voucher):
    return voucher
--- app/till.py
from voucher import redeem


def sell(thing):
    return redeem(thing)
--- docs/voucher-rules.md
A voucher is redeemed once.
--- docs/sell.md
How to sell a thing.
";
    let place = Projects::new(&[("shop", notes)]);
    let files = |query: &str| -> Vec<String> {
        let answer = place.ask("search_symbols", json!({"query": query, "kind": "file"}));
        let results = answer["results"].as_array().expect("a list");
        assert!(results.iter().all(|hit| hit["kind"] == "file" && hit["id"] == hit["file"]), "{answer}");
        results.iter().filter_map(|hit| Some(hit["file"].as_str()?.to_owned())).collect()
    };
    assert_eq!(files("healthcheck of the voucher service")[0], "Dockerfile");
    assert_eq!(files("Dockerfile"), ["Dockerfile"]);
    assert_eq!(files("voucher")[0], "app/voucher.py", "of that name, but for its ending");
    assert_eq!(files("redeem file:app/**").len(), 2);
    // A bare name means the file that defines it before those that are called so.
    assert_eq!(files("sell")[..2], ["app/till.py", "docs/sell.md"]);
    assert_eq!(files("file:*.md"), ["docs/sell.md", "docs/voucher-rules.md"]);
    assert_eq!(files("soprano"), [""; 0]);
    let answer = place.ask("search_symbols", json!({"query": "redeem kind:file"}));
    assert_eq!(answer["results"][0]["signature"], "python, 2 lines", "{answer}");
    assert_eq!(answer["results"][0]["summary"], "redeem", "{answer}");
    assert!(place.call("get_ranked_context", json!({"query": "redeem kind:file"})).is_error);
}

#[test]
fn context_names_users_and_tests_of_the_best() {
    let project = "--- price.py
def reduced(price, share):
    \"\"\"Lowers a price by a share, never below nothing.\"\"\"
    return max(0, price * (1 - share))


def again(price):
    return reduced(price, 1) if price else again(0)
--- till.py
from price import reduced


def sale(prices):
    return [reduced(price, 0.5) for price in prices] + [reduced(1, 1)]


def gift(price):
    return reduced(price, 1)


def unrelated():
    return gift
--- tests/test_till.py
from till import sale


def test_sale_halves():
    assert sale([2]) == [1]
";
    let place = Projects::new(&[("shop", project)]);
    let answer = place.ask("get_ranked_context", json!({"query": "reduced"}));
    assert_eq!(answer["items"][0]["symbol_id"], "price.py::reduced#function", "{answer}");
    let users = json!(["till.py::sale#function", "price.py::again#function", "till.py::gift#function"]);
    assert_eq!(answer["items"][0]["used_by"], users, "{answer}");
    assert_eq!(answer["items"][0]["tested_by"], json!(["tests/test_till.py::test_sale_halves#function"]), "{answer}");
    // A small budget is for sources.
    let small = place.ask("get_ranked_context", json!({"query": "reduced", "token_budget": 500}));
    assert_eq!(small["items"][0].get("used_by"), None, "{small}");
}

#[test]
fn several_repositories_share_the_budget_of_a_context() {
    let music = "--- organ.py
def pipe_length(note):
    \"\"\"Length of an organ pipe for a note.\"\"\"
    return 8 / 2 ** (note / 12)
";
    let opera = "--- opera.py
def pipe_length_of_organ(note):
    \"\"\"The length of the pipe of an organ that plays a note.\"\"\"
    return 8
";
    let place = Projects::new(&[("shop", SHOP), ("music", music), ("opera", opera)]);
    let roots: Vec<PathBuf> = ["shop", "music", "opera"].iter().map(|name| place.root(name)).collect();
    let asked = json!({"query": "length of an organ pipe", "repos": roots, "token_budget": 1200});
    let answer = place.ask("get_ranked_context", asked.clone());
    let of = |answer: &Value| -> Vec<String> {
        let all = answer["repositories"].as_array().expect("a list");
        all.iter().filter_map(|one| Some(one["repo"].as_str()?.split('-').next()?.to_owned())).collect()
    };
    let mut named = of(&answer);
    named.sort();
    assert_eq!(named, ["local/music", "local/opera"], "the shop has no organ: {answer}");
    assert!(tokens::of_json(&answer) <= 1200, "{answer}");
    for one in answer["repositories"].as_array().expect("a list") {
        assert!(one["items"][0]["source"].as_str().is_some_and(|source| source.contains("return 8")), "{one}");
    }
    let named = place.ask("get_ranked_context", json!({"query": "apply_coupon", "repos": ["*"]}));
    assert_eq!(of(&named), ["local/shop"], "{named}");
    let nothing = place.ask("get_ranked_context", json!({"query": "soprano violin", "repos": ["*"]}));
    assert!(nothing["negative_evidence"].is_object() && nothing["confidence"] == "none", "{nothing}");
    let both = place.call("get_ranked_context", json!({"query": "a", "repo": "shop", "repos": ["*"]}));
    assert!(both.is_error, "{}", both.text);
}

#[test]
fn context_is_packed_into_its_budget() {
    let place = Projects::shop();
    let answer = place.ask("get_ranked_context", json!({"query": "order total"}));
    let items = answer["items"].as_array().expect("a list");
    assert_eq!(items[0]["relevance_score"], 1.0, "{answer}");
    for item in items {
        let of = |key: &str| item[key].as_f64().expect("a score");
        let combined = 10.0 * of("relevance_score") + of("centrality_score") / 200.0;
        assert!((combined - of("combined_score")).abs() < 0.01, "{item}");
    }
    let spans = sent(&place, &answer);
    for (place, (file, start, end)) in spans.iter().enumerate() {
        let crosses = |(other, first, last): &(String, u64, u64)| other == file && first <= end && start <= last;
        assert!(!spans[place + 1..].iter().any(crosses), "{file}:{start} is sent twice in {answer}");
    }
    let classes =
        place.ask("get_ranked_context", json!({"query": "order", "include_kinds": ["class"], "scope": "shop"}));
    let ids: Vec<&str> =
        classes["items"].as_array().expect("a list").iter().filter_map(|item| item["symbol_id"].as_str()).collect();
    assert!(!ids.is_empty() && ids.iter().all(|id| id.starts_with("shop/") && id.ends_with("#class")), "{classes}");
    let central = place.ask("get_ranked_context", json!({"query": "total", "strategy": "centrality"}));
    assert_eq!(central["items"][0]["symbol_id"], "shop/models.py::Order.total#method", "{central}");
    assert_eq!(place.ask("get_ranked_context", json!({"query": "soprano violin"}))["items"], json!([]));
    assert!(place.call("get_ranked_context", json!({"query": "total", "token_budget": 20})).is_error);
    assert!(place.call("get_ranked_context", json!({"query": "total", "include_kinds": ["clas"]})).is_error);
}

#[test]
fn small_symbols_go_before_a_large_one_that_leaves_them_no_room() {
    let large: String = (0..60).map(|n| format!("    crane = lift(crane, {n})\n")).collect();
    let project = format!(
        "--- a.py\ndef crane(crane):\n{large}\n\ndef crane_small(x):\n    return x\n\n\ndef crane_tiny(y):\n    return y\n"
    );
    let place = Projects::new(&[("shop", &project)]);
    let answer = place.ask("get_ranked_context", json!({"query": "crane", "token_budget": 600}));
    let of = |key: &str| -> Vec<&str> {
        let items = answer["items"].as_array().expect("a list");
        items.iter().filter(|item| item[key].is_string()).filter_map(|item| item["symbol_id"].as_str()).collect()
    };
    let mut whole = of("source");
    whole.sort_unstable();
    assert_eq!(whole, ["crane", "crane_small", "crane_tiny"].map(|name| format!("a.py::{name}#function")), "{answer}");
    assert_eq!(having(&answer, "goes_on_at_line"), ["a.py::crane#function"], "{answer}");
}

/// The ids of a context's items that have something under a key.
fn having<'a>(answer: &'a Value, key: &str) -> Vec<&'a str> {
    let items = answer["items"].as_array().expect("a list");
    items.iter().filter(|item| !item[key].is_null()).filter_map(|item| item["symbol_id"].as_str()).collect()
}

/// A class of so many methods.
fn crane(name: &str, n_methods: usize) -> String {
    let method = |n: usize| {
        format!("    def lift_{n}(self, load):\n        self.load = load + {n}\n        return self.load\n\n")
    };
    format!("class {name}:\n{}", (0..n_methods).map(method).collect::<String>())
}

#[test]
fn the_best_comes_in_some_form_whatever_the_budget() {
    let others: String = (0..30).map(|n| format!("--- m{n}.py\ndef crane_of_{n}(x):\n    return x + {n}\n")).collect();
    let place = Projects::new(&[("shop", &format!("--- crane.py\n{}{others}", crane("Crane", 60)))]);
    for budget in [260, 500, 1_000, 2_000] {
        let answer = place.ask("get_ranked_context", json!({"query": "Crane", "token_budget": budget}));
        let best = &answer["items"][0];
        assert_eq!(best["symbol_id"], "crane.py::Crane#class", "{budget}: {answer}");
        assert!(best["signature"].is_string(), "{best}");
        if budget >= 500 {
            let outline = best["outline"].as_array().expect("what is too large comes as an outline");
            let left_out = best["outline_left_out"].as_u64().unwrap_or(0);
            assert_eq!(outline.len() as u64 + left_out, 60);
            assert_eq!(outline[0]["id"], "crane.py::Crane.lift_0#method");
        }
        // Hits that did not fit come next, and none comes again.
        let (mut seen, mut cursor) = (having(&answer, "line").join(" "), answer["next_cursor"].clone());
        assert_eq!(cursor.is_null(), answer["left_out"] == 0, "{answer}");
        for _ in 0..40 {
            if cursor.is_null() {
                break;
            }
            let args = json!({"query": "Crane", "token_budget": budget, "cursor": cursor});
            let page = place.ask("get_ranked_context", args);
            for id in having(&page, "line") {
                assert!(!seen.contains(id), "{id} again in {page}");
                seen = format!("{seen} {id}");
            }
            cursor = page["next_cursor"].clone();
        }
        assert!(cursor.is_null() && seen.contains("crane_of_29"), "{seen}");
    }
    let whole = place.ask("get_ranked_context", json!({"query": "Crane", "token_budget": 8_000}));
    assert_eq!(having(&whole, "source")[0], "crane.py::Crane#class");
    // Where not even that fits, it is said how much it takes.
    let small = place.call("get_ranked_context", json!({"query": "Crane", "token_budget": 150}));
    let needed = small.value["details"]["token_budget"].as_u64().unwrap_or_else(|| panic!("{}", small.text));
    let enough = place.ask("get_ranked_context", json!({"query": "Crane", "token_budget": needed}));
    assert_eq!(having(&enough, "signature"), ["crane.py::Crane#class"]);
}

#[test]
fn a_class_comes_whole_with_the_members_that_came_before_it() {
    let project = format!("--- dock.py\n{}", crane("Dock", 4).replace("lift_2", "dock_ships"));
    let place = Projects::new(&[("shop", &project)]);
    let answer = place.ask("get_ranked_context", json!({"query": "dock_ships dock", "token_budget": 2_000}));
    assert_eq!(having(&answer, "source"), ["dock.py::Dock#class"], "{answer}");
    assert!(having(&answer, "signature").is_empty(), "{answer}");
}

#[test]
fn copies_are_sent_once() {
    let text = crane("Dock", 3);
    let place = Projects::new(&[("shop", &format!("--- a/dock.py\n{text}--- b/dock.py\nLIMIT = 3\n{text}"))]);
    for query in ["Dock", "lift_1", "lift the load of a dock"] {
        let args = json!({"query": query, "token_budget": 4_000, "strategy": "bm25"});
        let answer = place.ask("get_ranked_context", args);
        let sources: String =
            answer["items"].as_array().expect("a list").iter().filter_map(|item| item["source"].as_str()).collect();
        assert!(sources.matches("load + 1").count() <= 1, "{query}: {answer}");
    }
}

#[test]
fn a_context_of_nothing_says_where_it_was_looked_for() {
    let place = Projects::shop();
    let answer = place.ask("get_ranked_context", json!({"query": "chrgecardd"}));
    assert_eq!((&answer["confidence"], &answer["items"]), (&json!("none"), &json!([])), "{answer}");
    assert!(answer["negative_evidence"]["scanned_symbols"].as_u64().is_some_and(|n| n > 10), "{answer}");
    let unknown = place.ask("get_ranked_context", json!({"query": "soprano violin"}));
    assert_eq!(unknown["unknown_words"], json!(["soprano", "violin"]), "{unknown}");
}

#[test]
fn no_budget_is_ever_exceeded() {
    let place = Projects::shop();
    let queries =
        ["order total", "charge the card of a customer", "Model", "kind:method", "inventory", "render cart price"];
    let strategies = ["combined", "bm25", "centrality"];
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig { cases: 60, ..ProptestConfig::default() });
    let cases = (150_usize..3_000, 0..queries.len(), 0..strategies.len(), any::<bool>());
    let result = runner.run(&cases, |(budget, query, strategy, compact)| {
        let format = if compact { "compact" } else { "json" };
        let args = json!({"query": queries[query], "token_budget": budget, "strategy": strategies[strategy], "format": format});
        let answer = place.call("get_ranked_context", args);
        if answer.is_error {
            let needed = answer.value["details"]["token_budget"].as_u64();
            prop_assert!(needed.is_some_and(|needed| needed > budget as u64 && needed < 300), "{}", answer.text);
        } else {
            prop_assert!(tokens::estimate(&answer.text) <= budget, "{budget}: {}", answer.text);
            let has_candidates = answer.value["candidates"].is_array();
            prop_assert!(has_candidates || !having(&answer.value, "line").is_empty(), "{}", answer.text);
        }
        let map = place.call("get_repo_map", json!({"token_budget": budget, "format": format}));
        if map.is_error {
            let needed = map.value["details"]["token_budget"].as_u64();
            prop_assert!(needed.is_some_and(|needed| needed > budget as u64 && needed < 300), "{}", map.text);
        } else {
            prop_assert!(tokens::estimate(&map.text) <= budget, "{budget}: {}", map.text);
        }
        Ok(())
    });
    result.unwrap_or_else(|err| panic!("{err}"));
}

#[test]
fn what_is_suggested_finds_something() {
    let place = Projects::shop();
    let answer = place.ask("suggest_queries", json!({}));
    let examples = answer["example_queries"].as_array().expect("a list");
    assert!(examples.iter().any(|example| example["tool"] == "search_symbols"), "{answer}");
    for example in examples {
        let found = place.call(example["tool"].as_str().expect("a tool"), example["arguments"].clone());
        assert!(!found.is_error && found.found, "{example}: {}", found.text);
        if example["tool"] == "search_symbols" {
            assert_ne!(found.value["confidence"], "none", "{example}");
        }
    }
}

#[test]
fn relatives_outside_of_tests_come_first() {
    let answer =
        Projects::shop().ask("get_related_symbols", json!({"symbol_id": "shop/coupon.py::parse_coupon#function"}));
    let related = answer["related"].as_array().expect("a list");
    let is_test =
        |item: &Value| item["id"].as_str().is_some_and(|id| id.starts_with("tests/") || id.starts_with("vendor/"));
    let first = related.iter().position(is_test).expect("a test uses it");
    assert!(first > 0, "{answer}");
}
