//! `codelode text` beside ripgrep: the same flags, the same files, the same lines.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::cli::numbers;
use crate::place::{Place, Ran};

fn has_ripgrep() -> bool {
    let is_there = Command::new("rg").arg("--version").output().is_ok();
    if !is_there {
        crate::client::skipped("ripgrep is not installed");
    }
    is_there
}

fn write(place: &Place, path: &str, bytes: &[u8]) {
    let path = place.source().join(path);
    fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("the folder is ours");
    fs::write(path, bytes).expect("the folder is ours");
}

/// Runs a command with this at its standard input.
fn fed(mut command: Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it runs");
    let mut stdin = child.stdin.take().expect("it is piped");
    // A command that does not read its input may have ended.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

/// Flags, separated by `|`, under which every file is read in another way.
const FLAGS: &[&str] = &[
    "function",
    "-F|function()",
    "-i|FUNCTION",
    "-w|function",
    "-w|-i|Function",
    "-S|Function",
    "-s|-i|FUNCTION",
    "-c|function",
    "-c|-i|e",
    "-l|function",
    "-o|func\\w+",
    "-A1|function",
    "-B2|function",
    "-C1|function",
    "-A1|-B3|function",
    "-C3|-i|FUNCTION",
    "-e|function|-e|line",
    "-e|-dash",
    "-F|-e|function()|-e|$function$",
    "-g|*.txt|function",
    "-g|!*.txt|function",
    "-g|*.txt|-g|!c*|function",
    "-g|sub/**|function",
    "-g|!sub|function",
    "-g|/context.txt|function",
    "-g|*.{py,js}|function",
    "-tpy|function",
    "-T|py|function",
    "-trust|-tjs|function",
    "-U|start\\n\\{\\n.*\\n\\}",
    "-U|-o|\\{\\n\\}",
    "-U|-A1|function$",
    "^$",
    "-c|^",
    "-c|^$",
    "-o|x*",
    "x*",
    "-c|x*",
    "-l|x*",
    "-N|-C1|function",
    "function$",
    "function\\r$",
    "^function",
    "\\s+$",
    "(?-u)\\xff",
    "-i|été",
    "-i|straSSE",
    "-i|k",
    "-w|",
    "-w|-F|$function$",
    "-w|-",
    "-o|.{3}",
    "-F|",
    "nomatch",
    "-c|nomatch",
    "--json|second",
    "--json|-C1|second",
    "--json|(?-u)\\xff",
    "--json|nomatch",
    "function|sub",
    "function|sub/dir/a.py",
    "function|./context.txt",
    "function|sub|context.txt",
    "-c|function|context.txt",
    "-C1|function|context.txt|windows.txt",
    "-U|(?s)first.*end",
    "-e|function|-i|-e|LINE",
    "-v|function",
    "-v|-c|function",
    "-v|-l|.",
    "-v|-o|function",
    "-v|-C1|line",
    "-U|-v|function",
    "-m1|function",
    "-m|2|-c|function",
    "-m1|-v|function",
    "-x|function end",
    "-x|-F|function()",
    "-x|-i|THIRD",
    "-x|-v|-c|d",
    "-w|-x|function",
    "-x|-w|function",
    "-q|function",
    "-q|nomatch",
    "-q|-v|.",
    "--files-without-match|function",
    "--files-without-match|nomatch",
    "--files-without-match|.*",
    "-l|--files-without-match|function",
    "--files-without-match|-l|function",
    "-q|--files-without-match|function",
    "-L|function",
    "-r|<$0>|function",
    "-r|$1$1|func(tion|x)",
    "-r|$end|-o|func(?P<end>\\w+)",
    "-r|-|function",
    "-r||function",
    "--column|function",
    "--column|-o|function",
    "--column|-N|function",
    "--vimgrep|function",
    "--vimgrep|-i|e|context.txt",
    "--vimgrep|-U|start\\n\\{",
    "-0|-l|function",
    "-0|-c|function",
    "-0|function",
    "-0|--files-without-match|function",
    "--count-matches|e",
    "--count-matches|-v|e",
    "-c|-o|e",
    "-c|--count-matches|e",
    "--count-matches|-c|e",
    "-H|function|context.txt",
    "-H|-I|function|context.txt",
    "-I|function",
    "--trim|function",
    "-M20|function",
    "--heading|function",
    "--heading|-C1|function",
    "--sort|path|-l|function",
    "--sortr|path|-l|function",
    "--sort|modified|-l|function",
    "--sort|none|-l|function",
    "--files",
    "--files|sub",
    "--files|-g|*.py",
    "--files|-tpy|-0",
    "--files|-g|*.nothing",
    "-g|!*.txt|function|context.txt",
    "-tpy|function|context.txt|sub",
    "-b|function",
    "-b|-o|func",
    "-p|--no-heading|-N|-C1|third",
    "-f|patterns",
    "-e|line|-f|patterns",
    "-F|-f|patterns|context.txt",
    "--iglob|*.TXT|function",
    "--iglob|!*.Txt|function",
    "-g|*.txt|--iglob|!CON*|function",
    "-c|--include-zero|function",
    "-c|--include-zero|nomatch",
    "-c|-v|--include-zero|function",
    "--passthru|third",
    "--passthru|nomatch|context.txt",
    "-U|--multiline-dotall|start.*?end",
    "--multiline-dotall|start.end",
    "--context-separator|==|-C1|function|context.txt",
    "--context-separator||-C1|function",
    "--no-context-separator|-C1|function",
    "-j1|function",
    "--mmap|--no-mmap|function",
    "--line-buffered|--block-buffered|function",
    "function|nowhere",
    "function|nowhere|context.txt",
    "-l|function|context.txt|nowhere|sub",
    "-v|-m2|function",
    "-v|-x|",
    "-m1|-A2|line|context.txt",
    "-m3|-C1|function|context.txt",
    "-o|-r|<$0>|-w|function",
    "-c|-r|x|function",
    "-A1|-o|function|context.txt",
    "--vimgrep|-v|function|context.txt",
    "--column|-C1|function|context.txt",
    "--column|-v|function|context.txt",
    "--trim|-A1|function",
    "--trim|-o|\\s*function",
    "-M20|-o|function",
    "-M20|-v|function",
    "-M5|--heading|function",
    "-g|",
    "-g|[a-c]*|function",
    "-g|{w,c}*.txt|function",
    "-g|sub/*/a.py|function",
    "-g|!*|-g|*.txt|function",
    "-tpy|-tjs|-Tjs|function",
    "--files|-g|!*.txt",
    "--files|-v|-g|*.py",
    "--files|context.txt|sub/dir",
    "--sort|path|-C1|function",
    "--sortr|path|-c|function",
    "-0|-o|function",
    "-H|-c|function|context.txt",
    "-I|-C1|function",
    "-i|-c|-w|FUNCTION",
    "-S|-w|Été",
    "-x||lines.txt",
    "-s|-S|Function",
    "(?i)FUNCTION",
    "(?m)^function",
    "\\bfunction\\b$",
    "a{0}|lines.txt",
    "--crlf|function$",
    "--crlf|-o|.$",
    "--crlf|-x|third",
    "--crlf|-v|^$",
    "--no-messages|function|nowhere|context.txt",
    "--max-depth|1|function",
    "--max-depth|2|-l|function",
    "--max-depth|1|function|sub",
    "--max-depth|0|-l|function|context.txt",
    "--max-filesize|60|-l|function",
    "--max-filesize|1K|-l|function",
    "--max-filesize|1|function|context.txt",
    "--max-filesize|1X|function",
    "--type-add|web:*.{js,txt}|-tweb|-l|function",
    "--type-add|py:*.txt|--type-clear|js|-tpy|-l|function",
    "--field-match-separator|;|function",
    "--field-match-separator||-b|--column|function",
    "--field-context-separator|;|-C1|function",
    "-M20|--max-columns-preview|function",
    "--glob-case-insensitive|-g|*.TXT|function",
    "--glob-case-insensitive|-g|!*.TXT|function",
    "--regex-size-limit|10M|--dfa-size-limit|1G|function",
    "--engine|default|function",
    "--one-file-system|function",
    "[unclosed",
];

#[test]
fn every_flag_finds_and_shows_what_ripgrep_does() {
    if !has_ripgrep() {
        return;
    }
    let place = numbers();
    let write = |path: &str, bytes: &[u8]| write(&place, path, bytes);
    write("windows.txt", b"first line\r\nsecond function line\r\n\r\nthird\r\nfunction end\r\nlast\r\n");
    write("mixed.txt", b"a\r\nb function\nc\r\nfunction\r\n\nd");
    write("lines.txt", b"\n\n\n");
    write("latin.txt", b"caf\xe9 function\n\xff\xfe function \xe9\nplain function\n");
    write("marked.txt", b"\xef\xbb\xbffunction one\nfunction two\n");
    write("words.txt", b"\tfunction\ta\n_function_\nfunctions\nmy-function-x\nfunction()\n$function$\n");
    write("folded.txt", "Straße STRASSE\nÉté été ÉTÉ\n\u{212a}elvin \u{17f}\n".as_bytes());
    write("brackets.txt", b"start\n{\n  function\n}\nend\nstart\n{\n}\nend\n");
    write("sub/dir/a.py", b"def function(x):\n    return x\n");
    write("patterns", b"third\n^last\nfunction()\n");
    write("sub/dir/b.js", b"function a() { return 1 }\n");
    write("sub-x/c.rs", b"fn function() {}\n// function\n");
    write("with space/f g.txt", b"function -dash\n");
    let context: String =
        (0..60).map(|at| format!("line {at}{}\n", if at % 7 < 2 { " function" } else { "" })).collect();
    write("context.txt", context.as_bytes());
    #[cfg(unix)]
    std::os::unix::fs::symlink("context.txt", place.source().join("link.txt")).expect("the folder is ours");
    assert_eq!(place.run(&["index", "."]).status, 0);
    for flags in FLAGS {
        let flags: Vec<&str> = flags.split('|').collect();
        let ours = place.command(&[&["text", "--as-indexed"], &flags[..]].concat()).output().expect("it runs");
        let mut rg = Command::new("rg");
        rg.args(["--no-config", "--no-ignore", "--hidden", "--no-heading", "--sort", "path"]).args(&flags);
        // Lines are numbered unless something else is asked for.
        let is_plain = !flags.iter().any(|flag| ["-N", "-c", "--count-matches", "--json"].contains(flag));
        rg.args(is_plain.then_some("-n")).current_dir(place.source()).stdin(Stdio::null());
        let theirs = rg.output().expect("it runs");
        assert_eq!(shown(&ours.stdout), shown(&theirs.stdout), "{flags:?}");
        assert_eq!(ours.status.code(), theirs.status.code(), "{flags:?}");
    }
}

/// The output, in any order of files; of JSON, without times.
fn shown(printed: &[u8]) -> Vec<String> {
    let line = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(message) if message.is_object() => {
            let data = &message["data"];
            let parts: Vec<Value> = data["submatches"].as_array().cloned().unwrap_or_default();
            let parts: Vec<String> = parts.iter().map(|part| format!("{}-{}", part["start"], part["end"])).collect();
            format!("{} {} {} {} {parts:?}", message["type"], data["path"], data["line_number"], data["lines"])
        }
        _ => line.to_owned(),
    };
    let mut lines: Vec<String> = String::from_utf8_lossy(printed).split('\n').map(line).collect();
    lines.sort();
    lines
}

