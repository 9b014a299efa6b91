// Services that pages open links to, on sockets of this process, and a page's end of `ws`.

import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { onTestFinished } from "vitest";
import { WebSocket } from "ws";

import { HeldMemory } from "../server/host/held-memory.ts";
import { nodeHost } from "../server/http/host.ts";
import { type HttpServer, listen } from "../server/http/http.ts";
import { PageLinks, type PageLinkSettings } from "../server/http/page-links/page-links.ts";
import { defaultLimits, type Limits } from "../src/base/limits.ts";
import { pageLinkProtocol } from "../src/base/page-link.ts";
import { Unauthorized } from "../src/base/errors.ts";
import type { Middleware } from "../src/http/middleware.ts";
import type { PublicOriginOptions } from "../src/http/public-origin.ts";
import { createGateway } from "../src/roles/gateway.ts";
import { createNode } from "../src/roles/node.ts";
import { createProxy } from "../src/roles/proxy.ts";
import { createRepository } from "../src/roles/repository.ts";
import { createStandalone } from "../src/roles/standalone.ts";
import type { Role } from "../src/roles/pipeline/role.ts";
import { TestLog, testModules, type TestProcedure } from "./_cluster.ts";
import { linkHost, takingLinks } from "./_linking.ts";
import { body as bodyOf, names } from "./spec/_shop.ts";

export const key = "the-trust-key-of-the-pages";

/** Notes of the procedures of a test. */
export const noted: string[] = [];

const procedures: TestProcedure[] = [
  {
    fqn: "shop/count",
    parameters: names("to"),
    stream: true,
    in: { shop: "public" },
    body: (graph) =>
      async function* (this: unknown, to: never) {
        const { signal } = graph.context(this, "shop/count");
        try {
          for (let item = 1; item <= Number(to); item++) {
            signal.throwIfAborted();
            yield item;
          }
          return "end";
        } finally {
          noted.push("count ended");
        }
      } as never,
  },
  {
    fqn: "shop/wait",
    stream: true,
    in: { shop: "public" },
    body: (graph) =>
      async function* (this: unknown) {
        const { signal } = graph.context(this, "shop/wait");
        noted.push("wait begins");
        try {
          yield "first";
          await new Promise<void>((resolve) =>
            signal.addEventListener("abort", () => resolve(), { once: true }),
          );
        } finally {
          noted.push("wait ended");
        }
      } as never,
  },
  {
    fqn: "shop/baked",
    stream: true,
    in: { shop: "public" },
    body: (graph) =>
      async function* (this: unknown) {
        const { cookies } = graph.context(this, "shop/baked").response;
        const { writable } = cookies;
        cookies.set("name", "Ada");
        cookies.delete("gone");
        const failures: unknown[] = [];
        for (const act of [() => cookies.set("name", "Bob"), () => cookies.delete("name")])
          try {
            act();
          } catch (error) {
            failures.push((error as Error).name);
          }
        yield [writable, ...failures];
      } as never,
  },
  {
    fqn: "shop/who",
    stream: true,
    in: { shop: "public" },
    body: (graph) =>
      async function* (this: unknown) {
        const { headers, request } = graph.context(this, "shop/who");
        yield Object.fromEntries(headers);
        yield request?.address;
      } as never,
  },
  {
    fqn: "shop/closed",
    stream: true,
    in: { shop: "protected" },
    body: () =>
      async function* () {
        yield "secret";
      } as never,
  },
  {
    fqn: "shop/refused",
    stream: true,
    in: { shop: "public" },
    body: () =>
      // oxlint-disable-next-line require-yield -- it throws before
      async function* () {
        throw new Unauthorized("Sign in first");
      } as never,
  },
  {
    fqn: "shop/plain",
    in: { shop: "public" },
    body: bodyOf("shop/plain", () => "plain"),
  },
];

export type PageService = "standalone" | "gateway" | "proxy" | "node" | "repository";
/** Those that pages call. */
export const pageServices = ["standalone", "gateway", "proxy"] as const;

export interface PageServicesOptions {
  readonly web?: PublicOriginOptions;
  readonly limits?: Partial<Limits>;
  readonly streamHeaders?: PageLinkSettings["streamHeaders"];
  readonly middleware?: Middleware | undefined;
  readonly heldBytes?: number;
}

export interface PageServices {
  readonly ports: Readonly<Record<PageService, number>>;
  readonly servers: Readonly<Record<PageService, HttpServer>>;
  readonly roles: Readonly<Record<PageService, Role>>;
  readonly memory: Readonly<Record<PageService, HeldMemory>>;
  readonly links: Readonly<Record<PageService, PageLinks>>;
  readonly log: TestLog;
  readonly faults: unknown[];
  close(): Promise<void>;
}

