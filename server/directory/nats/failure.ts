// Classifies failures of NATS: whether another try may help, and the remedy.

import type { NatsPackages } from "./packages.ts";

/** Trying again wouldn't help. */
export class DirectoryRefused extends Error {
  override readonly name: string = "DirectoryRefused";
}

/** The codes of JetStream that are looked at. */
export const jetStreamCodes = {
  noPlace: 10005,
  unavailable: 10008,
  notForAccount: 10039,
  noMessage: 10037,
  streamNotFound: 10059,
  noReplicas: 10074,
  notEnabled: 10076,
} as const;

/** The code of JetStream's API, if the error is one of it. */
export function jetStreamCode(error: unknown): number | undefined {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return typeof code === "number" && /^(?:JetStreamApi|StreamNotFound)/.test(String(name))
    ? code
    : undefined;
}

/** The failure in a few words. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : "";
  return cause === "" || text.includes(cause) ? text : `${text}: ${cause}`;
}

/** The error for the start, if a first connection that failed with this one never succeeds. */
export function refusalOf(
  error: unknown,
  name: string,
  { core: { errors } }: Pick<NatsPackages, "core">,
): DirectoryRefused | undefined {
  const reason = reasonOf(error);
  const refused = (message: string): DirectoryRefused =>
    new DirectoryRefused(message, { cause: error });
  const isTimeout = /timeout/i.test(reason);
  if (
    (error instanceof errors.AuthorizationError && !isTimeout) ||
    error instanceof errors.UserAuthenticationExpiredError
  )
    return refused(
      `The directory at ${name} refuses this service (${reason}): check 'creds', or user and password in 'nats'`,
    );
  const { code = "" } = (error as Error & { readonly code?: unknown }) ?? {};
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return refused(
      `The certificate of the directory at ${name} is for another host (${reason}): name it in 'directory.nats' as the certificate does`,
    );
  if (/^(?:CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_SSL_)/.test(String(code)))
    return refused(
      `The certificate of the directory at ${name} isn't accepted (${reason}): name its authority in 'directory.tls.ca'`,
    );
  if (/server does not support 'tls'|'tls' is not available/.test(reason))
    return refused(
      `The directory at ${name} has no TLS, which 'directory' asks for: remove 'tls', or switch it on in the server's configuration`,
    );
  return undefined;
}

/** The error for the start, if the server has no JetStream. */
export function withoutJetStream(error: unknown, name: string): DirectoryRefused | undefined {
  const code = jetStreamCode(error);
  const { notForAccount, notEnabled } = jetStreamCodes;
  if (
    (error as Error).name !== "JetStreamNotEnabled" &&
    code !== notForAccount &&
    code !== notEnabled
  )
    return undefined;
  return new DirectoryRefused(
    `The directory at ${name} needs JetStream, which is off${code === notForAccount ? " for this service's account" : ""}: start nats-server with -js, or write jetstream {} into its configuration${code === notForAccount ? ", and jetstream: enabled into the account's" : ""}`,
    { cause: error },
  );
}
