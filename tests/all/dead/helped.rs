//! Definitions that only tests use, because they test them or as their tools, and files that others run.

use super::dead;

#[test]
fn what_only_tests_of_other_files_use_helps_them() {
    let test = |package: &str, number: u8, call: &str| {
        format!(
            "package {package}\n\nimport (\n\t\"testing\"\n\n\t\"shop/internal/clock\"\n)\n\nfunc TestIt{number}(t *testing.T) {{ {call}() }}\n"
        )
    };
    let project = format!(
        "--- go.mod
module shop
--- main.go
package main

import (
\t\"shop/internal/cart\"
\t\"shop/internal/clock\"
)

func main() {{
\tclock.Now()
\tcart.Sum()
}}
--- internal/cart/cart.go
package cart

func Sum() {{}}
--- internal/clock/clock.go
package clock

func Now() {{}}

func Tomorrow() {{}}

func Fixed() {{}}

func Shared() {{}}

func ResetZone() {{}}
--- internal/clock/clock_test.go
{}
--- internal/clock/zone_test.go
{}
--- internal/cart/cart_test.go
{}
--- internal/cart/sum_test.go
{}
--- internal/cart/zone_test.go
{}
",
        test("clock", 1, "Tomorrow"),
        test("clock", 2, "ResetZone"),
        test("cart", 3, "clock.Fixed"),
        test("cart", 4, "clock.Shared"),
        test("cart", 5, "clock.Shared"),
    );
    assert_eq!(dead(&project), ["Tomorrow 0.9", "Fixed 0.6", "Shared 0.6", "ResetZone 0.6"]);
}

#[test]
fn no_base_calls_what_cannot_stand_for_one_of_its_members() {
    let project = "--- src/Main.java
import javax.tools.Tool;

public class Main implements Tool {
  public static void main(String[] args) { new Main(); }
  public int run(int a) { return a; }
  static int spare(int a) { return a; }
}
";
    assert_eq!(dead(project), ["Main.spare 0.8"]);
}

#[test]
fn a_script_and_a_file_with_something_decorated_are_run() {
    let project = |first: &str, mark: &str| {
        format!("--- tasks.py\n{first}\nfrom invoke import task\n{mark}\ndef build(c): pass\ndef spare(c): pass\n")
    };
    assert_eq!(dead(&project("", "")), ["build 0.6", "spare 0.6"]);
    assert_eq!(dead(&project("", "@task")), ["spare 0.8"]);
    assert_eq!(dead(&project("#!/usr/bin/env python", "@task")), ["spare 0.8"]);
    assert_eq!(dead(&project("#!/usr/bin/env python", "")), ["build 0.8", "spare 0.8"]);
}

#[test]
fn a_file_that_says_that_it_is_for_testing_helps_tests() {
    let project = |comment: &str| {
        format!(
            "--- go.mod
module shop
--- main.go
package main

import \"shop/internal/raw\"

func main() {{ raw.Close() }}
--- internal/raw/raw.go
package raw
{comment}

import \"fmt\"

func Opened() {{ fmt.Println(1) }}

func Close() {{ fmt.Println(2) }}
--- internal/raw/raw_test.go
package raw

import \"testing\"

func TestOpen(t *testing.T) {{ Opened() }}
"
        )
    };
    assert_eq!(dead(&project("// Raw access to files.")), ["Opened 0.9"]);
    assert_eq!(dead(&project("// Raw access to files, for the sake of testing.")), [""; 0]);
}

#[test]
fn what_uses_helpers_of_tests_or_stands_for_nothing_is_one_of_them() {
    let project = "--- go.mod
module shop
--- main.go
package main

import \"shop/internal/cart\"

func main() { cart.Sum() }
--- internal/cart/carttest/made.go
package carttest

func Made() int { return 1 }
--- internal/cart/cart.go
package cart

import \"shop/internal/cart/carttest\"

func Sum() {}

func Filled() int { return carttest.Made() }

func NewNopCart() int { return 2 }

func Spare() int { return 3 }
--- internal/cart/cart_test.go
package cart

import \"testing\"

func TestIt(t *testing.T) { Filled(); NewNopCart(); Spare() }
--- internal/certs/certs.go
package certs

import \"testing\"

func Fill(t *testing.T) {}

func Read(t *testing.T) {}

func Status() int { return 1 }
--- internal/certs/certs_test.go
package certs

import \"testing\"

func TestIt(t *testing.T) { Fill(t); Read(t); Status() }
";
    assert_eq!(dead(project), ["Spare 0.9"]);
}

#[test]
fn what_tests_of_two_folders_use_helps_them() {
    let test = |package: &str, call: &str| {
        format!(
            "package {package}\n\nimport (\n\t\"testing\"\n\n\t\"shop/internal/certs\"\n)\n\nfunc TestIt(t *testing.T) {{ {call}() }}\n"
        )
    };
    let project = format!(
        "--- go.mod
module shop
--- main.go
package main

import \"shop/internal/certs\"

func main() {{
\tcerts.Load()
}}
--- internal/certs/certs.go
package certs

func Load() {{}}

func Issue() {{}}

func Inspect() {{}}
--- internal/certs/certs_test.go
package certs

import \"testing\"

func TestAll(t *testing.T) {{
\tGenerate()
\tInspect()
}}
--- internal/api/api_test.go
{}
",
        test("api", "certs.Issue"),
    );
    assert_eq!(dead(&project), ["Inspect 0.9", "Issue 0.6"]);
}

