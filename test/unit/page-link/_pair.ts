// Both ends of a page's link over a pair of sockets in memory, which delivers when the test says so.

import { createPageLink, type PageLinkParts, type PageSocket } from "../../../client/page-link.ts";
import { HeldMemory } from "../../../server/host/held-memory.ts";
import {
  PageLink,
  type PageLinkParts as ServiceParts,
} from "../../../server/http/page-links/page-link.ts";
import { TestClock } from "../../../server/testing/test-clock.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import { pageLinkHeaders } from "../../../src/base/page-link.ts";
import type { HttpRequest, HttpResponse, OutgoingRequest } from "../../../src/base/ports.ts";

type Listener = (event: never) => void;

/** One WebSocket, both ends. */
export class Wire {
  /** All that either end has sent, in order. */
  readonly toPage: string[] = [];
  readonly toService: string[] = [];
  readonly #listeners = new Map<string, Listener[]>();
  readonly #later: (deliver: () => void) => void;
  readonly #inbox: string[] = [];
  closed: { readonly by: "page" | "service" | "network"; code: number; reason: string } | undefined;
  service: PageLink | undefined;
  /** The network takes nothing from the service. */
  isStuck = false;
  isPaused = false;
  /** The page's end hears nothing: a program has taken its place. */
  isTakenOver = false;
  answersPings = true;
  pings = 0;
  queued = 0;

  constructor(later: (deliver: () => void) => void) {
    this.#later = later;
  }

  /** The page's end. */
  readonly page: PageSocket = {
    addEventListener: (type: string, listener: unknown) => {
      this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener as Listener]);
    },
    send: (text: unknown) => this.send(String(text)),
    close: (code = 1005, reason = "") => this.#close("page", code, reason),
  };

  /** The page sends this, whatever its end thinks. */
  send(text: string): void {
    this.toService.push(text);
    this.#inbox.push(text);
    this.#later(() => this.#read());
  }

  #read(): void {
    while (!this.isPaused && this.#inbox.length > 0) this.service?.onText(this.#inbox.shift()!);
  }

  /** The service sends this, whatever its end thinks. */
  emit(text: string): void {
    this.toPage.push(text);
    this.#later(() => {
      if (this.closed?.by !== "page") this.#fire("message", { data: text });
    });
  }

  /** The service's end. */
  serve(parts: Omit<ServiceParts, "socket">): void {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const queued = (): number => this.queued;
    this.service = new PageLink({
      ...parts,
      socket: {
        get queued() {
          return queued();
        },
        send: (text) => {
          const data = decoder.decode(text);
          this.toPage.push(data);
          this.queued += text.length;
          const leave = (): void => {
            if (this.isStuck) return void this.#stuck.push(leave);
            this.queued -= text.length;
            if (this.closed?.by !== "page") this.#fire("message", { data });
            this.service?.onDrain();
          };
          this.#later(leave);
        },
        ping: () => {
          this.pings++;
          if (this.answersPings) this.#later(() => this.service?.onPong());
        },
        pause: () => (this.isPaused = true),
        resume: () => {
          this.isPaused = false;
          this.#later(() => this.#read());
        },
        close: (code, reason) => this.#close("service", code, reason),
        destroy: () => this.cut(),
      },
    });
  }

  readonly #stuck: (() => void)[] = [];

  unstick(): void {
    this.isStuck = false;
    for (const leave of this.#stuck.splice(0)) leave();
  }

  cut(): void {
    this.#close("network", 1006, "");
  }

  #close(by: "page" | "service" | "network", code: number, reason: string): void {
    if (this.closed !== undefined) return;
    this.closed = { by, code, reason };
    this.#later(() => {
      this.service?.onClose();
      this.#fire("close", { code, reason });
    });
  }

  #fire(type: string, event: unknown): void {
    if (this.isTakenOver) return;
    for (const listener of this.#listeners.get(type) ?? []) listener(event as never);
  }
}

export interface PairOptions {
  readonly handle: (request: HttpRequest) => Promise<HttpResponse>;
  readonly names?: readonly string[];
  readonly streamsPerLink?: number;
  readonly handshake?: Readonly<Record<string, string>>;
  /** Runs a delivery [in the next turn of the event loop]. */
  readonly later?: (deliver: () => void) => void;
  readonly parts?: Partial<PageLinkParts>;
  /** Whether the service takes links [yes]. */
  readonly takes?: () => boolean;
  readonly memory?: HeldMemory;
}

export interface Pair {
  readonly link: ReturnType<typeof createPageLink>;
  /** Each WebSocket that the page has opened. */
  readonly wires: Wire[];
  readonly clock: TestClock;
  /** Why streams went by `fetch`. */
  readonly fetched: string[];
  readonly faults: unknown[];
  /** How many answers would have set a cookie. */
  readonly cookies: () => number;
  readonly memory: HeldMemory;
}

export function pair(options: PairOptions): Pair {
  const { handle, names = [], streamsPerLink = 256, handshake = {}, takes = () => true } = options;
  const { later = (deliver: () => void) => void setImmediate(deliver) } = options;
  const clock = new TestClock();
  const wires: Wire[] = [];
  const fetched: string[] = [];
  const faults: unknown[] = [];
  let cookies = 0;
  const memory = options.memory ?? new HeldMemory();
  const link = createPageLink({
    base: "https://shop.example",
    clock,
    open() {
      const wire = new Wire(later);
      wires.push(wire);
      if (takes())
        later(() =>
          wire.serve({
            handshake: {
              scheme: "https",
              address: "192.0.2.1",
              headers: { host: "shop.example", ...handshake },
              rawHeaders: Object.entries({ host: "shop.example", ...handshake }).flat(),
            },
            clock,
            memory,
            rules: {
              names: new Set([...pageLinkHeaders, ...names]),
              base: () => "",
              limits: defaultLimits,
            },
            streamsPerLink,
            handle,
            onFault: (fault) => faults.push(fault),
            onCookie: () => cookies++,
          }),
        );
      else later(() => wire.cut());
      return wire.page;
    },
    fetch: async (_, why) => {
      fetched.push(why);
      return { status: 200, headers: {}, body: new TextEncoder().encode("fetched") };
    },
    ...options.parts,
  });
  return { link, wires, clock, fetched, faults, cookies: () => cookies, memory };
}

export function callOf(name: string, more: Partial<OutgoingRequest> = {}): OutgoingRequest {
  return {
    url: `https://shop.example/rpc/${name}`,
    method: "POST",
    body: "{}",
    ...more,
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      "x-svc-data-encoding": "serialized, superjson",
      "x-svc-hops": "1",
      "x-svc-deadline": "30000",
      ...more.headers,
    },
  };
}

/** An answer with these parts as its body. */
export function answering(...parts: readonly (string | Uint8Array)[]): HttpResponse {
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" },
    body: (async function* () {
      for (const part of parts)
        yield typeof part === "string" ? new TextEncoder().encode(part) : part;
    })(),
  };
}
