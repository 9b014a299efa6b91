// Streams: a procedure that passes on the items of another one, which may be on another node.

import { expect, it, vi } from "vitest";

import type { Suite } from "./_modes.ts";

export const streams: Suite = {
  title: "streams",
  files: {
    "segments/streams.segment.json": `{
  "./streams/outer": {
    "lengths": { "access": "public" },
    "mended": { "access": "public" },
    "firstTwo": { "access": "public" },
    "limited": { "access": "public" },
    "ended": { "access": "public" },
    "release": { "access": "protected" }
  }
}
`,
    "segments/streams-inner.segment.json": `{
  "./streams/inner": {
    "rolls": { "access": "public", "safe": true },
    "breaks": { "access": "public" },
    "parked": { "access": "public" },
    "open": { "access": "protected" }
  },
  "./streams/feed": { "feed": { "access": "public", "resume": true } }
}
`,
    "src/streams/Roll.ts": `export class Roll {
  constructor(readonly metres: number, readonly dyed: Date) {}
  label(): string {
    return this.metres + " m of " + this.dyed.getUTCFullYear();
  }
}
export class Torn extends Error {
  constructor(message: string, readonly after: number) {
    super(message);
  }
}
`,
    "src/streams/outer.ts": `import { withOptions } from "seamline";
import { Torn } from "./Roll.ts";
import { breaks, open, parked, rolls } from "./inner.ts";
const released: string[] = [];
export async function* lengths(count: number): AsyncGenerator<string, number> {
  let all = 0;
  for await (const roll of rolls(count)) {
    all += roll.metres;
    yield roll.label();
  }
  return all;
}
export async function mended(): Promise<unknown[]> {
  const seen: unknown[] = [];
  try {
    for await (const item of breaks()) seen.push(item);
  } catch (error) {
    seen.push(error instanceof Torn, (error as Torn).after, (error as Torn).message);
  }
  return seen;
}
export async function firstTwo(id: string): Promise<string[]> {
  const items: string[] = [];
  for await (const item of parked(id)) {
    items.push(item);
    if (items.length === 2) break;
  }
  return items;
}
export async function limited(id: string): Promise<string> {
  const controller = new AbortController();
  const stream = withOptions(parked, { signal: controller.signal })(id);
  await stream.next();
  await stream.next();
  const third = stream.next();
  controller.abort(new Error("enough"));
  return await third.then(String, (error: Error) => error.message);
}
export async function ended(id: string): Promise<string> {
  return (await open()).includes(id) + " " + released.includes(id);
}
export async function release(id: string): Promise<void> {
  released.push(id);
}
`,
    "src/streams/inner.ts": `import { getContext } from "seamline";
import { release } from "./outer.ts";
import { Roll, Torn } from "./Roll.ts";
const opened = new Set<string>();
export async function* rolls(count: number): AsyncGenerator<Roll, void> {
  for (let at = 1; at <= count; at++) yield new Roll(at, new Date(Date.UTC(2000 + at, 5)));
}
export async function* breaks(): AsyncGenerator<unknown> {
  yield { at: new Date(0), bytes: new Uint8Array([1, 2]), none: undefined };
  yield undefined;
  yield Number.NaN;
  yield "text\\nof two lines";
  throw new Torn("torn off", 4);
}
export async function* parked(id: string): AsyncGenerator<string> {
  opened.add(id);
  const { signal } = getContext();
  try {
    yield "one";
    yield "two";
    // Ends with the signal only: its reader doesn't ask for a third item.
    await new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      signal.throwIfAborted();
    });
  } finally {
    opened.delete(id);
    await release(id);
  }
}
export async function open(): Promise<string[]> {
  return [...opened];
}
`,
    "src/streams/feed.ts": `import { getContext, withId } from "seamline";
export async function* feed(): AsyncGenerator<{ row: number }> {
  const last = Number(getContext().lastEventId?.replace("row-", "") ?? 0);
  for (let row = last + 1; row <= 3; row++) yield withId("row-" + row, { row });
}
`,
  },
  tests(mode) {
    const post = (args: object, init: RequestInit = {}): RequestInit => ({
      method: "POST",
      ...init,
      headers: {
        "content-type": "application/json",
        ...(init.headers as Record<string, string> | undefined),
      },
      body: JSON.stringify(args),
    });
    const text = async (path: string, init?: RequestInit): Promise<string> =>
      await (await mode().request(`/rpc/streams/${path}`, init)).text();
    /** Waits until the stream `id` is over, its clean-up on the other node too. */
    const over = async (id: string): Promise<void> =>
      await vi.waitFor(async () => expect(await text(`ended?id=${id}`)).toBe("false true"), {
        timeout: 5_000,
        interval: 10,
      });

    it("generators-1: items arrive as what they were, in order, over two procedures, and then the returned value", async () => {
      const answer = await mode().request("/rpc/streams/lengths", post({ count: 3 }));
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store, no-transform",
        "x-accel-buffering": "no",
        "x-svc-data-type": "stream",
      });
      expect(await answer.text()).toBe(
        "retry: 2000\nid: 0\n\n" +
          'id: 1\ndata: "1 m of 2001"\n\n' +
          'id: 2\ndata: "2 m of 2002"\n\n' +
          'id: 3\ndata: "3 m of 2003"\n\n' +
          "event: end\nid: end\ndata: 6\n\n",
      );
    });

    it("generators-2: an error in the middle arrives as its class, after the items before it", async () => {
      expect(JSON.parse(await text("mended"))).toEqual([
        { at: "1970-01-01T00:00:00.000Z", bytes: "AQI=" },
        null,
        null,
        "text\nof two lines",
        true,
        4,
        "torn off",
      ]);
      const fault = await text("breaks", post({}));
      const form: unknown = JSON.parse(/event: fault\nid: end\ndata: (.*)/.exec(fault)?.[1] ?? "");
      expect(form).toMatchObject({ serialized: true, name: "Error", message: "torn off" });
    });

    it("generators-3: break ends a generator that is parked on a promise, and its clean-up calls another node", async () => {
      expect(JSON.parse(await text("firstTwo?id=break"))).toEqual(["one", "two"]);
      await over("break");
    });

    it("generators-4: a signal ends it, too, and the reader gets the reason", async () => {
      expect(await text("limited?id=signal")).toBe("enough");
      await over("signal");
    });

    it("generators-5: a caller from outside who leaves ends it", async () => {
      const controller = new AbortController();
      const { signal } = controller;
      const answer = await mode().request("/rpc/streams/parked", post({ id: "leave" }, { signal }));
      const reader = answer.body!.getReader();
      let got = "";
      for (;;) {
        const { done, value } = await reader.read();
        expect(done).toBe(false);
        got += new TextDecoder().decode(value);
        if (got.includes('data: "two"')) break;
      }
      controller.abort();
      await over("leave");
    });

    it("generators-6: GET needs an entry that allows it, and a reader that has all of it gets nothing", async () => {
      expect((await mode().request("/rpc/streams/rolls?count=1")).status).toBe(200);
      const refused = await mode().request("/rpc/streams/parked?id=get");
      expect([refused.status, await refused.text()]).toEqual([
        405,
        expect.stringContaining("POST"),
      ]);
      for (const id of ["end", "3"]) {
        const again = await mode().request("/rpc/streams/rolls?count=1", {
          headers: { "last-event-id": id },
        });
        expect([again.status, await again.text()]).toEqual([204, ""]);
      }
    });

    it("generators-7: a caller that doesn't take a stream is told so before anything runs", async () => {
      for (const headers of [
        { accept: "application/json" },
        { "x-svc-data-encoding": "serialized" },
        { accept: "text/event-stream;q=0" },
      ]) {
        const answer = await mode().request(
          "/rpc/streams/parked",
          post({ id: "never" }, { headers: headers as Record<string, string> }),
        );
        expect([answer.status, answer.headers.get("x-svc-error")]).toEqual([406, "NotAcceptable"]);
      }
      expect(await text("ended?id=never")).toBe("false false");
    });

    it("generators-8: ids of the author come with the items, and the procedure learns the last one", async () => {
      expect(await text("feed")).toContain('id: row-1\ndata: {"row":1}\n\n');
      const rest = await text("feed", { headers: { "last-event-id": "row-2" } });
      expect(rest).toBe(
        'retry: 2000\nid: 0\n\nid: row-3\ndata: {"row":3}\n\nevent: end\nid: end\ndata: null\n\n',
      );
    });
  },
};