/** Starts proxy → gateway → node, a repository and a standalone. */
export async function openPageServices(options: PageServicesOptions = {}): Promise<PageServices> {
  const limits: Limits = { ...defaultLimits, ...options.limits };
  const log = new TestLog();
  const faults: unknown[] = [];
  const ports: Partial<Record<PageService, number>> = {};
  const servers: Partial<Record<PageService, HttpServer>> = {};
  const roles: Partial<Record<PageService, Role>> = {};
  const memories: Partial<Record<PageService, HeldMemory>> = {};
  const all: Partial<Record<PageService, PageLinks>> = {};
  const open = async (
    name: PageService,
    make: (host: ReturnType<typeof nodeHost>) => Role,
  ): Promise<string> => {
    const memory = new HeldMemory(options.heldBytes);
    const host = nodeHost({ log, memory, links: linkHost(memory) });
    const role = make(host);
    if (options.middleware !== undefined) role.addMiddleware(options.middleware);
    const onFault = (fault: unknown): void => void faults.push(fault);
    const pageLinks = new PageLinks({
      role,
      handle: (request) => role.handle(request),
      settings: () => ({ limits, streamHeaders: options.streamHeaders }),
      memory,
      clock: host.clock,
      log,
      onFault,
    });
    const server = await listen((request) => role.handle(request), {
      host: "127.0.0.1",
      port: 0,
      memory,
      limits,
      ...takingLinks(role),
      pageLinks,
      onFault,
    });
    await role.start(server.url);
    ports[name] = Number(new URL(server.url).port);
    servers[name] = server;
    roles[name] = role;
    memories[name] = memory;
    all[name] = pageLinks;
    return server.url;
  };
  const common = { trustKey: key, limits, web: options.web };
  const files = {
    publicFile: async () => undefined,
    component: async () => undefined,
    serverFile: async (file: string) =>
      file === "manifest.json" ? new TextEncoder().encode("{}") : undefined,
  };
  const repository = await open("repository", (host) =>
    createRepository(host, { ...common, files }),
  );
  const gateway = await open("gateway", (host) =>
    createGateway(host, {
      ...common,
      healthIntervalMs: 60_000,
      gatheringMs: 0,
      newId: () => "m1",
    }),
  );
  await open("node", (host) =>
    createNode(host, {
      ...common,
      gateway,
      modules: testModules(procedures),
      segments: ["shop"],
      name: "one",
    }),
  );
  await open("proxy", (host) => createProxy(host, { ...common, calls: gateway, repository }));
  await open("standalone", (host) =>
    createStandalone(host, {
      ...common,
      files,
      modules: testModules(procedures),
      segments: undefined,
      name: "one",
    }),
  );
  return {
    ports: ports as PageServices["ports"],
    servers: servers as PageServices["servers"],
    roles: roles as PageServices["roles"],
    memory: memories as PageServices["memory"],
    links: all as PageServices["links"],
    log,
    faults,
    async close() {
      for (const role of Object.values(roles).toReversed()) await role.stop();
      for (const server of Object.values(servers)) await server.close(0);
    },
  };
}

/** A page's end of a link, which sends what the test says. */
export interface RawPage {
  readonly webSocket: WebSocket;
  readonly socket: Socket;
  /** All messages that have come. */
  readonly came: string[];
  /** Resolves with the close code and reason. */
  readonly closed: Promise<readonly [code: number, reason: string]>;
  send(...messages: readonly string[]): void;
  /** Resolves with the text of a stream when it is over, its head first. */
  stream(
    id: number,
  ): Promise<readonly [head: { readonly status: number }, text: string, end: string]>;
}

export interface PageOptions {
  readonly origin?: string | undefined;
  readonly host?: string;
  readonly path?: string;
  readonly protocol?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Opens a link. Rejects with the status of a refusal. */
export async function openPage(port: number, options: PageOptions = {}): Promise<RawPage> {
  const { path = "/svc/page", protocol = pageLinkProtocol } = options;
  const host = options.host ?? `127.0.0.1:${port}`;
  const origin = "origin" in options ? options.origin : `http://${host}`;
  const webSocket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocol, {
    headers: { host, ...(origin !== undefined && { origin }), ...options.headers },
  });
  const came: string[] = [];
  const waiting = new Set<() => void>();
  webSocket.on("message", (data: Buffer) => {
    came.push(data.toString());
    for (const look of waiting) look();
  });
  const closed = new Promise<readonly [number, string]>((resolve) =>
    webSocket.on("close", (code, reason) => {
      resolve([code, String(reason)]);
      for (const look of waiting) look();
    }),
  );
  await new Promise<void>((resolve, reject) => {
    webSocket.once("open", () => resolve());
    webSocket.once("error", (error) => reject(error));
    webSocket.once("unexpected-response", (_, response) => {
      reject(new Error(String(response.statusCode)));
      response.destroy();
    });
  });
  webSocket.on("error", () => {});
  onTestFinished(() => webSocket.terminate());
  return {
    webSocket,
    socket: (webSocket as unknown as { readonly _socket: Socket })._socket,
    came,
    closed,
    send(...messages) {
      for (const message of messages) webSocket.send(message);
    },
    stream: async (id) =>
      await new Promise((resolve, reject) => {
        const look = (): void => {
          const end = came.find((text) => text === `end ${id}` || text === `cancel ${id}`);
          if (end === undefined && webSocket.readyState !== WebSocket.CLOSED) return;
          waiting.delete(look);
          const head = came.find((text) => text.startsWith(`open ${id} `));
          if (end === undefined || head === undefined)
            return reject(new Error(`stream ${id} was cut`));
          const data = `data ${id} `;
          const text = came.filter((each) => each.startsWith(data));
          resolve([
            JSON.parse(head.slice(`open ${id} `.length)) as { status: number },
            text.map((each) => each.slice(data.length)).join(""),
            end,
          ]);
        };
        waiting.add(look);
        look();
      }),
  };
}

/** The message that opens a stream. */
export function openOf(
  id: number,
  fqn: string,
  args: Readonly<Record<string, unknown>> = {},
  more: Readonly<Record<string, unknown>> = {},
): string {
  return `open ${id} ${JSON.stringify({
    target: `/rpc/${fqn}`,
    encoding: "serialized",
    headers: {},
    body: JSON.stringify(args),
    ...more,
  })}`;
}

/** The status with which a link is refused. */
export async function refusalOf(port: number, options: PageOptions = {}): Promise<number> {
  return await openPage(port, options).then(
    () => 101,
    (error: Error) => Number(error.message),
  );
}

/** Sends raw bytes, and resolves with what comes until the connection ends. */
export async function rawly(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(text);
  let came = "";
  socket.on("data", (data) => (came += String(data)));
  await once(socket, "close");
  return came;
}
