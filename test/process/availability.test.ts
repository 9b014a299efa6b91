// Services that stop, crash, wait or run out of files, as real processes.

import { once } from "node:events";
import { Agent, request } from "node:http";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, type ExpectStatic, type TestContext, vi } from "vitest";
import { freePort } from "../_free-port.ts";
import {
  anyPort,
  type Application,
  buildPackage,
  createApplication,
  inApplication,
  launch,
  type Service,
} from "./_application.ts";

beforeAll(() => buildPackage());
vi.setConfig({ maxConcurrency: 3 });
const it = inApplication(async () => {
  const application = await createApplication();
  await application.put("index.html", "<!doctype html><title>Shop</title>");
  await application.publish("shop", source, [
    "quick",
    "slow",
    "slowCalls",
    "crash",
    "crashTwice",
    "crashIn",
  ]);
  return application;
});

const source = `
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
export async function quick(): Promise<string> { return "quick"; }
let calls = 0;
export async function slow(ms: number): Promise<string> { calls++; await pause(ms); return "slow"; }
export async function slowCalls(): Promise<number> { return calls; }
export async function crash(): Promise<string> { setTimeout(() => { throw new RangeError("in a timer"); }, 50); return "armed"; }
export async function crashIn(ms: number): Promise<string> { setTimeout(() => { throw new RangeError("in a timer"); }, ms); return "armed"; }
export async function crashTwice(): Promise<string> {
  setTimeout(() => { throw new RangeError("the first"); }, 50);
  setTimeout(() => { throw new RangeError("the second"); }, 150);
  return "armed";
}
`;

async function deployment(
  application: Application,
): Promise<Record<"repository" | "gateway" | "node" | "proxy", Service>> {
  const repository = await application.service("repository", { mode: "repository", url: anyPort });
  const gateway = await application.service("gateway", { mode: "gateway", url: anyPort });
  const common = { gateway: gateway.url, repository: repository.url };
  const node = await application.service("node", {
    mode: "node",
    url: anyPort,
    ...common,
    segments: ["shop"],
  });
  const proxy = await application.service("proxy", { mode: "proxy", url: anyPort, ...common });
  return { repository, gateway, node, proxy };
}

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
  readonly connection: string | undefined;
}

/** Sends a request on a keep-alive connection, as load balancers do. */
const agent = new Agent({ keepAlive: true });
function get(url: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(url, { agent }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      answer.once("end", () =>
        resolve({ status: answer.statusCode, text, connection: answer.headers.connection }),
      );
    })
      .once("error", reject)
      .end();
  });
}

/** Calls a procedure that takes `ms`, and resolves to its answer's promise once it runs. */
async function slowCall(
  expect: ExpectStatic,
  url: string,
  ms: number,
): Promise<{ readonly answer: Promise<unknown> }> {
  const answer = get(`${url}/rpc/slow?ms=${ms}`).catch((error: unknown) => error);
  await expect
    .poll(async () => (await get(`${url}/rpc/slowCalls`)).text, { timeout: 20_000 })
    .toBe("1");
  return { answer };
}

/** Collects a service's answers until it accepts no more connections. */
async function untilClosed(
  url: string,
  path: string,
): Promise<{ ready: readonly (number | undefined)[]; calls: readonly Answer[] }> {
  const ready: (number | undefined)[] = [];
  const calls: Answer[] = [];
  for (;;) {
    const call = await get(url + path).catch(() => undefined);
    const probe = await get(`${url}/health/ready`).catch(() => undefined);
    if (call === undefined || probe === undefined) return { ready, calls };
    ready.push(probe.status);
    calls.push(call);
  }
}

/** Starts a server that accepts connections and never answers, like a stopped process. */
async function silence(onTestFinished: TestContext["onTestFinished"]): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

