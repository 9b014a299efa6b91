// One application in every mode in which users run one: what a feature promises must hold in all of
// them.

import { readFileSync } from "node:fs";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { TLSSocket } from "node:tls";

import { Agent, buildConnector, type Dispatcher } from "undici";
import { createBuilder, createServer, type InlineConfig, preview } from "vite";
import { vi } from "vitest";

import { createHandler } from "../../server/start/create-handler.ts";
import type { Handler, Server } from "../../server/start/server.ts";
import { startServer } from "../../server/start/start-server.ts";
import { createTestCluster } from "../../server/testing/index.ts";
import { seamline } from "../../server/vite/vite-plugin.ts";
import { startDev } from "../../server/vite/start-dev.ts";
import { createCertificates } from "../_certificates.ts";
import { TestLog } from "../_cluster.ts";
import { freePort } from "../_free-port.ts";
import { gathered } from "../_gathered.ts";
import type { Files } from "../build/_fixture.ts";
import { anyPort, applicationOf } from "../spec/_started.ts";

export type ModeName = (typeof modeNames)[number];
export const modeNames = [
  "start standalone",
  "start standalone, over HTTP/2",
  "start proxy, gateway, two nodes",
  "in Express",
  "in Hono",
  "dev",
  "vite",
  "vite preview",
  "test kit",
] as const;

/** The suites that run in every mode. */
export interface Suite {
  readonly title: string;
  /**
   * Modules and segment files of the application. In `start proxy, gateway, two nodes`, segments
   * with a name that ends in `-inner` are on the second node.
   */
  readonly files: Files;
  /** Keys for the configuration of every service. Suites share them, so they must not clash. */
  readonly configuration?: Readonly<Record<string, unknown>>;
  readonly tests: (mode: () => Mode) => void;
}

export interface Mode {
  readonly name: ModeName;
  /** Sends a request to the outermost service, as a program outside would. Follows no redirect. */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** Lets so much time pass. The clock of the test kit stands still otherwise. */
  pass(ms: number): Promise<void>;
  stop(): Promise<void>;
}

const key = "the-trust-key-of-every-mode-here";

