// Callers that go away, over the sockets of proxy, gateway and node: while they upload, before the
// head of the answer, and during its body.

import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import { defaultLimits } from "../../../src/base/limits.ts";
import { createNode } from "../../../src/roles/node.ts";
import { createGateway } from "../../../src/roles/gateway.ts";
import { createProxy } from "../../../src/roles/proxy.ts";
import { TestLog } from "../../_cluster.ts";
import { routeModules, type TestRoute } from "../../_routes.ts";
import { createStarter } from "../../_sockets.ts";
import { raw } from "./_raw.ts";

/** The events that the running route has seen of its caller. */
let seen: string[] = [];
const log = new TestLog();
let logged = 0;

const watched = (route: string, run: (request: Request) => unknown): TestRoute => ({
  route,
  run: async (request) => {
    seen.push("running");
    request.signal.addEventListener("abort", () => seen.push("aborted"));
    return await run(request);
  },
});
const chunk = new Uint8Array(16_384).fill(120);

const routes: readonly TestRoute[] = [
  watched("POST /upload", async (request) => {
    try {
      return new Response(String((await request.arrayBuffer()).byteLength));
    } catch (error) {
      seen.push("cut");
      throw error;
    }
  }),
  watched("GET /silent", async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return new Response("late");
  }),
  watched(
    "GET /endless",
    () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            await pause(2);
            controller.enqueue(chunk);
          },
          cancel: () => void seen.push("cancelled"),
        }),
      ),
  ),
];

let closing: readonly (() => Promise<void>)[] = [];
let url: string;

beforeAll(async () => {
  const common = { trustKey: "the-trust-key-of-the-callers-gone", limits: defaultLimits };
  const starter = createStarter(log, (fault) => seen.push(`fault: ${String(fault)}`));
  ({ closing } = starter);
  const { start } = starter;
  const gateway = await start((host) =>
    createGateway(host, { ...common, healthIntervalMs: 60_000, newId: () => "m1" }),
  );
  await start((host) =>
    createNode(host, {
      ...common,
      gateway,
      modules: routeModules(routes),
      segments: ["site"],
      name: "node",
    }),
  );
  url = await start((host) =>
    createProxy(host, { ...common, calls: gateway, repository: "http://127.0.0.1:9" }),
  );
});
afterAll(async () => {
  for (const close of closing) await close();
});

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", note));
afterAll(() => void process.off("unhandledRejection", note));
beforeEach(() => {
  seen = [];
  logged = log.lines.length;
});

const sees = async (...states: readonly string[]): Promise<void> =>
  await vi.waitFor(() => expect(seen).toEqual(expect.arrayContaining([...states])), 5_000);

/** A caller by `fetch` sees its own reason. */
async function byFetch(target: string, isUpload: boolean): Promise<() => Promise<void>> {
  const controller = new AbortController();
  const { signal } = controller;
  const body = new ReadableStream({
    async pull(stream) {
      await pause(2);
      if (!signal.aborted) stream.enqueue(chunk);
    },
  });
  const answer = fetch(url + target, {
    signal,
    ...(isUpload && { method: "POST", body, duplex: "half" }),
  });
  const whole = answer.then(async (response) => await response.text());
  const rejected = expect(whole).rejects.toThrow("enough");
  await sees("running");
  if (target === "/endless") await answer;
  return async () => {
    controller.abort(new Error("enough"));
    await rejected;
  };
}

/** A caller whose connection breaks. */
async function bySocket(target: string, isUpload: boolean): Promise<() => Promise<void>> {
  const head = isUpload
    ? "POST /upload HTTP/1.1\r\ncontent-length: 900000\r\n"
    : `GET ${target} HTTP/1.1\r\n`;
  const caller = raw({ url }, `${head}host: ${new URL(url).host}\r\n\r\n`);
  if (isUpload) caller.socket.write(chunk);
  await sees("running");
  if (target === "/endless") await caller.until(/xxx/);
  return async () => {
    caller.socket.resetAndDestroy();
    await caller.closed();
  };
}

describe.each([
  ["by fetch", byFetch],
  ["by a socket that is reset", bySocket],
])("a caller %s that goes away", (_, call) => {
  it.each([
    ["during its upload", "/upload", ["aborted", "cut"]],
    ["before the head of the answer", "/silent", ["aborted"]],
    ["during the body of the answer", "/endless", ["aborted", "cancelled"]],
  ])("%s ends the route, and the next request works", async (__, target, ended) => {
    const leave = await call(target, target === "/upload");
    expect(seen).toEqual(["running"]);
    await leave();
    await sees(...ended);
    const next = await fetch(`${url}/upload`, { method: "POST", body: "felt" });
    expect([next.status, await next.text()]).toEqual([200, "4"]);
    // Each ends once, and no service is blamed for a caller that went away.
    expect(seen.toSorted()).toEqual([...ended, "running", "running"].toSorted());
    await pause(20);
    expect(unhandled).toEqual([]);
    expect(log.lines.slice(logged)).toEqual([]);
  });
});
