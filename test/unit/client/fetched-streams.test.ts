import { describe, expect, it } from "vitest";

import { createFetchedStreams } from "../../../client/fetched-streams.ts";
import { Abort } from "../../../src/base/aborts.ts";
import type { ByteStream, OutgoingRequest, PeerResponse } from "../../../src/base/ports.ts";

const request = (more: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  url: "https://shop.example/rpc/a",
  method: "POST",
  headers: {},
  body: "{}",
  ...more,
});

/** A stream of two chunks. */
const twoChunks = (): PeerResponse => {
  const chunks = (async function* () {
    yield new Uint8Array([1]);
    yield new Uint8Array([2]);
  })();
  const body: ByteStream = {
    [Symbol.asyncIterator]: () => chunks,
    bytes: async () => new Uint8Array([1, 2]),
  };
  return { status: 200, headers: {}, body };
};

function streams(protocol: string | undefined, answer: () => PeerResponse = twoChunks) {
  const crowded: string[] = [];
  const send = createFetchedStreams({
    fetch: { send: async () => answer() },
    protocol: () => protocol,
    onCrowded: (why) => crowded.push(why),
  });
  return { crowded, open: async (more = {}) => await send(request(more), "it can't be opened") };
}

const tooMany = {
  name: "TooManyStreams",
  message: expect.stringContaining("can't be opened") as string,
};

describe("streams by fetch", () => {
  it.each([
    [undefined, 4],
    ["http/1.1", 4],
    ["h2", 50],
    ["h3", 50],
  ])("over %s are at most %i at once, and one more says why", async (protocol, most) => {
    const { open, crowded } = streams(protocol);
    for (let count = 0; count < most - 2; count++) await open();
    expect(crowded).toEqual([]);
    await open();
    expect(crowded).toEqual(["it can't be opened"]);
    await open();
    await expect(open()).rejects.toMatchObject(tooMany);
  });

  it("make room when they end, are given up, are aborted or fail", async () => {
    const { open } = streams("http/1.1");
    const abort = new Abort();
    const [read, whole, left] = [await open(), await open(), await open()];
    await open({ signal: abort });
    await expect(open()).rejects.toMatchObject(tooMany);
    const refill = async (): Promise<void> => {
      await open();
      await expect(open()).rejects.toMatchObject(tooMany);
    };
    const all: number[] = [];
    for await (const chunk of read.body as ByteStream) all.push(...chunk);
    expect(all).toEqual([1, 2]);
    await refill();
    expect(await (whole.body as ByteStream).bytes()).toHaveLength(2);
    await refill();
    const reader = (left.body as ByteStream)[Symbol.asyncIterator]();
    await reader.next();
    await reader.return?.();
    await reader.return?.();
    await refill();
    abort.abort(new Error("no"));
    await refill();
  });

  it("that fail, or come with all of their bytes, hold no place", async () => {
    let fails = true;
    const { open } = streams("http/1.1", () => {
      if (fails) throw new Error("offline");
      return { status: 401, headers: {}, body: new Uint8Array(2) };
    });
    for (let count = 0; count < 10; count++) await expect(open()).rejects.toThrow("offline");
    fails = false;
    for (let count = 0; count < 10; count++) expect((await open()).status).toBe(401);
  });
});
