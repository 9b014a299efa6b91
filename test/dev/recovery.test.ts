import { describe, expect, it } from "vitest";

import { develop, eventually, shop } from "./_session.ts";

const quote = async (get: (target: string) => Promise<{ value: unknown }>) =>
  (await get("/rpc/shop/quote?sku=abc")).value;

describe("recovery from mistakes in development", () => {
  it("a mistake in a source is reported, and the last valid application keeps running", async () => {
    const { edit, get, nextEvent, events } = await develop(shop);
    edit("src/shop/quote.ts", "calls++;", "calls++");
    edit("src/shop/quote.ts", "metres = 1)", "metres = )");
    const { problems } = await nextEvent("problems");
    expect(problems[0]).toMatchObject({
      file: "src/shop/quote.ts",
      line: 8,
      frame: expect.stringContaining("> 8 | export async function"),
    });
    expect(await quote(get)).toEqual({ amount: 60 });
    const since = events.length;
    edit("src/shop/quote.ts", "metres = )", "metres = 2)");
    await nextEvent("mended", since);
    expect(
      await eventually(
        async () => await quote(get),
        (value) => JSON.stringify(value) === '{"amount":120}',
      ),
    ).toEqual({ amount: 120 });
  });

  it("a mistake in a module that only nodes import is reported until it is fixed", async () => {
    const { edit, get, nextEvent, events } = await develop(shop);
    edit("src/shop/suppliers.ts", "return", "retrun retrun");
    expect((await nextEvent("problems")).problems[0]).toMatchObject({
      file: "src/shop/suppliers.ts",
      line: 2,
    });
    expect(await quote(get)).toEqual({ amount: 60 });
    const since = events.length;
    edit("src/shop/suppliers.ts", "retrun retrun sku.length * 10", "return 7");
    await nextEvent("mended", since);
    expect(
      await eventually(
        async () => await quote(get),
        (value) => JSON.stringify(value) === '{"amount":14}',
      ),
    ).toEqual({ amount: 14 });
  });

  it("a mistake in a segment file is reported until it is fixed", async () => {
    const { edit, get, nextEvent, events } = await develop(shop);
    edit("segments/office.segment.json", '"access": "public"', '"access": "publik"');
    const { problems } = await nextEvent("problems");
    expect(problems[0]).toMatchObject({
      file: "segments/office.segment.json",
      line: 1,
      hint: 'Did you mean "public"?',
    });
    expect(await quote(get)).toEqual({ amount: 60 });
    const since = events.length;
    edit("segments/office.segment.json", "publik", "public");
    await nextEvent("mended", since);
    expect(await quote(get)).toEqual({ amount: 60 });
  });

  it("a mistake in the configuration is reported until it is fixed", async () => {
    const config =
      '{ "mode": "standalone", "url": "http://127.0.0.1:0", "limits": { "bodyBytes": 1000 } }\n';
    const { edit, get, nextEvent, events } = await develop({ ...shop, "seamline.json": config });
    edit("seamline.json", '"limits"', '"limit"');
    expect((await nextEvent("problems")).problems[0]).toMatchObject({
      file: "seamline.json",
      line: 1,
      path: "limit",
    });
    expect(await quote(get)).toEqual({ amount: 60 });
    const since = events.length;
    edit("seamline.json", '"limit"', '"limits"');
    await nextEvent("mended", since);
    expect(
      await eventually(
        async () => await quote(get),
        (value) => JSON.stringify(value) === '{"amount":60}',
      ),
    ).toEqual({ amount: 60 });
  });

  it("a body that throws at its top level leaves the old one running until it loads", async () => {
    const { edit, get, nextEvent, events } = await develop(shop);
    edit(
      "src/shop/quote.ts",
      "const margin = 2;",
      'const margin = ((): number => {\n  throw new Error("no margin today");\n})();',
    );
    const { problems } = await nextEvent("problems");
    expect(problems[0]).toMatchObject({
      file: "src/shop/quote.ts",
      message: expect.stringContaining("no margin today"),
    });
    expect(await quote(get)).toEqual({ amount: 60 });
    const since = events.length;
    edit("src/shop/quote.ts", 'throw new Error("no margin today");', "return 3;");
    await nextEvent("mended", since);
    expect(
      await eventually(
        async () => await quote(get),
        (value) => JSON.stringify(value) === '{"amount":90}',
      ),
    ).toEqual({ amount: 90 });
  });

  it("after a mistake at the start, nodes start when it is fixed", async () => {
    const { write, get, session, nextEvent } = await develop({
      ...shop,
      "src/shop/quote.ts": "export async function quote( {\n",
    });
    expect((await nextEvent("problems")).problems[0]).toMatchObject({ file: "src/shop/quote.ts" });
    expect(session.nodes()).toEqual([]);
    expect((await get("/rpc/shop/quote?sku=abc")).status).toBe(503);
    write({ "src/shop/quote.ts": shop["src/shop/quote.ts"] ?? "" });
    await nextEvent("mended");
    expect(
      await eventually(
        async () => await quote(get),
        (value) => JSON.stringify(value) === '{"amount":60}',
      ),
    ).toEqual({ amount: 60 });
  });

  it("after a configuration mistake at the start, nodes start when it is fixed or the file removed", async () => {
    const broken = '{ "mode": "standalone", "url": "http://127.0.0.1:0", "limit": {} }\n';
    const { edit, write, remove, get, session, nextEvent, events, logged } = await develop({
      ...shop,
      "seamline.json": broken,
    });
    expect((await nextEvent("problems")).problems).toMatchObject([
      { file: "seamline.json", line: 1, path: "limit" },
    ]);
    expect((await get("/rpc/shop/quote?sku=abc")).status).toBe(503);
    expect([session.nodes(), events.length, logged]).toEqual([[], 1, []]);
    edit("seamline.json", '"limit"', '"limits"');
    await nextEvent("mended");
    const answers = async (): Promise<unknown> =>
      await eventually(
        async () => await quote(get),
        (value) => JSON.stringify(value) === '{"amount":60}',
      );
    expect(await answers()).toEqual({ amount: 60 });
    const since = events.length;
    write({ "seamline.json": broken });
    await nextEvent("problems", since);
    remove("seamline.json");
    await nextEvent("mended", since);
    expect(await answers()).toEqual({ amount: 60 });
  });

  it("after mistakes in a source and in the configuration at the start, pages get the source when it is fixed", async () => {
    const { write, text, nextEvent } = await develop({
      ...shop,
      "seamline.json": '{ "mode": "standalone", "url": "http://127.0.0.1:0", "limit": {} }\n',
      "src/shop/quote.ts": "export async function quote( {\n",
    });
    expect((await nextEvent("problems")).problems).toHaveLength(1);
    write({ "src/shop/quote.ts": shop["src/shop/quote.ts"] ?? "" });
    const page = async (): Promise<string> => await text("/src/shop/quote.ts");
    expect(await eventually(page, (code) => code.includes("seam"), 5_000)).toContain(
      '"shop/quote"',
    );
  });

  it("a node that can't start starts when its module is fixed", async () => {
    const { edit, get, session, nextEvent, events, logged } = await develop({
      ...shop,
      "src/shop/stock.ts": `throw new Error("no store");\n${shop["src/shop/stock.ts"] ?? ""}`,
    });
    expect(await nextEvent("node")).toBeDefined();
    await eventually(
      () => session.nodes(),
      (nodes) => nodes.some(({ state }) => state === "failed"),
    );
    expect(session.nodes().map(({ name, state }) => [name, state])).toEqual([
      ["office", "ready"],
      ["store", "failed"],
    ]);
    expect(logged).toEqual([]);
    expect(events.filter((event) => event.kind === "node" && event.state === "failed")).toEqual([
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

  it("a renamed export is reported for the segment file until the file names the new one", async () => {
    const { edit, get, nextEvent, events } = await develop(shop);
    edit("src/shop/stock.ts", "function stock(", "function pieces(");
    edit("src/shop/stock.ts", "await stock(sku)", "await pieces(sku)");
    const { problems } = await nextEvent("problems");
    expect(problems[0]?.message).toMatch(
      /expected an export of src\/shop\/stock\.ts, but it has none named "stock"/,
    );
    expect((await get("/rpc/shop/worth?sku=abc")).value).toBe(180);
    const since = events.length;
    edit("segments/store.segment.json", '"stock"', '"pieces"');
    await nextEvent("mended", since);
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

  it("a removed file is reported until it comes back", async () => {
    const { remove, write, get, nextEvent, events } = await develop(shop);
    remove("src/shop/suppliers.ts");
    expect((await nextEvent("problems")).problems[0]?.message).toMatch(/suppliers/);
    expect(await quote(get)).toEqual({ amount: 60 });
    const since = events.length;
    write({
      "src/shop/suppliers.ts":
        "export async function costOf(): Promise<number> {\n  return 4;\n}\n",
    });
    await nextEvent("mended", since);
    expect(
      await eventually(
        async () => await quote(get),
        (value) => JSON.stringify(value) === '{"amount":8}',
      ),
    ).toEqual({ amount: 8 });
  });
});

describe("an import of a missing module", () => {
  const late = 'export const late = "here";\n';
  const body = (specifier: string): string =>
    `import { late } from "${specifier}";\nexport async function stock(): Promise<string> {\n  return late;\n}\nexport async function worth(): Promise<number> {\n  return 1;\n}\n`;
  const stock = async (
    get: (target: string) => Promise<{ value: unknown }>,
    expected: unknown,
  ): Promise<unknown> =>
    await eventually(
      async () => (await get("/rpc/shop/stock")).value,
      (value) => value === expected,
    );

  it("an edited body that imports a missing module is loaded when the module appears", async () => {
    const { write, get, nextEvent, events } = await develop(shop);
    write({ "src/shop/stock.ts": body("./late.ts") });
    expect((await nextEvent("problems")).problems[0]?.message).toMatch(/late\.ts/);
    const since = events.length;
    write({ "src/shop/late.ts": late });
    expect(await stock(get, "here")).toBe("here");
    await nextEvent("mended", since);
  });

  it("a body edited while its import was missing is loaded when the module comes back", async () => {
    const { write, edit, remove, get, nextEvent, events } = await develop({
      ...shop,
      "src/shop/stock.ts": body("./late.ts"),
      "src/shop/late.ts": late,
    });
    expect(await stock(get, "here")).toBe("here");
    remove("src/shop/late.ts");
    edit("src/shop/stock.ts", "return late;", 'return late + "!";');
    await nextEvent("problems");
    const since = events.length;
    write({ "src/shop/late.ts": late });
    expect(await stock(get, "here!")).toBe("here!");
    await nextEvent("mended", since);
  });

  it("a node that can't start without a module starts when the module appears", async () => {
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

  it("a module behind an alias joins the application with its classes when it appears", async () => {
    const { write, session, nextEvent } = await develop({
      ...shop,
      "vite.config.js":
        'export default { resolve: { alias: { "@": `${import.meta.dirname}/src` } } };\n',
      "src/shop/stock.ts":
        'import { Offer } from "@/shop/offer.ts";\nexport async function stock(): Promise<Offer> {\n  return new Offer(7);\n}\nexport async function worth(): Promise<number> {\n  return 1;\n}\n',
    });
    await nextEvent("node");
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

describe("a killed node", () => {
  it("a killed node is unreachable until it is started again", async () => {
    const { session, get, nextEvent, events } = await develop(shop);
    await session.kill("store");
    expect(
      await nextEvent(
        "node",
        events.findIndex((event) => event.kind === "node" && event.state === "stopped"),
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

  it("a running call on a killed node fails as when its machine fails", async () => {
    const { session, get } = await develop({
      ...shop,
      "src/shop/stock.ts":
        "let calls = 0;\nexport async function stock(): Promise<void> {\n  calls++;\n  await new Promise(() => {});\n}\nexport async function worth(): Promise<number> {\n  return calls;\n}\n",
    });
    const running = get("/rpc/shop/stock");
    await eventually(
      async () => (await get("/rpc/shop/worth")).value,
      (calls) => calls === 1,
    );
    await session.kill("store");
    expect((await running).status).toBe(502);
  });
});

describe("an error in a procedure", () => {
  it("an error in a procedure is reported with its node and trace, and the caller gets the same as in production", async () => {
    const { get, nextEvent } = await develop({
      ...shop,
      "src/shop/suppliers.ts":
        "export async function costOf(sku: string): Promise<number> {\n  throw new RangeError(`no ${sku}`);\n}\n",
    });
    const { status, value } = await get("/rpc/shop/worth?sku=abc");
    expect([status, value]).toEqual([500, "no abc\n[shop/quote | v0.0.0]\n[shop/worth | v0.0.0]"]);
    const failed = await nextEvent("failed");
    expect(failed).toMatchObject({ fqn: "shop/quote", node: "office" });
    // e2e/dev.spec.ts checks the lines, since Vitest reads source maps in its own way.
    const { stack } = failed.error as Error;
    expect(stack).toMatch(
      /^RangeError: no abc\n\s+at costOf \(\S+\/src\/shop\/suppliers\.ts:.*\n\s+at .*quote .*\/src\/shop\/quote\.ts.*$/,
    );
  });

  it("a thrown text is reported with the procedure's line, and no line of generated code", async () => {
    const { get, nextEvent } = await develop({
      ...shop,
      "src/shop/suppliers.ts":
        "export async function costOf(sku: string): Promise<number> {\n  throw `no ${sku}`;\n}\n",
    });
    await get("/rpc/shop/quote?sku=abc");
    const { stack } = (await nextEvent("failed")).error as Error;
    expect(stack).toMatch(/^Error: no abc\n\s+at quote .*\/src\/shop\/quote\.ts.*$/);
  });
});