describe.concurrent("a node that waits for its repository", () => {
  it("is live but not ready, and refuses calls, even if the build has a health check for it", async ({
    application,
    onTestFinished,
  }) => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const healthChecks = { disk: "./src/disk.ts" };
    await application.put("node.json", {
      mode: "node",
      url,
      repository: await silence(onTestFinished),
      segments: ["shop"],
      healthChecks,
    });
    const command = application.seamline(["start", "--config", "node.json"]);
    for (;;) {
      const live = await get(`${url}/health/live`).catch(() => undefined);
      if (live !== undefined) {
        expect(live.status).toBe(200);
        break;
      }
      if (command.child.exitCode !== null) expect.fail(command.output());
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect((await get(`${url}/health/ready`)).status).toBe(503);
    expect(await get(`${url}/health`)).toMatchObject({ status: 200, text: '{"disk":false}' });
    expect(await get(`${url}/rpc/quick`)).toMatchObject({
      status: 503,
      text: "This service is starting",
    });
    expect(await command.ended("SIGTERM")).toBe(0);
  });
});

describe.concurrent("SIGTERM", () => {
  it(
    "makes a proxy report that it isn't ready, serve for another second with connection: close, and exit with 0",
    { timeout: 60_000 },
    async ({ application, expect }) => {
      const { url, command } = (await deployment(application)).proxy;
      expect(await get(`${url}/rpc/quick`)).toMatchObject({
        status: 200,
        connection: "keep-alive",
      });
      const slow = await slowCall(expect, url, 1_500);
      const begun = performance.now();
      const ended = command.ended("SIGTERM");
      const { ready, calls } = await untilClosed(url, "/rpc/quick");
      expect(performance.now() - begun).toBeGreaterThan(1_000);
      expect(ready.at(-1)).toBe(503);
      // A call that comes when the second is over is refused.
      for (const { status, text } of calls)
        expect(["200 quick", "503 This service is stopping; try again"]).toContain(
          `${status} ${text}`,
        );
      expect(calls.at(-1)?.connection).toBe("close");
      expect(await slow.answer).toMatchObject({ status: 200, text: "slow" });
      expect(await ended).toBe(0);
    },
  );

  it.for(["standalone", "repository"] as const)(
    "makes a %s serve for another second",
    { timeout: 60_000 },
    async (mode, { application, expect }) => {
      const { url, command } = await application.service("service", { mode, url: anyPort });
      const begun = performance.now();
      const ended = command.ended("SIGTERM");
      const { ready, calls } = await untilClosed(url, "/");
      expect(performance.now() - begun).toBeGreaterThan(1_000);
      expect(ready.at(-1)).toBe(503);
      expect(calls.at(-1)).toMatchObject({ status: 200, connection: "close" });
      expect(await ended).toBe(0);
    },
  );
});

