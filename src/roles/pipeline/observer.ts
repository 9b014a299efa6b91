// The port through which a role reports events. The console is an observer: roles know nothing else about it, and
// it may import nothing else of them.

import type { ServerNode } from "../application/load-node.ts";
import type { Health } from "../../http/health.ts";
import type { ServerManifest } from "../../base/manifest.ts";
import type { Trust } from "../../http/trust.ts";
import type { HttpRequest, HttpResponse, Peer } from "../../base/ports.ts";
import type { CallFigures } from "../../base/ports/telemetry.ts";
import type { Way } from "../links/dialled-link.ts";
import type { Directory } from "../directory/directory.ts";
import type { Members } from "../members/members.ts";

export { hiddenError } from "./refuse.ts";
export { describeTypes } from "../application/types-endpoint.ts";
export { proceduresIn } from "../members/manifest-procedures.ts";
export { describeNode } from "../members/member-details.ts";
export type { ListedMember } from "../members/member-endpoints.ts";
export { conditionOf, type Member, type Members } from "../members/members.ts";
export type { Directory, DirectoryMember } from "../directory/directory.ts";
export type { ListedGateway } from "../upstreams/gateway-list.ts";

export type RpcHandler = (request: HttpRequest) => Promise<HttpResponse>;

/** Observes one role. */
export interface Observer {
  /** Undefined without viewers. Reading this property is all that a call pays for that. */
  readonly calls: CallObserver | undefined;
  /** Called once by the role, when it is created. */
  attach(role: ObservedRole): void;
  /** The role starts, and listens at `url`. */
  started(url: string): void;
  stopped(): void;
  /** Answers requests for the observer's own endpoints; `undefined` for all others. */
  handle(request: HttpRequest, trust: Trust): Promise<HttpResponse | undefined>;
}

export interface CallObserver {
  /** Has `rpc` answer the call, and notes the outcome. */
  call(request: HttpRequest, rpc: RpcHandler): Promise<HttpResponse>;
  /** The request is sent to this member. */
  sent(request: HttpRequest, member: string): void;
}

/** The parts of a role that an observer may use. */
export interface ObservedRole {
  readonly subject: Subject;
  readonly health: Health;
  /** The endpoint of `/rpc`. */
  readonly rpc: RpcHandler;
  readonly calls: () => CallFigures;
}

/** The figures of each kind of role. */
export type Subject =
  | {
      readonly mode: "gateway";
      readonly members: Pick<Members, "all">;
      /** The gateway's process. */
      readonly instance: string;
      /** Members of the whole deployment, if it has a directory. */
      readonly directory: Pick<Directory, "watchMembers" | "listOf"> | undefined;
    }
  | {
      readonly mode: "proxy";
      /** The gateways or the node that take the calls. */
      readonly upstreams: Peer & { readonly ways: readonly Way[] };
      /** The application's manifest, if the proxy can load it. */
      readonly manifest: (() => Promise<ServerManifest>) | undefined;
    }
  | {
      readonly mode: "standalone";
      readonly name: string | undefined;
      readonly node: Pick<ServerNode, "registry" | "routes" | "checks" | "observe">;
      readonly segments: () => readonly string[];
    };
