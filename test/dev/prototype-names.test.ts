// Names that every object inherits, in development: see test/_prototype-names.ts.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { names, prototypeNames, through } from "../_prototype-names.ts";
import { develop, eventually } from "./_session.ts";

it("an application with names such as __proto__ is served, called, edited and moved like any other", async () => {
  const running = await develop(prototypeNames);
  const { session } = running;
  const others = names.filter((name) => name !== "toString");
  expect(running.logged).toEqual([]);
  expect(
    session.nodes().map(({ name, state, procedures }) => `${name} ${state} ${procedures}`),
  ).toEqual([...others, "isPrototypeOf"].sort().map((name) => `${name} ready 1`));
  for (const name of names) {
    expect((await running.get(`/rpc/${name}?toString=end&valueOf=2`)).value).toEqual({
      text: through(name, 2),
    });
    expect(await session.call(name, { toString: "end" })).toMatchObject({
      value: { text: `${name} end` },
    });
  }

  // Moved by hand, as an editor would, and by the session.
  await session.move("__proto__", "constructor");
  const text = readFileSync(join(running.root, "segments/constructor.segment.json"), "utf8");
  expect(Object.keys((JSON.parse(text) as Record<string, object>)["./__proto__"] ?? {})).toEqual([
    "__proto__",
  ]);
  const held = () => session.procedures().find(({ fqn }) => fqn === "__proto__")?.nodes;
  expect(await eventually(held, (nodes) => nodes?.join() === "constructor")).toEqual([
    "constructor",
  ]);
  expect((await running.get("/rpc/__proto__?toString=end")).value).toEqual({
    text: "__proto__ end",
  });

  running.edit("src/__proto__.ts", "`__proto__ ", "`edited ");
  const edited = async () => (await running.get("/rpc/__proto__?toString=end")).value;
  expect(await eventually(edited, (value) => JSON.stringify(value).includes("edited"))).toEqual({
    text: "edited end",
  });
});