describe.concurrent("an uncaught exception", () => {
  const logged =
    /^error: uncaught exception(?: in \[crash \| v0\.0\.0\])?: this service stops\n {2}RangeError: in a timer$/m;

  it(
    "is logged, and the node leaves its gateway, finishes calls for a second and exits with 1",
    { timeout: 60_000 },
    async ({ application, expect }) => {
      const { gateway, node } = await deployment(application);
      const slow = await slowCall(expect, gateway.url, 300);
      await get(`${gateway.url}/rpc/crash`);
      const begun = performance.now();
      await gateway.command.says(/ left$/m);
      expect(await slow.answer).toMatchObject({ status: 200, text: "slow" });
      expect(await node.command.ended()).toBe(1);
      expect(performance.now() - begun).toBeLessThan(10_000);
      expect(node.command.output()).toMatch(logged);
    },
  );

  it(
    "makes a service exit with 1, even if a call would take longer: that one gets 503",
    { timeout: 60_000 },
    async ({ application, expect }) => {
      const { url, command } = await application.service("service", {
        mode: "standalone",
        url: anyPort,
      });
      const slow = await slowCall(expect, url, 20_000);
      await get(`${url}/rpc/crash`);
      const begun = performance.now();
      expect(await command.ended()).toBe(1);
      expect(performance.now() - begun).toBeLessThan(10_000);
      // It is cut with an answer, if there is time for one.
      expect(await slow.answer).toSatisfy(
        (answer: unknown) => answer instanceof Error || (answer as Answer).status === 503,
      );
    },
  );

  it(
    "is logged even if the service is already ending after another one",
    { timeout: 60_000 },
    async ({ application, expect }) => {
      const { url, command } = await application.service("service", {
        mode: "standalone",
        url: anyPort,
      });
      await get(`${url}/rpc/crashTwice`);
      expect(await command.ended()).toBe(1);
      for (const which of ["the first", "the second"])
        expect(command.output()).toContain(`RangeError: ${which}`);
    },
  );

  it(
    "during the start makes the service exit with 1",
    { timeout: 60_000 },
    async ({ application, expect }) => {
      await application.put(
        "src/shop.ts",
        `${source}\nawait new Promise(() => setTimeout(() => { throw new RangeError("in a timer"); }, 50));\n`,
      );
      await application.put("service.json", { mode: "standalone", url: anyPort });
      const command = application.seamline(["start", "--config", "service.json"]);
      expect(await command.ended()).toBe(1);
      expect(command.output()).toMatch(logged);
    },
  );

  it(
    "during the stop changes the exit code and doesn't delay the exit",
    { timeout: 60_000 },
    async ({ application, expect }) => {
      const { url, command } = await application.service("service", {
        mode: "standalone",
        url: anyPort,
      });
      const armed = await get(`${url}/rpc/crash`);
      expect(armed.text).toBe("armed");
      expect(await command.ended("SIGTERM")).toBe(1);
      expect(command.output()).toMatch(logged);
    },
  );

  it.for([200, 1_700])(
    "%s ms after a signal to stop cuts what runs with 503, instead of waiting for drainMs",
    { timeout: 60_000 },
    async (ms, { application, expect }) => {
      const { url, command } = await application.service("service", {
        mode: "standalone",
        url: anyPort,
      });
      const slow = await slowCall(expect, url, 20_000);
      await get(`${url}/rpc/crashIn?ms=${ms}`);
      const begun = performance.now();
      expect(await command.ended("SIGTERM")).toBe(1);
      expect(performance.now() - begun).toBeLessThan(ms + 2_500);
      expect(await slow.answer).toMatchObject({
        status: 503,
        text: "This service stopped before the request ended",
      });
    },
  );

  it(
    "is left to the application if options.signals is false",
    { timeout: 60_000 },
    async ({ application, expect }) => {
      await application.put(
        "main.mjs",
        `import { startServer } from "seamline/server";
       await startServer((one) => import(one), { config: { mode: "gateway", url: "${anyPort}" }, signals: false });
       process.on("uncaughtException", ({ message }) => { console.log("mine:", message); process.exit(7); });
       setTimeout(() => { throw new Error("own"); }, 20);`,
      );
      const command = launch(
        [process.execPath, join(application.root, "main.mjs")],
        application.root,
      );
      expect(await command.ended()).toBe(7);
      expect(command.output()).toContain("mine: own");
      expect(command.output()).not.toContain("nothing caught");
    },
  );
});

describe.skipIf(process.platform === "win32")(
  "a gateway with a low limit of open files",
  { concurrent: true },
  () => {
    it(
      "warns at its start, and keeps its links and the calls that it has taken when it can't open more",
      { timeout: 60_000 },
      async ({ application, expect, onTestFinished }) => {
        const repository = await application.service("repository", {
          mode: "repository",
          url: anyPort,
        });
        await application.put("gateway.json", {
          mode: "gateway",
          url: anyPort,
          healthIntervalMs: 300,
        });
        const cli = join(import.meta.dirname, "../../dist/cli.js");
        const words = `ulimit -n 64; exec "${process.execPath}" "${cli}" start --config gateway.json`;
        const command = launch(["/bin/sh", "-c", words], application.root);
        onTestFinished(async () => void (await command.ended("SIGKILL")));
        const [, gateway = ""] = await command.says(/^gateway at (http:\/\/127\.0\.0\.1:\d+)/m);
        expect(command.output()).toContain(
          "warning: this process may open 64 files, and limits.maxConnections is 10000",
        );
        const node = await application.service("node", {
          mode: "node",
          url: anyPort,
          gateway,
          repository: repository.url,
          segments: ["shop"],
        });
        expect((await get(`${gateway}/rpc/quick`)).text).toBe("quick");
        // A call takes a file for its caller, and none for the node.
        const calls = await Promise.all(
          Array.from({ length: 80 }, () =>
            get(`${gateway}/rpc/slow?ms=1500`).catch(() => ({ status: "cut" as const, text: "" })),
          ),
        );
        expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([200, "cut"]));
        expect((await get(`${gateway}/rpc/quick`)).text).toBe("quick");
        expect(command.output()).not.toMatch(/it gets no calls|unhealthy|lost/);
        expect(node.command.output()).not.toContain("lost");
      },
    );
  },
);
