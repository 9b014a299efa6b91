import * as api from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { describe, expect, it } from "vitest";

import { Tracing } from "../../server/telemetry/traces/tracing.ts";
import { sentBy } from "../_deployment.ts";
import { ask } from "../_cluster.ts";
import { operate, type ServiceName } from "./_operations.ts";
import { recordSpans } from "./_spans.ts";

const exporter = recordSpans();

const traceId = "0af7651916cd43dd8448eb211c80319c";
const outside = `00-${traceId}-b7ad6b7169203331`;
const json = { "content-type": "application/json" };

async function traced(options: { sample?: number; withApi?: boolean; random?: () => number } = {}) {
  const { sample = 1, withApi = true, random } = options;
  const tracing = (name: ServiceName) =>
    new Tracing({
      sample,
      role: name,
      node: undefined,
      ...(withApi && { api }),
      ...(random && { random }),
    });
  const operated = await operate((name) => ({ accessLog: true, tracing: tracing(name) }));
  const { local, log } = operated;
  exporter.reset();
  log.text = "";
  const gateway = local.at("http://gateway")?.role;
  if (gateway === undefined) throw new Error("no gateway");
  return { ...operated, gateway };
}

const told = (span: ReadableSpan): string =>
  `${api.SpanKind[span.kind]} ${span.name} ${String(span.attributes["seamline.role"] ?? "")}`.trim();

/** Each span with those above it, from the root. */
function paths(spans: readonly ReadableSpan[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]));
  const pathOf = (span: ReadableSpan): string => {
    const parent = byId.get(span.parentSpanContext?.spanId ?? "");
    return parent === undefined ? told(span) : `${pathOf(parent)} > ${told(span)}`;
  };
  return spans.map(pathOf);
}

describe("spans", () => {
  it("traces-1: a call through a gateway and two nodes is one tree: a server span for each service, a client span for each call between two", async () => {
    const { gateway } = await traced();
    await ask(gateway, "GET", "/rpc/shop/quote?sku=a");
    const spans = exporter.getFinishedSpans();
    expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
    const chain = [
      "SERVER shop/quote gateway",
      "CLIENT shop/quote",
      "SERVER shop/quote a",
      "CLIENT shop/stock",
      "SERVER shop/stock gateway",
      "CLIENT shop/stock",
      "SERVER shop/stock b",
    ];
    expect(paths(spans).toSorted((a, b) => a.length - b.length)).toEqual(
      chain.map((_, at) => chain.slice(0, at + 1).join(" > ")),
    );
  });

  it("traces-2: a span has the status and the exception of a call that failed; a caller's mistake is no error of the service", async () => {
    const { gateway } = await traced();
    await ask(gateway, "GET", "/rpc/shop/stock?sku=broken");
    const [b, client, server] = exporter.getFinishedSpans();
    for (const span of [b, client, server])
      expect([span?.status.code, span?.attributes["http.response.status_code"]]).toEqual([
        api.SpanStatusCode.ERROR,
        500,
      ]);
    expect(b?.status.message).toBe("no such shelf");
    expect(b?.events.map(({ name, attributes }) => [name, attributes?.["exception.type"]])).toEqual(
      [["exception", "RangeError"]],
    );
    exporter.reset();
    await ask(gateway, "GET", "/rpc/shop/stock?wrong=1");
    for (const { status } of exporter.getFinishedSpans())
      expect(status.code).toBe(api.SpanStatusCode.UNSET);
  });

  it("traces-3: requests for routes have spans with the route's name; files, health and names that nobody has announced have none", async () => {
    const { ask: send } = await traced();
    await send("POST", "/reset/planted", json, "{}");
    expect(
      exporter
        .getFinishedSpans()
        .filter(({ kind }) => kind === api.SpanKind.SERVER)
        .map(told),
    ).toEqual(["SERVER site/reset a", "SERVER site/reset gateway", "SERVER site/reset proxy"]);
    exporter.reset();
    for (const path of ["/page", "/health", "/rpc/made/up"]) await send("GET", path);
    expect(exporter.getFinishedSpans()).toEqual([]);
  });

  it("traces-4: spans that a procedure makes are below its own, and calls that it makes then are below those", async () => {
    const { gateway } = await traced();
    await ask(gateway, "GET", "/rpc/shop/own?sku=a");
    expect(
      paths(exporter.getFinishedSpans())
        .toSorted((a, b) => a.length - b.length)
        .at(-1),
    ).toBe(
      "SERVER shop/own gateway > CLIENT shop/own > SERVER shop/own a > INTERNAL of the application > CLIENT shop/stock > SERVER shop/stock gateway > CLIENT shop/stock > SERVER shop/stock b",
    );
  });
});

