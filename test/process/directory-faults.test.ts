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

/** The server that orders what is written about gateways; waits until there is one. */
async function leaderOf(servers: readonly NatsServer[]): Promise<NatsServer> {
  const connection = await connect({ servers: servers.map(({ url }) => url) });
  try {
    return await vi.waitFor(
      async () => {
        const manager = await jetstreamManager(connection);
        const { cluster } = await manager.streams.info("KV_seamline_gateways");
        expect(cluster?.replicas).toHaveLength(2);
        return servers.find((_, index) => cluster?.leader === `n${index}`)!;
      },
      { timeout: 40_000, interval: 200 },
    );
  } finally {
    await connection.close();
  }
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

const membersOf = ({ info }: Server): readonly string[] =>
  "members" in info ? info.members.toSorted() : [];
const all = (...nodes: readonly Server[]) => nodes.map(({ url }) => url).toSorted();

/** Two gateways, two nodes and a proxy that find each other in a cluster, and all know each other. */
async function deployed() {
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
  const gateways = await Promise.all([gateway(), gateway()]);
  const nodes = await Promise.all([node("a"), node("b")]);
  const proxy = await start(application, { mode: "proxy", ...of });

  /** Waits until all gateways know exactly these nodes, and the proxy calls each as often. */
  const settled = async (...named: readonly Server[]): Promise<void> => {
    for (const each of gateways) await soon(() => expect(membersOf(each)).toEqual(all(...named)));
    const answers = ["200 a", "200 b", "200 c", "200 d"].slice(0, named.length);
    await soon(async () =>
      expect(await sharesOf(proxy.url, 4 * named.length)).toEqual(
        Object.fromEntries(answers.map((answer) => [answer, 4])),
      ),
    );
  };
  /** None failed, and no service gave another one up. */
  const unharmed = (answers: Record<string, number>): void => {
    expect(Object.keys(answers)).toEqual(expect.arrayContaining(["200 a", "200 b"]));
    expect(Object.keys(answers).filter((answer) => !answer.startsWith("200"))).toEqual([]);
    const lines = [...gateways, ...nodes, proxy].flatMap((service) => service.lines);
    expect(lines.filter((line) => /the link to|is gone with its link/.test(line))).toEqual([]);
  };
  await settled(...nodes);
  return { servers, node, nodes, proxy, settled, unharmed };
}

it(
  "calls go on when the leader is killed, when most servers hang, and when all are away and have lost everything; what starts meanwhile waits, and nothing is there twice afterwards",
  { timeout: 300_000 },
  async () => {
    const { servers, node, nodes, proxy, settled, unharmed } = await deployed();
    const calls = new Calls(proxy.url);

    const leader = await leaderOf(servers);
    await leader.kill();
    const [left] = servers.filter((server) => server !== leader) as [NatsServer, NatsServer];
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
    await Promise.all(servers.map((server) => server.start()));
    const c = await waiting;

    unharmed(await calls.end());
    expect(c.lines.filter((line) => /waiting for it/.test(line))).toHaveLength(1);
    await settled(...nodes, c);
  },
);

it(
  "calls go on, and nodes join, while the leader and then another server don't get on, as with a slow disk",
  { timeout: 300_000 },
  async () => {
    const { servers, node, nodes, proxy, settled, unharmed } = await deployed();
    const calls = new Calls(proxy.url);

    const slow = async (server: NatsServer, name: string): Promise<Server> => {
      server.hang();
      const joining = node(name);
      await pause(awayMs / 4);
      server.goOn();
      return await joining;
    };
    const leader = await leaderOf(servers);
    const c = await slow(leader, "c");
    await settled(...nodes, c);
    const next = await leaderOf(servers);
    const d = await slow(
      servers.find((server) => server !== next)!,
      "d",
    );
    await settled(...nodes, c, d);
    unharmed(await calls.end());
  },
);
