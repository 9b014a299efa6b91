// Pairs of builds: what changes, the verdict, and the call that proves it.

import type { Level } from "../../server/contract/difference.ts";

export interface Pair {
  /** A row of docs/guide/changing-procedures.md, or a case of one. */
  readonly row: string;
  /** The difference from other pairs of its row. */
  readonly case?: string;
  /** The code of a module, which exports `f`. */
  readonly before: string;
  /** The same code if left out; no entry at all if `null`. */
  readonly after?: string | null;
  readonly entry?: object;
  readonly entryAfter?: object;
  readonly level: Level;
  /** Of the worst verdict. */
  readonly member?: string;
  readonly call?: Call;
  /** The answers of both builds: status and text, or what a caller makes of it. Parts of it are enough. */
  readonly was: string;
  readonly is: string;
}

export interface Call {
  readonly method?: string;
  /** Arguments in plain JSON. */
  readonly args?: object;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The path of a route. */
  readonly path?: string;
  /** Reads the answer as a caller of the earlier build. */
  // oxlint-disable-next-line typescript/no-explicit-any -- callers have the types of the earlier build
  readonly read?: (answer: any) => unknown;
  /** The answer is passed on to this function of the earlier build, which reads it as its pages do. */
  readonly passTo?: string;
}

const encoded = { "x-svc-data-encoding": "serialized" };
const open = { access: "public" };

const echo = (type: string, declarations = ""): string =>
  `${declarations}\nexport async function f(x: ${type}): Promise<string> { return JSON.stringify(x); }`;

const gives = (type: string, value: string, declarations = ""): string =>
  `${declarations}\nexport async function f(): Promise<${type}> { return ${value}; }`;

const line = (members: string): string => `export interface Line { ${members} }`;

const roll = (members: string): string =>
  `export class Roll { ${members} }
export async function f(): Promise<Roll> { return new Roll("tweed"); }
export async function take(roll: Roll): Promise<string> { return roll.cloth; }`;

const answersAs = (name: string): string =>
  `export async function ${name}(): Promise<Response> { return new Response("${name}"); }`;

const resumed = `import { getContext } from "seamline";
export async function* f(): AsyncGenerator<number> {
  for (let at = Number(getContext().lastEventId ?? 0) + 1; at < 3; at++) yield at;
}`;

const instance = (args: object, fields: object = {}): object => ({
  serialized: true,
  name: "class",
  key: "p#/Roll",
  args,
  fields,
});

