//! JavaScript's rules, one test each.

use super::{check, check_imports};

#[test]
fn bare_names_are_those_of_the_innermost_scope() {
    check(
        "--- a.js
function f⟦=f⟧() {}
function outer() {
    f⟦g⟧();
    function f⟦=g⟧() {}
    { const f⟦=h⟧ = () => {}; f⟦h⟧(); }
}
f⟦f⟧();
((f) => f⟦?⟧())();
",
    );
}

#[test]
fn var_belongs_to_the_function() {
    check("--- a.js\nfunction g() { if (1) { var f⟦=f⟧ = function () {}; } f⟦f⟧(); }\n");
}

#[test]
fn imports_are_followed_through_barrels() {
    check(
        "--- lib/a.js
export function f⟦=f⟧() {}
export default class C⟦=C⟧ { m⟦=m⟧() {} }
--- lib/index.js
export * from './a.js';
export { f⟦f⟧ as g, default⟦C⟧ as C } from './a';
export * as all from './a';
--- main.js
import { f⟦f⟧, g⟦f⟧, C⟦C⟧, all } from './lib';
import D⟦C⟧ from './lib/a';
import * as ns from './lib';
f⟦f⟧(); g⟦f⟧(); ns.g⟦f⟧(); all.f⟦f⟧(); ns.all.f⟦f⟧();
new C⟦C⟧().m⟦m⟧(); new D⟦C⟧().m⟦m⟧();
",
    );
}

#[test]
fn what_is_not_exported_is_not_offered() {
    check("--- a.js\nfunction f⟦=f⟧() {}\nexport {};\n--- b.js\nimport { f⟦?⟧ } from './a';\n");
}

#[test]
fn common_modules_export_objects_and_values() {
    check(
        "--- names.js
function f⟦=f⟧() {}
exports.g⟦=g⟧ = function () { exports.h⟦h⟧(); };
exports.h⟦=h⟧ = () => {};
module.exports.f = f⟦f⟧;
--- object.js
const { f⟦f⟧ } = require('./names');
module.exports = { f⟦f⟧, other: f⟦f⟧, own⟦=own⟧() {} };
--- class.js
class C⟦=C⟧ { m⟦=m⟧() {} }
module.exports = C⟦C⟧;
--- index.js
module.exports = require('./object');
--- main.js
const C⟦C⟧ = require('./class'), names = require('./names');
const { own⟦own⟧, other⟦f⟧: renamed } = require('.');
const g⟦g⟧ = require('./names').g⟦g⟧;
new C⟦C⟧().m⟦m⟧();
own⟦own⟧(); renamed⟦f⟧(); g⟦g⟧(); names.f⟦f⟧(); names.h⟦h⟧();
--- es.mjs
import C⟦C⟧ from './class.js';
import { own⟦own⟧ } from './object.js';
",
    );
}

#[test]
fn this_is_an_instance_and_super_the_base() {
    check(
        "--- a.js
class A⟦=A⟧ {
    f⟦=f⟧() {}
    g⟦=ag⟧() {}
    static make() { return new this(); }
}
class B extends A⟦A⟧ {
    g⟦=bg⟧() { this.f⟦f⟧(); super.g⟦ag⟧(); [1].forEach(() => this.g⟦bg⟧()); (function () { this.g⟦?⟧(); })(); }
    handler = () => this.f⟦f⟧();
}
A⟦A⟧.make().f⟦f⟧();
",
    );
}

#[test]
fn fields_have_the_type_of_what_is_assigned() {
    check(
        "--- a.js
class A⟦=A⟧ { f⟦=f⟧() {} }
class B {
    own⟦=own⟧ = new A⟦A⟧();
    constructor() { this.a⟦=a⟧ = new A⟦A⟧(); }
    go() { this.a⟦a⟧.f⟦f⟧(); this.own⟦own⟧.f⟦f⟧(); }
}
",
    );
}

#[test]
fn functions_construct_and_prototypes_are_extended() {
    check(
        "--- a.js
function Old⟦=Old⟧() { this.x⟦=x⟧ = 1; }
Old⟦Old⟧.prototype.f⟦=f⟧ = function () { this.x⟦x⟧; this.g⟦g⟧(); };
Old⟦Old⟧.prototype.g⟦=g⟧ = function () {};
Old⟦Old⟧.create⟦=create⟧ = function () { return new Old⟦Old⟧(); };
module.exports = Old⟦Old⟧;
--- b.js
const Old⟦Old⟧ = require('./a');
new Old⟦Old⟧().f⟦f⟧();
Old⟦Old⟧.create⟦create⟧().g⟦g⟧();
",
    );
}

