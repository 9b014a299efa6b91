// What a gateway answers to a node that joins.

import type { HeaderFields } from "../../base/ports.ts";
import { serviceHeaders } from "../../base/protocol.ts";
import { WrongKeyError } from "../../link/handshake.ts";

/** The gateway has another trust key. */
export class RefusedKey extends Error {}

/** The error for the log, and for a start that fails. */
export function refusedKey(gateway: string, cause?: unknown): Error {
  return new RefusedKey(
    `The gateway at ${gateway} refuses this node's trust key: ${
      cause instanceof WrongKeyError ? cause.advice : "both must have the same trustKey"
    }`,
    { cause },
  );
}

/** What a gateway says to a node that has joined. */
export interface Joined {
  readonly id: string;
  readonly lease: number;
  /** The gateway's process. Those of an older version don't say it. */
  readonly instance?: string;
}

/** Throws if it is not what a gateway says. */
export function readJoined(text: string, headers: HeaderFields): Joined {
  const { id, lease } = JSON.parse(text) as Readonly<Record<keyof Joined, unknown>>;
  const instance = headers[serviceHeaders.instance];
  if (typeof id !== "string" || typeof lease !== "number" || !(lease > 0))
    throw new Error("its answer has no id and lease; is it a Seamline gateway?");
  return { id, lease, ...(typeof instance === "string" && { instance }) };
}
