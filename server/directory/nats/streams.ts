// The buckets of the directory in JetStream: each is a stream. If it is missing, the first service with the
// right to do so makes it.

import type { JetStreamManager, StreamInfo } from "@nats-io/jetstream";
import type { Kvm } from "@nats-io/kv";
import type { BucketName } from "../../../src/base/ports/buckets.ts";
import { jetStreamCode, jetStreamCodes, reasonOf } from "./failure.ts";
import { entriesMs, listsMs } from "./times.ts";

const ttlMs: Readonly<Record<BucketName, number>> = {
  gateways: entriesMs,
  members: entriesMs,
  lists: listsMs,
};

/** So many servers of a cluster have each value: one of them may be away. */
const replicas = 3;

export interface StreamParts {
  readonly kvm: Kvm;
  readonly manager: JetStreamManager;
  /** Whether the server is one of a cluster. */
  readonly isClustered: boolean;
}

/** Finds the bucket's stream, or makes it. Rejects if it is missing and this user may not make it. */
export async function ensureStream(
  { kvm, manager, isClustered }: StreamParts,
  bucket: BucketName,
  fullName: string,
): Promise<StreamInfo> {
  const stream = `KV_${fullName}`;
  try {
    const info = await manager.streams.info(stream);
    if (isClustered && info.config.num_replicas === 1)
      // It was made when there were fewer servers.
      await manager.streams.update(stream, { num_replicas: replicas }).catch(() => {
        // There still are, or this user may not: the bucket works as it is.
      });
    return info;
  } catch (error) {
    if (jetStreamCode(error) !== jetStreamCodes.streamNotFound) throw error;
  }
  const make = async (copies: number): Promise<void> => {
    const ttl = ttlMs[bucket];
    await kvm.create(fullName, { history: 1, ttl, replicas: copies });
  };
  try {
    await make(isClustered ? replicas : 1).catch(async (error: unknown) => {
      const code = jetStreamCode(error);
      if (code !== jetStreamCodes.noPlace && code !== jetStreamCodes.noReplicas) throw error;
      await make(1);
    });
  } catch (error) {
    if (
      (error as Error).name === "PermissionViolationError" ||
      /permissions? violation/i.test(reasonOf(error))
    )
      throw new Error(`it has no bucket '${fullName}' yet, which a gateway makes`, {
        cause: error,
      });
    throw error;
  }
  return await manager.streams.info(stream);
}
