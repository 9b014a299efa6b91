// A deployment of Seamline as users start it: `seamline start --config …` for each process.

import type { Command } from "../../../test/process/_application.ts";
import { createShop, type Kind, type ShopApplication, trustKey } from "./application.ts";
import { type DirectoryCluster, startDirectory } from "./directory.ts";
import type { Call } from "./load.ts";
import { freePort } from "../../../test/_free-port.ts";
import { Shim, type Weather } from "./shim.ts";
import { started } from "./started.ts";
import type { Member, Subject } from "./subject.ts";

/** A process that can be killed and started again at the same address. */
export interface Service extends Member {
  readonly url: string;
  readonly command: Command;
  /** Changes its configuration, for its next start. */
  reconfigure(config: object): Promise<void>;
}

export interface Deployment extends Subject {
  readonly application: ShopApplication;
  readonly repository: Service;
  readonly gateway: Service;
  /** All of them; the first is `gateway`. */
  readonly gateways: readonly Service[];
  readonly proxy: Service;
  /** All of them; the first is `proxy`. */
  readonly proxies: readonly Service[];
  readonly members: readonly Service[];
  /** If there is one. */
  readonly directory: DirectoryCluster | undefined;
  /** All bytes between the gateway and the first node pass it, if there is one. */
  readonly shim: Pick<Shim, "weather" | "reset"> | undefined;
  /** A further node, not yet started. */
  node(name: string, config?: object): Promise<Service>;
  /** A further gateway, not yet started. It is found only if there is a directory. */
  furtherGateway(name: string): Promise<Service>;
  /** A further proxy, not yet started. */
  furtherProxy(name: string): Promise<Service>;
}

export interface DeploymentOptions {
  /** Of nodes; 3 unless said otherwise. */
  readonly nodes?: number;
  /** 1 unless said otherwise. Nodes and proxies know all of them. */
  readonly gateways?: number;
  /** 1 unless said otherwise. */
  readonly proxies?: number;
  readonly gatewayConfig?: object;
  readonly nodeConfig?: object;
  readonly env?: Readonly<Record<string, string>>;
  /** Nodes and proxies find gateways in a cluster of three NATS servers instead. */
  readonly hasDirectory?: boolean;
  /** Puts a shim between the gateway and the first node. */
  readonly hasShim?: boolean;
}

const host = "127.0.0.1";

export async function startDeployment(options: DeploymentOptions = {}): Promise<Deployment> {
  const found = options.hasDirectory ? await startDirectory() : undefined;
  const directory = found && { directory: { nats: found.servers.map(({ url }) => url) } };
  const application = await createShop();
  const { ledger } = application;

  const serviceOf = async (name: string, config: object): Promise<Service> => {
    const url = `http://${host}:${await freePort()}`;
    await application.put(`${name}.json`, { url, trustKey, ...config });
    let command: Command | undefined;
    const current = (): Command => {
      if (command === undefined) throw new Error(`${name} was never started`);
      return command;
    };
    return {
      name,
      url,
      reconfigure: async (changes) =>
        await application.put(`${name}.json`, { url, trustKey, ...config, ...changes }),
      get command() {
        return current();
      },
      get pid() {
        return current().child.pid!;
      },
      async start() {
        const env = { CHAOS_LEDGER: ledger, CHAOS_NODE: name, ...options.env };
        command = started(application.seamline(["start", "--config", `${name}.json`], env));
        await command.says(/^(?:gateway|node|proxy|repository) at http:/m);
      },
      signal: (signal) => void current().child.kill(signal),
      ended: () => current().ended(),
    };
  };

  const repository = await serviceOf("repository", { mode: "repository" });
  const furtherGateway = async (name: string): Promise<Service> =>
    await serviceOf(name, { mode: "gateway", ...directory, ...options.gatewayConfig });
  const gateways: Service[] = [];
  for (let index = 0; index < (options.gateways ?? 1); index++)
    gateways.push(await furtherGateway(index === 0 ? "gateway" : `gateway-${index + 1}`));
  const gateway = gateways[0]!;
  const gatewayUrls = gateways.length === 1 ? gateway.url : gateways.map(({ url }) => url);
  const toGateways = directory ?? { gateway: gatewayUrls };
  const node = async (name: string, config: object = {}): Promise<Service> =>
    await serviceOf(name, {
      mode: "node",
      ...toGateways,
      repository: repository.url,
      segments: ["shop"],
      ...options.nodeConfig,
      ...config,
    });
  const furtherProxy = async (name: string, config: object = {}): Promise<Service> =>
    await serviceOf(name, {
      mode: "proxy",
      ...toGateways,
      repository: repository.url,
      ...config,
    });
  const proxies: Service[] = [];
  for (let index = 0; index < (options.proxies ?? 1); index++)
    proxies.push(await furtherProxy(index === 0 ? "proxy" : `proxy-${index + 1}`));
  const members: Service[] = [];
  for (let index = 0; index < (options.nodes ?? 3); index++)
    members.push(await node("abcdefgh"[index]!));
  const shim = options.hasShim ? await shimBetween(members[0]!, gateway) : undefined;
  if (shim) await members[0]!.reconfigure({ gateway: shim.gateway });

  /** Proxies whose calls have less time than others. */
  const hasty = new Map<number, Service>();
  const urlFor = async (deadlineMs: number): Promise<string> => {
    let entry = hasty.get(deadlineMs);
    if (entry === undefined) {
      entry = await furtherProxy(`proxy-${deadlineMs}`, {
        limits: { callTimeoutMs: deadlineMs },
      });
      await entry.start();
      hasty.set(deadlineMs, entry);
    }
    return entry.url;
  };

  const close = async (): Promise<void> => {
    shim?.close();
    await application.remove();
    await found?.close();
  };
  try {
    await Promise.all([repository, ...gateways].map((service) => service.start()));
    await Promise.all([...members, ...proxies].map((service) => service.start()));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    name: "Seamline",
    url: gateway.url,
    application,
    ledger,
    repository,
    gateway,
    gateways,
    proxy: proxies[0]!,
    proxies,
    members,
    directory: found,
    shim,
    node,
    furtherGateway,
    furtherProxy,
    pids: () => [...gateways, ...proxies, ...members, ...hasty.values()].map(({ pid }) => pid),
    urlFor,
    hasErrorNames: true,
    callOf,
    close,
  };
}

/**
 * A node tells the gateway where it listens. On the way, the shim replaces that address by its own;
 * both have as many characters.
 */
async function shimBetween(node: Service, gateway: Service) {
  const [own, way] = [await freePort(), await freePort()];
  const portOf = ({ url }: Service): number => Number(new URL(url).port);
  const rewritten = (bytes: Buffer): Buffer =>
    Buffer.from(bytes.toString("latin1").replaceAll(`:${portOf(node)}`, `:${own}`), "latin1");
  const shims = [new Shim(portOf(node)), new Shim(portOf(gateway), rewritten)] as const;
  await shims[0].listen(own);
  await shims[1].listen(way);
  return {
    gateway: `http://${host}:${way}`,
    set weather(weather: Weather) {
      for (const shim of shims) shim.weather = weather;
    },
    reset: () => shims.forEach((shim) => shim.reset()),
    close: () => shims.forEach((shim) => shim.close()),
  };
}

function callOf(kind: Kind, id: string, ms?: number): Call {
  const body = JSON.stringify({ id, ms });
  return {
    method: "POST",
    path: `/rpc/${kind}`,
    headers: {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
    },
    body,
  };
}