#[test]
fn standard_input_is_searched_as_ripgrep_does() {
    if !has_ripgrep() {
        return;
    }
    let place = numbers();
    place.found(&["index", "."]);
    let input = b"one function\ntwo\nfunction three\n";
    for flags in [
        "function",
        "function|-",
        "-c|function|-",
        "-v|function",
        "-C1|two|-",
        "-l|function",
        "-o|f\\w+|-",
        "nomatch|-",
        "-a|two",
        "def|-|numbers.py",
        "-H|function",
    ] {
        let flags: Vec<&str> = flags.split('|').collect();
        let ours = fed(place.command(&[&["text"], &flags[..]].concat()), input);
        let mut rg = Command::new("rg");
        rg.args(["--no-config", "--no-heading"]).args(&flags).current_dir(place.source());
        rg.args((!flags.contains(&"-c")).then_some("-n"));
        let theirs = fed(rg, input);
        assert_eq!(shown(&ours.stdout), shown(&theirs.stdout), "{flags:?}");
        assert_eq!(ours.status.code(), theirs.status.code(), "{flags:?}");
    }
    // A program that starts another often leaves an empty pipe behind; nobody means that.
    let found = Ran::from(fed(place.command(&["text", "def add"]), b""));
    assert_eq!(found.out, "numbers.py:1:def add(a, b):\n");
    let found = Ran::from(fed(place.command(&["text", "def add", "."]), b"def add\n"));
    assert_eq!(found.out, "./numbers.py:1:def add(a, b):\n");
}

