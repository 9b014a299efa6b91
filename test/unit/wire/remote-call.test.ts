import { describe, expect, it } from "vitest";

import {
  BadGateway,
  DeadlineExceeded,
  NodeNotAvailable,
  ValueNotSerializable,
} from "../../../src/base/errors.ts";
import { type OutgoingRequest, type Peer, TransportError } from "../../../src/base/ports.ts";
import { createRemote } from "../../../src/wire/outgoing/remote-call.ts";
import { TestClock } from "../../_cluster.ts";
import { classes, context, fake, limits, remote, text } from "./_remote.ts";

describe("a remote call goes out", () => {
  it("a remote call is a POST with the version, the encoding and the arguments by name", async () => {
    const transport = fake(() => text("ok"));
    await remote(transport)({ sku: "1", at: new Date(0), left: undefined });
    const [request] = transport.sent;
    expect(request).toMatchObject({
      method: "POST",
      url: "http://gateway/rpc/shop/quote?version=1.0.0",
    });
    expect(request?.headers).toEqual({
      "content-type": "application/json",
      "x-svc-data-encoding": "serialized, superjson",
      "x-svc-hops": "1",
      "x-svc-deadline": "30000",
    });
    expect(JSON.parse(request?.body as string)).toEqual({
      sku: "1",
      at: { serialized: true, name: "Date", value: "1970-01-01T00:00:00.000Z" },
      left: { serialized: true, name: "Undefined" },
    });
  });
  it("a remote call goes to an address with or without a slash, whatever the FQN contains", async () => {
    const transport = fake(() => text("ok"));
    const { call: send } = createRemote({
      transport,
      base: "http://gateway/",
      classes,
      limits,
      clock: new TestClock(),
    });
    await send({ fqn: "a b/c#?%/d", version: "0.0.0", args: new Map(), context: context() });
    expect(transport.sent[0]?.url).toBe("http://gateway/rpc/a%20b/c%23%3F%25/d?version=0.0.0");
  });
  it("a remote call has the headers of the context that belong to the call", async () => {
    const transport = fake(() => text("ok"));
    const kept = {
      authorization: "Bearer x",
      cookie: "a=b",
      "accept-language": "de",
      traceparent: "00",
      "x-tenant": "t",
    };
    const dropped = Object.fromEntries(
      "content-length content-type content-encoding accept accept-encoding range if-match if-none-match expect origin referer sec-fetch-site sec-ch-ua access-control-request-method host user-agent x-svc-trust-key x-svc-credential x-svc-anything connection keep-alive proxy-authorization te trailer transfer-encoding upgrade x-hop"
        .split(" ")
        .map((name) => [name, "dropped"]),
    );
    await remote(transport)(
      {},
      context({ headers: { ...kept, ...dropped, connection: "close, X-Hop" } }),
    );
    expect(transport.sent[0]?.headers).toMatchObject(kept);
    expect(Object.keys(transport.sent[0]?.headers ?? {}).toSorted()).toEqual(
      [
        ...Object.keys(kept),
        "content-type",
        "x-svc-data-encoding",
        "x-svc-hops",
        "x-svc-deadline",
      ].toSorted(),
    );
    expect(JSON.stringify(transport.sent[0]?.headers)).not.toContain("dropped");
  });
  it("a remote call says whose it is, and no field of the context does", async () => {
    const transport = fake(() => text("ok"));
    await remote(transport, { from: "service" })(
      {},
      context({ headers: { "x-svc-trust-key": "forged", "x-kept": "1" } }),
    );
    expect(transport.sent[0]?.from).toBe("service");
    expect(Object.keys(transport.sent[0]?.headers ?? {})).toEqual([
      "content-type",
      "x-svc-data-encoding",
      "x-svc-hops",
      "x-svc-deadline",
      "x-kept",
    ]);
  });
  it("a remote call has one hop more, and the time that is left", async () => {
    const transport = fake(() => text("ok"));
    const clock = new TestClock();
    await clock.pass(1000);
    await remote(transport, { clock })({}, context({ hops: 3, deadline: 1250.5 }));
    expect(transport.sent[0]?.headers).toMatchObject({
      "x-svc-hops": "4",
      "x-svc-deadline": "251",
    });
  });
  it("a remote call's header and timer have the same time left, which is never negative", async () => {
    const transport = fake(() => text("ok"));
    const waits: number[] = [];
    let now = 0;
    const clock = { now: () => now++, after: (ms: number) => (waits.push(ms), () => {}) };
    await remote(transport, { clock })({}, context({ deadline: 2 }));
    expect(transport.sent[0]?.headers["x-svc-deadline"]).toBe("1");
    expect(waits).toEqual([1]);
  });
  it("a remote call isn't sent if its deadline has passed", async () => {
    const transport = fake(() => text("ok"));
    const clock = new TestClock();
    await clock.pass(1000);
    await expect(remote(transport, { clock })({}, context({ deadline: 1000 }))).rejects.toThrow(
      DeadlineExceeded,
    );
    expect(transport.sent).toHaveLength(0);
  });
  it("a remote call in the context of another call isn't sent if that call's caller has disconnected", async () => {
    const transport = fake(() => text("ok"));
    const signal = AbortSignal.abort(new Error("gone"));
    await expect(remote(transport)({}, context({ signal }))).rejects.toThrow("gone");
    expect(transport.sent).toHaveLength(0);
  });
  it("a remote call isn't sent if an argument can't be", async () => {
    const transport = fake(() => text("ok"));
    await expect(remote(transport)({ people: [{ born: () => 1 }] })).rejects.toThrow(
      new ValueNotSerializable("args.people[0].born: a function can't be sent"),
    );
    expect(transport.sent).toHaveLength(0);
  });
  it("a remote call carries the bytes of a Blob", async () => {
    const transport = fake(() => text("ok"));
    await remote(transport)({ file: new Blob(["hi"]) });
    const { body, headers } = transport.sent[0] as { body: Blob; headers: object };
    expect(headers).toMatchObject({
      "content-type": body.type,
      "x-svc-data-encoding": "serialized, superjson",
    });
    expect(body.type).toMatch(/^multipart\/form-data; boundary=seamline-[0-9a-f]{32}$/);
    const parts = await new Response(body).formData();
    expect(JSON.parse(parts.get("args") as string)).toEqual({
      file: { serialized: true, name: "Blob", part: "f0", mediaType: "" },
    });
    expect(await (parts.get("f0") as File).text()).toBe("hi");
  });
});

