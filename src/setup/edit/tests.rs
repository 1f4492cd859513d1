//! Edits keep every byte that is not the entry's.

use expect_test::{Expect, expect};
use serde_json::{Map, Value, json};

use super::{Error, Format, Place, get, put, remove, replace_in_list};

fn entry(value: Value) -> Map<String, Value> {
    value.as_object().expect("it is written as one").clone()
}

fn plain() -> Map<String, Value> {
    entry(json!({"command": "/bin/codelode", "args": ["serve", "--format", "compact"]}))
}

fn path(format: Format) -> Vec<String> {
    let key = match format {
        Format::Json => "mcpServers",
        Format::Toml => "mcp_servers",
        Format::Yaml => "extensions",
    };
    vec![key.to_owned()]
}

/// Puts an entry, and checks what holds for every text: it can be read back, a second time changes nothing, every
/// letter of the old text is there still, and only the entry goes again.
fn check(format: Format, text: &str, expected: Expect) {
    let path = path(format);
    let place = Place { path: &path, name: "codelode" };
    let after = put(format, text, place, &plain()).expect("the text is edited");
    expected.assert_eq(&after);
    assert_eq!(get(format, &after, place), Ok(Some(Value::Object(plain()))));
    assert_eq!(put(format, &after, place, &plain()).as_deref(), Ok(after.as_str()), "a second time changes nothing");
    // An empty table of YAML loses its braces, for want of another way.
    let kept = if format == Format::Yaml { text.replace(" {}", "") } else { text.to_owned() };
    let mut letters = after.chars();
    assert!(kept.chars().all(|old| letters.any(|new| new == old)), "something of\n{text}\nis lost from\n{after}");
    let back = remove(format, &after, place).expect("the entry is removed");
    assert_eq!(get(format, &back, place), Ok(None));
    if !text.is_empty() && get(format, text, place) == Ok(None) {
        let key = &path[0];
        let spaceless = |text: &str| {
            let text: String = text.chars().filter(|c| !c.is_whitespace() && *c != ',').collect();
            text.replace(&format!("\"{key}\":{{}}"), "").replace(&format!("{key}:{{}}"), "")
        };
        assert_eq!(spaceless(&back), spaceless(text), "only the entry goes");
    }
}

