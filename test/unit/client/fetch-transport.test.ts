import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { fetchTransport } from "../../../client/fetch-transport.ts";
import { TransportError } from "../../../src/base/ports.ts";
import { origin } from "./_page.ts";
import { collected } from "../../../src/http/bodies.ts";

const service = setupServer();
beforeAll(() => service.listen({ onUnhandledRequest: "error" }));
afterEach(() => service.resetHandlers());
afterAll(() => service.close());

describe("transport over fetch", () => {
  it("sends method, headers and body, and returns status, headers and bytes of the answer", async () => {
    service.use(
      http.post(`${origin}/rpc/shop/quote`, async ({ request }) =>
        HttpResponse.text(`${request.headers.get("x-svc-data-encoding")} ${await request.text()}`, {
          status: 418,
          headers: { "X-Svc-Node": "a" },
        }),
      ),
    );
    const answer = await collected(
      fetchTransport.send({
        url: `${origin}/rpc/shop/quote`,
        method: "POST",
        headers: { "x-svc-data-encoding": "serialized", "content-type": "application/json" },
        body: '{"sku":1}',
      }),
    );
    expect(answer.status).toBe(418);
    expect(answer.headers["x-svc-node"]).toBe("a");
    expect(new TextDecoder().decode(answer.body)).toBe('serialized {"sku":1}');
  });

  it("an answer without a body, a 204, has no chunks", async () => {
    service.use(http.post(`${origin}/rpc/x`, () => new HttpResponse(null, { status: 204 })));
    const { status, body } = await fetchTransport.send({
      url: `${origin}/rpc/x`,
      method: "POST",
      headers: {},
    });
    const chunks: unknown[] = [];
    for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk);
    expect([status, chunks]).toEqual([204, []]);
  });

  it("rejects with TransportError if there is no answer", async () => {
    service.use(http.post(`${origin}/rpc/x`, () => HttpResponse.error()));
    const failure = await fetchTransport
      .send({ url: `${origin}/rpc/x`, method: "POST", headers: {} })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TransportError);
    // The request may have arrived, so it mustn't be sent again.
    expect((failure as TransportError).sent).toBe(true);
  });

  it("rejects with the signal's reason when the caller aborts", async () => {
    service.use(http.post(`${origin}/rpc/x`, () => new Promise<never>(() => {})));
    const caller = new AbortController();
    const sent = fetchTransport.send({
      url: `${origin}/rpc/x`,
      method: "POST",
      headers: {},
      signal: caller.signal,
    });
    const reason = new Error("gone");
    caller.abort(reason);
    await expect(sent).rejects.toBe(reason);
  });
});

describe("transport over fetch without a network", () => {
  afterEach(() => void vi.unstubAllGlobals());

  it("in an offline page, the TransportError says that nothing was sent", async () => {
    vi.stubGlobal("navigator", { onLine: false });
    service.use(http.post(`${origin}/rpc/x`, () => HttpResponse.error()));
    const sent = fetchTransport.send({ url: `${origin}/rpc/x`, method: "POST", headers: {} });
    await expect(sent).rejects.toMatchObject({ name: "TransportError", sent: false });
  });

  it("in a worker without a navigator, the TransportError says that the request was sent", async () => {
    vi.stubGlobal("navigator", undefined);
    service.use(http.post(`${origin}/rpc/x`, () => HttpResponse.error()));
    const sent = fetchTransport.send({ url: `${origin}/rpc/x`, method: "POST", headers: {} });
    await expect(sent).rejects.toMatchObject({ name: "TransportError", sent: true });
  });
});
