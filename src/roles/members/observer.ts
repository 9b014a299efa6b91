// The port through which a role reports what happens. The console is an observer, and this is all
// that roles know about it.

import type { ServerNode } from "../load-node.ts";
import type { Health } from "../../http/health.ts";
import type { ServerManifest } from "../../base/manifest.ts";
import type { HttpRequest, HttpResponse } from "../../base/ports.ts";
import type { Members } from "./members.ts";

export type RpcHandler = (request: HttpRequest) => Promise<HttpResponse>;

/** Observes one role. */
export interface Observer {
  /**
   * Undefined while nobody is watching, which a call finds out by reading this property and
   * nothing more.
   */
  readonly calls: CallObserver | undefined;
  /** By the role, once, when it is made. */
  attach(role: ObservedRole): void;
  /** The role starts, and listens at `url`. */
  started(url: string): void;
  stopped(): void;
  /** Answers requests for the observer's own endpoints; `undefined` for all others. */
  handle(request: HttpRequest): Promise<HttpResponse | undefined>;
}

export interface CallObserver {
  /** Has `rpc` answer the call, and notes the outcome. */
  call(request: HttpRequest, rpc: RpcHandler): Promise<HttpResponse>;
  /** The request is sent to this member. */
  sent(request: HttpRequest, member: string): void;
}

/** What an observer may use of the role. */
export interface ObservedRole {
  readonly subject: Subject;
  readonly health: Health;
  /** The endpoint of `/rpc`. */
  readonly rpc: RpcHandler;
}

/** What each kind of role shows. */
export type Subject =
  | { readonly mode: "gateway"; readonly members: Members }
  | {
      readonly mode: "proxy";
      /** Gateway or node: where calls go. */
      readonly calls: string;
      /** Of the application, if the proxy can load it. */
      readonly manifest: (() => Promise<ServerManifest>) | undefined;
    }
  | {
      readonly mode: "standalone";
      readonly name: string | undefined;
      readonly node: ServerNode;
      readonly segments: () => readonly string[];
    };
