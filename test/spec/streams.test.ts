// Bodies of calls on their way through proxy and gateway.

import { describe, expect, it } from "vitest";

import type { ByteStream, HttpResponse } from "../../src/base/ports.ts";
import { collected } from "../../src/http/bodies.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { deploy, urls } from "../_deployment.ts";
import { settle } from "../_cluster.ts";

const fields = { "content-type": "text/plain", "x-svc-data-type": "string" };

/** Proxy and gateway before a node that answers with `body`. */
async function answering(body: AsyncIterable<Uint8Array>) {
  const { network } = await deploy();
  const answer: HttpResponse = { status: 200, headers: fields, body };
  let signal: AbortSignal | undefined;
  const node = network.roles.get(urls.b)!;
  const handle: Role["handle"] = async (request) => {
    if (!request.target.startsWith("/rpc/")) return await node.handle(request);
    signal = request.signal;
    return answer;
  };
  network.roles.set(urls.b, { ...node, handle });
  const send = (signalOfCaller?: AbortSignal) =>
    network.send({
      url: `${urls.proxy}/rpc/shop/stock?sku=1`,
      method: "GET",
      headers: {},
      signal: signalOfCaller,
    });
  return { send, signal: () => signal };
}

describe("an answer through proxy and gateway", () => {
  it("streams-1: proxy and gateway pass an answer on as it arrives, and a slow caller slows its sender down", async () => {
    let made = 0;
    const { send } = await answering(
      (async function* () {
        for (; made < 100; made++) yield Buffer.alloc(65_536, "x");
      })(),
    );
    const answer = await send();
    const reader = (answer.body as ByteStream)[Symbol.asyncIterator]();
    await reader.next();
    await settle();
    expect([answer.status, made < 10]).toEqual([200, true]);
    for (let next = await reader.next(); next.done !== true;) next = await reader.next();
    expect(made).toBe(100);
  });

  it("streams-2: an answer that breaks on its way never looks complete to the caller", async () => {
    const { send } = await answering(
      (async function* () {
        yield Buffer.from("half");
        throw new Error("broke");
      })(),
    );
    await expect(collected(send())).rejects.toMatchObject({ name: "TransportError", sent: true });
  });

  it("streams-3: a caller that goes away while an answer arrives ends the call on every service", async () => {
    const { send, signal } = await answering(
      (async function* () {
        for (;;) yield Buffer.alloc(65_536, "x");
      })(),
    );
    const caller = new AbortController();
    const reader = ((await send(caller.signal)).body as ByteStream)[Symbol.asyncIterator]();
    await reader.next();
    caller.abort(new Error("gone"));
    await settle();
    expect(signal()?.aborted).toBe(true);
  });
});
