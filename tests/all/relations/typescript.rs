//! TypeScript's rules, beside those of JavaScript, one test each.

use super::{Marked, check, check_imports, relations};

#[test]
fn types_come_from_annotations() {
    check(
        "--- a.ts
export interface Shape⟦=Shape⟧ { area⟦=area⟧(): number; next⟦=next⟧: Shape⟦Shape⟧ | null }
export type Alias⟦=Alias⟧ = Shape⟦Shape⟧;
--- b.ts
import type { Shape⟦Shape⟧, Alias⟦Alias⟧ } from './a.js';
function f(a: Shape⟦Shape⟧, b: Alias⟦Alias⟧, many: Array<Shape⟦Shape⟧>, named: Map<string, Shape⟦Shape⟧>) {
    a.area⟦area⟧(); a.next⟦next⟧!.next⟦next⟧?.area⟦area⟧(); b.area⟦area⟧();
    many[0].area⟦area⟧();
    for (const [key, value] of named) value.area⟦area⟧();
    (many as Shape⟦Shape⟧[]).pop().area⟦area⟧();
    const { next⟦next⟧ } = a;
    next.area⟦area⟧();
}
",
    );
}

#[test]
fn classes_derive_and_implement() {
    check(
        "--- a.ts
interface Named⟦=Named⟧ { name⟦=name⟧: string }
abstract class Base⟦=Base⟧<T> implements Named⟦Named⟧ {
    name⟦=own⟧ = '';
    constructor(protected readonly part⟦=part⟧: Named⟦Named⟧, other: T) {}
    abstract run⟦=run⟧(): void;
    get me⟦=me⟧(): this { return this; }
}
class Sub extends Base⟦Base⟧<string> {
    run⟦=sub⟧() { this.part⟦part⟧.name⟦name⟧; this.name⟦own⟧ = 'x'; super.run⟦run⟧(); this.me⟦me⟧.name⟦own⟧; }
}
function use(base: Base⟦Base⟧<number>) { base.run⟦run⟧(); }
",
    );
}

#[test]
fn type_parameters_have_their_constraint_and_hide_types() {
    check(
        "--- a.ts
class A⟦=A⟧ { f⟦=f⟧() {} }
function f<T extends A⟦A⟧>(x: T): T { x.f⟦f⟧(); return x; }
function g<A>(x: A⟦?⟧) {}
type Pick2<A> = { [K in keyof A⟦?⟧]: A⟦?⟧[K⟦?⟧] };
",
    );
}

#[test]
fn overloads_are_one_function() {
    check(
        "--- a.ts
export function f⟦=f1⟧(x: string): void;
export function f⟦=f2⟧(x: any) {}
--- b.ts
import { f⟦f1,f2⟧ } from './a';
f⟦f1,f2⟧(1);
",
    );
}

#[test]
fn enums_and_namespaces_have_members() {
    check(
        "--- a.ts
export enum Color⟦=Color⟧ { Red⟦=Red⟧ = 1, Both = Red⟦Red⟧ }
export namespace Deep⟦=Deep⟧.Inner⟦=Inner⟧ {
    export interface Options⟦=Options⟧ { size⟦=size⟧: number }
    export function make⟦=make⟧(): Options⟦Options⟧ { return helper⟦helper⟧(); }
    function helper⟦=helper⟧(): Options⟦Options⟧ { return { size⟦size⟧: 1 }; }
}
--- b.ts
import { Color⟦Color⟧, Deep⟦Deep⟧ } from './a';
Color⟦Color⟧.Red⟦Red⟧;
const options: Deep⟦Deep⟧.Inner⟦Inner⟧.Options⟦Options⟧ = Deep⟦Deep⟧.Inner⟦Inner⟧.make⟦make⟧();
options.size⟦size⟧;
",
    );
}

