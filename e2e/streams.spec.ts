// Streams in a real page: through imports, with options, and read by the browser's own EventSource.

import { expect, test } from "@playwright/test";
import { buildPackage } from "../test/process/_application.ts";
import { commands, expectShown, served } from "./_page.ts";

const rolls = `import { getContext } from "seamline";
import { Roll, Torn } from "./roll.ts";
const opened = new Set<string>();
let runs = 0;
export async function* numbers(count: number): AsyncGenerator<number, string> {
  runs++;
  for (let at = 1; at <= count; at++) yield at;
  return "all";
}
export async function* labels(): AsyncGenerator<Roll> {
  yield new Roll(3, new Date(0));
  yield new Roll(4, new Date(86_400_000));
  throw new Torn("torn off", 2);
}
export async function* parked(id: string): AsyncGenerator<string> {
  opened.add(id);
  const { signal } = getContext();
  try {
    yield "here";
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  } finally {
    opened.delete(id);
  }
}
export async function open(): Promise<number> { return opened.size; }
export async function ran(): Promise<number> { return runs; }
`;
const roll = `export class Roll {
  constructor(readonly metres: number, readonly dyed: Date) {}
  label(): string { return this.metres + "@" + this.dyed.getTime(); }
}
export class Torn extends Error {
  constructor(message: string, readonly after: number) { super(message); }
}
`;
const main = `// @ts-nocheck
import { withOptions } from "seamline";
import { startClient } from "seamline/client";
import { labels, numbers, open, parked, ran } from "./shop/rolls.ts";
import { Torn } from "./shop/roll.ts";
const shown = [];
const unread = numbers(1);
await startClient("page");
const manual = numbers(2);
const steps = [await manual.next(), await manual.next(), await manual.next(), await manual.next()];
shown.push(steps.map(({ value, done }) => (done ? "done " : "") + value).join(","));
try {
  for await (const item of labels()) shown.push(item.label());
} catch (error) {
  shown.push(error instanceof Torn, error.after, error.message);
}
for await (const item of parked("break")) { shown.push(item); break; }
const controller = new AbortController();
const limited = withOptions(parked, { signal: controller.signal })("signal");
await limited.next();
const next = limited.next().then(String, (error) => error.message);
controller.abort(new Error("enough"));
shown.push(await next);
const left = parked("return");
await left.next();
const waits = left.next();
await left.return();
shown.push((await waits).done);
const twice = numbers(1);
for await (const _ of twice) {}
try { for await (const _ of twice) {} } catch (error) { shown.push(error.name); }
await unread.return();
while (await open() > 0) await new Promise((go) => setTimeout(go, 10));
const before = await ran();
const source = new EventSource("/rpc/shop/numbers?count=2");
const events = [];
source.onmessage = ({ data, lastEventId }) => events.push(lastEventId + ":" + data);
await new Promise((done) => source.addEventListener("end", done));
// It asks again after 2 s, and is answered that there is no more.
await new Promise((closed) => { source.onerror = () => source.readyState === 2 && closed(); });
shown.push(events.join(), (await ran()) - before);
document.querySelector("output").textContent = shown.join(" | ");
`;
const files = {
  "segments/shop.segment.json": {
    "./shop/rolls": {
      numbers: { access: "public", safe: true },
      labels: { access: "public" },
      parked: { access: "public" },
      open: { access: "public", safe: true },
      ran: { access: "public" },
    },
  },
  "segments/page.segment.json": {},
  "src/shop/rolls.ts": rolls,
  "src/shop/roll.ts": roll,
  "src/main.ts": main,
};
const expected =
  "1,2,done all,done undefined | 3@0 | 4@86400000 | true | 2 | torn off | here | enough | true | TypeError | 1:1,2:2 | 1";

test.beforeAll(() => buildPackage());

for (const command of commands)
  test(`a page reads streams, ends them, and EventSource runs a finished one once: ${command}`, async ({
    page,
  }) => {
    await expectShown(page, command, files, expected);
  });

const inWorker = {
  ...files,
  "src/main.ts": `// @ts-nocheck
import { startClient } from "seamline/client";
await startClient("page");
const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
worker.onmessage = ({ data }) => {
  // It ends with its streams: the service has to notice.
  if (data === "parked") {
    worker.terminate();
    document.body.dataset.worker = "gone";
  } else document.querySelector("output").textContent = data;
};
`,
  "src/worker.ts": `// @ts-nocheck
import { startClient } from "seamline/client";
const client = await startClient("page");
const { labels, numbers, open, parked } = await client.import("./shop/rolls.js");
const shown = [];
for await (const item of numbers(2)) shown.push(item);
try {
  for await (const item of labels()) shown.push(item.label());
} catch (error) {
  shown.push(error.message);
}
for await (const item of parked("break")) { shown.push(item); break; }
while (await open() > 0) await new Promise((go) => setTimeout(go, 10));
postMessage(shown.join(" | "));
await parked("left").next();
postMessage("parked");
`,
  "seamline.json": {
    mode: "standalone",
    url: "http://127.0.0.1:0",
    browserModules: ["shop/*.ts"],
  },
  "vite.config.ts": 'export default { worker: { format: "es" } };\n',
};

for (const command of commands)
  test(`so does a worker, whose streams end with it: ${command}`, async ({ page }) => {
    const { url, remove } = await served(command, inWorker);
    try {
      await page.goto(url);
      await expect(page.locator("output")).toHaveText("1 | 2 | 3@0 | 4@86400000 | torn off | here");
      await expect(page.locator("body")).toHaveAttribute("data-worker", "gone");
      const opened = async (): Promise<string> =>
        await page.evaluate(async () => await (await fetch("/rpc/shop/open")).text());
      await expect.poll(opened).toBe("0");
    } finally {
      await remove();
    }
  });
