// A gateway with its console on a loopback port, with nodes in this process. Tests can make calls,
// kill it and restart it.

import { createConsole } from "../console/server/console.ts";
import type { Console } from "../server/console/console-port.ts";
import type { Log } from "../src/base/ports.ts";
import { createGateway } from "../src/roles/gateway.ts";
import { ask, createMemoryNetwork } from "../src/roles/memory-network.ts";
import { createNode } from "../src/roles/node.ts";
import type { Role } from "../src/roles/pipeline/role.ts";
import { defaultLimits } from "../src/base/limits.ts";
import { createConsoleFiles } from "../server/console/console-files.ts";
import { nodeHost } from "../server/http/host.ts";
import { type HttpServer, listen } from "../server/http/http.ts";
import { memoryLinks } from "../server/local/memory-links.ts";
import { type TestProcedure, testModules } from "../test/_cluster.ts";
import { type FakeMember, fakeMember, memoryDial } from "../test/_fake-member.ts";
import { typedModules } from "../test/_typed.ts";
import { body, money, outOfStock, shop } from "../test/spec/_shop.ts";

export const key = "the-key-of-the-console-tests";

export interface ConsoleService {
  readonly url: string;
  link(): string;
  call(target: string, headers?: Readonly<Record<string, string>>, text?: string): Promise<number>;
  /** Calls without a socket, so that thousands of calls leave the page enough CPU. */
  pass(target: string): Promise<unknown>;
  /** Closes the socket; sessions survive. */
  unplug(): Promise<void>;
  plug(): Promise<void>;
  /** Starts a new gateway on the same port, without the old one's sessions. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

const quiet: Log = { info: () => {}, warn: () => {}, error: () => {} };

/** Takes every kind of parameter and returns them in a Map. */
const everything: TestProcedure = {
  fqn: "types/everything",
  version: "1.2.3",
  parameters: [
    { kind: "plain", name: "size", type: "number" },
    { kind: "plain", name: "sure", type: "boolean" },
    { kind: "plain", name: "big", type: "bigint" },
    { kind: "plain", name: "when", type: "Date" },
    { kind: "plain", name: "sizes", type: "number[]" },
    { kind: "object", names: [{ name: "first" }, { name: "second", optional: true }] },
    { kind: "plain", name: "maybe", optional: true, type: "number" },
    { kind: "rest", name: "others" },
  ],
  in: { types: "public" },
  body: body(
    "types/everything",
    (_, __, size, sure, big, when, sizes, names, maybe, ...others) =>
      new Map(Object.entries({ size, sure, big, when, sizes, names, maybe, others })),
    "1.2.3",
  ),
};

/** A build with types: its nodes check what they get, and say what they take. */
const checked = typedModules(
  [
    {
      fqn: "checked/order",
      signature: "(order: Order, { gift = false, note }: Extra, ...tags: string[])",
      in: { checked: "public" },
      body: body("checked/order", (_, __, order, extra, ...tags) => [order, extra, tags]),
    },
    {
      fqn: "checked/open",
      signature: "(order: Order)",
      in: { checked: { access: "public", validate: false } },
      body: body("checked/open", (_, __, order) => order),
    },
  ],
  {
    declarations: `
      import type { Int, Max, MaxLength, Min, MinLength } from "seamline/types";
      interface Line { sku: string & MinLength<1> & MaxLength<20>; metres: number & Int & Min<1> & Max<99>; tags?: Set<"cut" | "washed"> }
      type Shape = { kind: "circle"; radius: number } | { kind: "square"; side: bigint };
      interface Order {
        lines: Line[];
        due: Date;
        colour: "red" | "dark green" | null;
        express: boolean;
        shape: Shape;
        address?: { street: string; since: Date | null };
        history: [Date, { at: Map<string, Date> }][];
        extra?: unknown;
      }
      interface Extra { gift?: boolean; note?: string }
    `,
  },
);

export interface ServiceOptions {
  /** More members that answer at once, with this many procedures each. */
  readonly members?: number;
  readonly each?: number;
}

export async function startConsoleService({
  members = 0,
  each = 0,
}: ServiceOptions = {}): Promise<ConsoleService> {
  const network = createMemoryNetwork();
  const procedures = [...shop, everything];
  let port = 0;
  let http: HttpServer;
  let gateway: Role;
  let console: Console;
  let nodes: Role[] = [];
  let answering: FakeMember[] = [];
  const dial = memoryDial(network);
  const common = { trustKey: key, limits: defaultLimits };

  const plug = async (): Promise<void> => {
    http = await listen((request) => gateway.handle(request), { host: "127.0.0.1", port });
    port = Number(new URL(http.url).port);
  };

  const start = async (): Promise<void> => {
    const links = memoryLinks(network);
    const host = nodeHost({ links, names: network.names, log: quiet });
    const file = createConsoleFiles();
    console = createConsole(host, { trustKey: key, secure: false, masks: false, file });
    let ids = 0;
    gateway = createGateway(host, {
      ...common,
      healthIntervalMs: 1_000,
      newId: () => `m${++ids}`,
      observer: console,
    });
    gateway.addHealthCheck("disk", { isHealthy: async () => true });
    await plug();
    network.roles.set(http.url, gateway);
    await gateway.start(http.url);
    for (const [name, segments] of [
      ["node A", ["a"]],
      ["node B", ["b", "types"]],
      // Its health check fails.
      ["node C", ["types"]],
      ["node D", ["checked"]],
    ] as const) {
      const url = `http://${name.at(-1)!.toLowerCase()}`;
      const modules = name === "node D" ? checked() : testModules(procedures, [outOfStock, money]);
      const node = createNode(host, { ...common, gateway: http.url, modules, segments, name });
      node.addHealthCheck("database", { isHealthy: async () => name !== "node C" });
      network.roles.set(url, node);
      await node.start(url);
      nodes.push(node);
    }
    for (let at = 0; at < members; at++) answering.push(await joined(http.url, dial, at, each));
  };

  /** The gateway first: it can't tell its viewers who leaves then. */
  const stop = async (): Promise<void> => {
    await gateway.stop();
    await http.close(0);
    for (const member of answering) member.die();
    for (const node of nodes) await node.stop();
    nodes = [];
    answering = [];
  };

  await start();
  return {
    get url() {
      return http.url;
    },
    link: () => console.link(),
    async call(target, headers = {}, text) {
      const answer = await fetch(
        http.url + target,
        text === undefined ? { headers } : { method: "POST", headers, body: text },
      );
      await answer.arrayBuffer();
      return answer.status;
    },
    pass: (target) => ask(gateway, "GET", target),
    unplug: () => http.close(0),
    plug,
    async restart() {
      await stop();
      await start();
    },
    async close() {
      await stop();
      await network.close();
    },
  };
}

/** Joins a member that has no procedures of its own and answers every request. */
async function joined(
  gateway: string,
  dial: ReturnType<typeof memoryDial>,
  at: number,
  each: number,
): Promise<FakeMember> {
  const segment = `segment-${String(at).padStart(3, "0")}`;
  const fqns = Array.from({ length: each }, (_, index) => `part${at % 10}/procedure${at}x${index}`);
  const about = fqns.map((fqn) => ({
    fqn,
    version: "0.0.0",
    access: "public",
    segments: [segment],
    parameters: [{ kind: "plain", name: "id" }],
  }));
  return await fakeMember(
    {
      gateway,
      dial,
      url: `http://member${at}`,
      trustKey: key,
      behave: ({ target }) => ({
        status: 200,
        headers: { "content-type": "text/plain; charset=utf-8" },
        body: target === "/health" ? "{}" : "1",
      }),
    },
    {
      procedures: fqns,
      node: { name: `member ${at}`, segments: [segment], procedures: about },
    },
  );
}
