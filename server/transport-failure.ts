// What an error of a connection means: for the message, and for whose fault it is.

import { TransportError, UnsentError } from "../src/ports.ts";

const unknownAuthority =
  "showed a certificate of an authority that is not known here: name its certificate in 'tls.ca' or the variable NODE_EXTRA_CA_CERTS";

const reasons: Readonly<Record<string, string>> = {
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

/** Failures of this host: the other side has no part in them. */
const localReasons: Readonly<Record<string, string>> = {
  EMFILE: "this process may open no more files (raise 'ulimit -n')",
  ENFILE: "this machine may open no more files",
  EADDRNOTAVAIL: "this machine has no address or port left for a connection to it",
  ENOBUFS: "this machine has no room for more connections",
  ENOMEM: "this machine has no memory for more connections",
  // Of looking a name up, when no file can be opened for it.
  EBUSY: "this machine can't look up names now (raise 'ulimit -n')",
  UND_ERR_INVALID_ARG: "this service can't write the request down",
  UND_ERR_NOT_SUPPORTED: "this service can't write the request down",
};

/** Nobody has answered: a service that is busy, or a name server that is away, looks the same. */
const silences: ReadonlySet<string> = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "ETIMEDOUT",
  "EAI_AGAIN",
]);

/** The failure of a request to `origin`; `sent` when bytes of it may have arrived there. */
export function transportFailure(
  error: NodeJS.ErrnoException,
  origin: string,
  sent: boolean,
): TransportError {
  const codes = codesOf(error);
  const local = codes.find((code) => Object.hasOwn(localReasons, code));
  if (!sent && local !== undefined)
    return new UnsentError(`${origin} was not asked: ${localReasons[local]}`, "local", {
      cause: error,
    });
  const [code = ""] = codes;
  const message = `${origin} ${Object.hasOwn(reasons, code) ? reasons[code] : `could not be reached: ${error.message}`}`;
  if (sent) return new TransportError(message, true, { cause: error });
  return new UnsentError(message, codes.some((one) => silences.has(one)) ? "silent" : "refused", {
    cause: error,
  });
}

/** A name may have several addresses, and each of them failed in its own way. */
function codesOf(error: NodeJS.ErrnoException): string[] {
  const all: readonly NodeJS.ErrnoException[] =
    error instanceof AggregateError
      ? [error, ...(error.errors as NodeJS.ErrnoException[])]
      : [error];
  return all.flatMap(({ code }) => (typeof code === "string" ? [code] : []));
}
