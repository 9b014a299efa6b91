// Responses: content type, body and data type for each kind of value.

import { describe, expect, it } from "vitest";

import { type Endpoint, callEndpoint } from "../_endpoint.ts";
import { CorsMiddleware } from "../../src/http/cors.ts";
import { ask } from "../_cluster.ts";
import { deploy } from "../_deployment.ts";
import { Person } from "../_wire-classes.ts";

const answering = (value: unknown): Endpoint => ({ parameters: [], run: () => value });
const serialized = { "x-svc-data-encoding": "serialized" };
const text = "text/plain; charset=utf-8";
const json = "application/json";
const bytes = "application/octet-stream";

describe.each([{}, serialized])("answers with the header and without: %j", (headers) => {
  const answer = async (value: unknown) => {
    const {
      status,
      headers: answerHeaders,
      text: body,
    } = await callEndpoint(answering(value), { headers });
    return [status, answerHeaders["content-type"], answerHeaders["x-svc-data-type"], body];
  };

  it("responses-1: a string is sent as its text, as text/plain", async () => {
    expect(await answer("t\u00e4xt")).toEqual([200, text, "string", "t\u00e4xt"]);
    expect(await answer("")).toEqual([200, text, "string", ""]);
    expect(await answer('{"a":1}')).toEqual([200, text, "string", '{"a":1}']);
  });

  it("responses-12: a string that UTF-8 can't encode is sent as JSON, without loss", async () => {
    for (const value of ["\ud800", "a\udfffb", "\udc00\ud800", "\ud83e\uddf5 \ud83e"]) {
      const [status, type, kind, body] = await answer(value);
      expect([status, type, kind]).toEqual([200, json, "string"]);
      expect(body).toMatch(/^"[^\ufffd]*"$/);
      expect(JSON.parse(String(body))).toBe(value);
    }
    expect(await answer("\ud83e\uddf5")).toEqual([200, text, "string", "\ud83e\uddf5"]);
  });

  it("responses-14: browsers download a File, and a Blob unless it is an image, sound, video, font, plain text or bytes", async () => {
    const dispositionOf = async (value: unknown) =>
      (await callEndpoint(answering(value), {})).headers["content-disposition"];
    expect(
      await dispositionOf(new File(["<script></script>"], "ä.html", { type: "text/html" })),
    ).toBe("attachment; filename*=UTF-8''%C3%A4.html");
    expect(await dispositionOf(new File(["x"], "x.png", { type: "image/png" }))).toBe(
      "attachment; filename*=UTF-8''x.png",
    );
    for (const type of ["text/html", "image/svg+xml", "application/pdf", "text/plain, text/html"])
      expect(await dispositionOf(new Blob(["x"], { type })), type).toBe("attachment");
    for (const type of [
      "image/png",
      "audio/ogg",
      "video/mp4",
      "font/woff2",
      "text/plain",
      "application/octet-stream",
      "",
    ])
      expect(await dispositionOf(new Blob(["x"], { type })), type).toBeUndefined();
  });

  it("a Response, or a value that contains one, is refused with a hint", async () => {
    const hint =
      /: a procedure can't return a Response: return its content, as text, data or a Blob, or make it a route \('route' in its segment entry\)/;
    for (const [value, path] of [
      [new Response("x"), "result"],
      [{ in: [new Response("x")] }, "result.in[0]"],
    ] as const) {
      const [status, , , body] = await answer(value);
      expect(status).toBe(500);
      expect(body).toMatch(hint);
      expect(body).toContain(`${path}: a procedure can't return a Response`);
    }
  });

  it("responses-2: numbers, booleans and bigints are sent as their text, and x-svc-data-type names the type", async () => {
    expect(await answer(12.5)).toEqual([200, text, "number", "12.5"]);
    expect(await answer(-0)).toEqual([200, text, "number", "-0"]);
    expect(await answer(Number.NaN)).toEqual([200, text, "number", "NaN"]);
    expect(await answer(-Infinity)).toEqual([200, text, "number", "-Infinity"]);
    expect(await answer(false)).toEqual([200, text, "boolean", "false"]);
    expect(await answer(2n ** 70n)).toEqual([200, text, "bigint", "1180591620717411303424"]);
  });

  it("responses-3: undefined is 204 without a body or a content type", async () => {
    expect(await answer(undefined)).toEqual([204, undefined, "undefined", ""]);
  });

  it("responses-4: null is sent as JSON", async () => {
    expect(await answer(null)).toEqual([200, json, "null", "null"]);
  });

  it("responses-11: every response, errors too, has nosniff and no-store", async () => {
    const careful = { "x-content-type-options": "nosniff", "cache-control": "no-store" };
    for (const value of ["text", 1, undefined, null, {}, new Uint8Array(1), () => 1])
      expect((await callEndpoint(answering(value), { headers })).headers).toMatchObject(careful);
    const { proxy } = await deploy();
    for (const [method, path] of [
      ["GET", "shop/nothing"],
      ["PUT", "shop/stock"],
      ["OPTIONS", "shop/stock"],
      ["GET", "shop/stock?version=x"],
    ] as const)
      expect(
        (await ask(proxy, method, `/rpc/${path}`, headers)).headers,
        `${method} ${path}`,
      ).toMatchObject(careful);
  });

  it("responses-13: every response, errors and preflights too, has a sandbox policy, so browsers run nothing of it", async () => {
    const policy = { "content-security-policy": "sandbox; default-src 'none'" };
    const values = [
      "text",
      "\ud800",
      1,
      1n,
      true,
      undefined,
      null,
      {},
      new Uint8Array(1),
      new Blob(["x"]),
      new File(["x"], "x"),
      () => 1,
    ];
    for (const value of values)
      expect((await callEndpoint(answering(value), { headers })).headers).toMatchObject(policy);
    const cluster = await deploy();
    for (const role of ["a", "gateway", "proxy"] as const)
      for (const [method, path] of [
        ["GET", "shop/stock?sku=1"],
        ["GET", "shop/nothing"],
        ["GET", ""],
        ["GET", "%E0%A4%A"],
        ["HEAD", "shop/stock"],
        ["PUT", "shop/stock"],
        ["OPTIONS", "shop/stock"],
        ["GET", "shop/stock?version=x"],
        ["POST", "shop/stock"],
      ] as const)
        expect(
          (await ask(cluster[role], method, `/rpc/${path}`, headers)).headers,
          `${role} ${method} ${path}`,
        ).toMatchObject(policy);
    cluster.gateway.addMiddleware(new CorsMiddleware());
    expect((await ask(cluster.gateway, "OPTIONS", "/rpc/shop/stock")).headers).toMatchObject(
      policy,
    );
  });

  it("responses-10: the process keeps running after a value that can't be sent", async () => {
    const cycle: { a: unknown[] } = { a: [] };
    cycle.a.push(cycle);
    for (const value of [cycle, () => 1, Symbol("x"), [Promise.resolve()]]) {
      expect((await callEndpoint(answering(value), { headers })).status).toBe(500);
      expect((await callEndpoint(answering(1), { headers })).text).toBe("1");
    }
  });

  it.each<[string, unknown, string]>([
    [
      "a function",
      { people: [{}, {}, {}, { born: () => 1 }] },
      "result.people[3].born: a function can't be sent",
    ],
    ["a symbol", Symbol("x"), "result: a symbol can't be sent"],
    [
      "a cycle",
      (() => {
        const a: unknown[] = [];
        a.push([a]);
        return { a };
      })(),
      "result.a[0][0]: a cycle can't be sent",
    ],
  ])(
    "responses-9: a value that can't be sent is 500 ValueNotSerializable with its path: %s",
    async (_, value, message) => {
      const answer = await callEndpoint(answering(value), { headers });
      expect(answer.status).toBe(500);
      expect(answer.text).toContain(message);
      if (headers === serialized)
        expect(JSON.parse(answer.text)).toMatchObject({ type: "ValueNotSerializable" });
    },
  );
});

