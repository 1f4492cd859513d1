//! Surroundings of a definition: macros, scripts that share names, libraries that read objects, words above it.

use super::dead;

#[test]
fn a_macro_may_make_anything_of_what_it_is_given() {
    let project = "--- Cargo.toml
[package]
name = \"shop\"
--- src/main.rs
fn main() {}
fn spare() { println!(\"{}\", 1); }
names! {
    /// Names.
    pub struct Cipher(pub u16);

    enum CipherName {
        First => 1,
    }
}
cfg_rt! {
    enum Lost { First }
}
";
    let found = ["spare 1.0", "Lost 1.0", "Cipher 0.6", "CipherName 0.6"];
    assert_eq!(dead(project), found);
    let long = "    // As long as a list of all commands (of a protocol.\n".repeat(2_000);
    assert_eq!(dead(&project.replace("    enum CipherName", &format!("{long}    enum CipherName"))), found);
}

#[test]
fn scripts_that_are_put_together_share_their_names() {
    let project = |first: &str| {
        format!(
            "--- package.json
{{\"name\": \"shop\"}}
--- src/a.js
{first}
function quote(s) {{ return load(s); }}
function load(s) {{ return require('fs').readFileSync(s); }}
function spare(s) {{ return s; }}
--- src/b.js
import './c.js';
console.log(quote('a'));
"
        )
    };
    assert_eq!(dead(&project("")), ["quote 0.6", "load 0.6", "spare 0.6"]);
    assert_eq!(dead(&project("const path = require('path');")), ["quote 1.0", "spare 1.0", "load 0.7"]);
}

#[test]
fn a_name_is_asked_of_a_file_that_is_found_elsewhere() {
    let project = |module: &str| {
        format!(
            "--- shop/__init__.py
--- shop/main.py
import shop.boot.loaded
if __name__ == '__main__':
    shop.boot.loaded.go()
--- shop/boot/__init__.py
--- shop/boot/loaded.py
def go(): pass
def tree(): pass
--- shop/hook.py
import {module}
print({module}.tree())
if __name__ == '__main__':
    pass
"
        )
    };
    assert_eq!(dead(&project("elsewhere")), ["tree 0.8"]);
    assert_eq!(dead(&project("loaded")), ["tree 0.6"]);
}

#[test]
fn a_library_reads_the_getters_of_what_it_writes() {
    let project = |import: &str| {
        format!(
            "--- src/Query.java
class Query {{
  Query go() {{ return this; }}
  public int getSize() {{ return 1; }}
  public int size() {{ return 1; }}
}}
--- src/Main.java
import {import};
public class Main {{
  public static void main(String[] args) {{ System.out.println(write(new Query().go())); }}
  private static Object write(Query query) {{ return query; }}
}}
"
        )
    };
    assert_eq!(dead(&project("java.util.List")), ["Query.getSize 0.8", "Query.size 0.8"]);
    assert_eq!(dead(&project("com.fasterxml.jackson.databind.ObjectMapper")), ["Query.size 0.8", "Query.getSize 0.6"]);
}

#[test]
fn what_a_comment_says_is_used_by_others_is_kept() {
    let project = "--- package.json
{\"main\": \"a.js\"}
--- a.js
exports.own = 1;
// Used by the update prompt
function open(url) { return url; }
// For use by the scripts only
function pick(url) { return url; }
// Opens what is used
function openOther(url) { return url; }
--- shop/__init__.py
def _jupyter_server_extension_points(): return []
def _spare(): return []
";
    assert_eq!(dead(project), ["openOther 1.0", "_spare 1.0", "open 0.6", "pick 0.6"]);
}

#[test]
fn a_name_that_begins_with_a_mark_is_no_word_of_prose() {
    let project = "--- shop.py
def _run(): pass
def _spare(): pass
def _test():
    \"\"\"
    >>> t = _run
    \"\"\"
if __name__ == '__main__':
    import doctest
    doctest.testmod()
";
    assert_eq!(dead(project), ["_spare 1.0", "_run 0.6", "_test 0.6"]);
}

#[test]
fn eval_calls_what_a_text_names() {
    let project = |call: &str| {
        format!(
            "--- package.json
{{\"main\": \"a.js\"}}
--- a.js
exports.run = (name) => {call};
function DO_sum() {{ return 1; }}
function sum() {{ return 2; }}
"
        )
    };
    assert_eq!(dead(&project("eval(`DO_${name}()`)")), ["sum 1.0"]);
    assert_eq!(dead(&project("say(`DO_${name}()`)")), ["DO_sum 1.0", "sum 1.0"]);
}

#[test]
fn exercises_are_shown_to_readers() {
    let project = |folder: &str| {
        format!(
            "--- Cargo.toml
[package]
name = \"shop\"
--- src/main.rs
fn main() {{}}
--- {folder}/vecs.rs
fn fill() -> u8 {{ 1 }}
fn main() {{}}
#[test]
fn fills() {{ assert_eq!(fill(), 1); }}
"
        )
    };
    assert_eq!(dead(&project("src/bin")), ["fill 0.9"]);
    assert_eq!(dead(&project("exercises/01_vecs")), ["fill 0.6"]);
}

#[test]
fn what_is_inside_of_a_function_has_a_name_there_alone() {
    let project = "--- Cargo.toml
[package]
name = \"shop\"
--- src/main.rs
mod made;

fn main() { made::all(); }

fn spare() {
    fn inner() {}
    fn drain() {}
}
--- src/made.rs
macro_rules! forward {
    ($write:ident) => { fn $write(of: &mut Cart) { of.inner.$write(1); } };
}

pub fn all() { unknown().drain(); }

forward! { write }
";
    assert_eq!(dead(project), ["spare 1.0"]);
}

#[test]
fn a_function_that_asserts_types_is_there_to_be_compiled() {
    let project = |function: &str| format!("--- src/main.rs\nfn main() {{}}\n\nfn {function} {{ todo!() }}\n");
    assert_eq!(dead(&project("assert_sum() -> u32")), ["assert_sum 1.0"]);
    assert_eq!(dead(&project("assert_send()")), ["assert_send 0.6"]);
}

#[test]
fn a_macro_may_put_another_of_the_name_in_its_place() {
    let project = |opening: &str, closing: &str| {
        format!(
            "--- src/main.rs
mod io;
mod mock;

fn main() {{
    let _ = io::Metrics;
    mock::Metrics::count();
}}
--- src/io.rs
pub struct Metrics;

impl Metrics {{
    pub(crate) fn count() {{}}
}}
--- src/mock.rs
{opening}
pub struct Metrics {{}}

impl Metrics {{
    pub(crate) fn count() {{}}
}}
{closing}
"
        )
    };
    assert_eq!(dead(&project("", "")), ["Metrics.count 0.8"]);
    assert_eq!(dead(&project("cfg_not_net! {", "}")), ["Metrics.count 0.6"]);
}

#[test]
fn an_enumeration_calls_what_has_a_mark_on_both_sides() {
    let project = "--- shop/__main__.py
import enum


class Size(enum.Enum):
    small = enum.auto()

    @staticmethod
    def _generate_next_value_(name, start, count, last):
        return name

    @staticmethod
    def _spare(name):
        return name


print(Size.small)
";
    assert_eq!(dead(project), ["Size._spare 1.0"]);
}

#[test]
fn a_type_that_asks_whether_types_are_one_is_there_to_be_compiled() {
    let project = "--- package.json
{\"private\": true}
--- index.ts
import { Exact, Yes } from './types';
type Size = number;
type _SizeTest = Yes<Exact<Size, number>>;
type Sizes = Expect<Exact<Size, number>>;
type Spare = Exact<Size, number>;
console.log(1 as Size);
--- types.ts
export type Exact<A, B> = [A, B];
export type Yes<T extends [unknown, unknown]> = T;
";
    assert_eq!(dead(project), ["Spare 1.0", "_SizeTest 0.6", "Sizes 0.6"]);
}
