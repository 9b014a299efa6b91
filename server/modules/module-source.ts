// Where a node's modules come from: a repository over HTTP, or the output folder of a build on this
// machine.

import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { bounded } from "../../src/base/aborts.ts";
import type { ServerManifest } from "../../src/base/manifest.ts";
import { fromStored, type StoredManifest } from "../../src/codec/stored-manifest.ts";
import {
  type Clock,
  type IncomingResponse,
  isLocalFailure,
  type Log,
  type Transport,
  TransportError,
} from "../../src/base/ports.ts";
import { paths } from "../../src/base/protocol.ts";
import { trustKeyHeader } from "../../src/http/trust.ts";
import { manifestFiles } from "../files/sources.ts";
import { collected } from "../../src/http/bodies.ts";

export interface ModuleSource {
  manifest(): Promise<ServerManifest>;
  /** The bytes of a file in the manifest. Its hash isn't checked here. */
  file(name: string): Promise<Uint8Array>;
}

/** The server part of a build's output; `read` is its manifest, if it has been read. */
export function folderSource(folder: string, read?: ServerManifest): ModuleSource {
  return {
    async manifest() {
      if (read !== undefined) return read;
      const path = join(folder, manifestFiles.server);
      return parseManifest(await readFile(path, "utf8"), path);
    },
    file: (name) => readFile(join(folder, "modules", name)),
  };
}

export interface RepositoryOptions {
  readonly url: string;
  readonly trustKey: string;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the node stops; ends requests and waits. */
  readonly signal: AbortSignal;
  /** The file that keeps the last manifest, for starts without the repository. */
  readonly keptManifest: string;
}

/** How long a node tries to reach its repository before it gives up. */
const giveUpMs = 60_000;
/** For one request: a repository that hangs counts as unavailable. */
const requestMs = 10_000;
const retryMs = { first: 250, max: 8_000 };

/**
 * The repository can't be reached or can't answer, which may pass. The message continues "the
 * repository …".
 */
class RepositoryUnavailable extends Error {
  /** What to do if it doesn't pass. */
  readonly hint: string;
  constructor(message: string, options?: ErrorOptions & { readonly hint?: string }) {
    super(message, options);
    this.hint = options?.hint ?? "Start it, or correct 'repository' in the configuration";
  }
}

/** A repository. It gives modules to holders of the trust key. */
export function repositorySource(options: RepositoryOptions): ModuleSource {
  const { url, clock, log, keptManifest, signal } = options;

  const get = async (path: string): Promise<IncomingResponse> => {
    const late = (): Error =>
      new RepositoryUnavailable(`didn't answer within ${requestMs / 1_000} s`);
    try {
      const answer = await bounded(signal, clock, requestMs, late, (ended) =>
        collected(
          options.transport.send({
            url: url + path,
            method: "GET",
            headers: trustKeyHeader(options.trustKey),
            signal: ended,
            ...(path === paths.serverManifest && { control: true }),
          }),
        ),
      );
      if (answer.status >= 500 || answer.status === 429)
        throw new RepositoryUnavailable(`answered ${answer.status}`);
      return answer;
    } catch (error) {
      if (error instanceof TransportError) {
        // A failure of this host: nothing is wrong with the repository or its address.
        throw new RepositoryUnavailable(error.message.replace(`${url} `, ""), {
          cause: error,
          ...(isLocalFailure(error) && {
            hint: "Free some resources, and start this service again",
          }),
        });
      }
      throw error;
    }
  };

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const end = (): void => {
        cancel();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const cancel = clock.after(ms, end);
      signal.addEventListener("abort", end);
    });

  const retried = async (path: string): Promise<IncomingResponse> => {
    const started = clock.now();
    for (let wait = retryMs.first; ; wait = Math.min(wait * 2, retryMs.max)) {
      try {
        return await get(path);
      } catch (error) {
        if (!(error instanceof RepositoryUnavailable) || signal.aborted) throw error;
        const left = started + giveUpMs - clock.now();
        if (left <= 0)
          throw new Error(
            `The repository at ${url} could not be reached for ${giveUpMs / 1_000} s: it ${error.message}. ${error.hint}`,
            {
              cause: error,
            },
          );
        if (wait === retryMs.first)
          log.info(
            `the repository at ${url} ${error.message}; trying again for ${giveUpMs / 1_000} s`,
          );
        // Jitter, so that nodes that lost the same repository don't all return at the same moment.
        await pause(Math.min(left, wait * (0.75 + Math.random() / 2)));
      }
    }
  };

  return {
    async manifest() {
      const kept = await readFile(keptManifest, "utf8").catch(() => undefined);
      let answer: IncomingResponse;
      try {
        answer =
          kept === undefined
            ? await retried(paths.serverManifest)
            : await get(paths.serverManifest);
      } catch (error) {
        if (kept === undefined || !(error instanceof RepositoryUnavailable)) throw error;
        const manifest = parseManifest(kept, keptManifest);
        log.warn(
          `the repository at ${url} ${error.message}: starting from the cached revision ${manifest.revision}`,
        );
        return manifest;
      }
      if (answer.status !== 200) throw refused(url, answer.status);
      const text = Buffer.from(answer.body).toString("utf8");
      const manifest = parseManifest(text, url + paths.serverManifest);
      if (text !== kept) await keep(keptManifest, text);
      return manifest;
    },
    async file(name) {
      const answer = await retried(
        paths.modules + name.split("/").map(encodeURIComponent).join("/"),
      );
      if (answer.status === 200) return answer.body;
      throw new Error(
        `The repository at ${url} answered ${answer.status} for the module file ${name}: it has another build by now. Start this node again`,
      );
    },
  };
}

