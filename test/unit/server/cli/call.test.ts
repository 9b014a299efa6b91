// `seamline call` with real command lines against a service on a socket.

import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeDevAddress } from "../../../../server/start/dev-address.ts";
import { run } from "../../../../server/cli/program.ts";
import type { Server } from "../../../../server/start/server.ts";
import { startServer } from "../../../../server/start/start-server.ts";
import { TestLog } from "../../../_cluster.ts";
import { anyPort, applicationOf } from "../../../spec/_started.ts";

const orders = `
import { NotFound } from "seamline";
export class Quote {
  #sku;
  note = "";
  constructor(sku: string, day: Date) { this.#sku = sku; this.day = day; }
  get sku() { return this.#sku; }
}
export class OutOfStock extends NotFound {
  name = "OutOfStock";
  constructor(sku: string) { super("There is no " + sku, { cause: new Error("the roll is at its end") }); this.sku = sku; }
}
export async function quote(sku: string) { return new Quote(sku, new Date("2026-01-02T03:04:05Z")); }
export async function order(sku: string) { throw new OutOfStock(sku); }
export async function basket() { return { lines: [await quote("a"), new Map([["b", await quote("b")]])] }; }
export async function round() { const one = { name: "one" }; one.self = one; return one; }
export async function kinds(text: string, number: number, list: string[]) { return { text, number, list }; }
export async function all(...names: string[]) { return names.join("+"); }
export async function secret() { return this.headers.get("x-tenant") ?? "none"; }
export async function nothing() {}
export async function slow() { await new Promise(() => {}); }
export async function loud() { return "\\u001b[31mred\\u001b[0m"; }
`;
const names = ["quote", "order", "basket", "round", "kinds", "all", "nothing", "slow", "loud"];
const open = Object.fromEntries(names.map((name) => [name, { access: "public" }]));
const segment = {
  "./orders/orders": { ...open, secret: { access: "protected" } },
  "./orders/later": { quote: { access: "public", version: "1.2.0" } },
};

let server: Server;
let application: ReturnType<typeof applicationOf>;
const atEnd: (() => void)[] = [];
beforeAll(async () => {
  application = applicationOf(
    {
      "src/orders/orders.ts": orders,
      "src/orders/later.ts":
        "export async function quote(sku: string) { return `later ${sku}`; }\n",
      "orders.segment.json": JSON.stringify(segment),
    },
    (remove) => atEnd.push(remove),
  );
  const { root, importer } = application;
  server = await startServer(importer, {
    root,
    config: { mode: "standalone", name: "A", url: anyPort },
    signals: false,
    log: new TestLog(),
  });
  application.write({ "seamline.json": JSON.stringify({ mode: "standalone", url: server.url }) });
});
afterAll(async () => {
  await server.stop();
  atEnd.forEach((remove) => remove());
});

interface Told {
  readonly code: number | undefined;
  readonly out: string;
  /** Durations are replaced by `… ms`. */
  readonly err: string;
}

async function call(
  words: readonly string[],
  { input = undefined as string | undefined, isTTY = false, root = application.root } = {},
): Promise<Told> {
  let [out, err] = ["", ""];
  const code = await run(["call", "--root", root, ...words], {
    stdout: { isTTY, write: (text) => (out += text) },
    stderr: { isTTY, write: (text) => (err += text) },
    env: {},
    ...(input !== undefined && { stdin: Readable.from([input]) }),
  });
  return { code, out, err: stripVTControlCharacters(err).replaceAll(/[\d.]+ ms/g, "… ms") };
}

