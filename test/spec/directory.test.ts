// Services that find each other in a directory, started as they are in production.

import { Kvm } from "@nats-io/kv";
import { connect } from "@nats-io/transport-node";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";

import { openDirectory } from "../../server/directory/open-directory.ts";
import { nodeHost } from "../../server/http/host.ts";
import { listen } from "../../server/http/http.ts";
import type { Server } from "../../server/start/server.ts";
import { TestLog } from "../_cluster.ts";
import { startNats } from "../_nats.ts";
import { anyPort, applicationOf, start } from "./_started.ts";

const files = {
  "src/shop/stock.ts":
    'import { getContext } from "seamline";\nexport async function metres() { return 12; }\n',
  "segments/shop.segment.json": JSON.stringify({
    "./shop/stock": { metres: { access: "public", idempotent: true } },
  }),
};
const trustKey = "the-trust-key-of-the-directory";

const soon = async (check: () => void | Promise<void>): Promise<void> =>
  await vi.waitFor(check, { timeout: 15_000, interval: 20 });

/** Calls through a service, and who answered: `200 node 1`. */
async function callsOver(url: string, count: number): Promise<Record<string, number>> {
  const answers: Record<string, number> = {};
  for (let call = 0; call < count; call++) {
    const { status, headers } = await fetch(`${url}/rpc/shop/metres`);
    const key = `${status} ${headers.get("x-svc-node") ?? ""}`.trim();
    answers[key] = (answers[key] ?? 0) + 1;
  }
  return answers;
}

/** Shares are even: each has a third of `count`, if there are three. */
const even = (names: readonly string[], count: number): Record<string, number> =>
  Object.fromEntries(names.map((name) => [`200 ${name}`, count / names.length]));

