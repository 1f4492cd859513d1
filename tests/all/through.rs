//! Calls through tables: where a function is stored, and who calls what is stored there; a sample for each language,
//! each with a neighbour that has the same name and is another.

use serde_json::{Value, json};

use super::graph::ask;
use super::meant::text;

/// Checks what is told of a function that is handed on.
fn check(project: &str, function: &str, expected: &str) {
    let calls = text(project, "get_call_hierarchy", json!({"symbol_id": function}));
    let told = calls.lines().find(|line| line.starts_with("handed on"));
    assert_eq!(told.unwrap_or_default(), expected, "{calls}");
}

const BUS: &str = "--- bus.h
struct bus_ops {
    int (*read)(int reg);
    int (*write)(int reg, int value);
};
struct bus { const struct bus_ops *ops; };
struct disk_ops { int (*write)(int sector); };
struct command { const char *name; int (*proc)(int, int); };
--- bus.c
#include \"bus.h\"
int bus_write(struct bus *bus, int reg) { return bus->ops->write(reg, 1); }
int disk_write(struct disk_ops *ops) { return (*ops->write)(3); }
--- spi.c
#include \"bus.h\"
static int spi_read(int reg) { return reg; }
static int spi_write(int reg, int value) { return reg + value; }
static int spi_flush(int sector) { return sector; }
static int spi_idle(int sector) { return sector; }
const struct bus_ops spi_ops = {
    .read = spi_read,
    .write = spi_write,
};
static const struct command commands[] = {
#ifdef SPI
    { \"write, {now}\", spi_write },
#endif
};
static struct bus_ops second = { &spi_read, spi_write };
int run(int i) { return commands[i].proc(1, 2); }
void attach(struct disk_ops *ops) {
    ops->write = &spi_flush;
    if (ops->write == spi_idle) return;
}
";

#[test]
fn fields_and_records_of_c() {
    check(
        BUS,
        "spi_write",
        "handed on in spi.c:8 (bus_ops.write), spi.c:12 (commands[].proc), spi.c:15 (bus_ops.write); \
         called through bus_ops.write in bus_write bus.c:2; called through commands[].proc in run spi.c:16",
    );
    check(BUS, "spi_read", "handed on in spi.c:7 (bus_ops.read), spi.c:15 (bus_ops.read)");
    check(
        BUS,
        "spi_flush",
        "handed on in spi.c:18 (disk_ops.write); called through disk_ops.write in disk_write bus.c:3",
    );
    check(BUS, "spi_idle", "handed on as a value, so that others may call it: spi.c:19 in attach");
}

#[test]
fn calls_through_tables_are_no_callers() {
    let calls = ask(BUS, "get_call_hierarchy", json!({"symbol_id": "spi_flush", "direction": "callers"}));
    assert_eq!(calls["callers"], json!([]), "{calls}");
    assert_eq!(calls["stored"], json!([{"at": "spi.c:18", "slot": "disk_ops.write"}]), "{calls}");
    let through = json!([{"slot": "disk_ops.write", "id": "bus.c::disk_write#function", "file": "bus.c", "at": [3]}]);
    assert_eq!(calls["called_through"], through, "{calls}");
    let blast = ask(BUS, "get_blast_radius", json!({"symbol_id": "spi_flush"}));
    assert_eq!(blast["called_through"], through, "{blast}");
    assert_eq!(blast["potential"], json!([{"file": "bus.c", "confidence": "through"}]), "{blast}");
    assert!(blast["confirmed"].as_array().is_some_and(|all| all.iter().all(|one| one["file"] != "bus.c")), "{blast}");
}

#[test]
fn tests_reach_a_function_through_a_table() {
    let project = "--- shop/rules.py
class Rule:
    def __init__(self, run):
        self.run = run

def apply(rule: Rule, item):
    return rule.run(item)
--- shop/price.py
from shop.rules import Rule

def price(item):
    return 1

PRICE = Rule(price)
--- tests/test_rules.py
from shop.rules import apply

def test_apply():
    assert apply(None, 1) == 1
";
    let tests = ask(project, "find_tests", json!({"targets": ["shop/price.py::price#function"]}));
    let found: Vec<&Value> = tests["tests"].as_array().into_iter().flatten().collect();
    assert!(found.iter().any(|one| one["file"] == "tests/test_rules.py" && one["through"] == "through"), "{tests}");
}

#[test]
fn tables_and_registries_of_python() {
    let project = "--- app.py
HANDLERS = {}

def register(name):
    def wrap(fn):
        HANDLERS[name] = fn
        return fn
    return wrap

@register('start')
def start(event): return event

def stop(event): return event

def other(event): return event

TABLE = {'stop': stop}
OTHER = {'stop': other}

def fire(name, event):
    handler = HANDLERS.get(name)
    if handler:
        handler(event)

def dispatch(name, event):
    TABLE['start'](event)
    return TABLE[name](event)

class Server:
    def __init__(self):
        self.funcs: T.Dict[str, T.Callable[[int], None]] = {'a': self.do_a}
        self.funcs.update({'b': self.do_b})

    def do_a(self): return 1

    def do_b(self): return 1

    def call(self, name):
        func = self.funcs[name]
        return func()

def each(items, key):
    return [key(item) for item in items]

each([], stop)
";
    check(project, "start", "handed on in app.py:9 (HANDLERS[]); called through HANDLERS[] in fire app.py:22");
    check(
        project,
        "stop",
        "handed on in app.py:16 (TABLE.stop), app.py:44 (each()); called through TABLE.stop in dispatch app.py:26; \
         called through each() in each app.py:42",
    );
    check(project, "other", "handed on in app.py:17 (OTHER.stop)");
    check(
        project,
        "do_a",
        "handed on in app.py:30 (Server.funcs.a); called through Server.funcs.a in Server.call app.py:39",
    );
    check(
        project,
        "do_b",
        "handed on in app.py:31 (Server.funcs.b); called through Server.funcs.b in Server.call app.py:39",
    );
}

#[test]
fn objects_and_lists_of_javascript() {
    let project = "--- app.js
function onOpen(x) { return x; }
function onClose(x) { return x; }
function onKey(x) { return x; }
function close(x) { return x; }
const handlers = { open: onOpen, 'close': onClose, close };
handlers.key = onKey;
const others = { open: close };
function run(kind) { handlers.key(2); return handlers[kind](1); }
class Connection {
  constructor() { this.actions = []; }
  start() { this.actions.push(this.greet); }
  greet(s) { return s; }
  next(s) { const action = this.actions.shift(); action.call(this, s); }
}
const list = [onOpen];
function all() { list.forEach((one) => one(1)); for (const one of list) { one(2); } }
module.exports = { run, all, Connection, others };
";
    check(
        project,
        "onOpen",
        "handed on in app.js:5 (handlers.open), app.js:15 (list[]); called through handlers.open in run app.js:8; \
         called through list[] in all app.js:16",
    );
    check(project, "onKey", "handed on in app.js:6 (handlers.key); called through handlers.key in run app.js:8");
    check(
        project,
        "close",
        "handed on in app.js:5 (handlers.close), app.js:7 (others.open); called through handlers.close in run app.js:8",
    );
    check(
        project,
        "greet",
        "handed on in app.js:11 (Connection.actions[]); called through Connection.actions[] in Connection.next app.js:13",
    );
}

#[test]
fn objects_of_typescript() {
    let project = "--- app.ts
type Handler = (x: number) => void;
function openIt(x: number) {}
function closeIt(x: number) {}
const table: Record<string, Handler> = { open: openIt };
const second: Record<string, Handler> = { open: closeIt };
export function run(kind: string) { table[kind]?.(2); second.close(1); }
class Timer {
  constructor(private onTick: Handler) {}
  fire() { this.onTick(1); }
}
export const timer = new Timer(closeIt);
";
    check(project, "openIt", "handed on in app.ts:4 (table.open); called through table.open in run app.ts:6");
    check(
        project,
        "closeIt",
        "handed on in app.ts:5 (second.open), app.ts:11 (Timer.onTick); \
         called through Timer.onTick in Timer.fire app.ts:9",
    );
}

#[test]
fn maps_and_fields_of_go() {
    let project = "--- main.go
package main

type op struct {
	name string
	run  func(int) int
}

type state struct{ run func(int) int }

func add(x int) int { return x }
func sub(x int) int { return x }
func mul(x int) int { return x }

var table = map[string]func(int) int{
	\"add\": add,
}
var ops = []op{{\"sub\", sub}, op{\"mul\", mul}}

func main() {
	s := &state{run: add}
	s.run(3)
	if f, ok := table[\"add\"]; ok {
		f(1)
	}
	for _, o := range ops {
		o.run(2)
	}
}
";
    check(
        project,
        "add",
        "handed on in main.go:15 (table.add), main.go:20 (state.run); called through table.add in main main.go:23; \
         called through state.run in main main.go:21",
    );
    check(project, "sub", "handed on in main.go:17 (ops[].run); called through ops[].run in main main.go:26");
    check(project, "mul", "handed on in main.go:17 (op.run); called through op.run in main main.go:26");
}

#[test]
fn fields_and_arrays_of_rust() {
    let project = "--- src/main.rs
struct Command { name: &'static str, run: fn(i32) -> i32 }
struct Other<'a> { name: &'a str, run: fn(i32) -> i32 }
fn add(x: i32) -> i32 { x }
fn sub(x: i32) -> i32 { x }
fn far(x: i32) -> i32 { x }
static COMMANDS: &[Command] = &[Command { name: \"add\", run: add }];
static LIST: [fn(i32) -> i32; 2] = [add, sub];
fn go(c: &Command) -> i32 { (c.run)(1) }
fn main() {
    let other = Other { name: \"\", run: far };
    go(&COMMANDS[0]);
    LIST[1](2);
}
";
    check(
        project,
        "add",
        "handed on in src/main.rs:6 (Command.run), src/main.rs:7 (LIST[]); called through Command.run in go src/main.rs:8; \
         called through LIST[] in main src/main.rs:12",
    );
    check(project, "far", "handed on in src/main.rs:10 (Other.run)");
}

#[test]
fn method_references_of_java() {
    let project = "--- A.java
import java.util.function.Function;
class A {
    private final Function<String, String> source;
    private Task closer;
    A(Function<String, String> given) { this.source = given; closer = this::close; }
    void close() {}
    String ask() throws Exception { closer.run(); return source.apply(\"x\"); }
    static String up(String s) { return s; }
    static String down(String s) { return s; }
    static A make() { return new A(A::up); }
    static B other() { return new B(A::down); }
}
interface Task { void run() throws Exception; }
class B {
    private final Function<String, String> source;
    B(Function<String, String> given) { this.source = given; }
}
";
    check(project, "A.up", "handed on in A.java:10 (A.source); called through A.source in A.ask A.java:7");
    check(project, "A.close", "handed on in A.java:5 (A.closer); called through A.closer in A.ask A.java:7");
    check(project, "A.down", "handed on in A.java:11 (B.source)");
}

#[test]
fn delegates_of_csharp() {
    let project = "--- A.cs
using System;
class Getter {
    private readonly Func<int, int> _getter;
    public Getter(Func<int, int> getter) { _getter = getter; }
    public int Call(int x) { return _getter(x); }
    public int Again(int x) => _getter.Invoke(x);
}
class B {
    private static readonly Action<int> OnX = Shown;
    private static readonly Action<int> OnY = Hidden;
    static void Shown(int x) { }
    static void Hidden(int x) { }
    int DoGet(int x) { return x; }
    Getter Make() { OnX(2); return new Getter(DoGet); }
}
";
    check(
        project,
        "DoGet",
        "handed on in A.cs:14 (Getter._getter); called through Getter._getter in Getter.Call A.cs:5, Getter.Again A.cs:6",
    );
    check(project, "Shown", "handed on in A.cs:9 (B.OnX); called through B.OnX in B.Make A.cs:14");
    check(project, "Hidden", "handed on in A.cs:10 (B.OnY)");
}

#[test]
fn functions_in_fields_of_cpp() {
    let project = "--- a.cc
#include <functional>
struct Main { int Browse(int x) { return x; } };
static int on_tick(int x) { return x; }
static int on_start(int x) { return x; }
struct Timer {
  std::function<int(int)> cb;
  std::function<int(int)> begun;
  Timer(std::function<int(int)> first) : begun(first) {}
  int fire() { return cb(1); }
  int begin() { return begun(1); }
  void set(std::function<int(int)> f) { cb = f; }
};
struct Tool { const char* name; int (Main::*func)(int); };
int run(Main& m, const Tool* tool) {
  static const Tool kTools[] = { { \"browse\", &Main::Browse } };
  Timer t(on_start);
  t.set(on_tick);
  return (m.*tool->func)(3);
}
";
    check(project, "on_tick", "handed on in a.cc:17 (Timer.cb); called through Timer.cb in Timer.fire a.cc:9");
}
