// Publishes a service's list to the proxies that have linked to it: routes, procedures that may be sent again, and
// time limits, in the form of members' lists but without procedures. Proxies are sent its digest at each change, and
// request lists that they don't have.

import { Unauthorized } from "../../base/errors.ts";
import { type Host, type Peer, TransportError } from "../../base/ports.ts";
import { anyUpstream, answerHeaders, mediaTypes, routesPath } from "../../base/protocol.ts";
import { collected } from "../../http/bodies.ts";
import type { Route } from "../../http/router.ts";
import { type Offered, textOfList } from "./member-list.ts";

export interface ToldProxiesParts {
  readonly host: Pick<Host, "digest" | "log">;
  /** The procedures and routes of this service now. */
  readonly list: () => Omit<Offered, "procedures">;
}

interface Current {
  readonly digest: string;
  readonly text: Uint8Array;
}

interface Telling {
  /** The last digest that it was sent. */
  told: string | undefined;
  isTelling: boolean;
  /** Whether the list has changed while the digest was being sent. */
  isStale: boolean;
}

export class ToldProxies {
  readonly #parts: ToldProxiesParts;
  readonly #proxies = new Map<Peer, Telling>();
  #current: Current | undefined;
  /** Answers proxies that ask for the list, which they do as soon as they have linked. */
  readonly endpoint: Route;

  constructor(parts: ToldProxiesParts) {
    this.#parts = parts;
    this.endpoint = [
      "GET",
      routesPath,
      (request, { holdsKey }) => {
        if (!holdsKey)
          throw new Unauthorized("The list of routes needs the trust key of this deployment");
        const { digest, text } = this.#now();
        const etag = `"${digest}"`;
        const headers = { "content-type": mediaTypes.json, ...answerHeaders, etag };
        const has = String(request.headers["if-none-match"] ?? "").includes(etag);
        return has ? { status: 304, headers } : { status: 200, headers, body: text };
      },
    ];
  }

  /** A proxy has linked to this service. */
  linked(proxy: Peer): void {
    this.#proxies.set(proxy, { told: undefined, isTelling: false, isStale: false });
  }

  /** Its link is over. */
  lost(proxy: Peer): void {
    this.#proxies.delete(proxy);
  }

  /** The procedures and routes of this service may have changed. */
  changed(): void {
    this.#current = undefined;
    for (const [proxy, telling] of this.#proxies)
      if (telling.isTelling) telling.isStale = true;
      else void this.#tell(proxy, telling);
  }

  #now(): Current {
    if (this.#current === undefined) {
      const { host, list } = this.#parts;
      const text = new TextEncoder().encode(textOfList({ ...list(), procedures: [] }));
      this.#current = { digest: host.digest(text), text };
    }
    return this.#current;
  }

  /** One request at a time: a slow proxy is sent only the latest of many changes. */
  async #tell(proxy: Peer, telling: Telling): Promise<void> {
    const { host } = this.#parts;
    telling.isTelling = true;
    try {
      do {
        // A change may have several steps, such as a member that takes the place of another one.
        await Promise.resolve();
        telling.isStale = false;
        const { digest } = this.#now();
        if (digest === telling.told) continue;
        const { status } = await collected(
          proxy.send({
            url: anyUpstream + routesPath,
            method: "PUT",
            headers: { "content-type": mediaTypes.json },
            from: "key",
            body: JSON.stringify({ digest }),
            control: true,
          }),
        );
        if (status === 204) telling.told = digest;
        else host.log.warn(`a proxy answered ${status} when it was told of other routes`);
      } while (telling.isStale && this.#proxies.has(proxy));
    } catch (thrown) {
      // Its link is over. Over the next one it asks.
      if (!(thrown instanceof TransportError)) throw thrown;
    } finally {
      telling.isTelling = false;
    }
  }
}
