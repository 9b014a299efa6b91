// Sources of a node's modules: a repository over HTTP, or the output folder of a build on this machine.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { bounded } from "../../src/base/aborts.ts";
import { BackOff } from "../../src/base/back-off.ts";
import type { ServerManifest } from "../../src/base/manifest.ts";
import {
  type Clock,
  type IncomingResponse,
  isLocalFailure,
  type Log,
  type Peer,
  TransportError,
} from "../../src/base/ports.ts";
import { paths, revisionQuery } from "../../src/base/protocol.ts";
import { readBuiltModule } from "../files/kept-builds.ts";
import { manifestFiles } from "../files/sources.ts";
import { replaceFile } from "./content-store.ts";
import type { Needs } from "./lack.ts";
import { parseManifest } from "./parse-manifest.ts";
import { collected } from "../../src/http/bodies.ts";
import { fileRequestMs, giveUpMs, retryMs } from "./times.ts";

export interface ModuleSource {
  manifest(): Promise<ServerManifest>;
  /** The bytes of a file in the manifest of this revision. Its hash isn't checked here. */
  file(name: string, revision: string): Promise<Uint8Array>;
}

/** The server part of a build's output; `read` is its manifest, if it has been read. */
export function folderSource(folder: string, read?: ServerManifest): ModuleSource {
  let current = read;
  return {
    async manifest() {
      const path = join(folder, manifestFiles.server);
      return (current ??= parseManifest(await readFile(path, "utf8"), path));
    },
    async file(name) {
      // The folder may hold another build by now, which keeps this one.
      const bytes = current && (await readBuiltModule(folder, current, name));
      if (bytes !== undefined) return bytes;
      const path = join(folder, "modules", name);
      throw new Error(
        `The build of revision ${current?.revision} is damaged: ${path} is missing, or was changed after the build. Build again`,
      );
    },
  };
}

export interface RepositoryOptions {
  readonly url: string;
  /** Sends requests to the repository. Rejects with a {@link TransportError} for failures that may pass. */
  readonly peer: Peer;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the node stops; ends requests and waits. */
  readonly signal: AbortSignal;
  /** The file that keeps the last manifest, for starts without the repository. */
  readonly keptManifest: string;
  readonly needs?: Needs | undefined;
}

/**
 * The repository can't be reached or can't answer, which may pass. The message continues "the
 * repository …".
 */
class RepositoryUnavailable extends Error {
  /** Advice for the case that it doesn't pass. */
  readonly hint: string;
  /** Continues "The repository at … ": the state in which it stayed. */
  readonly outcome: string = "could not be reached";
  constructor(message: string, options?: ErrorOptions & { readonly hint?: string }) {
    super(message, options);
    this.hint = options?.hint ?? "Start it, or correct 'repository' in the configuration";
  }
}

/**
 * The repository answers with a build that this service can't use. It passes when the service was
 * started before its repository in a deploy.
 */
class BuildUnusable extends RepositoryUnavailable {
  override readonly outcome: string = "had no build for this service";
}

/** {@link BuildUnusable} because of names in the configuration, which may be mistakes there. */
class BuildLacking extends BuildUnusable {}

