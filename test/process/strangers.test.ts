// Strangers who keep connections to a service open, of each role, while it is killed and starts again.

import { connect, type Socket } from "node:net";

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import {
  anyPort,
  type Application,
  buildPackage,
  createStock,
  type Service,
} from "./_application.ts";

const trustKey = "the-trust-key-among-300-strangers";
const asksForLink =
  "GET /svc/link HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: seamline-link\r\n\r\n";

/** 300 that say nothing, and 300 that ask for a link and leave the challenge unanswered. */
class Strangers {
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  #isOver = false;
  /** When the service last began to listen. */
  #listening: number | undefined;
  open = 0;

  constructor(url: string) {
    this.#port = Number(new URL(url).port);
    for (let count = 0; count < 600; count++) this.#connect(count % 2 === 0 ? "" : asksForLink);
  }

  get listening(): number {
    return this.#listening ?? Number.NaN;
  }

  forget(): void {
    this.#listening = undefined;
  }

  stop(): void {
    this.#isOver = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #connect(text: string): void {
    if (this.#isOver) return;
    const socket = connect(this.#port, "127.0.0.1");
    this.#sockets.add(socket);
    let isOpen = false;
    socket.on("connect", () => {
      isOpen = true;
      this.open++;
      this.#listening ??= performance.now();
      socket.write(text);
    });
    // Reads the challenge.
    socket.resume();
    // It is closed as well.
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#sockets.delete(socket);
      if (isOpen) this.open--;
      setTimeout(() => this.#connect(text), 100);
    });
  }
}

/** Resolves when a service has said this once more than by now. */
async function saysAgain({ command }: Service, text: string): Promise<number> {
  const times = command.output().split(text).length;
  const escaped = text.replace(/[.]/g, "\\$&");
  await command.says(new RegExp(`(?:[^]*?${escaped}){${times}}`));
  return performance.now();
}

describe("with 300 silent strangers, and 300 that ask for a link and prove nothing,", () => {
  let application: Application;
  const configurations: Record<string, object> = {};
  const services: Record<string, Service> = {};
  const start = async (name: string, config: object): Promise<string> => {
    const service = await application.service(name, { trustKey, url: anyPort, ...config });
    configurations[name] = { ...config, url: service.url };
    services[name] = service;
    return service.url;
  };

  beforeAll(async () => {
    buildPackage();
    application = await createStock();
    const segments = ["stock"];
    const [repository, gateway, standalone] = await Promise.all([
      start("repository", { mode: "repository" }),
      start("gateway", { mode: "gateway" }),
      start("standalone", { mode: "standalone", segments }),
    ]);
    const node = await start("node", { mode: "node", gateway, repository, segments });
    const proxy = { mode: "proxy", repository };
    await Promise.all([
      start("proxy to gateway", { ...proxy, gateway }),
      start("proxy to node", { ...proxy, node }),
      start("proxy to standalone", { ...proxy, node: standalone }),
    ]);
  }, 60_000);
  afterAll(() => application.remove());

  it.each([
    ["repository", ["proxy to gateway", "proxy to node", "proxy to standalone"]],
    ["gateway", ["proxy to gateway", "node"]],
    ["node", ["proxy to node"]],
    ["standalone", ["proxy to standalone"]],
  ])(
    "all links to a %s that was killed are back within 2 s after it listens (handshake-3)",
    { timeout: 30_000 },
    async (role, dialers) => {
      const { url, command } = services[role]!;
      const strangers = new Strangers(url);
      try {
        await vi.waitFor(() => expect(strangers.open).toBe(600), { timeout: 5_000 });
        await command.ended("SIGKILL");
        await vi.waitFor(() => expect(strangers.open).toBe(0), { timeout: 5_000 });
        strangers.forget();
        const back = dialers.map(
          async (name) => await saysAgain(services[name]!, `linked to ${url} again`),
        );
        if (role === "gateway")
          back.push(saysAgain(services["node"]!, `joined the gateway at ${url}`));
        await start(role, configurations[role]!);
        const last = Math.max(...(await Promise.all(back)));
        // Links may be back before the first stranger has a connection.
        await vi.waitFor(() => expect(strangers.open).toBe(600), { timeout: 5_000 });
        expect(last - strangers.listening).toBeLessThan(2_000);
      } finally {
        strangers.stop();
      }
    },
  );
});
