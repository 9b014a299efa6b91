// Services that are told to stop while calls come and run, as real processes.

import { mkdir, symlink } from "node:fs/promises";
import { Agent } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  anyPort,
  type Application,
  buildPackage,
  createApplication,
  launch,
  type Service,
} from "./_application.ts";
import { send, startLoad } from "./_load.ts";

let application: Application;
let repository: Service;
beforeAll(async () => {
  buildPackage();
  application = await createApplication();
  await application.publish("shop", source, ["quick", "slow", "endless", "hang"]);
  repository = await application.service("repository", { mode: "repository", url: anyPort });
}, 60_000);
afterAll(() => application.remove());

const source = `
import { onStop } from "seamline";
export async function quick(): Promise<string> { return "quick"; }
export async function slow(ms: number): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return "slow";
}
export async function hang(): Promise<string> {
  onStop(() => console.log("closes"));
  onStop(() => new Promise(() => setTimeout(() => {}, 60_000)));
  return "hangs";
}
export async function endless(this: import("seamline").Context): Promise<string> {
  console.log("running");
  return await new Promise((_, reject) => {
    this.signal.addEventListener("abort", () => {
      console.log("aborted: " + this.signal.reason.message);
      reject(new Error("given up"));
    });
  });
}
`;

const node = (name: string, gateway: string): Promise<Service> =>
  application.service(name, {
    mode: "node",
    url: anyPort,
    gateway,
    repository: repository.url,
    segments: ["shop"],
  });

// Most of the time they wait for services to start and to stop.
vi.setConfig({ maxConcurrency: 3 });

describe.concurrent("SIGTERM under load", () => {
  it(
    "of three nodes, one after the other, fails no call, and each exits with 0",
    { timeout: 120_000 },
    async () => {
      const gateway = await application.service("gateway", { mode: "gateway", url: anyPort });
      const common = { gateway: gateway.url, repository: repository.url };
      const [proxy, ...nodes] = await Promise.all([
        application.service("proxy", { mode: "proxy", url: anyPort, ...common }),
        ...["one", "two", "three"].map((name) => node(name, gateway.url)),
      ]);
      const load = startLoad(
        [`${gateway.url}/rpc/quick`, `${proxy.url}/rpc/quick`, `${proxy.url}/rpc/slow?ms=300`],
        8,
      );
      await load.more(50);
      for (const [index, { command }] of nodes.entries()) {
        const [code] = await Promise.all([
          command.ended("SIGTERM"),
          node(`next-${index}`, gateway.url),
        ]);
        expect(code, command.output()).toBe(0);
      }
      await load.more(50);
      await load.end();
      expect([...load.answers.keys()].toSorted()).toEqual(["200 quick", "200 slow"]);
    },
  );

  it(
    "of a gateway loses no call that it has accepted, and a proxy answers 503 with retry-after until the next one listens",
    { timeout: 120_000 },
    async () => {
      const gateway = await application.service("old", { mode: "gateway", url: anyPort });
      const common = { gateway: gateway.url, repository: repository.url };
      const [proxy] = await Promise.all([
        application.service("proxy-2", { mode: "proxy", url: anyPort, ...common }),
        node("member", gateway.url),
      ]);
      const slow = Promise.all([proxy, gateway].map(({ url }) => send(`${url}/rpc/slow?ms=2500`)));
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const quick = `${gateway.url}/rpc/quick`;
      expect((await send(quick, agent)).headers).toMatchObject({ connection: "keep-alive" });
      const ended = gateway.command.ended("SIGTERM");
      // Until nothing accepts a connection.
      for (;;) {
        const probe = await send(`${gateway.url}/health/ready`);
        const answer = await send(quick, agent);
        if (answer.status === 0) break;
        if (answer.status === 200) expect(answer.text).toBe("quick");
        else {
          expect(probe.status).not.toBe(200);
          expect(answer).toMatchObject({
            status: 503,
            headers: { "x-svc-not-started": "leaving", "retry-after": "1" },
          });
        }
        if (probe.status !== 200) expect(answer.headers.connection).toBe("close");
        await pause(10);
      }
      const refused = await send(`${proxy.url}/rpc/quick`);
      expect(refused).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
      // It listens while the old one finishes its calls.
      await application.service("new", { mode: "gateway", url: gateway.url });
      expect((await slow).map(({ status, text }) => `${status} ${text}`)).toEqual([
        "200 slow",
        "200 slow",
      ]);
      expect(await ended).toBe(0);
      for (;;) {
        const { status, headers } = await send(`${proxy.url}/rpc/quick`);
        if (status === 200) break;
        expect([status, headers["retry-after"]]).toEqual([503, "1"]);
        await pause(20);
      }
    },
  );
});

