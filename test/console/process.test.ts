import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Application, buildPackage, createApplication } from "../process/_application.ts";

const address = /^(?:standalone|gateway|node|repository) at (http:\/\/127\.0\.0\.1:\d+)/m;
const link =
  /^console at (http:\/\/127\.0\.0\.1:\d+)\/svc\/console#token=([0-9a-f]{64}) \(once, within 10 minutes\)$/m;

beforeAll(buildPackage, 120_000);

let application: Application;
beforeEach(async () => {
  application = await createApplication();
  await application.put(
    "src/greet.ts",
    "export async function greet(name: string) {\n  return `Hello ${name}!`;\n}\n",
  );
  await application.put("src/index.html", "<!doctype html><title>Greeting</title>");
  await application.put("greet.segment.json", { "./greet": { greet: { access: "public" } } });
  await application.put("seamline.json", {
    mode: "standalone",
    url: "http://127.0.0.1:0",
    console: "${CONSOLE:-false}",
    log: "warn",
  });
});
afterEach(() => application.remove());

/** Yields the messages of the stream. */
async function* messagesOf(answer: Response): AsyncGenerator<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of answer.body!) {
    text += decoder.decode(chunk, { stream: true });
    const all = text.split("\n\n");
    text = all.pop() ?? "";
    yield* all;
  }
}

describe("the console of a process", () => {
  for (const [how, words, env] of [
    ["--console", ["start", "--console"], {}],
    ["the configuration", ["start"], { CONSOLE: "true" }],
  ] as const)
    it(`is turned on by ${how}, prints a link and streams calls`, { timeout: 60_000 }, async () => {
      const service = application.seamline(words, env);
      const [, url = "", token] = await service.says(link);
      const page = await fetch(`${url}/svc/console`);
      expect([
        page.status,
        page.headers.get("content-security-policy")?.startsWith("default-src 'none'"),
      ]).toEqual([200, true]);
      for (const [, path] of (await page.text()).matchAll(/(?:href|src)="(\/svc\/[^"]+)"/g))
        expect((await fetch(url + path)).status).toBe(200);
      const session = await fetch(`${url}/svc/console/session`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: url },
        body: JSON.stringify({ token }),
      });
      expect(session.status).toBe(204);
      const cookie = session.headers.get("set-cookie")?.split(";")[0] ?? "";
      const events = await fetch(`${url}/svc/console/events`, { headers: { cookie } });
      expect(events.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
      const seen: string[] = [];
      for await (const message of messagesOf(events)) {
        seen.push(message);
        if (message.startsWith("event: snapshot"))
          expect(await (await fetch(`${url}/rpc/greet?name=Ada`)).text()).toBe("Hello Ada!");
        if (message.includes('"fqn":"greet"') && message.startsWith("event: change")) break;
      }
      expect(seen[0]).toBe("retry: 1000");
      // An open stream doesn't delay the stop.
      const again = await fetch(`${url}/svc/console/events`, { headers: { cookie } });
      const reading = again.text();
      const began = performance.now();
      expect(await service.ended("SIGTERM")).toBe(0);
      expect(performance.now() - began).toBeLessThan(5_000);
      expect(await reading).toContain("event: snapshot");
    });

  it("is off by default and answers 404 at all paths", { timeout: 60_000 }, async () => {
    await application.put("seamline.json", { mode: "standalone", url: "http://127.0.0.1:0" });
    const service = application.seamline(["start"]);
    const [, url = ""] = await service.says(address);
    for (const path of [
      "/svc/console",
      "/svc/console/",
      "/svc/console/console.js",
      "/svc/console/state",
      "/svc/nothing",
    ])
      expect((await fetch(url + path)).status).toBe(404);
    expect(service.output()).not.toContain("console");
    expect(await service.ended("SIGTERM")).toBe(0);
  });
});