#[test]
fn callbacks_get_what_their_callee_passes() {
    check(
        "--- a.ts
class A⟦=A⟧ { f⟦=f⟧() {} }
type Handler⟦=Handler⟧ = (a: A⟦A⟧) => void;
interface Rule⟦=Rule⟧ { check(a: A⟦A⟧): void; each?: Handler⟦Handler⟧ }
declare function on⟦=on⟧(handler: Handler⟦Handler⟧): void;
class Box⟦=Box⟧ { constructor(make: (a: A⟦A⟧) => void) {} }
on⟦on⟧(a => a.f⟦f⟧());
new Box⟦Box⟧(a => a.f⟦f⟧());
const own: Handler⟦Handler⟧ = a => a.f⟦f⟧();
const rule: Rule⟦Rule⟧ = { check(a) { a.f⟦f⟧(); } };
",
    );
}

#[test]
fn types_of_values_are_followed() {
    check(
        "--- a.ts
class A⟦=A⟧ { f⟦=f⟧() {} b⟦=b⟧: B⟦B⟧; }
class B⟦=B⟧ { g⟦=g⟧() {} }
const one⟦=one⟧ = new A⟦A⟧();
function make⟦=make⟧() { return new A⟦A⟧(); }
let x: typeof one⟦one⟧, y: ReturnType<typeof make⟦make⟧>, z: A⟦A⟧['b⟦b⟧'], w: typeof A⟦A⟧.prototype.f⟦f⟧;
x.f⟦f⟧(); y.f⟦f⟧(); z.g⟦g⟧();
",
    );
}

#[test]
fn interfaces_that_bear_a_classes_name_add_to_it() {
    check(
        "--- a.ts
interface A⟦=A1⟧ { f⟦=f⟧(): void }
class A⟦=A2⟧ { g⟦=g⟧() {} }
function go(a: A⟦A1,A2⟧) { a.f⟦f⟧(); a.g⟦g⟧(); }
",
    );
}

#[test]
fn a_module_may_be_one_value() {
    check(
        "--- a.ts
class A⟦=A⟧ { f⟦=f⟧() {} }
export = A⟦A⟧;
--- b.ts
import A = require('./a');
import B⟦A⟧ from './a';
new A⟦A⟧().f⟦f⟧(); new B⟦A⟧().f⟦f⟧();
",
    );
}

