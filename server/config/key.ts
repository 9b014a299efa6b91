// The trust key: the secret that the services of one deployment share.

import { randomBytes } from "node:crypto";
import { chmod, link, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { Problem } from "../../src/base/problem.ts";
import { isLoopback } from "./config-address.ts";
import type { Config } from "./config-types.ts";
import { makeFolder, writing } from "../base/write-failure.ts";
import { keysOf, type TrustKey } from "../../src/http/trust.ts";

/** Relative to the application folder. */
export const keyFile = ".seamline/key";

/**
 * The configured key, else that of the application folder, which the first role that starts writes
 * there. Roles that start at the same time agree on one.
 */
export async function readTrustKey(
  applicationFolder: string,
  configured?: TrustKey,
): Promise<TrustKey> {
  if (configured !== undefined) return configured;
  const folder = join(applicationFolder, ".seamline");
  const path = join(applicationFolder, keyFile);
  const found = await read(path);
  if (found !== undefined) return found;
  const temporary = join(folder, `key-${process.pid}-${randomBytes(6).toString("hex")}`);
  const make = async (): Promise<void> => {
    await makeFolder(folder);
    // The folder has a secret and build output, so git must ignore it even if the application
    // forgot to.
    await writeFile(join(folder, ".gitignore"), "*\n", { flag: "wx" }).catch(unlessExists);
    await writeFile(temporary, `${randomBytes(32).toString("base64url")}\n`, {
      mode: 0o600,
      flag: "wx",
    });
    await chmod(temporary, 0o600);
    // A link fails if the name exists, and the file is complete as soon as it has the name.
    await link(temporary, path).catch(unlessExists);
  };
  try {
    await writing(path, "set 'trustKey' in the configuration", make);
  } finally {
    // If it can't be removed, it couldn't be written either.
    await rm(temporary, { force: true }).catch(() => {});
  }
  const key = await read(path);
  if (key === undefined)
    throw new Error(`The trust key at ${path} was removed during the start. Start again`);
  return key;
}

async function read(path: string): Promise<string | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(
      `Can't read the trust key at ${path} (${(error as NodeJS.ErrnoException).code}). Set 'trustKey' in the configuration`,
      {
        cause: error,
      },
    );
  }
  const key = text.trim();
  const problem = trustKeyProblem(key);
  if (problem !== undefined)
    throw new Error(
      `The trust key at ${path} ${problem}. Remove the file, and the next start writes a new one`,
    );
  return key;
}

/** Why a key can't be used, or `undefined`. It is sent as a header. */
export function trustKeyProblem(key: string): string | undefined {
  if (key === "") return "is empty";
  if (!/^[\x21-\x7e]+$/.test(key))
    return "contains characters other than printable ASCII without spaces";
  return undefined;
}

/** Any server at an address that a service dials gets a proof of the key, and can guess offline for years. */
const shortestKey = 32;

/** Why a service that others can reach can't start with this key. `file` is its configuration. */
export function shortKeyProblem(
  trustKey: TrustKey,
  { url, trustKey: configured }: Pick<Config, "url" | "trustKey">,
  file: string,
): Problem | undefined {
  const keys = keysOf(trustKey);
  const at = keys.findIndex((key) => key.length < shortestKey);
  if (at === -1 || isLoopback(new URL(url).hostname)) return undefined;
  const which = typeof trustKey === "string" ? "it" : `key ${at + 1} of the list`;
  return {
    ...(configured === undefined ? { file: keyFile } : { file, path: "trustKey" }),
    message: `${which} has ${keys[at]?.length} characters: at least ${shortestKey} are needed, as 'url' isn't a loopback address`,
    hint: "Make one: node -p \"crypto.randomBytes(32).toString('base64url')\"",
  };
}

/**
 * A warning about a key that can be guessed, which is allowed.
 */
export function trustKeyWarning(trustKey: TrustKey): string | undefined {
  return keysOf(trustKey).some((key) => key.length < 16)
    ? "the trust key is shorter than 16 characters: anyone who guesses it can join this deployment"
    : undefined;
}

function unlessExists(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}