#[test]
fn objects_have_members() {
    check(
        "--- a.js
const base = { f⟦=f⟧() { this.f⟦f⟧(); } };
const api = { ...base, g⟦=g⟧: () => {}, deep: { h⟦=h⟧() {} } };
api.f⟦f⟧(); api.g⟦g⟧(); api.deep.h⟦h⟧();
api.late⟦=late⟧ = function () { this.g⟦g⟧(); };
api.late⟦late⟧();
const { g⟦g⟧ } = api;
",
    );
}

#[test]
fn containers_give_what_they_hold() {
    check(
        "--- a.js
class A⟦=A⟧ { f⟦=f⟧() {} }
const many = [new A⟦A⟧()];
many[0].f⟦f⟧();
for (const one of many) one.f⟦f⟧();
many.filter(Boolean).forEach(one => one.f⟦f⟧());
many.map(one => one).find(x => x).f⟦f⟧();
const [first] = many;
first.f⟦f⟧();
async function load⟦=load⟧() { return new A⟦A⟧(); }
async () => { (await load⟦load⟧()).f⟦f⟧(); };
",
    );
}

#[test]
fn instanceof_narrows() {
    check(
        "--- a.js
class A⟦=A⟧ { f⟦=f⟧() {} }
function g(x) {
    x.f⟦?⟧();
    if (x instanceof A⟦A⟧ && x.f⟦f⟧()) { x.f⟦f⟧(); }
    return x instanceof A⟦A⟧ ? x.f⟦f⟧() : 0;
}
",
    );
}

#[test]
fn components_are_used_by_markup() {
    check(
        "--- a.jsx
export const Button⟦=Button⟧ = ({ onClick }) => <button onClick={onClick}/>;
export const parts = { Item⟦=Item⟧: () => null };
function button⟦=button⟧() {}
--- b.jsx
import { Button⟦Button⟧, parts } from './a';
const x = <Button⟦Button⟧ onClick={() => {}}><parts.Item⟦Item⟧/></Button⟦Button⟧>;
",
    );
}

#[test]
fn what_an_import_call_gives() {
    check(
        "--- pages/Admin.jsx
export default function Admin⟦=Admin⟧() {}
--- pages/Report.jsx
export function Report⟦=Report⟧() {}
--- main.jsx
const Page = lazy(() => import⟦Admin⟧('./pages/Admin'));
const Part = lazy(() => import('./pages/Report').then((m) => ({ default: m.Report⟦Report⟧ })));
const routes = [{ path: '/', component: () => import⟦Admin⟧('./pages/Admin') }];
async function later() {
  const { other } = await import('./pages/Admin');
  return (await import('./pages/Report')).Report⟦Report⟧();
}
",
    );
}

#[test]
fn imports_of_files() {
    check_imports(
        "--- a.js
const lazy = () => import('./b.js');
function later() { return require('./c'); }
require('fs');
--- b.js
export * from './c';
--- c/index.js
export { x } from '../a';
",
        &["a.js -> b.js", "a.js -> c/index.js", "b.js -> c/index.js", "c/index.js -> a.js"],
    );
}

