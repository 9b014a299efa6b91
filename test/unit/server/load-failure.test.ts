import { join } from "node:path";

import { expect, it } from "vitest";

import { loadFailure, purposeOf } from "../../../server/modules/load-failure.ts";
import { encodeSerialized } from "../../../src/codec/serialized.ts";

import { OpaqueClasses } from "../../../src/codec/classes.ts";
const root = import.meta.dirname;
const failure = loadFailure(
  Object.assign(new Error("connect ECONNREFUSED 10.0.0.5:5432"), { syscall: "connect" }),
  {
    root,
    file: join(root, "shop/stock.js"),
    purpose: "shop/stock (segment warehouse)",
  },
);

it("the error of a module that throws while it loads has the location and the thrown value as its cause", () => {
  expect(failure.message).toMatch(
    /^load-failure\.test\.ts:\d+:\d+: Error: connect ECONNREFUSED 10\.0\.0\.5:5432, while loading shop\/stock \(segment warehouse\)\n/,
  );
  expect(failure.cause).toMatchObject({ syscall: "connect" });
});

it("the error of a module that throws while it loads names the cause of what was thrown", () => {
  const cause = new Error("lock data/auth/LOCK: already held by process");
  const thrown = new Error("Database failed to open", { cause });
  expect(loadFailure(thrown, { root, purpose: "the module auth/database" }).message).toContain(
    "Error: Database failed to open: lock data/auth/LOCK: already held by process, while loading the module auth/database",
  );
});

it("callers from outside see neither the location, nor the source, nor an internal address", async () => {
  const outer = new Error("The application can't be loaded", { cause: failure });
  const text = await encodeSerialized(outer, { classes: new OpaqueClasses(), stacks: false });
  expect(text).toContain("The application can't be loaded");
  expect(text).not.toMatch(/load-failure|10\.0\.0\.5|shop|warehouse/);
});

it("the error for a body with many procedures names the first ones", () => {
  const names = ["a", "b", "c", "d", "e"];
  const manifest = {
    modules: { "shop/all": { file: "shop/all.js", body: "shop/all~body.js" } },
    procedures: names.map((name) => ({
      fqn: `shop/${name}`,
      version: "0.0.0",
      module: "shop/all",
      export: name,
      parameters: [],
    })),
    segments: {
      one: [{ procedure: 0, access: "public" as const }],
      two: [{ procedure: 1, access: "public" as const }],
    },
  };
  expect(purposeOf("shop/all~body.js", manifest)).toBe(
    "shop/a, shop/b, shop/c and 2 more (segments one, two)",
  );
  expect(purposeOf("shop/all.js", manifest)).toBe("the module shop/all");
  const types = { ...manifest, types: "_types.js" };
  expect(purposeOf("_types.js", types)).toBe("the types of parameters");
});
