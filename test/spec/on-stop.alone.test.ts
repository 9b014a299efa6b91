import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { onStop } from "../../server/host/stops.ts";
import { buildPackage, createApplication } from "../process/_application.ts";
import { anyPort, builtOnce, start } from "./_started.ts";

/** The actions of the application's modules, in order. */
const done: string[] = [];
Reflect.set(globalThis, "on-stop done", done);
/** Called by a procedure that runs. */
let onCall = (): void => {};
Reflect.set(globalThis, "on-stop called", () => onCall());

const config = { mode: "standalone", url: anyPort, middleware: ["./src/layer.ts"] };
const files = {
  "seamline.json": JSON.stringify(config),
  "src/shop/pool.ts": `import { onStop } from "seamline";
export const done = (globalThis as never as Record<string, string[]>)["on-stop done"]!;
onStop(() => void done.push("pool closes"));
`,
  "src/shop/shop.ts": `import { onStop } from "seamline";
import { done } from "./pool.ts";

onStop(async () => {
  await new Promise((later) => setTimeout(later, 20));
  done.push("shop closes");
});
export async function slow(): Promise<string> {
  onStop(() => {
    done.push("slow closes");
    throw new Error("can't close");
  });
  (globalThis as never as Record<string, () => void>)["on-stop called"]!();
  await new Promise((later) => setTimeout(later, 200));
  done.push("slow ends");
  return "slow";
}
export async function hang(): Promise<string> {
  onStop(() => new Promise(() => {}));
  return "hangs";
}
`,
  "src/layer.ts": `import { onStop } from "seamline";
import { done } from "./shop/pool.ts";
onStop(() => void done.push("layer closes"));
export default { handle: (_1: string, _2: unknown, _3: unknown, _4: unknown, next: () => unknown) => next() };
`,
  "shop.segment.json": JSON.stringify({
    "./shop/shop": { slow: { access: "public" }, hang: { access: "public" } },
  }),
};

describe("onStop", () => {
  const application = builtOnce(files);

  it("on-stop-1: callbacks run when the service ends, after the last call, in reverse order and one by one; one that throws is logged", async () => {
    done.length = 0;
    const server = await start(application, config);
    const called = new Promise<void>((resolve) => (onCall = resolve));
    const call = fetch(`${server.url}/rpc/shop/slow`);
    await called;
    onStop(() => void done.push("main closes"));
    await server.stop();
    expect(await (await call).text()).toBe("slow");
    expect(done).toEqual([
      "slow ends",
      "main closes",
      "slow closes",
      "shop closes",
      "layer closes",
      "pool closes",
    ]);
    expect(server.lines.join("\n")).toContain("a callback of onStop failed");
  });

  it("on-stop-2: all callbacks together have 3 s, and then the service ends without the rest", async () => {
    done.length = 0;
    const server = await start(application, config);
    await (await fetch(`${server.url}/rpc/shop/hang`)).text();
    const begin = performance.now();
    await server.stop();
    expect(performance.now() - begin).toBeLessThan(6_000);
    expect(server.lines.join("\n")).toContain(
      "onStop: a callback didn't end in 3 s, so 3 more didn't run",
    );
    expect(done).toEqual([]);
  });

  it("on-stop-3: outside of a service, onStop throws and says where it can be called", () => {
    expect(() => onStop(() => {})).toThrow(
      "onStop belongs to a service: call it in a module of the application, or after startServer(…)",
    );
    expect(() => onStop("close" as never)).toThrow(new TypeError("onStop takes a function"));
  });
});

describe("seamline start --env-file", () => {
  it("on-stop-4: `start --env-file FILE` loads variables as Node does: those that are set stay; a file that doesn't exist ends the start", async () => {
    buildPackage();
    const application = await createApplication();
    try {
      await application.put("gateway.json", {
        mode: "gateway",
        url: anyPort,
        trustKey: "${THE_KEY}",
        log: "${THE_LEVEL}",
      });
      writeFileSync(
        join(application.root, ".env"),
        "THE_KEY=a-key-from-the-file\nTHE_LEVEL=none\n",
      );
      mkdirSync(join(application.root, "deeper"));
      const words = ["start", "--config", "gateway.json", "--env-file"];
      const started = application.seamline([...words, ".env"], { THE_LEVEL: "info" });
      await started.says(/gateway at http/);
      expect(await started.ended("SIGTERM")).toBe(0);
      const failed = application.seamline([...words, "none.env"]);
      // Node 20 reads the option itself, wherever it stands.
      expect(await failed.ended()).not.toBe(0);
      expect(failed.output()).toContain("none.env");
    } finally {
      await application.remove();
    }
  });
});
