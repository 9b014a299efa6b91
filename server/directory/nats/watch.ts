// Lists what is in a bucket, and then passes on what changes. The consumer that does so lives on one server
// of a cluster, which may not be the one that this process is connected to: the server says each second that
// it is there, and when it doesn't any more, the watch is over.

import type { ConsumerConfig, JetStreamManager } from "@nats-io/jetstream";
import type { Msg, NatsConnection, Subscription } from "@nats-io/transport-node";
import type { BucketName, Buckets } from "../../../src/base/ports/buckets.ts";
import { nodeClock } from "../../host/clock.ts";
import { inTime } from "./in-time.ts";
import type { NatsPackages } from "./packages.ts";
import { forgottenMs, heartbeatMs, listMs } from "./times.ts";

/** Without a word from it for so many of these times, it is gone. A process that stood still counts one. */
const mostMissed = 2;

type OnValue = Parameters<Buckets["watch"]>[1];

export interface NatsWatchParts {
  readonly packages: NatsPackages;
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  /** The bucket's name with its prefix. */
  readonly fullName: string;
  /** The server may take so long to begin. */
  readonly limitMs: number;
  /** It has begun, and delivers no more. Not called after {@link NatsWatch.stop}. */
  readonly onOver: () => void;
}

export class NatsWatch {
  readonly bucket: BucketName;
  readonly #onValue: OnValue;
  readonly #onListed: () => void;
  #end = (): void => {};

  constructor(bucket: BucketName, onValue: OnValue, onListed: () => void) {
    this.bucket = bucket;
    this.#onValue = onValue;
    this.#onListed = onListed;
  }

  stop(): void {
    this.#end();
  }

  /** Resolves when the server has begun; it rejects if it doesn't. Ends what this began before. */
  async begin(parts: NatsWatchParts): Promise<void> {
    const { packages, connection, manager, fullName, limitMs, onOver } = parts;
    this.stop();
    const inbox = packages.core.createInbox();
    let isOver = false;
    let isListed = false;
    let isHeard = false;
    let delivered = 0;
    let cancelList = (): void => {};
    let cancelLook = (): void => {};
    const end = (): void => {
      isOver = true;
      cancelList();
      cancelLook();
      if (!subscription.isClosed()) subscription.unsubscribe();
    };
    const lost = (): void => {
      if (isOver) return;
      end();
      onOver();
    };
    const listed = (): void => {
      if (isListed || isOver) return;
      isListed = true;
      cancelList();
      this.#onListed();
    };
    const take = (message: Msg): void => {
      const place = placeOf(message);
      // One was lost on the way.
      if (place === undefined || place.delivered !== ++delivered) return lost();
      // A process that leaves says so in an entry of its own, which is signed. A key that is gone says nothing.
      if (message.headers?.has("KV-Operation") !== true)
        this.#onValue(message.subject.slice(`$KV.${fullName}.`.length), message.data);
      if (place.pending === 0) listed();
    };
    const subscription: Subscription = connection.subscribe(inbox, {
      callback(error, message) {
        if (isOver) return;
        if (error !== null) return lost();
        isHeard = true;
        const { headers } = message;
        if (message.data.length > 0 || headers?.code !== statusCode) return take(message);
        // The server asks whether its messages are read.
        const stalled = headers.get("Nats-Consumer-Stalled");
        if (message.reply !== undefined && message.reply !== "") message.respond();
        else if (stalled !== "") connection.publish(stalled);
      },
    });
    const look = (missed: number): void => {
      cancelLook = nodeClock.after(heartbeatMs, () => {
        const misses = isHeard ? 0 : missed + 1;
        isHeard = false;
        if (misses > mostMissed) lost();
        else look(misses);
      });
    };
    this.#end = end;
    try {
      const adding = manager.consumers.add(`KV_${fullName}`, {
        ...consumerOf(packages),
        name: `watch_${packages.core.nuid.next()}`,
        deliver_subject: inbox,
        filter_subject: `$KV.${fullName}.>`,
      });
      const { num_pending: pending } = await inTime(adding, limitMs);
      if (isOver) return;
      if (pending === 0) listed();
      else cancelList = nodeClock.after(listMs, listed);
      look(0);
    } catch (error) {
      end();
      throw error;
    }
  }
}

/** Of messages that say something about the consumer, and hold no value. */
const statusCode = 100;

function consumerOf({ jetstream, core }: NatsPackages): Partial<ConsumerConfig> {
  return {
    deliver_policy: jetstream.DeliverPolicy.LastPerSubject,
    ack_policy: jetstream.AckPolicy.None,
    max_deliver: 1,
    num_replicas: 1,
    mem_storage: true,
    flow_control: true,
    idle_heartbeat: core.nanos(heartbeatMs),
    inactive_threshold: core.nanos(forgottenMs),
  };
}

/**
 * How many messages the consumer has delivered with this one, and how many values are still to come, as its
 * subject for acknowledgements says: https://docs.nats.io/reference/reference-protocols/nats_api_reference
 */
function placeOf({
  reply = "",
}: Msg): { readonly delivered: number; readonly pending: number } | undefined {
  const tokens = reply.split(".");
  // Newer servers name domain and account before the stream, and may add to the end.
  const at = tokens.length === 9 ? 6 : 8;
  const [delivered, pending] = [Number(tokens[at]), Number(tokens[at + 2])];
  return Number.isSafeInteger(delivered) && Number.isSafeInteger(pending)
    ? { delivered, pending }
    : undefined;
}