#[test]
fn dead_code_with_tests_has_one_of_its_own() {
    let project = |test: &str| {
        format!(
            "--- go.mod
module shop
--- main.go
package main

func main() {{ open(1) }}

func open(k int) int {{ return k }}

func joined(k int) int {{ return k + 1 }}
--- main_test.go
package main

import \"testing\"

{test}
"
        )
    };
    assert_eq!(dead(&project("func TestSums(t *testing.T) { joined(1) }")), ["joined 0.9"]);
    assert_eq!(dead(&project("func TestJoined(t *testing.T) { joined(open(1)) }")), ["joined 0.9"]);
    // It may be there to prepare what the test is about.
    assert_eq!(dead(&project("func TestOpen(t *testing.T) { open(joined(1)) }")), ["joined 0.6"]);
    let helper = "func make() int { return joined(1) }\n\nfunc TestOpen(t *testing.T) { open(make()) }";
    assert_eq!(dead(&project(helper)), ["joined 0.6"]);
}

#[test]
fn tests_that_are_calls_are_told_apart_by_their_words() {
    let project = |test: &str| {
        format!(
            "--- package.json
{{\"name\": \"shop\", \"private\": true, \"scripts\": {{\"start\": \"node src/main.js\"}}}}
--- src/main.js
import {{ open }} from './cart.js'
open(1)
--- src/cart.js
export function open(k) {{ return k }}
export function joinedItems(k) {{ return k + 1 }}
--- src/cart.test.js
import {{ open, joinedItems }} from './cart.js'

describe('cart', () => {{
  it('opens', () => {{ expect(open(1)).toBe(1) }})
  {test}
}})
"
        )
    };
    assert_eq!(dead(&project("it('sums', () => { expect(joinedItems(1)).toBe(2) })")), ["joinedItems 0.9"]);
    assert_eq!(
        dead(&project("it('says which joined items it has', () => { open(joinedItems(1)) })")),
        ["joinedItems 0.9"]
    );
    assert_eq!(dead(&project("it('opens again', () => { open(joinedItems(1)) })")), ["joinedItems 0.6"]);
}

#[test]
fn a_test_by_its_name_and_examples_in_documentation_are_run() {
    let project = |spare: &str| format!("--- app.py\nclass Loop:\n    def go(self): pass\n{spare}\nLoop().go()\n");
    assert_eq!(dead(&project("    def _spare(self): pass")), ["Loop._spare 1.0"]);
    assert_eq!(dead(&project("    def _test_run(self): pass")), ["Loop._test_run 0.6"]);
    let shown = "    def _spare(self):\n        \"\"\"Runs.\n\n        >>> Loop().go()\n        \"\"\"";
    assert_eq!(dead(&project(shown)), ["Loop._spare 0.6"]);
}

#[test]
fn tests_in_the_file_itself_are_tests_of_something() {
    let project = |test: &str| {
        format!(
            "--- Cargo.toml
[package]
name = \"shop\"
--- src/main.rs
struct Order(u32);

impl Order {{
    fn new() -> Self {{ Order(1) }}
    fn with_price(self, price: u32) -> Self {{ Order(price) }}
    fn sum(&self) -> u32 {{ self.0 }}
}}

fn main() {{ println!(\"{{}}\", Order::new().sum()); }}

#[cfg(test)]
mod tests {{
    use super::*;

    #[test]
    fn {test}() {{ assert_eq!(Order::new().with_price(3).sum(), 3); }}
}}
"
        )
    };
    assert_eq!(dead(&project("with_price_sets_it")), ["Order.with_price 0.9"]);
    assert_eq!(dead(&project("sums")), ["Order.with_price 0.6"]);
}

#[test]
fn what_a_linter_lets_be_unused_helps_its_tests() {
    let project = |mark: &str| {
        format!(
            "--- go.mod
module shop
--- main.go
package main

func main() {{ open() }}

func open() {{}}

// total is kept.
//
{mark}
func total() int {{ return 1 }}
--- main_test.go
package main

import \"testing\"

func TestTotal(t *testing.T) {{ total() }}
"
        )
    };
    assert_eq!(dead(&project("//")), ["total 0.9"]);
    assert_eq!(dead(&project("//nolint:unused")), ["total 0.6"]);
}

#[test]
fn a_copy_stays_like_what_it_is_copied_from() {
    let project =
        |head: &str| format!("--- main.go\n{head}\n\npackage main\n\nfunc main() {{}}\n\nfunc spare() {{}}\n");
    assert_eq!(dead(&project("// Package main is a shop.")), ["spare 1.0"]);
    assert_eq!(dead(&project("// Keep this in sync with the shop's own file.")), ["spare 0.6"]);
    assert_eq!(dead(&project("/*\nInput to cgo -godefs.\n*/")), ["spare 0.6"]);
}

#[test]
fn what_tests_of_another_file_use_as_well_helps_them() {
    let project = |other: &str| {
        format!(
            "--- app.py
import sums, words
sums.add(1)
words.join('a')
--- sums.py
def add(a): return a
def is_low(): return False
--- words.py
def join(a): return a
--- test/test_sums.py
from sums import is_low
def test_is_low(): assert not is_low()
--- test/test_words.py
from words import join
{other}
"
        )
    };
    assert_eq!(dead(&project("def test_join(): assert join('a')")), ["is_low 0.9"]);
    let helped = "from sums import is_low\ndef test_join(): assert is_low() or join('a')";
    assert_eq!(dead(&project(helped)), ["is_low 0.6"]);
}
