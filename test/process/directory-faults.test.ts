// A cluster of three NATS servers, and what can happen to it, while a deployment that finds itself in it
// answers calls. `npm run chaos -- --directory` leaves the cluster away for a minute.

import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { expect, it, vi } from "vitest";

import type { Server } from "../../server/start/server.ts";
import { type NatsServer, startNatsCluster } from "../_nats.ts";
import { anyPort, applicationOf, start } from "../spec/_started.ts";

const awayMs = Number(process.env["NATS_AWAY_MS"] ?? 3_000);
const hangMs = awayMs / 3;
const trustKey = "the-trust-key-of-the-cluster";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const soon = async (check: () => void | Promise<void>): Promise<void> =>
  await vi.waitFor(check, { timeout: 40_000, interval: 50 });

/** The server that orders what is written about gateways. */
async function leaderOf(servers: readonly NatsServer[]): Promise<NatsServer> {
  const connection = await connect({ servers: servers.map(({ url }) => url) });
  const manager = await jetstreamManager(connection);
  const { cluster } = await manager.streams.info("KV_seamline_gateways");
  await connection.close();
  expect(cluster?.replicas).toHaveLength(2);
  return servers[Number(cluster?.leader?.slice("n".length))]!;
}

/** Calls one after the other, and counts who answered. */
class Calls {
  readonly answers: Record<string, number> = {};
  #isOver = false;
  readonly #calling: Promise<void>;

  constructor(url: string) {
    this.#calling = this.#call(url);
  }

  async #call(url: string): Promise<void> {
    while (!this.#isOver) {
      const answer = await answerOf(url);
      this.answers[answer] = (this.answers[answer] ?? 0) + 1;
      await pause(5);
    }
  }

  async end(): Promise<Record<string, number>> {
    this.#isOver = true;
    await this.#calling;
    return this.answers;
  }
}

async function answerOf(url: string): Promise<string> {
  const { status, headers } = await fetch(`${url}/rpc/shop/metres`);
  return `${status} ${headers.get("x-svc-node") ?? ""}`.trim();
}

async function sharesOf(url: string, count: number): Promise<Record<string, number>> {
  const shares: Record<string, number> = {};
  for (let call = 0; call < count; call++) {
    const answer = await answerOf(url);
    shares[answer] = (shares[answer] ?? 0) + 1;
  }
  return shares;
}

it(
  "calls go on when the leader is killed, when most servers hang, and when all are away and have lost everything; what starts meanwhile waits, and nothing is there twice afterwards",
  { timeout: 300_000 },
  async () => {
    const servers = await startNatsCluster();
    const application = applicationOf({
      "src/shop/stock.ts": "export async function metres() { return 12; }\n",
      "segments/shop.segment.json": JSON.stringify({
        "./shop/stock": { metres: { access: "public" } },
      }),
    });
    const common = { url: anyPort, trustKey };
    const directory = { nats: servers.map(({ url }) => url) };
    const repository = await start(application, { mode: "repository", ...common });
    const of = { ...common, directory, repository: repository.url };
    const gateway = () => start(application, { mode: "gateway", ...common, directory });
    const node = (name: string) =>
      start(application, { mode: "node", ...of, name, segments: ["shop"] });
    const [first, second] = await Promise.all([gateway(), gateway()]);
    const [a, b] = await Promise.all([node("a"), node("b")]);
    const proxy = await start(application, { mode: "proxy", ...of });
    const membersOf = ({ info }: Server): readonly string[] =>
      "members" in info ? info.members.toSorted() : [];
    const all = (...nodes: readonly Server[]) => nodes.map(({ url }) => url).toSorted();
    for (const each of [first, second])
      await soon(() => expect(membersOf(each)).toEqual(all(a, b)));
    await soon(async () =>
      expect(await sharesOf(proxy.url, 4)).toEqual({ "200 a": 2, "200 b": 2 }),
    );
    const calls = new Calls(proxy.url);

    const leader = await leaderOf(servers);
    await leader.kill();
    const [left, right] = servers.filter((server) => server !== leader) as [NatsServer, NatsServer];
    await pause(hangMs);
    // One of three is no majority.
    left.hang();
    await pause(hangMs);
    left.goOn();
    await leader.start();

    await Promise.all(servers.map((server) => server.kill()));
    await Promise.all(servers.map((server) => server.forget()));
    const waiting = node("c");
    await pause(awayMs);
    expect(right.url).toBeTruthy();
    await Promise.all(servers.map((server) => server.start()));
    const c = await waiting;

    const answers = await calls.end();
    expect(Object.keys(answers).toSorted().slice(0, 2)).toEqual(["200 a", "200 b"]);
    expect(Object.keys(answers).filter((answer) => !answer.startsWith("200"))).toEqual([]);
    expect(c.lines.filter((line) => /waiting for it/.test(line))).toHaveLength(1);
    for (const each of [first, second])
      await soon(() => expect(membersOf(each)).toEqual(all(a, b, c)));
    await soon(async () =>
      expect(await sharesOf(proxy.url, 12)).toEqual({ "200 a": 4, "200 b": 4, "200 c": 4 }),
    );
    const lines = [first, second, a, b, proxy].flatMap((service) => service.lines);
    expect(lines.filter((line) => /the link to|is gone with its link/.test(line))).toEqual([]);
  },
);
