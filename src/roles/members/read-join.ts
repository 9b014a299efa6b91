// Reads a member's announcement: its address, and its list or the list's digest.

import { BadRequest } from "../../base/errors.ts";
import { areNames, readRoutes, readTimeouts } from "./route-list.ts";
import { type MemberDetails, readMemberDetails, readMemberName } from "./member-details.ts";
import type { Offered } from "./member-list.ts";
import { maxUrlLength } from "../common/limits.ts";
import { parsedUrl } from "../../base/url.ts";

interface Joining {
  /** Where it listens, without a trailing slash. */
  readonly url: string;
  /** Its build, if it says it. */
  readonly revision: string | undefined;
  /** In a join by digest: the rest of the details is in the list. */
  readonly name?: string | undefined;
  readonly about?: MemberDetails | undefined;
}

/** A member with the digest of its list, which may be known, or with the list itself. */
export type JoiningMember = Joining &
  (
    | { readonly digest: string; readonly offered?: undefined }
    | { readonly digest?: undefined; readonly offered: Offered }
  );

/** Whether a value is the SHA-256 of a list. */
export function isDigest(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

/** Throws BadRequest with the field that is wrong. Ignores those that later versions may add. */
export function readJoin(body: Uint8Array): JoiningMember {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw wrong("The body is not JSON");
  }
  const fields = (value ?? {}) as Readonly<Record<string, unknown>>;
  const { procedures, idempotent, timeouts, routes, node, digest, name } = fields;
  const { revision } = fields;
  const url = readUrl(fields["url"]);
  if (digest === undefined && !areNames(procedures))
    throw wrong("'procedures' is not a list of FQNs");
  if (idempotent !== undefined && !areNames(idempotent))
    throw wrong("'idempotent' is not a list of FQNs");
  if (
    revision !== undefined &&
    !(typeof revision === "string" && /^\w[\w.-]{0,127}$/.test(revision))
  )
    throw wrong("'revision' is not that of a build");
  if (!areNames(procedures)) {
    if (!isDigest(digest)) throw wrong("'digest' is not a SHA-256 in 64 lower-case hex digits");
    const known = name === undefined ? undefined : readMemberName(name);
    return { url, revision, digest, name: known };
  }
  return {
    url,
    revision,
    offered: {
      procedures,
      ...(idempotent !== undefined && { idempotent }),
      ...(timeouts !== undefined && { timeouts: Object.fromEntries(readTimeouts(timeouts)) }),
      ...(routes !== undefined && { routes: readRoutes(routes) }),
    },
    about: node === undefined ? undefined : readMemberDetails(node),
  };
}

function readUrl(value: unknown): string {
  const parsed = typeof value === "string" ? parsedUrl(value) : undefined;
  if (
    parsed === undefined ||
    !/^https?:$/.test(parsed.protocol) ||
    parsed.username !== "" ||
    parsed.password !== "" ||
    /[?#]/.test(parsed.href)
  )
    throw wrong("'url' is not an http address");
  // Measure the normalized URL, which is kept: escaping makes nine characters out of some.
  if (parsed.href.length > maxUrlLength)
    throw wrong(`'url' is longer than ${maxUrlLength} characters`);
  return parsed.href.replace(/\/+$/, "");
}

function wrong(what: string): BadRequest {
  return new BadRequest(`${what}; expected {"url": "http://…", "procedures": ["…"]}`);
}
