// How soon nodes can be called again after their gateway was killed and restarted, as real processes.

import { afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  anyPort,
  type Application,
  buildPackage,
  createApplication,
  type Service,
} from "./_application.ts";

let application: Application;
beforeAll(() => buildPackage());
afterEach(() => application.remove());

/** Returns the milliseconds until a call answers 200. */
async function untilAnswered(url: string): Promise<number> {
  const begun = performance.now();
  for (;;) {
    const status = await fetch(url).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return performance.now() - begun;
    // 0: nothing listens yet; 503: it is starting, or no node has joined yet.
    expect([0, 503]).toContain(status);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe("a gateway that is killed and restarted", () => {
  it(
    "has all its nodes back within 2 s without help (joining-4)",
    { timeout: 60_000 },
    async () => {
      application = await createApplication();
      for (const name of ["one", "two"])
        await application.publish(name, `export async function ${name}() { return "${name}"; }\n`, [
          name,
        ]);
      const repository = await application.service("repository", {
        mode: "repository",
        url: anyPort,
      });
      const gateway = (at: string): Promise<Service> =>
        application.service("gateway", { mode: "gateway", url: at });
      const first = await gateway(anyPort);
      const { url } = first;
      for (const name of ["one", "two"])
        await application.service(`node-${name}`, {
          mode: "node",
          url: anyPort,
          gateway: url,
          repository: repository.url,
          segments: [name],
        });
      const calls = ["one", "two"].map((name) => `${url}/rpc/${name}`);
      await Promise.all(calls.map(untilAnswered));

      let { command } = first;
      for (const away of [0, 1500]) {
        await command.ended("SIGKILL");
        await new Promise((resolve) => setTimeout(resolve, away));
        ({ command } = await gateway(url));
        expect(
          Math.max(...(await Promise.all(calls.map(untilAnswered)))),
          `away for ${away} ms`,
        ).toBeLessThan(2000);
      }
    },
  );
});
