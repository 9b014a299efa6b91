import { describe, expect, it } from "vitest";

import { type Files, createFixture } from "./_fixture.ts";

async function classesOf(files: Files, more: Files = {}) {
  const names = Object.keys(files).map((file) => `./${file.slice("src/".length)}`);
  const app = createFixture({
    ...files,
    ...more,
    "src/run.ts": `${names.map((name) => `import type {} from "${name}";`).join("\n")}\nexport async function run(): Promise<void> {}\n`,
    "run.segment.json": '{ "./run": { "run": { "access": "public" } } }',
  });
  const { manifest, warnings } = await app.build({ validate: false });
  return {
    classes: Object.fromEntries(manifest.classes.map(({ key, ...record }) => [key, record])),
    warnings,
  };
}

describe("class records", () => {
  it("a class record has arguments that are readable members, and the other fields", async () => {
    const { classes } = await classesOf({
      "src/people/person.ts": `export class Person {
  readonly name: string;
  tags: string[] = [];
  #born: Date;
  private note = "";
  static count = 0;
  constructor(name: string, born: Date, secret: string, ...tags: string[]) {
    this.name = name;
    this.#born = born;
    this.tags = tags;
    this.note = secret;
  }
  get born(): Date { return this.#born; }
  get age(): number { return 1; }
  get nick(): string { return this.note; }
  set nick(text: string) { this.note = text; }
  greet(): string { return this.name; }
}
`,
    });
    expect(classes).toEqual({
      "people/Person": {
        module: "people/person",
        export: "Person",
        args: ["name", "born", null, "...tags"],
        fields: ["note", "nick"],
      },
    });
  });

  it("a class record includes members of parents in other modules and behind re-exports", async () => {
    const { classes } = await classesOf({
      "src/a/base.ts":
        'export class Base {\n  id = 0;\n  label = "";\n  constructor(id: number) {\n    this.id = id;\n  }\n}\n',
      "src/a/index.ts": 'export { Base as Root } from "./base.ts";\n',
      "src/b/child.ts":
        'import { Root } from "../a/index.ts";\nexport class Child extends Root {\n  get label(): string { return "fixed"; }\n  more = 1;\n}\n',
      "src/b/grandchild.ts":
        'import * as all from "./child.ts";\nexport default class Grandchild extends all.Child {\n  constructor(more: number, id: number) {\n    super(id);\n    this.more = more;\n  }\n}\n',
    });
    expect(classes["b/Child"]).toEqual({
      module: "b/child",
      export: "Child",
      args: ["id"],
      fields: ["more"],
    });
    expect(classes["b/Grandchild"]).toEqual({
      module: "b/grandchild",
      export: "default",
      args: ["more", "id"],
      fields: [],
    });
  });

  it("a class is an error if it extends one of the framework's or the language's", async () => {
    const { classes } = await classesOf({
      "src/e/errors.ts": `import { NotFound, Teapot } from "seamline";
export class OutOfStock extends NotFound {
  readonly sku: string;
  constructor(sku: string, options?: ErrorOptions) {
    super("no " + sku, options);
    this.sku = sku;
  }
}
export class Plain extends RangeError {
  hint = "";
}
export class Pot extends Teapot {}
`,
      "src/e/more.ts":
        'import { OutOfStock } from "./errors.ts";\nexport class Gone extends OutOfStock {\n  override readonly name = "Gone";\n  since = 0;\n}\n',
    });
    expect(classes).toEqual({
      "e/OutOfStock": {
        module: "e/errors",
        export: "OutOfStock",
        args: ["sku"],
        fields: [],
        error: true,
      },
      "e/Plain": {
        module: "e/errors",
        export: "Plain",
        args: ["message"],
        fields: ["hint"],
        error: true,
      },
      "e/Pot": { module: "e/errors", export: "Pot", args: [], fields: [], error: true },
      "e/Gone": { module: "e/more", export: "Gone", args: ["sku"], fields: ["since"], error: true },
    });
  });

  it("a class record has members with computed and constant names, and no symbols", async () => {
    const { classes, warnings } = await classesOf({
      "src/odd/names.ts": `const known = "known";
export class Names {
  3 = "x";
  0x10 = 1;
  1_000 = 2;
  1.50 = 3;
  7n = 4;
  "quoted name" = 5;
  "a.b" = 6;
  ["computed"] = 7;
  [\`template\`] = 8;
  [4] = 9;
  [known] = 10;
  [Symbol.iterator] = 11;
  get 5(): number { return 1; }
  set 5(value: number) {}
  get "read only"(): number { return 1; }
  6(): void {}
  constructor() {
    this["assigned"] = 12;
    this[8] = 13;
    this[known] = 14;
  }
  [name: string]: unknown;
}
`,
    });
    const fields = [
      "3",
      "16",
      "1000",
      "1.5",
      "7",
      "quoted name",
      "a.b",
      "computed",
      "template",
      "4",
      "known",
      "5",
      "assigned",
      "8",
    ];
    expect(classes).toEqual({
      "odd/Names": { module: "odd/names", export: "Names", args: [], fields },
    });
    expect(warnings).toEqual([]);
  });

  it("members with names that can't be sent are left out with a warning", async () => {
    const { classes, warnings } = await classesOf({
      "src/odd/names.ts":
        'export class Names {\n  ["constructor"] = 1;\n  "__proto__" = 2;\n  prototype = 3;\n  a = 4;\n}\n',
    });
    expect(classes).toEqual({
      "odd/Names": { module: "odd/names", export: "Names", args: [], fields: ["a"] },
    });
    expect(warnings.map(({ file, message }) => `${file}: ${message}`)).toEqual(
      ["constructor", "__proto__", "prototype"].map(
        (name) =>
          `src/odd/names.ts: the class "Names" has a member "${name}", which can't be sent: its instances arrive without it`,
      ),
    );
  });

  it("a class record says if a constructor, or the parent's, destructures a parameter without a default", async () => {
    const { classes } = await classesOf({
      "src/a/points.ts": `class Hidden {
  x = 0;
  constructor(name: string, { x }: { x: number }) {
    this.x = x;
  }
}
export class Point extends Hidden {}
export class List {
  first: number;
  constructor([first]: number[]) {
    this.first = first!;
  }
}
export class Safe {
  x = 0;
  constructor({ x } = { x: 0 }, ...[more]: number[]) {
    this.x = x + (more ?? 0);
  }
}
export class Own extends Hidden {
  constructor() {
    super("own", { x: 1 });
  }
}
`,
      "src/b/child.ts":
        'import { List } from "../a/points.ts";\nexport class Child extends List {}\n',
    });
    expect(
      Object.fromEntries(Object.entries(classes).map(([key, { pattern }]) => [key, pattern])),
    ).toEqual({
      "a/Point": true,
      "a/List": true,
      "a/Safe": undefined,
      "a/Own": undefined,
      "b/Child": true,
    });
  });

  it("an error class whose constructor destructures a parameter is a warning with its place, unless the parameter has a default", async () => {
    const { warnings } = await classesOf({
      "src/e/errors.ts": `import { NotFound } from "seamline";
class Hidden extends NotFound {
  constructor(
    { sku }: { sku: string },
  ) {
    super(sku);
  }
}
export class Gone extends Hidden {}
export class Refused extends Error {
  readonly code: number;
  constructor({ code, message }: { code: number; message: string }) {
    super(message);
    this.code = code;
  }
}
export class Late extends Refused {}
export class Safe extends Error {
  readonly code: number;
  constructor({ code, message }: { code?: number; message?: string } = {}) {
    super(message);
    this.code = code ?? 0;
  }
}
`,
    });
    expect(
      warnings.map(({ hint, ...warning }) => ({ ...warning, hint: hint?.slice(0, 40) })),
    ).toEqual(
      [
        ["Gone", 4, 5],
        ["Refused", 12, 15],
      ].map(([name, line, column]) => ({
        file: "src/e/errors.ts",
        line,
        column,
        message: `the constructor of the error class "${name}" destructures a parameter, so it can't be constructed again: its errors arrive as another class`,
        hint: "Name the parameter after a member, or gi",
      })),
    );
  });

  it("a required constructor parameter that no member carries is a warning with its place, for classes that a procedure's types name and for errors", async () => {
    const { warnings } = await classesOf(
      {
        "src/m/mail.ts": `import type { Plain } from "./carried.ts";
export class Email {
  readonly value: string;
  constructor(text: string, ...more: string[]) {
    if (!text.includes("@")) throw new Error("no");
    this.value = text + more.join();
  }
}
interface Query { from?: Email }
export async function find(query: Query, plain: Plain): Promise<void> {}
`,
        "src/m/list.ts": `import { Entry, Aliased as Other, Mixed } from "./classes.ts";
import * as carried from "./carried.ts";
type Entries = readonly Other[];
export async function list(mixed?: Mixed | null): Promise<Map<string, Entries>> { return new Map(); }
export async function add({ entry }: { entry: Entry }, to = carried.Plain): Promise<void> {}
`,
        "src/m/classes.ts": `export { Entry } from "./entry.ts";
class Base { constructor(
    code: number,
    readonly kept: string,
  ) {} }
export class Aliased extends Base {}
export class Mixed extends Aliased { code = 1; get of(): number { return 1; } constructor(of: number, set: number) { super(of, ""); } set set(value: number) {} }
export class Unnamed { constructor(lost: string) {} }
`,
        "src/m/entry.ts": `import { Aliased } from "./classes.ts";
export class Entry extends Aliased {}
`,
        "src/m/carried.ts": `class Parent { id = 1; protected constructor(id: number) { this.id = id; } }
export class Plain extends Parent {
  constructor(id: number, readonly amount: number, private unit: string, getter: string, a: string | undefined, b: unknown, c = 1, d?: string) { super(id); }
  get getter(): string { return this.unit; }
}
`,
        "src/m/errors.ts": `import { NotFound } from "seamline";
export class Lost extends NotFound {
  constructor(sku: string, message: string, cause: Error, options: ErrorOptions) { super(sku.trim() + message); }
}
export class Later extends Lost {}
`,
      },
      {
        "m.segment.json":
          '{ "./m/mail": { "find": { "access": "public" } }, "./m/list": { "list": { "access": "public" }, "add": { "access": "public" } } }',
      },
    );
    expect(warnings).toEqual(
      [
        ["classes.ts", "Aliased", "code", 3, 5],
        ["classes.ts", "Mixed", "set", 7, 103],
        ["classes.ts", "Entry", "code", 3, 5],
        ["errors.ts", "Lost", "sku", 3, 15],
        ["mail.ts", "Email", "text", 4, 15],
      ].map(([file, name, parameter, line, column]) => ({
        file: `src/m/${file}`,
        line,
        column,
        message: `the constructor of the class "${name}" has a parameter "${parameter}", and no member of that name: instances are sent without it, and constructed with undefined where they arrive`,
        hint: "Name the parameter after a member, or give it a default.",
      })),
    );
  });

  it("two classes with the same key are a warning, and both records name the clash", async () => {
    const { classes, warnings } = await classesOf({
      "src/x/one.ts": "export class Same {}\nexport class Other {}\n",
      "src/x/two.ts": "export class Same {}\n",
    });
    expect(classes).toMatchObject({
      "x/Other": { module: "x/one" },
      "x/Same": { clash: "src/x/one.ts and src/x/two.ts" },
    });
    expect(warnings).toMatchObject([
      {
        file: "src/x/two.ts",
        message: expect.stringMatching(/src\/x\/one\.ts have the same key, "x\/Same"/),
      },
    ]);
  });

  it("a class record names a parent that can't be read, and includes parents in bundled packages", async () => {
    const { classes } = await classesOf(
      {
        "src/a/kids.ts": `import { Db } from "db";
import { Model } from "model";
import * as all from "db";
const mix = (Base: new () => object) => class extends Base { mixed = 1; };
const Local = mix(Object);
export class OfLinked extends Db { own = 1; }
export class OfAll extends all.Db {}
export class OfInstalled extends Model { own = 1; }
export class OfMade extends mix(class { inner = 1; }) { own = 1; }
export class OfLocal extends Local {}
export class Grandchild extends OfLocal { more = 1; }
export class OfPlatform extends WeakMap<object, string> {}
export class OfObject extends Object { own = 1; }
export class OfEvents extends EventTarget { own = 1; }
export class OfError extends Error { own = 1; }
`,
      },
      {
        "packages/db/package.json": '{ "name": "db", "type": "module", "exports": "./index.ts" }',
        "packages/db/index.ts":
          'export * from "./other.js";\nexport { Table as Db } from "./table.js";\n',
        "packages/db/other.ts": "export const other = 1;\n",
        "packages/db/table.ts":
          'import { Base } from "./base";\nexport class Table extends Base {\n  constructor(public n = 1) {\n    super();\n  }\n}\n',
        "packages/db/base.ts": "export class Base {\n  since = 0;\n}\n",
        "node_modules/model/package.json":
          '{ "name": "model", "type": "module", "exports": "./index.js" }',
        "node_modules/model/index.js": "export class Model { n = 1; }\n",
        "vite.config.js":
          'export default { resolve: { alias: { db: new URL("packages/db/index.ts", import.meta.url).pathname } } };\n',
      },
    );
    const shapes = Object.entries(classes).map(([key, { args, fields, unread }]) => [
      key.slice(2),
      { args, fields, unread },
    ]);
    expect(Object.fromEntries(shapes)).toEqual({
      OfLinked: { args: ["n"], fields: ["since", "own"] },
      OfAll: { args: ["n"], fields: ["since"] },
      OfInstalled: { args: [], fields: ["own"], unread: "Model" },
      OfMade: { args: [], fields: ["own"], unread: "mix(class { inner = 1; })" },
      OfLocal: { args: [], fields: [], unread: "Local" },
      Grandchild: { args: [], fields: ["more"], unread: "Local" },
      OfPlatform: { args: [], fields: [], unread: "globalThis.WeakMap" },
      OfObject: { args: [], fields: ["own"] },
      OfEvents: { args: [], fields: ["own"] },
      OfError: { args: ["message"], fields: ["own"] },
    });
  });

  it("a class record lists arguments with defaults that only the constructor, or the parent's, can set", async () => {
    const { classes } = await classesOf({
      "src/a/sealed.ts": `export class Sealed {
  #a: unknown;
  #b: unknown;
  readonly d: unknown;
  constructor(a: unknown = 1, b?: unknown, c: unknown = 2, d: unknown = 3, public e: unknown = 4) {
    this.#a = a;
    this.#b = b;
    this.d = d;
  }
  get a() { return this.#a; }
  get b() { return this.#b; }
}
export class Child extends Sealed {}
export class Open extends Sealed {
  get a() { return 1; }
  set a(value) {}
}
export class Own extends Sealed { constructor(a: unknown) { super(a); } }
`,
    });
    expect(
      Object.fromEntries(
        Object.entries(classes).map(([key, { args, fixed }]) => [key.slice(2), [args, fixed]]),
      ),
    ).toEqual({
      Sealed: [["a", "b", null, "d", "e"], ["a"]],
      Child: [["a", "b", null, "d", "e"], ["a"]],
      Open: [["a", "b", null, "d", "e"], undefined],
      Own: [["a"], undefined],
    });
  });

  it("a class record says if a computed name of the class or of a parent can't be read", async () => {
    const { classes } = await classesOf({
      "src/odd/names.ts": `const brand = Symbol("brand");
let later = "later";
const count = 7;
class Hidden { [later] = 1; }
export class Sum { ["a" + "b"] = 1; }
export class Later extends Hidden {}
export class Child extends Sum {}
export class Written { constructor(key: string) { this[key] = 1; } [key: string]: unknown; }
export class Pair { get [later]() { return 1; } set [later](value) {} }
export class Read { [brand] = 1; [Symbol.iterator] = 2; [count] = 3; [later + "!"]() {} static [later] = 4; }
`,
    });
    expect(
      Object.fromEntries(
        Object.entries(classes).map(([key, { fields, unread }]) => [
          key.slice(4),
          [fields, unread],
        ]),
      ),
    ).toEqual({
      Sum: [[], '["a" + "b"]'],
      Later: [[], "[later]"],
      Child: [[], '["a" + "b"]'],
      Written: [[], "[key]"],
      Pair: [[], "[later]"],
      Read: [["7"], undefined],
    });
  });
});
