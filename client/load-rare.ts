// Loads /svc/rare.js and /svc/plain.js, when a page first needs one of their functions.

import { NodeNotAvailable } from "../src/base/errors.ts";

/** Functions that few pages need. */
export type Rare = typeof import("./rare.ts");

/** Says which file of the runtime can't be loaded. */
export const unavailable =
  (file: string) =>
  (cause: unknown): never => {
    throw new NodeNotAvailable(`Can't load /svc/${file}.js`, { cause });
  };

/** Functions that pages without a manifest of their own need. */
export const loadPlain = (): Promise<typeof import("./plain.ts")> =>
  import("./plain.ts").catch(unavailable("plain"));

export const loadRare = (): Promise<Rare> => import("./rare.ts").catch(unavailable("rare"));
