// A service behind a proxy that can't tell its list.

import { expect, it } from "vitest";

import { nodeHost } from "../../../server/http/host.ts";
import type { PeerResponse } from "../../../src/base/ports.ts";
import { KnownLists, type Teller } from "../../../src/roles/upstreams/known-lists.ts";
import { TestClock, TestLog } from "../../_cluster.ts";

/** A proxy that is linked to a gateway, which answers as `answer` does. */
function linked(answer: () => PeerResponse | Promise<PeerResponse>) {
  const [clock, log] = [new TestClock(), new TestLog()];
  const host = { ...nodeHost(), clock, log };
  let asked = 0;
  const teller: Teller = {
    url: "http://gateway",
    instance: "g1",
    send: async () => {
      asked++;
      return await answer();
    },
  };
  const lists = new KnownLists({
    host,
    upstreams: () => [teller],
  });
  lists.linked(teller);
  return { clock, log, lists, teller, asked: () => asked };
}

const refusal = (status: number): PeerResponse => ({ status, headers: {}, body: new Uint8Array() });
const list: PeerResponse = {
  status: 200,
  headers: {},
  body: new TextEncoder().encode(
    JSON.stringify({ procedures: [], routes: [{ name: "shop", method: "GET", path: "/shop" }] }),
  ),
};
const warning = (why: string) =>
  `warning: can't learn which routes http://gateway has (${why}); trying again`;

it("a list that can't be had is asked for again within 2 s each time, and the log has one line for each reason", async () => {
  let answer: PeerResponse | Error = refusal(500);
  const { clock, log, lists, asked } = linked(() => {
    if (answer instanceof Error) throw answer;
    return answer;
  });
  await clock.pass(60_000);
  expect(asked()).toBeGreaterThan(30);
  expect(log.lines).toEqual([warning("it answered 500")]);
  answer = new Error("it is silent");
  await clock.pass(60_000);
  expect(log.lines).toEqual([warning("it answered 500"), warning("it is silent")]);
  answer = list;
  await clock.pass(2_000);
  expect(lists.table.all.map(({ name }) => name)).toEqual(["shop"]);
  const before = asked();
  await clock.pass(60_000);
  expect(asked()).toBe(before);
});

it("a service whose list could be had meanwhile is warned of anew", async () => {
  let answer = refusal(500);
  const { clock, log, lists, teller } = linked(() => answer);
  await clock.pass(5_000);
  answer = list;
  await clock.pass(2_000);
  answer = refusal(500);
  lists.linked(teller);
  await clock.pass(5_000);
  expect(log.lines).toEqual([warning("it answered 500"), warning("it answered 500")]);
});

it("a list that can't be had because the link is over is asked for over the next one, without a warning", async () => {
  let fail = (_: Error): void => {};
  const { clock, log, lists, teller, asked } = linked(
    () => new Promise((_, reject) => (fail = reject)),
  );
  await clock.settle();
  lists.lost(teller);
  fail(new Error("The link broke"));
  await clock.pass(5_000);
  expect([log.lines, asked()]).toEqual([[], 1]);
  lists.linked(teller);
  await clock.settle();
  expect(asked()).toBe(2);
});