/** Starts the application of all `suites` in one mode, with Vite's `base`. */
export async function startMode(
  name: ModeName,
  suites: readonly Suite[],
  base = "/",
): Promise<Mode> {
  const closing: (() => unknown)[] = [];
  const stop = async (): Promise<void> => {
    for (const close of closing.toReversed()) await close();
  };
  const configuration = Object.assign({}, ...suites.map((suite) => suite.configuration)) as object;
  const application = applicationOf(
    {
      "index.html":
        '<!doctype html><html><head><title>Everywhere</title></head><body><script type="module" src="/src/main.ts"></script></body></html>\n',
      "src/main.ts": 'import { startClient } from "seamline/client";\nawait startClient("ui");\n',
      "src/ui/greet.ts":
        "export async function greet(name: string): Promise<string> {\n  return name;\n}\n",
      "segments/ui.segment.json": '{ "./ui/greet": { "greet": { "access": "public" } } }\n',
      // A suite may have a configuration of its own.
      ...(base !== "/" && {
        "vite.config.js": `export default { base: ${JSON.stringify(base)} };\n`,
      }),
      "seamline.json": JSON.stringify({ mode: "standalone", url: anyPort, ...configuration }),
      ...(Object.assign({}, ...suites.map(({ files }) => files)) as Files),
    },
    (remove) => closing.push(remove),
  );
  // Under Vitest the plugin doesn't split modules.
  vi.stubEnv("VITEST", undefined);
  closing.push(() => vi.unstubAllEnvs());
  const servers: Server[] = [];
  closing.push(async () => await Promise.all(servers.map(async (server) => await server.stop())));
  try {
    const started = await starters[name]({ application, configuration, base, closing, servers });
    return { name, pass: pause, ...started, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface StartParts {
  readonly application: ReturnType<typeof applicationOf>;
  readonly configuration: object;
  readonly base: string;
  /** Takes what ends the mode, called in reverse order. */
  readonly closing: (() => unknown)[];
  /** Takes the services of `seamline start`. Each takes a second to stop, so they stop together. */
  readonly servers: Server[];
}

type Start = (parts: StartParts) => Promise<Pick<Mode, "request"> & Partial<Pick<Mode, "pass">>>;

const starters: Readonly<Record<ModeName, Start>> = {
  async "start standalone"(parts) {
    await parts.application.build();
    return toUrl(await serve(parts, { mode: "standalone" }));
  },

  async "start standalone, over HTTP/2"(parts) {
    await parts.application.build();
    const { ca, sign } = createCertificates((remove) => parts.closing.push(remove));
    const connect = buildConnector({ allowH2: true, ca: readFileSync(ca) });
    const dispatcher = new Agent({
      allowH2: true,
      connect: (options, done) =>
        connect(options, (error, socket) => {
          const protocol = socket instanceof TLSSocket ? socket.alpnProtocol : undefined;
          if (error !== null) done(error, null);
          else if (protocol === "h2") done(null, socket);
          else done(new Error(`The service speaks ${String(protocol)}`), null);
        }),
    });
    parts.closing.push(async () => await dispatcher.close());
    const url = "https://127.0.0.1:0";
    const tls = sign("service");
    return toUrl(await serve(parts, { mode: "standalone", url, tls }), dispatcher);
  },

  async "start proxy, gateway, two nodes"(parts) {
    const segments = parts.application
      .list("segments")
      .map((file) => file.replace(".segment.json", ""))
      .filter((segment) => segment !== "ui");
    await parts.application.build();
    const repository = await serve(parts, { mode: "repository" });
    const gateway = await serve(parts, { mode: "gateway" });
    const node = { mode: "node", gateway, repository };
    const isInner = (segment: string): boolean => segment.endsWith("-inner");
    await serve(parts, { ...node, segments: segments.filter((segment) => !isInner(segment)) });
    await serve(parts, { ...node, segments: segments.filter(isInner) });
    await gathered(gateway);
    return toUrl(await serve(parts, { mode: "proxy", gateway, repository }));
  },

  async "in Express"(parts) {
    const handler = await mount(parts);
    const { default: express } = await import("express");
    const app = express().use(handler.node).use(express.json());
    return toUrl(await listenWith(parts, createHttpServer(app)));
  },

  async "in Hono"(parts) {
    const handler = await mount(parts);
    const [{ Hono }, { createAdaptorServer }] = await Promise.all([
      import("hono"),
      import("@hono/node-server"),
    ]);
    const app = new Hono();
    app.notFound((context) => handler.fetch(context.req.raw));
    return toUrl(await listenWith(parts, createAdaptorServer(app) as HttpServer));
  },

  async dev({ application, closing }) {
    const session = await startDev({
      root: application.root,
      port: await freePort(),
      host: "127.0.0.1",
      log: new TestLog(),
    });
    closing.push(async () => await session.close());
    await session.ready;
    return toUrl(session.url);
  },

  async vite({ application, base, closing }) {
    const server = await createServer({
      ...viteConfig(application.root, base),
      server: { port: await freePort(), host: "127.0.0.1", ws: false, watch: null },
    });
    closing.push(async () => await server.close());
    await server.listen();
    return toUrl(server.resolvedUrls?.local[0] ?? "");
  },

  async "vite preview"({ application, base, closing }) {
    const config = viteConfig(application.root, base);
    await (await createBuilder(config)).buildApp();
    const server = await preview({
      ...config,
      preview: { port: await freePort(), host: "127.0.0.1" },
    });
    closing.push(async () => await server.close());
    return toUrl(server.resolvedUrls?.local[0] ?? "");
  },

  async "test kit"({ application, configuration, closing }) {
    const cluster = await createTestCluster({ root: application.root, config: configuration });
    closing.push(async () => await cluster.stop());
    return {
      request: async (path, init) => await cluster.fetch(path, init),
      pass: async (ms) => await cluster.clock.pass(ms),
    };
  },
};

function viteConfig(root: string, base: string): InlineConfig {
  return { root, base, configFile: false, logLevel: "silent", plugins: [seamline()] };
}

/** Starts one service from the application, and returns its address. */
async function serve(
  { application, configuration, servers }: StartParts,
  config: Readonly<Record<string, unknown>>,
): Promise<string> {
  const server = await startServer(application.importer, {
    root: application.root,
    config: { url: anyPort, trustKey: key, ...config, ...configuration } as never,
    build: false,
    signals: false,
    log: new TestLog(),
  });
  servers.push(server);
  return server.url;
}

/** Starts the application as a part of another server. */
async function mount({ application, configuration, closing }: StartParts): Promise<Handler> {
  await application.build();
  const handler = await createHandler(application.importer, {
    root: application.root,
    config: { mode: "standalone", url: anyPort, trustKey: key, ...configuration },
    build: false,
    log: new TestLog(),
  });
  closing.push(async () => await handler.close());
  return handler;
}

async function listenWith({ closing }: StartParts, server: HttpServer): Promise<string> {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** With a `dispatcher`, it decides how requests are sent. */
function toUrl(url: string, dispatcher?: Dispatcher): Pick<Mode, "request"> {
  return {
    request: async (path, init) =>
      await fetch(new URL(path, url), {
        redirect: "manual",
        ...(dispatcher && { dispatcher }),
        ...init,
      }),
  };
}
