import type { A } from "./a";
import fs = require("fs");
import Short = Long.Name;
export type { A } from "./a";

/** The shape. */
export interface Shape<T = unknown> extends Base<T>, Other {
  /** How wide. */
  readonly width: number;
  height?: number;
  area(scale: number): number;
  onResize: (to: { w: number }) => void;
  get colour(): string;
  set colour(value: string);
  new (x: number): Shape<T>;
  (call: string): void;
  [index: string]: unknown;
  "quoted-key": string;
  [Symbol.iterator](): Iterator<T>;
}

type Id = string | number;
export type Props<T> = { name: string; render(): T; inner: { hidden: boolean } } & Shared & { extra: 1 };
type Mapped<T> = { [K in keyof T]: T[K] extends infer U ? U : never };
type Tagged = { kind: "a" } | { kind: "b" };

/** Colours. */
export const enum Colour { Red = 1 << 0, Green, "quoted member" = 3, Blue = Red | Green }
declare enum Ambient { Only }

export namespace Outer.Inner {
  export const LIMIT = 3;
  export function helper(): void {}
  namespace Deep { let x = 1; }
}
declare module "library" {
  export function load(path: string): Promise<void>;
  const version: string;
  export default class Library { close(): void; }
}
declare global { interface Window { app: string } var globalValue: number; }
declare module "*.css";
module Legacy { export var old = 1; }

/** Reads text. */
export function read(path: string): string;
export function read(path: number): number;
export function read(path: any, { deep = () => 1 }: { deep?: () => number } = {}): any { return path || deep(); }
declare function external(x: number): void;
declare const build: string, revision: number;
declare let later: { method(): void };
export declare abstract class Declared { protected abstract run(): void }

@Component({ selector: "app", template: () => "x" })
export abstract class Service<T> extends mixin(Base)<T> implements Shape<T>, Closeable {
  @Input() name = "x";
  @Input()
  private readonly kind?: string;
  static count: number = 0;
  declare ghost: string;
  accessor level = 1;
  #secret!: number;
  handler = (event: Event): void => { if (event) this.close(); };
  static readonly make = async <U,>(u: U) => u;
  [key: string]: any;

  /** Makes one. */
  constructor(private http: Http, public readonly url: string, @Inject(TOKEN) protected token?: string, plain = 1) {
    super();
    this.url = url ?? "";
  }
  abstract connect(host: string): Promise<void>;
  abstract get ready(): boolean;
  find(id: number): T;
  find(id: string): T;
  /** Finds. */
  @Memoize({ hash: () => 1 })
  @Log
  public async find(id: unknown): Promise<T> { return id ? this.cache[id] : null!; }
  private get size(): number { return 0; }
  protected override set size(value) {}
  static async *all(): AsyncGenerator<number> {}
  close?(): void {}
}

export const config = { port: 1, start() {}, nested: { stop: () => {} } } as const;
export const checked = { go: (): void => {} } satisfies Runner;
const generic = <T extends object>(value: T): T => value;
let assertion = <any>function () {};
export const predicate = (x: unknown): x is string => typeof x === "string";
const typed: (a: number) => void = function (a) {};
export const both: { (a: 1): 1; <B>(b: B): B } = dual(2, (self, that) => self && that);
(Service as any).extra = function () {};
export default { data() { return 1; }, methods: { act(this: Window) {} } };
class Plain { static #x = 1; static { Plain.#x = 2; } }
function assertIsString(value: unknown): asserts value is string { type Local = 1; interface LocalShape { x: 1 } enum E { A } }

class Broken { method(: string { if (x) { return } } kept(): void {} }
let wrong: = 5;
export const afterTheBreak = async () => 1;
interface AlsoAfter { field: string }
export = Service;
export as namespace Everything;
