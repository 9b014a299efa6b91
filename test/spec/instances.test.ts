import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { ask } from "../_cluster.ts";
import { type BuiltDeployment, deployBuilt } from "./_built.ts";
import { files } from "./_instances.ts";

// Segment `make` is on one node, segment `relay` on another. What a case makes arrives there as a
// result, goes back as an argument, arrives again, and is sent to a caller behind gateway and proxy.
let app: BuiltDeployment;
beforeAll(async () => {
  app = await deployBuilt(files);
}, 60_000);
afterAll(() => app.remove());

const encoded = { "x-svc-data-encoding": "serialized" };
const get = async (
  path: string,
  headers: Readonly<Record<string, string>> = encoded,
): Promise<string> => {
  const answer = await ask(app.proxy, "GET", `/rpc/${path}`, headers);
  return `${answer.status} ${answer.text}`;
};
const relayed = (name: string): Promise<string> => get(`relay/relay?name=${name}`);
/** Class and identity of what arrived at the other node. */
const arrivedAs = async (name: string): Promise<unknown> =>
  JSON.parse((await get(`relay/own?name=${name}`)).slice(4));
const instance = (name: string, args: object, fields: object = {}): object => ({
  serialized: true,
  key: `make/${name}`,
  name: "class",
  args,
  fields,
});
const ok = async (name: string): Promise<unknown> => {
  const answer = await relayed(name);
  expect(answer).toMatch(/^200 /);
  return JSON.parse(answer.slice(4));
};
const refused = async (name: string): Promise<{ type: string; message: string }> =>
  JSON.parse((await relayed(name)).slice(4)) as never;
const mark = (name: string, rest: object): object => ({ serialized: true, name, ...rest });
const date = mark("Date", { value: "1970-01-01T00:00:00.000Z" });
const missing = mark("Undefined", {});

