// The header fields of a request that middleware and procedures see.

import { connectionOptions, isHopByHop } from "../http/forwarded.ts";
import { MiddlewareHeaders } from "../http/middleware.ts";
import type { HeaderFields } from "../base/ports.ts";
import { headers, isServiceHeader, serviceHeaders } from "../base/protocol.ts";

/**
 * Leaves out our own wire headers except the encoding; those of the connection, and the ones that `Connection`
 * names, which would otherwise remove fields that a middleware sets under such a name when the call is passed on;
 * `host` in a call that a service of the deployment passes on, where it is the address of this service, and not
 * over a link; and `x-forwarded-*` from a sender that isn't trusted.
 */
export function procedureHeaders(
  fields: HeaderFields,
  { seesHost, seesForwarded }: { readonly seesHost: boolean; readonly seesForwarded: boolean },
): MiddlewareHeaders {
  const visible = new MiddlewareHeaders();
  const connection = connectionOptions(fields["connection"]);
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || (isServiceHeader(name) && name !== headers.encoding)) continue;
    if (isHopByHop(name) || connection?.has(name) === true) continue;
    if (
      !seesForwarded &&
      (name === serviceHeaders.forwardedHost || name === serviceHeaders.forwardedProto)
    )
      continue;
    if (name === "host" && !seesHost) continue;
    visible.fill(name, typeof value === "string" ? value : value.join(", "));
  }
  return visible;
}
