// Classes that nothing on a service imports are loaded when a message names them, however it writes their keys.

import { describe, expect, it } from "vitest";

import { ModulesUnavailable } from "../../../src/base/ports.ts";
import { createNode } from "../../../src/roles/node.ts";
import type { Role } from "../../../src/roles/pipeline/role.ts";
import { Classes } from "../../../src/codec/classes.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import { decodeAnswer } from "../../../src/wire/decode-answer.ts";
import { ask, TestClock, testHost, testModules, TestNetwork } from "../../_cluster.ts";
import { deploy } from "../../_deployment.ts";
import { OutOfStock, Person, wireClasses } from "../../_wire-classes.ts";
import { pass } from "../../spec/_passing.ts";
import { body, names } from "../../spec/_shop.ts";
import { processorMs } from "../../_processor-time.ts";

const json = { "content-type": "application/json" };
const serialized = { ...json, "x-svc-data-encoding": "serialized" };
const superjson = { ...json, "x-svc-data-encoding": "superjson" };

/** Ways to write a Person as the argument `value`, which are the same to JSON. */
const spellings: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
  [
    "a key with an escaped slash, as PHP writes it",
    serialized,
    '{"serialized":true,"name":"class","key":"people\\/Person","args":{"0":"Ada"}}',
  ],
  [
    "a key with an escaped letter",
    serialized,
    '{"serialized":true,"name":"class","key":"p\\u0065ople/Person","args":{"0":"Ada"}}',
  ],
  [
    "an escaped member name",
    serialized,
    '{"serialized":true,"name":"class","\\u006bey" : "people/Person","args":{"0":"Ada"}}',
  ],
  [
    "an escaped marker",
    serialized,
    '{"\\u0073erialized":true,"name":"cl\\u0061ss","key":"people/Person","args":{"0":"Ada"}}',
  ],
  ["an annotation with an escaped slash", superjson, '["class","people\\/Person"]'],
  ["an escaped annotation", superjson, '["cl\\u0061ss" , "people/Person"]'],
];
const messageOf = (headers: object, written: string): string =>
  headers === superjson
    ? `{"json":{"value":{"args":{"0":"Ada"},"fields":{}}},"meta":{"values":{"value":[${written}]}}}`
    : `{"value":${written}}`;

class Counted {
  static built = 0;
  constructor() {
    Counted.built++;
  }
}

interface Started {
  readonly node: Role;
  /** Files that were imported, but those of procedures. */
  readonly imported: string[];
  readonly given: unknown[];
  post(content: string, headers?: Readonly<Record<string, string>>): ReturnType<typeof ask>;
}

/** A node whose procedure imports none of the application's classes, each of which has a module of its own. */
async function start(refuse: (file: string) => void = () => {}): Promise<Started> {
  const given: unknown[] = [];
  const imported: string[] = [];
  const echo = body("wire/echo", (_, _graph, value) => {
    given.push(value);
    return null;
  });
  const counted = {
    key: "people/Counted",
    module: "people/people",
    export: "Counted",
    args: [],
    fields: [],
  };
  const classes = [...wireClasses, [counted, Counted] as const].map(([record, constructor]) => ({
    record: { ...record, module: record.key },
    constructor,
  }));
  const modules = testModules(
    [{ fqn: "wire/echo", parameters: names("value"), in: { wire: "public" }, body: echo }],
    classes,
  );
  const node = createNode(testHost(new TestNetwork(), new TestClock()), {
    trustKey: "key",
    limits: defaultLimits,
    gateway: undefined,
    segments: ["wire"],
    name: undefined,
    modules: {
      manifest: async () => ({ ...(await modules.manifest()), imports: {} }),
      import: async (file) => {
        if (file.startsWith("people/")) imported.push(file);
        refuse(file);
        return await modules.import(file);
      },
    },
  });
  await node.start("http://node");
  return {
    node,
    imported,
    given,
    post: (content, headers = serialized) => ask(node, "POST", "/rpc/wire/echo", headers, content),
  };
}

