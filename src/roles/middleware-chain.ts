// The middleware of a service, as it grows.

import { type CorsMiddleware, isCors } from "../http/cors.ts";
import { type Middleware, nameMiddleware, ownName } from "../http/middleware.ts";

export class MiddlewareChain {
  readonly #around: Middleware[] = [];
  #cors: CorsMiddleware | undefined;
  #size = 0;

  /** What runs around calls: what was added last runs first. */
  get around(): readonly Middleware[] {
    return this.#around;
  }

  /** What pages of other origins may do. It runs around nothing: refusals need its headers, too. */
  get cors(): CorsMiddleware | undefined {
    return this.#cors;
  }

  add(middleware: Middleware): void {
    this.#size++;
    if (isCors(middleware)) this.#cors = middleware;
    else this.#around.push(middleware);
    nameMiddleware(middleware, ownName(middleware) ?? `number ${this.#size} (in the order added)`);
  }
}
