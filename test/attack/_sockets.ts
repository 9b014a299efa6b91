// The roles of a deployment behind real sockets, with the adapter and the transport that processes have, and requests as raw bytes:
// what a well-behaved client would repair before it sends is what attackers write.

import { connect } from "node:net";
import { nodeHost } from "../../server/host.ts";
import { type HttpServer, listen } from "../../server/http.ts";
import { type Console, createConsole } from "../../src/console/console.ts";
import type { Host, HttpRequest } from "../../src/ports.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import { createNode } from "../../src/roles/node.ts";
import { createProxy } from "../../src/roles/proxy.ts";
import { createRepository } from "../../src/roles/repository.ts";
import type { Role } from "../../src/roles/role.ts";
import { defaultLimits } from "../../src/serializer/limits.ts";
import { TestLog, testModules } from "../_cluster.ts";
import { key } from "../_deployment.ts";
import { application, classes } from "./_application.ts";

export const doors = ["node", "gateway", "proxy", "repository"] as const;
export type Door = (typeof doors)[number];

export interface Sockets {
  readonly ports: Readonly<Record<Door, number>>;
  readonly log: TestLog;
  /** Paths that the repository was asked for. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** proxy → gateway → node, and a repository, each behind a socket of its own; with `console` the gateway shows itself. */
export async function openSockets(options: { readonly console?: true } = {}): Promise<Sockets> {
  const log = new TestLog();
  const asked: string[] = [];
  const servers: HttpServer[] = [];
  const roles: Role[] = [];
  const hosts: ReturnType<typeof nodeHost>[] = [];
  const host = (): ReturnType<typeof nodeHost> => {
    const one = nodeHost({ log });
    hosts.push(one);
    return one;
  };
  const open = async (make: () => Role): Promise<string> => {
    const role = make();
    const server = await listen((request) => role.handle(request), {
      host: "127.0.0.1",
      port: 0,
      onFault: (fault) => log.error("fault", fault),
    });
    roles.push(role);
    servers.push(server);
    await role.start(server.url);
    return server.url;
  };
  const common = { trustKey: key, limits: defaultLimits };
  const files = {
    publicFile: async (request: HttpRequest) => (asked.push(request.target), undefined),
    component: async () => undefined,
    serverFile: async (file: string) =>
      file === "manifest.json" ? new TextEncoder().encode("{}") : undefined,
  };
  let ids = 0;
  const repository = await open(() => createRepository(host(), { ...common, files }));
  const consoleOf = (one: Host): Console | undefined =>
    options.console &&
    createConsole(one, { trustKey: key, secure: false, file: async () => undefined });
  const gateway = await open(() => {
    const one = host();
    return createGateway(one, {
      ...common,
      monitor: 60_000,
      lease: 60_000,
      newId: () => `m${++ids}`,
      console: consoleOf(one),
    });
  });
  const node = await open(() =>
    createNode(host(), {
      ...common,
      gateway,
      modules: testModules(application, classes),
      segments: ["main"],
      name: "one",
    }),
  );
  const proxy = await open(() => createProxy(host(), { ...common, calls: gateway, repository }));
  const port = (url: string): number => Number(new URL(url).port);
  return {
    ports: {
      repository: port(repository),
      gateway: port(gateway),
      node: port(node),
      proxy: port(proxy),
    },
    log,
    asked,
    async close() {
      for (const role of roles.toReversed()) await role.stop();
      for (const one of hosts) await one.transport.close();
      for (const server of servers) await server.close(0);
    },
  };
}

export interface RawAnswer {
  /** 0: the connection was closed without an answer. */
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Writes `bytes` as they are, and reads until the first answer is whole or the connection ends. */
export function exchange(port: number, bytes: string | Uint8Array): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const chunks: Buffer[] = [];
    const finish = (): void => {
      socket.destroy();
      const text = Buffer.concat(chunks).toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      const head = end < 0 ? text : text.slice(0, end);
      resolve({
        status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0),
        head,
        body: end < 0 ? "" : text.slice(end + 4),
      });
    };
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      const text = Buffer.concat(chunks).toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1];
      if (
        (length !== undefined && text.length >= end + 4 + Number(length)) ||
        /^HTTP\/1\.1 (?:204|304)/.test(text)
      )
        finish();
    });
    // A reset is an end like any other here.
    socket.on("error", finish);
    socket.on("close", finish);
    socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  });
}

export interface RawRequest {
  readonly method?: string;
  readonly target?: string;
  /** Lines, without their ends; `Host` is there already. */
  readonly fields?: readonly string[];
  readonly body?: string;
  readonly json?: unknown;
}

/** A request's bytes; nothing is escaped, ordered or corrected. */
export function bytesOf({ method, target = "/", fields = [], body, json }: RawRequest): Buffer {
  const content = json === undefined ? body : JSON.stringify(json);
  const bytes = Buffer.from(content ?? "", "utf8");
  const lines = [
    `${method ?? (content === undefined ? "GET" : "POST")} ${target} HTTP/1.1`,
    "Host: localhost",
    ...(content !== undefined && !fields.some((one) => /^content-type:/i.test(one))
      ? ["Content-Type: application/json"]
      : []),
    ...(content === undefined ? [] : [`Content-Length: ${bytes.length}`]),
    ...fields,
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), bytes]);
}
