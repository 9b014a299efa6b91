// Classes as applications write them, over several files, and procedures that make and take
// instances.

import type { Files } from "../build/_fixture.ts";

export const files: Files = {
  "src/make/base.ts": `
export class Base {
  #id: number;
  constructor(id: number) { this.#id = id; }
  get id(): number { return this.#id; }
  get kind(): string { return "base"; }
}
export default class { value = 1; constructor(readonly label: string) {} }
`,
  "src/make/classes.ts": `
import { Forbidden } from "seamline";
import { Base } from "./base.ts";
import { Lib } from "lib";
export class Pattern { name: string; constructor({ name }: { name: string }) { this.name = name; } }
export class Rest { names: string[]; constructor(...names: string[]) { this.names = names; } }
export class Defaults { a: number; b: string; constructor(a = 1, b = "x" + a) { this.a = a; this.b = b; } }
export class Throws { a: number; constructor(a: number) { if (a !== 1) throw new Forbidden("only one"); this.a = 2; } }
export class Child extends Base {
  extra = new Map<string, unknown>();
  constructor(id: number, readonly tag: unknown) { super(id); }
  override get kind(): string { return "child"; }
}
export class Grandchild extends Child { more: bigint | undefined; }
export class ParamProps {
  constructor(public a: number, private b: string, protected readonly c: Date, readonly d?: bigint) {}
  show(): string { return this.b + this.c.toISOString(); }
}
export class MyMap extends Map<string, number> { total(): number { return this.size; } }
export class OwnedMap extends Map<string, number> { owner = "me"; }
export class MyArray extends Array<unknown> {
  #owner: string;
  constructor(owner: string) { super(); this.#owner = owner.toUpperCase(); }
}
export class OwnedArray extends Array<unknown> { owner = "me"; }
export class MyDate extends Date { get zone(): string { return "utc"; } }
export class ZonedDate extends Date { zone = "utc"; }
export class Point { a: number; constructor(a: number) { this.a = a; } }
export class SelfFrozen { a: number; constructor(a: number) { this.a = a; Object.freeze(this); } }
export class Json { #x = 5; a = 1; toJSON(): unknown { return { x: this.#x }; } }
export class GetterThrows { #a: number; constructor(a: number) { this.#a = a; } get a(): number { throw new Error("not now " + this.#a); } }
export class Statics { static made = 0; static s = 1; a = 1; constructor() { Statics.made++; } }
export class Sym { a = 1; [Symbol.for("x")] = 2; }
export class Sorted {
  #list: number[] = [];
  get list(): number[] { return this.#list; }
  set list(v: number[]) { this.#list = [...v].sort(); }
  get size(): number { return this.#list.length; }
}
export class FromLib extends Lib { own = 1; code: number; constructor(message: string, code: number) { super(message); this.code = code; } }
export class Several extends AggregateError { override name = "Several"; when = 1; }
const mixin = (B: new () => object) => class extends B { mixed = 1; };
export class Mixed extends mixin(Object) { own = 2; }
const greeting = <B extends new () => object>(Base: B) => class extends Base { greet(): string { return "hi"; } get sum(): number { return 1; } };
export class Greeting extends greeting(Object) { own = 2; }
const pair = (Base: new () => object) => class extends Base { #x = 1; get x(): number { return this.#x; } set x(value: number) { this.#x = value; } };
export class Paired extends pair(Object) {}
export class Sealed { #a: unknown; constructor(a: unknown = 1) { this.#a = a; } get a(): unknown { return this.#a; } clear(): this { this.#a = undefined; return this; } }
export class Id extends String { own = 1; }
const kind = "kind";
export class Computed { [kind] = 1; ["a" + "b"] = 2; }
export class ComputedName { [kind] = 1; }
export class Hidden { constructor(a: number, b: number) { Object.assign(this, { a, b }); } }
export class Destructured { [key: string]: unknown; constructor(a: number, b: number) { [this.a, { x: this.b = 9 }] = [a, { x: b }]; this.c ??= 3; } }
export class Optional { constructor(readonly a?: number, readonly b?: string, readonly c?: number) {} }
export class Emptied { since: Date | undefined = new Date(0); constructor(readonly currency: string | undefined = "EUR") {} clear(): this { this.since = undefined; return this; } }
export abstract class Shape { abstract area: number; constructor(readonly name: string) {} }
export class Circle extends Shape { area = 3; }
class Secret { a = 1; }
class SecretPoint extends Point {}
export const secret = (): unknown => new Secret();
export const secretPoint = (): unknown => new SecretPoint(1);
`,
  "node_modules/lib/package.json": '{"name":"lib","type":"module","exports":"./index.js"}',
  "node_modules/lib/index.js":
    "export class Lib extends Error { constructor(message) { super(message); this.name = 'Lib'; } }",
  "src/other/unsegmented.ts": `export class Unsegmented { constructor(readonly text: string) {} }`,
  "src/x/one.ts": `export class Same { a = 1; }`,
  "src/x/two.ts": `export class Same { b = 1; }`,
  "src/make/make.ts": `
import * as c from "./classes.ts";
import { Base } from "./base.ts";
import Anonymous from "./base.ts";
import { Unsegmented } from "../other/unsegmented.ts";
import { Same } from "../x/one.ts";
import { Same as Other } from "../x/two.ts";
const makers: Record<string, () => unknown> = {
  pattern: () => new c.Pattern({ name: "Ada" }),
  rest: () => new c.Rest("a", "b"),
  defaults: () => new c.Defaults(5),
  throws: () => new c.Throws(1),
  nested: () => ({ in: [new Map([[new c.Point(1), new Set([new c.Child(2, new c.Rest())])]])] }),
  anonymous: () => new Anonymous("hi"),
  inherited: () => { const one = new c.Grandchild(7, "t"); one.extra.set("base", new Base(8)); one.more = 5n; return one; },
  paramProps: () => new c.ParamProps(1, "b", new Date(0), 5n),
  map: () => new c.MyMap([["a", 1]]),
  array: () => { const one = new c.MyArray("me"); one.push(1, new Date(0)); return [one]; },
  date: () => new c.MyDate(0),
  frozen: () => Object.freeze([Object.freeze(new c.Point(1)), new c.SelfFrozen(2)]),
  toJSON: () => new c.Json(),
  getterThrows: () => ({ a: [new c.GetterThrows(3)] }),
  proxy: () => [new Proxy(new c.Point(5), {}), new Proxy({ a: 1 }, {}), new Proxy([1], {})],
  ownedMap: () => ({ map: new c.OwnedMap([["a", 1]]) }),
  zonedDate: () => [new c.ZonedDate(0)],
  ownedArray: () => ({ list: new c.OwnedArray() }),
  nullPrototype: () => Object.assign(Object.create(null), { a: Object.create(null) }),
  holes: () => [, 1, , 2],
  extra: () => Object.assign([1, 2], { extra: 3 }),
  boxed: () => [new String("x"), new Number(5), new Boolean(false)],
  native: () => new URLSearchParams("a=b"),
  secret: () => ({ a: c.secret() }),
  secretPoint: () => ({ a: c.secretPoint() }),
  statics: () => new c.Statics(),
  symbols: () => new c.Sym(),
  sorted: () => { const one = new c.Sorted(); one.list = [3, 1]; return one; },
  fromLib: () => { throw new c.FromLib("lib failed", 9); },
  several: () => { throw new c.Several([new TypeError("one"), new c.FromLib("two", 2)], "some failed"); },
  mixed: () => new c.Mixed(),
  greeting: () => new c.Greeting(),
  paired: () => [new c.Paired()],
  sealed: () => [new c.Sealed(2), new c.Sealed(2).clear()],
  id: () => ({ id: new c.Id("x") }),
  computed: () => [new c.Computed()],
  computedName: () => Object.assign(new c.ComputedName(), { kind: 3 }),
  hidden: () => new c.Hidden(1, 2),
  destructured: () => new c.Destructured(1, 2),
  optional: () => [new c.Optional(), new c.Optional(undefined, "b"), new c.Optional(1, undefined, 3)],
  emptied: () => [new c.Emptied().clear(), new c.Emptied("USD")],
  circle: () => new c.Circle("c"),
  unsegmented: () => new Unsegmented("u"),
  same: () => [new Same()],
  other: () => [new Other()],
};
export async function make(name: string): Promise<unknown> { return makers[name]!(); }
export async function take(value: unknown): Promise<unknown> { return value; }
/** Describes an arrived value: its class, and what only the class's own code knows. */
export async function inspect(value: unknown): Promise<unknown> {
  const of = value as { constructor: { name: string }; show?: () => string };
  return [of.constructor.name, Object.isFrozen(value), of.show?.()];
}
`,
  "src/relay/relay.ts": `
import { inspect, make, take } from "../make/make.ts";
export async function relay(name: string): Promise<unknown> { return await take(await make(name)); }
export async function look(name: string): Promise<unknown> { return await inspect(await make(name)); }
/** Whether a value is an instance of this node's class. */
export async function own(name: string): Promise<unknown> {
  const classes = { ...(await import("../make/classes.ts")), ...(await import("../make/base.ts")) } as Record<string, unknown>;
  let value: any;
  try { value = await make(name); } catch (thrown) { value = thrown; }
  return [value.constructor.name, value.constructor === classes[value.constructor.name], value.errors?.map((one: Error) => [one.constructor.name, one.message])];
}
`,
  "make.segment.json":
    '{ "./make/make": { "make": { "access": "public" }, "take": { "access": "public" }, "inspect": { "access": "public" } } }',
  "relay.segment.json":
    '{ "./relay/relay": { "relay": { "access": "public" }, "look": { "access": "public" }, "own": { "access": "public" } } }',
};
