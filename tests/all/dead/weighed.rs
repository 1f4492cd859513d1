//! How sure a verdict is: a class, a member that is not private and a name that others define are less so.

use serde_json::json;

use super::{answer, dead};

#[test]
fn what_reflection_may_find_is_not_certain() {
    let java = "--- src/Main.java
public class Main {
  public static void main(String[] args) { new Quiet().go(); }
}
class Quiet {
  void go() {}
  void lost() {}
  private void gone() {}
}
class Idle {}
";
    assert_eq!(dead(java), ["Quiet.gone 1.0", "Quiet.lost 0.8", "Idle 0.8"]);
    let answer = answer(java, json!({}));
    assert_eq!(answer["dead_symbols"][1]["reason"], "no use is known, but code may find it by reflection");
}

#[test]
fn a_name_with_many_definitions_proves_little() {
    let file = |name: &str, other: &str| {
        format!("--- {name}/{name}.go\npackage {name}\n\nfunc Run() {{}}\n\nfunc {other}() int {{ return 1 }}\n")
    };
    let main = "--- go.mod\nmodule shop\n--- main.go\npackage main\n\nimport (\n\t\"shop/a\"\n\t\"shop/b\"\n\t\"shop/c\"\n)\n\nfunc main() {\n\ta.Run()\n\tb.Run()\n\tc.Run()\n}\n";
    let project =
        |names: [&str; 3]| [main.to_owned(), file("a", names[0]), file("b", names[1]), file("c", names[2])].concat();
    assert_eq!(dead(&project(["one", "two", "three"])), ["one 1.0", "two 1.0", "three 1.0"]);
    assert_eq!(dead(&project(["same", "same", "three"])), ["three 1.0", "same 0.8", "same 0.8"]);
    assert_eq!(dead(&project(["same"; 3])), ["same 0.6"; 3]);
}

#[test]
fn what_serves_something_tested_goes_with_it() {
    let mut project = "--- go.mod
module shop
--- main.go
package main

func main() { open() }

func open() {}

func tested() int { return inner() }

func inner() int { return 1 }

// COMPAT: settings of users call it.
func kept() int { return 3 }

func helper() int { return 2 }
--- main_test.go
package main

import \"testing\"

func TestIt(t *testing.T) { tested() }
"
    .to_owned();
    assert_eq!(dead(&project), ["helper 1.0", "tested 0.9", "inner 0.7", "kept 0.6"]);
    for number in 0..4 {
        project += &format!(
            "--- t{number}_test.go\npackage main\n\nimport \"testing\"\n\nfunc TestUse{number}(t *testing.T) {{ helper() }}\n"
        );
    }
    assert_eq!(dead(&project), ["tested 0.9", "inner 0.7", "kept 0.6", "helper 0.6"]);
}

#[test]
fn what_others_call_by_a_property_is_not_certain() {
    let project = "--- src/main/java/Cache.java
public class Cache {
  public static void main(String[] args) { new Cache(); }
  String getResolver() { return null; }
  String getSpare() { return null; }
}
--- src/test/kotlin/CacheTest.kt
class CacheTest {
  fun reads(sut: Cache) { println(sut.resolver) }
}
";
    assert_eq!(dead(project), ["Cache.getSpare 0.8", "Cache.getResolver 0.6"]);
}

#[test]
fn what_says_that_it_is_for_testing_is_kept() {
    let project = "--- setup.py
from setuptools import setup
setup(name='shop', packages=['shop'])
--- shop/__init__.py
--- shop/run.py
def go(): pass
def crash():
    \"\"\"Ends the process. For testing purposes\"\"\"
# Only used by the hook of the other side.
def _hook(): pass
# This is kept to read old files.
def _old(): pass
def _spare(): pass
--- shop/__main__.py
from shop.run import go
if __name__ == '__main__':
    go()
";
    assert_eq!(dead(project), ["_spare 0.8", "crash 0.6", "_hook 0.6", "_old 0.6"]);
}

#[test]
fn a_type_in_a_function_may_stand_for_one_around_it() {
    let project = "--- Cargo.toml
[package]
name = \"shop\"
--- src/main.rs
struct Step;
enum Lone { Third }
fn main() {
    make! {
        enum Step { First }
    }
    run(Step::First);
    let _ = Step;
}
fn run(_: u8) {}
";
    assert_eq!(dead(project), ["Lone 1.0", "Step 0.6"]);
}

#[test]
fn many_types_without_a_use_are_one_finding() {
    let project = |count: usize| {
        let types: String = (0..count).map(|at| format!("type Spare{at} = [number, {at}];\n")).collect();
        format!("--- package.json\n{{\"private\": true}}\n--- index.ts\nimport 'x';\n{types}console.log(1);\n")
    };
    assert_eq!(dead(&project(8)).iter().filter(|one| one.ends_with("1.0")).count(), 8);
    assert_eq!(dead(&project(9)).iter().filter(|one| one.ends_with("0.6")).count(), 9);
}

#[test]
fn a_folder_with_packages_that_many_use_holds_copies() {
    let project = |names: [&str; 3]| {
        let copies: String = names.iter().map(|name| format!("--- lib/{name}.py\nvalue = 1\n")).collect();
        format!(
            "{copies}--- lib/own/__init__.py\ndef _spare(): return 1\n--- app.py\nimport sys, own\nsys.path.insert(0, 'lib')\n"
        )
    };
    assert_eq!(dead(&project(["six", "idna", "shop"])), ["_spare 1.0"]);
    assert_eq!(dead(&project(["six", "idna", "mako"])), ["_spare 0.6"]);
}
