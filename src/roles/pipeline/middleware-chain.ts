// The middleware of a service, as it grows, and how a call passes it.

import type { Args, Call, Invoke } from "../../base/call.ts";
import type { Host } from "../../base/ports.ts";
import { type CorsMiddleware, isCors } from "../../http/cors.ts";
import { compose, type Middleware, nameMiddleware, ownName } from "../../http/middleware.ts";
import { contextOfCall } from "../../runtime/call-context.ts";

export class MiddlewareChain {
  readonly #host: Pick<Host, "carrier" | "clock" | "log">;
  readonly #around: Middleware[] = [];
  #cors: CorsMiddleware | undefined;
  #size = 0;

  constructor(host: Pick<Host, "carrier" | "clock" | "log">) {
    this.#host = host;
  }

  /** Nothing runs around calls. */
  get isEmpty(): boolean {
    return this.#around.length === 0;
  }

  /** The rights of pages of other origins. It isn't part of the chain: refusals need its headers, too. */
  get cors(): CorsMiddleware | undefined {
    return this.#cors;
  }

  add(middleware: Middleware): void {
    this.#size++;
    if (isCors(middleware)) this.#cors = middleware;
    else this.#around.push(middleware);
    nameMiddleware(middleware, ownName(middleware) ?? `number ${this.#size} (in the order added)`);
  }

  /** Invokes `inner` for a call, through the middleware: the last one added runs first. */
  run(call: Call, args: Args, inner: { readonly invoke: Invoke }): Promise<unknown> {
    if (this.isEmpty) return inner.invoke(call, args);
    const { carrier, clock, log } = this.#host;
    const outer = compose(this.#around, (...given) => inner.invoke(...given), log);
    return carrier.run(contextOfCall(call, clock), () => outer(call, args));
  }
}
