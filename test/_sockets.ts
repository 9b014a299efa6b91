// proxy → gateway → two nodes over real sockets of this process: the http adapter and links
// that production runs.

import { nodeHost } from "../server/http/host.ts";
import { listen } from "../server/http/http.ts";
import { emptyContext } from "../src/base/context.ts";
import { frameworkErrors } from "../src/base/errors.ts";
import type { Host } from "../src/base/ports.ts";
import { createGateway } from "../src/roles/gateway.ts";
import { createNode } from "../src/roles/node.ts";
import { createProxy } from "../src/roles/proxy.ts";
import type { Role } from "../src/roles/pipeline/role.ts";
import { defaultLimits } from "../src/base/limits.ts";
import { createRemote } from "../src/wire/outgoing/remote-call.ts";
import { TestLog, testModules, type TestProcedure } from "./_cluster.ts";
import { httpPeer } from "./_http-peer.ts";
import { linkHost, takingLinks } from "./_linking.ts";
import { body, call, names } from "./spec/_shop.ts";
import { wireCases } from "./_wire-cases.ts";
import { createWireClasses, OutOfStock, Refused, wireClasses } from "./_wire-classes.ts";

export const key = "the-trust-key-of-the-sockets";

/** The last argument of `wire/echo`: the value itself, as both sides are in one process. */
export const arrived: { value?: unknown } = {};

const valueOf = (name: string): unknown => wireCases.find((entry) => entry.name === name)?.value;

/**
 * Segment `wire` has the procedures of the cases; segment `relay`, on another node, has those that
 * pass on to them.
 */
export const procedures: TestProcedure[] = [
  {
    fqn: "wire/echo",
    parameters: names("value"),
    in: { wire: "public" },
    body: body("wire/echo", (_, _graph, value) => (arrived.value = value)),
  },
  {
    fqn: "wire/wrapped",
    parameters: names("value"),
    in: { wire: "public" },
    body: body("wire/wrapped", (_, _graph, value) => ({ value: (arrived.value = value) })),
  },
  {
    fqn: "wire/example",
    parameters: names("name"),
    in: { wire: "public" },
    body: body("wire/example", (_, _graph, name) => valueOf(name)),
  },
  {
    fqn: "wire/wrappedExample",
    parameters: names("name"),
    in: { wire: "public" },
    body: body("wire/wrappedExample", (_, _graph, name) => ({ value: valueOf(name) })),
  },
  {
    fqn: "wire/typed",
    parameters: [
      { kind: "plain", name: "text" },
      { kind: "plain", name: "number", type: "number" },
      { kind: "plain", name: "flag", type: "boolean" },
      { kind: "plain", name: "big", type: "bigint" },
      { kind: "plain", name: "days", type: "Date[]" },
    ],
    in: { wire: "public" },
    body: body("wire/typed", (_, _graph, ...values: unknown[]) => values),
  },
  {
    fqn: "wire/fail",
    parameters: names("name"),
    in: { wire: "public" },
    body: body("wire/fail", (_, _graph, name: string) => {
      const Kind = frameworkErrors.get(name);
      if (Kind) throw new Kind(`by ${name}`);
      throw name === "OutOfStock"
        ? new OutOfStock("tea")
        : name === "Refused"
          ? new Refused("no", 7)
          : name;
    }),
  },
  {
    fqn: "wire/raw",
    parameters: names("as"),
    in: { wire: "public" },
    body: body("wire/raw", (_, _graph, as: string) => {
      const bytes = new Uint8Array([9, 0, 255, 1, 9]);
      if (as === "File")
        return new File([bytes.subarray(1, 4)], 'ä "1".png', { type: "image/png" });
      if (as === "Blob") return new Blob([bytes.subarray(1, 4)], { type: "image/x-thread" });
      return as === "DataView"
        ? new DataView(bytes.buffer, 1, 3)
        : as === "ArrayBuffer"
          ? bytes.slice(1, 4).buffer
          : bytes.subarray(1, 4);
    }),
  },
  { fqn: "wire/hidden", in: { wire: "private" }, body: body("wire/hidden", () => "private") },
  { fqn: "wire/guarded", in: { wire: "protected" }, body: body("wire/guarded", () => "guarded") },
  {
    fqn: "wire/relay",
    parameters: names("value"),
    in: { relay: "public" },
    body: body("wire/relay", (_, graph, value) => call(graph, "wire/echo", names("value"), value)),
  },
  {
    fqn: "wire/relayFail",
    parameters: names("name"),
    in: { relay: "public" },
    body: body("wire/relayFail", (_, graph, name) => call(graph, "wire/fail", names("name"), name)),
  },
];

