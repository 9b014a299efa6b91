import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Application, buildPackage, createApplication } from "../process/_application.ts";

let application: Application;
const address = /standalone at (http:\S+)/;

beforeAll(async () => {
  buildPackage();
  application = await createApplication();
  await application.put(
    "src/slow.ts",
    `let begun = 0;
const open = setInterval(() => {}, 1_000); // as a pool of connections would
export async function slow(ms: number): Promise<string> {
  begun++;
  await new Promise((resolve) => setTimeout(resolve, ms));
  return open.hasRef() ? "done" : "closed";
}
export async function count(): Promise<number> {
  return begun;
}
`,
  );
  await application.put("slow.segment.json", {
    "./slow": { slow: { access: "public" }, count: { access: "public" } },
  });
  await application.put("seamline.json", { mode: "standalone", url: "http://127.0.0.1:0" });
  expect(await application.seamline(["build"]).ended()).toBe(0);
}, 60_000);
afterAll(() => application.remove());

describe("a signal to a service", () => {
  it(
    "ends the process once running calls are answered, whatever the application keeps open",
    { timeout: 60_000 },
    async () => {
      const command = application.seamline(["start"]);
      const [, url] = await command.says(address);
      const call = fetch(`${url}/rpc/slow?ms=600`).then((answer) => answer.text());
      await expect
        .poll(async () => await (await fetch(`${url}/rpc/count`)).text(), { timeout: 10_000 })
        .toBe("1");
      const stoppedAt = performance.now();
      expect(await command.ended("SIGTERM")).toBe(0);
      expect(performance.now() - stoppedAt).toBeLessThan(9_000);
      expect(await call).toBe("done");
    },
  );
});
