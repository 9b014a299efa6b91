// R21: one of the directory's three servers is lost, and services start; all are lost.

import type { Deployment, DeploymentOptions, Service } from "../harness/deployment.ts";
import { type Loss, losses } from "../harness/directory.ts";
import { count, hasJoined, linksTo, until } from "../harness/lines.ts";
import { type Load, pause } from "../harness/load.ts";
import { certain, hasFailed, type Measure, rowOf, worst } from "../harness/measure.ts";
import { type Context, type Scenario, settled, underLoad } from "../harness/scenario.ts";

const r21 = rowOf("R21");
const options: DeploymentOptions = { gateways: 2, nodes: 2, hasDirectory: true };

/** Within this time a service is ready, and a gateway found. */
const promisedMs = 5_000;
/** A service that isn't ready by then never will be. */
const neverMs = 30_000;
/** Bounds a run. */
const longestMs = 120_000;
const awayMs = 12_000;

export const lostDirectoryServer: Scenario = {
  name: "lost-directory-server",
  rows: ["R21"],
  options,
  run: async (deployment, context) => await forEachLoss(deployment, context, "one", oneIsLost),
};

export const lostDirectory: Scenario = {
  name: "lost-directory",
  rows: ["R21"],
  options,
  run: async (deployment, context) => await forEachLoss(deployment, context, "all", allAreLost),
};

interface Fault {
  readonly loss: Loss;
  /** Its name in measures. */
  readonly label: string;
  readonly load: Load;
}

/** The measurement during a load, which ends with it. */
type During = (
  deployment: Deployment,
  context: Context,
  fault: Fault,
) => Promise<readonly Measure[]>;

async function forEachLoss(
  deployment: Deployment,
  context: Context,
  which: "one" | "all",
  during: During,
): Promise<readonly Measure[]> {
  const { directory, proxy, gateways, members } = deployment;
  const measures: Measure[] = [];
  for (const loss of context.isShort ? [context.random.pick(losses)] : losses) {
    const label = `${which} ${loss}`;
    await directory!.elected();
    const loaded = await underLoad(
      deployment,
      context,
      { kinds: ["order", "stock"], durationMs: longestMs, url: proxy.url },
      async (load) => {
        try {
          await load.at(200 + context.random.between(0, 500));
          measures.push(...(await during(deployment, context, { loss, label, load })));
        } finally {
          await Promise.all(directory!.servers.map((server) => server.restore()));
          load.stop();
        }
      },
    );
    const failed = loaded.outcomes.filter(hasFailed).length;
    measures.push(
      ...loaded.measures,
      r21(`${label}: calls failed`, "calls", failed, { most: 0 }, certain),
    );
    for (const { url } of gateways) await settled(deployment, members, url);
  }
  return measures;
}

async function oneIsLost(
  deployment: Deployment,
  { random }: Context,
  { loss, label }: Fault,
): Promise<readonly Measure[]> {
  const { directory, members, proxies } = deployment;
  const running = [...members, ...proxies];
  const isUnharmed = watchLinks(running, []);
  await random.pick(directory!.servers).lose(loss);
  const early = [
    await deployment.node(nextName("node")),
    await deployment.furtherProxy(nextName("proxy")),
  ];
  const startedEarly = early.map(readyAt);
  await directory!.elected();
  const electedAt = performance.now();
  const readyEarly = await Promise.all(startedEarly);

  const gateway = await deployment.furtherGateway(nextName("gateway"));
  const late = [
    await deployment.node(nextName("node")),
    await deployment.furtherProxy(nextName("proxy")),
  ];
  const begun = performance.now();
  const ready = await Promise.all([gateway, ...late].map(readyAt));
  const foundAt = await at(
    `all have found ${gateway.name}`,
    () =>
      [...members, early[0]!, late[0]!].every((node) => hasJoined(node, gateway)) &&
      [...running, ...early, ...late].every((service) => linksTo(gateway, service) > 0),
  );
  const measures = [
    r21(
      `${label}: ready after its start`,
      "ms",
      worst(ready) - begun,
      { most: promisedMs },
      certain,
    ),
    r21(
      `${label}: ready after the other servers have elected leaders`,
      "ms",
      Math.max(0, worst(readyEarly) - electedAt),
      { most: promisedMs },
      certain,
    ),
    r21(
      `${label}: a gateway is found after it is ready`,
      "ms",
      Math.max(0, foundAt - ready[0]!),
      { most: promisedMs },
      certain,
    ),
    unexplained(label, [...early, gateway, ...late], (service) => count(service, waiting) <= 1),
    isUnharmed(label),
  ];
  for (const service of [...early, ...late, gateway]) await stopped(service);
  return measures;
}

