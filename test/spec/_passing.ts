// One call through a gateway or proxy whose only middleware looks at the arguments.

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

/** The call as the middleware saw it, and the request that the next service got. */
export async function pass(
  endpoint: "gateway" | "proxy",
  look: Look,
  call: { method?: string; target?: string; headers?: Record<string, string>; body?: string },
  cluster?: Deployment,
) {
  const deployment = cluster ?? (await deploy({ modules: true }));
  let seen: unknown;
  deployment[endpoint].addMiddleware({
    async handle(_fqn, _version, args, _headers, next) {
      seen = look(args);
      return await next();
    },
  });
  const { method = "POST", target = "/rpc/shop/stock", headers = json, body = "" } = call;
  deployment.network.sent.length = 0;
  const answer = await ask(deployment[endpoint], method, target, headers, body);
  const base = endpoint === "gateway" ? urls.b : urls.gateway;
  const [sent] = deployment.network.sent.filter((request) => request.url.startsWith(base));
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

/** No service writes it like this. */
export const odd = '{ "sku" : "1" }';
