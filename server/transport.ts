// Requests to other services: a pool of connections for each origin, answers collected. Measured against `fetch`: a seventh of the time.

import type { Agent, Dispatcher } from "undici";
import { type IncomingResponse, type OutgoingRequest, type Transport, TransportError } from "../src/ports.ts";

export interface TransportOptions {
  /** Connections to one origin [256]; more requests wait. */
  readonly connections?: number;
  /** Ms until an address that doesn't answer counts as away [3000]. */
  readonly connectTime?: number;
  /** Bytes of an answer [64 MiB]: another service must not be able to fill our memory either. */
  readonly answer?: number;
  /** Who may have signed the certificates of https addresses (PEM). Left out: those whom Node trusts. */
  readonly authorities?: readonly string[] | undefined;
}

/** §4.1 from the sending side. Redirects are answers like any other: following one would carry headers to an address of the other's choosing. */
export function createTransport(options: TransportOptions = {}): Transport {
  const { connections = 256, connectTime = 3_000, answer = 64 * 1024 * 1024 } = options;
  let opened: Promise<Agent> | undefined;
  let closed = false;
  // Loaded with the first request: a role that sends none starts without it.
  // An agent keeps a pool for each origin, and lets an origin go with its last connection: members come and go on many ports.
  const open = (): Promise<Agent> =>
    (opened ??= import("undici").then(({ Agent }) => {
      const ca = options.authorities === undefined ? {} : { ca: [...options.authorities] };
      return new Agent({ connections, pipelining: 1, connect: { timeout: connectTime, ...ca }, maxResponseSize: answer });
    }));
  return {
    async send(request) {
      if (closed) throw new TransportError("This service is stopping", false);
      const agent = await open();
      request.signal?.throwIfAborted();
      return await dispatch(agent, request);
    },
    async close() {
      closed = true;
      await (await opened)?.destroy();
    },
  };
}

function dispatch(agent: Agent, request: OutgoingRequest): Promise<IncomingResponse> {
  // The path goes out as it was written. `URL` would lead `/rpc/../nodes`, of an outsider and passed on with the trust key, to another door.
  const end = request.url.indexOf("/", request.url.indexOf("//") + 2);
  const { origin } = new URL(end < 0 ? request.url : request.url.slice(0, end));
  const { signal } = request;
  return new Promise((resolve, reject) => {
    let sent = false;
    let controller: Dispatcher.DispatchController | undefined;
    let status = 0;
    let headers: IncomingResponse["headers"] = {};
    const chunks: Buffer[] = [];
    const abort = (): void => {
      controller?.abort(signal?.reason as Error);
      // Waiting for a connection there is no controller yet: nothing would tell the caller.
      reject(signal?.reason as Error);
    };
    signal?.addEventListener("abort", abort, { once: true });
    agent.dispatch(
      {
        origin,
        path: end < 0 ? "/" : request.url.slice(end),
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
      },
      {
        onRequestStart(given) {
          controller = given;
          if (signal?.aborted === true) return given.abort(signal.reason as Error);
          // From here bytes may be on their way: whatever fails now, the call may have been run (R11).
          sent = true;
        },
        onResponseStart(_, code, fields) {
          // 1xx come before the answer, and are none.
          if (code < 200) return;
          status = code;
          headers = fields;
        },
        onResponseData(_, chunk) {
          chunks.push(chunk);
        },
        onResponseEnd() {
          signal?.removeEventListener("abort", abort);
          resolve({ status, headers, body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks) });
        },
        onResponseError(_, error) {
          signal?.removeEventListener("abort", abort);
          reject(signal?.aborted === true ? (signal.reason as Error) : failure(error, origin, sent));
        },
      },
    );
  });
}

const unknownAuthority =
  "showed a certificate of an authority that is not known here: name its certificate in 'tls.ca' or the variable NODE_EXTRA_CA_CERTS";

function failure(error: NodeJS.ErrnoException, origin: string, sent: boolean): TransportError {
  const reasons: Record<string, string> = {
    ECONNREFUSED: "refused the connection",
    ECONNRESET: "closed the connection before it answered",
    UND_ERR_SOCKET: "closed the connection before it answered",
    ENOTFOUND: "is a host name that is not known",
    EAI_AGAIN: "is a host name that can't be looked up now",
    UND_ERR_CONNECT_TIMEOUT: "did not take the connection in time",
    ERR_TLS_CERT_ALTNAME_INVALID: "showed a certificate for another host",
    CERT_HAS_EXPIRED: "showed a certificate that has run out",
    DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
    SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
    ERR_SSL_WRONG_VERSION_NUMBER: "doesn't speak https: its address begins with http:",
    UND_ERR_RES_EXCEEDED_MAX_SIZE: "sent more than may come back",
  };
  return new TransportError(`${origin} ${reasons[error.code ?? ""] ?? `could not be reached: ${error.message}`}`, sent, { cause: error });
}
