// A service's link to another one that it calls: a node's to its gateway, a proxy's to its gateway or node. It is
// dialled again when it is lost.

import { unlessAborted } from "../../base/aborts.ts";
import { BackOff } from "../../base/back-off.ts";
import type { LinkHost } from "../../base/ports/links.ts";
import { type GatewayAddress, gatewayName } from "../../base/ports/gateways.ts";
import {
  type Host,
  type OutgoingRequest,
  type Peer,
  type PeerResponse,
  UnsentError,
} from "../../base/ports.ts";
import {
  BindingError,
  HandshakeError,
  WrongKeyError,
  WrongRoleError,
} from "../../link/handshake.ts";
import { dialLink, type LinkService, type ProvenLink } from "../../link/proven-link.ts";
import { isAmong, type OnLookup } from "./watch-addresses.ts";
import { retryMs } from "../common/times.ts";

export interface DialledLinkParts {
  readonly host: Pick<Host, "clock" | "log">;
  /** The service that is dialled. */
  readonly to: GatewayAddress;
  /** Its possible roles, which are also the configuration's keys that name it. */
  readonly roles: readonly string[];
  readonly service: LinkService;
  readonly dial: LinkHost<never>["dial"];
  /** There is a new link. The link before it is retired once the returned promise has resolved. */
  readonly onLinked: () => Promise<void> | void;
  /** The name under which this service already has a link to that process, if it has one. */
  readonly twinOf?: ((instance: string) => string | undefined) | undefined;
  /** The link is lost. */
  readonly onLost?: (() => void) | undefined;
  /**
   * A request without a link has one dialled, and waits until this long after the try began [if there has been
   * no link yet, for the whole try; otherwise not at all].
   */
  readonly patienceMs?: number | undefined;
  /**
   * Watches the addresses of the other service's name: if the link isn't at one of them any more, a new link
   * replaces it.
   */
  readonly watch?: ((onLookup: OnLookup) => (() => void) | undefined) | undefined;
}

/** The state of a service's link to another one. */
export interface Way {
  /** The other service's address. */
  readonly to: string;
  readonly isLinked: boolean;
  /** Why there is no link. */
  readonly because?: string;
}

/** This service already has a link to the process at the other end. */
class TwinError extends Error {}

export class DialledLink implements Peer {
  readonly #parts: DialledLinkParts;
  /** The other service's name in logs and errors. */
  readonly #name: string;
  #proven: ProvenLink | undefined;
  #linkedAt = 0;
  /** Links that are being retired: calls in flight go on. */
  readonly #leaving = new Set<ProvenLink>();
  /** Why there is no link. */
  #why = "it hasn't been dialled yet";
  #cause: unknown;
  /** Whether one of the two services has to be changed, so that trying again wouldn't help. */
  #isRefused = false;
  /** The reason in the last warning since there was a link. */
  #warned: string | undefined;
  readonly #backOff = new BackOff(retryMs.link);
  /** Whether the next lost link is dialled again without a wait. */
  #isAtOnce = true;
  #cancel = (): void => {};
  #unwatch = (): void => {};
  #isStopped = false;
  /** Whether there is another link to the process at the other end. */
  #isTwin = false;
  /** Whether only the back-off dials, and requests don't: a new link would fail like the one before. */
  #isHeldBack = false;
  /** Whether there has been a link. */
  #wasLinked = false;
  #trying: Promise<void> | undefined;
  /** When the last try began. */
  #triedAt = 0;
  /** The promise of {@link DialledLinkParts.onLinked} for the current link. */
  #taking: Promise<void> | void = undefined;

  constructor(parts: DialledLinkParts) {
    this.#parts = parts;
    this.#name = gatewayName(parts.to);
  }

  /** Whether there is a link. */
  get isLinked(): boolean {
    return this.#proven !== undefined;
  }

