// All links of pages to a service: which requests get one, how many there may be, and their end.

import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

import { ServiceError, statusOf } from "../../../src/base/errors.ts";
import { publicCaller } from "../../../src/base/ip.ts";
import type { Limits } from "../../../src/base/limits.ts";
import { pageLinkHeaders, pageLinkProtocol } from "../../../src/base/page-link.ts";
import type { Clock, HttpRequest, HttpResponse, Log } from "../../../src/base/ports.ts";
import { pageLinkPath } from "../../../src/base/protocol.ts";
import { below } from "../../../src/http/base-path.ts";
import type { PageAdmission, PageHandshake } from "../../../src/http/page-admission.ts";
import { isLeaving, refusedStart } from "../../../src/http/refusals.ts";
import { headProblem } from "../../../src/wire/request-head.ts";
import type { CallerConnection } from "../connection/caller-connection.ts";
import { cutMs } from "../connection/times.ts";
import type { HeldMemory } from "../../host/held-memory.ts";
import { refuseUpgrade } from "../connection/refuse-upgrade.ts";
import { PageLink } from "./page-link.ts";
import type { Handshake } from "./stream-head.ts";

/** The part of a role about links of pages. */
export interface PageRole {
  readonly admitPage?: ((handshake: PageHandshake) => PageAdmission) | undefined;
  readonly base: string | undefined;
}

/** The part of a configuration about links of pages. */
export interface PageLinkSettings {
  /** Fields that streams may add, besides those that all may. */
  readonly streamHeaders?: readonly string[] | undefined;
  readonly limits: Pick<
    Limits,
    "headerBytes" | "headerCount" | "streamsPerLink" | "linksPerAddress"
  >;
}

export interface PageLinksParts {
  readonly role: PageRole;
  /** Answers the requests that come over links. */
  handle(request: HttpRequest): Promise<HttpResponse>;
  /** Called for each link, as settings may change in development. */
  readonly settings: () => PageLinkSettings;
  readonly memory: HeldMemory;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
  readonly onFault: (fault: unknown) => void;
  /** Called with the number of streams that were cut when the service stopped. */
  readonly onCut?: ((count: number) => void) | undefined;
}

export class PageLinks {
  readonly #parts: PageLinksParts;
  /** `undefined` while a socket becomes a WebSocket. */
  readonly #links = new Map<Socket, PageLink | undefined>();
  /** Their number by {@link publicCaller}. */
  readonly #callers = new Map<string, number>();
  #isLeaving = false;
  #isCrowdLogged = false;
  #isCookieLogged = false;
  #cutTimer: NodeJS.Timeout | undefined;
  #onEmpty: (() => void)[] = [];

  constructor(parts: PageLinksParts) {
    this.#parts = parts;
  }

  /** They count as connections. */
  get size(): number {
    return this.#links.size;
  }

  /** Whether a request for an upgrade is for a link. If so, {@link answer} answers it, even if it is invalid. */
  asks({ url = "" }: Pick<IncomingMessage, "url">): boolean {
    const { admitPage, base = "" } = this.#parts.role;
    return admitPage !== undefined && below(base, url) === pageLinkPath;
  }

