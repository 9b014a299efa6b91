// A page in memory, for tests of the client.

import type { Browser } from "../../../client/page-parts.ts";
import type { FileRecord, Manifest } from "../../../src/base/manifest.ts";
import type { ModuleNamespace } from "../../../src/base/ports.ts";

export const origin = "http://shop.test";

/** An empty manifest with the given parts. */
export function manifestOf(parts: Partial<Manifest>): Manifest {
  return {
    format: 1,
    revision: "r1",
    procedures: [],
    segments: {},
    classes: [],
    modules: {},
    files: {},
    ...parts,
  };
}

export function fileOf(...imports: string[]): FileRecord {
  return { integrity: "sha256-x", size: 1, imports };
}

export interface TestBrowser extends Browser {
  /** File names, in request order. */
  readonly preloaded: string[];
  readonly imported: string[];
  readonly warnings: string[];
  /** Advances the clock and runs the timers that are due. */
  advance(ms: number): void;
}

/** `modules` by file; fetching any other file fails, as it does after a deploy. */
export function createBrowser(
  modules: Record<string, ModuleNamespace | Promise<ModuleNamespace>>,
  revision?: string,
): TestBrowser {
  const preloaded: string[] = [];
  const imported: string[] = [];
  const warnings: string[] = [];
  let now = 0;
  const timers = new Set<{ at: number; run: () => void }>();
  const fileFor = (url: string): string => url.slice(origin.length + 1);
  return {
    base: origin,
    revision,
    manifest: undefined,
    preloaded,
    imported,
    warnings,
    clock: {
      now: () => now,
      after(ms, run) {
        const timer = { at: now + ms, run };
        timers.add(timer);
        return () => timers.delete(timer);
      },
    },
    advance(ms) {
      now += ms;
      for (const timer of timers)
        if (timer.at <= now) {
          timers.delete(timer);
          timer.run();
        }
    },
    async preload(url) {
      preloaded.push(fileFor(url));
      if (!Object.hasOwn(modules, fileFor(url))) throw new Error("status 404");
    },
    async import(url) {
      imported.push(fileFor(url));
      return (await modules[fileFor(url)]) as ModuleNamespace;
    },
    warn: (line) => warnings.push(line),
  };
}
