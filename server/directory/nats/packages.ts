// Finds the application's packages of NATS, when a configuration first needs them.

import { createRequire } from "node:module";
import { join } from "node:path";

/** The parts of them that are used. */
export interface NatsPackages {
  readonly core: typeof import("@nats-io/transport-node");
  readonly jetstream: typeof import("@nats-io/jetstream");
  readonly kv: typeof import("@nats-io/kv");
}

const names = {
  core: "@nats-io/transport-node",
  jetstream: "@nats-io/jetstream",
  kv: "@nats-io/kv",
} as const;

/** The versions that this release is tested with, as in its package.json. */
export const natsVersions = "~3.3.1";

/** `root` is the application folder. Throws an error that says what to install. */
export function natsPackages(
  root: string,
  places: readonly string[] = [join(root, "package.json"), import.meta.url],
): NatsPackages {
  const load = (name: string): unknown => {
    // Where the package is linked into an application, what stands beside it is its own.
    for (const from of places) {
      const require = createRequire(from);
      try {
        require.resolve(name);
      } catch {
        continue;
      }
      return require(name);
    }
    const wanted = Object.values(names).map((each) => `"${each}@${natsVersions}"`);
    throw new Error(
      `'directory' needs the package ${name}, which isn't installed: npm install ${wanted.join(" ")}`,
    );
  };
  return {
    core: load(names.core),
    jetstream: load(names.jetstream),
    kv: load(names.kv),
  } as NatsPackages;
}
