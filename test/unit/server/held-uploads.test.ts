// Uploads that fill `limits.heldBytes` of a service, as streams of a route and as files in calls.

import { connect, type Socket } from "node:net";

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { applicationOf, start } from "../../spec/_started.ts";

const files = {
  "held.segment.json": JSON.stringify({
    "./held": {
      stall: { access: "public", route: "POST /stall" },
      count: { access: "public", route: "POST /count" },
      size: { access: "public" },
      small: { access: "public" },
    },
  }),
  "src/held.ts": `export async function stall(request: Request): Promise<Response> {
  await request.body!.getReader().read();
  await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
  return new Response("late");
}
export async function count(request: Request): Promise<Response> {
  return new Response(String((await request.arrayBuffer()).byteLength));
}
export async function size(file: File): Promise<number> {
  return file.size;
}
export async function small(): Promise<number> {
  return 1;
}
`,
};

const removals: (() => void)[] = [];
const application = applicationOf(files, (remove) => removals.push(remove));
beforeAll(async () => await application.build());
afterAll(() => {
  for (const remove of removals) remove();
});

async function started(): Promise<string> {
  const url = "http://127.0.0.1:0";
  const limits = { heldBytes: 1_000_000 };
  const { url: base } = await start(application, { mode: "standalone", url, limits });
  return base;
}

interface Sender {
  readonly socket: Socket;
  answer: string;
  isClosed: boolean;
}

/** Announces a body of 1 MB and sends the first `bytes` of it. */
function send(base: string, path: string, type: string, bytes: number): Sender {
  const socket = connect(Number(new URL(base).port), "127.0.0.1");
  const sender: Sender = { socket, answer: "", isClosed: false };
  socket.on("data", (chunk) => (sender.answer += String(chunk)));
  socket.on("error", () => {});
  socket.on("close", () => (sender.isClosed = true));
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${type}\r\ncontent-length: 1000000\r\n\r\n`,
  );
  socket.write(Buffer.alloc(bytes, 120));
  onTestFinished(() => void socket.destroy());
  return sender;
}

const call = (base: string): Promise<Response> => fetch(`${base}/rpc/small`);

async function expectRefused(base: string): Promise<void> {
  await expect.poll(async () => (await call(base)).status).toBe(503);
  const refused = await call(base);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  expect((await fetch(`${base}/health/live`)).status).toBe(200);
}

describe("limits.heldBytes full of uploads", () => {
  it("refuses calls and further uploads, then cuts uploads that stand still, and all works again", async () => {
    const base = await started();
    const senders = Array.from({ length: 16 }, () =>
      send(base, "/stall", "application/octet-stream", 900_000),
    );
    await expectRefused(base);
    const refused = (): number => senders.filter(({ answer }) => answer.includes(" 503 ")).length;
    await expect.poll(refused).toBeGreaterThan(0);
    // Each holds at most 128 KiB and a chunk.
    expect(senders.length - refused()).toBeGreaterThan(3);
    await expect.poll(async () => (await call(base)).status, { timeout: 5_000 }).toBe(200);
    const cut = (): number =>
      senders.filter(({ answer, isClosed }) => isClosed && !answer.includes(" 503 ")).length;
    await expect.poll(cut).toBeGreaterThan(0);
    for (const { socket } of senders) socket.destroy();
    const body = new Uint8Array(800_000);
    const headers = { "content-type": "application/octet-stream" };
    const answer = await fetch(`${base}/count`, { method: "POST", headers, body });
    expect([answer.status, await answer.text()]).toEqual([200, "800000"]);
  });

  it("refuses calls with files whose bodies don't fit, and takes them when others have ended", async () => {
    const base = await started();
    const senders = Array.from({ length: 5 }, () =>
      send(base, "/rpc/size", "multipart/form-data; boundary=b", 300_000),
    );
    await expect.poll(() => senders.some(({ answer }) => answer.includes(" 503 "))).toBe(true);
    for (const { socket } of senders) socket.destroy();
    await expect.poll(async () => (await call(base)).status).toBe(200);
    const form = new FormData();
    form.set("file", new File([new Uint8Array(400_000)], "a.bin"));
    const answer = await fetch(`${base}/rpc/size`, { method: "POST", body: form });
    expect([answer.status, await answer.text()]).toEqual([200, "400000"]);
  });
});
