import { once } from "node:events";
import { type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import { gunzipSync } from "node:zlib";

import { describe, expect, it, vi } from "vitest";

import { packed } from "../../server/http/writing/packed-answer.ts";
import { HeldMemory } from "../../server/host/held-memory.ts";
import { anyPort, builtOnce, start } from "./_started.ts";

const application = builtOnce({
  "src/news.ts": `import { getContext } from "seamline";
const line = (at: number) => ({ slug: "article-" + at, title: "The title of number " + at, likes: at % 7 });
export async function list(count: number) { return Array.from({ length: Number(count) }, (_, at) => line(at)); }
export async function text(count: number) { return "é".repeat(Number(count)); }
export async function bytes(count: number) { return new Uint8Array(Number(count)); }
export async function file(count: number) { return new Blob(["a".repeat(Number(count))], { type: "text/plain" }); }
export async function* items(count: number) { for (let at = 0; at < Number(count); at++) yield line(at); }
export async function signIn(count: number) { getContext().response.cookies.set("session", "secret"); return await list(count); }
export async function fixed(count: number) { getContext().response.headers.set("cache-control", "private, no-transform"); return await list(count); }
export async function tagged(count: number) { getContext().response.headers.set("etag", '"v1"'); return await list(count); }
export async function page(request: Request) { return new Response("a".repeat(20_000), { headers: { "content-type": "text/plain; charset=utf-8" } }); }
`,
  "news.segment.json": JSON.stringify({
    "./news": {
      ...Object.fromEntries(
        ["list", "text", "bytes", "file", "items", "signIn", "fixed", "tagged"].map((name) => [
          name,
          { access: "public", safe: true },
        ]),
      ),
      page: { access: "public", route: "GET /page" },
    },
  }),
});

interface Raw {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The answer as it comes. */
async function ask(url: string, headers: Record<string, string> = gzip): Promise<Raw> {
  const asked = request(url, { headers, agent: false }).end();
  const [answer] = (await once(asked, "response")) as [import("node:http").IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) };
}

const gzip = { "accept-encoding": "gzip, deflate, br" };
const standalone = async (more: object = {}): Promise<string> =>
  (await start(application, { mode: "standalone", url: anyPort, ...more })).url;
const codingOf = async (url: string, headers?: Record<string, string>): Promise<unknown> =>
  (await ask(url, headers)).headers["content-encoding"];

describe("compressed answers", () => {
  it("compressed-1: the answer to a call that has more than 4 KB is gzip for callers that accept it, and says its length", async () => {
    const url = await standalone();
    for (const count of [100, 1_000, 20_000]) {
      const plain = await ask(`${url}/rpc/list?count=${count}`, {});
      const small = await ask(`${url}/rpc/list?count=${count}`);
      expect(small.headers).toMatchObject({
        "content-encoding": "gzip",
        "content-length": String(small.body.length),
        "content-type": "application/json",
        "x-svc-data-type": "object",
      });
      expect(small.body.length).toBeLessThan(plain.body.length / 4);
      expect(gunzipSync(small.body).equals(plain.body)).toBe(true);
    }
    const text = await ask(`${url}/rpc/text?count=5000`);
    expect(gunzipSync(text.body).toString()).toBe("é".repeat(5_000));
    const reply = await fetch(`${url}/rpc/list`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"count":300}',
    });
    expect(reply.headers.get("content-encoding")).toBe("gzip");
    expect(await reply.json()).toHaveLength(300);
  });

  it("compressed-2: a shorter answer, and one to a caller that doesn't accept gzip, is sent as it is", async () => {
    const url = await standalone();
    const short = await ask(`${url}/rpc/list?count=50`);
    expect(short.headers).not.toHaveProperty("content-encoding");
    expect(short.headers.vary).toBe("accept, x-svc-data-encoding");
    for (const accepted of ["", "br", "gzip;q=0", "identity, gzip;q=0.5"])
      expect(
        await codingOf(`${url}/rpc/list?count=300`, { "accept-encoding": accepted }),
      ).toBeUndefined();
  });

  it("compressed-3: vary names accept-encoding, whether the answer is compressed or not", async () => {
    const url = await standalone();
    for (const headers of [gzip, {}])
      expect((await ask(`${url}/rpc/list?count=300`, headers)).headers.vary).toBe(
        "accept, x-svc-data-encoding, accept-encoding",
      );
  });

  it("compressed-4: an answer that sets a cookie, or has cache-control: no-transform, is sent as it is", async () => {
    const url = await standalone();
    const signedIn = await ask(`${url}/rpc/signIn?count=300`);
    expect(signedIn.headers).toHaveProperty("set-cookie");
    expect(signedIn.headers).not.toHaveProperty("content-encoding");
    expect(await codingOf(`${url}/rpc/fixed?count=300`)).toBeUndefined();
  });

  it("compressed-5: a request with cookies or a password is answered as it is, unless the browser says that a page of the same origin made it", async () => {
    const target = `${await standalone()}/rpc/list?count=300`;
    const coding = (fields: Record<string, string>): Promise<unknown> =>
      codingOf(target, { ...gzip, ...fields });
    const credentials: Record<string, string>[] = [
      { cookie: "session=1" },
      { authorization: "Basic YTpi" },
    ];
    for (const shown of credentials) {
      expect(await coding(shown)).toBeUndefined();
      for (const site of ["cross-site", "same-site", "anything"])
        expect(await coding({ ...shown, "sec-fetch-site": site })).toBeUndefined();
      for (const site of ["same-origin", "none"])
        expect(await coding({ ...shown, "sec-fetch-site": site })).toBe("gzip");
    }
    expect(await coding({ "sec-fetch-site": "cross-site" })).toBe("gzip");
    expect(await coding({ authorization: "Bearer a" })).toBe("gzip");
  });

  it("compressed-6: bytes, files, streams and the answers of routes are sent as they are", async () => {
    const url = await standalone();
    for (const target of ["rpc/bytes?count=20000", "rpc/file?count=20000", "page"]) {
      const { headers, body } = await ask(`${url}/${target}`);
      expect(headers).not.toHaveProperty("content-encoding");
      expect(body).toHaveLength(20_000);
    }
    const items = await ask(`${url}/rpc/items?count=300`, {
      ...gzip,
      accept: "text/event-stream",
    });
    expect(items.headers["content-type"]).toMatch("text/event-stream");
    expect(items.headers).not.toHaveProperty("content-encoding");
  });

  it("compressed-7: a strong etag becomes a weak one in a compressed answer", async () => {
    const target = `${await standalone()}/rpc/tagged?count=300`;
    expect((await ask(target)).headers.etag).toBe('W/"v1"');
    expect((await ask(target, {})).headers.etag).toBe('"v1"');
  });

  it("compressed-8: with compression: false in its configuration, a service compresses no answers to calls", async () => {
    const url = await standalone({ compression: false });
    const { headers } = await ask(`${url}/rpc/list?count=300`);
    expect(headers).not.toHaveProperty("content-encoding");
    expect(headers.vary).toBe("accept, x-svc-data-encoding");
  });

  it("compressed-9: gateway and proxy compress what nodes answer, also while it arrives; between services nothing is compressed", async () => {
    const repository = (await start(application, { mode: "repository", url: anyPort })).url;
    const gateway = (await start(application, { mode: "gateway", url: anyPort })).url;
    const node = await start(application, {
      mode: "node",
      url: anyPort,
      gateway,
      repository,
      segments: ["news"],
      // The gateway couldn't compress an answer that this node had compressed.
      compression: true,
    });
    const proxy = (await start(application, { mode: "proxy", url: anyPort, gateway, repository }))
      .url;
    await vi.waitFor(async () => {
      for (const url of [gateway, proxy])
        expect((await ask(`${url}/rpc/list?count=1`)).status).toBe(200);
    });
    for (const count of [300, 20_000]) {
      const plain = await ask(`${node.url}/rpc/list?count=${count}`, {});
      for (const url of [gateway, proxy]) {
        const small = await ask(`${url}/rpc/list?count=${count}`);
        expect(small.headers["content-encoding"]).toBe("gzip");
        expect(gunzipSync(small.body).equals(plain.body)).toBe(true);
      }
    }
  });

  it("compressed-10: a caller that doesn't read holds no more than the compressed bytes, and what it holds is counted until it leaves", async () => {
    const memory = new HeldMemory();
    const holder = memory.holder(
      { progress: () => 0, isUntaken: () => false, cut() {} },
      Number.POSITIVE_INFINITY,
    );
    const wanted = { target: "/rpc/list", headers: gzip };
    const head = {
      status: 200,
      headers: { "content-type": "application/json", "x-svc-data-type": "object" },
    };
    const whole = packed(wanted, { ...head, body: `"${"a".repeat(1_000_000)}"` }, holder);
    expect(memory.bytes).toBe(1_000_002);
    expect(((await whole).body as Buffer).length).toBeLessThan(10_000);
    expect(memory.bytes).toBe(0);
    let left = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield new Uint8Array(65_536).map(() => Math.random() * 256);
      } finally {
        left = true;
      }
    }
    const answer = await packed(wanted, { ...head, body: endless() }, holder);
    const reader = (answer.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    expect((await reader.next()).value?.length).toBeGreaterThan(1);
    expect(memory.bytes).toBeGreaterThan(100_000);
    await reader.return?.();
    expect(memory.bytes).toBe(0);
    await vi.waitFor(() => expect(left).toBe(true));
  });
});