  /** Its state, for people. */
  get way(): Way {
    const to = this.#name;
    if (this.#proven !== undefined) return { to, isLinked: true };
    return { to, isLinked: false, because: this.#why };
  }

  /** The error without a link, if one of the two services has to be changed. */
  get refusal(): Error | undefined {
    return this.#isRefused && this.#cause instanceof Error ? this.#cause : undefined;
  }

  /** Whether this service has a link to the same process under another name. */
  get isTwin(): boolean {
    return this.#isTwin;
  }

  /** The process at the other end of the link. */
  get instance(): string | undefined {
    return this.#proven?.other.instance;
  }

  /** The IP address of the process at the other end, if that is known. */
  get address(): string | undefined {
    return this.#proven?.address;
  }

  /** Whether a call that is sent now is likely to be taken: there is a link that isn't silent. */
  get isReady(): boolean {
    if (this.#proven === undefined) return false;
    const { peer } = this.#proven;
    return !peer.isSilent && peer.hasRoom;
  }

  /** All open links. */
  *links(): Iterable<ProvenLink> {
    if (this.#proven !== undefined) yield this.#proven;
    yield* this.#leaving;
  }

  send(request: OutgoingRequest): Promise<PeerResponse> {
    if (this.#proven !== undefined) return this.#proven.peer.send(request);
    // Services start in any order: the other one may have started since the last try.
    const isWorthATry = this.#parts.patienceMs === undefined ? !this.#wasLinked : !this.#isHeldBack;
    if (isWorthATry && !this.#isStopped && !this.#isTwin) return this.#sendOnceLinked(request);
    return Promise.reject(this.#none());
  }

  /** Sends a call whose link was lost: waits for the next link, unless the call is aborted before. */
  async sendOverNext(request: OutgoingRequest): Promise<PeerResponse> {
    // Calls learn that a link is over before `#gone` does.
    if (this.#proven?.link.isClosed === true) await this.#proven.closed;
    if (this.#proven === undefined && !this.#isStopped && !this.#isTwin) {
      this.#cancel();
      await unlessAborted(request.signal, (this.#trying ??= this.#try()));
    }
    return await this.send(request);
  }

  async #sendOnceLinked(request: OutgoingRequest): Promise<PeerResponse> {
    const { host, patienceMs } = this.#parts;
    this.#cancel();
    const trying = (this.#trying ??= this.#try());
    if (patienceMs === undefined) await trying;
    else {
      const leftMs = this.#triedAt + patienceMs - host.clock.now();
      let cancel = (): void => {};
      const isEnough = new Promise<void>((resolve) => {
        cancel = host.clock.after(Math.max(0, leftMs), resolve);
      });
      await Promise.race([trying, isEnough]);
      cancel();
    }
    if (this.#proven !== undefined) return await this.send(request);
    throw this.#none();
  }

  #none(): UnsentError {
    const message = `there is no link to ${this.#name}: ${this.#why}`;
    return new UnsentError(message, "refused", { cause: this.#cause });
  }

  /**
   * Resolves after the first try, successful or not. Rejects if the other end has another trust key or the wrong
   * role, or if an end can't tell its TLS connection from others.
   */
  async start(): Promise<void> {
    await (this.#trying = this.#try(true));
    if (!this.#isStopped) this.#unwatch = this.#parts.watch?.(this.#onLookup) ?? this.#unwatch;
  }

  /** Goes on trying after a refused start. */
  persist(refusal: Error): void {
    if (!this.#isStopped) this.#failed(refusal);
  }

  /** Dials now instead of at the next try. */
  hurry(): void {
    if (this.#proven === undefined && this.#trying === undefined && !this.#isStopped)
      this.#later(0);
  }

  /**
   * Replaces the link by a new one, to the process that is at the address now. Resolves when requests go over it;
   * calls in flight end on the former link.
   */
  async renew(): Promise<void> {
    this.#cancel();
    await (this.#trying ??= this.#try());
    await this.#taking;
  }

  /**
   * Stops dialling, and resolves when all links are over. A link that the other end drains lives until that end
   * closes it, as calls run on it in both directions.
   */
  async retire(): Promise<void> {
    this.#end();
    const open = [...this.links()];
    void this.#proven?.link.retire(new Error("This service calls others instead"));
    await Promise.all(open.map(({ closed }) => closed));
  }

  stop(): void {
    this.#end();
    for (const { link } of this.links()) link.close(new Error("This service has stopped"));
  }

  #end(): void {
    this.#isStopped = true;
    this.#cancel();
    this.#unwatch();
  }

  readonly #onLookup: OnLookup = (addresses) => {
    const address = this.#proven?.address;
    if (addresses === undefined || address === undefined || isAmong(address, addresses)) return;
    this.#parts.host.log.info(
      `${this.#name} is at ${addresses.join(", ")} now; replacing the link to ${address}`,
    );
    void this.renew();
  };

  async #try(isFirst = false): Promise<void> {
    const { host, to, roles, dial, service, twinOf } = this.#parts;
    this.#triedAt = host.clock.now();
    try {
      const proven = await dialLink(service, {
        roles,
        name: this.#name,
        dial: (dialing) => dial(to.url, to.address, dialing),
      });
      if (this.#isStopped) return proven.link.close(new Error("This service has stopped"));
      const twin = twinOf?.(proven.other.instance);
      if (twin !== undefined) {
        const error = new TwinError(`it is the same process as ${twin}`);
        proven.link.close(error);
        throw error;
      }
      this.#linked(proven);
    } catch (raw) {
      if (this.#isStopped) return;
      const error = this.#refusal(raw);
      // Trying again wouldn't help.
      if (isFirst && error !== undefined) throw error;
      this.#isRefused = error !== undefined;
      this.#failed(error ?? (raw instanceof Error ? raw : new Error(String(raw))));
    } finally {
      this.#trying = undefined;
    }
  }

  /** The error for a mistake in one of the two configurations; it names the setting. */
  #refusal(error: unknown): Error | undefined {
    const name = this.#name;
    if (error instanceof WrongRoleError) {
      const { roles } = this.#parts;
      const [key = ""] = roles;
      return new HandshakeError(
        `${name} is a ${error.role}, not a ${roles.join(" or ")}: set '${key}' to the address of one`,
      );
    }
    if (error instanceof WrongKeyError) {
      const { advice } = error;
      const message = `${name} has another trust key: ${advice}`;
      return new WrongKeyError(message, advice, { cause: error });
    }
    if (error instanceof BindingError)
      return new BindingError(`${name} can't be linked to: ${error.message}`, { cause: error });
    return undefined;
  }

  #linked(proven: ProvenLink): void {
    const { host, onLinked } = this.#parts;
    const how = this.#wasLinked ? " again" : "";
    host.log.info(`linked to ${this.#name}${how}`, { event: "linked", service: this.#name });
    const former = this.#proven;
    if (former !== undefined) this.#leaving.add(former);
    this.#proven = proven;
    this.#linkedAt = host.clock.now();
    this.#isTwin = this.#isRefused = false;
    this.#wasLinked = true;
    this.#warned = undefined;
    void proven.draining.then(() => this.#gone(proven, "it takes no more calls over it"));
    void proven.closed.then((cause) => {
      this.#leaving.delete(proven);
      this.#gone(proven, cause instanceof Error ? cause.message : String(cause));
    });
    const taking = Promise.resolve(onLinked());
    this.#taking = taking;
    void taking.then(() => former?.link.retire(new Error("Another link has taken its place")));
  }

  #failed(error: Error): void {
    const { host } = this.#parts;
    const name = this.#name;
    this.#why = error.message;
    this.#cause = error;
    this.#isHeldBack = this.#isRefused;
    this.#isTwin = error instanceof TwinError;
    if (this.#isTwin) {
      if (this.#warned !== error.message) host.log.info(`${name} isn't used: ${error.message}`);
      this.#warned = error.message;
      return this.#later(retryMs.twin);
    }
    // A wrong role or key is worth another warning even if the service was away before.
    const isNews = error instanceof HandshakeError && error.message !== this.#warned;
    if (isNews || this.#warned === undefined) {
      host.log.warn(`can't link to ${name} yet (${error.message}); trying again`);
      this.#warned = error.message;
    }
    this.#later();
  }

  /** The link takes no more calls, or is closed. */
  #gone(proven: ProvenLink, why: string): void {
    if (this.#proven !== proven) return;
    this.#proven = undefined;
    this.#why = why;
    this.#cause = undefined;
    if (!proven.link.isClosed) this.#leaving.add(proven);
    if (this.#isStopped) return;
    const { host, onLost } = this.#parts;
    const about = { event: "link-lost", service: this.#name };
    host.log.warn(`the link to ${this.#name} is lost (${why}); dialling again`, about);
    this.#warned = why;
    if (host.clock.now() - this.#linkedAt >= retryMs.link.longest) {
      this.#backOff.reset();
      this.#isAtOnce = true;
    }
    this.#later(this.#isAtOnce ? 0 : undefined);
    this.#isHeldBack = !this.#isAtOnce;
    this.#isAtOnce = false;
    onLost?.();
  }

  #later(ms: number = this.#backOff.next()): void {
    this.#cancel();
    this.#cancel = this.#parts.host.clock.after(ms, () => void (this.#trying ??= this.#try()));
  }
}