describe("traceparent", () => {
  it("traces-5: from outside it gives the trace and the parent, and nothing is sampled because of it", async () => {
    const sampled = await traced();
    await ask(sampled.gateway, "GET", "/rpc/shop/stock?sku=a", { traceparent: `${outside}-00` });
    const server = exporter.getFinishedSpans().find((span) => told(span).endsWith("gateway"));
    expect(server?.spanContext().traceId).toBe(traceId);
    expect(server?.parentSpanContext).toMatchObject({ spanId: "b7ad6b7169203331", isRemote: true });

    const unsampled = await traced({ sample: 0 });
    await ask(unsampled.gateway, "GET", "/rpc/shop/stock?sku=a", { traceparent: `${outside}-01` });
    expect(exporter.getFinishedSpans()).toEqual([]);
  });

  it("traces-6: services of the deployment decide once: the first one, for all behind it", async () => {
    let asked = 0;
    const { gateway } = await traced({ sample: 0.5, random: () => [0.4, 0.9][asked++] ?? 0 });
    asked = 0;
    await ask(gateway, "GET", "/rpc/shop/quote?sku=a");
    expect(exporter.getFinishedSpans()).toHaveLength(7);
    exporter.reset();
    await ask(gateway, "GET", "/rpc/shop/quote?sku=a");
    expect(exporter.getFinishedSpans()).toEqual([]);
    expect(asked).toBe(2);
    const believed = { ...sentBy.outside, traceparent: `${outside}-01` };
    await ask(gateway, "GET", "/rpc/shop/stock?sku=a", believed);
    expect(asked).toBe(2);
    expect(exporter.getFinishedSpans()).toHaveLength(3);
  });

  it.each([false, true])(
    "traces-7: it is made and passed on at every hop, with tracestate, and its id is in the log; recorded by OpenTelemetry: %s",
    async (withApi) => {
      const { ask: send, log } = await traced({ withApi });
      const fields = { traceparent: `${outside}-01`, tracestate: "vendor=1,other=two" };
      await send("GET", "/rpc/shop/heard?sku=a", fields);
      const { text } = await send("GET", "/rpc/shop/heard?sku=a", fields);
      const heard = JSON.parse(text) as Record<string, string>;
      expect(heard["tracestate"]).toBe(fields.tracestate);
      expect(heard["traceparent"]).toMatch(new RegExp(`^00-${traceId}-[\\da-f]{16}-01$`));
      expect(heard["traceparent"]).not.toContain("b7ad6b7169203331");
      const lines = log.parsed("request");
      expect(lines.length).toBeGreaterThan(5);
      expect(new Set(lines.map(({ trace }) => trace))).toEqual(new Set([traceId]));
      log.text = "";
      await send("GET", "/rpc/shop/heard?sku=a");
      const made = new Set(log.parsed("request").map(({ trace }) => trace));
      expect([...made]).toEqual([expect.stringMatching(/^[\da-f]{32}$/)]);
    },
  );

  it.each([
    `ff-${traceId}-b7ad6b7169203331-01`,
    `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-b7ad6b7169203331-01`,
    `00-${traceId}-b7ad6b7169203331-01-more`,
    `00-${traceId}-b7ad6b7169203331`,
    "planted",
    "",
  ])(
    "traces-8: one that isn't valid is replaced, and its tracestate dropped: %s",
    async (field) => {
      const { ask: send, log } = await traced({ withApi: false });
      const { text } = await send("GET", "/rpc/shop/heard?sku=a", {
        traceparent: field,
        tracestate: "a=b",
      });
      const heard = JSON.parse(text) as Record<string, string>;
      expect(heard).not.toHaveProperty("tracestate");
      expect(heard["traceparent"]).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-01$/);
      expect(heard["traceparent"]).not.toContain(traceId);
      expect(log.text).not.toContain("planted");
    },
  );
});