#[test]
fn files_past_the_index_are_those_of_ripgrep_without_secrets() {
    if !has_ripgrep() {
        return;
    }
    let place = numbers();
    let write = |path: &str, bytes: &[u8]| write(&place, path, bytes);
    write(".ignore", b"ignored.txt\nbuild/\n");
    write("ignored.txt", b"needle ignored\n");
    write("build/made.txt", b"needle made\n");
    write(".hidden/inside.txt", b"needle hidden\n");
    write("large.txt", &b"needle large\n".repeat(50_000));
    write("binary.bin", b"needle\0binary\n");
    write("utf16.txt", b"\xff\xfen\0e\0e\0d\0l\0e\0\n\0");
    write(".env", b"needle secret\n");
    write("keys/id_rsa", b"needle secret\n");
    write(".aws/credentials", b"needle secret\n");
    place.found(&["index", "."]);
    for flags in [
        "-u|needle",
        "-uu|needle",
        "-uuu|needle",
        "--hidden|needle",
        "--no-ignore|needle",
        "--no-ignore|--hidden|-c|needle",
        "-uu|-l|needle|.hidden|build",
        "-uu|-g|*.txt|needle",
        "-u|-tpy|def",
        "-uu|--files",
        "-uu|--files-without-match|needle",
        "-uuL|-l|needle",
        "-u|nomatch",
        "-a|needle",
        "-a|-c|.",
        "-a|needle|binary.bin",
        "-uu|-a|-l|needle",
        "-uu|--max-depth|1|-l|needle",
        "-uu|--max-filesize|1K|-l|needle",
    ] {
        let flags: Vec<&str> = flags.split('|').collect();
        let ours = place.command(&[&["text"], &flags[..]].concat()).output().expect("it runs");
        let mut rg = Command::new("rg");
        rg.args(["--no-config", "--no-heading", "--sort", "path"]).args(&flags);
        rg.args(["-g", "!.env", "-g", "!id_rsa", "-g", "!.aws"]);
        rg.args((!flags.contains(&"-c")).then_some("-n")).current_dir(place.source()).stdin(Stdio::null());
        let theirs = rg.output().expect("it runs");
        assert_eq!(shown(&ours.stdout), shown(&theirs.stdout), "{flags:?}");
        assert_eq!(ours.status.code(), theirs.status.code(), "{flags:?}");
    }
    let secrets = |args: &[&str]| place.run(&[&["text"], args].concat());
    let ran = secrets(&["-uuu", "needle secret"]);
    assert_eq!((ran.status, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("left out: 3 secrets"), "{}", ran.err);
    for path in [".env", "keys/id_rsa", ".aws"] {
        let ran = secrets(&["-uuu", "needle", path]);
        assert_eq!((ran.status, ran.out.as_str()), (1, ""), "{path}");
    }
    let ran = secrets(&["needle", ".env"]);
    assert_eq!((ran.status, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(ran.err.contains("left out: 1 secret"), "{}", ran.err);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../.env", place.source().join("keys/link.txt")).expect("the folder is ours");
        let ran = secrets(&["-uuu", "needle", "keys/link.txt"]);
        assert_eq!((ran.status, ran.out.as_str()), (1, ""), "a link to a secret is one");
    }
    #[cfg(unix)]
    {
        let outside = place.path().join("outside.txt");
        fs::write(&outside, "needle outside\n").expect("the folder is ours");
        std::os::unix::fs::symlink(&outside, place.source().join("out.txt")).expect("the folder is ours");
        let ran = secrets(&["-L", "needle outside"]);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""));
        assert!(ran.err.contains("out.txt leads out of"), "{}", ran.err);
    }
    // A file that is named is searched, whether it is indexed or not.
    assert_eq!(place.found(&["text", "needle", "ignored.txt"]), "1:needle ignored\n");
    let ran = place.run(&["text", "-u", "needle", "--repo", "."]);
    assert!(ran.status == 2 && ran.err.contains("PATH"), "{}", ran.err);
}

