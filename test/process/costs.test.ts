// Garbage of a call: the bytes that it allocates, and the share of them that survives a collection; and a library of
// Node that no call needs. No other work on the machine changes them, so they are a gate. A change that lowers them
// lowers the limits here, which hold for Node 20 and 24. Times are for `npm run bench`, promises for
// `lab/bench/promises.mjs`.

import { Agent, request } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  anyPort,
  type Application,
  buildPackage,
  createStock,
  type Service,
} from "./_application.ts";

type Kind = "standalone" | "gateway" | "node";

let application: Application;
const agent = new Agent({ keepAlive: true, maxSockets: 8 });

beforeAll(async () => {
  buildPackage();
  application = await createStock(true);
});
afterAll(async () => {
  agent.destroy();
  await application?.remove();
});

async function start(mode: string, config: object, counted = false): Promise<Service> {
  const key = mode === "standalone" ? {} : { trustKey: "the-trust-key-of-this-test-0123456789" };
  const preload = pathToFileURL(join(import.meta.dirname, "_collections.mjs")).href;
  return await application.service(
    counted ? `${mode}-counted` : mode,
    { mode, url: anyPort, ...key, ...config },
    ["--no-build"],
    counted ? { NODE_OPTIONS: `--import ${preload}` } : {},
  );
}

/** The service whose costs count, and the address that calls for it go to. */
async function deployed(kind: Kind): Promise<{ counted: Service; url: string }> {
  if (kind === "standalone") {
    const counted = await start("standalone", {}, true);
    return { counted, url: counted.url };
  }
  const gateway = await start("gateway", {}, kind === "gateway");
  const store = await start("repository", {});
  const behind = { gateway: gateway.url, repository: store.url };
  const node = await start("node", { ...behind, segments: ["stock"] }, kind === "node");
  return { counted: kind === "gateway" ? gateway : node, url: gateway.url };
}

interface Sample {
  readonly name: string;
  readonly body: string;
  readonly answer: string;
}
const add: Sample = { name: "add", body: '{"a":1,"b":2}', answer: "3" };

const call = (url: string, sample: Sample): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    const options = { agent, method: "POST", headers };
    const outgoing = request(`${url}/rpc/${sample.name}`, options, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => (text += part));
      answer.on("end", () => {
        if (text === sample.answer) resolve();
        else reject(new Error(`it answered ${answer.statusCode}: ${text.slice(0, 200)}`));
      });
    });
    outgoing.on("error", reject).end(sample.body);
  });

async function calls(url: string, count: number, callers: number, sample = add): Promise<void> {
  const caller = async (): Promise<void> => {
    for (let at = 0; at < count / callers; at++) await call(url, sample);
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

/** Milliseconds since a service started, which was asked `known` times before. */
async function ageOf({ command }: Service, known: number): Promise<number> {
  command.child.kill("SIGUSR2");
  const [, age] = await command.says(new RegExp(`(?:AGE [^]*){${known}}AGE ([\\d.]+)\n`));
  return Number(age);
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

it.each<[kind: Kind, bytes: number, survival: number]>([
  ["standalone", 17_700, 2],
  ["gateway", 20_500, 2],
  ["node", 12_000, 2],
])(
  "A call of a %s allocates at most %d bytes, of which %d % survive a collection",
  { timeout },
  async (kind, bytes, survival) => {
    const { counted, url } = await deployed(kind);
    // Two callers: V8 may keep the young heap at 1 MB, and calls in flight survive each collection.
    await calls(url, 2_500, 2);
    // Many, as there are few collections, and those at both ends count calls beside these.
    const count = 7_500;
    const from = await ageOf(counted, 0);
    await calls(url, count, 2);
    const to = await ageOf(counted, 1);
    while (!collectionsOf(counted).some(({ at }) => at > to)) await calls(url, 100, 2);
    const collections = collectionsOf(counted).filter(({ at }) => at > from && at <= to);
    const sum = (field: "allocated" | "survived"): number =>
      collections.reduce((total, collection) => total + collection[field], 0);
    const [allocated, survived] = [sum("allocated"), sum("survived")];
    expect(collections.length).toBeGreaterThan(5);
    expect(allocated / count).toBeLessThanOrEqual(bytes);
    expect((100 * survived) / allocated).toBeLessThanOrEqual(survival);
  },
);

it("A service that has checked a call hasn't loaded Node's library of `fetch`, which takes 3 MB", async () => {
  const { counted, url } = await deployed("standalone");
  await call(url, add);
  await ageOf(counted, 0);
  expect(counted.command.output()).toContain("FETCH not loaded\n");
});

it(
  "A gateway that passes on large bodies doesn't look through all of its heap for them",
  { timeout },
  async () => {
    const { counted, url } = await deployed("gateway");
    const text = "x".repeat(100_000);
    await calls(url, 1_500, 8, { name: "echo", body: JSON.stringify({ text }), answer: text });
    const whole = counted.command.output().match(/ gc=mc /g)?.length ?? 0;
    expect(whole).toBeLessThanOrEqual(3);
  },
);
