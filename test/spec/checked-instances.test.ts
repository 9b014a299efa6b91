// Instances in calls from outside: which classes may be there, and what they would be built from, is judged
// before any constructor of the message runs.

import { beforeEach, describe, expect, it } from "vitest";

import type { ClassRecord } from "../../src/base/manifest.ts";
import { ask, fromField } from "../_cluster.ts";
import { guardedSite } from "../_guards.ts";
import { typedModules, type TypedProcedure } from "../_typed.ts";
import { body } from "./_shop.ts";

let built: string[] = [];
let ran: unknown[][] = [];
beforeEach(() => {
  built = [];
  ran = [];
});

class Person {
  readonly name: string;
  tags: string[] = [];
  boss: Person | undefined;
  constructor(name: string) {
    built.push(`Person ${name}`);
    this.name = name;
  }
}
class Worker extends Person {
  readonly at: Place | undefined;
  constructor(name: string, at?: Place) {
    super(name);
    built.push("Worker");
    this.at = at;
  }
}
class Place {
  readonly city: string;
  constructor(city: string) {
    built.push("Place");
    this.city = city;
  }
}
class Sizes {
  readonly all: number[];
  constructor(...all: number[]) {
    built.push("Sizes");
    this.all = all;
  }
}
class Order {
  readonly lines: object[];
  first: object | undefined;
  constructor(lines: object[]) {
    built.push("Order");
    this.lines = lines;
  }
}
class Cut {
  readonly width: number;
  constructor({ width }: { width: number }) {
    this.width = width;
  }
}
class Admin {
  rights = "none";
  constructor() {
    built.push("Admin");
  }
}

const declarations = `
export class Person { tags: string[] = []; boss: Person | undefined; constructor(readonly name: string) {} }
export class Worker extends Person { constructor(name: string, readonly at?: Place) { super(name); } }
export class Place { constructor(readonly city: string) {} }
export class Sizes { readonly all: number[]; constructor(...all: number[]) { this.all = all; } }
export class Admin { rights = "none"; }
export interface Line { sku: string }
export class Cut { readonly width: number; constructor({ width }: { width: number }) { this.width = width; } }
export class Order { first: Line | undefined; constructor(readonly lines: Line[]) {} }
`;

const record = (
  name: string,
  args: readonly string[],
  fields: readonly string[] = [],
): ClassRecord => ({ key: `app/${name}`, module: `app/${name}`, export: name, args, fields });

const classes = [
  { record: record("Person", ["name"], ["tags", "boss"]), constructor: Person },
  { record: record("Worker", ["name", "at"], ["tags", "boss"]), constructor: Worker },
  { record: record("Place", ["city"]), constructor: Place },
  { record: record("Sizes", ["...all"]), constructor: Sizes },
  { record: record("Order", ["lines"], ["first"]), constructor: Order },
  { record: { ...record("Cut", []), pattern: true as const }, constructor: Cut },
  { record: record("Admin", [], ["rights"]), constructor: Admin },
];

const procedure = (name: string, signature: string, more: object = {}): TypedProcedure => ({
  fqn: `app/${name}`,
  signature,
  in: { a: { access: "public", ...more } },
  body: body(`app/${name}`, (_, _graph, ...args: unknown[]) => {
    ran.push(args);
    return "ran";
  }),
});

const modules = typedModules(
  [
    procedure("meet", "(person: Person, others?: Map<string, Person>)"),
    procedure("size", "(sizes: Sizes)"),
    procedure("count", "(value: number)"),
    procedure("keep", "(value: unknown, person?: Person)"),
    procedure("open", "(value: number)", { validate: false }),
    procedure("grant", "(admin: Admin)"),
    procedure("trim", "(person: Person, cut?: Cut)"),
    procedure("order", "(order: Order)"),
    procedure("strict", "(order: Order)", { extra: "refuse" }),
    procedure("loose", "(order: Order)", { extra: "keep" }),
  ],
  { declarations, classes },
);

const form = (key: string, args: object = {}, fields: object = {}): object => ({
  serialized: true,
  name: "class",
  key: `app/${key}`,
  args,
  fields,
});

const hint = (name: string): string =>
  `: send {"serialized":true,"name":"class","key":"app/${name}","args":{…},"fields":{…}} with x-svc-data-encoding: serialized`;

