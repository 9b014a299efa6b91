// The list of a member's procedures and routes. Members that run the same segments of the same build announce
// the same list, so a gateway holds it once, under the SHA-256 of its text. The text is described in
// src/roles/README.md.

import { BadRequest } from "../../base/errors.ts";
import type { RouteInfo } from "../../runtime/routes.ts";
import { areNames, readRoutes, readTimeouts } from "./route-list.ts";
import { type MemberDetails, readMemberDetails } from "./member-details.ts";

/** The procedures and routes that a node announces. */
export interface Offered {
  readonly procedures: readonly string[];
  /** Those of its procedures that may be sent again. Missing if there are none. */
  readonly idempotent?: readonly string[];
  /** The time limits in ms of those that have one. Missing if there are none. */
  readonly timeouts?: Readonly<Record<string, number>>;
  /** Missing if there are none. */
  readonly routes?: readonly RouteInfo[];
}

/** A node's announcement when it joins. */
export interface Announced extends Offered {
  /** Its build, which isn't part of its list: many builds have the same procedures. */
  readonly revision?: string;
}

/** The details that members may share: all but their names. */
export type ListDetails = Omit<MemberDetails, "name">;

export interface MemberList {
  /** SHA-256 of its text, in hex. */
  readonly digest: string;
  /** FQNs in ascending order, each once. */
  readonly procedures: readonly string[];
  readonly idempotent: ReadonlySet<string>;
  /** In ms, of those that have a time limit. */
  readonly timeouts: ReadonlyMap<string, number>;
  readonly routes: readonly RouteInfo[];
  /** For the console. */
  readonly details: ListDetails | undefined;
}

/** In the order of UTF-16 code units, each once. */
export function sortedNames(names: readonly string[]): readonly string[] {
  const isSorted = names.every((name, at) => at === 0 || (names[at - 1] ?? "") < name);
  return isSorted ? names : [...new Set(names)].toSorted();
}

/** The text of a list: the same for the same content. */
export function textOfList(
  { procedures, idempotent = [], timeouts = {}, routes = [] }: Offered,
  details?: ListDetails,
): string {
  const sortedRoutes = routes
    .map(({ name, method, path }) => ({ name, method, path }))
    .toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
  const limits = Object.entries(timeouts).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return JSON.stringify({
    procedures: sortedNames(procedures),
    ...(idempotent.length > 0 && { idempotent: sortedNames(idempotent) }),
    ...(limits.length > 0 && { timeouts: Object.fromEntries(limits) }),
    ...(sortedRoutes.length > 0 && { routes: sortedRoutes }),
    ...(details && { node: { segments: details.segments, procedures: details.procedures } }),
  });
}

/** The list of a member that sent it without a digest, and without details. */
export function listOf(
  { procedures, idempotent = [], timeouts, routes = [] }: Offered,
  digest: string,
): MemberList {
  return {
    digest,
    procedures: sortedNames(procedures),
    idempotent: new Set(idempotent),
    timeouts: readTimeouts(timeouts),
    routes,
    details: undefined,
  };
}

/** Reads the text of a list. Throws BadRequest. Ignores keys that later versions may add. */
export function readList(text: Uint8Array, digest: string): MemberList {
  const wrong = (what: string): BadRequest =>
    new BadRequest(`${what}; expected the text of a list, {"procedures":["…"]}`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text));
  } catch {
    throw wrong("The list is not JSON in UTF-8");
  }
  const {
    procedures,
    idempotent = [],
    timeouts,
    routes,
    node,
  } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (!areNames(procedures)) throw wrong("'procedures' is not a list of FQNs");
  if (!areNames(idempotent)) throw wrong("'idempotent' is not a list of FQNs");
  for (const [key, names] of Object.entries({ procedures, idempotent }))
    if (sortedNames(names) !== names)
      throw wrong(`'${key}' is not in ascending order, or has a name twice`);
  return {
    digest,
    procedures,
    idempotent: new Set(idempotent),
    timeouts: readTimeouts(timeouts),
    routes: routes === undefined ? [] : readRoutes(routes),
    details: node === undefined ? undefined : readMemberDetails(node),
  };
}

function keyOf({ name, method, path }: RouteInfo): string {
  return `${name} ${method} ${path}`;
}