describe("answers without the header", () => {
  const plain = async (value: unknown) => {
    const { headers, body, text } = await callEndpoint(answering(value), {});
    return {
      kind: headers["x-svc-data-type"],
      type: headers["content-type"],
      body: [...body],
      text,
    };
  };

  it("responses-5: lists, plain objects and the public data of instances are sent as JSON", async () => {
    expect(await plain([1, { a: [] }])).toMatchObject({
      kind: "object",
      type: json,
      text: '[1,{"a":[]}]',
    });
    expect(await plain({})).toMatchObject({ kind: "object", type: json, text: "{}" });
    expect(await plain(new Person("Ada", new Date(0)))).toMatchObject({
      kind: "object",
      type: json,
      text: '{"born":"1970-01-01T00:00:00.000Z"}',
    });
  });

  it("responses-6: without the header, bytes of any kind are the whole body, as application/octet-stream", async () => {
    const six = new Uint8Array([1, 2, 3, 4, 5, 255]);
    expect(await plain(six.subarray(1, 3))).toMatchObject({
      kind: "binary",
      type: bytes,
      body: [2, 3],
    });
    expect(await plain(six.buffer)).toMatchObject({
      kind: "binary",
      type: bytes,
      body: [1, 2, 3, 4, 5, 255],
    });
    expect(await plain(new DataView(six.buffer, 4))).toMatchObject({
      kind: "binary",
      type: bytes,
      body: [5, 255],
    });
    expect(await plain(new Int16Array([1, -1]))).toMatchObject({
      kind: "binary",
      type: bytes,
      body: [1, 0, 255, 255],
    });
  });

  it("responses-7: without the header, a Blob is sent under its own type", async () => {
    expect(await plain(new Blob(["<svg/>"], { type: "image/svg+xml" }))).toMatchObject({
      kind: "binary",
      type: "image/svg+xml",
      text: "<svg/>",
    });
    expect(await plain(new Blob(["a"]))).toMatchObject({ kind: "binary", type: bytes, text: "a" });
  });
});

describe("answers with the header", () => {
  it("responses-8: with the header, every object is JSON of its serialized form, bytes too", async () => {
    for (const [value, name] of [
      [new Date(0), "Date"],
      [new Map(), "Map"],
      [new Uint8Array(2), "Binary"],
      [new Blob(["a"]), "Binary"],
      [new Person("Ada"), "class"],
    ] as const) {
      const answer = await callEndpoint(answering(value), { headers: serialized });
      expect(answer.headers).toMatchObject({ "content-type": json, "x-svc-data-type": "object" });
      expect(JSON.parse(answer.text)).toMatchObject({ serialized: true, name });
    }
  });
});
