// A build without the console's folder: it has no console, says so once, and does all the rest.

import { expect, it, onTestFinished, vi } from "vitest";

import { startServer } from "../server/start/start-server.ts";
import { key, TestLog } from "./_cluster.ts";
import { develop, shop } from "./dev/_session.ts";

vi.mock("../server/console/load-console.ts", async (importOriginal) => {
  const { loadConsole } =
    await importOriginal<typeof import("../server/console/load-console.ts")>();
  return {
    loadConsole: async (log: Parameters<typeof loadConsole>[0]) => await loadConsole(log, []),
  };
});

const line = "This build of Seamline has no console";

it("a gateway whose configuration turns the console on starts without one, and says so in one line", async () => {
  const log = new TestLog();
  const server = await startServer(undefined, {
    config: { mode: "gateway", url: "http://127.0.0.1:0", trustKey: key, console: true },
    log,
    signals: false,
  });
  onTestFinished(() => server.stop());
  expect(log.lines.filter((logged) => logged.includes("console"))).toEqual([`warning: ${line}`]);
  expect(server.consoleLink()).toBeUndefined();
  const headers = { "x-svc-trust-key": key };
  const statusOf = async (path: string) => (await fetch(server.url + path, { headers })).status;
  expect(await statusOf("/health")).toBe(200);
  expect(await statusOf("/svc/console")).toBe(404);
  expect(await statusOf("/svc/console/state")).toBe(404);
});

it("development runs without a console, and says so in one line", async () => {
  // A gateway with middleware is replaced at a move.
  const running = await develop({
    ...shop,
    "src/layer.ts":
      "export default { handle: async (...call: [...unknown[], () => Promise<unknown>]) => await (call.at(-1) as () => Promise<unknown>)() };\n",
    "seamline.json": JSON.stringify({
      mode: "standalone",
      url: "http://127.0.0.1:0",
      middleware: ["./src/layer.ts"],
    }),
  });
  expect(running.session.consoleUrl()).toBeUndefined();
  expect(await running.get("/rpc/shop/quote?sku=linen")).toMatchObject({ status: 200 });
  await running.session.move("shop/quote", "store");
  await running.nextEvent("moved");
  expect(await running.get("/rpc/shop/quote?sku=linen")).toMatchObject({ status: 200 });
  expect(running.logged.filter((logged) => logged.includes("console"))).toEqual([
    `warning: ${line}`,
  ]);
});
