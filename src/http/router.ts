// Finds the endpoint in a readable table; the first match wins. Calls skip it: their endpoint is
// found by its prefix.

import { match, type MatchFunction } from "path-to-regexp";

import { BadRequest, MethodNotAllowed } from "../base/errors.ts";
import type { HttpRequest, HttpResponse } from "../base/ports.ts";
import { answerHeaders, mediaTypes } from "../base/protocol.ts";
import type { Trust } from "./trust.ts";

/** Answers one kind of request, whose sender has proven `trust`. `parameters` are the decoded ones of the path. */
export type Endpoint = (
  request: HttpRequest,
  trust: Trust,
  parameters: Readonly<Record<string, string | string[] | undefined>>,
) => HttpResponse | Promise<HttpResponse>;

/** Method, path in path-to-regexp's syntax, endpoint. */
export type Route = readonly [method: string, path: string, endpoint: Endpoint];

/** Compiles the table. The router returns `undefined` for a path without a route. */
export function createRouter(
  routes: readonly Route[],
): (request: HttpRequest, trust: Trust) => HttpResponse | Promise<HttpResponse> | undefined {
  const compiled = routes.map(
    ([method, path, endpoint]): [
      string,
      MatchFunction<Record<string, string | string[]>>,
      Endpoint,
    ] => [
      method,
      match<Record<string, string | string[]>>(path, { sensitive: true, decode: decodeSegment }),
      endpoint,
    ],
  );
  return (request, trust) => {
    const path = pathOf(request.target);
    const others = new Set<string>();
    for (const [method, matches, endpoint] of compiled) {
      const found = matches(path);
      if (found === false) continue;
      // HEAD is GET; the adapter drops the body.
      if (method === request.method || (method === "GET" && request.method === "HEAD"))
        return endpoint(request, trust, found.params);
      others.add(method);
      if (method === "GET") others.add("HEAD");
    }
    return others.size === 0 ? undefined : refuseMethod([...others]);
  };
}

/** Whether a target, or its path, is one of the runtime's, which are in every service. */
export function isOwnPath(target: string): boolean {
  return ownPaths.test(target);
}

const ownPaths = /^\/(?:rpc|svc|health)(?:[/?]|$)/;

/** 405 with the allowed methods. */
export function refuseMethod(allowed: readonly string[]): HttpResponse {
  const headers = {
    allow: allowed.join(", "),
    "content-type": mediaTypes.text,
    ...answerHeaders,
  };
  return { status: 405, headers, body: new MethodNotAllowed().message };
}

/** Path and query of a URL as they were written, which `URL` would normalize. */
export function targetOf(url: string): string {
  const at = url.indexOf("/", url.indexOf("//") + 2);
  return at < 0 ? "/" : url.slice(at);
}

/** The part of a request's target before the query, not decoded. */
export function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}

/** The part after the `?`, or nothing. */
export function queryOf(target: string): string {
  const query = target.indexOf("?");
  return query < 0 ? "" : target.slice(query + 1);
}

/** `%41` → `A`. Malformed escapes are the client's mistake, not a crash. */
export function decodeSegment(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new BadRequest("The path has a malformed percent escape");
  }
}