describe("at a node", () => {
  it.each(spellings)(
    "forms-51: a class that a message names is loaded, and no other, however its key is written: %s",
    async (_, headers, written) => {
      const { post, imported, given } = await start();
      const answers = await Promise.all(
        [1, 2].map(() => post(messageOf(headers, written), headers)),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(imported).toEqual(["people/Person.js"]);
      for (const one of given) {
        expect(one).toBeInstanceOf(Person);
        expect((one as Person).name).toBe("Ada");
      }
    },
  );

  it("classes inside of one that isn't there yet are loaded with it, and what was there is built once", async () => {
    const { post, imported } = await start();
    const person = { serialized: true, name: "class", key: "people/Person", args: { 0: "Ada" } };
    const counted = { serialized: true, name: "class", key: "people/Counted" };
    const team = {
      serialized: true,
      name: "class",
      key: "people/Team",
      args: { 0: "core", 2: person, 3: counted },
    };
    await post(JSON.stringify({ value: counted }));
    expect(imported).toEqual(["people/Counted.js"]);
    Counted.built = 0;
    expect((await post(JSON.stringify({ value: [counted, team] }))).status).toBe(200);
    expect(imported.toSorted()).toEqual([
      "people/Counted.js",
      "people/Person.js",
      "people/Team.js",
    ]);
    expect(Counted.built).toBe(2);
  });

  it("an error class too, from services", async () => {
    const { post, given } = await start();
    const form = {
      serialized: true,
      name: "Error",
      type: "OutOfStock",
      message: "x",
      key: "people/OutOfStock",
      args: { 0: "tea" },
    };
    const text = JSON.stringify({ value: form }).replace("people/", "people\\/");
    expect((await post(text, { ...serialized, "x-svc-trust-key": "key" })).status).toBe(200);
    expect(given[0]).toBeInstanceOf(OutOfStock);
  });

  it("a class whose module can't be had for a moment is a 503, and there at the next call", async () => {
    let isAway = true;
    const { post } = await start((file) => {
      if (isAway && file.startsWith("people/"))
        throw new ModulesUnavailable("the repository is away");
    });
    const person = JSON.stringify({
      value: { serialized: true, name: "class", key: "people/Person", args: { 0: "Ada" } },
    });
    expect((await post(person)).status).toBe(503);
    isAway = false;
    expect((await post(person)).status).toBe(200);
  });

  it("a class whose module throws is refused, and not loaded again", async () => {
    const { post, imported } = await start((file) => {
      if (file.startsWith("people/")) throw new Error("no page");
    });
    const person = JSON.stringify({
      value: { serialized: true, name: "class", key: "people/Person", args: { 0: "Ada" } },
    });
    for (let time = 0; time < 2; time++)
      expect(await post(person)).toMatchObject({
        status: 400,
        text: expect.stringContaining("there is no class 'people/Person'"),
      });
    expect(imported).toEqual(["people/Person.js"]);
  });

  it("10,000 keys that nobody knows load nothing, and are a 400 as one is", async () => {
    const { post, imported } = await start();
    const forms = Array.from({ length: 10_000 }, (_, index) => ({
      serialized: true,
      name: "class",
      key: `other/Class${index}`,
    }));
    const started = processorMs();
    const answer = await post(JSON.stringify({ value: forms }));
    expect(processorMs() - started).toBeLessThan(2_000);
    expect([answer.status, answer.text]).toEqual([
      400,
      expect.stringContaining("args.value[0]: there is no class 'other/Class0'"),
    ]);
    const values = Object.fromEntries(
      forms.map(({ key }, index) => [`value.${index}`, [["class", key]]]),
    );
    const inJson = JSON.stringify({
      json: { value: forms.map(() => ({ args: {}, fields: {} })) },
      meta: { values },
    });
    expect((await post(inJson, superjson)).status).toBe(400);
    expect(imported).toEqual([]);
  });

  it("what only looks like a form in a plain call loads nothing", async () => {
    const { post, imported, given } = await start();
    const data = { serialized: true, name: "class", key: "people/Person", args: { 0: "Ada" } };
    expect((await post(JSON.stringify({ value: data }), json)).status).toBe(200);
    expect([imported, given]).toEqual([[], [data]]);
  });
});

describe.each(["gateway", "proxy"] as const)(
  "at a %s whose middleware looks at arguments",
  (door) => {
    it.each(['"shop\\/Money"', '"sh\\u006fp/Money"'])(
      "a key written as %s loads the classes before it looks",
      async (key) => {
        const loads: string[] = [];
        const cluster = await deploy({ modules: true, loads });
        const content = `{"sku":{"serialized":true,"name":"class","key":${key},"args":{"0":3},"fields":{}}}`;
        const { seen } = await pass(
          door,
          (args) => (args.get("sku") as object).constructor.name,
          { headers: serialized, body: content },
          cluster,
        );
        expect(seen).toBe("Money");
      },
    );

    it("forms of other kinds load nothing", async () => {
      const loads: string[] = [];
      const cluster = await deploy({ modules: true, loads });
      const content =
        '{"sku":{"serialized":true,"name":"Date","value":null},"key":{"class":["\\u0061"]}}';
      const { seen } = await pass(
        door,
        (args) => args.size,
        { headers: serialized, body: content },
        cluster,
      );
      expect([seen, loads]).toEqual([2, []]);
    });
  },
);

describe("in an answer", () => {
  const answer = (content: string, encoding: Readonly<Record<string, string>> = {}) => ({
    status: 200,
    headers: { "content-type": "application/json", "x-svc-data-type": "object", ...encoding },
    body: new TextEncoder().encode(content),
  });
  const lazily = (): { classes: Classes; asked: ReadonlySet<string>[] } => {
    const classes = new Classes();
    const asked: ReadonlySet<string>[] = [];
    classes.load = async (keys = new Set()) => {
      asked.push(keys);
      for (const [record, constructor] of wireClasses)
        if (keys.has(record.key)) classes.register(record, constructor);
    };
    return { classes, asked };
  };

  it.each(spellings)("%s loads the class", async (_, headers, written) => {
    const { classes, asked } = lazily();
    const content =
      headers === superjson
        ? `{"json":{"args":{"0":"Ada"},"fields":{}},"meta":{"values":[${written}]}}`
        : written;
    const { value } = await decodeAnswer(
      answer(content, headers === superjson ? { "x-svc-data-encoding": "superjson" } : {}),
      { classes },
    );
    expect(value).toBeInstanceOf(Person);
    expect(asked).toEqual([new Set(["people/Person"])]);
  });

  it("data that only has such words loads nothing, nor does a class that is there", async () => {
    const { classes, asked } = lazily();
    await decodeAnswer(
      answer(
        '{"key":"people/Person","class":["people/Person"],"a":{"serialized":1,"key":"people/Person"}}',
      ),
      { classes },
    );
    expect(asked).toEqual([]);
    for (const [record, constructor] of wireClasses) classes.register(record, constructor);
    await decodeAnswer(
      answer('{"serialized":true,"name":"class","key":"people/Person","args":{"0":"Ada"}}'),
      { classes },
    );
    expect(asked).toEqual([]);
  });
});
