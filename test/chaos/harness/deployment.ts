// A deployment of Seamline as users start it: `seamline start --config …` for each process.

import type { Command } from "../../process/_application.ts";
import { createShop, type Kind, type ShopApplication } from "./application.ts";
import type { Call } from "./load.ts";
import { freePort } from "./ports.ts";
import { started } from "./started.ts";
import type { Member, Subject } from "./subject.ts";

/** A process that can be killed and started again at the same address. */
export interface Service extends Member {
  readonly url: string;
  readonly command: Command;
}

export interface Deployment extends Subject {
  readonly application: ShopApplication;
  readonly repository: Service;
  readonly gateway: Service;
  readonly proxy: Service;
  readonly members: readonly Service[];
  /** A further node, not yet started. */
  node(name: string, config?: object): Promise<Service>;
}

export interface DeploymentOptions {
  /** Of nodes; 3 unless said otherwise. */
  readonly nodes?: number;
  readonly gatewayConfig?: object;
  readonly nodeConfig?: object;
  readonly env?: Readonly<Record<string, string>>;
  /** The address at which a node reaches the gateway, if that isn't the gateway's own. */
  readonly wayToGateway?: (name: string, gateway: string) => Promise<string>;
}

const host = "127.0.0.1";

export async function startDeployment(options: DeploymentOptions = {}): Promise<Deployment> {
  const application = await createShop();
  const { ledger } = application;

  const serviceOf = async (name: string, config: object): Promise<Service> => {
    const url = `http://${host}:${await freePort()}`;
    await application.put(`${name}.json`, { url, ...config });
    let command: Command | undefined;
    const current = (): Command => {
      if (command === undefined) throw new Error(`${name} was never started`);
      return command;
    };
    return {
      name,
      url,
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
  const gateway = await serviceOf("gateway", { mode: "gateway", ...options.gatewayConfig });
  const node = async (name: string, config: object = {}): Promise<Service> =>
    await serviceOf(name, {
      mode: "node",
      gateway: (await options.wayToGateway?.(name, gateway.url)) ?? gateway.url,
      repository: repository.url,
      segments: ["shop"],
      ...options.nodeConfig,
      ...config,
    });
  const proxy = await serviceOf("proxy", {
    mode: "proxy",
    gateway: gateway.url,
    repository: repository.url,
  });
  const members: Service[] = [];
  for (let index = 0; index < (options.nodes ?? 3); index++)
    members.push(await node("abcdefgh"[index]!));

  const close = async (): Promise<void> => await application.remove();
  try {
    await Promise.all([repository.start(), gateway.start()]);
    await Promise.all([...members, proxy].map((service) => service.start()));
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
    proxy,
    members,
    node,
    pids: () => [gateway, proxy, ...members].map(({ pid }) => pid),
    hasErrorNames: true,
    callOf,
    close,
  };
}

function callOf(kind: Kind, id: string, deadlineMs: number): Call {
  const body = JSON.stringify({ id });
  return {
    method: "POST",
    path: `/rpc/${kind}`,
    headers: {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      "x-svc-deadline": String(deadlineMs),
    },
    body,
  };
}
