import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { attack, callServices, expectAlive, socketsForAll } from "./_attack.ts";
import { services } from "./_sockets.ts";

const sockets = await socketsForAll();

describe("a request with invalid framing:", () => {
  const post = "POST /rpc/a/echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  const get = "GET /rpc/a/canary HTTP/1.1\r\nHost: localhost\r\n";
  const inner = "GET /rpc/a/secret HTTP/1.1\r\nHost: localhost\r\n\r\n";
  it.each([
    [
      "length and chunks",
      `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
    ],
    ["two lengths", `${post}Content-Length: 11\r\nContent-Length: 12\r\n\r\n{"value":1}`],
    ["a length with a sign", `${post}Content-Length: +11\r\n\r\n{"value":1}`],
    ["chunks in chunks", `${post}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`],
    [
      "chunks in chunks, in two fields",
      `${post}Transfer-Encoding: chunked\r\ntransfer-encoding: Chunked\r\n\r\n0\r\n\r\n`,
    ],
    ["a coding after chunks", `${post}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`],
    ["a space before the colon", `${post}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`],
    ["a folded line", `${get}X-A: 1\r\n X-B: 2\r\n\r\n`],
    ["lines that end in LF alone", "GET /rpc/a/canary HTTP/1.1\nHost: localhost\n\n"],
    ["a CR inside a line", `${get}X-A: 1\rX-B: 2\r\n\r\n`],
    ["a chunk without a size", `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n`],
    ["a bad name", `${get}b@d(: 1\r\n\r\n`],
    ["no name", `${get}: 1\r\n\r\n`],
    ["no host", "GET /rpc/a/canary HTTP/1.1\r\n\r\n"],
    [
      "another protocol",
      "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003\r\n\r\n",
    ],
  ])("%s answers one 400 and closes the connection", async (_, bytes) => {
    for (const { head, body } of await attack(sockets, services, bytes, 400)) {
      expect(head.toLowerCase()).toContain("connection: close");
      // An empty body, plain or chunked.
      expect(["", "0\r\n\r\n"]).toContain(body);
    }
  });

  it.each([
    ["a coding before chunks", "Transfer-Encoding: gzip, chunked"],
    [
      "a coding before chunks, in two fields",
      "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
    ],
    ["a coding that is none before chunks", "Transfer-Encoding: identity, chunked"],
    ["an empty coding before chunks", "Transfer-Encoding: , chunked"],
    ["a coding that is none", "Transfer-Encoding: identity"],
    ["an unknown coding", "Transfer-Encoding: xchunked"],
    ["chunks with a parameter", "Transfer-Encoding: chunked;q=1"],
    ["no coding", "Transfer-Encoding:"],
  ])("%s answers one 501 and closes the connection", async (_, fields) => {
    const body = 'b\r\n{"value":1}\r\n0\r\n\r\n';
    const answers = await attack(sockets, services, `${post}${fields}\r\n\r\n${body}${inner}`, 501);
    for (const { head } of answers) expect(head.match(/^connection: .*$/gim)).toHaveLength(1);
    await attack(sockets, callServices, `${post}transfer-encoding: Chunked\r\n\r\n${body}`, 200);
  });

  it("a head over the limit answers 431", async () => {
    await attack(sockets, services, `${get}X-A: ${"a".repeat(20_000)}\r\n\r\n`, 431);
  });

  it("headers with names of object properties are ordinary headers", async () => {
    await attack(
      sockets,
      callServices,
      `${get}__proto__: 1\r\nconstructor: 2\r\ntoString: 3\r\n\r\n`,
      200,
    );
  });

  it("callers that disconnect during their body don't block the service", async () => {
    for (const service of callServices) {
      await Promise.all(
        Array.from({ length: 20 }, () =>
          writeAndReset(sockets.ports[service], `${post}Content-Length: 100\r\n\r\n{`),
        ),
      );
      await expectAlive(sockets, service);
    }
  });
});

/** Writes and resets the connection. */
async function writeAndReset(port: number, bytes: string): Promise<void> {
  await new Promise<void>((resolve) => {
    const socket = connect(port, "127.0.0.1", () =>
      socket.write(bytes, () => socket.resetAndDestroy()),
    );
    socket.on("error", () => {});
    socket.on("close", () => resolve());
  });
}
