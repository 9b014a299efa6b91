// Guards over sockets: bodies that never come, and requests as bytes.

import { createConnection } from "node:net";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { Unauthorized } from "../../src/base/errors.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { createStandalone } from "../../src/roles/standalone.ts";
import { getContext } from "../../server/host/carrier.ts";
import { TestLog } from "../_cluster.ts";
import { guardedModules } from "../_guards.ts";
import { createStarter, key } from "../_sockets.ts";
import { body, names } from "./_shop.ts";

const modules = () =>
  guardedModules(
    {
      signedIn: async (): Promise<void> => {
        if (getContext().headers.get("authorization") === undefined)
          throw new Unauthorized("Sign in first");
      },
    },
    [
      {
        fqn: "shop/order",
        parameters: names("sku"),
        in: { a: { access: "public", guard: "auth#signedIn" } },
        body: body("shop/order", (_, _graph, sku: string) => `ordered ${sku}`),
      },
    ],
    [
      {
        route: "POST /upload",
        guard: "auth#signedIn",
        run: async (request) => new Response(await request.text()),
      },
    ],
  );

const { start, closing } = createStarter(new TestLog());
const common = { trustKey: key, limits: defaultLimits };
const files = {
  publicFile: async () => undefined,
  component: async () => undefined,
  serverFile: async () => undefined,
};
const urls: Record<string, string> = {};
beforeAll(async () => {
  urls["standalone"] = await start((host) =>
    createStandalone(host, {
      ...common,
      modules: modules(),
      segments: undefined,
      name: undefined,
      files,
    }),
  );
  const gateway = await start((host) =>
    createGateway(host, { ...common, healthIntervalMs: 60_000, gatheringMs: 0, newId: () => "m1" }),
  );
  urls["gateway"] = gateway;
  const own = { modules: modules(), segments: ["a", "site"], name: undefined };
  urls["node"] = await start((host) => createNode(host, { ...common, ...own, gateway }));
});
afterAll(async () => {
  for (const close of closing) await close();
});

/** Sends bytes, and returns what came until the other end has closed or `isEnough`. */
async function exchange(
  url: string,
  bytes: string,
  isEnough: (text: string) => boolean,
): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = createConnection(Number(port), hostname);
  socket.setEncoding("latin1");
  socket.write(bytes);
  let text = "";
  for await (const part of socket) if (isEnough((text += part as string))) break;
  socket.destroy();
  return text;
}

const head = (line: string, fields: string): string =>
  `${line} HTTP/1.1\r\nhost: 127.0.0.1\r\n${fields}\r\n`;
const isAnswered = (text: string): boolean => text.includes("Sign in first");

describe("a caller whom a guard refuses", () => {
  it.each([
    ["standalone", "POST /rpc/shop/order", "content-type: application/json\r\n"],
    ["node", "POST /rpc/shop/order", "content-type: application/json\r\n"],
    ["standalone", "POST /upload", ""],
    ["node", "POST /upload", ""],
    // It sends on the head of a request for a route at once.
    ["gateway", "POST /upload", ""],
  ])(
    "guards-16: the body of a refused caller is never read: the answer comes after the head alone, without 100 Continue (%s, %s)",
    async (service, line, type) => {
      for (const more of ["content-length: 1000\r\n", "transfer-encoding: chunked\r\n"])
        for (const expected of ["", "expect: 100-continue\r\n"]) {
          const bytes = head(line, `${type}${more}${expected}`);
          const text = await exchange(urls[service]!, bytes, isAnswered);
          expect(text).toMatch(/^HTTP\/1\.1 401 /);
        }
    },
  );

  it("one who passes is asked for the body (guards-16)", async () => {
    const fields =
      "authorization: Bearer 1\r\ncontent-type: application/json\r\ncontent-length: 11\r\nexpect: 100-continue\r\nconnection: close\r\n";
    const bytes = head("POST /rpc/shop/order", fields);
    for (const service of ["standalone", "node"]) {
      const text = await exchange(urls[service]!, bytes, (got) => got.includes("100 Continue"));
      expect(text).toMatch(/^HTTP\/1\.1 100 Continue/);
      expect(await exchange(urls[service]!, `${bytes}{"sku":"1"}`, () => false)).toContain(
        "ordered 1",
      );
    }
  });
});
