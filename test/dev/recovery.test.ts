import { describe, expect, it } from "vitest";

import { develop, eventually, shop } from "./_session.ts";

const quote = async (get: (target: string) => Promise<{ value: unknown }>) =>
  (await get("/rpc/shop/quote?sku=abc")).value;

describe("what is wrong is told with its place, the last application that was whole goes on, and all recovers", () => {
  it("in a source", async () => {
    const { edit, get, told, events } = await develop(shop);
    edit("src/shop/quote.ts", "calls++;", "calls++");
    edit("src/shop/quote.ts", "metres = 1)", "metres = )");
    const { problems } = await told("problems");
    expect(problems[0]).toMatchObject({
      file: "src/shop/quote.ts",
      line: 8,
      frame: expect.stringContaining("> 8 | export async function"),
    });
    expect(await quote(get)).toEqual({ amount: 60 });
    const since = events.length;
    edit("src/shop/quote.ts", "metres = )", "metres = 2)");
    await told("mended", since);
    expect(
      await eventually(
        async () => await quote(get),
        (value) => JSON.stringify(value) === '{"amount":120}',
      ),
    ).toEqual({ amount: 120 });
  });

  it("in a module that only nodes import", async () => {
    const { edit, get, told, events } = await develop(shop);
    edit("src/shop/suppliers.ts", "return", "retrun retrun");
    expect((await told("problems")).problems[0]).toMatchObject({
      file: "src/shop/suppliers.ts",
      line: 2,
    });
    expect(await quote(get)).toEqual({ amount: 60 });
    const since = events.length;
    edit("src/shop/suppliers.ts", "retrun retrun sku.length * 10", "return 7");
    await told("mended", since);
    expect(
      await eventually(
        async () => await quote(get),
        (value) => JSON.stringify(value) === '{"amount":14}',
      ),
    ).toEqual({ amount: 14 });
  });

  it("in a segment file", async () => {
    const { edit, get, told, events } = await develop(shop);
    edit("segments/office.segment.json", '"access": "public"', '"access": "publik"');
    const { problems } = await told("problems");
    expect(problems[0]).toMatchObject({
      file: "segments/office.segment.json",
      line: 1,
      hint: 'Did you mean "public"?',
    });
    expect(await quote(get)).toEqual({ amount: 60 });
    const since = events.length;
    edit("segments/office.segment.json", "publik", "public");
    await told("mended", since);
    expect(await quote(get)).toEqual({ amount: 60 });
  });

  it("in the configuration", async () => {
    const config =
      '{ "mode": "standalone", "url": "http://127.0.0.1:0", "limits": { "body": 1000 } }\n';
    const { edit, get, told, events } = await develop({ ...shop, "seamline.json": config });
    edit("seamline.json", '"limits"', '"limit"');
    expect((await told("problems")).problems[0]).toMatchObject({
      file: "seamline.json",
      line: 1,
      path: "limit",
    });
    expect(await quote(get)).toEqual({ amount: 60 });
    const since = events.length;
    edit("seamline.json", '"limit"', '"limits"');
    await told("mended", since);
    expect(
      await eventually(
        async () => await quote(get),
        (value) => JSON.stringify(value) === '{"amount":60}',
      ),
    ).toEqual({ amount: 60 });
  });

  it("at the top level of a body: the former body stays until the new one loads", async () => {
    const { edit, get, told, events } = await develop(shop);
    edit(
      "src/shop/quote.ts",
      "const margin = 2;",
      'const margin = ((): number => {\n  throw new Error("no margin today");\n})();',
    );
    const { problems } = await told("problems");
    expect(problems[0]).toMatchObject({
      file: "src/shop/quote.ts",
      message: expect.stringContaining("no margin today"),
    });
    expect(await quote(get)).toEqual({ amount: 60 });
    const since = events.length;
    edit("src/shop/quote.ts", 'throw new Error("no margin today");', "return 3;");
    await told("mended", since);
    expect(
      await eventually(
        async () => await quote(get),
        (value) => JSON.stringify(value) === '{"amount":90}',
      ),
    ).toEqual({ amount: 90 });
  });

  it("at the start: nodes come when the application is whole", async () => {
    const { write, get, session, told } = await develop({
      ...shop,
      "src/shop/quote.ts": "export async function quote( {\n",
    });
    expect((await told("problems")).problems[0]).toMatchObject({ file: "src/shop/quote.ts" });
    expect(session.nodes()).toEqual([]);
    expect((await get("/rpc/shop/quote?sku=abc")).status).toBe(503);
    write({ "src/shop/quote.ts": shop["src/shop/quote.ts"] ?? "" });
    await told("mended");
    expect(
      await eventually(
        async () => await quote(get),
        (value) => JSON.stringify(value) === '{"amount":60}',
      ),
    ).toEqual({ amount: 60 });
  });

  it("in the configuration at the start: nodes come when it is mended, or gone", async () => {
    const broken = '{ "mode": "standalone", "url": "http://127.0.0.1:0", "limit": {} }\n';
    const { edit, write, remove, get, session, told, events, logged } = await develop({
      ...shop,
      "seamline.json": broken,
    });
    expect((await told("problems")).problems).toMatchObject([
      { file: "seamline.json", line: 1, path: "limit" },
    ]);
    expect((await get("/rpc/shop/quote?sku=abc")).status).toBe(503);
    expect([session.nodes(), events.length, logged]).toEqual([[], 1, []]);
    edit("seamline.json", '"limit"', '"limits"');
    await told("mended");
    const answers = async (): Promise<unknown> =>
      await eventually(
        async () => await quote(get),
        (value) => JSON.stringify(value) === '{"amount":60}',
      );
    expect(await answers()).toEqual({ amount: 60 });
    const since = events.length;
    write({ "seamline.json": broken });
    await told("problems", since);
    remove("seamline.json");
    await told("mended", since);
    expect(await answers()).toEqual({ amount: 60 });
  });

  it("at the start of one node: it is started when its module is mended", async () => {
    const { edit, get, session, told, events, logged } = await develop({
      ...shop,
      "src/shop/stock.ts": `throw new Error("no store");\n${shop["src/shop/stock.ts"] ?? ""}`,
    });
    expect(await told("node")).toBeDefined();
    await eventually(
      () => session.nodes(),
      (nodes) => nodes.some(({ state }) => state === "failed"),
    );
    expect(session.nodes().map(({ name, state }) => [name, state])).toEqual([
      ["office", "ready"],
      ["store", "failed"],
    ]);
    expect(logged).toEqual([]);
    expect(events.filter((one) => one.kind === "node" && one.state === "failed")).toEqual([
      {
        kind: "node",
        node: "store",
        state: "failed",
        why: expect.stringMatching(
          /^src\/shop\/stock\.ts:\d+:\d+: Error: no store, while loading shop\/stock, shop\/worth \(segment store\)$/,
        ) as string,
        error: expect.objectContaining({ cause: expect.objectContaining({ message: "no store" }) }),
      },
    ]);
    expect(await quote(get)).toEqual({ amount: 60 });
    edit("src/shop/stock.ts", 'throw new Error("no store");\n', "");
    const worth = await eventually(
      async () => (await get("/rpc/shop/worth?sku=abc")).value,
      (value) => value === 180,
    );
    expect(worth).toBe(180);
  });

  it("in an export that was renamed: the segment file is told, until it names the new one", async () => {
    const { edit, get, told, events } = await develop(shop);
    edit("src/shop/stock.ts", "function stock(", "function pieces(");
    edit("src/shop/stock.ts", "await stock(sku)", "await pieces(sku)");
    const { problems } = await told("problems");
    expect(problems[0]?.message).toMatch(
      /expected an export of src\/shop\/stock\.ts, but it has none named "stock"/,
    );
    expect((await get("/rpc/shop/worth?sku=abc")).value).toBe(180);
    const since = events.length;
    edit("segments/store.segment.json", '"stock"', '"pieces"');
    await told("mended", since);
    expect(
      (
        await eventually(
          async () => await get("/rpc/shop/pieces?sku=abc"),
          ({ status }) => status === 200,
        )
      ).value,
    ).toBe(3);
    expect((await get("/rpc/shop/stock?sku=abc")).status).toBe(404);
  });

  it("in a file that was removed and comes back", async () => {
    const { remove, write, get, told, events } = await develop(shop);
    remove("src/shop/suppliers.ts");
    expect((await told("problems")).problems[0]?.message).toMatch(/suppliers/);
    expect(await quote(get)).toEqual({ amount: 60 });
    const since = events.length;
    write({
      "src/shop/suppliers.ts":
        "export async function costOf(): Promise<number> {\n  return 4;\n}\n",
    });
    await told("mended", since);
    expect(
      await eventually(
        async () => await quote(get),
        (value) => JSON.stringify(value) === '{"amount":8}',
      ),
    ).toEqual({ amount: 8 });
  });
});

