// Proxy: one address for browsers and other callers. Calls go to the gateway or node behind it, all
// other requests to the repository.

import { Attempt, type Send } from "./relay/attempt.ts";
import { bounded } from "../base/aborts.ts";
import { BadGateway, DeadlineExceeded, NodeNotAvailable } from "../base/errors.ts";
import {
  type Host,
  type HttpRequest,
  type HttpResponse,
  type Peer,
  TransportError,
} from "../base/ports.ts";
import type { Gateways } from "../base/ports/gateways.ts";
import { discard } from "../http/bodies.ts";
import { Classes } from "../codec/classes.ts";
import type { Limits } from "../base/limits.ts";
import { anyUpstream, linkHeaders, paths } from "../base/protocol.ts";
import { refuseMethod } from "../http/router.ts";
import {
  forwardingError,
  joined,
  endToEndHeaders,
  relayAnswer,
  withoutItsSettings,
  withRequestedOrigin,
} from "./relay/forward.ts";
import { KnownBase } from "./relay/known-base.ts";
import { knownNames } from "./relay/known-names.ts";
import { applicationOf, type ServerModules } from "./application/application.ts";
import type { Observer } from "./pipeline/observer.ts";
import { notFound } from "../http/answers.ts";
import { createRole, type Role } from "./pipeline/role.ts";
import { createService, type ServiceOptions } from "./pipeline/service.ts";
import { createPassOn, prepareMiddleware } from "./relay/pass-on.ts";
import { KnownLists } from "./upstreams/known-lists.ts";
import { gatewaysOf } from "./upstreams/listed-gateways.ts";
import { type LogOutages, logOutages } from "./upstreams/outages.ts";
import { Upstreams } from "./upstreams/upstreams.ts";
import { ServiceLinks } from "./links/service-links.ts";
import { isMasked, maskHeader } from "../http/relay-headers.ts";

export interface ProxyOptions extends ServiceOptions {
  /** Gateways or a node that take the calls. */
  readonly calls: string | readonly string[] | Gateways;
  /** The kind of these services [either]. */
  readonly behind?: "gateway" | "node" | undefined;
  readonly repository: string;
  /** The application's modules, for middleware that looks at arguments. */
  readonly modules?: ServerModules | undefined;
  readonly observer?: Observer | undefined;
}

const upstreamRoles = {
  gateway: ["gateway"],
  node: ["node", "standalone"],
  either: ["gateway", "node", "standalone"],
} as const;

