// What a call costs in figures that no other work on the machine changes: promises, bytes that it
// allocates, and the share of them that survives a collection. They may only become fewer: whoever
// makes them fewer lowers the numbers here. Times are for `npm run bench`.

import { Agent, request } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Application, buildPackage, type Command, createStock } from "./_application.ts";

const most = {
  standalone: { promises: 8, bytes: 17_100, survival: 2 },
  gateway: { promises: 13, bytes: 31_900, survival: 2 },
};

let application: Application;
const agent = new Agent({ keepAlive: true, maxSockets: 8 });

beforeAll(async () => {
  buildPackage();
  application = await createStock();
});
afterAll(async () => {
  agent.destroy();
  await application?.remove();
});

interface Service {
  readonly url: string;
  readonly command: Command;
}

async function start(mode: string, config: object, count = ""): Promise<Service> {
  const key = mode === "standalone" ? {} : { trustKey: "the-trust-key-of-this-test-0123456789" };
  const name = `${mode}${count}.json`;
  await application.put(name, { mode, url: "http://127.0.0.1:0", ...key, ...config });
  const preload = pathToFileURL(join(import.meta.dirname, "_count.mjs")).href;
  const command = application.seamline(["start", "--no-build", "--config", name], {
    ...(count && { COUNT: count, NODE_OPTIONS: `--import ${preload}` }),
  });
  const [, url = ""] = await command.says(/^\w+ at (http:\/\/127\.0\.0\.1:\d+)/m);
  return { url, command };
}

/** The service whose costs count, and what it needs around it. */
async function deployed(kind: keyof typeof most, count: string): Promise<Service> {
  if (kind === "standalone") return await start("standalone", {}, count);
  const gateway = await start("gateway", {}, count);
  const store = await start("repository", {});
  const behind = { gateway: gateway.url, repository: store.url };
  await start("node", { ...behind, segments: ["stock"] });
  return gateway;
}

const call = (url: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    const options = { agent, method: "POST", headers };
    const outgoing = request(`${url}/rpc/add`, options, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => (text += part));
      answer.on("end", () => {
        if (text === "3") resolve();
        else reject(new Error(`it answered ${answer.statusCode}: ${text}`));
      });
    });
    outgoing.on("error", reject).end('{"a":1,"b":2}');
  });

async function calls(url: string, count: number, callers: number): Promise<void> {
  const caller = async (): Promise<void> => {
    for (let at = 0; at < count / callers; at++) await call(url);
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

async function promisesOf({ command }: Service, known: number): Promise<number> {
  command.child.kill("SIGUSR2");
  const [, counted] = await command.says(
    new RegExp(`(?:COUNTED \\d+[^]*){${known}}COUNTED (\\d+)`),
  );
  return Number(counted);
}

describe.each(["standalone", "gateway"] as const)("a call of a %s", (kind) => {
  it(`makes at most ${most[kind].promises} promises`, async () => {
    const service = await deployed(kind, "promises");
    // The first calls load code.
    await calls(service.url, 300, 1);
    const before = await promisesOf(service, 0);
    await calls(service.url, 300, 1);
    const promises = Math.round(((await promisesOf(service, 1)) - before) / 300);
    expect(promises).toBeLessThanOrEqual(most[kind].promises);
  });

  it(`allocates at most ${most[kind].bytes} bytes, of which ${most[kind].survival} % survive a collection`, async () => {
    const service = await deployed(kind, "collections");
    // Two callers: V8 may keep the young heap at 1 MB, and calls in flight survive each collection.
    await calls(service.url, 2_500, 2);
    const from = service.command.output().length;
    await calls(service.url, 2_500, 2);
    const lines = service.command
      .output()
      .slice(from)
      .matchAll(/ gc=s (.*)$/gm);
    let allocated = 0;
    let survived = 0;
    for (const [, fields = ""] of lines) {
      const field = (name: string): number =>
        Number(new RegExp(`\\b${name}=(\\d+)`).exec(fields)?.[1] ?? 0);
      allocated += field("allocated");
      // The name differs by version of Node.
      survived += field("promoted") + field("new_space_survived") + field("semi_space_copied");
    }
    expect(allocated / 2_500).toBeLessThanOrEqual(most[kind].bytes);
    expect((100 * survived) / allocated).toBeLessThanOrEqual(most[kind].survival);
  });
});
