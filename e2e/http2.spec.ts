// A page of a service with TLS, which browsers speak HTTP/2 with: calls, files, aborts, and streams, whose link is a
// WebSocket of HTTP/1.1 at the same port.

import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { buildPackage } from "../test/process/_application.ts";
import { served } from "./_page.ts";

test.use({ ignoreHTTPSErrors: true });
test.beforeAll(() => buildPackage());

const shop = `import { getContext } from "seamline";
let running = 0;
let begun = 0;
let left = 0;
export async function add(a: number, b: number): Promise<number> { return a + b; }
/** Answers once so many callers wait: they all have to be here at once. */
const waiting: (() => void)[] = [];
export async function together(count: number): Promise<number> {
  running++;
  await new Promise<void>((go) => {
    waiting.push(go);
    if (waiting.length >= count) for (const each of waiting.splice(0)) each();
  });
  return running;
}
export async function size(file: File): Promise<string> { return file.name + " " + file.size; }
export async function large(count: number): Promise<Date[]> { return Array.from({ length: count }, (_, at) => new Date(at)); }
export async function parked(): Promise<void> {
  const { signal } = getContext();
  begun++;
  await new Promise((_, reject) => signal.addEventListener("abort", () => { left++; reject(signal.reason); }));
}
export async function parks(): Promise<{ begun: number; left: number }> { return { begun, left }; }
export async function* numbers(count: number): AsyncGenerator<number> { for (let at = 1; at <= count; at++) yield at; }
`;
const main = `// @ts-nocheck
import { withOptions } from "seamline";
import { startClient } from "seamline/client";
import { add, large, numbers, parked, parks, size, together } from "./shop.ts";
await startClient("page");
const shown = [];
shown.push(await add(1, 2));
shown.push((await Promise.all(Array.from({ length: 20 }, () => together(20)))).at(-1));
shown.push(await size(new File(["x".repeat(300_000)], "long.txt")));
shown.push((await large(20_000)).at(-1).getTime());
const controller = new AbortController();
const call = withOptions(parked, { signal: controller.signal })().catch((error) => error.message);
const until = async (is) => { while (!is(await parks())) await new Promise((go) => setTimeout(go, 10)); };
await until(({ begun }) => begun > 0);
controller.abort(new Error("enough"));
shown.push(await call);
await until(({ left }) => left > 0);
for await (const item of numbers(3)) shown.push(item);
const calls = performance.getEntriesByType("resource").filter(({ name }) => name.includes("/rpc/"));
// The call that was given up has none.
const protocols = calls.map(({ nextHopProtocol }) => nextHopProtocol).filter((name) => name !== "");
shown.push([...new Set(protocols)].join());
document.querySelector("output").textContent = shown.join(" | ");
`;

test("calls of a page go over one connection of HTTP/2, all at once, and its streams over a link", async ({
  page,
}) => {
  const folder = await mkdtemp(join(tmpdir(), "seamline-http2-"));
  const words =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem";
  execFileSync("openssl", words.split(" "), { cwd: folder, stdio: "pipe" });
  const text = async (name: string): Promise<string> => await readFile(join(folder, name), "utf8");
  const access = "public";
  const { url, remove } = await served("start", {
    "cert.pem": await text("cert.pem"),
    "key.pem": await text("key.pem"),
    "seamline.json": {
      mode: "standalone",
      url: "https://127.0.0.1:0",
      tls: { cert: "./cert.pem", key: "./key.pem" },
    },
    "segments/shop.segment.json": {
      "./shop": {
        add: { access },
        together: { access },
        size: { access },
        large: { access },
        parked: { access },
        parks: { access },
        numbers: { access },
      },
    },
    "segments/page.segment.json": {},
    "src/shop.ts": shop,
    "src/main.ts": main,
  });
  const sockets: string[] = [];
  page.on("websocket", (socket) => sockets.push(new URL(socket.url()).pathname));
  try {
    await page.goto(url);
    await expect(page.locator("output")).toHaveText(
      "3 | 20 | long.txt 300000 | 19999 | enough | 1 | 2 | 3 | h2",
    );
    expect(sockets).toEqual(["/svc/page"]);
  } finally {
    await remove();
    await rm(folder, { recursive: true, force: true });
  }
});
