// The directory of a deployment: gateways announce their addresses in it, and nodes describe themselves. Calls go
// over links and don't depend on it.

import type { Buckets } from "../../base/ports/buckets.ts";
import type { GatewayAddress, Gateways } from "../../base/ports/gateways.ts";
import type { Host } from "../../base/ports.ts";
import type { TrustKey } from "../../http/trust.ts";
import type { MemberList } from "../members/member-list.ts";
import { type GatewayContent, type MemberContent, readGateway, readMember } from "./contents.ts";
import { createEntries, type Entries } from "./entry.ts";
import { Publication } from "./publication.ts";
import { Replica } from "./replica.ts";
import { readSharedList, writeSharedList } from "./shared-lists.ts";

export interface DirectoryParts {
  readonly host: Pick<Host, "clock" | "log" | "sign" | "deriveKey" | "equalSecrets" | "digest">;
  readonly buckets: Buckets;
  readonly trustKey: TrustKey;
  /** Separates deployments that share a server. */
  readonly prefix: string;
  /** This process, as in the handshakes of its links. */
  readonly instance: string;
}

/** A member, by its entry in the directory. */
export type DirectoryMember = MemberContent & { readonly instance: string };

/** A node's description of itself. */
export interface OwnMember extends MemberContent {
  /** Makes the text of its list, which isn't kept in memory. */
  readonly text: () => Uint8Array;
}

export class Directory implements Gateways {
  readonly #parts: DirectoryParts;
  readonly #entries: Entries;
  readonly #gateways: Replica<GatewayContent>;
  readonly #gatewayWatchers = new Set<(gateways: readonly GatewayAddress[]) => void>();
  readonly #reached = new Set<Pick<Publication, "reached" | "away" | "stop">>();
  readonly #published = new Map<"gateways" | "members", Publication>();
  /** Lists of members, by digest. */
  readonly #lists = new Map<string, Promise<MemberList>>();
  #own: OwnMember | undefined;
  #state: "new" | "reached" | "away" = "new";
  #listedAt: number | undefined;
  #told: string | undefined;
  #unwatch = (): void => {};
  #endStart = (_: Error): void => {};

  constructor(parts: DirectoryParts) {
    this.#parts = parts;
    const { host, trustKey, prefix } = parts;
    this.#entries = createEntries(host, trustKey, prefix);
    this.#gateways = this.#replica("gateways", readGateway, () => this.#tellGateways());
  }

  /** This process, as in the handshakes of its links. */
  get instance(): string {
    return this.#parts.instance;
  }

  /** The addresses of its servers, for people. */
  get name(): string {
    return this.#parts.buckets.name;
  }

  get isReached(): boolean {
    return this.#state === "reached";
  }

  /** The time of the first complete list of gateways, by the host's clock. */
  get listedAt(): number | undefined {
    return this.#listedAt;
  }

