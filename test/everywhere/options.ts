// Options of calls, and how far the end of a call reaches: three procedures, the middle one of which
// may be on another node.

import { expect, it, vi } from "vitest";

import type { Suite } from "./_modes.ts";

export const options: Suite = {
  title: "options of calls",
  files: {
    "segments/options.segment.json": `{
  "./options/outer": {
    "headers": { "access": "public" },
    "limit": { "access": "public" },
    "abort": { "access": "public" },
    "pass": { "access": "public" },
    "tell": { "access": "public" }
  },
  "./options/innermost": {
    "stay": { "access": "protected" },
    "seen": { "access": "protected" },
    "stateHere": { "access": "protected" }
  }
}
`,
    "segments/options-inner.segment.json": `{
  "./options/inner": {
    "wait": { "access": "protected" },
    "show": { "access": "protected" },
    "state": { "access": "protected" }
  }
}
`,
    "src/options/outer.ts": `import { withOptions } from "seamline";
import { show, state, wait } from "./inner.ts";
import { stateHere } from "./innermost.ts";
export async function headers(): Promise<object> {
  const set = { "X-Thread": "felt", "accept-language": undefined };
  return { set: await withOptions(show, { headers: set })(), inherited: await show() };
}
export async function limit(id: string): Promise<string> {
  return await withOptions(wait, { timeoutMs: 250 })(id).then(
    () => "answered",
    (error: Error) => error.name,
  );
}
export async function abort(id: string): Promise<string> {
  const controller = new AbortController();
  const call = withOptions(wait, { signal: controller.signal })(id).then(
    () => "answered",
    (error: Error) => error.message,
  );
  while ((await tell(id)) !== "waiting waiting") await new Promise((go) => setTimeout(go, 5));
  controller.abort(new Error("enough"));
  return await call;
}
export async function pass(id: string): Promise<void> {
  await wait(id);
}
export async function tell(id: string): Promise<string> {
  return (await state(id)) + " " + (await stateHere(id));
}
`,
    "src/options/inner.ts": `import { getContext } from "seamline";
import { seen, stay } from "./innermost.ts";
const states = new Map<string, string>();
export async function wait(id: string): Promise<void> {
  states.set(id, "waiting");
  const { signal } = getContext();
  const aborted = new Promise<void>((resolve) =>
    signal.addEventListener("abort", () => {
      states.set(id, "aborted");
      resolve();
    }),
  );
  // The other's deadline may pass some milliseconds earlier, and a call that has ended isn't aborted.
  await Promise.allSettled([stay(id), aborted]);
}
export async function show(): Promise<object> {
  const { headers } = getContext();
  return {
    inner: [headers.get("x-thread") ?? "", headers.get("accept-language") ?? ""],
    innermost: await seen(),
  };
}
export async function state(id: string): Promise<string> {
  return states.get(id) ?? "unknown";
}
`,
    "src/options/innermost.ts": `import { getContext } from "seamline";
const states = new Map<string, string>();
export async function stay(id: string): Promise<void> {
  states.set(id, "waiting");
  const { signal } = getContext();
  await new Promise<void>((resolve) =>
    signal.addEventListener("abort", () => {
      states.set(id, "aborted");
      resolve();
    }),
  );
}
export async function seen(): Promise<string[]> {
  const { headers } = getContext();
  return [headers.get("x-thread") ?? "", headers.get("accept-language") ?? ""];
}
export async function stateHere(id: string): Promise<string> {
  return states.get(id) ?? "unknown";
}
`,
  },
  tests(mode) {
    const text = async (name: string, id: string): Promise<string> => {
      const answer = await mode().request(`/rpc/options/${name}?id=${id}`);
      return await answer.text();
    };
    /** Waits until the signals of the inner and of the innermost procedure are in this state. */
    const both = async (id: string, state: string): Promise<void> =>
      await vi.waitFor(async () => expect(await text("tell", id)).toBe(`${state} ${state}`), {
        timeout: 5_000,
        interval: 10,
      });

    it("headers reach the procedure and what it calls, and no other call of the caller", async () => {
      const answer = await mode().request("/rpc/options/headers", {
        headers: { "accept-language": "de", "x-thread": "silk" },
      });
      expect(await answer.json()).toEqual({
        set: { inner: ["felt", ""], innermost: ["felt", ""] },
        inherited: { inner: ["silk", "de"], innermost: ["silk", "de"] },
      });
    });

    it("timeoutMs rejects with DeadlineExceeded, and both signals below abort", async () => {
      // Loads the modules first, as the limit includes that.
      expect(await text("tell", "limit")).toBe("unknown unknown");
      const answer = text("limit", "limit");
      await both("limit", "waiting");
      await mode().pass(250);
      expect(await answer).toBe("DeadlineExceeded");
      await both("limit", "aborted");
    });

    it("a signal rejects with its reason, and both signals below abort", async () => {
      expect(await text("abort", "abort")).toBe("enough");
      await both("abort", "aborted");
    });

    it("the abort of a request from outside reaches the innermost signal, and the next call works", async () => {
      const controller = new AbortController();
      const call = mode().request("/rpc/options/pass?id=outside", { signal: controller.signal });
      const rejected = expect(call).rejects.toMatchObject({ name: "AbortError" });
      await both("outside", "waiting");
      controller.abort();
      await rejected;
      await both("outside", "aborted");
      expect(await text("tell", "next")).toBe("unknown unknown");
    });
  },
};
