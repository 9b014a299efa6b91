// Loads /svc/rare.js and /svc/plain.js, when a page first needs one of their functions.

import { unavailable } from "./unavailable.ts";

/** Functions that few pages need. */
export type Rare = typeof import("./rare.ts");

/** Functions that pages without a manifest of their own need. */
export const loadPlain = (): Promise<typeof import("./plain.ts")> =>
  import("./plain.ts").catch(unavailable("plain"));

export const loadRare = (): Promise<Rare> => import("./rare.ts").catch(unavailable("rare"));
