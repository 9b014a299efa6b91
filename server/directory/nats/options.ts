// Makes the options of the NATS client from the key `directory`.

import { readFile } from "node:fs/promises";
import { checkServerIdentity, type PeerCertificate } from "node:tls";

import type { ConnectionOptions } from "@nats-io/transport-node";
import { type Problem, Problems } from "../../../src/base/problem.ts";
import type { DirectoryConfig } from "../../config/config-types.ts";
import type { NatsPackages } from "./packages.ts";
import { connectTimeoutMs, pingMs, reconnectJitterMs, reconnectMs } from "./times.ts";

/** Reads the files. Throws {@link Problems}. */
export async function natsOptions(
  config: DirectoryConfig,
  { name, core }: { readonly name: string } & Pick<NatsPackages, "core">,
): Promise<ConnectionOptions> {
  const problems: Problem[] = [];
  const read = async (path: string, file: string | undefined): Promise<string | undefined> => {
    if (file === undefined) return undefined;
    try {
      return await readFile(file, "utf8");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const message = code === "ENOENT" ? "there is no such file" : `it can't be read (${code})`;
      const hint = "The path is relative to the application folder";
      problems.push({ file, path: `directory.${path}`, message, hint });
      return undefined;
    }
  };
  const { nats, creds, tls } = config;
  const [credentials, ca, cert, key] = await Promise.all([
    read("creds", creds),
    read("tls.ca", tls?.ca),
    read("tls.cert", tls?.cert),
    read("tls.key", tls?.key),
  ]);
  if (credentials !== undefined && !/BEGIN NATS USER JWT[^]*BEGIN USER NKEY SEED/.test(credentials))
    problems.push({
      file: creds ?? "",
      path: "directory.creds",
      message: "this isn't a credentials file: one has a user's JWT and the seed of its key",
      hint: "nsc generate creds writes one",
    });
  if (problems.length > 0) throw new Problems(problems);
  const isTls = tls !== undefined || nats.some((address) => address.startsWith("tls:"));
  return {
    name,
    servers: nats.map((address) => new URL(address).host),
    ...userOf(nats),
    ...(credentials !== undefined && {
      authenticator: core.credsAuthenticator(new TextEncoder().encode(credentials)),
    }),
    ...(isTls && {
      tls: {
        ...(ca !== undefined && { ca }),
        ...(cert !== undefined && { cert }),
        ...(key !== undefined && { key }),
        ...identityOf(nats),
      },
    }),
    timeout: connectTimeoutMs,
    maxReconnectAttempts: -1,
    // A server that refuses today may know the user tomorrow, and links don't wait for it.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: reconnectMs,
    reconnectJitter: reconnectJitterMs,
    reconnectJitterTLS: reconnectJitterMs,
    pingInterval: pingMs,
    maxPingOut: 1,
  };
}

/**
 * The client names no host to Node if a server's address is an IP address, and Node then takes
 * "localhost". A certificate must be for one of the servers that the configuration names.
 */
function identityOf(addresses: readonly string[]): object {
  const names = addresses.map((address) => new URL(address).hostname.replace(/^\[|\]$/g, ""));
  return {
    checkServerIdentity(host: string, certificate: PeerCertificate): Error | undefined {
      const hosts = host === "localhost" ? names : [host];
      const problems = hosts.map((name) => checkServerIdentity(name, certificate));
      return problems.includes(undefined) ? undefined : problems[0];
    },
  };
}

/** User and password, or a token, of the first address that has some. */
function userOf(addresses: readonly string[]): Pick<ConnectionOptions, "user" | "pass" | "token"> {
  for (const address of addresses) {
    const { username, password } = new URL(address);
    if (password !== "")
      return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
    if (username !== "") return { token: decodeURIComponent(username) };
  }
  return {};
}
