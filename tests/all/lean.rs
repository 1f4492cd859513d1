//! The compiler that makes grammars small: `packaging/lean_cc.py`.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Symbols, states, and states with a row of full size, of the parser below.
const SIZES: (usize, usize, usize) = (40, 6, 5);

/// The action of a state at a symbol: the first two states act on everything, two alike on few, and so the last ones.
fn action(state: usize, symbol: usize) -> usize {
    match state {
        0 | 1 => 1 + (state + symbol) % 7,
        2 | 3 if symbol % 8 == 3 => 5 + symbol % 3,
        4 if symbol < 9 => 9,
        5 if symbol == 11 || symbol == 30 => 40,
        _ => 0,
    }
}

/// A parser as the generator writes it, and a program that prints what each state does at each symbol, and how many have a row of full
/// size.
fn parser() -> String {
    let (symbols, states, large) = SIZES;
    let mut text = format!(
        "#include \"part.h\"\n#define SYMBOL_COUNT {symbols}\n#define LARGE_STATE_COUNT {large}\n#ifdef __GNUC__\n#pragma GCC optimize (\"O0\")\n#endif\n\
         enum {{ {} }};\nstatic const uint16_t ts_parse_table[LARGE_STATE_COUNT][SYMBOL_COUNT] = {{\n",
        (0..symbols).map(|symbol| format!("sym_{symbol} = {symbol}")).collect::<Vec<_>>().join(", ")
    );
    for state in 0..large {
        let acts = (0..symbols).filter(|symbol| action(state, *symbol) > 0);
        let lines = acts.map(|symbol| format!("    [sym_{symbol}] = ACTIONS({}),\n", action(state, symbol)));
        let _ = writeln!(text, "  [STATE({state})] = {{\n{}  }},", lines.collect::<String>());
    }
    text += "};\n\nstatic const uint16_t ts_small_parse_table[] = {\n  [0] = 1,\n    ACTIONS(40), 2,\n      sym_11,\n      sym_30,\n};\n\n";
    text += "static const uint32_t ts_small_parse_table_map[] = {\n  [SMALL_STATE(5)] = 0,\n};\n\n";
    text += "const TSLanguage *tree_sitter_made_up(void) { return 0; }\n";
    let _ = write!(
        text,
        "int main(void) {{ for (int state = 0; state < {states}; state++) for (int symbol = 0; symbol < SYMBOL_COUNT; symbol++)\n\
         printf(\"%d \", look(state, symbol)); printf(\"%d\", LARGE_STATE_COUNT); return 0; }}\n"
    );
    // How the library looks an action up.
    let look = "static int look(int state, int symbol) {\n\
         if (state < LARGE_STATE_COUNT) return ts_parse_table[state][symbol];\n\
         const uint16_t *at = ts_small_parse_table + ts_small_parse_table_map[SMALL_STATE(state)];\n\
         for (int groups = *at++; groups > 0; groups--) { int value = *at++;\n\
         for (int count = *at++; count > 0; count--) if (*at++ == symbol) return value; }\n\
         return 0; }\n";
    text.replace("int main", &format!("{look}int main"))
}

/// The words that the parser prints, compiled by this compiler.
fn printed(folder: &Path, compiler: &Path) -> Vec<String> {
    let run = |program: &Path, arguments: &[&str]| {
        let done = Command::new(program).args(arguments).current_dir(folder).output().expect("it runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).expect("it is text")
    };
    run(compiler, &["-O1", "-c", "parser.c", "-o", "parser.o"]);
    run(Path::new("cc"), &["parser.o", "-o", "parser"]);
    run(&folder.join("parser"), &[]).split(' ').map(str::to_owned).collect()
}

#[test]
fn states_of_a_parser_that_is_made_small_do_the_same() {
    let folder = tempfile::tempdir().expect("there is room");
    let head = "#include <stdint.h>\n#include <stdio.h>\n#define STATE(id) id\n#define ACTIONS(id) id\n\
         #define SMALL_STATE(id) ((id) - LARGE_STATE_COUNT)\ntypedef struct TSLanguage TSLanguage;\n";
    fs::write(folder.path().join("part.h"), head).expect("it is written");
    fs::write(folder.path().join("parser.c"), parser()).expect("it is written");
    let mut plain = printed(folder.path(), Path::new("cc"));
    let mut lean = printed(folder.path(), &Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/lean_cc.py"));
    let (symbols, states, large) = SIZES;
    let wanted = (0..states).flat_map(|state| (0..symbols).map(move |symbol| action(state, symbol).to_string()));
    assert_eq!((plain.pop(), lean.pop()), (Some(large.to_string()), Some("2".to_owned())));
    assert_eq!(plain, wanted.collect::<Vec<_>>());
    assert_eq!(plain, lean);
}

#[test]
fn a_parser_of_another_form_is_compiled_as_it_is() {
    let folder = tempfile::tempdir().expect("there is room");
    let text = "#include <stdio.h>\nint main(void) { printf(\"as it is\"); return 0; }\n";
    fs::write(folder.path().join("parser.c"), text).expect("it is written");
    let compiler = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/lean_cc.py");
    assert_eq!(printed(folder.path(), &compiler), ["as", "it", "is"]);
}