#[test]
fn json_keeps_comments_order_and_indentation() {
    let json = |text: &str, expected: Expect| check(Format::Json, text, expected);
    json(
        "",
        expect![[r#"
        {
          "mcpServers": {
            "codelode": {
              "command": "/bin/codelode",
              "args": ["serve", "--format", "compact"]
            }
          }
        }
    "#]],
    );
    json(
        "{}",
        expect![[r#"
        {
          "mcpServers": {
            "codelode": {
              "command": "/bin/codelode",
              "args": ["serve", "--format", "compact"]
            }
          }
        }"#]],
    );
    json(
        "// Mine.\n{\n\t\"b\": 1, // one\n\t/* servers */\n\t\"mcpServers\": {\n\t\t\"other\": { \"command\": \"x\" } // keep\n\t},\n\t\"a\": [1,2]\n}",
        expect![[r#"
            // Mine.
            {
            	"b": 1, // one
            	/* servers */
            	"mcpServers": {
            		"other": { "command": "x" }, // keep
            		"codelode": {
            			"command": "/bin/codelode",
            			"args": ["serve", "--format", "compact"]
            		}
            	},
            	"a": [1,2]
            }"#]],
    );
    json(
        "{\"other\":1,\"a\":{ \"b\" : [] }}",
        expect![[
            r#"{"other":1,"a":{ "b" : [] }, "mcpServers": {"codelode":{"command":"/bin/codelode","args":["serve","--format","compact"]}}}"#
        ]],
    );
    json(
        "{\"mcpServers\": {\"other\": {}}}\n",
        expect![[r#"
        {"mcpServers": {"other": {}, "codelode": {"command":"/bin/codelode","args":["serve","--format","compact"]}}}
    "#]],
    );
    json(
        "{\"mcpServers\": {}, \"other\": 1}",
        expect![[
            r#"{"mcpServers": {"codelode": {"command":"/bin/codelode","args":["serve","--format","compact"]}}, "other": 1}"#
        ]],
    );
    json(
        "{\n  \"a\": 1,\n\n  \"mcpServers\": { \"other\": {} } /* one */\n\n}\n",
        expect![[r#"
        {
          "a": 1,

          "mcpServers": { "other": {}, "codelode": {"command":"/bin/codelode","args":["serve","--format","compact"]} } /* one */

        }
    "#]],
    );
    json(
        "{ \"a\": 1,\n  \"other\": { \"x\": 2 } }",
        expect![[r#"
        { "a": 1,
          "other": { "x": 2 },
          "mcpServers": {
            "codelode": {
              "command": "/bin/codelode",
              "args": ["serve", "--format", "compact"]
            }
          } }"#]],
    );
    json(
        "{\n  \"mcpServers\": { // none\n    // yet\n  },\n  \"other\": 1 // last\n  // end\n}",
        expect![[r#"
        {
          "mcpServers": { // none
            "codelode": {
              "command": "/bin/codelode",
              "args": ["serve", "--format", "compact"]
            }
            // yet
          },
          "other": 1 // last
          // end
        }"#]],
    );
    json(
        "{\n    \"mcpServers\": {\n        \"other\": {\"command\": \"x\"},\n    },\n}\n",
        expect![[r#"
            {
                "mcpServers": {
                    "other": {"command": "x"},
                    "codelode": {
                        "command": "/bin/codelode",
                        "args": ["serve", "--format", "compact"]
                    },
                },
            }
        "#]],
    );
}

#[test]
fn toml_keeps_comments_and_order() {
    let toml = |text: &str, expected: Expect| check(Format::Toml, text, expected);
    toml(
        "",
        expect![[r#"
        [mcp_servers.codelode]
        command = "/bin/codelode"
        args = ["serve", "--format", "compact"]
    "#]],
    );
    toml(
        "# Mine.\nmodel = \"o\" # fast\n\n[mcp_servers.other]\ncommand = 'x'\nargs = [ 'a',\n  'b' ]\n\n# The end.\n[tools]\nweb = true\n# Last.\n",
        expect![[r#"
            # Mine.
            model = "o" # fast

            [mcp_servers.other]
            command = 'x'
            args = [ 'a',
              'b' ]

            [mcp_servers.codelode]
            command = "/bin/codelode"
            args = ["serve", "--format", "compact"]

            # The end.
            [tools]
            web = true
            # Last.
        "#]],
    );
    toml(
        "mcp_servers = { other = { command = 'x' } }\nlast = 1",
        expect![[r#"
            mcp_servers = { other = { command = 'x' } , codelode = { command = "/bin/codelode", args = ["serve", "--format", "compact"] } }
            last = 1"#]],
    );
    toml(
        "mcp_servers.other.command = 'x'\n",
        expect![[r#"
            mcp_servers.other.command = 'x'

            [mcp_servers.codelode]
            command = "/bin/codelode"
            args = ["serve", "--format", "compact"]
        "#]],
    );
}

#[test]
fn yaml_keeps_comments_and_order() {
    let yaml = |text: &str, expected: Expect| check(Format::Yaml, text, expected);
    yaml(
        "",
        expect![[r#"
        extensions:
          codelode:
            command: /bin/codelode
            args:
            - serve
            - "--format"
            - compact
    "#]],
    );
    yaml(
        "# Mine.\nextensions:\n    # The other one.\n    other:\n        cmd: x # why\n        args: [a, b]\n\nmodel: \"o\"",
        expect![[r#"
            # Mine.
            extensions:
                codelode:
                  command: /bin/codelode
                  args:
                  - serve
                  - "--format"
                  - compact
                # The other one.
                other:
                    cmd: x # why
                    args: [a, b]

            model: "o""#]],
    );
    yaml(
        "a: 1\nextensions: {}\nb: |\n  other\n  text\n",
        expect![[r#"
            a: 1
            extensions:
              codelode:
                command: /bin/codelode
                args:
                - serve
                - "--format"
                - compact
            b: |
              other
              text
        "#]],
    );
    yaml(
        "a: 1\nother: [1,\n  2]",
        expect![[r#"
            a: 1
            other: [1,
              2]
            extensions:
              codelode:
                command: /bin/codelode
                args:
                - serve
                - "--format"
                - compact
        "#]],
    );
}

#[test]
fn line_ends_and_marks_stay() {
    let path = path(Format::Json);
    let place = Place { path: &path, name: "codelode" };
    let text = "\u{feff}{\r\n  \"a\": 1,\n  \"mcpServers\": {\r\n    \"other\": {}\r\n  }\r\n}";
    let after = put(Format::Json, text, place, &plain()).expect("it is edited");
    assert!(after.starts_with("\u{feff}{\r\n  \"a\": 1,\n  \"mcpServers\": {\r\n"), "{after:?}");
    assert!(after.ends_with("compact\"]\r\n    }\r\n  }\r\n}"), "{after:?}");
    assert_eq!(after.matches("\n").count() - after.matches("\r\n").count(), 1, "one line ended without a return");
    assert_eq!(remove(Format::Json, &after, place).as_deref(), Ok(text));
    for (format, text) in [
        (Format::Toml, "a = 1\r\n[mcp_servers.other]\r\ncommand = 'x'\r\n"),
        (Format::Yaml, "extensions:\r\n  other:\r\n    cmd: x\r\n"),
    ] {
        let path = self::path(format);
        let place = Place { path: &path, name: "codelode" };
        let after = put(format, text, place, &plain()).expect("it is edited");
        assert_eq!(after.matches("\n").count(), after.matches("\r\n").count(), "{after:?}");
        assert_eq!(remove(format, &after, place).as_deref(), Ok(text));
    }
}

#[test]
fn an_existing_entry_is_changed_where_it_differs() {
    for (format, text, expected) in [
        (
            Format::Json,
            "{\n  \"mcpServers\": {\n    \"codelode\": {\n      // Mine.\n      \"env\": {\"A\": \"b\"},\n      \"command\": \"old\", // was\n      \"url\": \"gone\"\n    },\n    \"other\": {}\n  }\n}\n",
            expect![[r#"
                {
                  "mcpServers": {
                    "codelode": {
                      // Mine.
                      "env": {"A": "b"},
                      "command": "/bin/codelode" // was
                    },
                    "other": {}
                  }
                }
            "#]],
        ),
        (
            Format::Toml,
            "[mcp_servers.codelode]\ncommand = \"old\" # was\nurl = 'gone'\n# Mine.\n[mcp_servers.codelode.env]\nA = \"b\"\n",
            expect![[r#"
                [mcp_servers.codelode]
                command = "/bin/codelode" # was
                # Mine.
                [mcp_servers.codelode.env]
                A = "b"
            "#]],
        ),
        (
            Format::Yaml,
            "extensions:\n  a: 1\n  codelode:\n    command: old\n    url: gone\n    env:\n      A: b\n  # Next.\n  other:\n    cmd: x\n",
            expect![[r#"
                extensions:
                  a: 1
                  codelode:
                    env:
                      A: b
                    command: /bin/codelode
                  # Next.
                  other:
                    cmd: x
            "#]],
        ),
    ] {
        let path = path(format);
        let place = Place { path: &path, name: "codelode" };
        let wanted = entry(json!({"env": {"A": "b"}, "command": "/bin/codelode"}));
        expected.assert_eq(&put(format, text, place, &wanted).expect("it is edited"));
    }
}

#[test]
fn a_text_that_is_not_understood_is_refused() {
    let refused = |format: Format, text: &str| {
        let path = path(format);
        put(format, text, Place { path: &path, name: "codelode" }, &plain()).expect_err("it is not an edit")
    };
    let line = |error: Error| match error {
        Error::Syntax { line, .. } => line,
        other => panic!("{other}"),
    };
    assert_eq!(line(refused(Format::Json, "{\n  \"a\": 1\n  \"b\": 2\n}")), 2);
    assert_eq!(line(refused(Format::Json, "{\n  'a': 1\n}")), 2);
    assert_eq!(line(refused(Format::Json, "{\n  \"a\": 1\n}\n}")), 4);
    assert_eq!(line(refused(Format::Toml, "a = 1\nb = \n")), 2);
    assert_eq!(line(refused(Format::Yaml, "a: 1\nb: [1\nc: 2\n")), 3);
    for (format, text) in [
        (Format::Json, "[]"),
        (Format::Json, "{\"mcpServers\": []}"),
        (Format::Toml, "mcp_servers = 1\n"),
        (Format::Toml, "[[mcp_servers]]\na = 1\n"),
        (Format::Yaml, "- a\n"),
        (Format::Yaml, "extensions: [a]\n"),
    ] {
        assert!(matches!(refused(format, text), Error::NotATable(_)), "{text}");
    }
    for text in ["extensions: {a: 1}\n", "a: 1\n---\nb: 2\n"] {
        assert!(matches!(refused(Format::Yaml, text), Error::Style(_)), "{text}");
    }
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let deep = format!("{{\"a\": {deep}}}");
    refused(Format::Json, &deep);
    refused(Format::Yaml, &deep);
    refused(Format::Toml, &format!("a = {}1{}", "[".repeat(5_000), "]".repeat(5_000)));
}

/// A source of numbers that is the same on every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    /// Space and comments as people write them.
    fn gap(&mut self) -> &'static str {
        ["", "", " ", "\n", "\n  ", "\n\t", " /* c, */ ", " // c }\n", "\n\n    // d\n"][self.below(9)]
    }

    /// An object of any shape, with the key of the servers at the top now and then.
    fn object(&mut self, depth: usize) -> String {
        let n_keys = self.below(4);
        let mut text = format!("{{{}", self.gap());
        for key in 0..n_keys {
            let name = if depth == 0 && key == 1 { "mcpServers".to_owned() } else { format!("k{key}") };
            let is_map = depth < 3 && (name == "mcpServers" || self.below(2) == 0);
            let value =
                if is_map { self.object(depth + 1) } else { ["1", "\"x, }\"", "[1, {}]"][self.below(3)].to_owned() };
            let comma = if key + 1 < n_keys || self.below(4) == 0 { "," } else { "" };
            let gaps = [self.gap(), self.gap(), self.gap(), self.gap()];
            text += &format!("\"{name}\"{}:{}{value}{}{comma}{}", gaps[0], gaps[1], gaps[2], gaps[3]);
        }
        text + "}"
    }
}

#[test]
fn json_of_any_shape_is_edited_and_edited_back() {
    let mut random = Random(7);
    let path = path(Format::Json);
    let place = Place { path: &path, name: "codelode" };
    for _ in 0..4_000 {
        let text = format!("{}{}{}", random.gap(), random.object(0), random.gap());
        let after = put(Format::Json, &text, place, &plain()).unwrap_or_else(|err| panic!("{err}:\n{text}"));
        let mut letters = after.chars();
        assert!(text.chars().all(|old| letters.any(|new| new == old)), "something of\n{text}\nis lost from\n{after}");
        let back = remove(Format::Json, &after, place).unwrap_or_else(|err| panic!("{err}:\n{text}\n{after}"));
        assert_eq!(get(Format::Json, &back, place), Ok(None));
        let mut letters = back.chars();
        let mut kept = text.chars().filter(|c| !c.is_whitespace());
        assert!(kept.all(|old| letters.any(|new| new == old)), "something of\n{text}\nis lost from\n{back}");
        let again = put(Format::Json, &back, place, &plain()).unwrap_or_else(|err| panic!("{err}:\n{back}"));
        assert_eq!(remove(Format::Json, &again, place).as_deref(), Ok(back.as_str()), "a second time is the same");
    }
}

#[test]
fn differences_are_shown_by_line() {
    let hunks = super::lines::hunks("a\nb\nc\nd\n", "a\nB\nc\nx\nd\ny\n");
    let shown: Vec<String> =
        hunks.iter().map(|hunk| format!("{}: -{:?} +{:?}", hunk.line, hunk.removed, hunk.added)).collect();
    assert_eq!(shown, ["2: -[\"b\"] +[\"B\"]", "4: -[] +[\"x\"]", "6: -[] +[\"y\"]"]);
    let hunks = super::lines::hunks("{\n  x\n}", "{\n  x,\n  y\n}");
    assert_eq!(
        (hunks[0].removed.as_slice(), hunks[0].added.as_slice()),
        (["  x"].as_slice(), ["  x,", "  y"].as_slice())
    );
    let hunks = super::lines::hunks("a\nb\nc\n", "a\n");
    assert_eq!((hunks[0].line, hunks[0].removed.as_slice()), (2, ["b", "c"].as_slice()));
}

#[test]
fn a_list_gets_its_value_and_loses_it_again() {
    let ours = json!({"run": "codelode", "n": [1]});
    let is_ours = |value: &Value| value["run"] == "codelode";
    let path = ["hooks", "After"];
    let texts = [
        "",
        "{}",
        "{\n  \"hooks\": {}\n}\n",
        "{\"a\": 1}",
        "{\"hooks\": {\"After\": []}, \"b\": 2}",
        "{\"hooks\": {\"After\": [{\"run\": \"x\"}]}}",
        "{\n  \"hooks\": {\n    \"After\": [{\n      \"run\": \"x\"\n    }]\n  }\n}\n",
        "{\n\t// Mine.\n\t\"hooks\": {\n\t\t\"After\": [\n\t\t\t{ \"run\": \"x\" }, // one\n\t\t\t{ \"run\": \"y\" }, // two\n\t\t],\n\t},\n}\n",
    ];
    for text in texts {
        let after = replace_in_list(text, &path, &is_ours, Some(&ours)).expect("it is edited");
        let list = super::document(&after).expect("it is JSON")["hooks"]["After"].clone();
        assert_eq!(list.as_array().and_then(|list| list.last()), Some(&ours), "{after}");
        assert_eq!(replace_in_list(&after, &path, &is_ours, Some(&ours)).as_deref(), Ok(after.as_str()));
        let mut letters = after.chars();
        assert!(text.chars().all(|old| letters.any(|new| new == old)), "something of {text} is lost from {after}");
        // Another form of it takes its place.
        let other = json!({"run": "codelode"});
        let changed = replace_in_list(&after, &path, &is_ours, Some(&other)).expect("it is edited");
        let n_ours = super::document(&changed).expect("it is JSON")["hooks"]["After"].clone();
        assert_eq!(n_ours.as_array().map(|list| list.iter().filter(|it| is_ours(it)).count()), Some(1));
        let back = replace_in_list(&changed, &path, &is_ours, None).expect("it is edited");
        let bare = |text: &str| super::document(text).map(super::without_empty);
        let bare_list = |text: &str| {
            let text = text.replace("\"After\": []", "");
            bare(&text)
        };
        assert_eq!(bare(&back), bare_list(text), "{text} {back}");
    }
    assert_eq!(
        replace_in_list("{\"hooks\": 1}", &path, &is_ours, Some(&ours)),
        Err(Error::NotATable("hooks".to_owned()))
    );
}
