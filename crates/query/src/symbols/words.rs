//! Relations between the words of descriptions and of names: abbreviations, verbs of the same action, and fillers.
//!
//! They hold across languages and projects; none is specific to a repository.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use codelode_store::stems;

/// A word of descriptions, and its synonyms in names.
const INSTEAD: &[(&str, &[&str])] = &[
    ("absolute", &["abs"]),
    ("address", &["addr"]),
    ("administrator", &["admin"]),
    ("allocate", &["alloc"]),
    ("application", &["app"]),
    ("argument", &["arg", "args"]),
    ("asynchronous", &["async"]),
    ("attribute", &["attr"]),
    ("authentication", &["auth"]),
    ("average", &["avg"]),
    ("boolean", &["bool"]),
    ("calculate", &["compute", "calc"]),
    ("character", &["char"]),
    ("check", &["validate", "verify"]),
    ("command", &["cmd"]),
    ("concatenate", &["concat", "join"]),
    ("configuration", &["config", "conf", "cfg"]),
    ("configure", &["config"]),
    ("connection", &["conn"]),
    ("context", &["ctx"]),
    ("convert", &["to"]),
    ("converts", &["to"]),
    ("create", &["make", "new", "build"]),
    ("database", &["db"]),
    ("declaration", &["decl"]),
    ("definition", &["def"]),
    ("delete", &["remove", "del"]),
    ("dependency", &["dep"]),
    ("destination", &["dest", "dst"]),
    ("development", &["dev"]),
    ("dictionary", &["dict"]),
    ("directory", &["dir", "folder"]),
    ("document", &["doc"]),
    ("emit", &["write"]),
    ("environment", &["env"]),
    ("error", &["err", "exception"]),
    ("execute", &["exec", "run"]),
    ("expression", &["expr"]),
    ("fetch", &["get"]),
    ("frequency", &["freq"]),
    ("function", &["func", "fn", "callback", "callable"]),
    ("generate", &["gen"]),
    ("identical", &["same", "equal"]),
    ("identifier", &["id"]),
    ("implementation", &["impl"]),
    ("index", &["idx"]),
    ("information", &["info"]),
    ("initialize", &["init"]),
    ("integer", &["int"]),
    ("iterate", &["iter"]),
    ("iterator", &["iter"]),
    ("library", &["lib"]),
    ("maximum", &["max"]),
    ("message", &["msg"]),
    ("minimum", &["min"]),
    ("number", &["num", "count", "len", "length", "size"]),
    ("object", &["obj"]),
    ("obtain", &["get"]),
    ("operator", &["op"]),
    ("option", &["opt"]),
    ("original", &["orig"]),
    ("package", &["pkg"]),
    ("parameter", &["param", "params"]),
    ("parse", &["read"]),
    ("pointer", &["ptr"]),
    ("position", &["pos"]),
    ("previous", &["prev"]),
    ("print", &["write"]),
    ("production", &["prod"]),
    ("property", &["prop"]),
    ("reference", &["ref"]),
    ("regular", &["regex"]),
    ("relative", &["rel"]),
    ("request", &["req"]),
    ("response", &["resp", "res"]),
    ("retrieve", &["get"]),
    ("return", &["get"]),
    ("separator", &["sep"]),
    ("sequence", &["seq"]),
    ("source", &["src"]),
    ("specification", &["spec"]),
    ("statement", &["stmt"]),
    ("statistics", &["stats"]),
    ("string", &["str", "text"]),
    ("synchronous", &["sync"]),
    ("temporary", &["tmp", "temp"]),
    ("utility", &["util"]),
    ("value", &["val"]),
    ("variable", &["var"]),
    ("whether", &["is"]),
];

/// Verbs of the same action, at the start of sentences and names. A verb may have several actions.
const VERBS: &[&[&str]] = &[
    &["access", "fetch", "find", "get", "give", "look", "lookup", "obtain", "provide", "read", "retrieve", "return"],
    &["assign", "change", "configure", "set", "update"],
    &[
        "build",
        "construct",
        "create",
        "generate",
        "init",
        "initialize",
        "instantiate",
        "make",
        "new",
        "produce",
        "setup",
        "start",
    ],
    &["add", "append", "attach", "enqueue", "include", "insert", "push", "put", "register"],
    &["clean", "clear", "del", "delete", "discard", "drop", "empty", "pop", "remove", "strip", "unregister"],
    &["decode", "deserialize", "extract", "load", "parse", "read", "scan", "unmarshal"],
    &[
        "dump",
        "emit",
        "encode",
        "flush",
        "format",
        "log",
        "marshal",
        "output",
        "print",
        "save",
        "serialize",
        "store",
        "write",
    ],
    &[
        "apply", "call", "dispatch", "do", "execute", "handle", "invoke", "launch", "perform", "process", "run",
        "start", "visit",
    ],
    &[
        "assert",
        "can",
        "check",
        "determine",
        "ensure",
        "has",
        "is",
        "matches",
        "should",
        "test",
        "validate",
        "verify",
        "whether",
    ],
    &["cancel", "close", "end", "finish", "kill", "shutdown", "stop", "terminate"],
    &["as", "convert", "from", "into", "normalize", "rewrite", "to", "transform", "translate", "turn"],
    &["combine", "compose", "concat", "join", "merge"],
    &["notify", "raise", "report", "warn"],
    &["count", "len", "length", "num", "number", "size", "total"],
];