function refused(url: string, status: number): Error {
  // To callers without the key a repository answers as if it had no modules.
  const reason =
    status === 404 || status === 401
      ? "it isn't a repository, or this node has another trust key. Services in different folders or on different machines need the same 'trustKey'"
      : "is it a repository?";
  return new Error(`The repository at ${url} answered ${status} for its modules: ${reason}`);
}

async function keep(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
  await writeFile(temporary, text);
  await rename(temporary, path);
}

const fileName = /^(?!\.{1,2}(?:\/|$))[^/\\\0]+(?:\/(?!\.{1,2}(?:\/|$))[^/\\\0]+)*$/;

/**
 * Reads a server manifest, and checks what files are written by: names stay in their folder, hashes
 * are hashes.
 */
export function parseManifest(text: string, where: string): ServerManifest {
  const wrong = (what: string): Error =>
    new Error(
      `${where} isn't a manifest that this version of Seamline can use: ${what}. Build again`,
    );
  let stored: Partial<ServerManifest | StoredManifest> | null;
  try {
    stored = JSON.parse(text) as typeof stored;
  } catch {
    throw wrong("it isn't JSON");
  }
  let manifest: Partial<ServerManifest>;
  try {
    manifest = fromStored(stored);
  } catch (error) {
    throw wrong((error as Error).message);
  }
  if (typeof manifest.revision !== "string" || !/^\w[\w.-]{0,127}$/.test(manifest.revision))
    throw wrong("it has no revision");
  if (typeof manifest.files !== "object" || manifest.files === null)
    throw wrong("it lists no files");
  for (const list of ["procedures", "classes", "browserSegments"] as const)
    if (!Array.isArray(manifest[list])) throw wrong(`it lists no ${list}`);
  for (const map of ["segments", "modules", "imports"] as const)
    if (typeof manifest[map] !== "object" || manifest[map] === null)
      throw wrong(`it has no ${map}`);
  for (const [name, record] of Object.entries(manifest.files)) {
    if (!fileName.test(name) || name === "package.json")
      throw wrong(`it names a file ${JSON.stringify(name)}`);
    if (!/^sha256-[A-Za-z0-9+/]{43}=$/.test(record?.integrity))
      throw wrong(`the file ${name} has no hash`);
    if (!Array.isArray(record.imports)) throw wrong(`the file ${name} has no list of imports`);
  }
  return manifest as ServerManifest;
}