async function allAreLost(
  deployment: Deployment,
  { isShort }: Context,
  { loss, label, load }: Fault,
): Promise<readonly Measure[]> {
  const { directory, gateways, members, proxies } = deployment;
  const restarted = gateways[1]!;
  const running = [gateways[0]!, ...members, ...proxies];
  const isUnharmed = watchLinks([...members, ...proxies], [restarted]);
  const before = running.map((service) => [count(service, isAway), count(service, isBack)]);
  await Promise.all(directory!.servers.map((server) => server.lose(loss)));
  const lostAt = load.now();
  restarted.signal("SIGTERM");
  await restarted.ended();
  const late = [
    restarted,
    await deployment.node(nextName("node")),
    await deployment.furtherProxy(nextName("proxy")),
  ];
  const starting = late.map(readyAt);
  await load.at(lostAt + (isShort ? awayMs / 3 : awayMs));
  const backAt = performance.now();
  await Promise.all(directory!.servers.map((server) => server.restore()));
  await directory!.elected();
  const electedAt = performance.now();
  const ready = await Promise.all(starting);
  const foundAt = await at("all have found the gateway that was restarted", () =>
    [...members, late[1]!].every((node) => hasJoined(node, restarted)),
  );
  await until("running services say that the directory is back", () =>
    running.every((service) => count(service, isAway) === count(service, isBack)),
  );
  const talkative = running.filter(
    (service, index) => count(service, isAway) - before[index]![0]! > 1,
  );
  const measures = [
    r21(
      `${label}: services that say that they are ready meanwhile`,
      "",
      ready.filter((time) => time < backAt).length,
      { most: 0 },
      certain,
    ),
    unexplained(label, late, (service) => count(service, waiting) === 1),
    r21(
      `${label}: ready after the servers have elected leaders again`,
      "ms",
      Math.max(0, worst(ready) - electedAt),
      { most: promisedMs },
      certain,
    ),
    r21(
      `${label}: a gateway has its nodes after it is ready`,
      "ms",
      Math.max(0, foundAt - ready[0]!),
      { most: promisedMs },
      certain,
    ),
    r21(
      `${label}: running services that say more than once that it is away`,
      "",
      talkative.length,
      { most: 0 },
      certain,
    ),
    isUnharmed(label),
  ];
  for (const service of late.slice(1)) await stopped(service);
  return measures;
}

const waiting = "waiting for it";
const isAway = /^warning: the directory at .* is away/m;
const isBack = /^the directory at .* is back$/m;

let names = 0;
const nextName = (role: string): string => `${role}-late-${++names}`;

/** Starts a service. Resolves with the time at which it is ready, by its own word. */
async function readyAt(service: Service): Promise<number> {
  const ready = service.start().then(() => performance.now());
  return await Promise.race([ready, pause(neverMs).then(() => Infinity)]);
}

async function at(what: string, isSo: () => boolean): Promise<number> {
  await until(what, isSo);
  return performance.now();
}

async function stopped(service: Service): Promise<void> {
  service.signal("SIGTERM");
  const code = await service.ended();
  if (code !== 0) throw new Error(`${service.name} has ended with ${code}`);
}

/** One line says what a service waits for. */
const unexplained = (
  label: string,
  services: readonly Service[],
  isExplained: (service: Service) => boolean,
): Measure =>
  r21(
    `${label}: services whose lines about waiting aren't as promised`,
    "",
    services.filter((service) => !isExplained(service)).length,
    { most: 0 },
    certain,
  );

/** Measures how many links are lost from now on, but those to some gateways. */
function watchLinks(
  services: readonly Service[],
  except: readonly Service[],
): (label: string) => Measure {
  const lost = (): number =>
    services.reduce(
      (sum, service) =>
        sum +
        count(service, "the link to ") -
        except.reduce((own, { url }) => own + count(service, `the link to ${url} `), 0),
      0,
    );
  const before = lost();
  return (label) => r21(`${label}: links lost`, "", lost() - before, { most: 0 }, certain);
}
