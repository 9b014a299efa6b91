// The header fields that a service passes on with a call, and those of the answer.

import { describe, expect, it } from "vitest";

import { BadGateway, DeadlineExceeded, NodeNotAvailable } from "../../../src/base/errors.ts";
import {
  type HeaderFields,
  type Host,
  type OutgoingRequest,
  type Peer,
  TransportError,
} from "../../../src/base/ports.ts";
import {
  forwardingError,
  joined,
  endToEndHeaders,
  relayAnswer,
} from "../../../src/roles/relay/forward.ts";
import { Attempt } from "../../../src/roles/relay/attempt.ts";
import { stranger } from "../../../src/http/trust.ts";
import type { Exchange } from "../../../src/wire/exchange.ts";

const answer = (headers: HeaderFields, body = "") => ({
  status: 200,
  headers,
  body: new TextEncoder().encode(body),
});

/** The fields that are sent on for a call that differs from the usual one by `call`. */
async function sent(
  call: Partial<Exchange> = {},
  fields: HeaderFields = {},
  own?: Readonly<Record<string, string>>,
): Promise<OutgoingRequest> {
  const requests: OutgoingRequest[] = [];
  const host = { clock: { now: () => 1_000 } } as unknown as Host;
  const peer: Peer = {
    send: async (request) => {
      requests.push(request);
      return answer({});
    },
  };
  const incoming = {
    deadline: 3_000,
    hops: 0,
    trust: stranger,
    crossSite: false,
    state: { relayedFields: () => ({}) },
    requestedOrigin: {},
    request: { headers: fields },
    signal: new AbortController().signal,
    ...call,
  } as unknown as Exchange;
  const forwarded = {
    method: "POST",
    target: "/rpc/shop/quote?version=1",
    body: new Uint8Array(),
    ...(own && { headers: own }),
  };
  await new Attempt(incoming, forwarded, host.clock, undefined).send(peer);
  return requests[0] as OutgoingRequest;
}

describe("the fields that are forwarded", () => {
  it.each([
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "host",
    "content-length",
    "expect",
    "x-svc-hops",
    "x-svc-anything",
  ])("%s stays with the connection or the service that got it", (name) => {
    expect(endToEndHeaders({ [name]: "1", cookie: "a=b" }, () => false)).toEqual({ cookie: "a=b" });
  });

  it("Fields that `Connection` names are dropped, except those about the body", () => {
    const fields = {
      connection: "X-One, content-type",
      "x-one": "1",
      "content-type": "text/plain",
    };
    expect(endToEndHeaders(fields, () => false)).toEqual({ "content-type": "text/plain" });
  });

  it("A service field is forwarded only if the caller of endToEndHeaders keeps it", () => {
    expect(
      endToEndHeaders({ "x-svc-node": "a", "x-svc-b": "c" }, (name) => name === "x-svc-node"),
    ).toEqual({ "x-svc-node": "a" });
  });

  it("A field with several values becomes one text, as requests have it", () => {
    expect(joined({ a: "1", b: ["2", "3"] })).toEqual({ a: "1", b: "2, 3" });
  });
});

describe("a forwarded call", () => {
  it("A forwarded call has one more hop and the remaining whole milliseconds", async () => {
    const { headers } = await sent({ hops: 3, deadline: 1_000.2 });
    expect(headers).toMatchObject({ "x-svc-hops": "4", "x-svc-deadline": "1" });
  });

  it.each([1_000, 999.5, 0])(
    "A call whose deadline is %d at 1000 is not sent",
    async (deadline) => {
      await expect(sent({ deadline })).rejects.toThrow(DeadlineExceeded);
    },
  );

  it.each([
    ["a procedure", { trusted: true, inner: true }, "service"],
    ["somebody with the key", { trusted: true }, "trusted"],
    ["nobody known", {}, "outside"],
  ])("A call of %s is sent as what it is", async (_, proven, sender) => {
    expect((await sent({ trust: { ...stranger, ...proven } })).from).toBe(sender);
  });

  it.each([
    [true, "yes"],
    [false, "no"],
  ])("It says whether a page of another origin caused it: %s is %s", async (crossSite, field) => {
    expect((await sent({ crossSite })).headers["x-svc-cross-site"]).toBe(field);
  });

  it("The caller can't set headers that the service sets itself", async () => {
    const { headers } = await sent(
      { requestedOrigin: { host: "shop.example", scheme: "https", isForwarded: false } },
      {
        "x-svc-hops": "0",
        "x-svc-credential": "service x",
        "x-svc-data-encoding": "serialized",
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "http",
        cookie: "a=b",
      },
    );
    expect(headers).toEqual({
      "x-svc-cross-site": "no",
      "x-svc-hops": "1",
      "x-svc-deadline": "2000",
      "x-forwarded-host": "shop.example",
      "x-forwarded-proto": "https",
      "x-svc-data-encoding": "serialized",
      cookie: "a=b",
    });
  });

  it("Headers changed by middleware replace those of the caller", async () => {
    const { headers, url, method, body } = await sent({}, { cookie: "a=b" }, { "x-one": "1" });
    expect(headers).toMatchObject({ "x-one": "1" });
    expect(headers).not.toHaveProperty("cookie");
    expect({ url, method, body }).toEqual({
      url: "http://upstream/rpc/shop/quote?version=1",
      method: "POST",
      body: undefined,
    });
  });
});

describe("a relayed answer", () => {
  it("A relayed answer keeps the node's name and other service fields, but no trust key", () => {
    const { headers } = relayAnswer(
      answer({ "x-svc-node": "a", "x-svc-error": "Teapot", "x-svc-trust-key": "secret" }),
    );
    expect(headers).toEqual({ "x-svc-node": "a", "x-svc-error": "Teapot" });
  });

  it("A relayed answer keeps cookies apart, and has a body only if there is one", () => {
    expect(relayAnswer(answer({ "set-cookie": ["a=1", "b=2"] }))).toEqual({
      status: 200,
      headers: { "set-cookie": ["a=1", "b=2"] },
    });
    expect(relayAnswer(answer({}, "x")).body).toEqual(new TextEncoder().encode("x"));
  });

  it("Only an answer to HEAD keeps its length; others are counted again", () => {
    expect(relayAnswer(answer({ "content-length": "7" }), "HEAD").headers).toEqual({
      "content-length": "7",
    });
    expect(relayAnswer(answer({}), "HEAD").headers).toEqual({});
    expect(relayAnswer(answer({ "content-length": "7" })).headers).toEqual({});
  });
});

describe("the caller's error when no answer came", () => {
  it.each<[string, unknown, Error]>([
    [
      "a request that was sent",
      new TransportError("x", true),
      new BadGateway("The service that had the call gave no answer"),
    ],
    [
      "a request that was not sent",
      new TransportError("x", false),
      new NodeNotAvailable("No service could be reached for the call"),
    ],
    ["an error of its own", new DeadlineExceeded(), new DeadlineExceeded()],
    ["something that is no error", "x", new BadGateway()],
  ])("After %s", (_, thrown, told) => {
    expect(forwardingError(thrown)).toEqual(told);
    expect(forwardingError(thrown).name).toBe(told.name);
  });
});
