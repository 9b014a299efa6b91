import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { fetchTransport } from "../../../client/fetch-transport.ts";
import { TransportError } from "../../../src/ports.ts";
import { origin } from "./_page.ts";

const service = setupServer();
beforeAll(() => service.listen({ onUnhandledRequest: "error" }));
afterEach(() => service.resetHandlers());
afterAll(() => service.close());

describe("transport over fetch", () => {
  it("sends method, headers and body, and gives status, headers and bytes of whatever is answered", async () => {
    service.use(
      http.post(`${origin}/rpc/shop/quote`, async ({ request }) =>
        HttpResponse.text(`${request.headers.get("x-svc-data-encoding")} ${await request.text()}`, {
          status: 418,
          headers: { "X-Svc-Node": "a" },
        }),
      ),
    );
    const answer = await fetchTransport.send({
      url: `${origin}/rpc/shop/quote`,
      method: "POST",
      headers: { "x-svc-data-encoding": "serialized", "content-type": "application/json" },
      body: '{"sku":1}',
    });
    expect(answer.status).toBe(418);
    expect(answer.headers["x-svc-node"]).toBe("a");
    expect(new TextDecoder().decode(answer.body)).toBe('serialized {"sku":1}');
  });

  it("rejects with TransportError when nobody answers", async () => {
    service.use(http.post(`${origin}/rpc/x`, () => HttpResponse.error()));
    const failure = await fetchTransport
      .send({ url: `${origin}/rpc/x`, method: "POST", headers: {} })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TransportError);
    // It may have come through: the page can't know, so nobody may send it again.
    expect((failure as TransportError).sent).toBe(true);
  });

  it("rejects with the signal's reason when the caller has gone away", async () => {
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
