// Which door: a readable table, first match wins. The RPC door is found by prefix before this, so that calls don't pay for it.

import { match, type MatchFunction } from "path-to-regexp";

import { BadRequest, MethodNotAllowed } from "./errors.ts";
import type { HttpRequest, HttpResponse } from "./ports.ts";
import { answerHeaders, mediaTypes } from "./protocol.ts";

/** Answers one kind of request. `parameters` are the path's, decoded. */
export type Door = (
  request: HttpRequest,
  parameters: Readonly<Record<string, string | string[] | undefined>>,
) => HttpResponse | Promise<HttpResponse>;

/** Method, path in path-to-regexp's syntax, door. */
export type Route = readonly [method: string, path: string, door: Door];

/** The table, compiled once. The router gives `undefined` for a path that no route has. */
export function createRouter(
  routes: readonly Route[],
): (request: HttpRequest) => HttpResponse | Promise<HttpResponse> | undefined {
  const compiled = routes.map(
    ([method, path, door]): [string, MatchFunction<Record<string, string | string[]>>, Door] => [
      method,
      match<Record<string, string | string[]>>(path, { sensitive: true, decode: decodeSegment }),
      door,
    ],
  );
  return (request) => {
    const path = pathOf(request.target);
    const others = new Set<string>();
    for (const [method, matches, door] of compiled) {
      const found = matches(path);
      if (found === false) continue;
      // A HEAD is a GET whose body the adapter leaves out.
      if (method === request.method || (method === "GET" && request.method === "HEAD"))
        return door(request, found.params);
      others.add(method);
      if (method === "GET") others.add("HEAD");
    }
    return others.size === 0 ? undefined : refuseMethod([...others]);
  };
}

/** 405 with the methods that are there (decisions §2). */
export function refuseMethod(allowed: readonly string[]): HttpResponse {
  const headers = {
    allow: allowed.join(", "),
    "content-type": mediaTypes.text,
    ...answerHeaders,
  };
  return { status: 405, headers, body: new MethodNotAllowed().message };
}

/** The part of a request's target before the query, as it came. */
export function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}

/** The part after the `?`, or nothing. */
export function queryOf(target: string): string {
  const query = target.indexOf("?");
  return query < 0 ? "" : target.slice(query + 1);
}

/** `%41` → `A`. Malformed escapes are the client's mistake, not a crash (reliability: safety rule 2). */
export function decodeSegment(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new BadRequest("The path holds a malformed percent escape");
  }
}
