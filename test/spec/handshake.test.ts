// How two services find out that both have the trust key, before there is a link. Byte by byte:
// test/unit/link/handshake.test.ts.

import { connect, createServer } from "node:net";

import { expect, it, onTestFinished, vi } from "vitest";

import { accept, dial, serviceOf, trustKey } from "../unit/link/_services.ts";

/** A relay that keeps what both ends said. */
async function relay(to: string): Promise<{ url: string; said: () => string }> {
  const { port, hostname } = new URL(to);
  const parts: Buffer[] = [];
  const server = createServer((socket) => {
    const behind = connect(Number(port), hostname);
    for (const [from, into] of [
      [socket, behind],
      [behind, socket],
    ] as const) {
      from.on("data", (bytes: Buffer) => (parts.push(bytes), into.write(bytes)));
      from.on("close", () => into.destroy());
      from.on("error", () => into.destroy());
    }
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const { port: own } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${own}`, said: () => Buffer.concat(parts).toString("latin1") };
}

it("handshake-4: both ends prove the trust key, it never travels, and each names its role and process", async () => {
  const { server, proven } = await accept();
  const { url, said } = await relay(server.url);
  const { other } = await dial(url);
  await vi.waitFor(() => expect(proven).toHaveLength(1), 20_000);
  expect(other).toMatchObject({ role: "gateway", instance: "gateway-1" });
  expect(proven[0]?.other).toMatchObject({ role: "node", instance: "node-1" });
  expect(said()).toContain("101 Switching Protocols");
  expect(said()).not.toContain(trustKey);
});

it("handshake-5: a dialer whose key is refused, or that may not dial, is told so before the upgrade, and gets no link", async () => {
  const { server, failed, proven } = await accept();
  const { url, said } = await relay(server.url);
  // It accepts the other end's key, which proves nothing of its own.
  const keys = serviceOf("node", undefined, { trustKey: ["another key of its own", trustKey] });
  await expect(dial(url, keys)).rejects.toMatchObject({
    name: "WrongKeyError",
    message: "The other end refuses the proof of this service's trustKey",
  });
  expect(failed).toEqual(["127.0.0.1"]);
  await expect(dial(url, serviceOf("proxy"))).rejects.toThrow(
    "A gateway takes no links of a proxy",
  );
  expect(said()).not.toContain("101 Switching Protocols");
  expect([proven, failed]).toEqual([[], ["127.0.0.1"]]);
});