/// Words of descriptions that do not depend on the subject.
const FILLERS: &[&str] = &[
    "all",
    "also",
    "any",
    "associate",
    "base",
    "call",
    "check",
    "convenience",
    "create",
    "determine",
    "each",
    "ensure",
    "false",
    "follow",
    "function",
    "get",
    "give",
    "instance",
    "make",
    "may",
    "method",
    "must",
    "new",
    "object",
    "one",
    "other",
    "provide",
    "return",
    "same",
    "set",
    "some",
    "specify",
    "this",
    "true",
    "two",
    "type",
    "use",
    "value",
    "way",
    "whether",
];

/// Words with which the names of yes-or-no questions begin.
const ASKS: &[&str] = &[
    "allows", "are", "can", "check", "contains", "does", "ends", "equals", "exists", "has", "have", "in", "include",
    "is", "matches", "needs", "should", "starts", "supports", "was", "will",
];

/// The tables by stem.
struct Tables {
    /// The synonyms of a stem, in both directions.
    others: FxHashMap<String, Vec<String>>,
    /// The actions of a verb: one bit for each of [`VERBS`].
    verbs: FxHashMap<String, u32>,
    fillers: FxHashSet<String>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let mut others: FxHashMap<String, Vec<String>> = FxHashMap::default();
    for (word, instead) in INSTEAD {
        let word = stem(word);
        for other in instead.iter().map(|other| stem(other)).filter(|other| *other != word) {
            others.entry(other.clone()).or_default().push(word.clone());
            others.entry(word.clone()).or_default().push(other);
        }
    }
    let mut verbs: FxHashMap<String, u32> = FxHashMap::default();
    for (place, group) in VERBS.iter().enumerate() {
        group.iter().for_each(|verb| *verbs.entry(stem(verb)).or_default() |= 1 << place);
    }
    Tables { others, verbs, fillers: FILLERS.iter().map(|word| stem(word)).collect() }
});

fn stem(word: &str) -> String {
    stems(word).pop().map_or_else(String::new, |stem| String::from(&*stem))
}

/// The synonyms of a stem in names.
pub fn instead_of(stem: &str) -> &'static [String] {
    TABLES.others.get(stem).map_or(&[], Vec::as_slice)
}

/// The actions of a verb, as bits. Verbs that share one mean the same.
pub fn deeds(stem: &str) -> u32 {
    TABLES.verbs.get(stem).copied().unwrap_or(0)
}

/// Whether a stem occurs in descriptions of any subject.
pub fn is_filler(stem: &str) -> bool {
    TABLES.fillers.contains(stem)
}

/// Whether a name that begins with this lower-case word asks a yes-or-no question.
pub fn asks(word: &str) -> bool {
    ASKS.contains(&word)
}

/// Whether a description is a yes-or-no question: "Returns true if …", "Checks whether …".
pub fn is_asked(description: &str) -> bool {
    let mut words = description.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut next = || words.next().unwrap_or_default().to_lowercase();
    let (first, second) = (next(), next());
    match stem(&first).as_str() {
        "whether" | "is" | "are" => true,
        "true" => second == "if",
        "return" => matches!(&*second, "true" | "whether" | "if"),
        "check" | "determin" | "test" | "tell" | "assert" | "verifi" | "report" | "indic" => {
            matches!(&*second, "whether" | "if" | "that")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_meet_what_they_stand_for() {
        assert_eq!(instead_of(&stem("directory")), ["dir", "folder"]);
        assert!(instead_of("dir").contains(&stem("directory")));
        assert!(instead_of("zebra").is_empty());
        let all = TABLES.others.iter().flat_map(|(word, others)| others.iter().map(move |other| (word, other)));
        for (word, other) in all {
            assert!(TABLES.others[other].contains(word), "{other} does not lead back to {word}");
        }
    }

    #[test]
    fn verbs_do_the_same_or_do_not() {
        assert!(deeds("fetch") & deeds("get") != 0);
        assert!(deeds("add") & deeds("remov") == 0);
        assert_eq!(deeds("zebra"), 0);
    }

    #[test]
    fn questions_of_yes_or_no_are_known() {
        for description in ["Returns true if the field is fast", "checks whether it holds", "Is this a test?"] {
            assert!(is_asked(description), "{description}");
        }
        for description in ["Returns the field", "tests everything", "true colours", ""] {
            assert!(!is_asked(description), "{description}");
        }
    }
}
