// Many calls may get one result at the same moment. To encode it for all of them at once would keep the event
// loop for seconds.

import { describe, expect, it } from "vitest";
import { HeldMemory } from "../../../server/host/held-memory.ts";
import { prompt } from "../../../server/http/host.ts";
import { NodeNotAvailable } from "../../../src/base/errors.ts";
import { largeBytes, LargeAnswers } from "../../../src/wire/large-answers.ts";
import { ask, settle, TestDeployment, testModules } from "../../_cluster.ts";
import { body } from "../../spec/_shop.ts";

/** A standalone two of whose procedures get their results when `publish` is called. */
async function sharing(bytes: number) {
  const turns: (() => void)[] = [];
  const loop = { ...prompt, turn: (run: () => void) => void turns.push(run) };
  const local = new TestDeployment({ loop });
  let publish = (): void => {};
  const ready = new Promise<void>((resolve) => (publish = resolve));
  const modules = testModules(
    ["shop/shared", "shop/other"].map((fqn) => ({
      fqn,
      in: { all: "public" },
      body: body(fqn, async () => {
        await ready;
        return ["x".repeat(fqn === "shop/other" ? 1 : bytes)];
      }),
    })),
  );
  const role = await local.standalone({ modules, segments: ["all"] });
  const statuses: number[] = [];
  const call = async (name: string): Promise<void> => {
    statuses.push((await ask(role, "GET", `/rpc/shop/${name}`)).status);
  };
  for (let count = 0; count < 10; count++) void call("shared");
  await settle();
  publish();
  await settle();
  const turn = async (): Promise<void> => {
    for (const run of turns.splice(0)) run();
    await settle();
  };
  return { call, statuses, turn, turns };
}

describe("large answers of a procedure", () => {
  it("are made one in a turn of the event loop, however many calls get their results at once, and those of others at once", async () => {
    const { call, statuses, turn, turns } = await sharing(2 * largeBytes);
    expect(statuses).toEqual([200]);
    await call("other");
    expect(statuses).toHaveLength(2);
    for (let count = 3; count <= 11; count++) {
      await turn();
      expect(statuses).toHaveLength(count);
    }
    await turn();
    expect(turns).toEqual([]);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it("wait for nothing if they are small", async () => {
    const { statuses } = await sharing(largeBytes / 2);
    expect(statuses).toHaveLength(10);
  });

  it("are refused before they are made if there is no room for what waits, which counts like the last one", async () => {
    // Three quarters of it are for answers.
    const memory = new HeldMemory(16 * largeBytes);
    const turns: (() => void)[] = [];
    const large = new LargeAnswers({ loop: { turn: (run) => void turns.push(run) }, memory });
    large.made("shop/shared", 3 * largeBytes);
    let gone = 0;
    for (let count = 0; count < 4; count++) void large.turn("shop/shared")?.then(() => gone++);
    expect(() => large.turn("shop/shared")).toThrow(NodeNotAvailable);
    expect(large.turn("shop/other")).toBeUndefined();
    while (turns.length > 0) {
      turns.shift()!();
      await settle();
    }
    expect([gone, memory.bytes]).toEqual([4, 0]);
  });
});