it("An answer of another service that breaks while it is compressed rejects, and gives its memory back", async () => {
  const memory = new HeldMemory();
  const holder = memory.holder({ progress: () => 0, isUntaken: () => false, cut() {} }, 1_000);
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(100_000);
    throw new Error("the node has died");
  }
  const { body } = await packed(
    { target: "/rpc/a", headers: gzip },
    {
      status: 200,
      headers: { "content-type": "application/json", "x-svc-data-type": "object" },
      body: broken(),
    },
    holder,
  );
  const read = async (): Promise<void> => {
    for await (const _ of body as AsyncIterable<Uint8Array>);
  };
  await expect(read()).rejects.toThrow("the node has died");
  expect(memory.bytes).toBe(0);
});

it("A caller that leaves while its answer is compressed costs no error and no memory", async () => {
  const server = await start(application, { mode: "standalone", url: anyPort });
  const { hostname, port } = new URL(server.url);
  for (let at = 0; at < 10; at++) {
    const socket = connect(Number(port), hostname);
    socket.write(
      "GET /rpc/list?count=20000 HTTP/1.1\r\nhost: localhost\r\naccept-encoding: gzip\r\n\r\n",
    );
    await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
  }
  expect(await codingOf(`${server.url}/rpc/list?count=20000`)).toBe("gzip");
  expect(server.lines.filter((line) => /error/i.test(line))).toEqual([]);
});

it("A reader that leaves while the end of an answer is compressed is done at once, and its memory is given back", async () => {
  const memory = new HeldMemory();
  const holder = memory.holder({ progress: () => 0, isUntaken: () => false, cut() {} }, 1_000);
  let leave = (): void => {};
  async function* short(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(1_000);
    // The end is compressed in another thread, which answers later than this.
    setImmediate(() => leave());
  }
  const headers = { "content-type": "application/json", "x-svc-data-type": "object" };
  const answer = { status: 200, headers, body: short() };
  const { body } = await packed({ target: "/rpc/a", headers: gzip }, answer, holder);
  const reader = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  leave = () => void reader.return?.();
  // The head of the compressed bytes is there early.
  expect((await reader.next()).done).toBe(false);
  expect(await reader.next()).toEqual({ done: true, value: undefined });
  expect(memory.bytes).toBe(0);
}, 5_000);