describe("services with a directory", () => {
  const application = applicationOf(files, afterAll);

  async function deployment() {
    const nats = await startNats();
    const directory = { nats: [nats.url] };
    const common = { url: anyPort, trustKey };
    const repository = await start(application, { mode: "repository", ...common });
    const gateway = () => start(application, { mode: "gateway", ...common, directory });
    const node = (name: string) =>
      start(application, {
        mode: "node",
        ...common,
        directory,
        name,
        repository: repository.url,
        segments: ["shop"],
      });
    const proxy = () =>
      start(application, { mode: "proxy", ...common, directory, repository: repository.url });
    return { nats, gateway, node, proxy };
  }

  const waysOf = ({ info }: Server): readonly string[] =>
    "ways" in info ? info.ways.flatMap(({ to, isLinked }) => (isLinked ? to : [])).toSorted() : [];
  const linksTo = (...gateways: readonly Server[]): string[] =>
    gateways.map(({ url }) => url).toSorted();

  it("directory-1: a node joins each gateway that stands in the directory, and a proxy sends calls to each, over links, whichever starts first", async () => {
    const { gateway, node, proxy } = await deployment();
    const early = await node("early");
    expect(waysOf(early)).toEqual([]);
    const gateways = [await gateway(), await gateway()];
    const late = await node("late");
    const entry = await proxy();
    for (const service of [early, late, entry])
      await soon(() => expect(waysOf(service)).toEqual(linksTo(...gateways)));
    for (const { url } of gateways)
      await soon(async () => expect(await callsOver(url, 4)).toEqual(even(["early", "late"], 4)));
    await soon(async () =>
      expect(await callsOver(entry.url, 8)).toEqual(even(["early", "late"], 8)),
    );
  });

  it("directory-2: a gateway that comes is joined by what runs, and one that leaves is left, without a call that fails", async () => {
    const { gateway, node, proxy } = await deployment();
    const first = await gateway();
    const only = await node("a");
    const entry = await proxy();
    await soon(async () => expect(await callsOver(entry.url, 2)).toEqual({ "200 a": 2 }));
    const answers: Record<string, number> = {};
    const end = new AbortController();
    const calling = (async () => {
      while (!end.signal.aborted)
        for (const [key, count] of Object.entries(await callsOver(entry.url, 5)))
          answers[key] = (answers[key] ?? 0) + count;
    })();
    const second = await gateway();
    for (const service of [only, entry])
      await soon(() => expect(waysOf(service)).toEqual(linksTo(first, second)));
    await first.stop();
    for (const service of [only, entry])
      await soon(() => expect(waysOf(service)).toEqual(linksTo(second)));
    end.abort();
    await calling;
    expect(Object.keys(answers)).toEqual(["200 a"]);
  });

  it("directory-3: while the directory is away calls go on, and a service that starts waits for it, as the log says once, and once when it is back; all that it lost is written again, and nothing is there twice", async () => {
    const { nats, gateway, node, proxy } = await deployment();
    const gateways = [await gateway(), await gateway()];
    const nodes = [await node("a"), await node("b")];
    const entry = await proxy();
    for (const service of [...nodes, entry])
      await soon(() => expect(waysOf(service)).toEqual(linksTo(...gateways)));
    // It has joined a moment after it has a link.
    const settled = even(["a", "b"], 8);
    await soon(async () => expect(await callsOver(entry.url, 8)).toEqual(settled));
    await nats.kill();
    await nats.forget();
    const waiting = node("c");
    const answers = await callsOver(entry.url, 40);
    expect(Object.keys(answers).toSorted()).toEqual(["200 a", "200 b"]);
    // A gateway that is slow for a moment is passed over.
    expect(Math.abs((answers["200 a"] ?? 0) - 20)).toBeLessThanOrEqual(2);
    await nats.start();
    const third = await waiting;
    expect(
      third.lines.filter((line) => /directory at .* is away .*waiting for it/.test(line)),
    ).toHaveLength(1);
    for (const { lines } of [third, entry, ...nodes]) {
      await soon(() =>
        expect(lines.filter((line) => /directory at \S+ is back/.test(line))).toHaveLength(1),
      );
      expect(lines.filter((line) => /directory at .* is away/.test(line))).toHaveLength(1);
    }
    await soon(() => expect(waysOf(third)).toEqual(linksTo(...gateways)));
    for (const gate of gateways)
      await soon(() => expect("members" in gate.info && gate.info.members.length).toBe(3));
    await soon(async () =>
      expect(await callsOver(entry.url, 30)).toEqual(even(["a", "b", "c"], 30)),
    );
    expect([...nodes, entry].flatMap(({ lines }) => lines).join("\n")).not.toMatch(/the link to/);
  });

  it("directory-4: what somebody else wrote there is ignored, with a line in the log", async () => {
    const { nats, gateway, node } = await deployment();
    const first = await gateway();
    const stranger = await connect({ servers: nats.url });
    onTestFinished(() => stranger.close());
    const bucket = await new Kvm(stranger).open("seamline_gateways");
    await bucket.put("a-stranger", JSON.stringify({ url: "http://127.0.0.1:1" }));
    const only = await node("a");
    await soon(() => expect(waysOf(only)).toEqual(linksTo(first)));
    for (const { lines } of [first, only])
      await soon(() =>
        expect(lines.join("\n")).toContain(
          `ignored a value in the directory's gateways, "a-stranger": it isn't signed with this deployment's trust key`,
        ),
      );
  });

  it("directory-5: no address that stands there gets the trust key: services use links only, on which it never travels", async () => {
    const { nats, gateway, node, proxy } = await deployment();
    const asked: (string | undefined)[] = [];
    const other = await listen(
      async ({ headers }) => {
        asked.push(JSON.stringify(headers));
        return { status: 404, headers: {} };
      },
      { host: "127.0.0.1", port: 0 },
    );
    onTestFinished(() => other.close(0));
    const first = await gateway();
    // Signed once, and another process has the address now.
    const { directory } = await openDirectory({
      host: nodeHost({ log: new TestLog() }),
      role: "gateway",
      root: process.cwd(),
      config: { nats: [nats.url] },
      trustKey,
      instance: crypto.randomUUID(),
    });
    onTestFinished(() => directory.stop());
    await directory.start();
    await directory.announceGateway(other.url);
    for (const service of [await node("a"), await proxy()])
      await soon(() => expect(waysOf(service)).toContain(linksTo(first)[0]));
    await soon(() => expect(asked.length).toBeGreaterThan(1));
    expect(asked.join("\n")).not.toContain(trustKey);
    expect(asked.join("\n")).not.toContain("x-svc-credential");
  });

  it("directory-6: a start ends with what to do if the directory can't be used", async () => {
    const nats = await startNats({ jetStream: false });
    await expect(
      start(application, {
        mode: "gateway",
        url: anyPort,
        trustKey,
        directory: { nats: [nats.url] },
      }),
    ).rejects.toThrow(/needs JetStream, which is off: start nats-server with -js/);
  });
});