#[test]
fn statistics_and_types_are_told_as_ripgrep_tells_them() {
    if !has_ripgrep() {
        return;
    }
    let place = numbers();
    place.found(&["index", "."]);
    let of_rg = |args: &[&str]| {
        let mut rg = Command::new("rg");
        rg.args(["--no-config", "--no-heading"]).args(args).current_dir(place.source()).stdin(Stdio::null());
        Ran::of(&mut rg).out
    };
    let counted = |printed: &str| -> Vec<String> {
        let is_time = |line: &&str| !line.contains("seconds");
        printed.lines().filter(is_time).map(str::to_owned).collect()
    };
    assert_eq!(
        counted(&place.found(&["text", "--stats", "add"])),
        counted(&of_rg(&["--stats", "-n", "add"])),
        "every file may match"
    );
    let lines = |printed: String| -> Vec<String> {
        printed.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.to_owned()).collect()
    };
    let (ours, theirs) = (lines(place.found(&["text", "--type-list"])), lines(of_rg(&["--type-list"])));
    let missing: Vec<&String> = theirs.iter().filter(|name| !ours.contains(name)).collect();
    assert!(missing.is_empty() && ours.len() > 100, "{missing:?}");
}

#[test]
fn options_of_every_command_act_on_text() {
    let place = numbers();
    write(&place, "many.txt", &b"needle in a line\n".repeat(200));
    place.found(&["index", "."]);
    let printed = |args: &[&str]| place.found(&[&["text"], args].concat());
    assert_eq!(printed(&["--count-only", "add"]), "2\n");
    assert_eq!(printed(&["--count-only", "-l", "add"]), "1\n");
    assert_eq!(printed(&["--count-only", "--files"]), "2\n");
    let cut = place.run(&["text", "--max-tokens", "50", "needle"]);
    assert!(cut.status == 0 && (1..40).contains(&cut.out.lines().count()), "{}", cut.out);
    assert!(cut.err.contains("cut to fit --max-tokens"), "{}", cut.err);
    assert_eq!(printed(&["--compact", "def"]), "numbers.py\n1:def add(a, b):\n7:    def count(self):\n");
    let ran = place.run(&["text", "--cursor", "x", "add"]);
    assert!(ran.status == 2 && ran.err.contains("--cursor"), "{}", ran.err);
}
