// The way to a repository for those that need its modules, which is at starts, and hardly ever later.

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

/** A link that is dialled for a request, and ends when there was none for a while. */
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
      // Whoever asks says what becomes of it.
      host: { ...host, log: { ...host.log, info: () => {}, warn: () => {} } },
    });
  }

  /** Rejects as a {@link DialledLink} does, and with why, if trying again wouldn't help. */
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

  /** Answers whose bodies are on their way come to their end. */
  #end(): void {
    if (this.#link !== undefined) this.#links.drop(this.#link);
    this.#link = undefined;
  }
}
