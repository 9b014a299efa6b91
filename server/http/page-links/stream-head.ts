// The head of a stream that a page opens over its link. No proxy in front sees it: they have made the handshake's
// fields what they are, so those win.

import { BadRequest, type ServiceError } from "../../../src/base/errors.ts";
import type { Limits } from "../../../src/base/limits.ts";
import type { HeaderFields } from "../../../src/base/ports.ts";
import { headers as callHeaders, jsonType, rpcPath } from "../../../src/base/protocol.ts";
import { below } from "../../../src/http/base-path.ts";
import { connectionOptions, isHopByHop } from "../../../src/http/forwarded.ts";
import { checkedHeader } from "../../../src/http/header-field.ts";
import { pathOf } from "../../../src/http/router.ts";
import { headProblem } from "../../../src/wire/request-head.ts";

/** The request that a link began with. */
export interface Handshake {
  readonly scheme: "http" | "https";
  readonly address: string | undefined;
  readonly headers: HeaderFields;
  readonly rawHeaders: readonly string[];
}

export interface HeadRules {
  /** The fields that a page may add to those of the handshake. */
  readonly names: ReadonlySet<string>;
  /** The path below which pages are, or "". */
  readonly base: () => string;
  readonly limits: Pick<Limits, "headerBytes" | "headerCount">;
}

export interface StreamHead {
  readonly target: string;
  readonly headers: Record<string, string | readonly string[] | undefined>;
  readonly body: Uint8Array;
  /** The stream is refused with this error. */
  readonly refused: ServiceError | undefined;
}

/** Fields of the handshake that are about itself, or that each stream sets. */
const ofHandshake =
  /^(?:sec-websocket-.*|content-.*|accept|accept-encoding|expect|range|if-.*|x-svc-data-encoding)$/;

/** The fields of the handshake that hold for each stream. */
export function lastingFields({ headers }: Pick<Handshake, "headers">): HeaderFields {
  const ofConnection = connectionOptions(headers["connection"]);
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !ofHandshake.test(name) && !isHopByHop(name) && ofConnection?.has(name) !== true,
    ),
  );
}

/** Throws a TypeError if `text` isn't a head, which no page sends. */
export function readHead(
  text: string,
  handshake: Handshake,
  lasting: HeaderFields,
  rules: HeadRules,
): StreamHead {
  const { target, encoding, added, body } = parse(text);
  const own = {
    "content-type": jsonType,
    accept: "text/event-stream",
    "content-length": String(body.length),
    ...(encoding !== undefined && { [callHeaders.encoding]: encoding }),
  };
  const extra = added.filter(([name]) => !Object.hasOwn(lasting, name));
  const headers = Object.assign({}, lasting, own, Object.fromEntries(extra));
  const refused = problemOf(target, added, rules) ?? longHead(target, extra, handshake, rules);
  return { target, headers, body, refused };
}

type Fields = readonly (readonly [name: string, value: string])[];

function parse(text: string): {
  target: string;
  encoding: string | undefined;
  added: Fields;
  body: Uint8Array;
} {
  const head: unknown = JSON.parse(text);
  if (typeof head !== "object" || head === null) throw new TypeError("it isn't an object");
  const { target, encoding, headers = {}, body, ...others } = head as Record<string, unknown>;
  if (typeof target !== "string" || typeof body !== "string")
    throw new TypeError("it has no target or no body");
  if (typeof headers !== "object" || headers === null || Object.keys(others).length > 0)
    throw new TypeError("it has other keys");
  if (encoding !== undefined) checkedHeader(callHeaders.encoding, encoding);
  return {
    target,
    encoding: encoding as string | undefined,
    added: Object.entries(headers).map(([name, value]) => [
      checkedHeader(name, value),
      value as string,
    ]),
    body: new TextEncoder().encode(body),
  };
}

function problemOf(
  target: string,
  added: Fields,
  { names, base }: HeadRules,
): ServiceError | undefined {
  if (!/^\/[!-~]*$/.test(target) || !pathOf(below(base(), target)).startsWith(rpcPath))
    return new BadRequest(`A page's link carries calls: a target begins with ${rpcPath}`);
  const other = added.find(([name]) => !names.has(name));
  return (
    other &&
    new BadRequest(
      `A page's link takes no header '${other[0]}': name it in the configuration's 'streamHeaders'`,
    )
  );
}

function longHead(
  target: string,
  extra: Fields,
  { rawHeaders }: Handshake,
  { limits }: HeadRules,
): ServiceError | undefined {
  return headProblem({ target, rawHeaders: [...rawHeaders, ...extra.flat()] }, limits);
}
