// Which requests go which way over a link.

import { describe, expect, it } from "vitest";

import { settle } from "../../../server/testing/test-clock.ts";
import type { CallFrom } from "../../../src/base/ports.ts";
import type { LinkCall } from "../../../src/link/calls.ts";
import { dialersOf, type Takes, takenFrom } from "../../../src/link/directions.ts";
import { linked } from "./_pair.ts";

const roles = ["gateway", "node", "proxy", "repository", "standalone"];
const kinds: readonly CallFrom[] = ["key", "service", "trusted", "outside"];

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

  const nodes = ["DELETE /nodes", "GET /nodes", "POST /nodes", "PUT /nodes/lists/0f"];
  const modules = ["GET /svc/modules/_app/a.js?revision=1", "HEAD /svc/manifest.json"];
  const lists = [
    "GET /svc/console/state",
    "GET /svc/console/types/shop/quote",
    "GET /svc/routes",
    "GET /svc/types/shop/quote",
  ];
  const asksNodes = [
    "GET /health",
    "GET /health/status",
    "GET /svc/calls",
    "GET /svc/gateways",
    "GET /svc/procedures/shop/quote",
    "GET /svc/types/shop/quote",
  ];
  /** All that a service asks for itself, and what none does. */
  const own = [
    ...nodes,
    ...modules,
    ...lists,
    ...asksNodes.filter((request) => !lists.includes(request)),
    "PUT /svc/routes",
    "GET /svc/types",
    "GET /rpc/shop/quote",
    "POST /rpc/shop/quote",
    "POST /svc/console/token",
    "POST /svc/console/rpc/shop/quote",
    "GET /svc/modules",
    "PUT /nodes/lists",
    "GET /nodes/lists/0f",
    "POST /nodes/",
    "GET /health/live",
    "post /nodes",
    "GET /",
  ];
  const taken = (takes: Takes): readonly string[] => [
    ...kinds.filter((kind) => kind !== "key" && takes(kind, "GET", "/rpc/a")),
    ...own
      .filter((request) => takes("key", ...(request.split(" ") as [string, string])))
      .toSorted(),
  ];

  it.each([
    ["node", "gateway", ["service", ...nodes], ["service", "trusted", "outside", ...asksNodes]],
    ["proxy", "gateway", ["trusted", "outside", ...lists], ["PUT /svc/routes"]],
    ["proxy", "node", ["trusted", "outside", ...lists], ["PUT /svc/routes"]],
    [
      "proxy",
      "standalone",
      ["trusted", "outside", ...[...lists, ...modules].toSorted()],
      ["PUT /svc/routes"],
    ],
    ["node", "repository", modules, []],
    ["gateway", "repository", modules, []],
    ["node", "standalone", modules, []],
    ["gateway", "standalone", modules, []],
    ["proxy", "repository", ["outside", ...modules], []],
  ])("of a %s to a %s carries there %j, and back %j", (dialer, acceptor, there, back) => {
    expect(taken(takenFrom({ role: acceptor, isDialer: false }, dialer))).toEqual(there);
    expect(taken(takenFrom({ role: dialer, isDialer: true }, acceptor))).toEqual(back);
  });

  it("between any other two carries nothing", () => {
    for (const acceptor of roles)
      for (const dialer of roles)
        if (!dialersOf(acceptor).includes(dialer))
          for (const isDialer of [true, false])
            expect(
              taken(
                takenFrom(
                  { role: isDialer ? dialer : acceptor, isDialer },
                  isDialer ? acceptor : dialer,
                ),
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
      (kind) => kind !== from,
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
    expect([dialer.isClosed, ran.length]).toEqual([false, 3]);
    await expect(acceptor.send(call(from, "/wrong"))).rejects.toThrow();
    expect([ran.length, dialer.isClosed, acceptor.isClosed]).toEqual([3, true, true]);
    expect(closed[0]).toMatchObject({ message: expect.stringContaining("may not send") });
  });
});
