// Buckets in JetStream. The client of NATS connects again by itself; this lists and watches again then, and
// whenever a stream was made anew, as nobody knows what was missed.

import type { JetStreamManager } from "@nats-io/jetstream";
import type { KV, Kvm } from "@nats-io/kv";
import type { ConnectionOptions, NatsConnection } from "@nats-io/transport-node";
import type { BucketEvents, BucketName, Buckets } from "../../src/base/ports/buckets.ts";
import { nodeClock } from "../http/clock.ts";
import { DirectoryRefused, reasonOf, refusalOf, withoutJetStream } from "./nats-failure.ts";
import type { NatsPackages } from "./nats-packages.ts";
import { ensureStream } from "./nats-streams.ts";
import { NatsWatch } from "./nats-watch.ts";

const firstRetryMs = 250;
const longestRetryMs = 5_000;
const requestMs = 5_000;
/** How often a service that hears nothing asks whether the streams are what they were. */
const checkMs = 10_000;
/** A server that is about to switch JetStream on says until then that it has none. */
const patience = 3;

export interface NatsBucketsParts {
  readonly packages: NatsPackages;
  readonly options: ConnectionOptions;
  /** The servers' addresses, for people. */
  readonly name: string;
  readonly prefix: string;
  /** The buckets that this service needs. */
  readonly uses: readonly BucketName[];
}

/** A connection, and what is used over it. */
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
  /** The last check has failed. */
  #hasFailed = false;
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
    if (this.#isReached) void this.#run(watch, this.#round);
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
    await this.#session?.connection.close();
  }

  /** Resolves when there is a connection, and with `undefined` when this is closed before. */
  async #connect(): Promise<Session | undefined> {
    const { packages, options, name } = this.#parts;
    for (let ms = firstRetryMs; !this.#isClosed; ms = Math.min(longestRetryMs, 2 * ms)) {
      try {
        const connection = await packages.core.connect(options);
        if (this.#isClosed) await connection.close();
        const js = packages.jetstream.jetstream(connection, { timeout: requestMs });
        return { connection, kvm: new packages.kv.Kvm(js), stores: new Map() };
      } catch (error) {
        const refusal = refusalOf(error, name, packages);
        if (refusal !== undefined) throw refusal;
        this.#away(reasonOf(error));
        await this.#pause(ms);
      }
    }
    return undefined;
  }

  async #follow(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === "disconnect") {
        this.#round++;
        this.#away("the connection is lost");
      }
      if (status.type === "reconnect") this.#reachAgain();
    }
    // The client has given up, which it does for mistakes of its own.
    if (this.#isClosed) return;
    this.#round++;
    this.#away("the connection was closed");
    this.#session = undefined;
    while (this.#session === undefined && !this.#isClosed)
      try {
        this.#session = await this.#connect();
      } catch (error) {
        if (!(error instanceof DirectoryRefused)) throw error;
        await this.#pause(longestRetryMs);
      }
    if (this.#session === undefined) return;
    void this.#follow(this.#session.connection);
    this.#reachAgain();
  }

  #reachAgain(): void {
    // It only rejects before it is open, and then `open` rejects.
    void this.#reach().catch(() => {});
  }

  /** Makes sure that the streams are there, and begins to list and watch. Rejects before it is open only. */
  async #reach(): Promise<void> {
    const round = ++this.#round;
    this.#cancelCheck();
    const isOver = (): boolean => round !== this.#round || this.#isClosed;
    for (let tries = 1, ms = firstRetryMs; ; tries++, ms = Math.min(longestRetryMs, 2 * ms)) {
      try {
        await this.#prepare();
        break;
      } catch (error) {
        if (isOver() && this.#isOpen) return;
        const refusal = withoutJetStream(error, this.name);
        if (refusal !== undefined && tries >= patience && !this.#isOpen) throw refusal;
        // A first try is often too early: a cluster elects a leader.
        if (tries > 1) this.#away(reasonOf(error));
        await this.#pause(ms);
      }
      if (this.#isClosed || (isOver() && this.#isOpen)) return;
    }
    if (this.#isClosed || (isOver() && this.#isOpen)) return;
    this.#isReached = true;
    this.#isOpen = true;
    this.#isAway = false;
    this.#events?.onReached();
    for (const watch of this.#watches) void this.#run(watch, this.#round);
    this.#checkLater();
  }

  async #prepare(): Promise<void> {
    const session = this.#current();
    const { connection, kvm, stores } = session;
    const { packages, uses } = this.#parts;
    const manager = (session.manager ??= await packages.jetstream.jetstreamManager(connection, {
      timeout: requestMs,
      checkAPI: true,
    }));
    stores.clear();
    const isClustered = connection.info?.cluster !== undefined;
    for (const bucket of uses) {
      const info = await ensureStream(
        { kvm, manager, isClustered },
        bucket,
        this.#fullName(bucket),
      );
      this.#made.set(bucket, info.created);
    }
  }

  async #run(watch: NatsWatch, round: number): Promise<void> {
    const isOver = (): boolean => round !== this.#round || !this.#watches.has(watch);
    try {
      await watch.run(await this.#store(watch.bucket), isOver);
    } catch {
      // The check finds out what is wrong.
    }
    if (!isOver()) this.#checkLater(firstRetryMs);
  }

  async #check(): Promise<void> {
    const round = this.#round;
    const { connection, manager } = this.#current();
    try {
      for (const bucket of this.#parts.uses) {
        const info = await manager?.streams.info(`KV_${this.#fullName(bucket)}`);
        if (round !== this.#round) return;
        if (this.#made.get(bucket) !== info?.created) return await this.#reach();
      }
      this.#hasFailed = false;
      this.#checkLater();
    } catch (error) {
      if (round !== this.#round || this.#isClosed) return;
      // One that is late doesn't mean that it is away.
      const isFirst = !this.#hasFailed;
      this.#hasFailed = isFirst;
      if (isFirst) return this.#checkLater(firstRetryMs);
      this.#away(reasonOf(error));
      // A server that hangs keeps its connections; another one of the cluster may answer.
      const isThere = await Promise.race([
        connection.rtt().then(
          () => true,
          () => false,
        ),
        new Promise<boolean>((resolve) => void nodeClock.after(requestMs, () => resolve(false))),
      ]);
      if (round !== this.#round || this.#isClosed) return;
      if (isThere) await this.#reach();
      else await connection.reconnect().catch(() => {});
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
      if (this.#isReached) this.#checkLater(firstRetryMs);
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
      const cancel = nodeClock.after(ms * (0.5 + Math.random() / 2), resolve);
      this.#cancelPause = () => {
        cancel();
        resolve();
      };
    });
  }
}
