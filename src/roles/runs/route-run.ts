// How a request for a route runs: its function gets a `Request`, and its `Response` is the answer.

import type { Access } from "../../base/manifest.ts";
import type { Args, Call } from "../../base/call.ts";
import type { HttpResponse } from "../../base/ports.ts";
import type { RouteRegistration } from "../../runtime/routes.ts";
import type { Exchange } from "../../wire/exchange.ts";
import { answerOf, applyHeaders, isResponse, webRequest } from "./web-messages.ts";
import type { Run, RunParts } from "./run.ts";

export class RouteRun implements Run {
  readonly timeoutMs = undefined;
  readonly #parts: RunParts;
  readonly #exchange: Exchange;
  readonly #route: RouteRegistration;
  /** The request's headers before middleware runs. */
  #before: ReadonlyMap<string, string> | undefined;
  /** Of the function. */
  #result: unknown;

  constructor(parts: RunParts, exchange: Exchange) {
    this.#parts = parts;
    this.#exchange = exchange;
    this.#route = exchange.route!.info as RouteRegistration;
  }

  get access(): Access {
    return this.#route.access;
  }

  get crossSite(): boolean {
    return this.#route.crossSite === true;
  }

  get guard(): string | undefined {
    return this.#route.guard;
  }

  /** Its body streams. */
  receive(): undefined {
    return undefined;
  }

  load(): undefined {
    return undefined;
  }

  decode(): Args {
    if (!this.#parts.chain.isEmpty) this.#before = new Map(this.#exchange.headers);
    return new Map([["request", webRequest(this.#exchange, this.#route.bodyBytes)]]);
  }

  async invoke(call: Call, args: Args): Promise<unknown> {
    const route = this.#route;
    const request = args.get("request") as Request;
    if (this.#before !== undefined) applyHeaders(request, this.#before, call.headers);
    const { node } = this.#parts;
    this.#result = await node.invoke(route, call, [request], this.#exchange.route?.params);
    // Middleware relies on it.
    if (!isResponse(this.#result)) this.encode(this.#result);
    return this.#result;
  }

  encode(value: unknown): HttpResponse {
    const { host, openAnswers } = this.#parts;
    const answer = answerOf(value, this.#route.name, host.memory, value === this.#result);
    return openAnswers?.follow(this.#route, this.#exchange, answer) ?? answer;
  }
}
