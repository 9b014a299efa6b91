// Recognizes service configurations, private keys and certificates by their content, since
// `--config` accepts any file name.

import { closeSync, openSync, readFileSync, readSync, realpathSync, statSync } from "node:fs";

import { nearest } from "../../src/base/problem.ts";
import { modes } from "../config/config-schema.ts";

export type ServiceFile = "configuration" | "private key" | "certificate";

// Enough for a key's first line. A configuration is read to its end.
const firstBytes = 1024;
const maxConfigurationBytes = 1 << 20;

/** Returns the kind of a file, or `undefined` for other files and those that can't be read. */
export function serviceFile(path: string): ServiceFile | undefined {
  try {
    const file = realpathSync(path);
    const { size } = statSync(file);
    // Nothing in `.seamline` is public; the trust key is there.
    if (/[\\/]\.seamline[\\/]/.test(file)) return "configuration";
    if (/\.(?:p12|pfx)$/i.test(file)) return "private key";
    const start = readStart(file).replace(/^\uFEFF?\s*/, "");
    const [, label] = /^(?:Bag Attributes[^]*?)?-----BEGIN ([A-Z ]+)-----/.exec(start) ?? [];
    if (label?.endsWith("PRIVATE KEY")) return "private key";
    if (label !== undefined) return label.endsWith("CERTIFICATE") ? "certificate" : undefined;
    if (!start.startsWith("{") || size > maxConfigurationBytes) return undefined;
    const text = readFileSync(file, "utf8");
    return isConfiguration(text) || /"trustKey"\s*:/.test(text) ? "configuration" : undefined;
  } catch {
    // A folder, or a path that doesn't exist: there is nothing to protect.
    return undefined;
  }
}

/**
 * Whether a text is a service's configuration: JSON with one of our modes, or with a misspelled
 * mode and a `url`. Other tools have a `mode` too.
 */
export function isConfiguration(text: string): boolean {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    // Invalid JSON, perhaps in the middle of an edit, can still hold the trust key.
    return new RegExp(`"mode"\\s*:\\s*"(?:${modes.join("|")})"`).test(text);
  }
  if (typeof value !== "object" || value === null) return false;
  const { mode, url } = value as { mode?: unknown; url?: unknown };
  return (
    typeof mode === "string" &&
    ((modes as readonly string[]).includes(mode) ||
      (url !== undefined && nearest(mode, modes) !== undefined))
  );
}

function readStart(file: string): string {
  const descriptor = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(firstBytes);
    return bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, firstBytes, 0));
  } finally {
    closeSync(descriptor);
  }
}
