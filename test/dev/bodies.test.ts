import { describe, expect, it } from "vitest";

import { develop, eventually, shop } from "./_session.ts";

describe("a development session", () => {
  it("a session runs a node for each server segment, but none for browser segments", async () => {
    const { session, get } = await develop(shop);
    expect(session.nodes()).toEqual([
      { name: "office", segments: ["office"], procedures: 2, state: "ready" },
      { name: "store", segments: ["store"], procedures: 2, state: "ready" },
    ]);
    expect(await get("/rpc/shop/worth?sku=abc")).toEqual({ status: 200, value: 180 });
    expect((await get("/rpc/ui/filter?words=a")).status).toBe(404);
    const places = Object.fromEntries(session.procedures().map(({ fqn, nodes }) => [fqn, nodes]));
    expect(places).toEqual({
      "shop/counts": ["office"],
      "shop/quote": ["office"],
      "shop/stock": ["store"],
      "shop/worth": ["store"],
      "ui/filter": ["page"],
    });
  });

  it("session.call runs a procedure as the application does, and returns its node", async () => {
    const { session } = await develop({
      ...shop,
      "segments/office.segment.json":
        '{ "./shop/quote": { "quote": { "access": "private" }, "counts": { "access": "protected" } } }',
    });
    const { value, node } = await session.call("shop/counts", {});
    expect({ value, node }).toEqual({ value: { own: 0, shared: 0 }, node: "office" });
    expect((await session.call("shop/quote", { sku: "ab" })).value).toEqual({ amount: 40 });
    await expect(session.call("shop/none", {})).rejects.toThrow(
      "Procedure 'shop/none' v0.0.0 not found",
    );
  });
});

describe("options passed as a context", () => {
  it("the session warns once of options in procedure.call, and names withOptions", async () => {
    const { get, logged } = await develop({
      ...shop,
      "src/shop/wrong.ts": [
        'import * as api from "./quote.ts";',
        'import { stock } from "./stock.ts";',
        "export async function wrong(): Promise<unknown[]> {",
        "  const { quote } = api;",
        "  await api.counts();",
        "  await { headers: {}, quote }.quote('a');",
        "  const self = { timeoutMs: 5, headers: { a: 'b' } } as never;",
        "  return [await quote.call(self, 'a'), await quote.call(self, 'a'), await stock.call(undefined, 'a')];",
        "}",
        "",
      ].join("\n"),
      "segments/wrong.segment.json": '{ "./shop/wrong": { "wrong": { "access": "public" } } }',
    });
    const warnings = () => logged.filter((line) => line.includes("withOptions"));
    for (const _ of [1, 2]) {
      expect((await get("/rpc/shop/wrong")).status).toBe(200);
      expect(warnings()).toEqual([
        "warning: procedure.call({ timeoutMs, headers }, …) of 'shop/quote' ignores its options, as it takes a context: use withOptions(procedure, { timeoutMs, headers })(…)",
      ]);
    }
  });
});