export interface Sockets {
  readonly node: string;
  readonly relay: string;
  readonly gateway: string;
  readonly proxy: string;
  /** The ports of the caller in the tests. */
  readonly host: Host;
  readonly log: TestLog;
  close(): Promise<void>;
}

/** Starts roles on free ports; `closing` has what stops them, the last one first. */
export function createStarter(
  log: TestLog,
  onFault?: (fault: unknown) => void,
): {
  readonly start: (create: (host: Host) => Role) => Promise<string>;
  readonly closing: (() => Promise<void>)[];
} {
  const closing: (() => Promise<void>)[] = [];
  return {
    closing,
    async start(create) {
      const host = nodeHost({ log, links: linkHost() });
      const role = create(host);
      const server = await listen((request) => role.handle(request), {
        host: "127.0.0.1",
        port: 0,
        ...takingLinks(role),
        ...(onFault && { onFault }),
      });
      await role.start(server.url);
      closing.unshift(async () => {
        await role.stop();
        await server.close(0);
      });
      return server.url;
    },
  };
}

/** Every service on a port that was free. */
export async function startSockets(): Promise<Sockets> {
  const log = new TestLog();
  const common = { trustKey: key, limits: { ...defaultLimits, bodyBytes: 64 * 1024 } };
  const classes = wireClasses.map(([record, constructor]) => ({ record, constructor }));
  const { start, closing } = createStarter(log);
  let ids = 0;
  const gateway = await start((host) =>
    createGateway(host, {
      ...common,
      healthIntervalMs: 60_000,
      gatheringMs: 0,
      newId: () => `m${++ids}`,
    }),
  );
  const nodeOf = (segment: string): Promise<string> =>
    start((host) =>
      createNode(host, {
        ...common,
        gateway,
        modules: testModules(procedures, classes),
        segments: [segment],
        name: `node ${segment}`,
      }),
    );
  const node = await nodeOf("wire");
  const relay = await nodeOf("relay");
  // These tests request no files.
  const proxy = await start((host) =>
    createProxy(host, { ...common, calls: gateway, repository: "http://127.0.0.1:9" }),
  );
  const host = nodeHost({ log });
  return {
    node,
    relay,
    gateway,
    proxy,
    host,
    log,
    async close() {
      for (const close of closing) await close();
    },
  };
}

export interface Answer {
  readonly status: number;
  /** Without those of the connection. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  readonly text: string;
}

const ofTheConnection = new Set([
  "connection",
  "keep-alive",
  "date",
  "content-length",
  "transfer-encoding",
]);

/** Sends a request without credentials. */
export async function fetchFrom(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const bytes = new Uint8Array(await response.arrayBuffer());
  return {
    status: response.status,
    headers: Object.fromEntries(
      [...response.headers].filter(([name]) => !ofTheConnection.has(name)),
    ),
    bytes,
    text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes),
  };
}

/** A POST of JSON text. */
export function postTo(
  url: string,
  content: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return fetchFrom(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: content,
  });
}

/** Calls as a service of the deployment does: over a socket, with the key. */
export async function callFrom(
  host: Host,
  base: string,
  fqn: string,
  args: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const options = {
    transport: httpPeer(key),
    clock: host.clock,
    base,
    classes: createWireClasses(),
    limits: defaultLimits,
  };
  return (
    await createRemote(options).call({
      fqn,
      version: "0.0.0",
      args: new Map(Object.entries(args)),
      context: emptyContext(),
    })
  ).value;
}
