// Edge cases of a node:http request and its answer.

import { once } from "node:events";
import { type IncomingMessage, request as send } from "node:http";
import { Readable } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";

import { Bag } from "../../../server/host/bag.ts";
import type { CallerConnection } from "../../../server/http/connection/caller-connection.ts";
import { NodeRequest } from "../../../server/http/node-request.ts";
import { refusal } from "../../../server/http/writing/write-answer.ts";
import { type HttpServer, listen } from "../../../server/http/http.ts";
import { BadRequest, NodeNotAvailable, PayloadTooLarge } from "../../../src/base/errors.ts";
import type { HttpRequest, HttpResponse } from "../../../src/base/ports.ts";

const servers: HttpServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close(0))));

async function serve(handle: (request: HttpRequest) => Promise<HttpResponse>): Promise<string> {
  const server = await listen(handle, { host: "127.0.0.1", port: 0 });
  servers.push(server);
  return server.url;
}

/** A request with the given state of its socket. */
function requestWith(socket: object, url = "/"): NodeRequest {
  const connection = { leavers: new Bag() } as unknown as CallerConnection;
  const message = { method: "GET", url, headers: {}, socket } as unknown as IncomingMessage;
  return new NodeRequest(message, connection, undefined);
}

describe("a Node request", () => {
  it("has the scheme of its connection", () => {
    expect(requestWith({}).scheme).toBe("http");
    expect(requestWith({ encrypted: true }).scheme).toBe("https");
  });

  it("has an aborted signal if that is first read after the caller has disconnected", () => {
    expect(requestWith({ destroyed: true }).signal.aborted).toBe(true);
    expect(requestWith({ destroyed: false }).signal.aborted).toBe(false);
  });

  it.each([
    ["exactly the limit", 10, 200],
    ["one byte more than the limit", 11, 413],
  ])("can have a body of %s, whole or in pieces", async (_, length, status) => {
    const url = await serve(async (request) => {
      try {
        const body = await request.readBody(10);
        return { status: 200, headers: {}, body: String(body.length) };
      } catch (error) {
        return { status: error instanceof PayloadTooLarge ? 413 : 500, headers: {} };
      }
    });
    const body = "x".repeat(length);
    expect((await fetch(url, { method: "POST", body })).status).toBe(status);
    const stream = Readable.toWeb(Readable.from([Buffer.from(body)]));
    const chunked = { method: "POST", body: stream, duplex: "half" } as unknown as RequestInit;
    expect((await fetch(url, chunked)).status).toBe(status);
  });
});

describe("a Node answer without a role", () => {
  it("names its error, and forbids caching and content sniffing", async () => {
    expect(await refusal(new BadRequest("What?"), {})).toEqual({
      status: 400,
      headers: {
        "content-type": "text/plain; charset=utf-8",
        "x-svc-error": "BadRequest",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
        "content-security-policy": "sandbox; default-src 'none'",
        vary: "accept, x-svc-data-encoding",
      },
      body: "What?",
    });
  });

  it("only has retry-after if the service is busy", async () => {
    expect((await refusal(new NodeNotAvailable("Busy"), {})).headers["retry-after"]).toBe("1");
    expect((await refusal(new BadRequest("What?"), {})).headers).not.toHaveProperty("retry-after");
  });

  it("is a 500 that isn't cached if the handler throws", async () => {
    const url = await serve(async () => {
      throw new Error("a fault of the program");
    });
    const answer = await fetch(url);
    expect(answer.status).toBe(500);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await answer.text()).toBe("");
  });
});

describe("a Node answer's length", () => {
  it("is that of the role for a HEAD, and else is counted", async () => {
    const url = await serve(async ({ method }) =>
      method === "HEAD"
        ? { status: 200, headers: { "content-length": "7" } }
        : { status: 200, headers: {}, body: "grüße" },
    );
    const length = async (method: string) =>
      (await fetch(url, { method })).headers.get("content-length");
    expect([await length("HEAD"), await length("GET")]).toEqual(["7", "7"]);
  });

  it("a 408 for a complete request leaves the connection open", async () => {
    const url = await serve(async () => ({ status: 408, headers: {} }));
    const outgoing = send(url, { agent: false, headers: { connection: "keep-alive" } }).end();
    const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
    answer.resume();
    expect(answer.headers.connection).toBe("keep-alive");
    outgoing.destroy();
  });
});
