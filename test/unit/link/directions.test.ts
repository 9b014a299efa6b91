// Whose calls go which way over a link.

import { describe, expect, it } from "vitest";

import { settle } from "../../../server/testing/test-clock.ts";
import type { CallFrom } from "../../../src/base/ports.ts";
import type { LinkCall } from "../../../src/link/calls.ts";
import { dialersOf, takenFrom } from "../../../src/link/directions.ts";
import { linked } from "./_pair.ts";

const roles = ["gateway", "node", "proxy", "repository", "standalone"];
const kinds: readonly CallFrom[] = ["key", "service", "outside"];

describe("a link", () => {
  it.each([
    ["gateway", ["node", "proxy"]],
    ["node", ["proxy"]],
    ["standalone", ["proxy", "node", "gateway"]],
    ["repository", ["proxy", "node", "gateway"]],
    ["proxy", []],
    ["constructor", []],
  ])("to a %s is for %j", (role, dialers) => {
    expect(dialersOf(role)).toEqual(dialers);
  });

  it.each([
    ["node", "gateway", ["key", "service"], ["key", "service", "outside"]],
    ["proxy", "gateway", ["key", "service", "outside"], ["key"]],
    ["proxy", "node", ["key", "service", "outside"], ["key"]],
    ["proxy", "standalone", ["key", "service", "outside"], ["key"]],
    ["node", "repository", ["key"], []],
    ["gateway", "standalone", ["key"], []],
    ["proxy", "repository", ["key", "outside"], []],
  ])("of a %s to a %s carries there %j, and back %j", (dialer, acceptor, there, back) => {
    expect(takenFrom({ role: acceptor, isDialer: false }, dialer)).toEqual(there);
    expect(takenFrom({ role: dialer, isDialer: true }, acceptor)).toEqual(back);
  });

  it("between any other two carries nothing", () => {
    for (const acceptor of roles)
      for (const dialer of roles)
        if (!dialersOf(acceptor).includes(dialer))
          for (const isDialer of [true, false])
            expect(
              takenFrom(
                { role: isDialer ? dialer : acceptor, isDialer },
                isDialer ? acceptor : dialer,
              ),
            ).toEqual([]);
  });

  it.each(kinds)("is over after a call that its other end may not send: %s", async (from) => {
    const ran: string[] = [];
    const { acceptor, dialer, closed } = linked(
      {
        dialer: async ({ target }) => {
          ran.push(target);
          return { status: 200, headers: {}, body: "" };
        },
      },
      undefined,
      undefined,
      undefined,
      kinds.filter((kind) => kind !== from),
    );
    await settle();
    const call = (kind: CallFrom, target: string): LinkCall => ({
      from: kind,
      method: "GET",
      target,
      headers: {},
      body: "",
      signal: undefined,
    });
    for (const kind of kinds) if (kind !== from) await acceptor.send(call(kind, "/right"));
    expect([dialer.isClosed, ran.length]).toEqual([false, 2]);
    await expect(acceptor.send(call(from, "/wrong"))).rejects.toThrow();
    expect([ran.length, dialer.isClosed, acceptor.isClosed]).toEqual([2, true, true]);
    expect(closed[0]).toMatchObject({ message: expect.stringContaining("may not send") });
  });
});
