import { describe, expect, it } from "vitest";
import { TransportError } from "../../../src/base/ports.ts";
import { ask, createMemoryNetwork } from "../../../src/roles/memory-network.ts";
import type { Role } from "../../../src/roles/pipeline/role.ts";
import { collected } from "../../../src/http/bodies.ts";

/** A role of which only `handle` is asked. */
function roleOf(handle: Role["handle"]): Role {
  return {
    handle,
    find: handle,
    isTaken: () => false,
    base: "",
    describe: () => ({}),
    start: async () => {},
    leave: async () => false,
    moveStreams() {},
    refuseCalls() {},
    isHealthy: async () => true,
    finishCalls: async () => 0,
    stop: async () => {},
    addMiddleware() {},
    addHealthCheck() {},
  };
}

describe("a network in memory", () => {
  it("passes a request unchanged to the role of its origin, and returns the answer's bytes", async () => {
    const network = createMemoryNetwork();
    network.roles.set(
      "http://a",
      roleOf(async ({ method, target, headers, readBody }) => ({
        status: 201,
        headers: { "set-cookie": ["one", "two"] },
        body: `${method} ${target} ${String(headers["x"])} ${new TextDecoder().decode(await readBody(10))}`,
      })),
    );
    const answer = await collected(
      network.send({
        url: "http://a/rpc/../%6eodes?q=1",
        method: "POST",
        headers: { x: "y" },
        body: "hello",
      }),
    );
    expect([answer.status, answer.headers["set-cookie"]]).toEqual([201, ["one", "two"]]);
    expect(new TextDecoder().decode(answer.body)).toBe("POST /rpc/../%6eodes?q=1 y hello");
    const bare = await collected(
      network.send({
        url: "http://a",
        method: "GET",
        headers: {},
        body: new Uint8Array([33]),
      }),
    );
    expect(new TextDecoder().decode(bare.body)).toBe("GET / undefined !");
  });

  it("refuses unknown origins and requests after close as not sent", async () => {
    const network = createMemoryNetwork();
    const request = { url: "http://a/x", method: "GET", headers: {} };
    const sent = (error: unknown): unknown =>
      error instanceof TransportError ? [error.message, error.sent] : error;
    expect(sent(await network.send(request).catch((error: unknown) => error))).toEqual([
      "http://a refused the connection",
      false,
    ]);
    network.roles.set(
      "http://a",
      roleOf(async () => ({ status: 200, headers: {} })),
    );
    expect((await network.send(request)).body).toEqual(new Uint8Array());
    await network.close();
    expect(sent(await network.send(request).catch((error: unknown) => error))).toEqual([
      "This network is closed",
      false,
    ]);
  });

  it("notifies both sides when the signal aborts", async () => {
    const network = createMemoryNetwork();
    const heard: unknown[] = [];
    network.roles.set(
      "http://a",
      roleOf(
        ({ signal }) =>
          new Promise(() => signal.addEventListener("abort", () => heard.push(signal.reason))),
      ),
    );
    const controller = new AbortController();
    const request = { url: "http://a/x", method: "GET", headers: {}, signal: controller.signal };
    const sent = network.send(request);
    controller.abort("enough");
    await expect(sent).rejects.toBe("enough");
    expect(heard).toEqual(["enough"]);
    await expect(network.send(request)).rejects.toBe("enough");
  });
});

describe("ask", () => {
  it("refuses a body above the limit, and collects one that comes in chunks", async () => {
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array([104]);
      yield new Uint8Array([105]);
    }
    const role = roleOf(async ({ readBody }) => {
      await expect(readBody(1)).rejects.toMatchObject({ name: "PayloadTooLarge" });
      return { status: 200, headers: {}, body: chunks() };
    });
    expect((await ask(role, "POST", "/", {}, "hi")).text).toBe("hi");
    expect(
      (
        await ask(
          roleOf(async () => ({ status: 204, headers: {} })),
          "GET",
          "/",
        )
      ).text,
    ).toBe("");
  });
});
