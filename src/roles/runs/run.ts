// One run of a call or of a request for a route, on this node.

import type { Args, Invoke } from "../../base/call.ts";
import type { Access } from "../../base/manifest.ts";
import type { Host, HttpResponse } from "../../base/ports.ts";
import type { Limits } from "../../base/limits.ts";
import type { Classes } from "../../codec/classes.ts";
import type { ServerNode } from "../application/load-node.ts";
import type { MiddlewareChain } from "../pipeline/middleware-chain.ts";
import type { OpenAnswers } from "./open-answers.ts";

export interface RunParts {
  readonly host: Host;
  readonly node: ServerNode;
  readonly chain: MiddlewareChain;
  readonly classes: Classes;
  readonly limits: Limits;
  /** Sent to callers as `x-svc-node`, if it is configured. */
  readonly name: string | undefined;
  /** Where modules are replaced while the service runs. */
  readonly openAnswers?: OpenAnswers | undefined;
}

/** One run of a procedure or of a route's function: the steps in which the two differ, in their order. */
export interface Run {
  readonly access: Access;
  /** Pages of other origins may cause it, without being named by a CORS middleware. */
  readonly crossSite: boolean;
  /** An answer without a run. Throws if the caller can't take this one's answer. */
  early?(): HttpResponse | undefined;
  /** How long it may take, if that is limited, in ms. */
  readonly timeoutMs: number | undefined;
  /** Name of the guard that callers from outside must pass first. */
  readonly guard: string | undefined;
  /** Waits for the body. */
  receive(): Promise<void> | undefined;
  /** Loads what {@link decode} needs and can't wait for. Undefined: there is nothing to load. */
  load(): Promise<void> | undefined;
  decode(): Args;
  /** The function itself, as middleware runs around it. */
  invoke(...given: Parameters<Invoke>): Promise<unknown>;
  encode(value: unknown): HttpResponse | Promise<HttpResponse>;
  /** Its value is given up: middleware has failed. */
  drop?(reason: unknown): void;
}
