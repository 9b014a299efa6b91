// An entry of the directory: one process describes itself. It is signed, with its bucket and its key there, by a
// secret that is derived from the trust key. So only the deployment can write entries, and they can't be moved.

import type { BucketName } from "../../base/ports/buckets.ts";
import type { Host } from "../../base/ports.ts";
import { keysOf, type TrustKey } from "../../http/trust.ts";
import { maxEntryBytes } from "../common/limits.ts";

/** Keys in buckets: random ids. */
const instancePattern = /^[\w-]{8,64}$/;

export interface Entry {
  /** The process, with a new id after each start. */
  readonly instance: string;
  /** Ascends with each entry of this process, so that an old one isn't taken for a new one. */
  readonly sequence: number;
  /** `undefined`: the process has left. */
  readonly content: unknown;
}

export interface Entries {
  /** Throws if the entry is too long. */
  write(bucket: BucketName, entry: Entry): Uint8Array;
  /** Throws an error with the reason if the value isn't an entry of this deployment. */
  read(bucket: BucketName, key: string, value: Uint8Array): Entry;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** `prefix` separates deployments that share a server, and maybe a key. */
export function createEntries(
  host: Pick<Host, "sign" | "deriveKey" | "equalSecrets">,
  trustKey: TrustKey,
  prefix: string,
): Entries {
  // An empty key is no secret.
  const keys = keysOf(trustKey).filter((key) => key !== "");
  const secrets = keys.map((key) => host.deriveKey(key, "seamline/directory/1"));
  const [first] = secrets;
  if (first === undefined) throw new Error("'directory' needs a 'trustKey', which signs entries");
  const signed = (bucket: string, key: string, text: string): string =>
    `${prefix}\n${bucket}\n${key}\n${text}`;
  return {
    write(bucket, { instance, sequence, content }) {
      const text = JSON.stringify({ instance, sequence, content });
      const signature = host.sign(first, signed(bucket, instance, text));
      const bytes = encoder.encode(`${signature}\n${text}`);
      if (bytes.length > maxEntryBytes)
        throw new RangeError(`the entry has ${bytes.length} bytes, at most ${maxEntryBytes} fit`);
      return bytes;
    },
    read(bucket, key, value) {
      if (value.length > maxEntryBytes)
        throw new Error(`it has ${value.length} bytes, and entries at most ${maxEntryBytes}`);
      const whole = decoder.decode(value);
      const end = whole.indexOf("\n");
      const signature = whole.slice(0, Math.max(0, end));
      const text = whole.slice(end + 1);
      // The text isn't parsed before its signature is checked.
      const isOurs = secrets.some((secret) =>
        host.equalSecrets(host.sign(secret, signed(bucket, key, text)), signature),
      );
      if (!isOurs) throw new Error("it isn't signed with this deployment's trust key");
      const { instance, sequence, content } = JSON.parse(text) as Record<string, unknown>;
      if (instance !== key || !instancePattern.test(key))
        throw new Error("it stands under another key than its own");
      if (!Number.isSafeInteger(sequence) || (sequence as number) < 1)
        throw new Error("it has no sequence number");
      return { instance: key, sequence: sequence as number, content };
    },
  };
}
