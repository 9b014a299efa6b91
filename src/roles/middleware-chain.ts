// The middleware of a service, as it grows.

import { type CorsMiddleware, isCors } from "../http/cors.ts";
import type { Middleware } from "../http/middleware.ts";

/** What was added last runs first. */
export interface MiddlewareChain {
  readonly list: Middleware[];
  /** Increases with each addition. */
  revision: number;
}

export function createMiddlewareChain(): MiddlewareChain {
  return { list: [], revision: 0 };
}

/** Says what pages of other origins may do. */
export function corsOf({ list }: MiddlewareChain): CorsMiddleware | undefined {
  return list.findLast(isCors);
}
