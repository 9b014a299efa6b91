import { describe, expect, it } from "vitest";
import { socketsForAll } from "./_attack.ts";
import { bytesOf, services, exchange } from "./_sockets.ts";

const sockets = await socketsForAll();

describe("a request target with dot segments", () => {
  // Forwarded with the trust key, each of these once reached the gateway's own endpoints, so that
  // anyone could join as a node.
  const targets = [
    "/rpc/../nodes",
    "/rpc/./../nodes",
    "/rpc/%2e%2e/nodes",
    "/rpc/.%2E/nodes",
    "/rpc/..\\nodes",
    "/rpc/a/../../nodes",
    "/rpc/..%2fnodes",
  ];

  it.each(targets)("such as POST %s doesn't join the gateway", async (target) => {
    const json = { url: "http://127.0.0.1:9", procedures: ["a/echo"] };
    for (const service of ["proxy", "gateway", "node"] as const)
      expect(
        await exchange(sockets.ports[service], bytesOf({ target, json })),
        service,
      ).toMatchObject({
        status: 404,
      });
    expect(sockets.log.lines.filter((line) => line.includes("127.0.0.1:9"))).toEqual([]);
  });

  it("reaches the repository as it was written", async () => {
    for (const target of ["/a/../b", "/a/%2e%2e/b", "/..\\b", "/a?b=/../c", "//other.test/b"]) {
      await exchange(sockets.ports.proxy, bytesOf({ target }));
      expect(sockets.repositoryTargets.at(-1)).toBe(target);
    }
  });
});

describe("a request target that isn't a path", () => {
  it.each(services)("answers 400 at the %s", async (service) => {
    for (const target of ["*", "abc://x/y", "ftp://a/"])
      expect(await exchange(sockets.ports[service], bytesOf({ target })), target).toMatchObject({
        status: 400,
      });
  });

  it.each(["node", "gateway", "proxy"] as const)(
    "can be an absolute URL at the %s (RFC 9112, section 3.2.2)",
    async (service) => {
      expect(
        await exchange(
          sockets.ports[service],
          bytesOf({ target: "http://localhost/rpc/a/canary" }),
        ),
      ).toMatchObject({
        status: 200,
        body: "alive",
      });
      expect(
        await exchange(sockets.ports[service], bytesOf({ target: "http://localhost" })),
      ).toMatchObject({ status: 404 });
    },
  );
});
