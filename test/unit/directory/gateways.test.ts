// The contract of the port through which services find gateways, for each implementation of it.

import { describe, expect, it, vi } from "vitest";

import type { Gateways } from "../../../src/base/ports/gateways.ts";
import { directories, type World, worlds } from "./_worlds.ts";

const [a, b] = ["http://10.0.0.1:3000", "http://10.0.0.2:3000"] as const;

/** The gateways of each notification to a service. */
function toldBy(gateways: Gateways): { readonly all: string[][]; readonly stop: () => void } {
  const all: string[][] = [];
  return { all, stop: gateways.watch((found) => all.push(found.map(({ url }) => url))) };
}

const soon = async (check: () => void): Promise<void> =>
  await vi.waitFor(check, { timeout: 10_000, interval: 10 });

describe.each(Object.entries(worlds))("gateways from %s", (_, begin) => {
  it("are told at once to each who watches, and once, however long nothing changes, or the directory is away", async () => {
    const world = await begin();
    await world.gateway(a);
    await world.gateway(b);
    const service = await world.service();
    const told = toldBy(service);
    expect(told.all).toEqual([[a, b]]);
    expect(toldBy(service).all).toEqual([[a, b]]);
    await world.pass(120_000);
    await world.away();
    await world.pass(120_000);
    await world.back();
    expect(told.all).toEqual([[a, b]]);
    told.stop();
  });

  it("are there for the next service, whatever became of an earlier one", async () => {
    const world = await begin();
    await world.gateway(a);
    const first = toldBy(await world.service());
    first.stop();
    expect(toldBy(await world.service()).all).toEqual([[a]]);
  });
});

describe.each(Object.entries(directories))("gateways that come and go, from %s", (_, begin) => {
  let world: World;
  const linesWith = (words: RegExp) => world.log.lines.filter((line) => words.test(line));

  it("are told at once to whoever watches, and when one comes or leaves", async () => {
    world = await begin();
    const first = await world.gateway(a);
    const service = await world.service();
    const told = toldBy(service);
    expect(told.all).toEqual([[a]]);
    const second = await world.gateway(b);
    await soon(() => expect(told.all.at(-1)).toEqual([a, b]));
    // Another who watches is told what there is.
    expect(toldBy(service).all).toEqual([[a, b]]);
    await first.leave();
    await soon(() => expect(told.all).toEqual([[a], [a, b], [b]]));
    told.stop();
    await second.leave();
    await world.pass(5_000);
    expect(told.all).toHaveLength(3);
  });

  it("are none before the first one comes, and a service isn't told what it knows", async () => {
    world = await begin();
    const told = toldBy(await world.service());
    expect(told.all).toEqual([[]]);
    await world.gateway(a);
    // A second process at the same address is no second gateway.
    await world.gateway(a);
    await soon(() => expect(told.all).toEqual([[], [a]]));
    await world.pass(200_000);
    expect(told.all).toEqual([[], [a]]);
  });

  it("are gone 90 s after they ended without a word, and no sooner", async () => {
    world = await begin();
    await world.gateway(a);
    const dying = await world.gateway(b);
    const told = toldBy(await world.service());
    await dying.die();
    await world.pass(60_000);
    expect(told.all).toEqual([[a, b]]);
    await world.pass(60_000);
    await soon(() => expect(told.all).toEqual([[a, b], [a]]));
  });

  it("stay while the directory is away, however long, and those that come meanwhile are told when it is back", async () => {
    world = await begin();
    const first = await world.gateway(a);
    const service = await world.service();
    const told = toldBy(service);
    await world.away();
    await soon(() => expect(world.log.lines.join("\n")).toMatch(/is away/));
    const coming = world.gateway(b);
    await world.pass(150_000);
    expect(told.all).toEqual([[a]]);
    await world.back();
    await coming;
    await soon(() => expect(told.all).toEqual([[a], [a, b]]));
    await soon(() => expect(linesWith(/^the directory at .* is back$/)).toHaveLength(3));
    // Once by each of three services.
    expect(linesWith(/is away .*: links and calls go on/)).toHaveLength(2);
    expect(linesWith(/is away .*: waiting for it/)).toHaveLength(1);
    await first.leave();
    await soon(() => expect(told.all.at(-1)).toEqual([b]));
  });

  it("stay when the directory loses all that is in it: they write it again", async () => {
    world = await begin();
    await world.gateway(a);
    const leaving = await world.gateway(b);
    const told = toldBy(await world.service());
    await world.away();
    await leaving.die();
    await world.back(true);
    await soon(() => expect(linesWith(/^the directory at .* is back$/)).toHaveLength(2));
    await soon(async () => expect(toldBy(await world.service()).all).toEqual([[a]]));
    expect(told.all).toEqual([[a, b]]);
    await world.pass(100_000);
    await soon(() => expect(told.all).toEqual([[a, b], [a]]));
  });
});
