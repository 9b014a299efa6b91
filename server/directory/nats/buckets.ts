// Buckets in JetStream. The client of NATS connects again by itself; this lists and watches again then, and
// whenever a stream was made anew, as changes may have been missed.

import type { JetStreamManager } from "@nats-io/jetstream";
import type { KV, Kvm } from "@nats-io/kv";
import type { ConnectionOptions, NatsConnection } from "@nats-io/transport-node";
import { BackOff } from "../../../src/base/back-off.ts";
import type { BucketEvents, BucketName, Buckets } from "../../../src/base/ports/buckets.ts";
import { nodeClock } from "../../host/clock.ts";
import { inTime } from "./in-time.ts";
import { DirectoryRefused, reasonOf, refusalOf, withoutJetStream } from "./failure.ts";
import type { NatsPackages } from "./packages.ts";
import { ensureStream } from "./streams.ts";
import { NatsWatch } from "./watch.ts";
import { checkMs, closeMs, firstLimitMs, longestLimitMs, requestMs, retryMs } from "./times.ts";

/** A server that is about to switch JetStream on says until then that it has none. */
const patience = 4;

export interface NatsBucketsParts {
  readonly packages: NatsPackages;
  readonly options: ConnectionOptions;
  /** The servers' addresses, for people. */
  readonly name: string;
  readonly prefix: string;
  /** The buckets that this service needs. */
  readonly uses: readonly BucketName[];
}

/** A connection, with its JetStream clients. */
interface Session {
  readonly connection: NatsConnection;
  readonly kvm: Kvm;
  manager?: JetStreamManager;
  readonly stores: Map<BucketName, KV>;
}

export class NatsBuckets implements Buckets {
  readonly #parts: NatsBucketsParts;
  readonly #watches = new Set<NatsWatch>();
  /** When each stream was made. */
  readonly #made = new Map<BucketName, string>();
  #events: BucketEvents | undefined;
  #session: Session | undefined;
  #isReached = false;
  /** It has been reached once. */
  #isOpen = false;
  #isAway = false;
  #isClosed = false;
  /** Counts tries to reach the server: a newer one makes those before pointless. */
  #round = 0;
  #cancelCheck = (): void => {};
  #cancelPause = (): void => {};

  constructor(parts: NatsBucketsParts) {
    this.#parts = parts;
  }

  get name(): string {
    return this.#parts.name;
  }

  async open(events: BucketEvents): Promise<void> {
    this.#events = events;
    const session = await this.#connect();
    if (session === undefined) return;
    this.#session = session;
    void this.#follow(session.connection);
    await this.#reach();
  }

  async put(bucket: BucketName, key: string, value: Uint8Array): Promise<void> {
    await this.#asked(async () => await (await this.#store(bucket)).put(key, value));
  }

