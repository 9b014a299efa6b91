// The application that the benches of streams run, and callers that send and read a given number
// of bytes. Each chunk begins with its number, so what gets lost or swapped changes the digest.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

export const MB = 1_000_000;
const chunkBytes = 65_536;

export const files = {
  "streams.segment.json": JSON.stringify({
    "./streams": {
      upload: { access: "public", route: "POST /upload" },
      download: { access: "public", route: "GET /download/:bytes" },
      echo: { access: "public", route: "POST /echo" },
      small: { access: "public" },
    },
  }),
  "src/streams.ts": `import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { getContext } from "seamline";

const now = () => performance.timeOrigin + performance.now();
const tell = (event: string, id: string | null): void => {
  if (id !== null) process.send?.({ event, id, at: now() });
};
function watch(request: Request): string | null {
  const id = new URL(request.url).searchParams.get("id");
  request.signal.addEventListener("abort", () => tell("signal", id));
  return id;
}

export async function small(): Promise<number> {
  return 1;
}
export async function upload(request: Request): Promise<Response> {
  const id = watch(request);
  const slow = Number(new URL(request.url).searchParams.get("slow") ?? 0);
  const hash = createHash("sha256");
  let size = 0;
  try {
    for await (const chunk of request.body!) {
      if (size === 0) tell("begun", id);
      hash.update(chunk);
      size += chunk.length;
      // Slower than the sender: no more than \`slow\` bytes in 20 ms.
      if (slow > 0 && size % slow < chunk.length) await pause(20);
    }
  } catch (error) {
    tell("broken", id);
    throw error;
  }
  return Response.json({ size, digest: hash.digest("hex") });
}
export async function download(request: Request): Promise<Response> {
  const id = watch(request);
  const bytes = Number(getContext().params.bytes);
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent >= bytes) return controller.close();
      const chunk = new Uint8Array(Math.min(${chunkBytes}, bytes - sent));
      if (chunk.length >= 8) new DataView(chunk.buffer).setFloat64(0, sent);
      sent += chunk.length;
      controller.enqueue(chunk);
    },
    cancel() {
      tell("broken", id);
    },
  });
  return new Response(body, { headers: { "content-length": String(bytes) } });
}
export async function echo(request: Request): Promise<Response> {
  watch(request);
  return new Response(request.body);
}
`,
};

/** The bytes that \`download\` sends, and that callers upload. */
export function* source(bytes) {
  for (let sent = 0; sent < bytes; sent += chunkBytes) {
    const chunk = new Uint8Array(Math.min(chunkBytes, bytes - sent));
    if (chunk.length >= 8) new DataView(chunk.buffer).setFloat64(0, sent);
    yield chunk;
  }
}

/** The answer of \`upload\` to these bytes, and the result of downloading them. */
export function expected(bytes) {
  const hash = createHash("sha256");
  for (const chunk of source(bytes)) hash.update(chunk);
  return { size: bytes, digest: hash.digest("hex") };
}

const connections = new Agent({ keepAlive: true });

/** Sends a request and returns it with its answer's head. */
export function open(url, options) {
  const call = request(url, { agent: connections, ...options });
  const answered = once(call, "response").then(([answer]) => answer);
  // A request that fails while its body is sent has reported that already.
  answered.catch(() => {});
  call.on("error", () => {});
  return { call, answered };
}

/** Pauses before a reader or sender takes more than `bytesPerSecond`; 0 is as fast as it gets. */
export function pace(bytesPerSecond) {
  const began = performance.now();
  return async (size) => {
    const ms =
      bytesPerSecond === 0 ? 0 : (size / bytesPerSecond) * 1_000 - (performance.now() - began);
    if (ms > 2) await pause(ms);
  };
}

/** Downloads, and returns size and digest of what arrived. */
export async function download(base, bytes, { bytesPerSecond = 0, signal } = {}) {
  const { call, answered } = open(`${base}/download/${bytes}`, { signal });
  call.end();
  const hash = createHash("sha256");
  let size = 0;
  const paced = pace(bytesPerSecond);
  for await (const chunk of await answered) {
    hash.update(chunk);
    size += chunk.length;
    await paced(size);
  }
  return { size, digest: hash.digest("hex") };
}

/** Uploads, and returns size and digest as the handler saw them. */
export async function upload(base, bytes, { bytesPerSecond = 0, slow = 0, signal } = {}) {
  const { call, answered } = open(`${base}/upload?slow=${slow}`, {
    method: "POST",
    headers: { "content-length": bytes, "content-type": "application/octet-stream" },
    signal,
  });
  const paced = pace(bytesPerSecond);
  let size = 0;
  for (const chunk of source(bytes)) {
    signal?.throwIfAborted();
    if (!call.write(chunk)) await once(call, "drain");
    size += chunk.length;
    await paced(size);
  }
  call.end();
  return await json(await answered);
}

export async function json(answer) {
  let text = "";
  for await (const part of answer) text += part;
  return JSON.parse(text);
}
