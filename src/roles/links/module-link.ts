// The way to a repository for its modules, which are needed at starts and hardly ever later.

import {
  type OutgoingRequest,
  type Peer,
  type PeerResponse,
  UnsentError,
} from "../../base/ports.ts";
import type { DialledLink } from "./dialled-link.ts";
import { ServiceLinks, type ServiceLinksParts } from "./service-links.ts";
import { keptMs } from "../common/times.ts";

type ModuleLinkParts = Pick<
  ServiceLinksParts,
  "host" | "role" | "trustKey" | "limits" | "endToEndTls"
>;

/** A link that is dialled for a request, and ends after a while without requests. */
export class ModuleLink implements Peer {
  readonly #parts: ModuleLinkParts;
  readonly #url: string;
  readonly #links: ServiceLinks;
  #link: DialledLink | undefined;
  #requests = 0;
  #cancel = (): void => {};

  constructor(url: string, parts: ModuleLinkParts) {
    const { host } = parts;
    this.#url = url;
    this.#parts = parts;
    this.#links = new ServiceLinks({
      ...parts,
      // The caller reports failures.
      host: { ...host, log: { ...host.log, info: () => {}, warn: () => {} } },
    });
  }

  /** Rejects like a {@link DialledLink}, but with the refusal if trying again wouldn't help. */
  async send(request: OutgoingRequest): Promise<PeerResponse> {
    this.#cancel();
    this.#requests++;
    const link = (this.#link ??= this.#links.toRepository(this.#url));
    try {
      return await link.send(request);
    } catch (error) {
      throw (error instanceof UnsentError ? link.refusal : undefined) ?? error;
    } finally {
      if (--this.#requests === 0)
        this.#cancel = this.#parts.host.clock.after(keptMs.modules, () => this.#end());
    }
  }

  close(): Promise<void> {
    this.#cancel();
    this.#links.stop();
    return Promise.resolve();
  }

  /** Ends the link once answers on their way are complete. */
  #end(): void {
    if (this.#link !== undefined) this.#links.drop(this.#link);
    this.#link = undefined;
  }
}
