// The roles of a deployment behind real sockets, with the same adapter and transport as in a process.
// Requests are raw bytes, since a proper client would correct what attackers send.

import { connect } from "node:net";
import { nodeHost } from "../../server/http/host.ts";
import { type HttpServer, listen } from "../../server/http/http.ts";
import { loadConsole } from "../../server/console/load-console.ts";
import type { HttpRequest } from "../../src/base/ports.ts";
import { createGateway } from "../../src/roles/gateway.ts";
import type { ServerModules } from "../../src/roles/application/application.ts";
import { createNode } from "../../src/roles/node.ts";
import { createProxy } from "../../src/roles/proxy.ts";
import { createRepository } from "../../src/roles/repository.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { createStandalone } from "../../src/roles/standalone.ts";
import { defaultLimits, type Limits } from "../../src/base/limits.ts";
import { TestLog, testModules } from "../_cluster.ts";
import { key } from "../_deployment.ts";
import { linkHost, takingLinks } from "../_linking.ts";
import { application, classes } from "./_application.ts";

export const services = ["node", "gateway", "proxy", "repository"] as const;
/** The standalone has its own copy of the application, and no links. */
export type Service = (typeof services)[number] | "standalone";

export interface Sockets {
  readonly ports: Readonly<Record<Service, number>>;
  readonly log: TestLog;
  /** Targets of the requests to the repository. */
  readonly repositoryTargets: string[];
  /** Of all requests that came over links, in order. */
  readonly heads: Pick<HttpRequest, "target" | "headers" | "from">[];
  close(): Promise<void>;
}

export interface SocketOptions {
  /** Turns on the gateway's console. */
  readonly console?: true;
  /** Of the node, in place of the attacked application. */
  readonly modules?: ServerModules;
  readonly limits?: Partial<Limits>;
}

/** Starts proxy → gateway → node and a repository. */
export async function openSockets(options: SocketOptions = {}): Promise<Sockets> {
  const { modules = testModules(application, classes) } = options;
  const log = new TestLog();
  const repositoryTargets: string[] = [];
  const servers: HttpServer[] = [];
  const roles: Role[] = [];
  const heads: Pick<HttpRequest, "target" | "headers" | "from">[] = [];
  const around =
    (handle: Role["handle"]): Role["handle"] =>
    async (request) => {
      heads.push(request);
      return await handle(request);
    };
  const host = (): ReturnType<typeof nodeHost> => {
    return nodeHost({ log, links: { ...linkHost(), around } });
  };
  const open = async (make: () => Role): Promise<string> => {
    const role = make();
    const server = await listen((request) => role.handle(request), {
      host: "127.0.0.1",
      port: 0,
      ...takingLinks(role),
      ...(options.limits && { limits: options.limits }),
      onFault: (fault) => log.error("fault", fault),
    });
    roles.push(role);
    servers.push(server);
    await role.start(server.url);
    return server.url;
  };
  const common = { trustKey: key, limits: { ...defaultLimits, ...options.limits } };
  const files = {
    publicFile: async (request: HttpRequest) => (repositoryTargets.push(request.target), undefined),
    component: async () => undefined,
    serverFile: async (file: string) =>
      file === "manifest.json" ? new TextEncoder().encode("{}") : undefined,
  };
  let ids = 0;
  const repository = await open(() => createRepository(host(), { ...common, files }));
  const openConsole = options.console && (await loadConsole(log));
  const gateway = await open(() => {
    const gatewayHost = host();
    return createGateway(gatewayHost, {
      ...common,
      healthIntervalMs: 60_000,
      gatheringMs: 0,
      newId: () => `m${++ids}`,
      observer: openConsole?.(gatewayHost, { trustKey: key, secure: false, masks: false }),
    });
  });
  const { segments } = await modules.manifest();
  const node = await open(() =>
    createNode(host(), {
      ...common,
      gateway,
      modules,
      segments: Object.keys(segments),
      name: "one",
    }),
  );
  const proxy = await open(() => createProxy(host(), { ...common, calls: gateway, repository }));
  const standalone = await open(() =>
    createStandalone(host(), {
      ...common,
      files,
      // A graph belongs to one service.
      modules: testModules(application, classes),
      segments: undefined,
      name: "one",
    }),
  );
  const port = (url: string): number => Number(new URL(url).port);
  return {
    ports: {
      repository: port(repository),
      gateway: port(gateway),
      node: port(node),
      proxy: port(proxy),
      standalone: port(standalone),
    },
    log,
    repositoryTargets,
    heads,
    async close() {
      for (const role of roles.toReversed()) await role.stop();
      for (const server of servers) await server.close(0);
    },
  };
}

export interface RawAnswer {
  /** 0 if the connection was closed without an answer. */
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Writes `bytes` and reads until the first answer is complete or the connection ends. */
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
        /^HTTP\/1\.1 (?:204|304)/.test(text) ||
        (/\r\ntransfer-encoding: chunked/i.test(text.slice(0, end)) &&
          text.endsWith("\r\n0\r\n\r\n"))
      )
        finish();
    });
    // A reset counts as the end of the connection.
    socket.on("error", finish);
    socket.on("close", finish);
    socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  });
}

export interface RawRequest {
  readonly method?: string;
  readonly target?: string;
  /** Lines without their line breaks. `Host` is added. */
  readonly fields?: readonly string[];
  readonly body?: string;
  readonly json?: unknown;
}

/** A request's bytes. Nothing is escaped, sorted or corrected. */
export function bytesOf({ method, target = "/", fields = [], body, json }: RawRequest): Buffer {
  const content = json === undefined ? body : JSON.stringify(json);
  const bytes = Buffer.from(content ?? "", "utf8");
  const lines = [
    `${method ?? (content === undefined ? "GET" : "POST")} ${target} HTTP/1.1`,
    "Host: localhost",
    ...(content !== undefined && !fields.some((field) => /^content-type:/i.test(field))
      ? ["Content-Type: application/json"]
      : []),
    ...(content === undefined ? [] : [`Content-Length: ${bytes.length}`]),
    ...fields,
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), bytes]);
}
