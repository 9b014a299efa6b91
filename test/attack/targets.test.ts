import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bytesOf, doors, exchange, openSockets, type Sockets } from "./_sockets.ts";

let sockets: Sockets;
beforeAll(async () => {
  sockets = await openSockets();
});
afterAll(() => sockets.close());

describe("a target that leads elsewhere on its way", () => {
  // Passed on with the trust key, each of these once reached the gateway's own doors: whoever liked joined as a node.
  const ways = [
    "/rpc/../nodes",
    "/rpc/./../nodes",
    "/rpc/%2e%2e/nodes",
    "/rpc/.%2E/nodes",
    "/rpc/..\\nodes",
    "/rpc/a/../../nodes",
    "/rpc/..%2fnodes",
  ];

  it.each(ways)("POST %s joins no gateway", async (target) => {
    const json = { url: "http://127.0.0.1:9", procedures: ["a/echo"] };
    for (const door of ["proxy", "gateway", "node"] as const)
      expect(await exchange(sockets.ports[door], bytesOf({ target, json })), door).toMatchObject({
        status: 404,
      });
    expect(sockets.log.lines.filter((line) => line.includes("127.0.0.1:9"))).toEqual([]);
  });

  it("is asked of the repository as it was written", async () => {
    for (const target of ["/a/../b", "/a/%2e%2e/b", "/..\\b", "/a?b=/../c", "//other.test/b"]) {
      await exchange(sockets.ports.proxy, bytesOf({ target }));
      expect(sockets.asked.at(-1)).toBe(target);
    }
  });
});

describe("a target that is no path", () => {
  it.each(doors)("is a mistake of the client at the %s", async (door) => {
    for (const target of ["*", "abc://x/y", "ftp://a/"])
      expect(await exchange(sockets.ports[door], bytesOf({ target })), target).toMatchObject({
        status: 400,
      });
  });

  it.each(["node", "gateway", "proxy"] as const)(
    "is the path in it when it is an address, at the %s (RFC 9112 §3.2.2)",
    async (door) => {
      expect(
        await exchange(sockets.ports[door], bytesOf({ target: "http://localhost/rpc/a/canary" })),
      ).toMatchObject({
        status: 200,
        body: "alive",
      });
      expect(
        await exchange(sockets.ports[door], bytesOf({ target: "http://localhost" })),
      ).toMatchObject({ status: 404 });
    },
  );
});