describe("instances of an application's classes, from the source to another node and back", () => {
  it("types-5: an instance travels if its class can build it again: it is of the same class there", async () => {
    expect(await ok("defaults")).toEqual(instance("Defaults", { 0: 5, 1: "x5" }));
    expect(((await arrivedAs("defaults")) as unknown[]).slice(0, 2)).toEqual(["Defaults", true]);
    expect(await ok("anonymous")).toEqual({ ...instance("base", { 0: "hi" }, { value: 1 }) });
    expect(await ok("frozen")).toEqual([
      instance("Point", { 0: 1 }),
      instance("SelfFrozen", { 0: 2 }),
    ]);
    expect(await ok("circle")).toEqual(instance("Circle", { 0: "c" }, { area: 3 }));
  });
  it("an instance that can't be rebuilt is refused where it's sent if the source shows it, otherwise where it arrives (types-5)", async () => {
    expect(await refused("pattern")).toMatchObject({
      type: "ValueNotSerializable",
      message: expect.stringMatching(
        /^result: an instance of 'make\/Pattern' can't be sent: its constructor destructures a parameter/,
      ),
    });
    const thrown = await refused("throws");
    expect(thrown).toMatchObject({
      type: "BadGateway",
      message: "The answer can't be read: result: only one",
    });
    expect(JSON.stringify(thrown)).not.toMatch(/stack|\.js/);
  });
  it("types-6: private state travels by constructor arguments and accessors; what nothing reads is lost", async () => {
    expect(await ok("inherited")).toMatchObject({ args: { 0: 7, 1: "t" } });
    expect(await ok("sorted")).toEqual(instance("Sorted", {}, { list: [1, 3] }));
    // `#x` has neither.
    expect(await ok("toJSON")).toEqual(instance("Json", {}, { a: 1 }));
    // Members that only `Object.assign` writes can't be read from the source.
    expect(await ok("hidden")).toEqual(instance("Hidden", {}));
  });
  it("types-7: classes of modules that no segment names travel as well", async () => {
    expect(await ok("unsegmented")).toEqual({
      ...instance("x", { 0: "u" }),
      key: "other/Unsegmented",
    });
  });
  it("forms-27: argument i is the readable member named like parameter i; an unreadable one is left out", async () => {
    expect(await ok("rest")).toEqual(instance("Rest", { 0: "a", 1: "b" }));
    expect(await ok("optional")).toEqual([
      instance("Optional", { 0: missing, 1: missing, 2: missing }),
      instance("Optional", { 0: missing, 1: "b", 2: missing }),
      instance("Optional", { 0: 1, 1: missing, 2: 3 }),
    ]);
    expect(await ok("paramProps")).toEqual(
      instance("ParamProps", { 0: 1, 1: "b", 2: date, 3: mark("BigInt", { value: "5" }) }),
    );
    expect(await get("relay/look?name=paramProps")).toContain(
      '["ParamProps",false,"b1970-01-01T00:00:00.000Z"]',
    );
  });
  it("forms-28: fields are the public members that can be read and written and aren't constructor parameters", async () => {
    // `size` is read only, `kind` too.
    expect(await ok("sorted")).toEqual(instance("Sorted", {}, { list: [1, 3] }));
    expect(await ok("statics")).toEqual(instance("Statics", {}, { a: 1 }));
    // An undefined field is a value, so its initialiser doesn't replace it.
    expect(await ok("emptied")).toEqual([
      instance("Emptied", { 0: "EUR" }, { since: missing }),
      instance("Emptied", { 0: "USD" }, { since: date }),
    ]);
  });
  it("forms-29: what a class has is read from the source at build time", async () => {
    const { classes } = await app.modules().manifest();
    const recordOf = (name: string) => classes.find((record) => record.key === `make/${name}`);
    expect(recordOf("Destructured")).toMatchObject({ args: ["a", "b"], fields: ["c"] });
    expect(await ok("destructured")).toEqual(instance("Destructured", { 0: 1, 1: 2 }, { c: 3 }));
    expect(recordOf("Pattern")).toMatchObject({ args: [], fields: ["name"] });
    expect(recordOf("FromLib")).toMatchObject({ args: [null, "code"], fields: ["own"] });
  });
  it("forms-30: members count if they are in the application's own sources, also those of parents in other files", async () => {
    expect(await ok("inherited")).toEqual(
      instance(
        "Grandchild",
        { 0: 7, 1: "t" },
        {
          extra: mark("Map", { entries: { keys: ["base"], values: [instance("Base", { 0: 8 })] } }),
          more: mark("BigInt", { value: "5" }),
        },
      ),
    );
    // A class that a function makes can't be read from the source, and may add members that aren't
    // data.
    expect(await ok("greeting")).toEqual(instance("Greeting", {}, { own: 2 }));
    // A computed name can be read from a constant of the module.
    expect(await ok("computedName")).toEqual(instance("ComputedName", {}, { kind: 3 }));
  });
  it("instances nest in each other and in every collection (forms-8)", async () => {
    const child = instance(
      "Child",
      { 0: 2, 1: instance("Rest", {}) },
      { extra: mark("Map", { entries: { keys: [], values: [] } }) },
    );
    expect(await ok("nested")).toEqual({
      in: [
        mark("Map", {
          entries: {
            keys: [instance("Point", { 0: 1 })],
            values: [mark("Set", { values: [child] })],
          },
        }),
      ],
    });
  });
  it("instances of a class that extends a type of the language travel as that type", async () => {
    expect(await ok("map")).toEqual(mark("Map", { entries: { keys: ["a"], values: [1] } }));
    expect(await ok("date")).toEqual(date);
    expect(await ok("array")).toEqual([[1, date]]);
  });
  it("errors keep their class, also one that extends a package's error or AggregateError (errors-13)", async () => {
    expect(await arrivedAs("fromLib")).toMatchObject({ 0: "FromLib", 1: true });
    expect(await arrivedAs("several")).toMatchObject({
      0: "Several",
      1: true,
      2: [
        ["TypeError", "one"],
        ["FromLib", "two"],
      ],
    });
  });
  it("instances behind a Proxy, and objects without a prototype, travel as they would otherwise", async () => {
    expect(await ok("proxy")).toEqual([instance("Point", { 0: 5 }), { a: 1 }, [1]]);
    expect(await ok("nullPrototype")).toEqual({ a: {} });
  });
  it.each([
    [
      "secret",
      "result.a: an instance of 'Secret' can't be sent: no module of the application exports this class. Export it, or send its data",
    ],
    [
      "secretPoint",
      "result.a: an instance of 'SecretPoint' can't be sent: no module of the application exports this class. Export it, or send its data",
    ],
    ["holes", "result[0]: a hole of a sparse array can't be sent"],
    ["extra", "result.extra: what this Array has besides its content can't be sent"],
    ["ownedArray", "result.list.owner: what this Array has besides its content can't be sent"],
    ["ownedMap", "result.map.owner: what this Map has besides its content can't be sent"],
    ["zonedDate", "result[0].zone: what this Date has besides its content can't be sent"],
    ["symbols", "result[Symbol(x)]: a symbol key can't be sent"],
    [
      "sealed",
      "result[1].a: undefined can't be sent: the constructor of 'make/Sealed' has a default for it",
    ],
    ["native", "result: a URLSearchParams can't be sent: send a list of its entries: [...entries]"],
    ["boxed", "result[0]: a String can't be sent: send its value, which valueOf() returns"],
    ["getterThrows", "result.a[0].a: not now 3"],
    [
      "mixed",
      "result.mixed: the build doesn't know this member of 'make/Mixed', because it can't read 'mixin(Object)': declare it in the class",
    ],
    [
      "paired",
      "result[0].x: the build doesn't know this member of 'make/Paired', because it can't read 'pair(Object)': declare it in the class",
    ],
    [
      "id",
      "result.id: an instance of 'make/Id' can't be sent: what it inherits from 'globalThis.String' would be lost",
    ],
    [
      "computed",
      "result[0].ab: the build doesn't know this member of 'make/Computed', because it can't read '[\"a\" + \"b\"]': declare it in the class",
    ],
    [
      "same",
      "result[0]: an instance of 'Same' can't be sent: src/x/one.ts and src/x/two.ts both have a class with the key 'x/Same'; rename one",
    ],
    [
      "other",
      "result[0]: an instance of 'Same' can't be sent: src/x/one.ts and src/x/two.ts both have a class with the key 'x/Same'; rename one",
    ],
  ])("that can't be sent are a ValueNotSerializable with the path: %s", async (name, message) => {
    expect(await refused(name)).toMatchObject({ type: "ValueNotSerializable", message });
  });
});

