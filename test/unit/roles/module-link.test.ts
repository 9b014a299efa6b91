// The link over which a service fetches modules: whose it is, how long it lasts, and what it is no way for.

import { describe, expect, it } from "vitest";

import { memoryLinks } from "../../../server/local/memory-links.ts";
import type { CallFrom } from "../../../src/base/ports.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import { createAccepting, type ProvenLink } from "../../../src/link/proven-link.ts";
import { collected } from "../../../src/http/bodies.ts";
import { ModuleLink } from "../../../src/roles/links/module-link.ts";
import { createRepository } from "../../../src/roles/repository.ts";
import type { Role } from "../../../src/roles/pipeline/role.ts";
import { key, settle, TestDeployment, testHost } from "../../_cluster.ts";

const manifest = "/svc/modules/manifest.json";
const none = async (): Promise<undefined> => undefined;
const files = {
  publicFile: none,
  component: none,
  serverFile: async () => new TextEncoder().encode("{}"),
};

function deployed(trustKey: string = key) {
  const local = new TestDeployment();
  const { network, clock, log } = local;
  const start = async (): Promise<Role> =>
    await local
      .add("repository", (host, common) => createRepository(host, { ...common, files }))
      .start();
  let dialled = 0;
  let open = 0;
  const links = memoryLinks(network);
  const host = {
    ...testHost(network, clock, log),
    links: {
      ...links,
      async dial(...to: Parameters<typeof links.dial>) {
        const channel = await links.dial(...to);
        dialled++;
        open++;
        return {
          send: (bytes: Uint8Array) => channel.send(bytes),
          get queued() {
            return channel.queued;
          },
          close: () => channel.close(),
          open: (receiver: Parameters<typeof channel.open>[0]) =>
            channel.open({
              onBytes: (bytes) => receiver.onBytes(bytes),
              onDrain: () => receiver.onDrain(),
              onClose(cause) {
                open--;
                receiver.onClose(cause);
              },
            }),
        };
      },
    },
  };
  const to = (url: string): ModuleLink =>
    new ModuleLink(url, { host, role: "node", trustKey, limits: defaultLimits });
  const get = async (link: ModuleLink, from: CallFrom = "key") =>
    await collected(link.send({ url: `http://any${manifest}`, method: "GET", headers: {}, from }));
  return {
    local,
    network,
    clock,
    log,
    start,
    host,
    to,
    get,
    counts: () => [dialled, open],
  };
}

describe("a link for modules", () => {
  it("is dialled for the first request, and ends 10 s after the last", async () => {
    const { start, to, get, clock, log, counts } = deployed();
    await start();
    const link = to("http://repository");
    expect(counts()).toEqual([0, 0]);
    const answers = await Promise.all([get(link), get(link)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await clock.pass(9_000);
    expect((await get(link)).status).toBe(200);
    await clock.pass(9_000);
    expect(counts()).toEqual([1, 1]);
    await clock.pass(2_000);
    expect(counts()).toEqual([1, 0]);
    expect((await get(link)).status).toBe(200);
    await link.close();
    await settle();
    expect(counts()).toEqual([2, 0]);
    expect(log.lines).toEqual([]);
  });

  it("opens the manifest to the service's own requests only", async () => {
    const { start, to, get } = deployed();
    await start();
    expect((await get(to("http://repository"))).status).toBe(200);
    // No call of an outsider may come over a node's link: the link is ended without an answer.
    await expect(get(to("http://repository"), "outside")).rejects.toThrow(/ended the link/);
  });

  it("rejects with what to set where trying again wouldn't help, and else with a request that wasn't sent", async () => {
    const { local, start, get, to } = deployed("another-key");
    const away = await get(to("http://repository")).catch((error: unknown) => error);
    expect(away).toMatchObject({ unsent: "refused", sent: false });
    await start();
    await expect(get(to("http://repository"))).rejects.toThrow(
      "http://repository has another trust key: both must have the same trustKey",
    );
    await local.gateway();
    const { get: getRight, to: right, network } = deployed();
    for (const [url, role] of local.network.roles) network.roles.set(url, role);
    await expect(getRight(right("http://gateway"))).rejects.toThrow(
      "http://gateway is a gateway, not a repository or standalone: set 'repository' to the address of one",
    );
  });

  it.each(["outside", "service", "key"] as const)(
    "is over when the repository sends a call over it (%s)",
    async (from) => {
      const { network, host, to, get } = deployed();
      let accepted: ProvenLink | undefined;
      const service = {
        host,
        trustKey: key,
        role: "repository",
        instance: "bad",
        mostCalls: 100,
        soon: queueMicrotask,
        handle: async () => ({ status: 200, headers: {} }),
      };
      const onRefusal = (): void => {};
      const onLink = (link: ProvenLink): void => void (accepted = link);
      const accept = createAccepting(service, { roles: ["node"], onRefusal, onLink });
      network.roles.set("http://repository", { accept } as never);
      expect((await get(to("http://repository"))).status).toBe(200);
      const call = { from, method: "GET", target: "/rpc/shop/quote", headers: {} };
      await expect(accepted!.link.send({ ...call, body: "", signal: undefined })).rejects.toThrow(
        /broke|ended/,
      );
      expect(String(await accepted!.closed)).toMatch(
        /The other end sent a call that it may not send/,
      );
    },
  );
});
