// Gateway and proxy decode arguments only if a middleware looks at them, and pass the bytes on
// unless one changed them.

import { inspect } from "node:util";
import { describe, expect, it } from "vitest";

import { ask } from "../_cluster.ts";
import { deploy } from "../_deployment.ts";
import { json, type Look, odd, pass, serialized } from "./_passing.ts";
import { Money } from "./_shop.ts";

describe.each(["gateway", "proxy"] as const)("a middleware on the %s", (endpoint) => {
  it.each<[string, Look]>([
    ["that looks at nothing", () => undefined],
    ["that reads a text", (args) => args.get("sku")],
    ["that asks for a name", (args) => args.has("sku")],
    ["that counts", (args) => args.size],
    ["that reads the names", (args) => [...args.keys()]],
    ["that reads all", (args) => [...args, ...args.values(), ...args.entries()]],
    ["that goes through them", (args) => args.forEach((value) => value)],
    ["that prints them", (args) => inspect(args)],
    ["that sets what was there", (args) => args.set("sku", "1")],
  ])("%s leaves the bytes as they came", async (_, look) => {
    const { answer, sent } = await pass(endpoint, look, { body: odd });
    expect(answer.text).toBe("5");
    expect(sent).toMatchObject({ method: "POST", target: "/rpc/shop/stock", body: odd });
  });

  it("middleware that reads an object leaves the bytes as they came, unless it changed the object inside", async () => {
    const body = '{ "sku": { "id": 1, "zero": -0 } }';
    const read = await pass(endpoint, (args) => (args.get("sku") as { id: number }).id, { body });
    expect([read.seen, read.sent?.body]).toEqual([1, body]);
    const changed = await pass(endpoint, (args) => ((args.get("sku") as { id: number }).id = 2), {
      body: '{ "sku": { "id": 1 } }',
    });
    expect(changed.sent?.body).toBe('{"sku":{"id":2}}');
  });

  it("middleware that changes an object inside sends the change on, however it got the object", async () => {
    const change = (value: unknown): void => void (value as number[]).push(2);
    const looks: Look[] = [
      (args) => change(args.get("sku")),
      (args) => args.forEach(change),
      (args) => [...args.values()].forEach(change),
      (args) => [...args.entries()].forEach(([, value]) => change(value)),
      (args) => [...args].forEach(([, value]) => change(value)),
    ];
    for (const look of looks)
      expect((await pass(endpoint, look, { body: '{"sku":[1]}' })).sent?.body).toBe(
        '{"sku":[1,2]}',
      );
  });

  it.each<[string, Look, string]>([
    ["sets", (args) => args.set("sku", "2"), '{"sku":"2"}'],
    ["adds", (args) => args.set("more", true), '{"sku":"1","more":true}'],
    ["deletes", (args) => args.delete("sku"), "{}"],
    ["clears", (args) => args.clear(), "{}"],
  ])("that %s sends on what it left", async (_, look, body) => {
    expect((await pass(endpoint, look, { body: odd })).sent).toMatchObject({
      body,
      headers: { "content-type": "application/json" },
    });
  });

  it("middleware sees all arguments, whichever method of the map it uses", async () => {
    const body = '{"sku":"1","other":[1]}';
    const entries: [string, unknown][] = [
      ["sku", "1"],
      ["other", [1]],
    ];
    const looks: [Look, unknown][] = [
      [(args) => args.get("other"), [1]],
      [(args) => args.has("sku"), true],
      [(args) => args.size, 2],
      [(args) => [...args], entries],
      [(args) => [...args.entries()], entries],
      [(args) => [...args.keys()], ["sku", "other"]],
      [(args) => [...args.values()], ["1", [1]]],
      [(args) => Object.fromEntries(args), { sku: "1", other: [1] }],
      [(args) => new Map(args), new Map(entries)],
      [(args) => inspect(args), "Map(2) { 'sku' => '1', 'other' => [ 1 ] }"],
      [(args) => args.delete("sku"), true],
    ];
    for (const [look, expected] of looks)
      expect((await pass(endpoint, look, { body })).seen).toEqual(expected);
    const names: string[] = [];
    await pass(endpoint, (args) => args.forEach((_value, name) => names.push(name)), { body });
    expect(names).toEqual(["sku", "other"]);
  });

  it.each([
    ["half a JSON text", json, '{"sku":'],
    ["no object", json, "[1]"],
    ["a key that is not allowed", json, '{"sku":{"__proto__":1}}'],
    [
      "a class that isn't there",
      serialized,
      '{"sku":{"serialized":true,"name":"class","key":"no/Such","args":{},"fields":{}}}',
    ],
    [
      "a pattern from outside",
      serialized,
      '{"sku":{"serialized":true,"name":"RegExp","source":"a","flags":""}}',
    ],
    ["another type", { "content-type": "text/plain" }, '{"sku":"1"}'],
    ["a packed body", { ...json, "content-encoding": "gzip" }, "x"],
    ["what is too deep", json, `{"sku":${"[".repeat(200)}${"]".repeat(200)}}`],
  ])(
    "middleware that looks at arguments gets the node's own refusal of %s; if it doesn't look, the node refuses",
    async (_, headers, body) => {
      const { "x-svc-node": node, ...others } = (
        await ask((await deploy()).b, "POST", "/rpc/shop/stock", headers, body)
      ).headers;
      const alone = await ask((await deploy()).b, "POST", "/rpc/shop/stock", headers, body);
      expect(node).toBe("node b");
      const looked = await pass(endpoint, (args) => args.size, { headers, body });
      expect([looked.answer.status, looked.answer.text, looked.answer.headers]).toEqual([
        alone.status,
        alone.text,
        others,
      ]);
      expect(looked.sent).toBeUndefined();
      const blind = await pass(endpoint, () => undefined, { headers, body });
      expect([blind.answer.status, blind.answer.text, blind.answer.headers]).toEqual([
        alone.status,
        alone.text,
        alone.headers,
      ]);
      expect(blind.sent?.body).toBe(body);
    },
  );

  it("middleware may catch the error of malformed arguments, and the node refuses them", async () => {
    const { answer, seen } = await pass(
      endpoint,
      (args) => {
        const refusals = ["get", "has"].map((method) => {
          try {
            return args[method as "get"]("sku");
          } catch (error) {
            return (error as Error).name;
          }
        });
        return refusals;
      },
      { body: "{" },
    );
    expect(seen).toEqual(["BadRequest", "BadRequest"]);
    expect(answer).toMatchObject({
      status: 400,
      text: "The text is not JSON",
      headers: { "x-svc-node": "node b" },
    });
  });

  it("middleware that changes the arguments of a GET gives the procedure exactly these values", async () => {
    const { sent, answer } = await pass(endpoint, (args) => args.set("money", new Money(7)), {
      method: "GET",
      target: "/rpc/shop/double?price=4",
      headers: {},
    });
    expect(sent).toMatchObject({
      method: "POST",
      target: "/rpc/shop/double",
      headers: { "x-svc-data-encoding": "serialized" },
    });
    expect([answer.status, answer.text]).toEqual([200, '{"cents":14}']);
    const versioned = await pass(endpoint, (args) => args.set("more", [1]), {
      method: "GET",
      target: "/rpc/shop/stock?version=1&sku=a%26",
      headers: {},
    });
    expect(versioned.sent).toMatchObject({
      method: "POST",
      target: "/rpc/shop/stock?version=1",
      body: '{"sku":"a&","more":[1]}',
    });
    const read = await pass(endpoint, (args) => [...args], {
      method: "GET",
      target: "/rpc/shop/double?price=4",
      headers: {},
    });
    expect([read.seen, read.sent?.method, read.sent?.target]).toEqual([
      [["price", 4]],
      "GET",
      "/rpc/shop/double?price=4",
    ]);
  });

  it("middleware can set what plain JSON can't carry: the procedure gets the value, and the caller a plain answer", async () => {
    const { sent, answer } = await pass(endpoint, (args) => args.set("money", new Money(7)), {
      target: "/rpc/shop/double",
      body: '{"price":1}',
    });
    expect(sent?.headers["x-svc-data-encoding"]).toBe("serialized");
    expect([answer.status, answer.text, answer.headers["x-svc-data-type"]]).toEqual([
      200,
      '{"cents":14}',
      "object",
    ]);
    const failing = await pass(
      endpoint,
      (args) => args.set("sku", "none").set("at", new Date(0)).delete("at"),
      { body: odd },
    );
    expect([failing.answer.status, failing.answer.text]).toEqual([
      404,
      "no none left\n[shop/stock | v0.0.0]",
    ]);
    const unknown = await pass(endpoint, (args) => args.set("at", new Date(0)), { body: odd });
    expect([unknown.answer.status, unknown.answer.text]).toEqual([400, "Unknown parameter 'at'"]);
    expect(unknown.answer.headers).toMatchObject({
      "x-svc-error": "UnknownParameter",
      "content-type": "text/plain; charset=utf-8",
      "x-svc-node": "node b",
    });
  });

  it("a value that middleware sets replaces the caller's, even if it looks like a form in a plain body", async () => {
    for (const [value, form] of [
      [undefined, { serialized: true, name: "Undefined" }],
      [Number.NaN, { serialized: true, name: "Number", value: "NaN" }],
      [new Date(0), { serialized: true, name: "Date", value: "1970-01-01T00:00:00.000Z" }],
    ] as const) {
      const { sent } = await pass(endpoint, (args) => args.set("sku", value), {
        body: JSON.stringify({ sku: form }),
      });
      expect(sent).toMatchObject({
        body: JSON.stringify({ sku: form }),
        headers: { "x-svc-data-encoding": "serialized" },
      });
    }
  });

  it("middleware sees what the procedure gets, whatever the caller's Connection names", async () => {
    const connection = "x-svc-data-encoding, content-type, x-named";
    const body = JSON.stringify({ sku: { serialized: true, name: "BigInt", value: "12" } });
    const { seen, sent } = await pass(endpoint, (args) => args.get("sku"), {
      headers: { ...serialized, connection, "x-named": "1" },
      body,
    });
    expect(seen).toBe(12n);
    expect(sent).toMatchObject({ body, headers: serialized });
    expect(sent?.headers).not.toHaveProperty("x-named");
  });

  it("middleware that sets a value that can't be sent gets an error with the path", async () => {
    const { answer } = await pass(endpoint, (args) => args.set("sku", { on: [() => 1] }), {
      body: odd,
    });
    expect([answer.status, answer.headers["x-svc-error"], answer.text]).toEqual([
      500,
      "ValueNotSerializable",
      expect.stringContaining("args.sku.on[0]"),
    ]);
  });
});