describe("from outside", () => {
  const post = async (
    value: unknown,
  ): Promise<{ status: number; type: string; message: string }> => {
    const headers = { ...encoded, "content-type": "application/json" };
    const { status, text } = await ask(
      app.proxy,
      "POST",
      "/rpc/make/take",
      headers,
      JSON.stringify({ value }),
    );
    return { status, ...(JSON.parse(text) as { type: string; message: string }) };
  };
  const refusal = (message: string): object => ({
    status: 400,
    type: "InvalidSerializedValue",
    message: `args.value: ${message}`,
  });
  it("forms-31: nothing is constructed but classes that the application exports and the build recorded", async () => {
    expect(await post(instance("Point", { 0: 1 }))).toMatchObject({
      status: 200,
      key: "make/Point",
    });
    for (const key of [
      "make/Secret",
      "make/secret",
      "make/makers",
      "make/make",
      "x/Same",
      "lib/Lib",
    ])
      expect(await post({ ...instance("", {}), key })).toMatchObject(
        refusal(`there is no class '${key}'`),
      );
  });
  it.each([
    "Date",
    "Function",
    "Object",
    "Map",
    "Error",
    "URL",
    "globalThis",
    "Function.prototype",
  ])("forms-32: globals are no classes: %s", async (key) => {
    expect(await post({ ...instance("", {}), key })).toMatchObject(
      refusal(`there is no class '${key}'`),
    );
  });
  it.each([
    "./make/classes.js",
    "make/classes",
    "node:child_process",
    "../make/Point",
    "make/../make/Point",
    "/etc/passwd",
    "make/Point.constructor",
  ])("forms-33: a key is no path to import: %s", async (key) => {
    expect(await post({ ...instance("", {}), key })).toMatchObject(
      refusal(`there is no class '${key}'`),
    );
  });
  it("forms-34: no property is named __proto__, in arguments and fields as anywhere", async () => {
    const headers = { ...encoded, "content-type": "application/json" };
    for (const [place, path] of [
      ['"args":{"0":{"__proto__":1}}', 'args.value.args["0"].__proto__'],
      ['"fields":{"__proto__":1}', "args.value.fields.__proto__"],
      ['"args":{"__proto__":1}', "args.value.args.__proto__"],
    ]) {
      const body = `{"value":{"serialized":true,"name":"class","key":"make/Point",${place}}}`;
      const { status, text } = await ask(app.proxy, "POST", "/rpc/make/take", headers, body);
      expect([status, (JSON.parse(text) as { message: string }).message]).toEqual([
        400,
        `${path}: this key is not allowed`,
      ]);
    }
  });
  it("forms-35: a property `then` is data and is never awaited", async () => {
    const value = { then: { then: "later" } };
    expect(await post(value)).toMatchObject({ status: 200, ...value });
    expect(await post(instance("Point", { 0: value }))).toMatchObject({
      status: 200,
      args: { 0: value },
    });
  });
  it("forms-45: a field that the class does not declare is a 400", async () => {
    for (const field of ["b", "toString", "owner", "id"])
      expect(await post(instance("Point", { 0: 1 }, { [field]: 1 }))).toMatchObject({
        status: 400,
        type: "InvalidSerializedValue",
        message: `args.value.${field}: class 'make/Point' has no such field`,
      });
    // A parameter is not a field, nor is a read-only member.
    expect((await post(instance("Point", {}, { a: 1 }))).message).toBe(
      "args.value.a: class 'make/Point' has no such field",
    );
    expect((await post(instance("Sorted", {}, { size: 1 }))).message).toContain(
      "has no such field",
    );
  });
  it("a constructor that throws is a 400 without a stack, whatever it throws", async () => {
    const answer = await post(instance("Throws", { 0: 2 }));
    expect(answer).toMatchObject(refusal("only one"));
    expect(JSON.stringify(answer)).not.toContain("stack");
  });
});