export function createProxy(host: Host, options: ProxyOptions): Role {
  const { limits, modules, errors, observer } = options;
  const links = new ServiceLinks({ ...options, host, role: "proxy" });
  const repository = links.keptToRepository(options.repository, () => void base.find());
  const base = new KnownBase(host.clock, repository);
  const service = createService(host, { ...options, web: { ...options.web, base } });
  const { web, chain } = service;
  const application = modules && applicationOf(modules, host);
  const lists = new KnownLists({ host, upstreams: () => upstreams.all });
  const upstreams: Upstreams = new Upstreams({
    host,
    links,
    gateways: gatewaysOf(host, options.calls),
    roles: upstreamRoles[options.behind ?? "either"],
    isIdempotent: (fqn) => lists.idempotent.has(fqn),
    onLinked: (upstream) => lists.linked(upstream),
    onLost: (upstream) => lists.lost(upstream),
  });
  // Links log their own loss, so it isn't reported again.
  const isTold = (): boolean => upstreams.ways.every(({ isLinked }) => !isLinked);
  const calls = logOutages(host, () => upstreams.names, isTold);
  // The same for the repository's link.
  const files = logOutages(
    host,
    () => options.repository,
    () => !repository.isLinked,
  );
  const watched = (request: HttpRequest): Peer => {
    const watching = observer?.calls;
    return watching === undefined
      ? upstreams
      : upstreams.observed((name) => watching.sent(request, name));
  };
  const send: Send = async (exchange, content) => {
    const timeoutMs = exchange.route === undefined ? lists.timeouts.get(exchange.fqn) : undefined;
    const attempt = new Attempt(exchange, content, host.clock, timeoutMs);
    try {
      const answer = await calls(attempt.send(watched(exchange.request)));
      attempt.answered();
      return withoutItsSettings(exchange, answer);
    } catch (thrown) {
      throw forwardingError(attempt.failed(thrown), exchange.trust.trusted);
    }
  };
  const names = modules && host.telemetry && knownNames(modules, host);
  return createRole({
    ...service,
    classes: application?.classes ?? new Classes(),
    measured: names && { knows: names, figures: () => ({ resent: upstreams.resent }) },
    answer: createPassOn({ ...service, application }, send),
    routes: () => lists.table,
    endpoints: [["GET", paths.link, () => Promise.resolve(takesNoLinks())], lists.endpoint],
    otherwise: (request, trust) => {
      const requestedOrigin = web.requestedOrigin(request, trust);
      const masks = isMasked(request.headers, trust, errors === "masked");
      const fields = withRequestedOrigin(
        isRead(request) ? joined(endToEndHeaders(request.headers, () => false)) : {},
        requestedOrigin,
      );
      return fetchFile({ host, limits, repository, files }, request, {
        ...maskHeader(masks),
        ...fields,
      });
    },
    async start() {
      await Promise.all([repository.start(), upstreams.start()]);
      await Promise.all([lists.settled(), prepareMiddleware(chain)]);
    },
    stop() {
      lists.stop();
      upstreams.stop();
    },
    describe: () => ({ routes: lists.table.all, ways: upstreams.ways }),
    links,
    takesPages: true,
    observed: observer && {
      observer,
      subject: {
        mode: "proxy",
        upstreams,
        manifest: modules && (() => modules.manifest()),
      },
    },
  });
}

/** Services treat a refused link as from a gateway or a repository, so say that this is a proxy. */
function takesNoLinks(): HttpResponse {
  const answer = notFound();
  const headers = Object.assign({ [linkHeaders.refused]: "proxy" }, answer.headers);
  return Object.assign({}, answer, { headers });
}

function isRead({ method }: HttpRequest): boolean {
  return method === "GET" || method === "HEAD";
}

interface FileParts {
  readonly host: Pick<Host, "clock">;
  readonly limits: Pick<Limits, "callTimeoutMs">;
  readonly repository: Peer;
  readonly files: LogOutages;
}

/** Fetches a file as an outsider, by its `fields`: callers mustn't get files that need the trust key. */
async function fetchFile(
  { host, limits, repository, files }: FileParts,
  request: HttpRequest,
  fields: Readonly<Record<string, string>>,
): Promise<HttpResponse> {
  const { method, target, signal: outer } = request;
  const seconds = limits.callTimeoutMs / 1_000;
  const late = new TransportError(`it gave no answer in ${seconds} s`, true);
  try {
    const answer = await files(
      bounded(
        outer,
        host.clock,
        limits.callTimeoutMs,
        () => late,
        (signal) =>
          repository.send({
            url: anyUpstream + target,
            // Other methods are refused: with 405 if there is such a file, which only HEAD tells.
            method: isRead(request) ? method : "HEAD",
            headers: fields,
            signal,
          }),
      ),
    );
    if (isRead(request)) return relayAnswer(answer, method);
    discard(answer.body);
    if (answer.status < 400) return refuseMethod(["GET", "HEAD"]);
    return answer.status === 404 ? notFound() : relayAnswer({ ...answer, body: new Uint8Array() });
  } catch (thrown) {
    if (thrown === late) throw new DeadlineExceeded("The repository did not answer in time");
    if (!(thrown instanceof TransportError)) throw thrown;
    throw thrown.sent
      ? new BadGateway("The repository gave no answer")
      : new NodeNotAvailable("The repository can't be reached");
  }
}
