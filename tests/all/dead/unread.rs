//! Uses that no resolved name shows: by settings, build tools, tests, files with errors and compiled files.

use serde_json::json;

use super::{answer, dead};

#[test]
fn a_class_that_settings_name_has_its_methods_called() {
    let project = "--- shop/settings.py
BACKENDS = ['shop.backends.Email']
--- shop/backends.py
class Base:
    def get_user(self):
        return 1


class Email(Base):
    def check(self):
        return 2


class Spare:
    def check_all(self):
        return 3
";
    assert_eq!(dead(project), ["Spare 0.6"]);
}

#[test]
fn what_the_parser_did_not_understand_may_use_a_name() {
    let project = "--- a.js
function kindOf(x) { return x }
function spare(x) { return x }
opaque type Kind: string = { of: kindOf };
";
    assert_eq!(dead(project), ["spare 0.6"]);
}

#[test]
fn a_type_of_modules_makes_no_library() {
    let project = "--- package.json
{\"name\": \"shop\", \"type\": \"module\"}
--- a.js
export function spare() {}
";
    assert_eq!(dead(project), ["spare 0.6"]);
    let library = project.replace("\"type\"", "\"main\": \"a.js\", \"type\"");
    assert_eq!(dead(&library), [""; 0]);
}

#[test]
fn what_takes_a_test_is_for_tests() {
    let project = "--- go.mod
module example.org/shop
--- a.go
package main

import \"testing\"

func fill(b *testing.B) { b.ReportAllocs() }

func spare(n int) {}

func main() {}
--- a_test.go
package main

import \"testing\"

func BenchmarkFill(b *testing.B) { fill(b); spare(1) }
";
    assert_eq!(dead(project), ["spare 0.9"]);
}

#[test]
fn a_rule_of_a_macro_calls_methods_of_the_type_that_uses_it() {
    let project = "--- Cargo.toml
[package]
name = \"shop\"
--- src/main.rs
#[macro_use]
mod rules;
mod client;
fn main() { client::Client.close() }
--- src/rules.rs
macro_rules! closes {
    ($name:ident) => {
        pub fn close(self) { Self::_end(self); }
    };
}
--- src/client.rs
pub struct Client;
impl Client {
    fn _end(self) {}
    fn _spare(self) {}
    closes!(x);
}
";
    assert_eq!(dead(project), ["Client._spare 1.0"]);
}

#[test]
fn a_build_hook_is_called_by_its_tool() {
    let project = "--- hatch_build.py
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        return 1
";
    assert_eq!(dead(project), [""; 0]);
}

#[test]
fn a_compiled_file_is_used_as_its_source_is() {
    let project = "--- util.ts
export class Clock {
  print() {}
}
export function spare() {}
--- util.js
class Clock {
  print() {}
}
exports.Clock = Clock;
function spare() {}
--- main.js
const { Clock } = require('./util');
new Clock().print();
";
    let found = dead(project);
    assert!(found.iter().all(|found| found.starts_with("spare")) && !found.is_empty(), "{found:?}");
}

#[test]
fn code_that_is_too_large_for_the_index_uses_names() {
    let project = |lines: usize| {
        format!(
            "--- cart.py
def go(): pass
def large_total(): pass
def spare(): pass
go()
--- main.py
import cart
cart.go()
--- large.py
import cart
{}cart.large_total()
",
            "# as many words as it takes\n".repeat(lines)
        )
    };
    assert_eq!(dead(&project(1)), ["spare 0.8"]);
    assert_eq!(dead(&project(40_000)), ["spare 0.8", "large_total 0.6"]);
}

#[test]
fn a_module_is_asked_for_a_name_in_a_variable() {
    let project = |asked: &str| {
        format!(
            "--- main.py
import handlers

def run(name):
    handlers.go()
    return getattr(handlers, {asked})()

run(input())
--- handlers.py
def go(): pass
def open_cart(): pass
"
        )
    };
    assert_eq!(dead(&project("name")), [""; 0]);
    assert_eq!(dead(&project("'go'")), ["open_cart 0.8"]);
    // An object may have the name of the module that its class is from.
    let other = project("name").replace("import handlers\n", "from handlers import Carts\nhandlers = Carts()\n");
    let other = other.replace("def go", "class Carts:\n    def go(self): pass\n\ndef go");
    assert!(dead(&other).contains(&"open_cart 0.8".to_owned()), "{:?}", dead(&other));
}

#[test]
fn a_base_lends_methods_to_an_interface_of_what_is_derived() {
    let project = |interface: &str| {
        format!(
            "--- src/Main.java
import java.util.Enumeration;

public class Main {{
  public static void main(String[] args) {{ new Keys().nextElement(); }}
}}
class Base {{
  public final boolean hasMoreElements() {{ return true; }}
}}
class Keys extends Base {interface} {{
  public String nextElement() {{ return null; }}
}}
"
        )
    };
    assert_eq!(dead(&project("")), ["Base.hasMoreElements 0.8"]);
    assert_eq!(dead(&project("implements Enumeration<String>")), ["Base.hasMoreElements 0.6"]);
}

#[test]
fn a_bundler_names_the_first_files_of_programs() {
    let project = |entry: &str| {
        format!(
            "--- package.json
{{\"name\": \"shop\", \"private\": true}}
--- tools/webpack.config.js
module.exports = {{ entry: {{ widget: \"{entry}\" }} }};
--- src/widget.ts
import {{ sum }} from \"./sum\";
export function onOrder() {{ return sum(); }}
--- src/sum.ts
export function sum() {{ return 1; }}
--- src/other.ts
import {{ sum }} from \"./sum\";
import \"./widget\";
console.log(sum());
"
        )
    };
    assert_eq!(dead(&project("./src/other")), ["onOrder 0.8"]);
    assert_eq!(dead(&project("./src/widget")), [""; 0]);
    assert_eq!(dead(&project("../src/widget.ts")), [""; 0]);
}

#[test]
fn a_macro_of_a_function_is_called_in_it() {
    let project = "--- Cargo.toml
[package]
name = \"shop\"
--- src/main.rs
fn main() {
    macro_rules! price {
        ($e:expr) => { $e + 1 };
    }
    other();
    price!(2);
}

fn other() {
    macro_rules! price {
        ($e:expr) => { $e + 2 };
    }
    macro_rules! spare {
        ($e:expr) => { $e + 2 };
    }
    price!(2);
}
";
    assert_eq!(dead(project), ["other.spare 1.0"]);
}

#[test]
fn a_base_reads_what_stands_for_its_value() {
    let project = "--- pyproject.toml
[project]
name = \"shop\"
--- shop/base.py
class Base:
    _limit = 1

    def run(self):
        return self._limit


class Derived(Base):
    @property
    def _limit(self):
        return 2


def main():
    Derived().run()
--- shop/__main__.py
from shop.base import main
main()
";
    assert_eq!(dead(project), ["Derived._limit 0.6"]);
}

#[test]
fn assembly_calls_by_name() {
    let project = |call: &str| {
        format!(
            "--- go.mod
module shop
--- main.go
package main

func main() {{ start() }}

func start()

func sum(a, b int) int {{ return a + b }}
--- start_amd64.s
TEXT ·start(SB), $0
\t{call}
\tRET
"
        )
    };
    assert_eq!(dead(&project("NOP")), ["sum 1.0"]);
    assert_eq!(dead(&project("CALL ·sum(SB)")), ["sum 0.6"]);
    assert_eq!(dead(&project("CALL shop·sum<ABIInternal>(SB)")), ["sum 0.6"]);
}

#[test]
fn what_stands_for_a_base_leaves_its_methods_out() {
    let project = |mark: &str| {
        format!(
            "--- src/Main.java
public class Main {{
  public static void main(String[] args) {{ new Finder().start(); }}
}}
class Finder extends Visitor {{
  void start() {{}}
  {mark}public void visitTree(int tree) {{}}
}}
--- stubs/Visitor.java
public abstract class Visitor {{}}
"
        )
    };
    assert_eq!(dead(&project("")), ["Finder.visitTree 0.8"]);
    assert_eq!(dead(&project("@Override ")), ["Finder.visitTree 0.6"]);
}

#[test]
fn a_build_may_take_a_package_from_a_folder_of_sources() {
    let project = "--- shop/src/cart/__init__.py
--- shop/src/cart/sums.py
def used(): pass
def spare(): pass
--- shop/src/cart/main.py
from shop.cart.sums import used
if __name__ == '__main__':
    used()
";
    assert_eq!(dead(project), ["spare 0.8"]);
}

#[test]
fn a_folder_whose_mark_keeps_tools_out_is_shown_to_readers() {
    let project = |folder: &str| {
        format!(
            "--- go.mod
module shop
--- {folder}/main.go
package main
func main() {{}}
func publish() {{}}
"
        )
    };
    assert_eq!(dead(&project("_shop")), ["publish 1.0"]);
    assert_eq!(dead(&project("_examples")), ["publish 0.6"]);
    assert_eq!(dead(&project("sample-app")), ["publish 0.6"]);
    assert_eq!(dead(&project("gotestdata")), ["publish 0.6"]);
}

#[test]
fn a_build_for_a_system_takes_the_files_of_its_kind() {
    let project = |system: &str| {
        format!(
            "--- go.mod
module shop
--- view_darwin.go
package main
func main() {{ show() }}
--- view_macos.go
//go:build darwin && !ios
package main
func show() {{}}
--- view_{system}.go
package main
func show() {{}}
"
        )
    };
    assert_eq!(dead(&project("ios")), [""; 0]);
    assert_eq!(dead(&project("android")), ["show 0.8"]);
}

#[test]
fn what_calls_a_decorated_method_makes_its_object() {
    let project = |mark: &str| {
        format!(
            "--- src/Main.java
import io.framework.BuildStep;
public class Main {{
  public static void main(String[] args) {{}}
}}
class Steps {{
  {mark}void feature() {{}}
}}
"
        )
    };
    let class = |mark: &str| dead(&project(mark)).into_iter().find(|one| one.starts_with("Steps "));
    assert_eq!(class("").as_deref(), Some("Steps 0.8"));
    assert_eq!(class("@Nullable ").as_deref(), Some("Steps 0.8"));
    assert_eq!(class("@BuildStep ").as_deref(), Some("Steps 0.6"));
}

#[test]
fn a_declaration_of_what_others_define_is_not_judged() {
    let project = "--- lib/device.pyi
def _spare(): ...
--- app.py
def _spare(): return 1
";
    let answer = answer(project, json!({"min_confidence": 0}));
    assert_eq!(answer["dead_symbols"][0]["symbol_id"], "app.py::_spare#function");
    assert_eq!((answer["dead_symbols"][1].is_null(), &answer["files_not_judged"]), (true, &json!(1)));
}

#[test]
fn an_example_that_must_not_compile_is_a_test() {
    let project = |example: &str| {
        format!(
            "--- Cargo.toml
[package]
name = \"shop\"
--- src/main.rs
fn main() {{}}
/// Nothing opens it.
/// ```{example}
/// let a: u8 = \"\";
/// ```
fn spare() {{}}
fn require_send() {{}}
"
        )
    };
    assert_eq!(dead(&project("ignore")), ["spare 1.0", "require_send 0.6"]);
    assert_eq!(dead(&project("compile_fail")), ["spare 0.6", "require_send 0.6"]);
}

#[test]
fn a_lexer_finds_rules_by_their_names() {
    let project =
        |call: &str| format!("--- rules.py\ndef t_SPACE(t): return t\n{call}\n--- app.py\nimport rules\nrules\n");
    assert_eq!(dead(&project("lex.build()")), ["t_SPACE 0.8"]);
    assert_eq!(dead(&project("lex.lex()")), [""; 0]);
}

#[test]
fn one_build_takes_a_file_and_another_that_beside_it() {
    let project = |folder: &str| {
        format!(
            "--- package.json
{{\"private\": true}}
--- index.ts
import {{ name }} from './env/node/platform';
console.log(name());
--- env/node/platform.ts
export function name() {{ return 'node'; }}
--- env/{folder}/platform.ts
export function name() {{ return 'browser'; }}
export const kind = 'browser';
--- other.ts
import {{ kind }} from './env/{folder}/platform';
console.log(kind);
"
        )
    };
    assert_eq!(dead(&project("browser")), ["name 0.6"]);
    assert_eq!(dead(&project("far/browser")), ["name 0.8"]);
}

#[test]
fn a_class_that_is_kept_keeps_its_methods() {
    let project = |comment: &str| {
        format!(
            "--- src/Main.java
public class Main {{
  public static void main(String[] args) {{ new Matrix().open(); }}
}}
/** {comment} */
class Matrix {{
  void open() {{}}
  void register(int a) {{}}
}}
"
        )
    };
    assert_eq!(dead(&project("Counts what is right.")), ["Matrix.register 0.8"]);
    assert_eq!(dead(&project("Not used now, but retained for later.")), ["Matrix.register 0.6"]);
}
