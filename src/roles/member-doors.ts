// The gateway's doors for its members (§3; decisions §5 and §6): joining, renewing, leaving. For holders of the trust key.

import { BadRequest, Unauthorized } from "../errors.ts";
import type { Host, HttpRequest, HttpResponse } from "../ports.ts";
import { answerHeaders, mediaTypes, paths } from "../protocol.ts";
import type { Route } from "../router.ts";
import type { Credentials } from "../trust.ts";
import { type MemberAbout, readAbout } from "./member-about.ts";
import type { MemberAddresses } from "./member-addresses.ts";
import type { Members } from "./members.ts";

export interface MemberDoorsOptions {
  readonly credentials: Credentials;
  readonly limits: { readonly body: number };
  readonly lease: number;
  /** Somebody may want to see what members tell of themselves; else it isn't kept. */
  readonly console?: unknown;
}

/** Characters of a member's address: what is longer is none that anybody has. */
const longestUrl = 2_048;

export function memberRoutes(
  host: Host,
  options: MemberDoorsOptions,
  members: Members,
  addresses: MemberAddresses,
): Route[] {
  const demandKey = (request: HttpRequest): void => {
    if (!options.credentials.of(request.headers).holdsKey)
      throw new Unauthorized("Joining takes the trust key of this deployment");
  };
  const find = (named: unknown) => members.all().find((one) => one.id === named);
  const answer = (known: boolean): HttpResponse => ({
    status: known ? 204 : 404,
    headers: answerHeaders,
  });
  const member = `${paths.nodes}/:id`;
  return [
    [
      "POST",
      paths.nodes,
      async (request) => {
        demandKey(request);
        const { url, procedures, about } = readJoin(await request.readBody(options.limits.body));
        await addresses.check(url);
        const { id } = members.join(
          url,
          procedures,
          options.console === undefined ? undefined : about,
        );
        host.log.info(
          `${url} joined with ${procedures.length} ${procedures.length === 1 ? "procedure" : "procedures"}`,
        );
        return {
          status: 201,
          headers: { "content-type": mediaTypes.json, ...answerHeaders },
          body: JSON.stringify({ id, lease: options.lease }),
        };
      },
    ],
    ["PUT", member, (request, { id }) => (demandKey(request), answer(members.renew(String(id))))],
    // Chosen: a member may ask whether it is still known, which renews nothing: a gateway that restarted has forgotten it.
    ["GET", member, (request, { id }) => (demandKey(request), answer(find(id) !== undefined))],
    [
      "DELETE",
      member,
      (request, { id }) => {
        demandKey(request);
        const leaving = find(id);
        if (leaving !== undefined) host.log.info(`${leaving.url} left`);
        return answer(members.leave(String(id)));
      },
    ],
  ];
}

function readJoin(body: Uint8Array): {
  url: string;
  procedures: string[];
  about: MemberAbout | undefined;
} {
  const wrong = (what: string): BadRequest =>
    new BadRequest(`${what}; expected {"url": "http://…", "procedures": ["…"]}`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw wrong("The body is not JSON");
  }
  const { url, procedures, node } = (value ?? {}) as {
    url?: unknown;
    procedures?: unknown;
    node?: unknown;
  };
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (
    parsed === undefined ||
    !/^https?:$/.test(parsed.protocol) ||
    parsed.username !== "" ||
    parsed.password !== "" ||
    /[?#]/.test(parsed.href)
  )
    throw wrong("'url' is not an http address");
  // As it is kept: some characters take nine.
  if (parsed.href.length > longestUrl) throw wrong(`'url' is longer than ${longestUrl} characters`);
  if (
    !Array.isArray(procedures) ||
    !procedures.every((one) => typeof one === "string" && one !== "")
  )
    throw wrong("'procedures' is not a list of FQNs");
  return {
    url: parsed.href.replace(/\/+$/, ""),
    procedures: procedures as string[],
    // Of a member of before there was something to tell.
    about: node === undefined ? undefined : readAbout(node),
  };
}
