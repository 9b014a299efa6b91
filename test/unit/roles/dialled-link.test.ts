// How long a service waits before it dials a lost link again.

import { expect, it, vi } from "vitest";

import { nodeHost } from "../../../server/http/host.ts";
import { memoryLinks } from "../../../server/local/memory-links.ts";
import { createAccepting, type ProvenLink } from "../../../src/link/proven-link.ts";
import { DialledLink } from "../../../src/roles/links/dialled-link.ts";
import { settle, TestClock, TestLog } from "../../_cluster.ts";
import { serviceOf } from "../link/_services.ts";

/** Past these a dial gets no answer, so that a test ends that would dial without end. */
const mostDials = 1_000;

/** A service that dials a gateway, which does `onLink` with each link that it accepts. */
async function dialling(onLink: (link: ProvenLink) => void) {
  const clock = new TestClock();
  const log = new TestLog();
  const host = { ...nodeHost(), clock };
  const accept = createAccepting(serviceOf("gateway", undefined, { host }), {
    roles: ["node"],
    onRefusal: () => {},
    onLink,
  });
  const roles = new Map([["http://gateway", { accept } as never]]);
  const links = memoryLinks({ roles });
  /** When it dialled. */
  const dials: number[] = [];
  const dialled = new DialledLink({
    host: { clock, log },
    to: { url: "http://gateway" },
    roles: ["gateway"],
    service: serviceOf("node", undefined, { host }),
    dial: (...dialing) => {
      dials.push(clock.now());
      return dials.length > mostDials ? new Promise(() => {}) : links.dial(...dialing);
    },
    onLinked: () => {},
  });
  await dialled.start();
  await settle();
  return { clock, dials, dialled };
}

it("a peer that accepts each link and ends it at once is dialled by a back-off of up to 2 s", async () => {
  vi.spyOn(Math, "random").mockReturnValue(1);
  const { clock, dials, dialled } = await dialling(({ link }) => link.close(new Error("no")));
  await clock.pass(9_100);
  expect(dials).toEqual([0, 0, 100, 300, 700, 1_500, 3_100, 5_100, 7_100, 9_100]);
  dialled.stop();
});

it("a peer that drains each link as soon as it is open is dialled by the same back-off", async () => {
  vi.spyOn(Math, "random").mockReturnValue(1);
  const { clock, dials, dialled } = await dialling(({ link }) => void link.drain());
  await clock.pass(9_100);
  expect(dials).toEqual([0, 0, 100, 300, 700, 1_500, 3_100, 5_100, 7_100, 9_100]);
  dialled.stop();
});

it("a link that lived for longer than the largest wait is dialled again at once", async () => {
  vi.spyOn(Math, "random").mockReturnValue(1);
  let open: ProvenLink | undefined;
  let isRefusing = true;
  const { clock, dials, dialled } = await dialling((proven) => {
    if (isRefusing) proven.link.close(new Error("no"));
    else open = proven;
  });
  await clock.pass(1_400);
  isRefusing = false;
  await clock.pass(100);
  expect(dials).toEqual([0, 0, 100, 300, 700, 1_500]);
  await clock.pass(2_000);
  for (let times = 0; times < 3; times++) {
    open!.link.close(new Error("it restarts"));
    await clock.pass(0);
    expect(dials.at(-1)).toBe(clock.now());
    await clock.pass(2_000);
  }
  expect(dials).toHaveLength(9);
  dialled.stop();
});
