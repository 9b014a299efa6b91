// One service of a local deployment. Like a process, it can start and end any number of times, each
// time with a new host and a new role.

import { watch } from "../../src/base/aborts.ts";
import { type Host, TransportError } from "../../src/base/ports.ts";
import type { Channel, LinkAnswer, LinkUpgrade } from "../../src/base/ports/links.ts";
import { readOnce, stopReading } from "../../src/http/bodies.ts";
import type { MemoryNetwork } from "../../src/roles/memory-network.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { tapped } from "./memory-links.ts";

export interface ServiceParts<R extends Role> {
  readonly name: string;
  readonly url: string;
  readonly network: MemoryNetwork;
  readonly host: () => Host;
  readonly compose: (host: Host) => R | Promise<R>;
}

/** State between a start and the next end. */
interface Life<R> {
  readonly ended: AbortController;
  role?: R;
  isReady?: true;
}

export class Service<R extends Role = Role> {
  readonly name: string;
  readonly url: string;
  readonly #parts: ServiceParts<R>;
  #life: Life<R> | undefined;

  constructor(parts: ServiceParts<R>) {
    this.name = parts.name;
    this.url = parts.url;
    this.#parts = parts;
  }

  get running(): boolean {
    return this.#life !== undefined;
  }

  /** The role of the current life. */
  get role(): R | undefined {
    return this.#life?.role;
  }

  /** The role once it has started. */
  get readyRole(): R | undefined {
    return this.#life?.isReady === true ? this.#life.role : undefined;
  }

  /** Aborted when the current life ends. */
  get ended(): AbortSignal | undefined {
    return this.#life?.ended.signal;
  }

  /** Resolves when the service answers. Rejects if it can't start or is killed first. */
  async start(): Promise<R> {
    const life: Life<R> = { ended: new AbortController() };
    this.#life = life;
    try {
      const role = await this.#compose(life);
      this.#listen(life, role.handle);
      await unlessEnded(role.start(this.url), life.ended.signal);
      life.isReady = true;
      return role;
    } catch (error) {
      if (this.#life === life) this.kill();
      throw error;
    }
  }

  /** Ends it like a power cut: running calls get no answer, and other services aren't notified. */
  kill(): void {
    const life = this.#life;
    if (life === undefined) return;
    this.#life = undefined;
    this.#parts.network.roles.delete(this.url);
    life.ended.abort(closedConnection(this.url));
  }

  /**
   * Starts another role at the same address. Until `prepare` is done, the new role takes links, and the old one
   * answers requests. The old role finishes its running calls.
   */
  async replace(prepare: () => Promise<unknown>): Promise<void> {
    const previous = this.#life?.role;
    if (previous === undefined) return void (await this.start());
    const life: Life<R> = { ended: new AbortController() };
    const next = await this.#compose(life);
    await next.start(this.url);
    this.#listen(life, previous.handle);
    await prepare();
    this.#listen(life, next.handle);
    life.isReady = true;
    this.#life = life;
    await previous.stop();
  }

  async #compose(life: Life<R>): Promise<R> {
    const { host, compose } = this.#parts;
    const role = await compose(mortal(host(), this.name, life.ended.signal));
    life.ended.signal.throwIfAborted();
    return (life.role = role);
  }

  #listen({ role, ended }: Life<R>, handle: Role["handle"]): void {
    this.#parts.network.roles.set(this.url, {
      ...(role as R),
      ...(role?.accept !== undefined && {
        accept(upgrade: LinkUpgrade): LinkAnswer {
          const answer = role.accept!(upgrade);
          if (answer === undefined || !("open" in answer)) return answer;
          return {
            ...answer,
            open: (channel) => answer.open(until(ended.signal, channel)),
          };
        },
      }),
      handle: async (request) => {
        const answer = await unlessEnded(handle(request), ended.signal);
        const { body } = answer;
        return typeof body === "object" && !(body instanceof Uint8Array)
          ? { ...answer, body: whileAlive(this.url, body, ended.signal) }
          : answer;
      },
    });
  }
}

/** The error that a caller gets when the other end goes away. */
export function closedConnection(origin: string): TransportError {
  return new TransportError(`${origin} closed the connection before it answered`, true);
}

/** A host that sends, logs and runs nothing once its service has ended. */
function mortal(host: Host, name: string, ended: AbortSignal): Host {
  const { links, clock, log } = host;
  const unlessAborted =
    <Args extends unknown[]>(act: (...args: Args) => void) =>
    (...args: Args): void => {
      if (!ended.aborted) act(...args);
    };
  return {
    ...host,
    links: {
      ...links,
      async dial(...to) {
        if (ended.aborted) throw new Error(`${name} was killed`);
        return until(ended, await links.dial(...to));
      },
    },
    clock: { now: () => clock.now(), after: (ms, run) => clock.after(ms, unlessAborted(run)) },
    log: {
      info: unlessAborted((...line) => log.info(...line)),
      warn: unlessAborted((...line) => log.warn(...line)),
      error: unlessAborted((...line) => log.error(...line)),
    },
  };
}

/** The channel, which is closed when its service ends. */
function until(ended: AbortSignal, channel: Channel): Channel {
  return tapped(channel, { closed: watch(ended, () => channel.close()) });
}

function unlessEnded<T>(result: Promise<T>, ended: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = watch(ended, () => reject(ended.reason as Error));
    void result.then(resolve, reject).finally(leave);
  });
}

/**
 * The chunks of an answer, until the service that sends them ends. Not a generator: that would wait
 * for the next chunk before it stops.
 */
function whileAlive(
  origin: string,
  body: AsyncIterable<Uint8Array>,
  ended: AbortSignal,
): AsyncIterable<Uint8Array> {
  return readOnce(() => {
    const reader = body[Symbol.asyncIterator]();
    return {
      async next() {
        try {
          ended.throwIfAborted();
          const { done, value } = await unlessEnded(reader.next(), ended);
          return done === true ? { done, value: undefined } : { done: false, value };
        } catch (error) {
          stopReading(reader);
          throw ended.aborted ? new TransportError(`${origin} broke off its answer`, true) : error;
        }
      },
      async return() {
        stopReading(reader);
        return { done: true, value: undefined };
      },
    };
  });
}
