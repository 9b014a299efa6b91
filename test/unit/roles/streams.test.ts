// Bodies that stream between services: in memory, straight and through a relay.

import { afterEach, describe, expect, it } from "vitest";

import {
  type HttpRequest,
  type HttpResponse,
  type OutgoingRequest,
  type Peer,
  type PeerResponse,
  TransportError,
} from "../../../src/base/ports.ts";
import { bytesOf, chunksOf, collected } from "../../../src/http/bodies.ts";
import { createMemoryNetwork } from "../../../src/roles/memory-network.ts";
import type { Role } from "../../../src/roles/pipeline/role.ts";
import { TestClock } from "../../_cluster.ts";

type Handle = (request: HttpRequest) => Promise<HttpResponse>;

interface Ground {
  readonly peer: Peer;
  /** The address of a new service. */
  serve(handle: Handle): Promise<string>;
}

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).toReversed()) await cleanUp();
});

function inMemory(): Ground {
  const network = createMemoryNetwork();
  let services = 0;
  return {
    peer: network,
    async serve(handle) {
      const url = `http://service-${++services}`;
      network.roles.set(url, { handle } as Role);
      return url;
    },
  };
}

/** Passes every request on to `url`, as gateway and proxy do. */
const relay =
  ({ peer }: Ground, url: string): Handle =>
  async ({ method, target, body, signal }) => {
    const answer = await peer.send({ url: url + target, method, headers: {}, body, signal });
    return { status: answer.status, headers: {}, body: answer.body };
  };

const chunk = new Uint8Array(65_536).fill(7);
/** More than all the buffers between two ends hold. */
const enough = 40 * 1_048_576;

