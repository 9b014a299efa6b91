// Reads the files that `tls` names, once, at the start, and reports all problems with their keys.

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { createSecureContext, rootCertificates } from "node:tls";

import { type Problem, Problems } from "../../src/base/problem.ts";
import type { TlsConfig } from "./config-types.ts";

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  readonly passphrase?: string | undefined;
  /** Certificate authorities for calls to other services. Default: those that Node trusts. */
  readonly authorities?: readonly string[];
}

/**
 * Reads and checks the files. `url` is that of the service. Throws {@link Problems}; possible
 * problems go to `warn`.
 */
export async function readTls(
  config: TlsConfig,
  url: string,
  warn: (message: string) => void,
  names: readonly string[] = [],
): Promise<TlsFiles> {
  const problems: Problem[] = [];
  const refuse = (key: keyof TlsConfig, message: string, hint: string): undefined => {
    problems.push({ file: config[key] ?? "", path: `tls.${key}`, message, hint });
  };
  const read = async (key: "cert" | "key" | "ca"): Promise<string | undefined> => {
    try {
      return await readFile(config[key] ?? "", "utf8");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return refuse(
        key,
        code === "ENOENT" ? "there is no such file" : `it can't be read (${code})`,
        "The path is relative to the application folder",
      );
    }
  };
  const [cert, key, ca] = await Promise.all([
    read("cert"),
    read("key"),
    config.ca === undefined ? undefined : read("ca"),
  ]);
  const certificate = cert === undefined ? undefined : parsed(() => new X509Certificate(cert));
  if (certificate instanceof Error)
    refuse(
      "cert",
      `this isn't a certificate: ${certificate.message}`,
      "A certificate begins with -----BEGIN CERTIFICATE-----",
    );
  const { passphrase } = config;
  const secret =
    key === undefined
      ? undefined
      : parsed(() => createPrivateKey({ key, ...(passphrase !== undefined && { passphrase }) }));
  if (secret instanceof Error)
    if (key?.includes("ENCRYPTED") === true)
      refuse(
        "passphrase",
        passphrase === undefined
          ? "the private key is encrypted"
          : "it doesn't open the private key",
        'Set "passphrase": "${TLS_PASSPHRASE}"',
      );
    else
      refuse(
        "key",
        `this isn't a private key: ${secret.message}`,
        "A private key begins with -----BEGIN PRIVATE KEY-----",
      );
  const authority = ca === undefined ? undefined : parsed(() => new X509Certificate(ca));
  if (authority instanceof Error)
    refuse(
      "ca",
      `this isn't a certificate: ${authority.message}`,
      "A certificate begins with -----BEGIN CERTIFICATE-----",
    );
  if (
    certificate instanceof X509Certificate &&
    secret !== undefined &&
    !(secret instanceof Error)
  ) {
    if (!certificate.checkPrivateKey(secret))
      refuse(
        "key",
        `it doesn't belong to the certificate ${config.cert}`,
        "Give the private key that the certificate was made for",
      );
    else {
      const context = parsed(() => createSecureContext({ cert, key, passphrase }));
      if (context instanceof Error)
        refuse(
          "cert",
          `it can't be used: ${context.message}`,
          "Make one with a newer algorithm or a longer key",
        );
    }
    warnOf(
      certificate,
      [new URL(url).hostname.replace(/^\[|\]$/g, ""), ...names],
      config.cert,
      warn,
    );
  }
  if (problems.length > 0 || cert === undefined || key === undefined) throw new Problems(problems);
  return {
    cert,
    key,
    passphrase,
    ...(ca !== undefined && { authorities: await authoritiesWith(ca) }),
  };
}

// Only warnings: some callers check neither dates nor names.
function warnOf(
  certificate: X509Certificate,
  hosts: readonly string[],
  file: string,
  warn: (message: string) => void,
): void {
  const now = Date.now();
  if (Date.parse(certificate.validTo) < now)
    warn(`the certificate ${file} expired on ${certificate.validTo}: callers will refuse it`);
  if (Date.parse(certificate.validFrom) > now)
    warn(`the certificate ${file} is not valid before ${certificate.validFrom}`);
  const isFor = (host: string): boolean =>
    (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined;
  if (!hosts.some(isFor))
    warn(
      `the certificate ${file} is not for '${hosts[0]}', the host in 'url': callers will refuse it`,
    );
}

/** The authorities for calls to services whose certificates those in `file` have signed. */
export async function readAuthorities(file: string): Promise<readonly string[]> {
  return await authoritiesWith(await readFile(file, "utf8"));
}

// A list of authorities replaces Node's own, so they have to be in it.
async function authoritiesWith(ca: string): Promise<readonly string[]> {
  const extra = process.env["NODE_EXTRA_CA_CERTS"];
  // Node itself only warns of a file that it can't read, when it starts.
  const more =
    extra === undefined ? undefined : await readFile(extra, "utf8").catch(() => undefined);
  return [...rootCertificates, ...(more === undefined ? [] : [more]), ca];
}

function parsed<T>(parse: () => T): T | Error {
  try {
    return parse();
  } catch (error) {
    return error as Error;
  }
}
