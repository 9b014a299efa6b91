// One call through a gateway or proxy whose only layer looks at the arguments.

import { ask } from "../_cluster.ts";
import { deploy, type Deployment, urls } from "../_deployment.ts";

export const json = { "content-type": "application/json" };
export const serialized = { ...json, "x-svc-data-encoding": "serialized" };
export const money = {
  serialized: true,
  key: "shop/Money",
  name: "class",
  args: { 0: 3 },
  fields: {},
};

export type Look = (args: Map<string, unknown>) => unknown;

/** What the layer saw, and the request that the next service got. */
export async function pass(
  door: "gateway" | "proxy",
  look: Look,
  call: { method?: string; target?: string; headers?: Record<string, string>; body?: string },
  cluster?: Deployment,
) {
  const deployment = cluster ?? (await deploy({ modules: true }));
  let seen: unknown;
  deployment[door].addMiddleware({
    async handle(_fqn, _version, args, _headers, next) {
      seen = look(args);
      return await next();
    },
  });
  const { method = "POST", target = "/rpc/shop/stock", headers = json, body = "" } = call;
  deployment.network.sent.length = 0;
  const answer = await ask(deployment[door], method, target, headers, body);
  const base = door === "gateway" ? urls.b : urls.gateway;
  const [sent] = deployment.network.sent.filter((one) => one.url.startsWith(base));
  return {
    answer,
    seen,
    sent: sent && {
      method: sent.method,
      target: sent.url.slice(base.length),
      body: sent.body,
      headers: sent.headers,
    },
  };
}

/** No service would write it so. */
export const odd = '{ "sku" : "1" }';
