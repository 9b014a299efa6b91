// Services whose event loop stood still, and services that crash, as real processes.

import { Agent } from "node:http";
import { connect } from "node:net";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  anyPort,
  type Application,
  buildPackage,
  createApplication,
  type Service,
} from "./_application.ts";
import { send } from "./_load.ts";

let application: Application;
beforeAll(async () => {
  buildPackage();
  application = await createApplication();
  await application.publish("shop", source, ["note", "spin", "reject", "fill"]);
  expect(await application.seamline(["build"]).ended()).toBe(0);
}, 60_000);
afterAll(() => application.remove());

const source = `
export async function note(text: string): Promise<string> { console.log("ran " + text); return text; }
export async function spin(ms: number): Promise<string> {
  console.log("spins");
  for (const end = performance.now() + ms; performance.now() < end;);
  return "spun";
}
export async function reject(): Promise<string> {
  void Promise.reject(new RangeError("nobody awaits this"));
  return "rejected";
}
export async function fill(): Promise<number> {
  const kept: number[][] = [];
  for (;;) kept.push(new Array(100_000).fill(kept.length));
}
`;

let count = 0;

const standalone = (env: Readonly<Record<string, string>> = {}): Promise<Service> =>
  application.service(
    `standalone-${count++}`,
    { mode: "standalone", url: anyPort },
    ["--no-build"],
    env,
  );

/** Sends a call, and leaves before there is an answer. */
async function leave({ url }: Service, text: string): Promise<void> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {});
  await once(socket, "connect");
  await new Promise<unknown>((sent) =>
    socket.write(`GET /rpc/note?text=${text} HTTP/1.1\r\nhost: localhost\r\n\r\n`, sent),
  );
  socket.destroy();
}

describe.skipIf(process.platform === "win32")("a service that stood still", () => {
  it(
    "doesn't run calls whose callers have left, runs the others, and logs once for how long it was stopped",
    { timeout: 60_000 },
    async () => {
      const service = await standalone();
      const { url, command } = service;
      const kept = new Agent({ keepAlive: true, maxSockets: 1 });
      await send(`${url}/rpc/note?text=before`, kept);
      command.child.kill("SIGSTOP");
      const waiting = [
        send(`${url}/rpc/note?text=waits`, kept),
        ...Array.from({ length: 4 }, () => send(`${url}/rpc/note?text=waits`, new Agent())),
      ];
      await Promise.all(Array.from({ length: 20 }, () => leave(service, "gone")));
      await pause(2_000);
      command.child.kill("SIGCONT");
      const answers = await Promise.all(waiting);
      expect(answers.map(({ status, text }) => `${status} ${text}`)).toEqual(
        Array<string>(5).fill("200 waits"),
      );
      await command.says(
        /^warning: the event loop was blocked for \d\.\d s, and nothing was answered; this process computed for 0\.\d s of that time$/m,
      );
      await send(`${url}/rpc/note?text=after`, kept);
      const ran = command.output().match(/^ran \w+$/gm) ?? [];
      expect(ran).toEqual(["ran before", ...Array<string>(5).fill("ran waits"), "ran after"]);
      expect(command.output().match(/event loop/g)).toHaveLength(1);
    },
  );

  it(
    "behind a gateway doesn't run calls whose callers have left either",
    { timeout: 60_000 },
    async () => {
      const start = async (name: string, config: object): Promise<Service> =>
        await application.service(name, { url: anyPort, ...config });
      const [repository, gateway] = await Promise.all([
        start("stood-repository", { mode: "repository" }),
        start("stood-gateway", { mode: "gateway" }),
      ]);
      const node = await start("stood-node", {
        mode: "node",
        segments: ["shop"],
        gateway: gateway.url,
        repository: repository.url,
      });
      const { command } = node;
      expect((await send(`${gateway.url}/rpc/note?text=before`)).text).toBe("before");
      command.child.kill("SIGSTOP");
      const waiting = send(`${gateway.url}/rpc/note?text=waits`);
      await Promise.all(Array.from({ length: 20 }, () => leave(gateway, "gone")));
      await pause(1_000);
      command.child.kill("SIGCONT");
      expect((await waiting).text).toBe("waits");
      expect((await send(`${gateway.url}/rpc/note?text=after`)).text).toBe("after");
      await command.says(/^ran after$/m);
      const ran = command.output().match(/^ran \w+$/gm) ?? [];
      expect(ran).toEqual(["ran before", "ran waits", "ran after"]);
    },
  );

  it(
    "because a procedure computed without a pause doesn't run such calls either, and logs that it computed",
    { timeout: 60_000 },
    async () => {
      const service = await standalone();
      const { url, command } = service;
      const spinning = send(`${url}/rpc/spin?ms=2000`);
      // The following is sent while it spins.
      await command.says(/^spins$/m);
      await Promise.all(Array.from({ length: 5 }, () => leave(service, "gone")));
      const waiting = send(`${url}/rpc/note?text=waits`, new Agent());
      expect((await spinning).text).toBe("spun");
      expect((await waiting).text).toBe("waits");
      const [, computed] = await command.says(
        /^warning: the event loop was blocked for .* this process computed for (\d\.\d) s of that time$/m,
      );
      // On a busy machine it has only a share of the time.
      expect(Number(computed)).toBeGreaterThanOrEqual(0.2);
      expect(command.output()).not.toContain("ran gone");
    },
  );
});

describe("a service with a mistake around a procedure", () => {
  it(
    "that rejects a promise which nobody awaits logs it with its stack, and goes on",
    { timeout: 60_000 },
    async () => {
      const { url, command } = await standalone();
      expect((await send(`${url}/rpc/reject`)).text).toBe("rejected");
      await command.says(
        /^error: unhandled rejection in \[reject \| v0\.0\.0\]: an await is missing\n {2}RangeError: nobody awaits this\n {6}at .*shop\.ts:9/m,
      );
      expect((await send(`${url}/rpc/note?text=on`)).text).toBe("on");
    },
  );

  it(
    "that fills the memory ends with what V8 says, and not with exit code 0",
    { timeout: 60_000 },
    async () => {
      const { url, command } = await standalone({ NODE_OPTIONS: "--max-old-space-size=48" });
      expect((await send(`${url}/rpc/fill`)).status).toBe(0);
      const end = await command.ended();
      expect(["SIGABRT", "SIGTRAP", 134]).toContain(end);
      expect(command.output()).toMatch(/JavaScript heap out of memory/);
    },
  );
});
