// Files that say how services are run, and with which keys. They are found by what stands in them: `--config` takes any name, and a name says little.

import { closeSync, openSync, readFileSync, readSync, realpathSync, statSync } from "node:fs";

import { nearest } from "../src/problem.ts";
import type { Mode } from "./config.ts";

export const modes: readonly Mode[] = ["node", "gateway", "repository", "proxy", "standalone"];

/** What a file is to services, as far as others must not have it. */
export type ServiceFile = "configuration" | "private key" | "certificate";

// Enough to see what a file begins with; a configuration is read as a whole.
const firstBytes = 1024;
const mostBytes = 1 << 20;

/** Looks into a file; `undefined` for what is none of these, and for what can't be read. */
export function serviceFile(path: string): ServiceFile | undefined {
  try {
    const file = realpathSync(path);
    const { size } = statSync(file);
    // Of the application folder's own notes, the trust key among them, nothing is for others.
    if (/[\\/]\.seamline[\\/]/.test(file)) return "configuration";
    if (/\.(?:p12|pfx)$/i.test(file)) return "private key";
    const begin = beginOf(file).replace(/^\uFEFF?\s*/, "");
    const [, label] = /^(?:Bag Attributes[^]*?)?-----BEGIN ([A-Z ]+)-----/.exec(begin) ?? [];
    if (label?.endsWith("PRIVATE KEY")) return "private key";
    if (label !== undefined) return label.endsWith("CERTIFICATE") ? "certificate" : undefined;
    if (!begin.startsWith("{") || size > mostBytes) return undefined;
    const text = readFileSync(file, "utf8");
    return isConfiguration(text) || /"trustKey"\s*:/.test(text) ? "configuration" : undefined;
  } catch {
    // A folder, or nothing at all: whoever asks for it gets none of it.
    return undefined;
  }
}

/** Whether a text is a configuration: JSON with a `mode` of ours, or nearly one and a `url`. Other tools' files may be anything else. */
export function isConfiguration(text: string): boolean {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    // While it is edited it may be broken, and holds what it held before.
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

function beginOf(file: string): string {
  const opened = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(firstBytes);
    return bytes.toString("utf8", 0, readSync(opened, bytes, 0, firstBytes, 0));
  } finally {
    closeSync(opened);
  }
}