describe("seamline call", () => {
  it("prints an instance as its class's key, arguments and fields, with the node and the duration", async () => {
    const out = "orders/Quote('42', 2026-01-02T03:04:05.000Z) { note: '' }\n";
    expect(await call(["orders/quote", "--arg", "sku=42"])).toEqual({
      code: 0,
      out,
      err: "A · … ms\n",
    });
  });

  it("shows instances inside other values", async () => {
    const { out } = await call(["orders/basket"]);
    expect(out.replaceAll(/\s+/g, " ")).toBe(
      "{ lines: [ orders/Quote('a', 2026-01-02T03:04:05.000Z) { note: '' }, " +
        "Map(1) { 'b' => orders/Quote('b', 2026-01-02T03:04:05.000Z) { note: '' } } ] } ",
    );
  });

  it("shows a cycle, which needs the second encoding", async () => {
    expect((await call(["orders/round"])).out).toBe(
      "<ref *1> { name: 'one', self: [Circular *1] }\n",
    );
    expect(JSON.parse((await call(["orders/round", "--json"])).out)).toMatchObject({
      encoding: "superjson",
      value: { json: { name: "one" } },
    });
  });

  it("prints an error's name, message, trace, cause, status and node", async () => {
    expect(await call(["orders/order", "--arg", "sku=tweed"])).toEqual({
      code: 1,
      out: "",
      err: "error: OutOfStock: There is no tweed\n[orders/order | v0.0.0]\ncaused by Error: the roll is at its end\n404 · A · … ms\n",
    });
  });

  it("prints the service's errors about names, parameters and versions", async () => {
    expect((await call(["orders/quot"])).err).toContain(
      "error: ProcedureNotFound: Procedure 'orders/quot' v0.0.0 not found\n404",
    );
    expect((await call(["orders/quote"])).err).toContain("error: MissingParameterValue: ");
    expect((await call(["orders/quote", "-a", "sku=1", "-a", "sko=1"])).err).toContain(
      "error: UnknownParameter: ",
    );
    expect((await call(["orders/quote", "-a", "sku=1", "--version", "one"])).err).toContain(
      "error: InvalidVersionNumber: ",
    );
  });

  it("calls the requested version", async () => {
    expect(await call(["orders/quote", "--arg", "sku=1", "--version", "1.2"])).toMatchObject({
      code: 0,
      out: "later 1\n",
    });
  });

  it("sends text, which the service converts by the parameter's type, and JSON unchanged", async () => {
    const texts = await call([
      "orders/kinds",
      "-a",
      "text=42",
      "-a",
      "number=42",
      "-a",
      "list=a",
      "-a",
      "list=b=c",
    ]);
    expect(texts.out).toBe("{ text: '42', number: 42, list: [ 'a', 'b=c' ] }\n");
    const json = await call([
      "orders/kinds",
      "-a",
      "text=42",
      "-a",
      "number:=42",
      "-a",
      'list:=["a"]',
    ]);
    expect(json.out).toBe("{ text: '42', number: 42, list: [ 'a' ] }\n");
    expect((await call(["orders/all", "-a", '...names:=["a","b"]'])).out).toBe("a+b\n");
  });

  it("accepts all arguments as one object, also from standard input", async () => {
    const args = '{"text":"a","number":1,"list":[]}';
    expect((await call(["orders/kinds", "--args", args])).out).toBe(
      "{ text: 'a', number: 1, list: [] }\n",
    );
    expect((await call(["orders/kinds", "--args", "-", "-a", "text=b"], { input: args })).out).toBe(
      "{ text: 'b', number: 1, list: [] }\n",
    );
  });

  it("sends the trust key with --trust-key, the first of a list, and the given headers", async () => {
    expect(await call(["orders/secret", "-H", "X-Tenant: north"])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/Unauthorized.*\n401/s) as string,
    });
    expect(await call(["orders/secret", "-H", "X-Tenant: north", "--trust-key"])).toMatchObject({
      code: 0,
      out: "north\n",
    });
    const own = readFileSync(application.path(".seamline/key"), "utf8").trim();
    for (const [trustKey, code] of [
      [[own, "a-key-that-comes-later"], 0],
      [["a-key-that-comes-later", own], 1],
    ] as const) {
      const config = { mode: "standalone", url: server.url, trustKey };
      const listed = applicationOf({ "seamline.json": JSON.stringify(config) });
      expect(await call(["orders/secret", "--trust-key"], { root: listed.root })).toMatchObject({
        code,
      });
    }
    const elsewhere = applicationOf({});
    const refused = await call(["orders/secret", "--trust-key", "--url", server.url], {
      root: elsewhere.root,
    });
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        "There is no trust key: the first service that starts in",
      ) as string,
    });
    expect(existsSync(elsewhere.path(".seamline"))).toBe(false);
  });

  it("prints one JSON object with --json", async () => {
    const facts = { node: "A", ms: expect.any(Number) as number };
    expect(JSON.parse((await call(["orders/quote", "-a", "sku=1", "--json"])).out)).toEqual({
      value: {
        serialized: true,
        key: "orders/Quote",
        name: "class",
        args: { 0: "1", 1: expect.anything() as object },
        fields: { note: "" },
      },
      status: 200,
      ...facts,
    });
    expect(await call(["orders/order", "-a", "sku=1", "--json"])).toMatchObject({
      code: 1,
      err: "",
    });
    expect(JSON.parse((await call(["orders/order", "-a", "sku=1", "--json"])).out)).toMatchObject({
      error: {
        serialized: true,
        name: "Error",
        type: "OutOfStock",
        key: "orders/OutOfStock",
        trace: ["[orders/order | v0.0.0]"],
      },
      status: 404,
      ...facts,
    });
    expect(JSON.parse((await call(["orders/nothing", "--json"])).out)).toMatchObject({
      status: 204,
      node: "A",
    });
  });

  it("prints undefined, but no control characters on a terminal", async () => {
    expect((await call(["orders/nothing"])).out).toBe("undefined\n");
    expect((await call(["orders/loud"], { isTTY: true })).out).toBe("\\u001b[31mred\\u001b[0m\n");
    expect((await call(["orders/loud"])).out).toBe("\u001B[31mred\u001B[0m\n");
  });

  it("gives up after the timeout, and reports that nothing listens", async () => {
    expect(await call(["orders/slow", "--timeout", "50"])).toEqual({
      code: 1,
      out: "",
      err: "error: No answer within … ms: --timeout sets a longer time\n",
    });
    const away = await call(["orders/quote", "--url", "http://127.0.0.1:9"]);
    expect(away).toMatchObject({ code: 1, out: "" });
    expect(away.err).toBe(
      "error: http://127.0.0.1:9 refused the connection: nothing answers there\n  → Start the service, or give another address with --url\n",
    );
  });

  it("explains where an unreachable address comes from, and that no `seamline dev` runs in the folder", async () => {
    const folder = applicationOf(
      { "seamline.json": '{ "mode": "standalone", "url": "http://127.0.0.1:9" }' },
      (remove) => atEnd.push(remove),
    );
    const messageOf = async (of: typeof folder, ...words: readonly string[]): Promise<string> =>
      (await call(["orders/quote", ...words], of)).err;
    const wayOut =
      "\n  → Run 'seamline dev' or 'seamline start', or give the address of the service with --url\n";
    expect(await messageOf(folder)).toBe(
      `error: http://127.0.0.1:9, the url of seamline.json, refused the connection: nothing answers there, and no 'seamline dev' runs in ${folder.root}${wayOut}`,
    );
    folder.write({ ".seamline/dev.json": '{"url":"http://127.0.0.1:7","pid":999999999}' });
    expect(await messageOf(folder)).toBe(
      `error: http://127.0.0.1:9, the url of seamline.json, refused the connection: nothing answers there, and no 'seamline dev' runs in ${folder.root}; the process 999999999 that .seamline/dev.json names has ended${wayOut}`,
    );
    // With --config, the message doesn't mention a development server.
    expect(await messageOf(folder, "--config", "seamline.json")).toBe(
      "error: http://127.0.0.1:9, the url of seamline.json, refused the connection: nothing answers there\n  → Start the service, or give another address with --url\n",
    );
    // A process that crashed and whose id now belongs to another one.
    folder.write({
      ".seamline/dev.json": JSON.stringify({ url: "http://127.0.0.1:7", pid: process.pid }),
    });
    expect(await messageOf(folder)).toBe(
      `error: http://127.0.0.1:7, which .seamline/dev.json names for the 'seamline dev' of process ${process.pid}, refused the connection: nothing answers there\n  → Run 'seamline dev' again, or give the address of the service with --url\n`,
    );
  });

  it("reports that another program answers, but not if a service does", async () => {
    const other = createServer((_, response) =>
      response.writeHead(404, { "content-type": "text/html" }).end("<h1>Not here</h1>"),
    );
    await new Promise<void>((listening) => other.listen(0, "127.0.0.1", listening));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    expect(await call(["orders/quote", "--url", url])).toEqual({
      code: 1,
      out: "",
      err: `error: BadGateway: A service answered 404 with 'text/html', which is not an answer to a call\n404 · … ms\n  → The server at ${url} seems to be another one. Start the service, or give another address with --url\n`,
    });
    other.close();
    for (const words of [
      ["orders/nothing"],
      ["orders/loud"],
      ["orders/basket"],
      ["orders/order", "-a", "sku=1"],
      ["orders/no"],
      ["orders/secret"],
    ])
      expect((await call(words)).err, words[0]).not.toContain("another server");
  });

  it("calls the folder's `seamline dev`, unless an address or a configuration is given", async () => {
    const folder = applicationOf({
      "seamline.json": '{ "mode": "standalone", "url": "http://127.0.0.1:9" }',
    });
    const words = ["orders/quote", "-a", "sku=1"];
    expect((await call(words, folder)).err).toContain(
      "http://127.0.0.1:9, the url of seamline.json, refused",
    );
    const forget = await writeDevAddress(folder.root, `${server.url}/`, new TestLog());
    expect(await call(words, folder)).toMatchObject({ code: 0 });
    expect((await call([...words, "--config", "seamline.json"], folder)).err).toContain(
      "http://127.0.0.1:9, the url of seamline.json, refused",
    );
    expect((await call([...words, "--url", "http://127.0.0.1:7"], folder)).err).toContain(
      "http://127.0.0.1:7 refused",
    );
    await forget();
    expect(existsSync(folder.path(".seamline/dev.json"))).toBe(false);
    // The file of a killed process, and a partially written file.
    for (const left of ['{"url":"http://127.0.0.1:7","pid":999999999}', '{"url":"htt']) {
      folder.write({ ".seamline/dev.json": left });
      expect((await call(words, folder)).err).toContain(
        "http://127.0.0.1:9, the url of seamline.json, refused",
      );
    }
  });

  it.each([
    [["--arg", "sku"], "--arg: expected name=text or name:=json, found 'sku'"],
    [["--arg", "sku:=tweed"], "For text: sku=tweed"],
    [["--args", "[1]"], "--args: expected a JSON object of parameters"],
    [["--args", "{"], "--args isn't JSON"],
    [["--args", "-"], "there is nothing on standard input"],
    [["--header", "tenant"], "--header: expected 'name: value'"],
    [["--url", "localhost:3000"], "--url: "],
    [["--timeout", "soon"], "Expected a number of milliseconds"],
  ])("ends with 2 for %j", async (words, message) => {
    const { code, err } = await call(["orders/quote", ...words]);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});