describe("a service that npm has started", () => {
  it.each([
    ["npx", ["npx", "seamline", "start", "--config", "by-npm.json"]],
    ["a script", ["npm", "run", "gateway"]],
  ])("stops when npm gets SIGTERM: by %s", async (_, words) => {
    const { root } = application;
    await application.put("by-npm.json", { mode: "gateway", url: anyPort });
    const scripts = { gateway: "seamline start --config by-npm.json" };
    await application.put("package.json", { type: "module", private: true, scripts });
    await mkdir(join(root, "node_modules/.bin"), { recursive: true });
    const bin = join(root, "node_modules/.bin/seamline");
    await symlink("../seamline/dist/cli.js", bin).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    const npm = launch(words, root, { HOME: root, npm_config_cache: join(root, ".npm") });
    const [, url = ""] = await npm.says(/gateway at (http:\S+)/);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    // The outputs of npm close when no process has them open any more.
    await npm.ended("SIGTERM");
    expect(npm.output()).toContain("SIGTERM: this service stops");
    await expect(fetch(`${url}/health`)).rejects.toThrow("fetch failed");
  });
});

describe.concurrent("a service that is told to stop while a call has no end", () => {
  const standalone = async (name: string, more: object) => {
    const started = await application.service(name, { mode: "standalone", url: anyPort, ...more });
    const call = send(`${started.url}/rpc/endless`, new Agent());
    await started.command.says(/^running$/m);
    return { ...started, call };
  };

  it(
    "cuts it drainMs after the signal: its signal is aborted, its caller gets 503, and the service exits with 0",
    { timeout: 60_000 },
    async () => {
      const { command, call } = await standalone("cut", { drainMs: 1_200 });
      expect(await command.ended("SIGTERM")).toBe(0);
      expect(await call).toMatchObject({
        status: 503,
        text: "This service stopped before the request ended",
        headers: { "x-svc-error": "NodeNotAvailable", "retry-after": "1" },
      });
      expect(command.output()).toContain(
        "SIGTERM: this service stops; calls that still run in 1.2 s are cut\n",
      );
      expect(command.output()).toMatch(/^aborted: This service stopped before the request ended$/m);
      expect(command.output()).toContain("warning: cut a request that was still running\n");
    },
  );

  it(
    "says what onStop didn't get done, however short drainMs is",
    { timeout: 60_000 },
    async () => {
      const { command, url } = await standalone("hanging", { drainMs: 200 });
      expect((await send(`${url}/rpc/hang`)).text).toBe("hangs");
      expect(await command.ended("SIGTERM")).toBe(0);
      expect(command.output()).toContain(
        "warning: onStop: a callback didn't end in 3 s, so 1 more didn't run\n",
      );
      expect(command.output()).not.toMatch(/^closes$/m);
    },
  );

  it(
    "ends at once at a second signal, with the exit code of that signal",
    { timeout: 60_000 },
    async () => {
      const { command, call } = await standalone("twice", { drainMs: 3_600_000 });
      command.child.kill("SIGTERM");
      // A repetition within a moment is an echo of the first.
      command.child.kill("SIGTERM");
      await pause(1_000);
      expect(command.child.exitCode).toBeNull();
      expect(await command.ended("SIGINT")).toBe(130);
      expect(command.output()).toContain("SIGINT came again: this service ends at once");
      expect((await call).status).toBe(0);
    },
  );
});
