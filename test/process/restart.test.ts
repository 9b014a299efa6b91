// How soon nodes can be called again after their gateway was killed and restarted, as real processes.

import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Application, buildPackage, type Command, createApplication } from "./_application.ts";

let application: Application;
beforeAll(() => buildPackage());
afterEach(() => application.remove());

async function service(name: string, config: object): Promise<{ url: string; command: Command }> {
  await application.put(`${name}.json`, config);
  const command = application.seamline(["start", "--config", `${name}.json`]);
  const [, url = ""] = await command.says(/ at (http:\/\/127\.0\.0\.1:\d+)/);
  return { url, command };
}

/** Returns the milliseconds until a call answers 200. */
async function untilAnswered(url: string): Promise<number> {
  const begun = performance.now();
  for (;;) {
    const status = await fetch(url).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return performance.now() - begun;
    // 0: nothing listens yet; 503: it is starting; 404: no node has joined yet.
    expect([0, 404, 503]).toContain(status);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("a gateway that is killed and restarted", () => {
  it(
    "has all its nodes back within 2 s without help (joining-5)",
    { timeout: 60_000 },
    async () => {
      application = await createApplication();
      const any = "http://127.0.0.1:0";
      for (const name of ["one", "two"]) {
        await application.put(
          `src/${name}.ts`,
          `export async function ${name}() { return "${name}"; }\n`,
        );
        await application.put(`${name}.segment.json`, {
          [`./${name}`]: { [name]: { access: "public" } },
        });
      }
      const repository = await service("repository", { mode: "repository", url: any });
      const gateway = await service("gateway", { mode: "gateway", url: any });
      for (const name of ["one", "two"])
        await service(`node-${name}`, {
          mode: "node",
          url: any,
          gateway: gateway.url,
          repository: repository.url,
          segments: [name],
        });
      const calls = ["one", "two"].map((name) => `${gateway.url}/rpc/${name}`);
      await Promise.all(calls.map(untilAnswered));

      for (const away of [0, 1500]) {
        await gateway.command.ended("SIGKILL");
        await new Promise((resolve) => setTimeout(resolve, away));
        gateway.command = (await service("gateway", { mode: "gateway", url: gateway.url })).command;
        expect(
          Math.max(...(await Promise.all(calls.map(untilAnswered)))),
          `away for ${away} ms`,
        ).toBeLessThan(2000);
      }
    },
  );
});
