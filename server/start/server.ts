// The options of `startServer`, and the running service that it returns.

import type { IncomingMessage, ServerResponse } from "node:http";

import type { AnswerUpgrade } from "../http/mounted/node-upgrade.ts";
import type { CallerInfo } from "../http/mounted/web-handler.ts";
import type { HealthCheck } from "../../src/http/health.ts";
import type { RunProcedure } from "../../src/types/imported.ts";
import type { Middleware } from "../../src/http/middleware.ts";
import type { Log } from "../../src/base/ports.ts";
import type { ConfigInput, Mode } from "../config/config-types.ts";
import type { ServerInfo } from "./server-info.ts";

/** How a service starts. */
export interface ServerOptions {
  /**
   * A configuration file, or the configuration itself. If it is left out: `--config FILE`, else the
   * file that the variable SEAMLINE_CONFIG names, else `./seamline.json`.
   */
  readonly config?: string | ConfigInput | object;
  /**
   * The application folder [the working directory]. Paths in the configuration are relative to it.
   */
  readonly root?: string;
  /**
   * Stop on SIGTERM and SIGINT, end at once on a second one, log unhandled rejections instead of
   * ending the process, and leave the gateway before an uncaught exception ends the process with
   * code 1 [true].
   */
  readonly signals?: boolean;
  /** `true` builds before the start, `false` never. If it is left out, a missing build is made. */
  readonly build?: boolean;
  /**
   * `true` turns the console on, whatever the configuration says. Gateway, proxy and standalone
   * have one.
   */
  readonly console?: boolean;
  /** Replaces the lines on the terminal. */
  readonly log?: Log;
}

/** A running service. */
export interface Server {
  /** Where it listens. */
  readonly url: string;
  /** The `mode` of its configuration. */
  readonly mode: Mode;
  /** Its current state: segments, members, the services that it depends on. */
  readonly info: ServerInfo;
  /** Registers a health check; an existing one with this name is replaced. */
  addHealthCheck(name: string, check: HealthCheck): void;
  /** Adds middleware around incoming calls; the last one added runs first. */
  addMiddleware(middleware: Middleware): void;
  /** Runs a procedure here or on another node. Only a node or a standalone can start a call. */
  readonly runProcedure: RunProcedure;
  /**
   * A link to the console for one person, valid once and for ten minutes; `undefined` if the
   * console is off.
   */
  consoleLink(): string | undefined;
  /**
   * Leaves the gateway, serves on for a second, lets requests in flight finish, and closes.
   * Requests that still run after `drainMs` are cut. A second call waits for the first.
   */
  stop(): Promise<void>;
}

/** Options for a service inside of another server. */
export type HandlerOptions = Omit<ServerOptions, "signals">;

/** A service inside of another server, at the root of its addresses. */
export interface Handler extends Pick<
  Server,
  "mode" | "info" | "addHealthCheck" | "addMiddleware" | "runProcedure" | "consoleLink"
> {
  /**
   * Answers a request of the web: with 404 if it isn't for the service. Works without `this`.
   * `info.address` is the address of the caller, which `getContext().request` then has.
   */
  readonly fetch: (request: Request, info?: CallerInfo) => Promise<Response>;
  /**
   * Answers a request of `node:http`, or of HTTP/2. Calls `next`, with the body unread, if it is for
   * no procedure, route or file of the service; without `next` that is a 404. Works without `this`,
   * as middleware of Express and Connect.
   */
  readonly node: (message: IncomingMessage, response: ServerResponse, next?: () => void) => void;
  /**
   * Answers a request for an upgrade, with which pages and other services of the deployment ask for a link. Returns
   * `false`, with the socket untouched, if it is for something else. Works without `this`.
   */
  readonly upgrade: AnswerUpgrade;
  /** Leaves the gateway, lets requests in flight finish, and ends, as `Server.stop`. */
  close(): Promise<void>;
}
