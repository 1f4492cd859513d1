//! TypeScript's unions and mapped types: what tells the types of a union apart, and whose members a type has.

use super::{Marked, check, relations};

#[test]
fn literal_members_tell_the_types_of_a_union_apart() {
    check(
        "--- a.ts
enum Kind⟦=Kind⟧ { Bar⟦=Bar⟧, Line⟦=Line⟧ }
interface Circle⟦=Circle⟧ { kind: 'circle'; size⟦=radius⟧: number; type: Kind⟦Kind⟧.Bar⟦Bar⟧ }
interface Square⟦=Square⟧ { kind: 'square' | 'rect'; size⟦=side⟧: number; type: Kind⟦Kind⟧.Line⟦Line⟧ }
class Text⟦=Text⟧ { readonly kind = 'text'; size⟦=font⟧ = 1; type: Kind⟦Kind⟧.Line⟦Line⟧ }
type Shape⟦=Shape⟧ = Circle⟦Circle⟧ | Square⟦Square⟧ | Text⟦Text⟧;
function f(a: Shape⟦Shape⟧, b: Circle⟦Circle⟧ | Square⟦Square⟧) {
  if (a.kind === 'circle') a.size⟦radius⟧; else a.size⟦side,font⟧;
  if ('text' == a['kind']) a.size⟦font⟧;
  if (a.kind !== \"rect\") a.size⟦radius,side,font⟧;
  if (b.type === Kind⟦Kind⟧.Bar⟦Bar⟧) b.size⟦radius⟧; else b.size⟦side⟧;
  if (a.kind === 'none') a.size⟦radius,side,font⟧;
  b.kind === 'circle' && b.size⟦radius⟧;
  const size = b.kind === 'circle' ? b.size⟦radius⟧ : b.size⟦side⟧;
  if (b.kind === 'circle') return;
  b.size⟦side⟧;
}
",
    );
}

#[test]
fn the_cases_of_a_switch_tell_the_types_of_a_union_apart() {
    check(
        "--- a.ts
interface A⟦=A⟧ { kind: 'a'; at⟦=a⟧: number }
interface B⟦=B⟧ { kind: 'b' | 'b2'; at⟦=b⟧: number }
interface C⟦=C⟧ { kind: 'c'; at⟦=c⟧: number }
function f(x: A⟦A⟧ | B⟦B⟧ | C⟦C⟧) {
  switch (x.kind) {
    case 'a': x.at⟦a⟧; break;
    case 'b':
    case 'b2': { x.at⟦b⟧; return; }
    default: x.at⟦c⟧;
  }
  x.at⟦a,c⟧;
  switch (x.kind) {
    case 'a': x.at⟦a⟧;
    case 'c': x.at⟦a,c⟧; break;
    case other(): x.at⟦a,c⟧;
  }
  for (;;) {
    switch (x.kind) { case 'a': continue; }
    const y = x;
    y.at⟦c⟧;
  }
}
",
    );
}

#[test]
fn members_that_are_there_tell_the_types_of_a_union_apart() {
    check(
        "--- a.ts
type Good⟦=Good⟧<T> = { success: true; data⟦=data⟧: T; at⟦=good⟧: number };
type Bad⟦=Bad⟧ = { success: false; at⟦=bad⟧: Item⟦Item⟧ };
interface Item⟦=Item⟧ { go⟦=go⟧(): void }
type Result⟦=Result⟧<T> = Good⟦Good⟧<T> | Bad⟦Bad⟧;
function f(a: Result⟦Result⟧<Item⟦Item⟧>) {
  if (a.success) { a.at⟦good⟧; a.data⟦data⟧.go⟦go⟧(); } else a.at⟦bad⟧.go⟦go⟧();
  if (!a.success) a.at⟦bad⟧;
  if ('data' in a) a.at⟦good⟧; else a.at⟦bad⟧;
  if (a.success === false) throw a.at⟦bad⟧;
  a.at⟦good⟧;
}
",
    );
}

#[test]
fn a_mapped_type_has_the_members_that_it_maps() {
    check(
        "--- a.ts
interface Item⟦=Item⟧ { name⟦=name⟧: Name⟦Name⟧ }
interface Name⟦=Name⟧ { first⟦=first⟧: string; cell⟦=cell⟧: Cell⟦Cell⟧ }
interface Cell⟦=Cell⟧ { get⟦=get⟧(): void }
type Loose⟦=Loose⟧<T> = { readonly [K in keyof T]?: T[K] };
type Deep⟦=Deep⟧<T> = { [P in keyof T]: Deep⟦Deep⟧<T[P]> };
type Cells⟦=Cells⟧<T> = { [K in keyof T]: Cell⟦Cell⟧ };
type More⟦=More⟧<T> = { extra⟦=extra⟧: number } & Loose⟦Loose⟧<T>;
type Same⟦=Same⟧<T> = T & { same⟦=same⟧: number };
function f(a: Loose⟦Loose⟧<Item⟦Item⟧>, b: Deep⟦Deep⟧<Item⟦Item⟧>, c: Cells⟦Cells⟧<Item⟦Item⟧>, e: Same⟦Same⟧<Item⟦Item⟧>) {
  a.name⟦name⟧.first⟦first⟧;
  b.name⟦name⟧.first⟦first⟧;
  c.name⟦name⟧;
  e.name⟦name⟧.first⟦first⟧; e.same⟦same⟧;
  const made: Loose⟦Loose⟧<Item⟦Item⟧> = { name⟦name⟧: x };
}
",
    );
}

#[test]
fn another_name_for_a_function_tells_what_it_gives() {
    check(
        "--- a.ts
interface Node⟦=Node⟧ { name⟦=name⟧: string }
type Method⟦=Method⟧<A extends unknown[], R> = (...given: A) => R;
declare class Parser⟦=Parser⟧ {
  rule⟦=rule⟧<F extends () => void>(name: string, by: F): Method⟦Method⟧<Parameters<F>, Node⟦Node⟧>;
}
class Own⟦=Own⟧ extends Parser⟦Parser⟧ { start⟦=start⟧ = this.rule⟦rule⟧('start', () => {}); }
function f(own: Own⟦Own⟧, m: Method⟦Method⟧<[], Node⟦Node⟧>) { own.start⟦start⟧().name⟦name⟧; m().name⟦name⟧; }
",
    );
}

#[test]
fn keys_are_members_of_what_they_are_assigned_to() {
    check(
        "--- a.ts
interface Place⟦=Place⟧ { line⟦=line⟧: number }
interface Error⟦=Error⟧ { place⟦=place⟧: Place⟦Place⟧ }
class Reader⟦=Reader⟧ {
  all⟦=all⟧: Place⟦Place⟧[] = [];
  read⟦=read⟧(error: Error⟦Error⟧, many: Place⟦Place⟧[]) {
    error.place⟦place⟧ = { line⟦line⟧: 1 };
    many[0] = { line⟦line⟧: 1 };
    this.all⟦all⟧[1] = { line⟦line⟧: 1 };
    const own = this;
    own.read⟦read⟧ = function () { this.all⟦all⟧; };
    this['read⟦read⟧'] = function () { this.all⟦all⟧; };
  }
}
",
    );
}

#[test]
fn a_package_has_the_types_that_it_declares_beside_its_sources() {
    check(
        "--- packages/ast/package.json
{ \"name\": \"@own/ast\", \"exports\": { \".\": { \"import\": \"./lib/src/api.js\", \"types\": \"./types.d.ts\" } } }
--- packages/ast/types.d.ts
export * from './declared';
--- packages/ast/declared.d.ts
export interface Pattern⟦=Pattern⟧ { flags⟦=flags⟧: number }
export class Parser⟦=declared⟧ { parse⟦=types⟧(): Pattern⟦Pattern⟧ }
--- packages/ast/src/api.ts
export { Parser⟦Parser⟧ } from './parser.js';
--- packages/ast/src/parser.ts
import { Pattern⟦Pattern⟧ } from '../declared';
export class Parser⟦=Parser⟧ { parse⟦=parse⟧(): Pattern⟦Pattern⟧ { return null } }
--- packages/own/a.ts
import { Parser⟦Parser,declared⟧, Pattern⟦Pattern⟧, None⟦?⟧ } from '@own/ast';
const known: Pattern⟦Pattern⟧ = new Parser⟦Parser,declared⟧().parse⟦parse,types⟧();
known.flags⟦flags⟧;
",
    );
}

#[test]
fn one_of_two_conditions_tells_what_both_tell() {
    check(
        "--- a.ts
interface A⟦=A⟧ { kind: 'a'; at⟦=a⟧: number }
interface B⟦=B⟧ { kind: 'b'; at⟦=b⟧: number }
interface C⟦=C⟧ { kind: 'c'; at⟦=c⟧: number }
type All⟦=All⟧ = A⟦A⟧ | B⟦B⟧ | C⟦C⟧;
type Two⟦=Two⟧ = A⟦A⟧ | B⟦B⟧;
declare function isA⟦=isA⟧(x: All⟦All⟧): x is A⟦A⟧;
declare function isTwo⟦=isTwo⟧(x: All⟦All⟧): x is Two⟦Two⟧;
function f(x: All⟦All⟧, y: unknown) {
  if (isA⟦isA⟧(x) || x.kind === 'b') x.at⟦a,b⟧; else x.at⟦c⟧;
  if (isTwo⟦isTwo⟧(x)) x.at⟦a,b⟧; else x.at⟦c⟧;
  if (!isA⟦isA⟧(x)) {
    return;
    // Nothing else.
  }
  x.at⟦a⟧;
}
function g(x: All⟦All⟧) {
  assert(x.kind === 'c' && x.at⟦c⟧);
  x.at⟦c⟧;
}
",
    );
}

#[test]
fn a_literal_in_an_object_tells_which_type_it_is_of() {
    check(
        "--- a.ts
interface A⟦=A⟧ { kind⟦=ka⟧: 'a'; at⟦=a⟧: number }
interface B⟦=B⟧ { kind⟦=kb⟧: 'b'; at⟦=b⟧: number }
function f(): A⟦A⟧ | B⟦B⟧ { return { kind⟦kb⟧: 'b', at⟦b⟧: 1 }; }
const one⟦=one⟧: A⟦A⟧ | B⟦B⟧ = { at⟦a⟧: 1, kind⟦ka⟧: 'a' };
const two⟦=two⟧: A⟦A⟧ | B⟦B⟧ = { at⟦a,b⟧: 1 };
",
    );
}

#[test]
fn members_of_an_object_are_what_is_wanted_there() {
    check(
        "--- a.ts
interface Item⟦=Item⟧ { name⟦=name⟧: string }
type Resolve⟦=Resolve⟧<S> = (from: S, at: number) => Item⟦Item⟧;
interface Field⟦=Field⟧<S> { type⟦=type⟧: string; resolve⟦=resolve⟧?: Resolve⟦Resolve⟧<S>; open⟦=open⟧(by: S): void }
interface Named⟦=Named⟧<T> { [key: string]: T }
type Late⟦=Late⟧<T> = (() => T) | T;
interface Config⟦=Config⟧<S> { fields⟦=fields⟧: Late⟦Late⟧<Named⟦Named⟧<Field⟦Field⟧<S>>>; }
class Type⟦=Type⟧<S> { constructor(config: Readonly<Config⟦Config⟧<S>>) {} }
new Type⟦Type⟧<Item⟦Item⟧>({
  fields⟦fields⟧: () => ({
    id: { type⟦type⟧: '', resolve⟦resolve⟧: (from) => from.name⟦name⟧, open⟦open⟧(by) { by.name⟦name⟧; } },
  }),
});
new Type⟦Type⟧({
  fields⟦fields⟧: {
    id: {
      type⟦type⟧: '',
      resolve⟦resolve⟧(from) { return { name⟦name⟧: '' }; },
    },
  },
});
",
    );
}

#[test]
fn types_that_a_call_names_tell_what_its_arguments_are() {
    check(
        "--- a.ts
interface Item⟦=Item⟧ { name⟦=name⟧: string }
declare function node⟦=node⟧<T>(of: T, by?: (it: T) => void): T;
declare function pair⟦=pair⟧<T>(of: T): { first⟦=first⟧: T; all⟦=all⟧: T[] };
node⟦node⟧<Item⟦Item⟧>({ name⟦name⟧: '' }, (it) => it.name⟦name⟧);
function f(item: Item⟦Item⟧, name: Item⟦Item⟧['name⟦name⟧']) {
  pair⟦pair⟧(item).first⟦first⟧.name⟦name⟧;
  pair⟦pair⟧(item).all⟦all⟧.map((one) => one.name⟦name⟧);
}
",
    );
}

#[test]
fn the_first_argument_tells_what_a_function_behind_it_is_given() {
    check(
        "--- a.ts
interface Item⟦=Item⟧ { name⟦=name⟧: string }
interface Named⟦=Named⟧<T> { [key: string]: T }
declare function mapped⟦=mapped⟧<T, V>(all: Named⟦Named⟧<T>, by: (it: T) => V): V[];
declare function keyed⟦=keyed⟧<T>(all: readonly T[], by: (it: T) => string): Named⟦Named⟧<T>;
function f(all: Item⟦Item⟧[], named: Named⟦Named⟧<Item⟦Item⟧>) {
  mapped⟦mapped⟧(named, (it) => it.name⟦name⟧);
  keyed⟦keyed⟧(all, ({ name⟦name⟧ }) => name);
  named.first.name⟦name⟧;
  named['second'].name⟦name⟧;
}
",
    );
}

#[test]
fn all_types_of_a_long_union_have_a_member() {
    let types: Vec<String> =
        (0..20).map(|n| format!("interface A{n}⟦=A{n}⟧ {{ kind⟦=k{n}⟧: '{n}'; at⟦=a{n}⟧: number }}\n")).collect();
    let union: Vec<String> = (0..20).map(|n| format!("A{n}⟦A{n}⟧")).collect();
    let kinds: Vec<String> = (0..20).map(|n| format!("k{n}")).collect();
    check(&format!(
        "--- a.ts\n{}type Any⟦=Any⟧ = {};
function f(any: Any⟦Any⟧) {{ any.kind⟦{}⟧; if (any.kind⟦{}⟧ === '19') any.at⟦a19⟧; }}
",
        types.concat(),
        union.join(" | "),
        kinds.join(","),
        kinds.join(","),
    ));
}

#[test]
fn a_constant_of_an_enumeration_is_its_value() {
    check(
        "--- kinds.ts
export enum Kind⟦=Kind⟧ { Name⟦=Name⟧ = 'name', Field⟦=Field⟧ = 'field', Other⟦=Other⟧ = 'other' }
--- a.ts
import { Kind⟦Kind⟧ } from './kinds';
interface Named⟦=Named⟧ { kind: Kind⟦Kind⟧.Name⟦Name⟧; at⟦=a⟧: number }
interface Fielded⟦=Fielded⟧ { kind: Kind⟦Kind⟧.Field⟦Field⟧ | Kind⟦Kind⟧.Other⟦Other⟧; at⟦=b⟧: number }
function f(x: Named⟦Named⟧ | Fielded⟦Fielded⟧) {
  if (x.kind === 'name') x.at⟦a⟧; else x.at⟦b⟧;
  if (x.kind !== 'field') x.at⟦a,b⟧; else x.at⟦b⟧;
}
",
    );
}

/// Programs write types that name each other in a circle, in any number.
#[test]
fn circles_of_unions_end() {
    for count in [2, 100, 600] {
        let union = |at: usize| format!("type T{at} = Part | T{};\n", (at + 1) % count);
        let types: String = (0..count).map(union).collect();
        let text = format!("interface Part {{ size: number }}\n{types}function f(a: T0) {{ a.size; a.none; }}\n");
        let found = relations(&[Marked { path: "a.ts".to_owned(), text, marks: Vec::new() }]);
        assert!(!found.targets.is_empty());
    }
    let text = "export const Part = { size: 1 };\nexport type Part = typeof Part | { size: number };\nPart.size; let a: Part; a.size;\n";
    relations(&[Marked { path: "a.ts".to_owned(), text: text.to_owned(), marks: Vec::new() }]);
}
