// The cookies of a test's page, as far as calls show them: each goes to the same origin and below
// the same path.

import type { Peer } from "../../src/base/ports.ts";
import { parseSetCookie, stringifyCookie } from "../../src/http/context/cookies.ts";

/** Sends `cookies` with each request, and keeps those that answers set. */
export function withCookies(peer: Peer, cookies: Map<string, string>): Peer {
  return {
    async send(request) {
      const cookie = stringifyCookie(Object.fromEntries(cookies));
      const answer = await peer.send(
        cookie === "" ? request : { ...request, headers: { ...request.headers, cookie } },
      );
      for (const field of [answer.headers["set-cookie"] ?? []].flat()) {
        const { name, value = "", maxAge, expires } = parseSetCookie(field);
        const isOver =
          maxAge === undefined
            ? expires !== undefined && expires.getTime() <= Date.now()
            : maxAge <= 0;
        if (isOver) cookies.delete(name);
        else cookies.set(name, value);
      }
      return answer;
    },
  };
}