/** Each has a folder, `p0`, `p1` …, which `p#` stands for. */
export const pairs: readonly Pair[] = [
  // --- procedures
  {
    row: "a new procedure, version or route",
    before: `export async function g(): Promise<void> {}\nexport async function f(): Promise<number> { return 1; }`,
    entry: { f: open },
    entryAfter: { f: open, g: open },
    level: "fine",
    was: "200 1",
    is: "200 1",
  },
  {
    row: "a procedure, version or route goes",
    before: echo("string"),
    after: null,
    level: "breaking",
    call: { args: { x: "a" } },
    was: '200 "a"',
    is: "404",
  },
  {
    row: "a procedure, version or route goes",
    case: "a version",
    before: echo("string"),
    entry: { f: { access: "public", version: "1" } },
    entryAfter: { f: { access: "public", version: "2" } },
    level: "breaking",
    call: { args: { x: "a" }, query: "version=1" },
    was: '200 "a"',
    is: "404",
  },
  {
    row: "a procedure, version or route goes",
    case: "a route",
    before: `export async function f(): Promise<Response> { return new Response("page"); }`,
    entry: { f: { access: "public", route: "GET /pages/:id" } },
    entryAfter: { f: { access: "public", route: "POST /pages/:id" } },
    level: "breaking",
    call: { method: "GET", path: "/pages/1" },
    was: "200 page",
    is: "405",
  },
  {
    row: "the name of a parameter in a route's path",
    before: `export async function f(): Promise<Response> { return new Response("page"); }`,
    entry: { f: { access: "public", route: "GET /books/:id" } },
    entryAfter: { f: { access: "public", route: "GET /books/:isbn" } },
    level: "fine",
    call: { method: "GET", path: "/books/1" },
    was: "200 page",
    is: "200 page",
  },
  {
    row: "the pattern of a route takes more",
    before: answersAs("f"),
    entry: { f: { access: "public", route: "GET /images/:id" } },
    entryAfter: { f: { access: "public", route: "GET /images/*id" } },
    level: "fine",
    call: { method: "GET", path: "/images/1" },
    was: "200 f",
    is: "200 f",
  },
  {
    row: "the pattern of a route takes more",
    case: "any method",
    before: answersAs("f"),
    entry: { f: { access: "public", route: "GET /albums/new" } },
    entryAfter: { f: { access: "public", route: "* /albums/:id" } },
    level: "fine",
    call: { method: "GET", path: "/albums/new" },
    was: "200 f",
    is: "200 f",
  },
  {
    row: "the pattern of a route takes less",
    before: answersAs("f"),
    entry: { f: { access: "public", route: "GET /maps/*at" } },
    entryAfter: { f: { access: "public", route: "GET /maps/:at" } },
    level: "breaking",
    call: { method: "GET", path: "/maps/north/1" },
    was: "200 f",
    is: "404",
  },
  {
    row: "a route gets requests that were another one's",
    before: `${answersAs("f")}\n${answersAs("g")}`,
    entry: { f: { access: "public", route: "GET /prints/:id" } },
    entryAfter: {
      f: { access: "public", route: "GET /prints/:id" },
      g: { access: "public", route: "GET /prints/new" },
    },
    level: "risky",
    call: { method: "GET", path: "/prints/new" },
    was: "200 f",
    is: "200 g",
  },
  {
    row: "a route gets requests that were another one's",
    case: "another function with a wider pattern takes its place",
    before: `${answersAs("f")}\n${answersAs("g")}`,
    entry: { f: { access: "public", route: "GET /sheets/:id" } },
    entryAfter: { g: { access: "public", route: "GET /sheets/*rest" } },
    level: "risky",
    call: { method: "GET", path: "/sheets/1" },
    was: "200 f",
    is: "200 g",
  },
  {
    row: "a procedure, version or route goes",
    case: "a route, and one beside it answers instead",
    before: `${answersAs("f")}\n${answersAs("g")}`,
    entry: {
      f: { access: "public", route: "GET /plates/new" },
      g: { access: "public", route: "GET /plates/:id" },
    },
    entryAfter: { g: { access: "public", route: "GET /plates/:id" } },
    level: "breaking",
    call: { method: "GET", path: "/plates/new" },
    was: "200 f",
    is: "200 g",
  },
  {
    row: "public becomes protected",
    before: echo("string"),
    entryAfter: { f: { access: "protected" } },
    level: "breaking",
    call: { args: { x: "a" } },
    was: '200 "a"',
    is: "401",
  },
  {
    row: "a guard comes",
    before: echo("string"),
    entryAfter: { f: { access: "public", guard: "./guards.ts#signedIn" } },
    level: "risky",
    call: { args: { x: "a" } },
    was: '200 "a"',
    is: "401",
  },
  {
    row: "`safe` goes",
    before: echo("string"),
    entry: { f: { access: "public", safe: true } },
    entryAfter: { f: open },
    level: "breaking",
    call: { method: "GET", query: "x=a", headers: { "sec-fetch-site": "cross-site" } },
    was: '200 "a"',
    is: "403",
  },
  {
    row: "`safe` goes",
    case: "QUERY",
    before: echo("string"),
    entry: { f: { access: "public", safe: true } },
    entryAfter: { f: open },
    level: "breaking",
    call: { method: "QUERY", args: { x: "a" } },
    was: '200 "a"',
    is: "405",
  },
  {
    row: "`safe` or `idempotent` of a stream goes",
    before: `export async function* f(): AsyncGenerator<number> { yield 1; }`,
    entry: { f: { access: "public", idempotent: true } },
    entryAfter: { f: open },
    level: "breaking",
    call: { method: "GET", headers: { accept: "text/event-stream" } },
    was: "data: 1",
    is: "405",
  },
  {
    row: "`resume` of a stream goes",
    before: resumed,
    entry: { f: { access: "public", resume: true } },
    entryAfter: { f: { access: "public", idempotent: true } },
    level: "breaking",
    call: { method: "GET", headers: { accept: "text/event-stream", "last-event-id": "1" } },
    was: "data: 2",
    is: "204 ",
  },
  {
    row: "a result becomes a stream, or a stream a result",
    before: `export async function* f(): AsyncGenerator<number> { yield 1; }`,
    after: `export async function f(): Promise<number> { return 1; }`,
    level: "breaking",
    member: "result",
    call: { headers: { accept: "text/event-stream" }, args: {} },
    was: "data: 1",
    is: "200 1",
  },
  {
    row: "a result becomes a stream, or a stream a result",
    case: "the other way",
    before: `export async function f(): Promise<number> { return 1; }`,
    after: `export async function* f(): AsyncGenerator<number> { yield 1; }`,
    level: "breaking",
    member: "result",
    call: { headers: { accept: "application/json" }, args: {} },
    was: "200 1",
    is: "406",
  },
  // --- parameters
  {
    row: "parameters in another order",
    before: `export async function f(cloth: string, metres: number): Promise<string> { return metres + cloth; }`,
    after: `export async function f(metres: number, cloth: string): Promise<string> { return metres + cloth; }`,
    level: "fine",
    call: { args: { cloth: "felt", metres: 2 } },
    was: "200 2felt",
    is: "200 2felt",
  },
  {
    row: "a parameter becomes one of a pattern",
    before: `export async function f(cloth: string, metres = 1): Promise<string> { return metres + cloth; }`,
    after: `export async function f({ cloth, metres = 1 }: { cloth: string; metres?: number }): Promise<string> { return metres + cloth; }`,
    level: "fine",
    call: { args: { cloth: "felt" } },
    was: "200 1felt",
    is: "200 1felt",
  },
  {
    row: "a new optional parameter, or an optional member",
    before: `export async function f(cloth: string): Promise<string> { return cloth; }`,
    after: `export async function f(cloth: string, metres = 1): Promise<string> { return cloth; }`,
    level: "fine",
    call: { args: { cloth: "felt" } },
    was: "200 felt",
    is: "200 felt",
  },
  {
    row: "a new optional parameter, or an optional member",
    case: "a member",
    before: echo("Line", line("sku: string")),
    after: echo("Line", line("sku: string; note?: string")),
    level: "fine",
    call: { args: { x: { sku: "a" } } },
    was: '200 {"sku":"a"}',
    is: '200 {"sku":"a"}',
  },
  {
    row: "a new required parameter or member",
    before: `export async function f(cloth: string): Promise<string> { return cloth; }`,
    after: `export async function f(cloth: string, metres: number): Promise<string> { return cloth; }`,
    level: "breaking",
    member: "metres",
    call: { args: { cloth: "felt" } },
    was: "200 felt",
    is: "400 Missing value for parameter 'metres'",
  },
  {
    row: "a new required parameter or member",
    case: "a member",
    before: echo("Line[]", line("sku: string")),
    after: echo("Line[]", line("sku: string; metres: number")),
    level: "breaking",
    member: "x[].metres",
    call: { args: { x: [{ sku: "a" }] } },
    was: "200",
    is: "400 x[0].metres: missing",
  },
  {
    row: "a new required parameter or member",
    case: "inside of itself",
    before: echo("Tree", "export interface Tree { name: string; children: Tree[] }"),
    after: echo("Tree", "export interface Tree { name: string; id: number; children: Tree[] }"),
    level: "breaking",
    member: "x.id",
    call: { args: { x: { name: "a", children: [] } } },
    was: "200",
    is: "400 x.id: missing",
  },
  {
    row: "an optional parameter or member becomes required",
    before: echo("Line", line("sku: string; metres?: number")),
    after: echo("Line", line("sku: string; metres: number")),
    level: "breaking",
    member: "x.metres",
    call: { args: { x: { sku: "a" } } },
    was: "200",
    is: "400 x.metres: missing",
  },
  {
    row: "a parameter is renamed or goes",
    before: `export async function f(cloth: string, metres = 1): Promise<string> { return cloth; }`,
    after: `export async function f(cloth: string, length = 1): Promise<string> { return cloth; }`,
    level: "breaking",
    member: "metres",
    call: { args: { cloth: "felt", metres: 2 } },
    was: "200 felt",
    is: "400 Unknown parameter 'metres'",
  },
  {
    row: "a rest parameter gets another name or kind",
    before: `export async function f(...cloths: string[]): Promise<number> { return cloths.length; }`,
    after: `export async function f(cloths: string[] = []): Promise<number> { return cloths.length; }`,
    level: "breaking",
    member: "...cloths",
    call: { args: { "...cloths": ["a"] } },
    was: "200 1",
    is: "400",
  },
  {
    row: "a member goes",
    before: echo("Line", line("sku: string; note?: string")),
    after: echo("Line", line("sku: string")),
    level: "risky",
    member: "x.note",
    call: { args: { x: { sku: "a", note: "b" } } },
    was: '200 {"sku":"a","note":"b"}',
    is: '200 {"sku":"a"}',
  },
  {
    row: 'a member goes, with `"extra": "refuse"`',
    before: echo("Line", line("sku: string; note?: string")),
    after: echo("Line", line("sku: string")),
    entry: { f: { access: "public", extra: "refuse" } },
    level: "breaking",
    member: "x.note",
    call: { args: { x: { sku: "a", note: "b" } } },
    was: '200 {"sku":"a","note":"b"}',
    is: "400 x.note: unknown",
  },
  {
    row: 'a member goes, with `"extra": "keep"`',
    before: echo("Line", line("sku: string; note?: string")),
    after: echo("Line", line("sku: string")),
    entry: { f: { access: "public", extra: "keep" } },
    level: "fine",
    call: { args: { x: { sku: "a", note: "b" } } },
    was: '200 {"sku":"a","note":"b"}',
    is: '200 {"sku":"a","note":"b"}',
  },
  {
    row: 'unknown members are refused: `"extra": "refuse"`',
    before: echo("Line", line("sku: string")),
    entryAfter: { f: { access: "public", extra: "refuse" } },
    level: "breaking",
    call: { args: { x: { sku: "a", id: 1 } } },
    was: '200 {"sku":"a"}',
    is: "400 x.id: unknown",
  },
  {
    row: "a parameter takes more",
    before: echo('"red" | "blue"'),
    after: echo('"red" | "blue" | "green"'),
    level: "fine",
    call: { args: { x: "red" } },
    was: '200 "red"',
    is: '200 "red"',
  },
  {
    row: "a parameter takes less",
    before: echo("string | number"),
    after: echo("number"),
    level: "breaking",
    member: "x",
    call: { args: { x: "a" } },
    was: '200 "a"',
    is: "400 x: expected number, got text",
  },
  {
    row: "a parameter takes less",
    case: "null",
    before: echo("string | null"),
    after: echo("string"),
    level: "breaking",
    member: "x",
    call: { args: { x: null } },
    was: "200 null",
    is: "400 x: expected text, got null",
  },
  {
    row: "a parameter takes less",
    case: "an arm of a union",
    before: echo('{ kind: "circle"; radius: number } | { kind: "square"; side: number }'),
    after: echo('{ kind: "circle"; radius: number }'),
    level: "breaking",
    member: "x",
    call: { args: { x: { kind: "square", side: 1 } } },
    was: "200",
    is: "400 x.kind",
  },
  {
    row: "a parameter takes less",
    case: "an item of a tuple",
    before: echo("[string, number?]"),
    after: echo("[string]"),
    level: "breaking",
    member: "x",
    call: { args: { x: ["a", 1] } },
    was: '200 ["a",1]',
    is: "400 x: expected 1 item, got 2",
  },
  {
    row: "a parameter takes less",
    case: "a value of an index signature",
    before: echo("Record<string, number>"),
    after: echo("Record<string, 1 | 2>"),
    level: "breaking",
    member: "x[]",
    call: { args: { x: { a: 3 } } },
    was: '200 {"a":3}',
    is: "400 x.a",
  },
  {
    row: "a parameter takes less",
    case: "an overload",
    before: `export async function f(x: string): Promise<string>;
export async function f(x: number): Promise<string>;
export async function f(x: string | number): Promise<string> { return String(x); }`,
    after: `export async function f(x: string): Promise<string> { return x; }`,
    level: "breaking",
    member: "x",
    call: { args: { x: 1 } },
    was: "200 1",
    is: "400 x: expected text",
  },
  {
    row: "a constraint comes or gets tighter",
    before: echo("string & MaxLength<5>", 'import type { MaxLength } from "seamline/types";'),
    after: echo("string & MaxLength<3>", 'import type { MaxLength } from "seamline/types";'),
    level: "breaking",
    member: "x",
    call: { args: { x: "abcd" } },
    was: '200 "abcd"',
    is: "400 x: expected at most 3 characters",
  },
  {
    row: "a constraint goes or gets wider",
    before: echo("number & Min<0>", 'import type { Min } from "seamline/types";'),
    after: echo("number & Min<-1>", 'import type { Min } from "seamline/types";'),
    level: "fine",
    call: { args: { x: 0 } },
    was: "200 0",
    is: "200 0",
  },
  {
    row: "a type beside which plain JSON says too little",
    before: echo("Date"),
    after: echo("Date | bigint"),
    level: "breaking",
    member: "x",
    call: { args: { x: "2026-11-20" } },
    was: '200 "2026-11-20T00:00:00.000Z"',
    is: "400 x: plain JSON can't tell",
  },
  {
    row: "a type that plain JSON or a query is read by",
    before: `export async function f(x: Date): Promise<string> { return typeof x; }`,
    after: `export async function f(x: Date | string): Promise<string> { return typeof x; }`,
    level: "risky",
    member: "x",
    call: { args: { x: "2026-11-20" } },
    was: "200 object",
    is: "200 string",
  },
  {
    row: "a type that plain JSON or a query is read by",
    case: "a query",
    before: `export async function f(x: number): Promise<string> { return typeof x; }`,
    after: `export async function f(x: number | string): Promise<string> { return typeof x; }`,
    level: "risky",
    member: "x",
    call: { method: "GET", query: "x=1" },
    was: "200 number",
    is: "200 string",
  },
  {
    row: "a parameter takes more",
    case: "overloads become one type",
    before: `export async function f(x: string): Promise<string>;
export async function f(x: number): Promise<string>;
export async function f(x: string | number): Promise<string> { return typeof x; }`,
    after: `export async function f(x: string | number): Promise<string> { return typeof x; }`,
    level: "fine",
    call: { method: "GET", query: "x=1" },
    was: "200 string",
    is: "200 string",
  },
  {
    row: "a type that plain JSON or a query is read by",
    case: "of another overload, in a query",
    before: `export async function f(x: number): Promise<string> { return typeof x; }`,
    after: `export async function f(x: string): Promise<string>;
export async function f(x: number): Promise<string>;
export async function f(x: string | number): Promise<string> { return typeof x; }`,
    level: "risky",
    member: "x",
    call: { method: "GET", query: "x=1" },
    was: "200 number",
    is: "200 string",
  },
  {
    row: "a type beside which plain JSON says too little",
    case: "another overload takes the text of a query",
    before: `export async function f(x: number, strict?: boolean): Promise<string> { return typeof x; }`,
    after: `export async function f(x: string): Promise<string>;
export async function f(x: number, strict?: boolean): Promise<string>;
export async function f(x: string | number, strict?: boolean): Promise<string> { return typeof x; }`,
    level: "breaking",
    member: "x",
    call: { method: "GET", query: "x=1&strict=true" },
    was: "200 number",
    is: "400",
  },
  {
    row: "checks are turned on",
    before: echo("number"),
    entry: { f: { access: "public", validate: false } },
    entryAfter: { f: open },
    level: "risky",
    call: { args: { x: "a" } },
    was: '200 "a"',
    is: "400 x: expected number",
  },
  // --- results
  {
    row: "a new member of a result",
    before: gives("{ total: number }", "{ total: 1 }"),
    after: gives("{ total: number; tax: number }", "{ total: 1, tax: 0 }"),
    level: "fine",
    call: { read: ({ total }) => total.toFixed(2) },
    was: "1.00",
    is: "1.00",
  },
  {
    row: "a member of a result goes, or may be missing",
    before: gives("{ total: number }", "{ total: 1 }"),
    after: gives("{ sum: number }", "{ sum: 1 }"),
    level: "breaking",
    member: "result.total",
    call: { read: ({ total }) => total.toFixed(2) },
    was: "1.00",
    is: "TypeError",
  },
  {
    row: "a member of a result goes, or may be missing",
    case: "it may be missing",
    before: gives("{ lines: { metres: number }[] }", "{ lines: [{ metres: 1 }] }"),
    after: gives("{ lines: { metres?: number }[] }", "{ lines: [{}] }"),
    level: "breaking",
    member: "result.lines[].metres",
    call: { read: ({ lines }) => lines[0].metres.toFixed(1) },
    was: "1.0",
    is: "TypeError",
  },
  {
    row: "an optional member of a result goes or is always there",
    before: gives("{ total: number; note?: string }", "{ total: 1 }"),
    after: gives("{ total: number }", "{ total: 1 }"),
    level: "fine",
    call: { read: ({ note = "none" }) => note },
    was: "none",
    is: "none",
  },
  {
    row: "a result becomes something else, or a union",
    before: gives("string", '"a"'),
    after: gives("string | null", "null"),
    level: "breaking",
    member: "result",
    call: { headers: { accept: "application/json" }, args: {}, read: (text) => text.toUpperCase() },
    was: "A",
    is: "TypeError",
  },
  {
    row: "a result becomes something else, or a union",
    case: "what a stream returns",
    before: `export async function* f(): AsyncGenerator<number, { total: number }> { return { total: 1 }; }`,
    after: `export async function* f(): AsyncGenerator<number, { sum: number }> { return { sum: 1 }; }`,
    level: "breaking",
    member: "result.return.total",
    call: { headers: { accept: "text/event-stream" }, args: {} },
    was: 'id: end\ndata: {"total":1}',
    is: 'id: end\ndata: {"sum":1}',
  },
  {
    row: "a result's union widens",
    before: gives('"open" | "closed"', '"open"'),
    after: gives('"open" | "closed" | "lost"', '"lost"'),
    level: "risky",
    member: "result",
    call: {
      headers: { accept: "application/json" },
      args: {},
      read: (state: "open" | "closed") => ({ open: "yes", closed: "no" })[state].length,
    },
    was: "3",
    is: "TypeError",
  },
  {
    row: "a result's union narrows",
    before: gives("string | null", '"a"'),
    after: gives("string", '"a"'),
    level: "fine",
    call: { headers: { accept: "application/json" }, args: {}, read: (text) => text ?? "none" },
    was: "a",
    is: "a",
  },
  {
    row: "a procedure without a result gets one",
    before: `export async function f(): Promise<void> {}`,
    after: `export async function f(): Promise<number> { return 1; }`,
    level: "fine",
    call: { read: () => "done" },
    was: "done",
    is: "done",
  },
  // --- classes
  {
    row: "a class whose instances callers send changes",
    case: "a parameter of its constructor goes",
    before: `export class Roll { constructor(public cloth: string, public metres: number) {} }
export async function f(roll: Roll): Promise<string> { return roll.cloth; }`,
    after: `export class Roll { constructor(public cloth: string) {} }
export async function f(roll: Roll): Promise<string> { return roll.cloth; }`,
    level: "breaking",
    member: "roll.metres",
    call: { headers: encoded, args: { roll: instance({ 0: "felt", 1: 2 }) } },
    was: "200",
    is: "400",
  },
  {
    row: "a class whose instances callers send changes",
    case: "it gets another name",
    before: `export class Roll { constructor(public cloth: string) {} }
export async function f(roll: Roll): Promise<string> { return roll.cloth; }`,
    after: `export class Bale { constructor(public cloth: string) {} }
export async function f(roll: Bale): Promise<string> { return roll.cloth; }`,
    level: "breaking",
    member: "roll",
    call: { headers: encoded, args: { roll: instance({ 0: "felt" }) } },
    was: "200",
    is: "400",
  },
  {
    row: "a class whose instances callers send changes",
    case: "a parameter of its constructor is required now",
    before: `export class Roll { constructor(public cloth: string, public metres = 1) {} }
export async function f(roll: Roll): Promise<string> { return roll.cloth; }`,
    after: `export class Roll { constructor(public cloth: string, public metres: number) {} }
export async function f(roll: Roll): Promise<string> { return roll.cloth; }`,
    level: "breaking",
    member: "roll.metres",
    call: { headers: encoded, args: { roll: instance({ 0: "felt" }) } },
    was: "200",
    is: "400",
  },
  {
    row: "a class whose instances callers get changes",
    case: "a field comes",
    before: roll("constructor(public cloth: string) {}"),
    after: roll("note = 'new'; constructor(public cloth: string) {}"),
    entry: { f: open, take: open },
    level: "breaking",
    member: "result.note",
    call: { headers: encoded, args: {}, passTo: "take" },
    was: "200",
    is: "400",
  },
  {
    row: "a method or getter of a class",
    before: roll("constructor(public cloth: string) {}"),
    after: roll(
      "constructor(public cloth: string) {} get length(): number { return 1; } cut(): number { return 2; }",
    ),
    entry: { f: open, take: open },
    level: "fine",
    call: { headers: encoded, args: {}, passTo: "take" },
    was: "200",
    is: "200",
  },
];
