// Certificates for tests, made by openssl when they are asked for: an authority, and what it
// signed.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { onTestFinished } from "vitest";

export interface Certificates {
  readonly folder: string;
  /** Path of the authority's certificate. */
  readonly ca: string;
  /** Makes `NAME.cert.pem` and `NAME.key.pem`, for these hosts. */
  sign(
    name: string,
    options?: { readonly hosts?: string; readonly passphrase?: string; readonly days?: number },
  ): { cert: string; key: string };
}

/** A new authority in a folder that is removed after the test, or when `atEnd` says. */
export function createCertificates(
  atEnd: (remove: () => void) => void = onTestFinished,
): Certificates {
  const folder = mkdtempSync(join(tmpdir(), "seamline-tls-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const path = (name: string): string => join(folder, name);
  const openssl = (...words: string[]): void =>
    void execFileSync("openssl", words, { cwd: folder, stdio: "pipe" });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  openssl(
    "req",
    "-x509",
    ...newKey,
    "-nodes",
    "-keyout",
    "ca.key.pem",
    "-out",
    "ca.pem",
    "-days",
    "2",
    "-subj",
    "/CN=Test authority",
  );
  return {
    folder,
    ca: path("ca.pem"),
    sign(name, { hosts = "IP:127.0.0.1", passphrase, days = 2 } = {}) {
      const [cert, key, request] = [`${name}.cert.pem`, `${name}.key.pem`, `${name}.csr`];
      const locked = passphrase === undefined ? ["-nodes"] : ["-passout", `pass:${passphrase}`];
      openssl("req", ...newKey, ...locked, "-keyout", key, "-out", request, "-subj", `/CN=${name}`);
      writeFileSync(path(`${name}.ext`), `subjectAltName=${hosts}\n`);
      const by = ["-CA", "ca.pem", "-CAkey", "ca.key.pem", "-CAcreateserial"];
      openssl(
        "x509",
        "-req",
        "-in",
        request,
        ...by,
        "-out",
        cert,
        "-days",
        String(days),
        "-extfile",
        `${name}.ext`,
      );
      return { cert: path(cert), key: path(key) };
    },
  };
}
