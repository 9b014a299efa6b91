// A request on its way through the server, over any version of HTTP.

import type { IncomingMessage, ServerResponse } from "node:http";

import type { ServiceError } from "../../src/base/errors.ts";
import type { Limits } from "../../src/base/limits.ts";
import type { CallerConnection } from "./connection/caller-connection.ts";
import type { NodeRequest } from "./node-request.ts";

/** The limits of connections and of a request's head. */
export type HttpLimits = Pick<
  Limits,
  | "headerBytes"
  | "headerCount"
  | "headerTimeoutMs"
  | "requestTimeoutMs"
  | "idleTimeoutMs"
  | "keepAliveTimeoutMs"
  | "maxConnections"
>;

/** A request with everything that an answer needs. */
export interface ServerRequest {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly request: NodeRequest;
  /** The names and values of its fields in turn, without those that only HTTP/2 has. */
  readonly rawHeaders: readonly string[];
  /** Why its head isn't valid, if the version of HTTP has a reason of its own. */
  readonly problem?: ServiceError | undefined;
  /** Over HTTP/2, its stream. */
  readonly connection: CallerConnection;
  /** The connection that is counted: over HTTP/2, that of all streams. */
  readonly owner: CallerConnection;
}
