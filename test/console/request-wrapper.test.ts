import { expect, it } from "vitest";

import type { HttpRequest } from "../../src/base/ports.ts";
import { RequestWrapper } from "../../console/server/calls/request-wrapper.ts";

it("a call that the console watches is the same request: with its caller's rights, address, link and time", async () => {
  const peer = { send: async () => ({ status: 200, headers: {}, body: new Uint8Array() }) };
  const request: Required<HttpRequest> = {
    method: "POST",
    target: "/rpc/a",
    scheme: "https",
    address: "192.0.2.1",
    headers: { "content-type": "application/json" },
    body: (async function* () {})(),
    readBody: async (limit) => new Uint8Array(limit),
    waitedMs: 20,
    isReceiving: true,
    signal: new AbortController().signal,
    departure: undefined,
    cookiesAreSent: false,
    via: { isAt: () => {}, instance: "a-1", hasRoom: true, isSilent: false, retire() {}, ...peer },
    from: "service",
    onCut: () => {},
    notes: { route: undefined, failure: undefined },
  };
  const watched: HttpRequest = new RequestWrapper(request);
  expect(await watched.readBody(3)).toHaveLength(3);
  for (const key of Object.keys(request) as (keyof HttpRequest)[])
    if (key !== "readBody") expect([key, watched[key]]).toEqual([key, request[key]]);
  // A handler sets this to end its answer when the service stops.
  const cut = (): void => {};
  watched.onCut = cut;
  expect(request.onCut).toBe(cut);
});
