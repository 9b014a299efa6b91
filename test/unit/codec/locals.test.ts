import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";

import type { Locals } from "../../../src/base/call-scope.ts";
import { encodeLocals, freezeDeeply } from "../../../src/codec/locals.ts";

type Change = (value: never) => unknown;

describe("frozen locals", () => {
  it.each<[string, object, Record<string, Change>]>([
    [
      "a Map",
      new Map([["a", 1]]),
      {
        set: (map: Map<string, number>) => map.set("b", 2),
        delete: (map: Map<string, number>) => map.delete("a"),
        clear: (map: Map<string, number>) => map.clear(),
      },
    ],
    [
      "a Set",
      new Set(["a"]),
      {
        add: (set: Set<string>) => set.add("b"),
        delete: (set: Set<string>) => set.delete("a"),
        clear: (set: Set<string>) => set.clear(),
      },
    ],
    [
      "a Date",
      new Date(0),
      {
        setTime: (date: Date) => date.setTime(1),
        setFullYear: (date: Date) => date.setFullYear(2000),
        setUTCHours: (date: Date) => date.setUTCHours(1),
      },
    ],
    [
      "a URL",
      new URL("https://shop.example/a?b=1"),
      {
        href: (url: URL) => (url.href = "https://evil.example"),
        search: (url: URL) => (url.search = ""),
        parameter: (url: URL) => url.searchParams.append("c", "1"),
        sort: (url: URL) => url.searchParams.sort(),
      },
    ],
    [
      "a Map of another realm",
      runInNewContext('new Map([["a", new Date(0)]])') as object,
      {
        set: (map: Map<string, Date>) => map.set("b", new Date(1)),
        setTime: (map: Map<string, Date>) => map.get("a")?.setTime(1),
      },
    ],
    ["a list", ["a"], { push: (list: string[]) => list.push("b") }],
    [
      "an error's cause",
      new Error("a", { cause: { code: 1 } }),
      { code: (error: Error) => ((error.cause as { code: number }).code = 2) },
    ],
    [
      "what a Map holds",
      new Map([["a", new Set(["b"])]]),
      { add: (map: Map<string, Set<string>>) => map.get("a")?.add("c") },
    ],
    [
      "what the application had frozen, but not deeply",
      Object.freeze({ roles: [] }),
      { push: ({ roles }: { roles: string[] }) => roles.push("admin") },
    ],
  ])("%s can't be changed, and reads as before", (_what, value, changes) => {
    const locals: Locals = Object.fromEntries([["value", value]]);
    const before = encodeLocals(locals, 8_192);
    freezeDeeply(locals);
    // A value that middleware puts into the locals of each call.
    freezeDeeply({ value });
    for (const [name, change] of Object.entries(changes))
      expect(() => change(value as never), name).toThrow(TypeError);
    expect(encodeLocals(locals, 8_192)).toBe(before);
  });

  it("a change says why it can't be", () => {
    const locals = { user: new Map() };
    freezeDeeply(locals);
    expect(() => locals.user.set("a", 1)).toThrow(
      "locals are frozen once the procedure has started, and so is all in them",
    );
  });
});

describe("values that locals can't hold", () => {
  it.each([
    [
      "bytes",
      new Uint8Array(1),
      "locals.user.value: a value of type Uint8Array can't be in locals, as nothing can freeze it; put a text there",
    ],
    [
      "a buffer",
      new ArrayBuffer(1),
      "locals.user.value: a value of type ArrayBuffer can't be in locals, as nothing can freeze it; put a text there",
    ],
    ["a Blob", new Blob(["x"]), "locals.user.value: a Blob can't be in locals"],
    ["a FormData", new FormData(), "locals.user.value: a FormData can't be in locals"],
    [
      "a frozen Map",
      Object.freeze(new Map()),
      "locals.user.value: this Map was frozen before, but its content can still change; leave that to locals",
    ],
    [
      "an instance",
      new (class User {})(),
      "locals.user.value: an instance of 'User' can't be in locals, as gateways and proxies don't have the application's classes; put a plain object there",
    ],
  ])("%s is refused by its name", (_what, value, message) => {
    expect(() => encodeLocals({ user: { value } } as Locals, 8_192)).toThrow(message);
  });
});
