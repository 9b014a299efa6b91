// Proxy: one address for browsers and other callers; calls go to the gateway or node behind it, the rest to the repository.

import type { Host, HttpRequest, HttpResponse } from "../ports.ts";
import { Classes } from "../serializer/classes.ts";
import type { Limits } from "../serializer/limits.ts";
import { refuseMethod } from "../router.ts";
import { asItCame, failureOf, type Forwarded, joined, passedOn, relayed, sendOn } from "./forward.ts";
import { throughLayers } from "./forward-layers.ts";
import { applicationOf, type ServerModules } from "./load-node.ts";
import { createLayers, createRole, type Role } from "./role.ts";
import type { IncomingCall } from "../wire/rpc-door.ts";

export interface ProxyOptions {
  readonly trustKey: string | undefined;
  readonly limits: Limits;
  /** Gateway or node: where calls go. */
  readonly calls: string;
  readonly repository: string;
  /** The application's modules, for middleware that looks at arguments. */
  readonly modules?: ServerModules | undefined;
}

export function createProxy(host: Host, options: ProxyOptions): Role {
  const { trustKey, limits } = options;
  const layers = createLayers();
  const parts = { host, trustKey, limits, layers, application: options.modules && applicationOf(options.modules) };
  const forward = async (call: IncomingCall, forwarded: Forwarded) => {
    try {
      return await sendOn(parts, options.calls, call, forwarded);
    } catch (thrown) {
      throw failureOf(thrown);
    }
  };
  return createRole({
    ...parts,
    classes: new Classes(),
    call: async (call, refuse) => await throughLayers(parts, call, await asItCame(call, limits), forward, refuse),
    otherwise: (request) => fetchFile(host, options.repository, request),
    start: async () => {},
    stop: async () => {},
    describe: () => ({ calls: options.calls, files: options.repository }),
  });
}

/** A file of the repository. The trust key never goes along: what it opens is not for those outside. */
async function fetchFile(host: Host, repository: string, request: HttpRequest): Promise<HttpResponse> {
  if (request.method !== "GET" && request.method !== "HEAD") return refuseMethod(["GET", "HEAD"]);
  try {
    const answer = await host.transport.send({
      url: repository + request.target,
      method: request.method,
      headers: joined(passedOn(request.headers, () => false)),
      signal: request.signal,
    });
    return relayed(answer, request.method);
  } catch (thrown) {
    throw failureOf(thrown);
  }
}
