// What a call costs in figures that no other work on the machine changes: promises, bytes that it
// allocates, and the share of them that survives a collection. They may only become fewer: whoever
// makes them fewer lowers the numbers here. Times are for `npm run bench`.

import { Agent, request } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  anyPort,
  type Application,
  buildPackage,
  createStock,
  type Service,
} from "./_application.ts";

const most = {
  standalone: { promises: 8, bytes: 16_200, survival: 2 },
  gateway: { promises: 11, bytes: 19_000, survival: 2 },
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

async function start(mode: string, config: object, count = ""): Promise<Service> {
  const key = mode === "standalone" ? {} : { trustKey: "the-trust-key-of-this-test-0123456789" };
  const preload = pathToFileURL(join(import.meta.dirname, "_count.mjs")).href;
  return await application.service(
    `${mode}${count}`,
    { mode, url: anyPort, ...key, ...config },
    ["--no-build"],
    count === "" ? {} : { COUNT: count, NODE_OPTIONS: `--import ${preload}` },
  );
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

/** What a service has counted so far, which was asked `known` times before. */
async function countOf(
  { command }: Service,
  known: number,
): Promise<{ readonly promises: number; readonly at: number }> {
  command.child.kill("SIGUSR2");
  const [, promises, at] = await command.says(
    new RegExp(`(?:COUNTED \\d+[^]*){${known}}COUNTED (\\d+) at ([\\d.]+)\n`),
  );
  return { promises: Number(promises), at: Number(at) };
}

interface Collection {
  /** In ms since the start of the process. */
  readonly at: number;
  readonly allocated: number;
  readonly survived: number;
}

/** The collections of young objects that V8 has reported. It does so a few at once. */
function collectionsOf({ command }: Service): readonly Collection[] {
  return [...command.output().matchAll(/\] +(\d+) ms: .* gc=s (.*)$/gm)].map(
    ([, at, fields = ""]) => {
      const field = (name: string): number =>
        Number(new RegExp(`\\b${name}=(\\d+)`).exec(fields)?.[1] ?? 0);
      return {
        at: Number(at),
        allocated: field("allocated"),
        // The name differs by version of Node.
        survived: field("promoted") + field("new_space_survived") + field("semi_space_copied"),
      };
    },
  );
}

// Only bounds a failure: on a busy machine, thousands of calls take their time.
const timeout = 180_000;

describe.each(["standalone", "gateway"] as const)("a call of a %s", { timeout }, (kind) => {
  it(`makes at most ${most[kind].promises} promises`, async () => {
    const service = await deployed(kind, "promises");
    // The first calls load code.
    await calls(service.url, 300, 1);
    const before = await countOf(service, 0);
    await calls(service.url, 300, 1);
    const after = await countOf(service, 1);
    const promises = Math.round((after.promises - before.promises) / 300);
    expect(promises).toBeLessThanOrEqual(most[kind].promises);
  });

  it(`allocates at most ${most[kind].bytes} bytes, of which ${most[kind].survival} % survive a collection`, async () => {
    const service = await deployed(kind, "collections");
    // Two callers: V8 may keep the young heap at 1 MB, and calls in flight survive each collection.
    await calls(service.url, 2_500, 2);
    // Many, as there are few collections, and those at both ends count calls beside these.
    const count = 7_500;
    const { at: from } = await countOf(service, 0);
    await calls(service.url, count, 2);
    const { at: to } = await countOf(service, 1);
    while (!collectionsOf(service).some(({ at }) => at > to)) await calls(service.url, 100, 2);
    const collections = collectionsOf(service).filter(({ at }) => at > from && at <= to);
    const sum = (field: "allocated" | "survived"): number =>
      collections.reduce((total, collection) => total + collection[field], 0);
    const [allocated, survived] = [sum("allocated"), sum("survived")];
    expect(collections.length).toBeGreaterThan(5);
    expect(allocated / count).toBeLessThanOrEqual(most[kind].bytes);
    expect((100 * survived) / allocated).toBeLessThanOrEqual(most[kind].survival);
  });
});
