// Loads /svc/rare.js, when a page first needs something of it.

import { NodeNotAvailable } from "../src/base/errors.ts";

/** What few pages need. */
export type Rare = typeof import("./svc/rare.ts");

/** Says which file of the runtime can't be loaded. */
export const unavailable =
  (file: string) =>
  (cause: unknown): never => {
    throw new NodeNotAvailable(`Can't load /svc/${file}.js`, { cause });
  };

export const loadRare = async (): Promise<Rare> =>
  await import("./svc/rare.ts").catch(unavailable("rare"));