describe("an import that leads nowhere is tried again when what it names comes", () => {
  const late = 'export const late = "here";\n';
  const body = (specifier: string): string =>
    `import { late } from "${specifier}";\nexport async function stock(): Promise<string> {\n  return late;\n}\nexport async function worth(): Promise<number> {\n  return 1;\n}\n`;
  const stock = async (
    get: (target: string) => Promise<{ value: unknown }>,
    wanted: unknown,
  ): Promise<unknown> =>
    await eventually(
      async () => (await get("/rpc/shop/stock")).value,
      (value) => value === wanted,
    );

  it("to a body that was edited", async () => {
    const { write, get, told, events } = await develop(shop);
    write({ "src/shop/stock.ts": body("./late.ts") });
    expect((await told("problems")).problems[0]?.message).toMatch(/late\.ts/);
    const since = events.length;
    write({ "src/shop/late.ts": late });
    expect(await stock(get, "here")).toBe("here");
    await told("mended", since);
  });

  it("to a body that was edited while the module was gone", async () => {
    const { write, edit, remove, get, told, events } = await develop({
      ...shop,
      "src/shop/stock.ts": body("./late.ts"),
      "src/shop/late.ts": late,
    });
    expect(await stock(get, "here")).toBe("here");
    remove("src/shop/late.ts");
    edit("src/shop/stock.ts", "return late;", 'return late + "!";');
    await told("problems");
    const since = events.length;
    write({ "src/shop/late.ts": late });
    expect(await stock(get, "here!")).toBe("here!");
    await told("mended", since);
  });

  it("to a node that can't start without it", async () => {
    const { write, get, session } = await develop({
      ...shop,
      "src/shop/stock.ts": body("./late.ts"),
    });
    expect(session.nodes().map(({ name, state }) => [name, state])).toContainEqual([
      "store",
      "failed",
    ]);
    write({ "src/shop/late.ts": late });
    expect(await stock(get, "here")).toBe("here");
  });

  it("by an alias: what it leads to is a module of the application then, with its classes", async () => {
    const { write, session, told } = await develop({
      ...shop,
      "vite.config.js":
        'export default { resolve: { alias: { "@": `${import.meta.dirname}/src` } } };\n',
      "src/shop/stock.ts":
        'import { Offer } from "@/shop/offer.ts";\nexport async function stock(): Promise<Offer> {\n  return new Offer(7);\n}\nexport async function worth(): Promise<number> {\n  return 1;\n}\n',
    });
    await told("node");
    write({
      "src/shop/offer.ts":
        "export class Offer {\n  readonly price: number;\n  constructor(price: number) {\n    this.price = price;\n  }\n}\n",
    });
    const serialized = async (): Promise<unknown> => {
      const answer = await fetch(`${session.url}/rpc/shop/stock`, {
        headers: { "x-svc-data-encoding": "serialized" },
      });
      return answer.ok ? await answer.json() : await answer.text();
    };
    const isObject = (value: unknown): boolean => typeof value === "object";
    expect(await eventually(serialized, isObject)).toMatchObject({
      key: "shop/Offer",
      args: { 0: 7 },
    });
  });
});

