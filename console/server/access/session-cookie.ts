// The cookie that carries a console session.

import type { HeaderFields } from "../../../src/base/ports.ts";

/** Includes the port, because browsers share cookies between the ports of a host. */
function nameFor(fields: HeaderFields): string {
  return `svc-console-${/:(\d+)$/.exec(String(fields["host"] ?? ""))?.[1] ?? "default"}`;
}

function cookiesIn(fields: HeaderFields): string[] {
  return String(fields["cookie"] ?? "")
    .split(";")
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie !== "");
}

/** The session's secret in a request. */
export function readSessionCookie(fields: HeaderFields): string | undefined {
  const prefix = `${nameFor(fields)}=`;
  return cookiesIn(fields)
    .find((cookie) => cookie.startsWith(prefix))
    ?.slice(prefix.length);
}

/**
 * The value of `set-cookie`; `request` are the headers of the request that is answered. Without a path,
 * so that it is for the folder of the request's address as the browser knows it (RFC 6265, section 5.1.4):
 * a proxy in front may have taken a base off.
 */
export function writeSessionCookie(
  request: HeaderFields,
  { secret, ms, secure }: { secret: string; ms: number; secure: boolean },
): string {
  return `${nameFor(request)}=${secret}; Max-Age=${ms / 1000}; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
}

/** The other cookies of a request. */
export function withoutSessionCookie(fields: HeaderFields): string {
  const prefix = `${nameFor(fields)}=`;
  return cookiesIn(fields)
    .filter((cookie) => !cookie.startsWith(prefix))
    .join("; ");
}
