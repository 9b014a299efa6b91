// Where a node's modules come from: a repository over HTTP, or the output folder of a build on this machine.

import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { bounded } from "../src/bounded.ts";
import type { ServerManifest } from "../src/manifest.ts";
import {
  type Clock,
  type IncomingResponse,
  isLocalFailure,
  type Log,
  type Transport,
  TransportError,
} from "../src/ports.ts";
import { serviceHeaders, paths } from "../src/protocol.ts";

export interface ModuleSource {
  manifest(): Promise<ServerManifest>;
  /** The bytes of a file of the manifest, unchecked. */
  file(name: string): Promise<Uint8Array>;
}

/** The server's part of a build's output. */
export function folderSource(folder: string): ModuleSource {
  return {
    async manifest() {
      const path = join(folder, "manifest.json");
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
  /** Aborted when the node stops: it ends requests and waits. */
  readonly signal: AbortSignal;
  /** The file that keeps the last manifest, for starts without the repository. */
  readonly keptManifest: string;
}

/** How long a node tries to reach its repository before it gives up (R10), in ms. */
const patience = 60_000;
// For one request. A repository that hangs is away as well.
const requestTime = 10_000;
const backOff = { first: 250, most: 8_000 };

/** It is not there, or not able to answer: worth another try. */
class Away extends Error {
  /** What may help, if that goes on. */
  readonly wayOut: string;
  constructor(message: string, options?: ErrorOptions & { readonly wayOut?: string }) {
    super(message, options);
    this.wayOut = options?.wayOut ?? "Start it, or correct 'repository' in the configuration";
  }
}

/** A repository (§1.3), which gives modules to those who hold the trust key. */
export function repositorySource(options: RepositoryOptions): ModuleSource {
  const { url, clock, log, keptManifest, signal } = options;

  const get = async (path: string): Promise<IncomingResponse> => {
    const late = (): Error => new Away(`did not answer in ${requestTime / 1_000} s`);
    try {
      const answer = await bounded(signal, clock, requestTime, late, (ended) =>
        options.transport.send({
          url: url + path,
          method: "GET",
          headers: { [serviceHeaders.trustKey]: options.trustKey },
          signal: ended,
          ...(path === paths.serverManifest && { control: true }),
        }),
      );
      if (answer.status >= 500 || answer.status === 429)
        throw new Away(`answered ${answer.status}`);
      return answer;
    } catch (error) {
      if (error instanceof TransportError) {
        // Then nothing is wrong with the repository, nor with its address.
        throw new Away(error.message.replace(`${url} `, ""), {
          cause: error,
          ...(isLocalFailure(error) && { wayOut: "Make room, and start this service again" }),
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
    const begun = clock.now();
    for (let wait = backOff.first; ; wait = Math.min(wait * 2, backOff.most)) {
      try {
        return await get(path);
      } catch (error) {
        if (!(error instanceof Away)) throw error;
        const left = begun + patience - clock.now();
        if (left <= 0)
          throw new Error(
            `The repository at ${url} could not be reached for ${patience / 1_000} s: it ${error.message}. ${error.wayOut}`,
            {
              cause: error,
            },
          );
        if (wait === backOff.first)
          log.info(
            `the repository at ${url} ${error.message}; trying again for ${patience / 1_000} s`,
          );
        // Jitter, so that nodes which lost the same repository don't come back to it in one moment.
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
        if (kept === undefined || !(error instanceof Away)) throw error;
        const manifest = parseManifest(kept, keptManifest);
        log.warn(
          `the repository at ${url} ${error.message}: starting from what this node has of revision ${manifest.revision}`,
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
  // For those without the key it is as if there were no modules at all.
  const reason =
    status === 404 || status === 401
      ? "it is no repository, or this node's trust key is not its own. Services in different folders or on different machines need the same 'trustKey'"
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

/** Reads a server's manifest as far as files are written because of it: names stay below their folder, hashes are hashes. */
export function parseManifest(text: string, where: string): ServerManifest {
  const wrong = (what: string): Error =>
    new Error(
      `${where} is no manifest that this version of Seamline can use: ${what}. Build again`,
    );
  let manifest: Partial<ServerManifest> | null;
  try {
    manifest = JSON.parse(text) as Partial<ServerManifest> | null;
  } catch {
    throw wrong("it is no JSON");
  }
  if (manifest?.format !== 1)
    throw wrong(`its format is ${JSON.stringify(manifest?.format)}, and 1 was expected`);
  if (typeof manifest.revision !== "string" || !/^\w[\w.-]{0,127}$/.test(manifest.revision))
    throw wrong("it has no revision");
  if (typeof manifest.files !== "object" || manifest.files === null)
    throw wrong("it lists no files");
  for (const list of ["procedures", "classes", "clients"] as const)
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
