// Proxy: one address for browsers and other callers; calls go to the gateway or node behind it, the rest to the repository.

import { bounded } from "../bounded.ts";
import { createPublicOrigin, type PublicOriginOptions } from "../public-origin.ts";
import type { Console } from "../console/console.ts";
import { behindSource } from "../console/manifest-source.ts";
import { BadGateway, DeadlineExceeded, NodeNotAvailable } from "../errors.ts";
import {
  type Host,
  type HttpRequest,
  type HttpResponse,
  isLocalFailure,
  TransportError,
} from "../ports.ts";
import { Classes } from "../serializer/classes.ts";
import type { Limits } from "../serializer/limits.ts";
import { paths, serviceHeaders } from "../protocol.ts";
import { refuseMethod } from "../router.ts";
import {
  asItCame,
  failureOf,
  type Forwarded,
  joined,
  noConnection,
  passedOn,
  relayed,
  sendOn,
  withAsked,
} from "./forward.ts";
import { throughLayers } from "./forward-layers.ts";
import { applicationOf, type ServerModules } from "./load-node.ts";
import { createLayers, createRole, type Role } from "./role.ts";
import { createCredentials } from "../trust.ts";
import type { IncomingCall } from "../wire/rpc-door.ts";

export interface ProxyOptions {
  readonly trustKey: string | undefined;
  readonly limits: Limits;
  readonly web?: PublicOriginOptions | undefined;
  /** Gateway or node: where calls go. */
  readonly calls: string;
  readonly repository: string;
  /** The application's modules, for middleware that looks at arguments. */
  readonly modules?: ServerModules | undefined;
  /** Shows this service to people (docs/guide/console.md). */
  readonly console?: Console | undefined;
}

export function createProxy(host: Host, options: ProxyOptions): Role {
  const { trustKey, limits, modules, console: view } = options;
  const layers = createLayers();
  const credentials = createCredentials(trustKey, host);
  const web = createPublicOrigin(host.log, options.web);
  const parts = {
    host,
    credentials,
    web,
    limits,
    layers,
    application: options.modules && applicationOf(options.modules, host),
  };
  const calls = told(host, options.calls);
  const files = told(host, options.repository);
  const forward = async (call: IncomingCall, forwarded: Forwarded) => {
    try {
      view?.observer?.sent(call.request, options.calls);
      return await calls(sendOn(parts, options.calls, call, forwarded));
    } catch (thrown) {
      throw failureOf(thrown);
    }
  };
  return createRole({
    ...parts,
    classes: new Classes(),
    call: async (call, refuse) =>
      await throughLayers(parts, call, await asItCame(call, limits), forward, refuse),
    otherwise: (request) => {
      const asked = web.asked(request, credentials.of(request.headers));
      const fields = withAsked(joined(passedOn(request.headers, () => false)), asked);
      return fetchFile(
        host,
        options,
        request,
        { ...credentials.fields("outside"), ...fields },
        files,
      );
    },
    start: () => checkKey(host, options),
    stop: async () => {},
    describe: () => ({ calls: options.calls, files: options.repository }),
    console: view && {
      console: view,
      source: behindSource(host, {
        trustKey,
        calls: options.calls,
        manifest: modules && (() => modules.manifest()),
      }),
    },
  });
}

/** How long the repository may take to say whether it knows the key, in ms: a start waits for it. */
const checkTime = 2000;

/**
 * A proxy whose key is not the deployment's would pass every call on as one from outside: its start says so (decisions §5, trust).
 * A repository that is not there yet says nothing about the key.
 */
async function checkKey(host: Host, { repository, trustKey }: ProxyOptions): Promise<void> {
  if (trustKey === undefined) return;
  const url = repository + paths.serverManifest;
  const answer = await bounded(
    undefined,
    host.clock,
    checkTime,
    () => new Error("no answer"),
    (signal) =>
      host.transport.send({
        url,
        method: "HEAD",
        headers: { [serviceHeaders.trustKey]: trustKey },
        signal,
        control: true,
      }),
  ).catch(() => undefined);
  if (answer?.status === 404 || answer?.status === 401)
    throw new Error(
      `The repository at ${repository} doesn't take this proxy's trust key, or is no repository. Services in different folders or on different machines need the same 'trustKey'`,
    );
}

type Told = <Answer>(sent: Promise<Answer>) => Promise<Answer>;

/** Callers learn nothing of what is inside, so the log says why a service can't be reached: once, until it answers again. */
function told(host: Host, url: string): Told {
  let away = false;
  return async (sent) => {
    try {
      const answer = await sent;
      if (away) host.log.info(`${url} answers again`);
      away = false;
      return answer;
    } catch (thrown) {
      if (thrown instanceof TransportError && !isLocalFailure(thrown) && !away) {
        away = true;
        host.log.warn(`${url} can't be reached: ${thrown.message}`);
      }
      throw thrown;
    }
  };
}

/** A file of the repository. `fields` say that it is for a stranger: what the trust key opens isn't for those outside. */
async function fetchFile(
  host: Host,
  { repository, limits }: ProxyOptions,
  request: HttpRequest,
  fields: Readonly<Record<string, string>>,
  files: Told,
): Promise<HttpResponse> {
  const { method, target, signal: outer } = request;
  if (method !== "GET" && method !== "HEAD") return refuseMethod(["GET", "HEAD"]);
  const late = new TransportError(`${repository} gave no answer in ${limits.time / 1000} s`, true);
  try {
    const answer = await files(
      bounded(
        outer,
        host.clock,
        limits.time,
        () => late,
        (signal) =>
          host.transport.send({ url: repository + target, method, headers: fields, signal }),
      ),
    );
    return relayed(answer, method);
  } catch (thrown) {
    if (thrown === late) throw new DeadlineExceeded("The repository did not answer in time");
    if (!(thrown instanceof TransportError)) throw thrown;
    if (isLocalFailure(thrown)) throw noConnection();
    throw thrown.sent
      ? new BadGateway("The repository gave no answer")
      : new NodeNotAvailable("The repository can't be reached");
  }
}
