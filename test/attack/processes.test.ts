import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Application, buildPackage, createApplication } from "../process/_application.ts";

let application: Application;
const address = /standalone at (http:\S+)/;

beforeAll(async () => {
  buildPackage();
  application = await createApplication();
  await application.put(
    "src/slow.ts",
    `const open = setInterval(() => {}, 1_000); // as a pool of connections would
export async function slow(ms: number): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return open.hasRef() ? "done" : "closed";
}
`,
  );
  await application.put("slow.segment.json", { "./slow": { slow: { access: "public" } } });
  await application.put("seamline.json", { mode: "standalone", url: "http://127.0.0.1:0" });
  expect(await application.seamline(["build"]).ended()).toBe(0);
}, 60_000);
afterAll(() => application.remove());

describe("a signal to a service (R2)", () => {
  it(
    "ends the process whatever the application holds open, once the calls under way have their answers",
    { timeout: 30_000 },
    async () => {
      const command = application.seamline(["start"]);
      const [, url] = await command.says(address);
      const call = fetch(`${url}/rpc/slow?ms=600`).then((answer) => answer.text());
      // The call has begun when a second one, sent after it, has been answered.
      await fetch(`${url}/rpc/slow?ms=1`);
      const begun = performance.now();
      expect(await command.ended("SIGTERM")).toBe(0);
      expect(performance.now() - begun).toBeLessThan(9_000);
      expect(await call).toBe("done");
    },
  );
});