  async get(bucket: BucketName, key: string): Promise<Uint8Array | undefined> {
    return await this.#asked(async () => {
      const entry = await (await this.#store(bucket)).get(key);
      return entry?.operation === "PUT" ? entry.value : undefined;
    });
  }

  watch(...[bucket, onValue, onListed]: Parameters<Buckets["watch"]>): () => void {
    const watch = new NatsWatch(bucket, onValue, onListed);
    this.#watches.add(watch);
    if (this.#isReached)
      void this.#begin(watch, firstLimitMs).catch(() => {
        if (this.#watches.has(watch)) this.#reachAgain();
      });
    return () => {
      this.#watches.delete(watch);
      watch.stop();
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isReached = false;
    this.#round++;
    this.#cancelCheck();
    this.#cancelPause();
    for (const watch of this.#watches) watch.stop();
    this.#watches.clear();
    // That was written. If the socket has ended, it fails a moment later: the client that closes at once
    // doesn't listen any more, and the error would be uncaught.
    await new Promise((resolve) => void setImmediate(resolve));
    const { connection } = this.#session ?? {};
    // It waits until the server has taken what was written, and one that hangs takes nothing.
    await inTime(connection?.close() ?? Promise.resolve(), closeMs).catch(() => {});
  }

  /** Resolves when there is a connection, and with `undefined` when this is closed before. */
  async #connect(): Promise<Session | undefined> {
    const { packages, options, name } = this.#parts;
    const backOff = new BackOff(retryMs);
    while (!this.#isClosed) {
      // One server after the other is tried, and each may hang.
      const cancel = nodeClock.after(requestMs, () => this.#away("no server answers"));
      try {
        const connection = await packages.core.connect(options);
        if (this.#isClosed) await connection.close();
        const js = packages.jetstream.jetstream(connection, { timeout: requestMs });
        return { connection, kvm: new packages.kv.Kvm(js), stores: new Map() };
      } catch (error) {
        const refusal = refusalOf(error, name, packages);
        if (refusal !== undefined) throw refusal;
        this.#away(reasonOf(error));
        await this.#pause(backOff.next());
      } finally {
        cancel();
      }
    }
    return undefined;
  }

  async #follow(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === "disconnect") this.#lost("the connection is lost");
      if (status.type === "reconnect") this.#reachAgain();
    }
    // The client has given up, which it does for mistakes of its own.
    if (this.#isClosed) return;
    this.#lost("the connection was closed");
    this.#session = undefined;
    while (this.#session === undefined && !this.#isClosed)
      try {
        this.#session = await this.#connect();
      } catch (error) {
        if (!(error instanceof DirectoryRefused)) throw error;
        await this.#pause(retryMs.longest);
      }
    if (this.#session === undefined) return;
    void this.#follow(this.#session.connection);
    this.#reachAgain();
  }

  #lost(why: string): void {
    this.#round++;
    for (const watch of this.#watches) watch.stop();
    this.#away(why);
  }

  #reachAgain(): void {
    // It only rejects before it is open, and then `open` rejects.
    void this.#reach().catch(() => {});
  }

  /**
   * Makes sure that the streams are there, and begins to list and watch. Rejects before it is open only.
   * A server of the cluster may be dead, or hang, with what is asked of it: then the next try goes to
   * another one, or leads to another connection.
   */
  async #reach(): Promise<void> {
    const round = ++this.#round;
    this.#cancelCheck();
    const isOver = (): boolean => round !== this.#round || this.#isClosed;
    let limitMs = firstLimitMs;
    const backOff = new BackOff(retryMs);
    for (let tries = 1; ; tries++) {
      const began = performance.now();
      try {
        await this.#prepare(limitMs);
        await Promise.all([...this.#watches].map((watch) => this.#begin(watch, limitMs)));
        break;
      } catch (error) {
        if (this.#isClosed || (isOver() && this.#isOpen)) return;
        const refusal = withoutJetStream(error, this.name);
        if (refusal !== undefined && tries >= patience && !this.#isOpen) throw refusal;
        // A first try is often too early: a cluster elects a leader.
        if (tries > 1) this.#away(reasonOf(error));
        await this.#leaveIfSilent(limitMs);
        // Waiting calls have waited long enough.
        await this.#pause(Math.max(0, backOff.next() - (performance.now() - began)));
        limitMs = Math.min(longestLimitMs, 1.25 * limitMs);
      }
      if (this.#isClosed || (isOver() && this.#isOpen)) return;
    }
    if (this.#isClosed || (isOver() && this.#isOpen)) return;
    this.#isReached = true;
    this.#isOpen = true;
    this.#isAway = false;
    this.#events?.onReached();
    this.#checkLater();
  }

  async #prepare(limitMs: number): Promise<void> {
    const session = this.#current();
    const { connection, kvm, stores } = session;
    const { packages, uses } = this.#parts;
    const options = { timeout: requestMs, checkAPI: true };
    session.manager ??= await inTime(
      packages.jetstream.jetstreamManager(connection, options),
      limitMs,
    );
    const { manager } = session;
    stores.clear();
    const isClustered = connection.info?.cluster !== undefined;
    for (const bucket of uses) {
      const info = await inTime(
        ensureStream({ kvm, manager, isClustered }, bucket, this.#fullName(bucket)),
        limitMs,
      );
      this.#made.set(bucket, info.created);
    }
  }

  /** A server that hangs keeps its connections; another one of the cluster may answer. */
  async #leaveIfSilent(limitMs: number): Promise<void> {
    const connection = this.#session?.connection;
    const isThere = await inTime(connection?.rtt() ?? Promise.resolve(0), limitMs).then(
      () => true,
      () => false,
    );
    if (!isThere && !this.#isClosed) await connection?.reconnect().catch(() => {});
  }

  async #begin(watch: NatsWatch, limitMs: number): Promise<void> {
    const { connection, manager } = this.#current();
    if (manager === undefined) throw new Error("the directory isn't reached");
    const { packages } = this.#parts;
    const fullName = this.#fullName(watch.bucket);
    // The next try finds out what is wrong.
    const onOver = (): void => this.#reachAgain();
    await watch.begin({ packages, connection, manager, fullName, limitMs, onOver });
  }

  async #check(): Promise<void> {
    const round = this.#round;
    const { manager } = this.#current();
    try {
      for (const bucket of this.#parts.uses) {
        const info = await manager?.streams.info(`KV_${this.#fullName(bucket)}`);
        if (round !== this.#round) return;
        if (this.#made.get(bucket) !== info?.created) return await this.#reach();
      }
      this.#checkLater();
    } catch {
      if (round === this.#round && !this.#isClosed) await this.#reach();
    }
  }

  #checkLater(ms: number = checkMs * (0.75 + Math.random() / 4)): void {
    this.#cancelCheck();
    if (!this.#isClosed)
      this.#cancelCheck = nodeClock.after(ms, () => void this.#check().catch(() => {}));
  }

  /** A request that fails is a reason to look whether all is well. */
  async #asked<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask();
    } catch (error) {
      if (this.#isReached) this.#checkLater(retryMs.first);
      throw error;
    }
  }

  async #store(bucket: BucketName): Promise<KV> {
    const { stores, kvm } = this.#current();
    let store = stores.get(bucket);
    if (store === undefined) stores.set(bucket, (store = await kvm.open(this.#fullName(bucket))));
    return store;
  }

  #current(): Session {
    if (this.#session === undefined || this.#isClosed)
      throw new Error(`the directory at ${this.name} isn't connected`);
    return this.#session;
  }

  #fullName(bucket: BucketName): string {
    return `${this.#parts.prefix}_${bucket}`;
  }

  #away(why: string): void {
    this.#isReached = false;
    if (this.#isAway || this.#isClosed) return;
    this.#isAway = true;
    this.#events?.onAway(why);
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = nodeClock.after(ms, resolve);
      this.#cancelPause = () => {
        cancel();
        resolve();
      };
    });
  }
}