#[test]
fn packages_of_a_workspace_are_found_by_name() {
    check_imports(
        "--- package.json
{ \"name\": \"root\", \"workspaces\": [\"packages/*\"], \"imports\": { \"#util/*\": \"./util/*.js\" } }
--- packages/one/package.json
{ \"name\": \"@x/one\", \"exports\": { \".\": { \"import\": \"./dist/main.mjs\" }, \"./parts/*\": \"./src/parts/*.ts\" } }
--- packages/one/src/main.ts
export const a = 1;
--- packages/one/src/parts/p.ts
export const p = 1;
--- packages/two/package.json
{ \"name\": \"two\", \"main\": \"lib/entry\" }
--- packages/two/lib/entry.js
import { a } from '@x/one';
import { p } from '@x/one/parts/p';
import '#util/log';
--- packages/two/package-notes.js
import 'two';
import 'two/lib/entry';
--- util/log.js
import 'two';
",
        &[
            "packages/two/lib/entry.js -> packages/one/src/main.ts",
            "packages/two/lib/entry.js -> packages/one/src/parts/p.ts",
            "packages/two/package-notes.js -> packages/two/lib/entry.js",
            "util/log.js -> packages/two/lib/entry.js",
        ],
    );
}

#[test]
fn comments_say_types() {
    check(
        "--- rule.js
/** A rule. */
class Rule⟦=Rule⟧ { run⟦=run⟧() {} }
module.exports = { Rule⟦Rule⟧ };
--- use.js
const { Rule⟦Rule⟧ } = require('./rule');
/**
 * @typedef {Object} Options
 * @property {Rule} main The first.
 * @property {Rule[]} [others]
 */
/** @typedef {import('./rule').Rule} Known */
/**
 * @param {Rule} rule One.
 * @param {Map<string, Rule>} all
 * @param {?Options} [options={}]
 * @param {Known|null} known
 * @param {function(string): Rule} give
 * @returns {Promise<Rule[]>}
 */
async function use⟦=use⟧(rule, all, options, known, give) {
    rule.run⟦run⟧();
    all.get('a').run⟦run⟧();
    options.main.run⟦run⟧();
    for (const one of options.others) one.run⟦run⟧();
    known.run⟦run⟧();
    give.run⟦?⟧();
}
class Holder⟦=Holder⟧ {
    constructor⟦=constructor⟧() {
        /** @type {Set<Rule>} */
        this.rules⟦=rules⟧ = new Set();
    }
    /** @returns {Rule} */
    first⟦=first⟧() { return this.rules⟦rules⟧.values().next().value; }
    go⟦=go⟧() { for (const one of this.rules⟦rules⟧) one.run⟦run⟧(); this.first⟦first⟧().run⟦run⟧(); }
}
async function wait⟦=wait⟧() { for (const one of await use⟦use⟧()) one.run⟦run⟧(); }
/** @type {Rule} */
let late⟦=late⟧;
late⟦late⟧.run⟦run⟧();
",
    );
}

#[test]
fn the_class_of_this_has_its_static_members() {
    check(
        "--- a.js
class Part⟦=Part⟧ {
  static escape⟦=escape⟧(x) { return x; }
  go⟦=go⟧() { return this.constructor.escape⟦escape⟧(2); }
}
",
    );
}

#[test]
fn a_local_hides_the_name_of_its_function() {
    check(
        "--- a.js
const o = {};
o.range⟦=range⟧ = function range(size) {
  var range = this.get(size);
  return parse(range⟦?⟧);
};
o.again⟦=again⟧ = function again(n) { return n ? again⟦again⟧(n - 1) : 0; };
",
    );
}

#[test]
fn a_module_that_is_the_result_of_a_call_does_not_name_it() {
    check(
        "--- lib.js
function create⟦=create⟧() { var app⟦=app⟧ = function () {}; return app⟦app⟧; }
module.exports = create⟦create⟧;
--- made.js
const create⟦create⟧ = require('./lib');
module.exports = create⟦create⟧();
--- use.js
const made = require('./made');
made⟦?⟧();
",
    );
}

#[test]
fn a_default_export_is_what_a_call_wraps() {
    check(
        "--- a.tsx
import * as React from 'react';
export default React.memo(function Head⟦=Head⟧() { return 1 });
--- b.tsx
import Other⟦Head⟧ from './a';
import Third⟦Head⟧ from './a';
[Other⟦Head⟧, Third⟦Head⟧];
",
    );
}

#[test]
fn objects_and_functions_get_members_inside_of_functions_too() {
    check(
        "--- input.js
const Base⟦=Base⟧ = function () {}
Base⟦Base⟧.prototype.open⟦=open⟧ = function () {}
const Manager⟦=Manager⟧ = function () {}
Manager⟦Manager⟧.prototype = Object.assign(new Base⟦Base⟧(), { clear⟦=clear⟧() { this.open⟦open⟧(); } });
new Manager⟦Manager⟧().clear⟦clear⟧(); new Manager⟦Manager⟧().open⟦open⟧();
module.exports = function make⟦=make⟧() {
  const kept = {};
  function next⟦=next⟧() { return 1 }
  kept.save⟦=save⟧ = function () { return kept.size⟦size⟧ };
  kept.size⟦=size⟧ = 1;
  next⟦next⟧.push⟦=push⟧ = () => 1;
  next⟦next⟧.push⟦push⟧();
  let wait;
  if (kept.size⟦size⟧) wait = () => kept.save⟦save⟧();
  return kept;
};
--- use.js
const make⟦make⟧ = require('./input');
make⟦make⟧().save⟦save⟧();
",
    );
}

#[test]
fn what_a_module_offers_is_a_name_of_its_own() {
    check(
        "--- config.js
exports.make = method => method;
exports.get⟦=get⟧ = this.make.bind(this, 'GET');
exports.path⟦=path⟧ = '';
let own⟦=own⟧ = exports.path⟦path⟧;
if (own⟦own⟧) own⟦own⟧ = '/' + own⟦own⟧;
--- use.js
const config = require('./config');
config.get⟦get⟧('/a');
",
    );
}

#[test]
fn a_function_that_is_assigned_to_a_variable_of_a_function_is_what_the_variable_means() {
    check(
        "--- a.js
function start⟦=start⟧(many) {
  let close, other;
  close⟦=close⟧ = function () { return 1; };
  other = many;
  many.forEach(() => close⟦close⟧());
  return other⟦?⟧();
}
",
    );
}

#[test]
fn this_of_a_function_that_becomes_a_member_is_no_class() {
    check(
        "--- a.js
const fakes⟦=fakes⟧ = {}, other⟦=other⟧ = {};
for (const name of ['one', 'two']) {
  fakes⟦fakes⟧[name] = function () { this.callback = other⟦other⟧; this.callback(); };
}
",
    );
}
