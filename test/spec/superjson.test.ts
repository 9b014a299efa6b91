import { SuperJSON } from "superjson";
import { describe, expect, it } from "vitest";

import type { Middleware } from "../../src/http/middleware.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { decodeSuperjson, encodeSuperjson } from "../../src/codec/superjson/superjson.ts";
import { decodeAnswer } from "../../src/wire/decode-answer.ts";
import { ask } from "../_cluster.ts";
import { createWireClasses, Employee, OutOfStock, Person } from "../_wire-classes.ts";
import { circle, type Graphs, graphs, trustKey, wrong } from "./_graphs.ts";

const classes = createWireClasses();
const superjson = { "x-svc-data-encoding": "superjson" };
const acceptsBoth = { "x-svc-data-encoding": "serialized, superjson" };
const text = (value: unknown): string => encodeSuperjson(value, { classes }) as string;
const read = (answer: { text: string }): unknown =>
  decodeSuperjson(answer.text, { classes, limits: defaultLimits, trusted: true });
/** Encodings of the requests between services, in order. */
const sent = ({ network }: Graphs): unknown[] =>
  network.sent
    .filter(({ url }) => url.includes("/rpc/"))
    .map(({ headers }) => headers["x-svc-data-encoding"]);

describe("the encoding superjson", () => {
  it("superjson-1: superjson is the second encoding that a service knows, beside serialized", async () => {
    const { post } = await graphs();
    expect((await post("b", "echo", text({ value: 1 }), superjson)).status).toBe(200);
    expect(
      (await post("b", "echo", { value: 1 }, { "x-svc-data-encoding": "SuperJSON" })).status,
    ).toBe(400);
    for (const encoding of ["superjson, serialized", "superjson2", "superjson;q=1"])
      expect(
        await post("b", "echo", text({ value: 1 }), { "x-svc-data-encoding": encoding }),
      ).toMatchObject({
        status: 415,
        text: expect.stringContaining("known are 'serialized' and 'superjson'") as string,
      });
  });

  it.each([
    ["text", "a", "string"],
    ["a number", -0, "number"],
    ["a bigint", 5n, "bigint"],
    ["undefined", undefined, "undefined"],
    ["null", null, "null"],
    ["a date", new Date(5), "object"],
    ["bytes", new Uint8Array([1, 2]), "object"],
  ])(
    "superjson-2: with superjson, body and answer are superjson's {json, meta}, whatever the value: %s",
    async (_, value, kind) => {
      const { post, received } = await graphs();
      const answer = await post("proxy", "echo", text({ value }), superjson);
      expect(received).toStrictEqual([value]);
      expect(answer).toMatchObject({
        status: 200,
        headers: {
          "content-type": "application/json",
          "x-svc-data-type": kind,
          "x-svc-data-encoding": "superjson",
        },
      });
      expect(Object.keys(JSON.parse(answer.text) as object)[0]).toBe("json");
      expect(read(answer)).toStrictEqual(value);
    },
  );

  it("a GET may ask for superjson, with its values in the query as always (superjson-2)", async () => {
    const { roles } = await graphs();
    expect((await ask(roles.proxy, "GET", "/rpc/graph/echo?value=5", superjson)).text).toBe(
      '{"json":"5"}',
    );
  });

  it("superjson carries errors, the framework's and the application's (superjson-2)", async () => {
    const { post } = await graphs();
    const missing = await post("proxy", "echo", text({}), superjson);
    expect([missing.status, missing.headers["x-svc-error"], JSON.parse(missing.text)]).toEqual([
      400,
      "MissingParameterValue",
      {
        json: {
          name: "MissingParameterValue",
          message: "Missing value for parameter 'value'",
          trace: [],
          fields: {},
        },
        meta: { values: ["Error"], v: 1 },
      },
    ]);
    const own = await post("proxy", "fail", text({ how: "own" }), superjson);
    expect(own.status).toBe(404);
    const error = read(own) as OutOfStock;
    expect(error).toBeInstanceOf(OutOfStock);
    expect([error.sku, error.since, error.message, error.cause === error]).toEqual([
      "tea",
      new Date(7),
      "Nothing left of tea",
      true,
    ]);
    expect((error as { trace?: unknown }).trace).toEqual(["[graph/fail | v0.0.0]"]);
  });

  it("superjson-3: superjson carries shared references and cycles, there and back", async () => {
    const { post, received } = await graphs();
    const back = read(await post("proxy", "echo", text({ value: circle() }), superjson));
    expect([wrong(received[0]), wrong(back)]).toEqual([[], []]);
  });

  it("superjson-4: any client that speaks superjson can talk to a service", async () => {
    const { post, received } = await graphs();
    const value: Record<string, unknown> = {
      "a.b": [new Date(5), undefined, 1n],
      set: new Set([new Map([["x", Number.NaN]])]),
    };
    value["self"] = value;
    const answer = await post("proxy", "wrap", SuperJSON.stringify({ value }), superjson);
    expect(received[0]).toStrictEqual(value);
    const back = SuperJSON.parse<{ value: typeof value }>(answer.text).value;
    expect(back).toEqual(value);
    expect(back["self"]).toBe(back);
  });

  it("superjson-5: instances travel in superjson by the rules of serialized: key, args and fields", async () => {
    const { post, received } = await graphs();
    const ada = new Person("Ada", new Date(5));
    ada.email = "ada@a.b";
    const answer = await post("proxy", "echo", text({ value: ada }), superjson);
    expect(received).toStrictEqual([ada]);
    expect(JSON.parse(answer.text)).toEqual({
      json: { args: { 0: "Ada", 1: "1970-01-01T00:00:00.005Z" }, fields: { email: "ada@a.b" } },
      meta: { values: [["class", "people/Person"], { "args.1": ["Date"] }], v: 1 },
    });
  });

  it.each([
    [
      "a class that isn't there",
      { args: {}, fields: {} },
      "people/Nobody",
      "args.value: there is no class 'people/Nobody'",
    ],
    [
      "a field that it doesn't declare",
      { args: { 0: "Ada" }, fields: { role: 1 } },
      "people/Person",
      "args.value.fields.role: class 'people/Person' has no such field",
    ],
    [
      "an argument too many",
      { args: { 9: 1 } },
      "people/Person",
      "args.value: class 'people/Person' has no constructor argument '9'",
    ],
    [
      "what a setter refuses",
      { args: { 0: "Ada" }, fields: { email: "no" } },
      "people/Person",
      "args.value.fields.email: 'no' is no address",
    ],
    [
      "an error class as an instance",
      { args: { 0: "tea" } },
      "people/OutOfStock",
      "args.value: there is no class 'people/OutOfStock'",
    ],
    [
      "a class as an error",
      { message: "a", name: "b" },
      "people/Person",
      "args.value: this type is accepted from services only",
    ],
    [
      "args that are null",
      { args: null, fields: {} },
      "people/Person",
      "args.value: 'args' must be an object",
    ],
    [
      "fields that are null",
      { args: {}, fields: null },
      "people/Person",
      "args.value: 'fields' must be an object",
    ],
    [
      "more than args and fields",
      { args: {}, other: 1 },
      "people/Person",
      "args.value: it can only have the members args, fields",
    ],
  ])("refuses an instance with %s (superjson-5)", async (_, json, key, message) => {
    const { post } = await graphs();
    const answer = await post(
      "b",
      "echo",
      { json: { value: json }, meta: { values: { value: [["class", key]] }, v: 1 } },
      superjson,
    );
    expect([
      answer.status,
      answer.headers["x-svc-error"],
      (JSON.parse(answer.text) as { json: { message: string } }).json.message,
    ]).toEqual([400, "InvalidSerializedValue", message]);
  });

  it("superjson-6: calls between services use serialized as long as it carries the values", async () => {
    const services = await graphs();
    await services.roles.a.runProcedure?.("graph/relay", "", {
      value: [new Date(5), new Person("Ada")],
    });
    expect(sent(services)).toEqual(["serialized, superjson", "serialized, superjson"]);
  });

  it("superjson-7: calls between services use superjson if a value has cycles, as argument and as result", async () => {
    const services = await graphs();
    const back = await services.roles.a.runProcedure?.("graph/relay", "", { value: circle() });
    expect([wrong(services.received[0]), wrong(back)]).toEqual([[], []]);
    expect(sent(services)).toEqual(["superjson", "superjson"]);
    expect(wrong(await services.roles.a.runProcedure?.("graph/relayCircle", ""))).toEqual([]);
    expect(sent(services).slice(2)).toEqual(["serialized, superjson", "serialized, superjson"]);
    const error = (await services.roles.a
      .runProcedure?.("graph/relayFail", "", { how: "own" })
      .catch((thrown: unknown) => thrown)) as Error;
    expect([error.constructor, error.cause]).toEqual([OutOfStock, error]);
  });

  it("only callers that name superjson get it: with serialized alone, a cycle is a 500 (superjson-7)", async () => {
    const { post } = await graphs();
    expect(
      wrong(
        (await decodeAnswer(await post("proxy", "circle", {}, acceptsBoth), { classes })).value,
      ),
    ).toEqual([]);
    const alone = await post("proxy", "circle", {}, { "x-svc-data-encoding": "serialized" });
    expect([alone.status, alone.headers["x-svc-data-encoding"], alone.text]).toEqual([
      500,
      undefined,
      expect.stringContaining("result.all[0].tags.values[0].tags.values[0]: a cycle can't be sent"),
    ]);
    expect((await post("proxy", "circle", {})).status).toBe(500);
    const plain = await post("proxy", "echo", { value: 1 }, acceptsBoth);
    expect([plain.headers["x-svc-data-encoding"], plain.text]).toEqual([undefined, "1"]);
  });
});