const start = async () => {
  const { standalone } = await guardedSite(modules);
  const send = async (name: string, args: object, more: object = {}) => {
    const headers = {
      "content-type": "application/json",
      "x-svc-data-encoding": "serialized",
      ...more,
    };
    const { status, text } = await ask(
      standalone,
      "POST",
      `/rpc/app/${name}`,
      headers,
      JSON.stringify(args),
    );
    if (status === 200) return "ran";
    const { message = text } = (text.startsWith("{") ? JSON.parse(text) : {}) as {
      message?: string;
    };
    return `${status} ${message}`;
  };
  return send;
};

describe("an instance from outside", () => {
  it("checks-17: an instance from outside is built if the types of the parameters can reach its class, or one that it extends", async () => {
    const send = await start();
    expect(await send("meet", { person: form("Person", { 0: "Ann" }, { tags: ["a"] }) })).toBe(
      "ran",
    );
    expect(ran.pop()).toMatchObject([{ name: "Ann", tags: ["a"] }, undefined]);
    const place = form("Place", { 0: "Rome" });
    const boss = form("Person", { 0: "Eve" });
    expect(await send("meet", { person: form("Worker", { 0: "Bo", 1: place }, { boss }) })).toBe(
      "ran",
    );
    const [person] = ran.pop() as [Worker];
    expect(person).toBeInstanceOf(Worker);
    expect(person.at).toBeInstanceOf(Place);
    expect(person.boss).toBeInstanceOf(Person);
    expect(await send("size", { sizes: form("Sizes", { 0: 1, 1: 2 }) })).toBe("ran");
    expect(ran.pop()).toMatchObject([{ all: [1, 2] }]);
  });

  it.each<[string, string, object, string]>([
    ["another class", "meet", { person: form("Admin") }, "person: 'app/Admin' can't be here"],
    [
      "a class where none is",
      "count",
      { value: form("Person", { 0: "Ann" }) },
      "value: 'app/Person' can't be here",
    ],
    [
      "another class deep inside",
      "meet",
      {
        person: form(
          "Person",
          { 0: "Ann" },
          { boss: form("Person", { 0: "Bo" }, { tags: [form("Admin")] }) },
        ),
      },
      "person.boss.tags[0]: expected text, got an object\nperson.boss.tags[0]: 'app/Admin' can't be here",
    ],
    [
      "a wrong argument and a wrong field",
      "meet",
      { person: form("Person", { 0: 1 }, { tags: "a" }) },
      "person.name: expected text, got number\nperson.tags: expected a list, got text",
    ],
    [
      "a wrong one after a right one",
      "meet",
      {
        person: form("Worker", { 0: "Ann", 1: form("Place", { 0: "Rome" }) }),
        others: {
          serialized: true,
          name: "Map",
          entries: {
            keys: ["a", "a"],
            values: [form("Person", { 0: 1 }), form("Person", { 0: "b" })],
          },
        },
      },
      "name: expected text, got number",
    ],
    [
      "a rest argument",
      "size",
      { sizes: form("Sizes", { 0: 1, 1: "2" }) },
      "sizes.all[1]: expected number, got text",
    ],
    ["an argument that isn't there", "meet", { person: form("Person") }, "person.name: missing"],
    [
      "a plain object for an instance inside",
      "meet",
      { person: form("Worker", { 0: "Ann", 1: { city: "Rome" } }) },
      `person.at: expected an instance of 'app/Place', got an object${hint("Place")}`,
    ],
    [
      "a class where only another parameter is unknown",
      "keep",
      { value: 1, person: form("Person", { 0: 1 }) },
      "person.name: expected text, got number",
    ],
  ])(
    "checks-18: an instance of another class, or with parts of other types, is refused before any constructor of the message runs: %s",
    async (_, name, args, message) => {
      const send = await start();
      expect(await send(name, args)).toBe(`400 ${message}`);
      expect([built, ran]).toEqual([[], []]);
    },
  );

  it.each<[string, object, RegExp]>([
    [
      "one argument too many",
      form("Person", { 0: "a", 1: "b" }),
      /^400 args\.person: class 'app\/Person' has no constructor argument '1'$/,
    ],
    [
      "a field that isn't there",
      form("Person", { 0: "a" }, { rights: 1 }),
      /^400 args\.person\.rights: class 'app\/Person' has no such field$/,
    ],
    [
      "a class that isn't there",
      form("Other"),
      /^400 args\.person: there is no class 'app\/Other'$/,
    ],
  ])("is refused before any constructor runs: %s (checks-18)", async (_, wrong, message) => {
    const send = await start();
    const others = {
      serialized: true,
      name: "Map",
      entries: { keys: ["a"], values: [form("Person", { 0: "a" })] },
    };
    expect(await send("meet", { others, person: wrong })).toMatch(message);
    expect([built, ran]).toEqual([[], []]);
  });

  it("is refused before any constructor runs if its own destructures a parameter (checks-18)", async () => {
    const send = await start();
    const args = { person: form("Person", { 0: "a" }), cut: form("Cut") };
    expect(await send("trim", args)).toMatch(
      /^400 args\.cut: an instance of 'app\/Cut' can't be sent/,
    );
    expect([built, ran]).toEqual([[], []]);
  });

  it("checks-19: an instance of any class may be where a parameter is unknown, and where checks are off", async () => {
    const send = await start();
    expect(await send("keep", { value: form("Admin", {}, { rights: 1 }) })).toBe("ran");
    expect(ran.pop()).toMatchObject([{ rights: 1 }, undefined]);
    expect(await send("open", { value: form("Admin") })).toBe("ran");
    expect(built).toEqual(["Admin", "Admin"]);
  });

  it("checks-20: an instance that a procedure sends isn't judged", async () => {
    const send = await start();
    expect(await send("count", { value: form("Admin") }, { [fromField]: "service" })).toBe("ran");
    expect(built).toEqual(["Admin"]);
  });

  it("is judged in superjson too, with shared references and cycles (checks-17, checks-18)", async () => {
    const send = await start();
    const superjson = { "x-svc-data-encoding": "superjson" };
    const message = (person: object, values: object, same?: object): object => ({
      json: { person },
      meta: { v: 1, values, ...(same && { referentialEqualities: same }) },
    });
    const ann = { args: { 0: "Ann" }, fields: { boss: null } };
    const right = message(
      ann,
      { person: [["class", "app/Person"]] },
      { person: ["person.fields.boss"] },
    );
    expect(await send("meet", right, superjson)).toBe("ran");
    const [person] = ran.pop() as [Person];
    expect(person.boss).toBe(person);
    built = [];
    for (const [wrong, expected] of [
      [
        message({ args: { 0: 1 }, fields: {} }, { person: [["class", "app/Person"]] }),
        "person.name: expected text, got number",
      ],
      [
        message({ args: {}, fields: {} }, { person: [["class", "app/Admin"]] }),
        "person: 'app/Admin' can't be here",
      ],
      [
        message(
          { args: { 0: "Ann" }, fields: { boss: { args: {}, fields: {} }, tags: [] } },
          { person: [["class", "app/Person"], { "fields.boss": [["class", "app/Admin"]] }] },
        ),
        "person.boss: expected an instance of 'app/Person' or undefined, got an object",
      ],
    ] as const) {
      expect(await send("meet", wrong, superjson)).toContain(expected);
    }
    expect([built, ran]).toEqual([[], []]);
  });

  it("checks-21: an instance is built from plain objects without members that no type names; in superjson, which may set them later, such members are refused", async () => {
    const send = await start();
    const line = { sku: "a", isAdmin: true };
    const args = { order: form("Order", { 0: [line] }, { first: line }) };
    expect(await send("order", args)).toBe("ran");
    expect(ran.pop()).toEqual([Object.assign(new Order([{ sku: "a" }]), { first: { sku: "a" } })]);
    expect(await send("loose", args)).toBe("ran");
    expect(ran.pop()).toMatchObject([{ lines: [line], first: line }]);
    built = [];
    const unknown = "400 order.lines[0].isAdmin: unknown\norder.first.isAdmin: unknown";
    expect(await send("strict", args)).toBe(unknown);
    const references = {
      json: { order: { args: { 0: [line] }, fields: { first: line } } },
      meta: { v: 1, values: { order: [["class", "app/Order"]] } },
    };
    expect(await send("order", references, { "x-svc-data-encoding": "superjson" })).toContain(
      "order.lines[0].isAdmin: unknown",
    );
    expect([built, ran]).toEqual([[], []]);
  });

  it("a plain object is no instance: the refusal names the form of one (checks-18)", async () => {
    const send = await start();
    for (const encoding of ["serialized", undefined])
      expect(
        await send("meet", { person: { name: "Ann" } }, { "x-svc-data-encoding": encoding }),
      ).toBe(`400 person: expected an instance of 'app/Person', got an object${hint("Person")}`);
  });
});
