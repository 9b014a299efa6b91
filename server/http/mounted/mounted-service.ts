// A role in a server that isn't ours: which requests it takes, and mistakes of the mounting.

import type { LinkAnswer, LinkUpgrade } from "../../../src/base/ports/links.ts";
import type { HttpRequest, HttpResponse } from "../../../src/base/ports.ts";
import { answerHeaders, mediaTypes } from "../../../src/base/protocol.ts";
import { pathOf } from "../../../src/http/router.ts";
import type { HeldMemory } from "../../host/held-memory.ts";
import type { HttpLimits } from "../server-request.ts";
import type { OpenMountedRequests } from "./open-requests.ts";

/** The part of a role that is used here. */
export interface MountedRole {
  handle(request: HttpRequest): Promise<HttpResponse>;
  find(request: HttpRequest): Promise<HttpResponse | undefined>;
  isTaken(target: string): boolean;
  /** Answers another service that asks for a link. */
  readonly accept?: ((upgrade: LinkUpgrade) => LinkAnswer) | undefined;
  /** `/shop`, or "" at the root. */
  readonly base: string | undefined;
}

/** Answers requests of a server that isn't ours. */
export interface MountedService {
  readonly role: MountedRole;
  readonly memory: HeldMemory;
  readonly limits: HttpLimits;
  readonly requests: OpenMountedRequests;
  /** Called with an error that isn't a request's, such as an answer that broke off. */
  readonly onFault: (fault: unknown) => void;
  /** Called for each request that shows a mistake in the mounting. */
  readonly onMistake: (message: string) => void;
}

/** 500 with the mistake of the mounting. */
export function mistake({ onMistake }: MountedService, message: string): HttpResponse {
  onMistake(message);
  const headers = { "content-type": mediaTypes.text, ...answerHeaders };
  return { status: 500, headers, body: message };
}

export const bodyWasRead =
  "This request's body has been read already: mount Seamline before body parsers";

/** The message for a service below a prefix that isn't the application's base. */
export function belowPrefix(prefix: string): string {
  return `Seamline is mounted below '${prefix}': set base: ${JSON.stringify(`${prefix}/`)} in the Vite configuration and build again, or mount it at the root, since pages and other services expect /rpc and /svc there`;
}

/** A prefix before one of our paths, in the request of a server that leaves prefixes on. */
export function prefixOf({ target }: Pick<HttpRequest, "target">): string | undefined {
  return /^(\/.*?)\/(?:rpc|svc)\//.exec(pathOf(target))?.[1];
}