describe("what superjson would lose is refused with its path", () => {
  it.each([
    ["an invalid date", new Date(Number.NaN), "superjson can't carry an invalid date"],
    ["a DataView", new DataView(new ArrayBuffer(1)), "superjson can't carry a DataView"],
    ["an ArrayBuffer", new ArrayBuffer(1), "superjson can't carry an ArrayBuffer"],
    ["bigints in an array", new BigUint64Array(1), "superjson can't carry a BigUint64Array"],
    [
      "NaN in an array of floats",
      new Float32Array([1, Number.NaN]),
      "superjson can't carry NaN in a Float32Array",
    ],
    [
      "an infinity in an array of floats",
      new Float64Array([-Infinity]),
      "superjson can't carry -Infinity in a Float64Array",
    ],
    [
      "-0 in an array of floats",
      new Float64Array([0, -0]),
      "superjson can't carry -0 in a Float64Array",
    ],
    ["a symbol", Symbol("a"), "a symbol can't be sent"],
    ["a function", () => 1, "a function can't be sent"],
    [
      "an unknown class",
      new (class Secret {})(),
      "an instance of 'Secret' can't be sent: no module of the application exports this class. Export it, or send its data",
    ],
    ["a promise", Promise.resolve(1), "a promise can't be sent: an await is missing"],
    ["an iterator", [1].values(), "send a list of what it gives: [...values]"],
    ["a key that no receiver takes", JSON.parse('{"constructor":1}'), "no receiver takes this key"],
  ])("%s", (_, value, why) => {
    const ada = new Employee("Ada");
    ada.tags.set("x", [value]);
    expect(() => encodeSuperjson({ people: [ada] }, { classes, path: "result" })).toThrow(
      /^result\.people\[0\]\.tags\[0\]\[1\]\[0\]/,
    );
    expect(() => encodeSuperjson({ people: [ada] }, { classes, path: "result" })).toThrow(why);
  });
});

