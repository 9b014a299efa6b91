// Inputs with which the fuzzer found faults.

import { describe, expect, it } from "vitest";
import { parseConfig } from "../../server/config/config.ts";
import { parseManifest } from "../../server/modules/parse-manifest.ts";
import { TestDeployment } from "../_cluster.ts";
import { dialAsMember, memoryDial } from "../_fake-member.ts";

describe("a node that joins with a route whose", () => {
  it.each([
    ["path has half of a surrogate pair", "POST", "/\ud800hooks/:id"],
    ["method is an object that can't be text", { toString: "POST" }, "/hooks/:id"],
    ["path is an object that can't be text", "POST", { toString: 1, valueOf: 1 }],
  ])("%s gets a 400", async (_, method, path) => {
    const local = new TestDeployment();
    await local.gateway();
    const member = await dialAsMember({ dial: memoryDial(local.network) });
    const { status, text } = await member.announce({
      procedures: [],
      routes: [{ name: "a/hook", method, path }],
    });
    expect([status, text]).toEqual([
      400,
      expect.stringMatching(/^The route 'a\/hook': |^'routes'/),
    ]);
  });
});

it("a configured host that no address can have is a problem with its place", () => {
  const config = { mode: "repository", url: "http://127.0.0.1:0", hosts: ["\udfff"] };
  expect(() => parseConfig(config, "seamline.json", { root: "/", env: {} })).toThrow(
    /hosts.*expected a host name such as shop\.example/s,
  );
});

describe("a manifest whose", () => {
  const empty = { format: 2, segments: [], parameters: [[]], places: [[]] };
  it.each([
    [
      "modules aren't objects",
      { procedures: [null] },
      "an entry of 'procedures' has no list of exports",
    ],
    ["modules have no tables", { procedures: [{ module: "a", exports: 0 }] }, "no list of exports"],
    ["tables have no rows", { procedures: [{ module: "a", exports: [{}] }] }, "no list of exports"],
    [
      "places aren't lists",
      { places: ["x"], procedures: [{ module: "a", exports: [["b", 0, 0]] }] },
      "the procedure b has no parameters or places",
    ],
  ])("%s is refused with what is wrong", (_, change, message) => {
    const text = JSON.stringify({ ...empty, ...change });
    expect(() => parseManifest(text, "manifest.json")).toThrow(message);
  });
});