describe("a remote call is sent once", () => {
  it.each([
    [false, NodeNotAvailable],
    [true, BadGateway],
  ])("no answer, sent: %s", async (sent, Class) => {
    const transport = fake(() => {
      throw new TransportError("refused", sent);
    });
    await expect(remote(transport)()).rejects.toThrow(Class);
    expect(transport.sent).toHaveLength(1);
  });
  /** Never answers; rejects as a transport may, with something of its own. */
  const hanging = (): Peer & { sent: OutgoingRequest[] } =>
    fake(
      (request) =>
        new Promise((_, reject) =>
          request.signal?.addEventListener("abort", () =>
            reject(new TransportError("aborted", true)),
          ),
        ),
    );
  it("a remote call is DeadlineExceeded when its deadline passes, and its request is aborted", async () => {
    const clock = new TestClock();
    const transport = hanging();
    const call = remote(transport, { clock })({}, context({ deadline: 1000 }));
    const outcome = call.catch((thrown: unknown) => thrown);
    await clock.pass(999);
    expect(transport.sent[0]?.signal?.aborted).toBe(false);
    await clock.pass(1);
    expect(await outcome).toBeInstanceOf(DeadlineExceeded);
    expect(transport.sent[0]?.signal?.aborted).toBe(true);
  });
  it("a remote call has a deadline even if none was set", async () => {
    const clock = new TestClock();
    const outcome = remote(hanging(), { clock })().catch((thrown: unknown) => thrown);
    await clock.pass(limits.callTimeoutMs);
    expect(await outcome).toBeInstanceOf(DeadlineExceeded);
  });
  it("a remote call leaves no timer, neither when it is answered nor when its fields can't be made", async () => {
    const clock = new TestClock();
    expect(
      await remote(
        fake(() => text("ok")),
        { clock },
      )(),
    ).toBeDefined();
    expect(clock.waiting).toBe(0);
    const transport = fake(() => text("ok"));
    const { call: send } = createRemote({
      transport,
      base: "http://gateway",
      classes,
      limits,
      clock,
      states: {
        fields() {
          throw new ValueNotSerializable("locals");
        },
        sends: () => undefined,
        received() {},
      },
    });
    const call = { fqn: "a", version: "0.0.0", args: new Map(), context: context() };
    await expect(send(call)).rejects.toBeInstanceOf(ValueNotSerializable);
    expect([clock.waiting, transport.sent]).toEqual([0, []]);
  });
  it("a remote call ends with its caller", async () => {
    const controller = new AbortController();
    const transport = hanging();
    const outcome = remote(transport)({}, context({ signal: controller.signal })).catch(
      (thrown: unknown) => thrown,
    );
    await new TestClock().pass(0);
    const reason = new Error("the page was closed");
    controller.abort(reason);
    expect(await outcome).toBe(reason);
    expect(transport.sent[0]?.signal?.aborted).toBe(true);
  });
  it("a remote call ends with its caller beside any number of others, without a warning of Node", async () => {
    const warnings: unknown[] = [];
    const warn = (warning: unknown): void => void warnings.push(warning);
    process.on("warning", warn);
    const controller = new AbortController();
    const from = context({ signal: controller.signal });
    const call = remote(hanging());
    const outcomes = Array.from({ length: 30 }, () =>
      call({}, from).catch((thrown: unknown) => thrown),
    );
    await new TestClock().pass(0);
    controller.abort(new Error("gone"));
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set([new Error("gone")]));
    await new TestClock().pass(0);
    process.off("warning", warn);
    expect(warnings).toEqual([]);
  });
});
