// Translates errors of a connection: a message, and whether the other side is at fault.

import { TransportError, UnsentError } from "../../../src/base/ports.ts";

const unknownAuthority =
  "has a certificate from an unknown authority: name the authority's certificate in 'tls.ca' or the variable NODE_EXTRA_CA_CERTS";

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refused the connection",
  ECONNRESET: "closed the connection before it answered",
  EPIPE: "closed the connection before it answered",
  ENOTFOUND: "is an unknown host name",
  EAI_AGAIN: "is a host name that can't be resolved right now",
  ETIMEDOUT: "did not accept the connection in time",
  ERR_TLS_CERT_ALTNAME_INVALID: "has a certificate for another host",
  CERT_HAS_EXPIRED: "has an expired certificate",
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  // Node's code for an answer that isn't TLS.
  EPROTO: "doesn't speak https: its address begins with http:",
};

/** Failures of this host, in which the other side has no part. */
const localReasons: Readonly<Record<string, string>> = {
  EMFILE: "this process can't open more files (raise 'ulimit -n')",
  ENFILE: "this machine can't open more files",
  EADDRNOTAVAIL: "this machine has no free port for a connection to it",
  ENOBUFS: "this machine has no buffers for more connections",
  ENOMEM: "this machine has no memory for more connections",
  // From a name lookup that can't open a file.
  EBUSY: "this machine can't resolve names right now (raise 'ulimit -n')",
  ERR_INVALID_CHAR: "this service can't send this request",
  ERR_INVALID_HTTP_TOKEN: "this service can't send this request",
  ERR_UNESCAPED_CHARACTERS: "this service can't send this request",
};

/** How far a request got: nothing left this process, bytes may have arrived, an answer has begun. */
export type Progress = "waiting" | "sent" | "answered";

/** The failure of a request to `origin`. */
export function transportFailure(
  error: NodeJS.ErrnoException,
  origin: string,
  progress: Progress,
): TransportError {
  if (progress === "answered") return brokenAnswer(origin, error);
  const sent = progress === "sent";
  const codes = codesOf(error);
  const local = codes.find((code) => Object.hasOwn(localReasons, code));
  if (!sent && local !== undefined)
    return new UnsentError(`${origin} was not asked: ${localReasons[local]}`, "local", {
      cause: error,
    });
  const [code = ""] = codes;
  const message = `${origin} ${Object.hasOwn(reasons, code) ? reasons[code] : `could not be reached: ${error.message}`}`;
  if (sent) return new TransportError(message, true, { cause: error });
  return new UnsentError(message, "refused", { cause: error });
}

/** The failure of a connection that ended in the middle of an answer. */
function brokenAnswer(origin: string, cause: Error): TransportError {
  return new TransportError(`${origin} broke off its answer`, true, { cause });
}

/** A name may have several addresses, each of which failed in its own way. */
function codesOf(error: NodeJS.ErrnoException): string[] {
  const all: readonly NodeJS.ErrnoException[] =
    error instanceof AggregateError
      ? [error, ...(error.errors as NodeJS.ErrnoException[])]
      : [error];
  return all.flatMap(({ code }) => (typeof code === "string" ? [code] : []));
}
