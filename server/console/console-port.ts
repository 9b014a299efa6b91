// The interface between a service and its console, which watches the service's role as an observer.

import type { Host, HttpRequest, HttpResponse } from "../../src/base/ports.ts";
import type { TrustKey } from "../../src/http/trust.ts";
import type { MemberProcedure } from "../../src/roles/members/member-details.ts";
import type { Observer } from "../../src/roles/pipeline/observer.ts";
import type { DevelopmentState } from "../../src/types/development-state.ts";

export type { CallerName, CallTypes } from "../types/call-types.ts";
export type { Literal, Type } from "../types/model.ts";

/** `/svc/console` of one service: the observer of the role that it shows. */
export interface Console extends Observer {
  /** A new link for one user: `/svc/console#token=…` below `base` [the address of the role]. */
  link(base?: string): string;
}

export interface ConsoleOptions {
  readonly trustKey: TrustKey;
  /** The service listens with https: the cookie is `Secure`. */
  readonly secure: boolean;
  /** The service masks errors, so the console doesn't show what callers outside don't get. */
  readonly masks: boolean;
  /** The page's own files by name (`index.html`, `console.js` …). */
  readonly file: (name: string, request: HttpRequest) => Promise<HttpResponse | undefined>;
  /** In development only. */
  readonly controls?: Controls | undefined;
}

export type CreateConsole = (host: Host, options: ConsoleOptions) => Console;

/**
 * The console's actions in development. All methods reject with `BadRequest` if the node, procedure or
 * segment doesn't exist.
 */
export interface Controls {
  state(): DevelopmentState;
  /**
   * The procedures of the whole application. Returns the same list until something in it changes.
   */
  procedures(): readonly MemberProcedure[];
  kill(node: string): Promise<void>;
  start(node: string): Promise<void>;
  /** Rewrites the segment files so that only `segment` names the procedure. */
  move(fqn: string, segment: string): Promise<void>;
}
