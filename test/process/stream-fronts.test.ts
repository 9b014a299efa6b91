// Streams behind what stands in front of services in the real world: proxies that hold answers back, pack them, cut
// them into bytes or cut them off, and one connection of HTTP/2 for all.

import { once } from "node:events";
import { readFileSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import { type AddressInfo, connect, createServer, type Server as TcpServer } from "node:net";
import { createGzip } from "node:zlib";

import { afterAll, describe, expect, it, onTestFinished } from "vitest";

import { fetchTransport } from "../../client/fetch-transport.ts";
import { nodeClock } from "../../server/host/clock.ts";
import { emptyContext } from "../../src/base/context.ts";
import { BadGateway } from "../../src/base/errors.ts";
import { Classes } from "../../src/codec/classes.ts";
import { createRemote } from "../../src/wire/outgoing/remote-call.ts";
import { createCertificates } from "../_certificates.ts";
import { anyPort, builtOnce, start } from "../spec/_started.ts";
import { balancerBefore, balancers } from "./_balancers.ts";

const application = builtOnce({
  "src/shop/steps.ts": `import { getContext } from "seamline";
const waiting = new Map<string, () => void>();
let open = 0;
/** The next number each time that \`go\` is called. */
export async function* steps(id: string): AsyncGenerator<number> {
  const { signal } = getContext();
  open++;
  try {
    for (let at = 1; !signal.aborted; at++) {
      yield at;
      await new Promise<void>((resolve) => {
        waiting.set(id, resolve);
        signal.addEventListener("abort", () => resolve());
      });
    }
  } finally {
    open--;
  }
}
export async function go(id: string): Promise<void> {
  waiting.get(id)?.();
}
export async function opened(): Promise<number> {
  return open;
}
`,
  "shop.segment.json": JSON.stringify({
    "./shop/steps": {
      steps: { access: "public", safe: true, validate: false },
      go: { access: "public", validate: false },
      opened: { access: "public" },
    },
  }),
});
const certificate = createCertificates(afterAll).sign("front");

const service = async (): Promise<string> =>
  (await start(application, { mode: "standalone", url: anyPort })).url;
const get = async (url: string, path: string): Promise<unknown> =>
  await (await fetch(`${url}/rpc/shop/${path}`)).json();
const allEnded = async (url: string): Promise<void> =>
  await expect.poll(() => get(url, "opened")).toBe(0);

function listening(server: http.Server | TcpServer): Promise<string> {
  onTestFinished(() => void server.close());
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    ),
  );
}

/** Packs every answer that doesn't forbid it, and flushes nothing before the end, as middleware for that does. */
function packing(url: string): Promise<string> {
  return listening(
    http.createServer((request, response) => {
      const { method, headers } = request;
      const passed = http.request(url + request.url, { method, headers }, (answer) => {
        const { "content-length": _, ...fields } = answer.headers;
        const isOff = /no-transform/.test(String(fields["cache-control"]));
        if (isOff) {
          response.writeHead(answer.statusCode!, fields).flushHeaders();
          answer.pipe(response);
        } else {
          response.writeHead(answer.statusCode!, { ...fields, "content-encoding": "gzip" });
          answer.pipe(createGzip()).pipe(response);
        }
      });
      response.on("close", () => passed.destroy());
      passed.on("error", () => response.destroy());
      request.pipe(passed);
    }),
  );
}

/** Passes bytes on one by one, and cuts the connection before the one that makes `until` complete. */
function trickling(url: string, until?: string): Promise<string> {
  const { port } = new URL(url);
  return listening(
    createServer((socket) => {
      const behind = connect(Number(port), "127.0.0.1").setNoDelay();
      socket.setNoDelay().pipe(behind);
      const end = (): void => {
        socket.destroy();
        behind.destroy();
      };
      let seen = "";
      behind.on("data", (bytes: Buffer) => {
        for (const byte of bytes) {
          seen += String.fromCharCode(byte);
          if (until !== undefined && seen.endsWith(until)) return end();
          socket.write(Buffer.of(byte));
        }
      });
      for (const one of [socket, behind]) one.on("error", end).on("close", end);
    }),
  );
}

const fronts: Record<string, (url: string) => Promise<string>> = {
  "a proxy that packs answers": packing,
  "a forwarder that trickles": (url) => trickling(url),
};
for (const name of ["nginx", "HAProxy"] as const)
  if (balancers[name].version !== "")
    fronts[name] = (url) => balancerBefore(url, balancers[name], certificate, {});

describe.each(Object.entries(fronts))("behind %s", (_, before) => {
  it("each item arrives as it is yielded, and a reader that leaves ends the generator", async () => {
    const url = await service();
    const front = await before(url);
    const leaving = new AbortController();
    const { body } = await fetch(`${front}/rpc/shop/steps?id=a`, {
      headers: { accept: "text/event-stream" },
      signal: leaving.signal,
    });
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (let item = 1; item <= 3; item++) {
      // The next item isn't produced before it is asked for.
      while (!text.includes(`data: ${item}\n\n`)) text += (await reader.read()).value ?? "";
      await fetch(`${url}/rpc/shop/go?id=a`);
    }
    leaving.abort();
    await reader.read().catch(() => {});
    await allEnded(url);
  });
});

it("a stream that a proxy cuts off never looks complete, and its generator ends", async () => {
  const url = await service();
  const front = await trickling(url, "data: 2");
  const remote = createRemote({
    transport: fetchTransport,
    base: front,
    classes: new Classes(),
    limits: { callTimeoutMs: 20_000, streamIdleMs: 60_000 },
    clock: nodeClock,
  });
  const context = emptyContext();
  const stream = remote.stream(context, () => ({
    fqn: "shop/steps",
    version: "0.0.0",
    args: new Map([["id", "b"]]),
    context,
  }));
  expect(await stream.next()).toEqual({ done: false, value: 1 });
  const next = stream.next();
  await fetch(`${url}/rpc/shop/go?id=b`);
  await expect(next).rejects.toBeInstanceOf(BadGateway);
  await allEnded(url);
});

it("twenty streams and a call share a connection of HTTP/2 in front", async () => {
  const url = await service();
  const [key, cert] = [readFileSync(certificate.key), readFileSync(certificate.cert)];
  const server = http2.createSecureServer({ key, cert }, (request, response) => {
    const { method, url: target } = request;
    const passed = http.request(url + target, { method, headers: { accept: "*/*" } }, (answer) => {
      const {
        connection: _,
        "transfer-encoding": __,
        "keep-alive": ___,
        ...fields
      } = answer.headers;
      response.writeHead(answer.statusCode!, fields);
      answer.pipe(response.stream);
    });
    response.stream.on("close", () => passed.destroy());
    passed.on("error", () => response.stream.destroy());
    passed.end();
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  onTestFinished(() => session.destroy());
  const textOf = async (path: string, until: string): Promise<string> => {
    const stream = session.request({ ":path": `/rpc/shop/${path}` }).setEncoding("utf8");
    let text = "";
    for await (const part of stream) if ((text += part).includes(until)) return text;
    return text;
  };
  const open = (id: number): http2.ClientHttp2Stream => {
    const stream = session.request({ ":path": `/rpc/shop/steps?id=${id}` });
    stream.on("error", () => {});
    return stream.setEncoding("utf8");
  };
  const streams = Array.from({ length: 20 }, (_, id) => open(id));
  await Promise.all(
    streams.map(async (stream) => {
      let text = "";
      while (!text.includes("data: 1")) text += String((await once(stream, "data"))[0]);
    }),
  );
  expect(await textOf("opened", "20")).toBe("20");
  session.destroy();
  await allEnded(url);
});
