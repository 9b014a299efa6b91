// The trust key: what the services of one deployment show each other (decisions §5, trust).

import { randomBytes } from "node:crypto";
import { chmod, link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Where the key of an application folder lies, relative to it. */
export const keyFile = ".seamline/key";

/**
 * The key of this deployment: the configured one, else that of the application folder, written there by whichever role is
 * started first. Roles that start at once agree on one.
 */
export async function readTrustKey(
  applicationFolder: string,
  configured?: string,
): Promise<string> {
  if (configured !== undefined) return configured;
  const folder = join(applicationFolder, ".seamline");
  const path = join(applicationFolder, keyFile);
  const found = await read(path);
  if (found !== undefined) return found;
  const temporary = join(folder, `key-${process.pid}-${randomBytes(6).toString("hex")}`);
  try {
    await mkdir(folder, { recursive: true });
    // The folder holds a secret and build output: never for git, whatever the application's own .gitignore says.
    await writeFile(join(folder, ".gitignore"), "*\n", { flag: "wx" }).catch(unlessThere);
    await writeFile(temporary, `${randomBytes(32).toString("base64url")}\n`, {
      mode: 0o600,
      flag: "wx",
    });
    await chmod(temporary, 0o600);
    // A link is refused when the name is taken, and the file is whole in the moment it has the name.
    await link(temporary, path).catch(unlessThere);
  } catch (error) {
    throw new Error(
      `Can't write a trust key to ${path} (${(error as Error).message}). Make the folder writable, or set 'trustKey' in the configuration`,
      { cause: error },
    );
  } finally {
    await rm(temporary, { force: true });
  }
  const key = await read(path);
  if (key === undefined)
    throw new Error(`The trust key at ${path} was removed while it was read. Start again`);
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

/** Why `key` is no usable trust key: it travels as a header. */
export function trustKeyProblem(key: string): string | undefined {
  if (key === "") return "is empty";
  if (!/^[\x21-\x7e]+$/.test(key))
    return "holds characters other than printable ASCII without spaces";
  return undefined;
}

/** What to say of a key that can be guessed: it is the person's choice, but not one to make unknowingly. */
export function trustKeyWarning(key: string): string | undefined {
  return key.length < 16
    ? "the trust key is shorter than 16 characters: whoever guesses it belongs to this deployment"
    : undefined;
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}