  /**
   * Resolves with the first complete list of gateways, however long that takes. Rejects if the directory can never
   * be reached.
   */
  async start(): Promise<void> {
    const ended = new Promise<never>((_, reject) => (this.#endStart = reject));
    await Promise.race([this.#begin(), ended]);
  }

  async #begin(): Promise<void> {
    const { host, buckets } = this.#parts;
    await buckets.open({
      onReached: () => {
        const { log } = host;
        if (this.#state === "away")
          log.info(`the directory at ${buckets.name} is back`, { event: "directory-back" });
        this.#state = "reached";
        for (const part of this.#reached) part.reached();
      },
      onAway: (why) => {
        const meanwhile =
          this.#listedAt === undefined
            ? "waiting for it"
            : "links and calls go on, and what changes is seen when it is back";
        host.log.warn(`the directory at ${buckets.name} is away (${why}): ${meanwhile}`, {
          event: "directory-away",
        });
        this.#state = "away";
        for (const part of this.#reached) part.away();
      },
    });
    await new Promise<void>((resolve) => {
      this.#unwatch = buckets.watch("gateways", this.#gateways.onValue, () => {
        this.#listedAt ??= host.clock.now();
        this.#tellGateways();
        resolve();
      });
    });
  }

  watch(onGateways: (gateways: readonly GatewayAddress[]) => void): () => void {
    // The same function may watch twice.
    const watcher = (gateways: readonly GatewayAddress[]): void => onGateways(gateways);
    this.#gatewayWatchers.add(watcher);
    if (this.#listedAt !== undefined) watcher(this.#current());
    return () => void this.#gatewayWatchers.delete(watcher);
  }

  /** Announces the address of this gateway. */
  async announceGateway(url: string): Promise<void> {
    const content: GatewayContent = { url: new URL(url).origin };
    await this.#publication("gateways").say(content);
  }

  /** Announces this node. */
  async announceMember(member: OwnMember): Promise<void> {
    this.#own = member;
    const { text: _, ...content } = { ...member, url: new URL(member.url).origin };
    await this.#publication("members").say(content satisfies MemberContent);
  }

  /**
   * Calls `onMember` with each member, again when it changes, and with `undefined` when one is gone.
   * It gets a function for all members: an array for each change among 10,000 would cost seconds. The returned
   * function ends it.
   */
  watchMembers(
    onMember: (member: DirectoryMember | undefined, all: () => readonly DirectoryMember[]) => void,
  ): () => void {
    const { buckets } = this.#parts;
    const all = (): readonly DirectoryMember[] =>
      [...members.all].map(([instance, member]) => ({ ...member, instance }));
    const members = this.#replica("members", readMember, (instance, member) =>
      onMember(member && { ...member, instance }, all),
    );
    const unwatch = buckets.watch("members", members.onValue, () => onMember(undefined, all));
    return () => {
      unwatch();
      members.stop();
      this.#reached.delete(members);
    };
  }

  /** The list of a member. Rejects if it can't be read now. */
  async listOf({ list }: Pick<DirectoryMember, "list">): Promise<MemberList> {
    const { host, buckets } = this.#parts;
    const known = this.#lists.get(list.digest);
    if (known !== undefined) return await known;
    // All members of a build ask at once: the list is read for the first of them.
    const reading = readSharedList(host, buckets, list);
    // A deployment has few lists at a time, and drops them with each build.
    if (this.#lists.size >= 16) this.#lists.clear();
    this.#lists.set(list.digest, reading);
    try {
      return await reading;
    } catch (error) {
      if (this.#lists.get(list.digest) === reading) this.#lists.delete(list.digest);
      throw error;
    }
  }

  /** Announces that this process has left. */
  async leave(): Promise<void> {
    await Promise.all([...this.#published.values()].map((publication) => publication.leave()));
  }

  async stop(): Promise<void> {
    this.#endStart(new Error("this service has stopped"));
    this.#unwatch();
    this.#gatewayWatchers.clear();
    for (const part of this.#reached) part.stop();
    await this.#parts.buckets.close();
  }

  #replica<Content>(
    bucket: "gateways" | "members",
    read: (content: unknown) => Content,
    onChange: (instance: string, content: Content | undefined) => void,
  ): Replica<Content> {
    const { clock, log } = this.#parts.host;
    const replica = new Replica({ clock, log, bucket, entries: this.#entries, read, onChange });
    this.#reached.add(replica);
    if (this.isReached) replica.reached();
    return replica;
  }

  #publication(bucket: "gateways" | "members"): Publication {
    const published = this.#published.get(bucket);
    if (published !== undefined) return published;
    const { host, buckets, instance } = this.#parts;
    const { clock, log } = host;
    const publication = new Publication({
      clock,
      log,
      buckets,
      bucket,
      entries: this.#entries,
      instance,
      ...(bucket === "members" && { before: () => this.#writeList() }),
    });
    this.#published.set(bucket, publication);
    this.#reached.add(publication);
    if (this.isReached) publication.reached();
    return publication;
  }

  async #writeList(): Promise<void> {
    if (this.#own !== undefined)
      await writeSharedList(this.#parts.buckets, this.#own.list, this.#own.text);
  }

  #current(): readonly GatewayAddress[] {
    // A gateway that was killed has an entry of its own beside that of the next process at its address.
    const urls = new Set([...this.#gateways.all.values()].map(({ url }) => url));
    return [...urls].toSorted().map((url) => ({ url }));
  }

  #tellGateways(): void {
    if (this.#listedAt === undefined) return;
    const current = this.#current();
    const key = current.map(({ url }) => url).join(" ");
    if (key === this.#told) return;
    this.#told = key;
    for (const watcher of this.#gatewayWatchers) watcher(current);
  }
}