#[test]
fn paths_of_a_configuration_are_followed() {
    check_imports(
        "--- tsconfig.base.json
{ // shared
  \"compilerOptions\": { \"baseUrl\": \".\", \"paths\": { \"@/*\": [\"src/*\"], \"lib\": [\"src/lib/main\"], }, }, }
--- tsconfig.json
{ \"extends\": \"./tsconfig.base\" }
--- src/lib/main.tsx
import { b } from 'src/b';
--- src/b.ts
import x from '@/lib/main';
import y from 'lib';
import z from '@/c.js';
--- src/c.ts
",
        &["src/lib/main.tsx -> src/b.ts", "src/b.ts -> src/lib/main.tsx", "src/b.ts -> src/c.ts"],
    );
}

/// Text that programs write may be nested as deep as they like.
#[test]
fn deep_text_ends() {
    let deep = |open: &str, close: &str| format!("x = {}1{};\n", open.repeat(3_000), close.repeat(3_000));
    let texts = [
        deep("[", "]"),
        deep("f(", ")"),
        deep("{a: ", "}"),
        deep("(", ")"),
        deep("y => ", ""),
        deep("x = ", ""),
        format!("x = a{};\n", ".b".repeat(3_000)),
        format!("let x: {}B{};\n", "A<".repeat(3_000), ">".repeat(3_000)),
        format!("let {}x{} = 1;\n", "[".repeat(3_000), "]".repeat(3_000)),
        format!("{}x{}\n", "if (x) {".repeat(3_000), "}".repeat(3_000)),
    ];
    for text in texts {
        for path in ["a.ts", "a.js"] {
            relations(&[Marked { path: path.to_owned(), text: text.clone(), marks: Vec::new() }]);
        }
    }
}

proptest::proptest! {
    /// Any parts of a file, in any order, are lowered and bound without a fault.
    #[test]
    fn any_text_is_resolved(pieces in proptest::collection::vec((0usize..9_000, 1usize..300), 1..12)) {
        const SAMPLE: &str =
            concat!(include_str!("../../../crates/lang/src/languages/typescript/sample.ts"), include_str!("javascript.rs"));
        let text = super::shuffled(SAMPLE, &pieces);
        let file = |path: &str| Marked { path: path.to_owned(), text: text.clone(), marks: Vec::new() };
        relations(&[file("a.ts"), file("b.js"), file("c/index.tsx")]);
    }
}

#[test]
fn type_arguments_reach_members_of_the_class_and_of_its_bases() {
    check(
        "--- a.ts
class Item⟦=Item⟧ { price⟦=price⟧() {} }
class Box⟦=Box⟧<K, T> {
  value⟦=value⟧: T;
  get⟦=get⟧(): T { return this.value⟦value⟧ }
  all⟦=all⟧(): T[] { return [] }
  each⟦=each⟧(f: (one: T) => void) {}
}
class Middle⟦=Middle⟧<U> extends Box⟦Box⟧<string, U> {}
class Items⟦=Items⟧ extends Middle⟦Middle⟧<Item⟦Item⟧> {}
function of⟦=of⟧<T>(value: T): Box⟦Box⟧<string, T> { return new Box⟦Box⟧<string, T>(); }
function f⟦=f⟧(box: Box⟦Box⟧<string, Item⟦Item⟧>, items: Items⟦Items⟧, item: Item⟦Item⟧, plain: Box⟦Box⟧<string, number>) {
  box.value⟦value⟧.price⟦price⟧();
  box.get⟦get⟧().price⟦price⟧();
  items.get⟦get⟧().price⟦price⟧();
  for (const one of items.all⟦all⟧()) one.price⟦price⟧();
  items.each⟦each⟧(one => one.price⟦price⟧());
  new Box⟦Box⟧<string, Item⟦Item⟧>().get⟦get⟧().price⟦price⟧();
  of⟦of⟧(item).get⟦get⟧().price⟦price⟧();
  plain.get⟦get⟧().price⟦?⟧();
}
",
    );
}

#[test]
fn the_type_of_a_class_has_its_static_members() {
    check(
        "--- a.ts
class Item⟦=Item⟧ { static make⟦=make⟧() {} run⟦=run⟧() {} }
function f⟦=f⟧(of: typeof Item⟦Item⟧) {
  of.make⟦make⟧();
  new of().run⟦run⟧();
}
",
    );
}

#[test]
fn members_are_not_seen_without_their_owner() {
    check(
        "--- a.ts
interface Box⟦=Box⟧ { width⟦=width⟧: number }
interface Node⟦=Node⟧ { Box⟦=member⟧?: Box⟦Box⟧; all⟦=all⟧: Box⟦Box⟧[] }
class Kept⟦=Kept⟧ { Box⟦=own⟧: Box⟦Box⟧ }
enum Size⟦=Size⟧ { Small⟦=Small⟧ = 1, Large⟦=Large⟧ = Small⟦Small⟧ + 1 }
function go(node: Node⟦Node⟧, kept: Kept⟦Kept⟧) {
    node.Box⟦member⟧.width⟦width⟧; kept.Box⟦own⟧.width⟦width⟧; Size⟦Size⟧.Large⟦Large⟧;
}
",
    );
}

#[test]
fn call_signatures_need_no_semicolon_between_them() {
    check(
        "--- a.ts
export interface Made⟦=Made⟧ {
  <T extends Kept⟦Kept⟧>(one: T): T
  // Another.
  <T extends Kept⟦Kept⟧>(name: string, one: T): T
  size⟦=size⟧: number
}
interface Kept⟦=Kept⟧ {}
function go⟦=go⟧(made: Made⟦Made⟧) { return made.size⟦size⟧ }
",
    );
}

#[test]
fn branches_know_what_their_conditions_say() {
    check(
        "--- a.ts
class Many⟦=Many⟧ { get⟦=get⟧() {} }
class One⟦=One⟧ { get⟦=other⟧() {} }
class Node⟦=Node⟧ { isLeaf⟦=isLeaf⟧(): this is Leaf⟦Leaf⟧ { return true } static isNode⟦=isNode⟧(x: unknown): x is Node⟦Node⟧ { return true } }
class Leaf⟦=Leaf⟧ extends Node⟦Node⟧ { text⟦=text⟧() {} }
declare const any: any;
var isMany⟦=isMany⟧ = any as (it: any) => it is Many⟦Many⟧;
const isOne⟦=isOne⟧: (it: any) => it is One⟦One⟧ = any;
function isIt⟦=isIt⟧(it: any): it is One⟦One⟧ { return it instanceof One⟦One⟧ }
function assertOne⟦=assertOne⟧(it: any): asserts it is One⟦One⟧ {}
function isSized⟦=isSized⟧(it: any): it is { size⟦=size⟧: number } { return true }
function open(o: any, p: Many⟦Many⟧ | One⟦One⟧, many: Many⟦Many⟧) {
  if (isMany⟦isMany⟧(o)) { o.get⟦get⟧() } else if (isOne⟦isOne⟧(o)) o.get⟦other⟧();
  if (isIt⟦isIt⟧(p)) p.get⟦other⟧(); else p.get⟦get⟧();
  if (p instanceof Many⟦Many⟧) p.get⟦get⟧(); else p.get⟦other⟧();
  p instanceof Many⟦Many⟧ || p.get⟦other⟧();
  if (isSized⟦isSized⟧(many)) { many.size⟦size⟧; many.get⟦get⟧() }
  const y = isIt⟦isIt⟧(o) ? o.get⟦other⟧() : 1;
  if (!isIt⟦isIt⟧(o)) return;
  o.get⟦other⟧();
}
function told(o: any, n: Node⟦Node⟧, x: unknown) {
  assertOne⟦assertOne⟧(o);
  o.get⟦other⟧();
  if (n.isLeaf⟦isLeaf⟧()) n.text⟦text⟧();
  if (Node⟦Node⟧.isNode⟦isNode⟧(x) && x.isLeaf⟦isLeaf⟧()) x.text⟦text⟧();
}
",
    );
}

#[test]
fn what_a_value_satisfies_may_be_a_part_of_a_module() {
    check(
        "--- core.ts
export interface Any⟦=Any⟧ { a: 1 }
--- ns.ts
export * as core from './core';
export function any⟦=any⟧() {}
--- u.ts
import * as z from './ns';
z.any⟦any⟧() satisfies z.core.Any⟦Any⟧;
const v = z.any⟦any⟧() satisfies z.core.Any⟦Any⟧;
function f() {
  z.any⟦any⟧() satisfies z.core.Any⟦Any⟧
  return [z.any⟦any⟧() satisfies z.core.Any⟦Any⟧];
}
",
    );
}

#[test]
fn an_object_has_the_names_of_a_module_that_is_spread_in_it() {
    check(
        "--- checks.ts
export function never⟦=never⟧() { return 1 }
--- use.ts
import * as checks from './checks';
const all = { ...checks, own⟦=own⟧: 1 };
all.never⟦never⟧(); all.own⟦own⟧;
",
    );
}

#[test]
fn type_arguments_of_a_call_tell_what_it_gives() {
    check(
        "--- a.ts
class Item⟦=Item⟧ { price⟦=price⟧() {} }
declare function get⟦=get⟧<T>(name: string): T;
declare class Kept⟦=Kept⟧ { find⟦=find⟧<T>(name: string): T[] }
declare function made⟦=made⟧<T>(by: () => T): T;
function f(kept: Kept⟦Kept⟧) {
  get⟦get⟧<Item⟦Item⟧>('a').price⟦price⟧();
  kept.find⟦find⟧<Item⟦Item⟧>('a')[0].price⟦price⟧();
  made⟦made⟧(() => new Item⟦Item⟧()).price⟦price⟧();
}
",
    );
}

#[test]
fn keys_of_an_object_are_members_of_the_type_that_is_wanted() {
    check(
        "--- a.ts
export interface Will⟦=Will⟧ { retain⟦=retain⟧?: boolean }
export interface Options⟦=Options⟧ { port⟦=port⟧?: number; will⟦=will⟧?: Will⟦Will⟧; wills⟦=wills⟧?: Will⟦Will⟧[] }
export class Client⟦=Client⟧ {
    private last⟦=last⟧: Options⟦Options⟧;
    constructor(options: Partial<Options⟦Options⟧>) { this.last⟦last⟧ = { port⟦port⟧: 1 }; }
}
export function connect⟦=connect⟧(where: string, options: Options⟦Options⟧) {}
--- b.ts
import { Client⟦Client⟧, Options⟦Options⟧, connect⟦connect⟧ } from './a';
const port⟦=own⟧ = 1;
connect⟦connect⟧('', { port⟦port⟧: 1, will⟦will⟧: { retain⟦retain⟧: true }, wills⟦wills⟧: [{ retain⟦retain⟧: true }], other: 1 });
connect⟦connect⟧('', { port⟦port,own⟧ });
new Client⟦Client⟧({ port⟦port,own⟧ });
const many: Options⟦Options⟧[] = [{ port⟦port,own⟧ }, ({ will⟦will⟧: { retain⟦retain⟧: false } })];
const one = { port⟦port⟧: 1 } as Options⟦Options⟧;
async function make(): Promise<Options⟦Options⟧> { return { port⟦port⟧: 1 }; }
const short = (): Options⟦Options⟧ => ({ port⟦port⟧: 1 });
unknown({ port: 1 });
",
    );
}

#[test]
fn members_may_be_named_by_strings() {
    check(
        "--- a.ts
class A⟦=A⟧ { private f⟦=f⟧ = 1; private g⟦=g⟧() {} }
function use(a: A⟦A⟧, b) { a['f⟦f⟧']; a['g⟦g⟧'](); a['other']; b['f']; }
",
    );
}

#[test]
fn values_that_describe_a_constructor_are_bases() {
    check(
        "--- a.ts
declare class Parser⟦=Parser⟧ { rule⟦=rule⟧(): void }
interface Made⟦=Made⟧ { new (text: string): Parser⟦Parser⟧ }
export const Own⟦=Own⟧: Made⟦Made⟧ = null;
class Json⟦=Json⟧ extends Own⟦Own⟧ { run⟦=run⟧() { this.rule⟦rule⟧(); } }
new Own⟦Own⟧('').rule⟦rule⟧();
",
    );
}

#[test]
fn a_type_of_many_types_has_the_members_of_all() {
    let mut text = String::from("--- a.ts\n");
    let classes: Vec<String> = ('A'..='L').map(String::from).collect();
    for class in &classes {
        text.push_str(&format!("class {class}⟦={class}⟧ {{ of{class}⟦=of{class}⟧() {{}} }}\n"));
    }
    let all: Vec<String> = classes.iter().map(|class| format!("{class}⟦{class}⟧")).collect();
    text.push_str(&format!("type All⟦=All⟧ = {};\n", all.join(" & ")));
    text.push_str("function use(this: All⟦All⟧) { this.ofA⟦ofA⟧(); this.ofL⟦ofL⟧(); }\n");
    check(&text);
}

#[test]
fn what_is_exported_is_a_name_of_its_own() {
    check(
        "--- a.ts
export const version⟦=version⟧ = require('./package.json').version;
const other = require('./package.json').other;
--- b.ts
import { version⟦version⟧ } from './a';
version⟦version⟧;
",
    );
}

#[test]
fn what_a_generic_type_gives_when_called_is_known() {
    check(
        "--- a.ts
interface Rule⟦=Rule⟧<A, R> { (...args: A⟦?⟧): R⟦?⟧; name⟦=name⟧: string }
interface Node⟦=Node⟧ { children⟦=children⟧: string[] }
class Parser⟦=Parser⟧ { rule⟦=rule⟧<F>(of: F⟦?⟧): Rule⟦Rule⟧<F⟦?⟧, Node⟦Node⟧> { return null; } }
class Own⟦=Own⟧ extends Parser⟦Parser⟧ { top⟦=top⟧ = this.rule⟦rule⟧(() => {}); }
new Own⟦Own⟧().top⟦top⟧().children⟦children⟧;
",
    );
}

#[test]
fn keys_are_known_in_calls_of_constructors_and_in_what_is_added() {
    check(
        "--- a.ts
interface Options⟦=Options⟧ { size⟦=size⟧: number }
interface Made⟦=Made⟧ { new (options: Options⟦Options⟧): Base⟦Base⟧ }
class Base⟦=Base⟧ { constructor(options: Options⟦Options⟧) {} }
class Sub⟦=Sub⟧ extends Base⟦Base⟧ { constructor() { super({ size⟦size⟧: 1 }); } }
const Maker⟦=Maker⟧: Made⟦Made⟧ = null;
new Maker⟦Maker⟧({ size⟦size⟧: 1 });
function use(all: Options⟦Options⟧[]) { all.push({ size⟦size⟧: 1 }); }
",
    );
}

#[test]
fn typeof_means_the_value_beside_a_type_of_its_name() {
    check(
        "--- made.ts
export interface Made⟦=type⟧ { a⟦=a⟧: string }
export const Made⟦=value⟧: Made⟦type,value⟧ = { a⟦a⟧: '' };
export type input⟦=input⟧<T> = T;
export function input⟦=read⟧(x: string) {}
export class Both⟦=class⟧ {}
export interface Both⟦=more⟧ {}
--- use.ts
import { Made⟦type,value⟧ as M } from './made';
import * as made from './made';
let z: typeof M⟦value⟧, y: typeof made.Made⟦value⟧, j: typeof made.input⟦read⟧, b: typeof made.Both⟦class,more⟧;
",
    );
}

#[test]
fn a_value_is_found_around_a_type_of_its_name() {
    check(
        "--- a.ts
export const made⟦=made⟧ = 1;
export namespace inner⟦=inner⟧ {
    export type made⟦=type⟧ = typeof made⟦made⟧;
    export type other⟦=other⟧ = made⟦type⟧;
}
",
    );
}

#[test]
fn a_member_that_is_never_there_is_not_meant() {
    check(
        "--- a.ts
export type Good⟦=Good⟧ = { data⟦=data⟧: string; error⟦=none⟧?: never };
export type Bad⟦=Bad⟧ = { data⟦=lost⟧?: never; error⟦=error⟧: string };
export function read⟦=read⟧(it: Good⟦Good⟧ | Bad⟦Bad⟧, good: Good⟦Good⟧) {
    it.error⟦error⟧;
    it.data⟦data⟧;
    good.error⟦none⟧;
}
",
    );
}

#[test]
fn the_type_that_a_result_is_wanted_as_tells_type_parameters() {
    check(
        "--- a.ts
type Trait⟦=Trait⟧ = { inner⟦=inner⟧: { [k: string]: any } };
interface Maker⟦=Maker⟧<T extends Trait⟦Trait⟧, D = T['inner⟦inner⟧']> { make⟦=make⟧(def: D): T }
function maker⟦=maker⟧<T extends Trait⟦Trait⟧, D = T['inner⟦inner⟧']>(name: string, start: (one: T, def: D) => void): Maker⟦Maker⟧<T, D> {}
interface Text⟦=Text⟧ { inner⟦=own⟧: Inner⟦Inner⟧ }
interface Inner⟦=Inner⟧ { length⟦=length⟧: number }
const Text⟦=value⟧: Maker⟦Maker⟧<Text⟦Text,value⟧> = maker⟦maker⟧('Text', (one, def) => { one.inner⟦own⟧.length⟦length⟧; });
const other⟦=other⟧ = maker⟦maker⟧('Text', (one, def) => { one.inner⟦inner⟧; });
",
    );
}

#[test]
fn a_callback_in_a_conditional_argument_is_given_what_the_callee_gives() {
    check(
        "--- a.ts
class Sink⟦=Sink⟧ { next⟦=next⟧(n: number) {} }
class Other { next⟦=other⟧(n: number) {} }
class Source⟦=Source⟧ { constructor(take: (sink: Sink⟦Sink⟧) => void) {} }
export function range(slow: boolean) {
  return new Source⟦Source⟧(
    slow
      ? // later
        (sink) => { sink.next⟦next⟧(1); }
      : (sink) => sink.next⟦next⟧(2)
  );
}
",
    );
}