describe("an edited body", () => {
  it("an edited body is replaced on its nodes: its own state starts anew, and shared state stays", async () => {
    const { edit, get, nextEvent, session } = await develop(shop);
    await get("/rpc/shop/quote?sku=a");
    await get("/rpc/shop/quote?sku=b");
    expect((await get("/rpc/shop/counts")).value).toEqual({ own: 2, shared: 2 });
    edit("src/shop/quote.ts", "* margin * metres", "* margin * metres + 1");
    const event = await nextEvent("replaced");
    expect(event).toMatchObject({
      procedures: ["shop/counts", "shop/quote"],
      where: ["office"],
      file: "src/shop/quote.ts",
    });
    expect((await get("/rpc/shop/quote?sku=a")).value).toEqual({ amount: 21 });
    expect((await get("/rpc/shop/counts")).value).toEqual({ own: 1, shared: 2 });
    expect(session.nodes().every((node) => node.state === "ready")).toBe(true);
  });

  it("a running call finishes in the body that it started in", async () => {
    const { edit, get, nextEvent } = await develop({
      ...shop,
      "src/shop/stock.ts": [
        "const doors: (() => void)[] = [];",
        "export const waiting = doors;",
        "export async function stock(sku: string): Promise<string> {",
        "  await new Promise<void>((resolve) => doors.push(resolve));",
        "  return `old ${sku}`;",
        "}",
        "export async function worth(sku: string): Promise<number> {",
        '  if (sku === "open") doors.forEach((open) => open());',
        "  return doors.length;",
        "}",
        "",
      ].join("\n"),
    });
    const running = get("/rpc/shop/stock?sku=a");
    const doors = (sku: string, count: number): Promise<unknown> =>
      eventually(
        async () => (await get(`/rpc/shop/worth?sku=${sku}`)).value,
        (value) => value === count,
      );
    // The call is running once the shared part's list has an entry.
    await doors("count", 1);
    edit("src/shop/stock.ts", "old", "new");
    await nextEvent("replaced");
    const next = get("/rpc/shop/stock?sku=b");
    await doors("open", 2);
    expect([(await running).value, (await next).value]).toEqual(["old a", "new b"]);
  });

  it("an edited body keeps its classes, so instances from before the edit stay valid", async () => {
    const { edit, get, nextEvent } = await develop({
      ...shop,
      "src/shop/quote.ts": [
        'import { Money } from "./money.ts";',
        "export class Offer extends Money {}",
        "const kept: Offer[] = [];",
        "export const offers = kept;",
        "export async function quote(): Promise<boolean> {",
        "  kept.push(new Offer(1));",
        "  return kept.every((one) => one instanceof Offer && one instanceof Money);",
        "}",
        "export async function counts(): Promise<number> {",
        "  return kept.length;",
        "}",
        "",
      ].join("\n"),
      "src/shop/stock.ts":
        "export async function stock(): Promise<number> {\n  return 0;\n}\nexport async function worth(): Promise<number> {\n  return 0;\n}\n",
    });
    expect((await get("/rpc/shop/quote")).value).toBe(true);
    edit("src/shop/quote.ts", "return kept.length", "return kept.length * 100");
    await nextEvent("replaced");
    expect((await get("/rpc/shop/quote")).value).toBe(true);
    expect((await get("/rpc/shop/counts")).value).toBe(200);
  });

  it("an edit of whitespace in a nested template literal is live", async () => {
    const { edit, get, nextEvent } = await develop({
      ...shop,
      "src/shop/stock.ts": [
        "export async function stock(sku: string): Promise<string> {",
        "  return `${sku === '' ? '' : `<",
        "  ${sku}>`}`;",
        "}",
        "export const text = (sku: string): string => `${sku === '' ? '' : `(",
        "  ${sku})`}`;",
        "export async function worth(sku: string): Promise<string> {",
        "  return text(sku);",
        "}",
        "",
      ].join("\n"),
    });
    expect((await get("/rpc/shop/stock?sku=a")).value).toBe("<\n  a>");
    edit("src/shop/stock.ts", "\n  ${sku}>", "\n    ${sku}>");
    expect(await nextEvent("replaced")).toMatchObject({
      procedures: ["shop/stock", "shop/worth"],
      where: ["store"],
    });
    expect((await get("/rpc/shop/stock?sku=a")).value).toBe("<\n    a>");
    edit("src/shop/stock.ts", "\n  ${sku})", "\n    ${sku})");
    expect(await nextEvent("reloaded")).toMatchObject({
      file: "src/shop/stock.ts",
      where: ["store"],
    });
    expect((await get("/rpc/shop/worth?sku=a")).value).toBe("(\n    a)");
  });

  it("a new parameter reaches face and body together", async () => {
    const { edit, get } = await develop(shop);
    edit(
      "src/shop/stock.ts",
      "stock(sku: string): Promise<number> {\n  return sku.length;",
      "stock(sku: string, more: number = 5): Promise<number> {\n  return sku.length + more;",
    );
    const value = await eventually(
      async () => (await get("/rpc/shop/stock?sku=abc&more=7")).value,
      (one) => one === 10,
    );
    expect(value).toBe(10);
    expect((await get("/rpc/shop/worth?sku=abc")).value).toBe(480);
  });
});

describe("an edited module below bodies", () => {
  it("an edited module below bodies is reloaded by every node that has it", async () => {
    const { edit, get, nextEvent } = await develop(shop);
    edit("src/shop/suppliers.ts", "* 10", "* 100");
    expect(await nextEvent("reloaded")).toMatchObject({
      file: "src/shop/suppliers.ts",
      where: ["office"],
    });
    expect((await get("/rpc/shop/worth?sku=abc")).value).toBe(1800);
  });

  it("after a class is edited, calls transfer instances of the new class", async () => {
    const { edit, get, nextEvent } = await develop(shop);
    await get("/rpc/shop/worth?sku=abc");
    edit("src/shop/money.ts", "this.amount = amount;", "this.amount = amount + 1;");
    expect(await nextEvent("reloaded")).toMatchObject({
      file: "src/shop/money.ts",
      where: ["office", "store"],
    });
    // The office runs the class, and so does the store, which recreates the instance.
    expect((await get("/rpc/shop/worth?sku=abc")).value).toBe((60 + 2) * 3);
  });
});