describe("through gateway and proxy with middleware", () => {
  const passing: Middleware = {
    handle: async (_fqn, _version, _args, _headers, next) => await next(),
  };
  const looking: Middleware = {
    async handle(_fqn, _version, args, _headers, next) {
      expect(args.has("value")).toBe(true);
      return await next();
    },
  };
  const adding: Middleware = {
    async handle(_fqn, _version, args, _headers, next) {
      args.set("value", { was: args.get("value"), added: new Date(9) });
      return { result: await next() };
    },
  };
  const post = async (services: Graphs, headers: Readonly<Record<string, string>>) =>
    await services.post("proxy", "echo", text({ value: circle() }), headers);

  it.each([
    ["that only passes on", { gateway: passing, proxy: passing }],
    ["that looks at arguments, without classes", { gateway: looking, proxy: looking }],
    ["that looks at arguments, with classes", { gateway: looking, proxy: looking, modules: true }],
  ] as const)("%s, graphs stay what they are", async (_, layers) => {
    const services = await graphs(layers);
    const back = read(await post(services, superjson));
    expect([wrong(services.received[0]), wrong(back)]).toEqual([[], []]);
  });

  it.each([
    ["without classes: instances pass unopened", { gateway: adding }],
    ["with classes", { proxy: adding, modules: true }],
  ] as const)("that changes arguments and result, %s", async (_, layers) => {
    const services = await graphs(layers);
    const back = read(await post(services, superjson)) as { result: { was: unknown; added: Date } };
    const argument = services.received[0] as typeof back.result;
    expect([
      wrong(argument.was),
      argument.added,
      wrong(back.result.was),
      back.result.added,
    ]).toEqual([[], new Date(9), [], new Date(9)]);
  });

  it("arguments in which middleware makes a cycle are passed on in superjson", async () => {
    const knot: Middleware = {
      async handle(_fqn, _version, args, _headers, next) {
        const value = args.get("value") as Record<string, unknown>;
        value["self"] = value;
        return await next();
      },
    };
    const services = await graphs({ gateway: knot });
    const person = {
      serialized: true,
      name: "class",
      key: "people/Person",
      args: { 0: "Ada" },
      fields: {},
    };
    const answer = await services.post(
      "gateway",
      "echo",
      { value: { person } },
      { ...acceptsBoth, "x-svc-trust-key": trustKey },
    );
    const argument = services.received[0] as { self: unknown; person: Person };
    expect(argument.self).toBe(argument);
    expect(argument.person).toBeInstanceOf(Person);
    const { value } = (await decodeAnswer(answer, { classes })) as {
      value: { self: unknown; person: Person };
    };
    expect(value.self).toBe(value);
    expect(value.person).toStrictEqual(new Person("Ada"));
  });
});
