#!/usr/bin/env node
/** @license A file's own comment is nobody's. */

import defaultExport, { named as other } from "./other.js";
export { other } from "./other.js";
const path = require("path"), { join } = require("path").posix;

/** The limit. No more than this. */
const LIMIT = 10;
let counter = 0, /** Doubles. */ double = x => x * 2;
var uninitialised;
export const { first, second: renamed, nested: [third = 3, ...rest] } = settings;

/**
 * Adds two numbers. And more.
 * @param {number} a
 */
// eslint-disable-next-line no-unused-vars
function add(a, b = a || 1) {
  const local = 1;
  const inner = (x) => { return x ? x : local; };
  for (const item of []) if (item && item.ok) continue;
  switch (a) { case 1: break; case 2: default: break; }
  try { inner(); } catch { a ??= b ?? 0; }
  function declared() { class Local { method() {} } }
  return function named() { return inner; };
}

// An ordinary comment documents nothing.
export async function* stream() { yield* other(); }

export default class extends Base {
  count = 0;
  static shared = { a: 1 };
  #secret;
  handle = async (event) => { if (event) this.count++; };
  static { this.shared.b = () => 2; }
  /** Builds one. */
  constructor(name) {
    super(name);
    this.name = name;
    this.count = this.name = 1;
    if (name) this.sometimes = name;
    this.later = function () {};
  }
  get size() { return this.count; }
  set size(value) { this.count = value; }
  static create() { return new this(); }
  async *[Symbol.asyncIterator]() {}
  #hidden() {}
  "quoted name"() {}
  static async load() {}
  get() { return 1; }
}

@register("x")
export class Decorated {
  @observable value = 1;
  @bound
  /** Below its decorator. */
  act() {}
}

const api = {
  version: 1,
  /** Lists. */
  list() {},
  get total() { return 0; },
  create: function createIt() {},
  remove: async (id) => id && 1,
  "quoted-key": () => {},
  [computed]: function () {},
  users: {
    limit: 10,
    find(id) { return { then() {} }; },
    roles: { all: () => [] },
  },
  42: () => {},
  Inner: class {},
};

module.exports = exports = function createApplication() {};
module.exports = { LIMIT, add, alias: add, run() {}, data: { deep: () => {} } };
exports.make = exports.build = function () { return api; };
exports.CONSTANT = 5;
exports.again = add;
exports.loaded = require("./loaded");
module.exports.named = async () => {};
var both = exports.both = () => 1;

function Animal(name) {
  this.speak = function () { return name; };
  var self = { hidden: function () {} };
}
Animal.prototype.walk = function walk(distance) { return distance > 0 ? 1 : 0; };
Animal.prototype = { constructor: Animal, run: function () {} };
Animal.prototype.legs = 4;
Animal.of = (name) => new Animal(name);
Animal.COUNT = 3;
zoo.keepers.Lion.prototype.roar = function () {};
zoo["feed time"] = function () {};
zoo.state = 1;
Object.assign(Animal.prototype, { sleep() {} });
Object.defineProperty(Animal.prototype, "tail", { get: deprecate(function tail() {}), enumerable: true });
Animal.prototype.jump = leap;
window.start = function () {};

const Widget = class Hidden { render() {} };
const Button = memo(forwardRef(function Button(props, ref) {
  return <button ref={ref} onClick={() => props.go()}>{props.label}</button>;
}));
const Card = ({ title }) => <div>{title && <b>{title}</b>}</div>;
function Page() {
  if (!ready) return null;
  return (
    <main render={() => <Card title="x" />}>text &amp; more</main>
  );
}
const timer = setTimeout(function tick() {}, 10);
const instance = new Thing(() => {});

(function (root, factory) {
  var inWrapper = 1;
  const helper = () => inWrapper;
  factory(root);
})(this, function (exports) {
  function inFactory() {}
  exports.published = function () {};
});

define(["a"], (a) => ({ amd() {} }));
describe("tests", () => { it("says", async () => { const given = 1; const makeIt = () => given; }); });
if (LIMIT) { const block = 1; var blockFunction = function () {}; }
for (let i = 0, n = 3; i < n; i++) {}
label: while (true) { do { break label; } while (0); }
`template ${(function inTemplate() {})()} ${`nested ${() => 1}`}`;
promise.then(function onDone() {}).catch((error) => { handler.onerror = () => error; });

function broken(a { return 1 +; }
const = 5;
const afterTheBreak = () => "read again";
class AlsoAfter { method() { } }