describe("a node", () => {
  it("that is ended is gone for its callers, and comes back when it is started", async () => {
    const { session, get, told, events } = await develop(shop);
    await session.kill("store");
    expect(
      await told(
        "node",
        events.findIndex((one) => one.kind === "node" && one.state === "stopped"),
      ),
    ).toMatchObject({ node: "store" });
    expect((await get("/rpc/shop/stock?sku=abc")).status).toBe(503);
    expect(await quote(get)).toEqual({ amount: 60 });
    await session.start("store");
    expect((await get("/rpc/shop/stock?sku=abc")).value).toBe(3);
    await expect(session.kill("cellar")).rejects.toThrow(
      "There is no node 'cellar'; there is office, store",
    );
  });

  it("that is ended answers nobody: a call that it has under way fails as when a machine goes", async () => {
    const { session, get } = await develop({
      ...shop,
      "src/shop/stock.ts":
        "export async function stock(): Promise<void> {\n  await new Promise(() => {});\n}\nexport async function worth(): Promise<number> {\n  return 1;\n}\n",
    });
    const running = get("/rpc/shop/stock");
    // Answered after it on the same node, so the call is there.
    await get("/rpc/shop/worth");
    await session.kill("store");
    expect((await running).status).toBe(502);
  });
});

describe("an error in a procedure", () => {
  it("is told with its node and its trace, and leaves to the caller what production would", async () => {
    const { get, told } = await develop({
      ...shop,
      "src/shop/suppliers.ts":
        "export async function costOf(sku: string): Promise<number> {\n  throw new RangeError(`no ${sku}`);\n}\n",
    });
    const { status, value } = await get("/rpc/shop/worth?sku=abc");
    expect([status, value]).toEqual([500, "no abc\n[shop/quote | v0.0.0]\n[shop/worth | v0.0.0]"]);
    const failed = await told("failed");
    expect(failed).toMatchObject({ fqn: "shop/quote", node: "office" });
    // Which lines these are, e2e/dev.spec.ts looks at: Vitest has a reading of source maps of its own.
    const { stack } = failed.error as Error;
    expect(stack).toMatch(
      /^RangeError: no abc\n\s+at costOf \(\S+\/src\/shop\/suppliers\.ts:.*\n\s+at .*quote .*\/src\/shop\/quote\.ts.*$/,
    );
  });
});
