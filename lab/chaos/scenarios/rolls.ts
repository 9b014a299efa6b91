// R19: two gateways are restarted, one after the other. R20: every process is, one after the other. Services
// know the gateways by a list, or find them in a directory. Callers take turns between the proxies.

import { procedureMs } from "../harness/application.ts";
import { Balancer } from "../harness/balancer.ts";
import type { Deployment, Service } from "../harness/deployment.ts";
import { hasJoined, linksTo, until } from "../harness/lines.ts";
import { certain, hasFailed, type Measure, rowOf, worst } from "../harness/measure.ts";
import type { Random } from "../harness/random.ts";
import { type Context, type Scenario, settled, underLoad } from "../harness/scenario.ts";

const gatewaysAlone = { gateways: 2, nodes: 2 } as const;
const twoOfEach = { ...gatewaysAlone, proxies: 2 } as const;
const hasDirectory = true;

export const rollingGateways: Scenario = rolled("rolling-gateways", "R19", gatewaysAlone);
export const rollingGatewaysByDirectory: Scenario = rolled("rolling-gateways-by-directory", "R19", {
  ...gatewaysAlone,
  hasDirectory,
});
export const rollingAll: Scenario = rolled("rolling-all", "R20", twoOfEach);
export const rollingAllByDirectory: Scenario = rolled("rolling-all-by-directory", "R20", {
  ...twoOfEach,
  hasDirectory,
});

/** `drainMs` by default, and three seconds more. */
const longestExitMs = 13_000;
/** Bounds a run in which services don't come back. */
const longestMs = 120_000;

/** Most calls are short, and some last longer than a service that stops serves on. */
const mixedMs =
  (share: number) =>
  ({ next, between }: Random): number =>
    next() < share ? between(20, 3_000) : procedureMs;

function rolled(
  name: string,
  id: "R19" | "R20",
  options: NonNullable<Scenario["options"]>,
): Scenario {
  const row = rowOf(id);
  return {
    name,
    rows: [id],
    options,
    async run(deployment, context) {
      const { gateways, proxies, members } = deployment;
      const roll = new Roll(deployment);
      const balancer = new Balancer(proxies.map(({ url }) => url));
      let isOver = false;
      const loaded = await underLoad(
        deployment,
        context,
        {
          kinds: ["order", "stock"],
          durationMs: longestMs,
          // With few calls, more long ones: some must be on their way through each service that stops.
          callMs: mixedMs(context.isShort ? 0.5 : 0.1),
          url: balancer.next,
        },
        async (load) => {
          await load.at(200 + context.random.between(0, 500));
          await (id === "R19" ? roll.gateways() : roll.all(context));
          await load.at(load.now() + 500);
          isOver = true;
          load.stop();
        },
      ).finally(() => balancer.close());
      if (!isOver) throw new Error("the load ended before the last restart");
      const measures: Measure[] = [
        ...loaded.measures,
        row(
          "calls of any kind failed",
          "calls",
          loaded.outcomes.filter(hasFailed).length,
          { most: 0 },
          certain,
        ),
        row(
          "exit codes that aren't 0",
          "",
          roll.codes.filter((code) => code !== 0).length,
          { most: 0 },
          certain,
        ),
        row("until a process has ended", "ms", worst(roll.exits), { most: longestExitMs }),
      ];
      for (const { url } of gateways) await settled(deployment, members, url);
      return measures;
    },
  };
}

/** Restarts services one after the other, each when the one before is at work again. */
class Roll {
  readonly codes: (number | NodeJS.Signals)[] = [];
  readonly exits: number[] = [];
  readonly #deployment: Deployment;

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  /** The kinds of services come in any order. */
  async all({ random }: Context): Promise<void> {
    const { repository, members, proxies, directory } = this.#deployment;
    const kinds = [
      () => this.#restart(repository),
      () => this.gateways(),
      () => this.#each(members),
      () => this.#each(proxies),
      async () => {
        for (const server of directory?.servers ?? []) {
          await server.lose("killed");
          await server.restore();
        }
      },
    ];
    while (kinds.length > 0) {
      const kind = random.pick(kinds);
      kinds.splice(kinds.indexOf(kind), 1);
      await kind();
    }
  }

  async gateways(): Promise<void> {
    const { gateways, members, proxies } = this.#deployment;
    for (const gateway of gateways) {
      const before = proxies.map((proxy) => linksTo(gateway, proxy));
      await this.#restart(gateway);
      // As docs/guide/deployment.md says: the next one when nodes and proxies are linked to this one.
      await until(`all are linked to ${gateway.name}`, () => {
        const haveJoined = members.every((member) => hasJoined(member, gateway));
        return haveJoined && proxies.every((proxy, at) => linksTo(gateway, proxy) > before[at]!);
      });
    }
  }

  async #each(services: readonly Service[]): Promise<void> {
    for (const service of services) await this.#restart(service);
  }

  async #restart(service: Service): Promise<void> {
    const begun = performance.now();
    service.signal("SIGTERM");
    this.codes.push(await service.ended());
    this.exits.push(performance.now() - begun);
    await service.start();
  }
}