  /** Returns whether it has taken the socket. Otherwise the request was refused, and the socket closes. */
  answer(
    message: IncomingMessage,
    socket: Socket,
    head: Buffer,
    { holder, isSpare }: Pick<CallerConnection, "holder" | "isSpare">,
  ): boolean {
    // Node has removed its own listener.
    socket.on("error", () => {});
    const handshake: Handshake = {
      scheme: "encrypted" in socket ? "https" : "http",
      address: socket.remoteAddress,
      headers: message.headers,
      rawHeaders: message.rawHeaders,
    };
    const problem = this.#problem(message, isSpare);
    const admission = problem ? { refused: problem } : this.#admit(handshake);
    if ("refused" in admission) {
      refuseUpgrade(socket, statusOf(admission.refused), {}, admission.refused.message);
      return false;
    }
    const caller = admission.address && publicCaller(admission.address);
    if (caller !== undefined) this.#callers.set(caller, (this.#callers.get(caller) ?? 0) + 1);
    this.#links.set(socket, undefined);
    socket.once("close", () => this.#over(socket, caller));
    this.#upgrade(message, socket, head, { handshake, holder }).catch((fault: unknown) => {
      this.#parts.onFault(fault);
      socket.destroy();
    });
    return true;
  }

  /** The service is about to stop: pages open their next streams elsewhere. */
  drain(): void {
    this.#isLeaving = true;
    for (const link of this.#links.values()) link?.leave();
  }

  /** Lets streams end for `graceMs`, and cuts those that are left. Call it again to shorten that. */
  async close(graceMs: number): Promise<void> {
    this.drain();
    if (this.#links.size === 0) return;
    clearTimeout(this.#cutTimer);
    this.#cutTimer = setTimeout(() => this.#cut(), graceMs);
    await new Promise<void>((resolve) => this.#onEmpty.push(resolve));
  }

  #problem(
    { method, headers, url = "", rawHeaders }: IncomingMessage,
    isSpare: boolean,
  ): ServiceError | undefined {
    const { limits } = this.#parts.settings();
    const protocols = headers["sec-websocket-protocol"]?.split(",").map((name) => name.trim());
    if (
      method !== "GET" ||
      headers.upgrade?.toLowerCase() !== "websocket" ||
      protocols?.includes(pageLinkProtocol) !== true ||
      // Bytes after the head would be a body to anything that doesn't upgrade.
      headers["content-length"] !== undefined ||
      headers["transfer-encoding"] !== undefined
    )
      return new UpgradeRequired(
        `This path takes WebSockets with the protocol ${pageLinkProtocol}`,
      );
    if (this.#isLeaving) return isLeaving();
    if (isSpare)
      return refusedStart(
        "overload",
        "This service has as many connections open as limits.maxConnections allows; try again",
      );
    return headProblem({ target: url, rawHeaders }, limits);
  }

  #admit(handshake: Handshake): PageAdmission {
    const { role, settings, log } = this.#parts;
    const { limits } = settings();
    const admission = role.admitPage!(handshake);
    if ("refused" in admission || admission.address === undefined) return admission;
    const caller = publicCaller(admission.address);
    if (caller === undefined || (this.#callers.get(caller) ?? 0) < limits.linksPerAddress)
      return admission;
    if (!this.#isCrowdLogged) {
      this.#isCrowdLogged = true;
      log.warn(
        `refused a page's link: ${admission.address} has as many as limits.linksPerAddress allows (${limits.linksPerAddress}). If it is a proxy in front, set 'forwarded', so that pages are counted by their own addresses. Until then their streams go over HTTP`,
      );
    }
    return { refused: refusedStart("overload", "This address has as many links as it may") };
  }

  async #upgrade(
    message: IncomingMessage,
    socket: Socket,
    head: Buffer,
    { handshake, holder }: { readonly handshake: Handshake } & Pick<CallerConnection, "holder">,
  ): Promise<void> {
    const { upgradeToWebSocket } = await import("./web-socket.ts");
    const { role, handle, settings, memory, clock, onFault } = this.#parts;
    const { limits, streamHeaders = [] } = settings();
    const names = [...pageLinkHeaders, ...streamHeaders];
    const rules = { names: new Set(names), base: () => role.base ?? "", limits };
    upgradeToWebSocket(message, socket, head, holder, (webSocket) => {
      const link = new PageLink({
        socket: webSocket,
        handshake,
        clock,
        memory,
        rules,
        streamsPerLink: limits.streamsPerLink,
        handle,
        onFault,
        onCookie: () => this.#warnOfCookie(),
      });
      this.#links.set(socket, link);
      if (this.#isLeaving) link.leave();
      return link;
    });
  }

  #warnOfCookie(): void {
    if (this.#isCookieLogged) return;
    this.#isCookieLogged = true;
    this.#parts.log.warn(
      "a middleware set a cookie on the answer to a page's stream, which has none: the page doesn't get it. Set cookies in calls; `context.response.cookies.writable` tells where",
    );
  }

  #over(socket: Socket, caller: string | undefined): void {
    this.#links.get(socket)?.onClose();
    this.#links.delete(socket);
    if (caller !== undefined) {
      const count = this.#callers.get(caller)! - 1;
      if (count > 0) this.#callers.set(caller, count);
      else this.#callers.delete(caller);
    }
    if (this.#links.size > 0) return;
    clearTimeout(this.#cutTimer);
    for (const resolve of this.#onEmpty.splice(0)) resolve();
  }

  #cut(): void {
    const reason = isLeaving();
    let count = 0;
    for (const link of this.#links.values()) count += link?.stop(reason) ?? 0;
    if (count > 0) this.#parts.onCut?.(count);
    // Errors of streams without an answer leave before.
    this.#cutTimer = setTimeout(
      () => {
        for (const [socket, link] of this.#links) {
          link?.close();
          // Closing may take a while: its other end needn't answer.
          socket.destroySoon();
        }
      },
      count === 0 ? 0 : cutMs,
    );
  }
}

/** 426, for programs that ask without a WebSocket. */
class UpgradeRequired extends ServiceError {
  static override readonly status: number = 426;
}