/** An endless source, which knows how much of it was taken and whether it was ended. */
function endless() {
  const source = {
    bytes: 0,
    ended: false,
    async *[Symbol.asyncIterator]() {
      try {
        for (; source.bytes < 10 * enough; source.bytes += chunk.length) {
          yield chunk;
          await tick();
        }
      } finally {
        source.ended = true;
      }
    },
  };
  return source;
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits until `check` holds. */
async function until(check: () => boolean): Promise<void> {
  for (const begun = performance.now(); !check(); await tick())
    if (performance.now() - begun > 20_000) throw new Error(`Never: ${String(check)}`);
}

/** Waits until a source stands still, and returns how far it got. */
async function still(source: { readonly bytes: number }): Promise<number> {
  for (let before = -1, rounds = 0; rounds < 20; rounds++) {
    if (before !== source.bytes) rounds = 0;
    before = source.bytes;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return source.bytes;
}

const ok: HttpResponse = { status: 200, headers: {}, body: "ok" };
const post = (url: string, body: OutgoingRequest["body"], more: object = {}): OutgoingRequest => ({
  url: `${url}/`,
  method: "POST",
  headers: {},
  ...(body !== undefined && { body }),
  ...more,
});
const textOf = async (answer: PeerResponse | Promise<PeerResponse>): Promise<string> =>
  new TextDecoder().decode((await collected(answer)).body);
const failure = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.fail("it didn't fail"),
    (error: unknown) => error as Error,
  );

describe.each([["in memory", inMemory]] as const)("a body that streams %s", (_, create) => {
  it("arrives in both directions as it was sent, through a relay", async () => {
    const ground = create();
    const echo = await ground.serve(async ({ body }) => ({ status: 200, headers: {}, body }));
    const through = await ground.serve(relay(ground, echo));
    const sent = Array.from({ length: 48 }, (_unused, n) => new Uint8Array(65_537).fill(n));
    const answer = await collected(
      ground.peer.send(
        post(
          through,
          (async function* () {
            yield* sent;
          })(),
        ),
      ),
    );
    expect(Buffer.compare(answer.body, Buffer.concat(sent))).toBe(0);
  });

  it("comes after its head, which doesn't wait for it", async () => {
    const ground = create();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const origin = await ground.serve(async () => ({
      status: 201,
      headers: { "x-a": "b" },
      body: (async function* () {
        await held;
        yield Buffer.from("late");
      })(),
    }));
    const answer = await ground.peer.send(post(await ground.serve(relay(ground, origin)), "x"));
    expect(answer.status).toBe(201);
    release();
    expect(await textOf(answer)).toBe("late");
  });

  it("needn't begin before its handler answers, through two relays", async () => {
    const ground = create();
    const origin = await ground.serve(async ({ body }) => ({
      status: 200,
      headers: {},
      body: (async function* () {
        yield Buffer.from("hello;");
        yield* body;
      })(),
    }));
    const gateway = await ground.serve(relay(ground, origin));
    const proxy = await ground.serve(relay(ground, gateway));
    let write = (): void => {};
    const written = new Promise<void>((resolve) => (write = resolve));
    const answer = await ground.peer.send({
      url: `${proxy}/`,
      method: "POST",
      headers: {},
      body: (async function* () {
        await written;
        yield Buffer.from("first");
      })(),
    });
    const reader = (answer.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    expect(String((await reader.next()).value)).toBe("hello;");
    write();
    expect(String((await reader.next()).value)).toBe("first");
    expect((await reader.next()).done).toBe(true);
  });

  it("stands still while an answer isn't read, and ends when the reader stops", async () => {
    const ground = create();
    const source = endless();
    let signal: AbortSignal | undefined;
    const origin = await ground.serve(async (request) => {
      signal = request.signal;
      return { status: 200, headers: {}, body: source };
    });
    const url = await ground.serve(relay(ground, origin));
    const { body } = await ground.peer.send(post(url, "x"));
    const reader = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    await reader.next();
    expect(await still(source)).toBeLessThan(enough);
    const before = source.bytes;
    for (let read = 0; read < enough / 2;) read += (await reader.next()).value?.length ?? 0;
    expect(source.bytes).toBeGreaterThan(before);
    await reader.return?.();
    await until(() => source.ended && signal?.aborted === true);
  });

  it("stands still while an upload isn't read, and goes on when it is", async () => {
    const ground = create();
    const source = endless();
    let read = (): void => {};
    const mayRead = new Promise<void>((resolve) => (read = resolve));
    const origin = await ground.serve(async ({ body }) => {
      const reader = body[Symbol.asyncIterator]();
      await reader.next();
      await mayRead;
      for (let got = 0; got < enough / 2;) got += ((await reader.next()).value as Buffer).length;
      return ok;
    });
    const sent = ground.peer.send(post(await ground.serve(relay(ground, origin)), source));
    expect(await still(source)).toBeLessThan(enough);
    read();
    // The answer comes before the upload has ended.
    expect(await textOf(sent)).toBe("ok");
    await until(() => source.ended);
    expect(await textOf(ground.peer.send(post(await ground.serve(async () => ok), "x")))).toBe(
      "ok",
    );
  });

  it("can be read once: a second reader and readBody get a clear error", async () => {
    const ground = create();
    const url = await ground.serve(async (request) => {
      const errors: unknown[] = [];
      const first = await bytesOf(request.body);
      errors.push(
        await failure(bytesOf(request.body)),
        await failure(Promise.resolve(request.readBody(10))),
      );
      return { status: 200, headers: {}, body: `${first.length} ${errors.join("; ")}` };
    });
    const error =
      "Error: The request's body has been read already: read it once, as a stream or as a whole, and keep it";
    expect(await textOf(ground.peer.send(post(url, "abc")))).toBe(`3 ${error}; ${error}`);
  });

  it("isn't needed: an upload that nobody reads gets its answer, and the next request works", async () => {
    const ground = create();
    const url = await ground.serve(async () => ok);
    const source = endless();
    expect(await textOf(ground.peer.send(post(url, source)))).toBe("ok");
    expect(await textOf(ground.peer.send(post(url, "small")))).toBe("ok");
    expect(source.bytes).toBeLessThan(enough);
  });

  it("that breaks after an answer's head is an error for the reader, through a relay too", async () => {
    const ground = create();
    let breaks = true;
    const origin = await ground.serve(async () => ({
      status: 200,
      headers: {},
      body: (async function* () {
        yield chunk;
        if (breaks) throw new Error("broke");
      })(),
    }));
    const url = await ground.serve(relay(ground, origin));
    for (const address of [origin, url]) {
      const error = await failure(collected(ground.peer.send(post(address, "x"))));
      expect(error).toBeInstanceOf(TransportError);
      expect((error as TransportError).sent).toBe(true);
    }
    breaks = false;
    expect((await collected(ground.peer.send(post(url, "x")))).body.length).toBe(chunk.length);
  });

  it("that breaks while it's sent rejects with its own error, and ends the handler's", async () => {
    const ground = create();
    let seen: { error: Error; aborted: boolean } | undefined;
    const origin = await ground.serve(async ({ body, signal }) => {
      const error = await failure(bytesOf(body));
      await until(() => signal.aborted);
      seen = { error, aborted: signal.aborted };
      return ok;
    });
    const url = await ground.serve(relay(ground, origin));
    const broken = (async function* () {
      yield chunk;
      await tick();
      throw new RangeError("the disk is gone");
    })();
    expect((await failure(ground.peer.send(post(url, broken)))).message).toBe("the disk is gone");
    await until(() => seen !== undefined);
    expect(seen).toMatchObject({
      error: { name: "BadRequest", message: "The request ended before its body did" },
      aborted: true,
    });
    expect(await textOf(ground.peer.send(post(await ground.serve(async () => ok), "x")))).toBe(
      "ok",
    );
  });

  it.each(["before it's sent", "during the upload", "before the head", "during the body"])(
    "ends with the caller's signal %s",
    async (when) => {
      const ground = create();
      const upload = endless();
      const download = endless();
      const caller = new AbortController();
      const reason = new Error("enough");
      let handled: HttpRequest | undefined;
      const origin = await ground.serve(async (request) => {
        handled = request;
        if (request.target === "/next") return ok;
        const reader = request.body[Symbol.asyncIterator]();
        if (when === "during the upload") for (;;) await reader.next();
        if (when === "before the head") return await new Promise<never>(() => {});
        return { status: 200, headers: {}, body: download };
      });
      const url = await ground.serve(relay(ground, origin));
      if (when === "before it's sent") caller.abort(reason);
      const body = when === "during the upload" ? upload : "x";
      const sent = ground.peer.send(post(url, body, { signal: caller.signal }));
      let outcome: Promise<unknown> = sent;
      if (when === "during the body") {
        const reader = ((await sent).body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
        await reader.next();
        caller.abort(reason);
        outcome = (async () => {
          for (;;) if ((await reader.next()).done === true) return;
        })();
      } else if (when !== "before it's sent") {
        const refused = failure(sent);
        await until(() => handled !== undefined);
        if (when === "during the upload") await until(() => upload.bytes > 0);
        caller.abort(reason);
        outcome = refused.then((error) => Promise.reject(error));
      }
      expect(await failure(outcome)).toBe(reason);
      if (when === "before it's sent") expect(handled).toBeUndefined();
      else await until(() => handled?.signal.aborted === true);
      if (when === "during the body") await until(() => download.ended);
      expect(await textOf(ground.peer.send({ ...post(url, "x"), url: `${url}/next` }))).toBe("ok");
    },
  );

  it("is dropped for HEAD and 204, whose next request works", async () => {
    const ground = create();
    const sources = [endless(), endless()];
    const url = await ground.serve(async ({ method, target }) => {
      if (target === "/next") return ok;
      return method === "HEAD"
        ? { status: 200, headers: {}, body: sources[0]! }
        : { status: 204, headers: {}, body: sources[1]! };
    });
    for (const method of ["HEAD", "GET"]) {
      const answer = await collected(ground.peer.send({ url: `${url}/`, method, headers: {} }));
      expect(answer.body.length).toBe(0);
    }
    expect(sources.map(({ bytes }) => bytes)).toEqual([0, 0]);
    expect(await textOf(ground.peer.send({ ...post(url, "x"), url: `${url}/next` }))).toBe("ok");
  });
});

it("chunksOf makes one chunk of text and of bytes, and none of nothing", async () => {
  expect((await bytesOf(chunksOf("é"))).length).toBe(2);
  expect([...(await bytesOf(chunksOf(new Uint8Array([1, 2]))))]).toEqual([1, 2]);
  expect((await bytesOf(chunksOf())).length).toBe(0);
});

describe("idleTimeoutMs in memory", () => {
  const started = async (handle: Handle) => {
    const clock = new TestClock();
    const network = createMemoryNetwork({ clock, ms: 1_000 });
    network.roles.set("http://a", { handle } as Role);
    return { clock, network };
  };

  it("ends an upload that stands still with RequestTimeout, and not one that moves", async () => {
    const { clock, network } = await started(async ({ body }) => ({
      status: 200,
      headers: {},
      body: await bytesOf(body).then(
        (bytes) => String(bytes.length),
        (error: unknown) => String(error),
      ),
    }));
    const upload = (pauses: readonly number[]): AsyncIterable<Uint8Array> =>
      (async function* () {
        for (const ms of pauses) {
          yield Buffer.from("x");
          await clock.sleep(ms);
        }
      })();
    const stalled = textOf(network.send(post("http://a", upload([10, 5_000]))));
    const moving = textOf(network.send(post("http://a", upload([900, 900, 900]))));
    await clock.pass(3_000);
    expect(await stalled).toBe(
      "RequestTimeout: Nothing more of the request's body arrived in limits.idleTimeoutMs (1000 ms)",
    );
    expect(await moving).toBe("3");
  });

  it("ends an answer that stands still, and tells its handler", async () => {
    let signal: AbortSignal | undefined;
    const { clock, network } = await started(async (request) => {
      signal = request.signal;
      return {
        status: 200,
        headers: {},
        body: (async function* () {
          yield Buffer.from("x");
          await new Promise(() => {});
        })(),
      };
    });
    const error = failure(collected(network.send(post("http://a", "x"))));
    await clock.pass(999);
    expect(signal?.aborted).toBe(false);
    await clock.pass(1_000);
    expect(await error).toMatchObject({ name: "TransportError", sent: true });
    expect(signal?.aborted).toBe(true);
  });
});
