// Recognises what a configuration names as a gateway by mistake. Over a link, the other end says what
// it is; over HTTP, it has to be found out.

import { bounded } from "../../base/aborts.ts";
import type { Clock, Peer } from "../../base/ports.ts";
import { paths, routesPath } from "../../base/protocol.ts";
import { discard } from "../../http/bodies.ts";
import { trustKeyHeader, type TrustKey } from "../../http/trust.ts";
import { anyUpstream, type Upstream } from "./upstream.ts";

/** For each question. */
const answerTimeoutMs = 2_000;

/**
 * Throws if a service gives out a build, and lists neither routes nor members: it is a repository or a
 * standalone. What doesn't answer may not be up yet. Something in front of a deployment may send
 * requests for modules to a repository, and others to a gateway.
 */
export async function refuseRepository(
  { url, http }: Pick<Upstream, "url" | "http">,
  clock: Clock,
  trustKey: TrustKey,
): Promise<void> {
  const ask = (method: string, path: string): Promise<number | undefined> =>
    statusOf(http, clock, trustKey, method, path);
  // Each gateway answers the first question.
  if ((await ask("GET", routesPath)) !== 404) return;
  if ((await ask("HEAD", paths.serverManifest)) !== 200) return;
  const status = await ask("GET", paths.nodes);
  if (status === 404 || status === 405)
    throw new Error(
      `${url} is a repository or a standalone, not a gateway: set 'gateway' to the address of one`,
    );
}

async function statusOf(
  peer: Peer,
  clock: Clock,
  trustKey: TrustKey,
  method: string,
  path: string,
): Promise<number | undefined> {
  const late = (): Error => new Error("no answer");
  const sending = bounded(undefined, clock, answerTimeoutMs, late, (signal) =>
    peer.send({
      url: anyUpstream + path,
      method,
      headers: trustKeyHeader(trustKey),
      signal,
      control: true,
    }),
  );
  const answer = await sending.catch(() => undefined);
  if (answer !== undefined) discard(answer.body);
  return answer?.status;
}
