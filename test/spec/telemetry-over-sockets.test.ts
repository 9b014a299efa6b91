// Logs, metrics and traces of services with sockets: mounted in another server, and from one process's
// socket to the next.

import { mkdirSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

import * as api from "@opentelemetry/api";
import { describe, expect, it, onTestFinished } from "vitest";

import { createHandler } from "../../server/start/create-handler.ts";
import { root } from "../_sources.ts";
import { JsonLog } from "./_operations.ts";
import { recordSpans } from "./_spans.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

const exporter = recordSpans();

const traceId = "0af7651916cd43dd8448eb211c80319c";
const parentId = "b7ad6b7169203331";
const traceparent = `00-${traceId}-${parentId}-01`;

function shop() {
  const application = applicationOf({
    "index.html": "<!doctype html><title>Shop</title>",
    "src/shop/quote.ts": `import { stock } from "./stock.ts";
export async function quote(sku: string): Promise<string> {
  return sku + " " + (await stock(sku));
}
export async function hook(): Promise<Response> {
  return new Response("heard");
}
`,
    "src/shop/stock.ts":
      "export async function stock(sku: string): Promise<number> {\n  return sku.length;\n}\n",
    "office.segment.json": JSON.stringify({
      "./shop/quote": {
        quote: { access: "public" },
        hook: { access: "public", route: "POST /hooks/:token" },
      },
    }),
    "store.segment.json": '{ "./shop/stock": { "stock": { "access": "public" } } }',
  });
  const folder = join(application.root, "node_modules/@opentelemetry");
  mkdirSync(folder, { recursive: true });
  symlinkSync(join(root, "node_modules/@opentelemetry/api"), join(folder, "api"), "junction");
  return application;
}

/** The finished spans from the outermost one to the innermost one. */
function chain(): string[] {
  const spans = exporter.getFinishedSpans();
  const told: string[] = [];
  let above = spans.find(
    (span) => !spans.some((other) => other.spanContext().spanId === span.parentSpanContext?.spanId),
  );
  while (above !== undefined) {
    const { spanId } = above.spanContext();
    const role = above.attributes["seamline.role"];
    told.push([api.SpanKind[above.kind], above.name, ...(role ? [role] : [])].join(" "));
    above = spans.find((span) => span.parentSpanContext?.spanId === spanId);
  }
  return told;
}

describe("a mounted service", () => {
  it("mounting-14: a mounted service logs, counts and traces the requests that are for it, and no others", async () => {
    const application = shop();
    await application.build();
    const log = new JsonLog();
    const handler = await createHandler(application.importer, {
      root: application.root,
      build: false,
      log,
      config: {
        mode: "standalone",
        url: anyPort,
        trustKey: "the-trust-key-of-the-mounted-shop",
        accessLog: true,
        metrics: { token: "a-token-for-prometheus" },
        traces: true,
      },
    });
    const server = createServer((request, response) =>
      handler.node(request, response, () => response.end("theirs")),
    );
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    onTestFinished(async () => {
      await handler.close();
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const textOf = async (path: string, init: RequestInit = {}): Promise<string> =>
      await (await fetch(url + path, init)).text();

    expect(await textOf("/rpc/shop/quote?sku=abc", { headers: { traceparent } })).toBe("abc 3");
    const secret = { method: "POST", body: "{}", headers: { "content-type": "application/json" } };
    expect(await textOf("/hooks/a-secret", secret)).toBe("heard");
    expect(await textOf("/of/the/other/server")).toBe("theirs");
    const web = await handler.fetch(new Request("http://127.0.0.1/rpc/shop/quote?sku=four"));
    expect(await web.text()).toBe("four 4");

    const lines = log.parsed("request");
    expect(lines.map(({ method, path, status }) => [method, path, status])).toEqual([
      ["GET", "/rpc/shop/quote", 200],
      ["POST", "/hooks/:token", 200],
      ["GET", "/rpc/shop/quote", 200],
    ]);
    expect(lines[0]).toMatchObject({ procedure: "shop/quote", trace: traceId });
    expect(log.text).not.toMatch(/a-secret|theirs|the-trust-key/);

    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ name, kind }) => [api.SpanKind[kind], name])).toEqual([
      ["SERVER", "shop/quote"],
      ["SERVER", "shop/hook"],
      ["SERVER", "shop/quote"],
    ]);
    expect(spans[0]?.parentSpanContext?.spanId).toBe(parentId);
    expect(spans[0]?.spanContext().traceId).toBe(traceId);

    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    const bearer = { authorization: "Bearer a-token-for-prometheus" };
    const metrics = await textOf("/metrics", { headers: bearer });
    expect(metrics).toMatch(/\{[^}]*procedure="shop\/quote"[^}]*\} 2$/m);
    expect(metrics).toMatch(/\{[^}]*procedure="shop\/hook"[^}]*\} 1$/m);
    expect(metrics).not.toContain("theirs");
  });
});

describe("services with sockets", () => {
  it("traces-9: a call from outside through proxy, gateway and two nodes is one tree over real sockets, whichever way they take", async () => {
    const application = shop();
    await application.build();
    const common = {
      url: anyPort,
      trustKey: "the-trust-key-of-the-traced-shop",
      traces: true,
    } as const;
    const repository = (await start(application, { mode: "repository", ...common })).url;
    const gateway = await start(application, { mode: "gateway", ...common });
    const behind = { ...common, gateway: gateway.url, repository };
    for (const segment of ["office", "store"])
      await start(application, { mode: "node", ...behind, segments: [segment], name: segment });
    const proxy = await start(application, { mode: "proxy", ...behind });
    expect(proxy.lines.some((line) => line.includes("linked to"))).toBe(true);
    exporter.reset();

    const answer = await fetch(`${proxy.url}/rpc/shop/quote?sku=abc`, { headers: { traceparent } });
    expect(await answer.text()).toBe("abc 3");
    const spans = (): number => exporter.getFinishedSpans().length;
    await expect.poll(spans).toBe(7);
    expect(chain()).toEqual([
      "SERVER shop/quote gateway",
      "CLIENT shop/quote",
      "SERVER shop/quote node",
      "CLIENT shop/stock",
      "SERVER shop/stock gateway",
      "CLIENT shop/stock",
      "SERVER shop/stock node",
    ]);
    const finished = exporter.getFinishedSpans();
    expect(new Set(finished.map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]));
    expect(finished.some((span) => span.parentSpanContext?.spanId === parentId)).toBe(true);
  });
});