/** A repository. It serves modules to holders of the trust key. */
export function repositorySource(options: RepositoryOptions): ModuleSource {
  const { url, clock, log, keptManifest, signal } = options;

  const get = async (path: string): Promise<IncomingResponse> => {
    const late = (): Error =>
      new RepositoryUnavailable(`didn't answer within ${fileRequestMs / 1_000} s`);
    try {
      const answer = await bounded(signal, clock, fileRequestMs, late, (ended) =>
        collected(
          options.peer.send({
            url: url + path,
            method: "GET",
            headers: {},
            from: "key",
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
        const isLocal = isLocalFailure(error) || isLocalFailure(error.cause);
        throw new RepositoryUnavailable(whatIsSaid(error, url), {
          cause: error,
          ...(isLocal && { hint: "Free some resources, and start this service again" }),
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

  const retried = async <T>(attempt: () => Promise<T>): Promise<T> => {
    const started = clock.now();
    let logged: string | undefined;
    const backOff = new BackOff(retryMs);
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof RepositoryUnavailable) || signal.aborted) throw error;
        const left = started + giveUpMs - clock.now();
        if (left <= 0)
          throw new Error(
            `The repository at ${url} ${error.outcome} for ${giveUpMs / 1_000} s: it ${error.message}. ${error.hint}`,
            {
              cause: error,
            },
          );
        // Log each kind once: a repository that restarts with the old build is both in turn.
        if (logged !== error.outcome)
          log.info(
            `the repository at ${url} ${error.message}; trying again for ${Math.ceil(left / 1_000)} s`,
          );
        logged = error.outcome;
        await pause(Math.min(left, backOff.next()));
      }
    }
  };

  const usable = (text: string, where: string): ServerManifest => {
    let manifest: ServerManifest;
    try {
      manifest = parseManifest(text, where);
    } catch (error) {
      const { message } = error as Error;
      const hint = "Deploy the new build there";
      throw new BuildUnusable(`has another build: ${message}`, { cause: error, hint });
    }
    const lack = options.needs?.lackOf(manifest);
    if (lack === undefined) return manifest;
    throw new BuildLacking(`has revision ${manifest.revision}: ${lack.message}`, lack);
  };

  /** The manifest that was kept, if this service can start with it. */
  const cached = (kept: string): ServerManifest | undefined => {
    try {
      return usable(kept, keptManifest);
    } catch (error) {
      // Then only the repository can help.
      if (error instanceof BuildUnusable) return undefined;
      throw error;
    }
  };

  /** Throws anything but {@link BuildUnusable} if waiting won't help. */
  const usableSoon = async (text: string, where: string): Promise<ServerManifest> => {
    try {
      return usable(text, where);
    } catch (error) {
      if (!(error instanceof BuildLacking) || (await options.needs!.metHere())) throw error;
      const found = `The repository at ${url} ${error.message}`;
      throw new Error(`${found.replace(/[^?]$/, "$&.")} ${error.hint}`, { cause: error });
    }
  };

  const current = async (kept: string | undefined): Promise<ServerManifest> => {
    const answer = await get(paths.serverManifest);
    if (answer.status !== 200) throw refused(url, answer.status);
    const text = Buffer.from(answer.body).toString("utf8");
    const manifest = await usableSoon(text, url + paths.serverManifest);
    if (text !== kept) await replaceFile(keptManifest, text);
    return manifest;
  };

  /** The revision that the repository serves now; `undefined` if its manifest can't be read. */
  const served = async (): Promise<string | undefined> => {
    const { body } = await retried(() => get(paths.serverManifest));
    try {
      return parseManifest(Buffer.from(body).toString("utf8"), url).revision;
    } catch {
      // It has another build, in a form of another release.
      return undefined;
    }
  };

  return {
    async manifest() {
      const kept = await readFile(keptManifest, "utf8").catch(() => undefined);
      if (kept === undefined) return await retried(() => current(kept));
      try {
        return await current(kept);
      } catch (error) {
        if (!(error instanceof RepositoryUnavailable)) throw error;
        const manifest = error instanceof BuildUnusable ? undefined : cached(kept);
        if (manifest === undefined) return await retried(() => current(kept));
        log.warn(
          `the repository at ${url} ${error.message}: starting from the cached revision ${manifest.revision}`,
        );
        return manifest;
      }
    },
    async file(name, revision) {
      const path = paths.modules + name.split("/").map(encodeURIComponent).join("/");
      const answer = await retried(() => get(path + revisionQuery + revision));
      if (answer.status === 200) return answer.body;
      if (answer.status === 404 && (await served()) === revision)
        throw new Error(
          `The repository at ${url} serves revision ${revision} without its module file ${name}, which is missing there or was changed after the build. Build again there, and restart it`,
        );
      throw new Error(
        `The repository at ${url} answered ${answer.status} for the module file ${name} of revision ${revision}: it has another build by now, and serves none that is as old. Start this node again, or raise 'revisions' there`,
      );
    },
  };
}

function refused(url: string, status: number): Error {
  return new Error(
    `The repository at ${url} answered ${status} for its modules: build again there, and restart it`,
  );
}

/** The reason for a missing answer; continues "the repository at …". */
function whatIsSaid(error: TransportError, url: string): string {
  // The reason why there is no link says more than the fact.
  const { message } = !error.sent && error.cause instanceof Error ? error.cause : error;
  for (const subject of [`${url} `, "it "])
    if (message.startsWith(subject)) return message.slice(subject.length);
  return `gave no answer (${message})`;
}
