// The endpoints below `/svc/console`. The page's files are public. Everything else needs a session
// or the trust key, and otherwise gets the same answer as a path that doesn't exist.

import { BadRequest, NodeNotAvailable } from "../../src/base/errors.ts";
import type { HttpRequest, HttpResponse } from "../../src/base/ports.ts";
import {
  answerHeaders,
  consolePath,
  consoleTypesPath,
  mediaTypes,
  rpcPath,
} from "../../src/base/protocol.ts";
import { notFound } from "../../src/http/answers.ts";
import { decodeSegment, pathOf, queryOf, refuseMethod } from "../../src/http/router.ts";
import type { Trust } from "../../src/http/trust.ts";
import { readVersion } from "../../src/base/version.ts";
import type { ConsoleOptions } from "../../server/console/console-port.ts";
import { control } from "./controls.ts";
import {
  isCrossOrigin,
  isForLoopback,
  isFromOwnPage,
  isJson,
  readStrings,
} from "./access/request-checks.ts";
import { SessionCall } from "./access/session-call.ts";
import { readSessionCookie, writeSessionCookie } from "./access/session-cookie.ts";
import type { Session, Sessions } from "./access/sessions.ts";
import { sessionMs, tokenMs } from "./base/times.ts";
import type { Source } from "./sources/source.ts";
import { streamEvents } from "./stream.ts";
import type { View } from "./view.ts";
import type { Viewers } from "./viewers.ts";

export interface EndpointParts {
  readonly options: ConsoleOptions;
  readonly sessions: Sessions;
  readonly view: View;
  readonly viewers: Viewers;
  readonly types: Source["types"];
  readonly call: (request: HttpRequest) => Promise<HttpResponse | undefined>;
}

/**
 * Headers of all console answers: nothing from elsewhere, nothing inline, no frames, no other
 * sites.
 */
export const consoleHeaders = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
} as const;

/** The addresses in the page are relative to its own address without a slash at the end. */
const toPage: HttpResponse = {
  status: 308,
  headers: { location: "../console", ...answerHeaders },
};

const files = new Map([
  ["", "index.html"],
  ["/", ""],
  ["/console.js", "console.js"],
  ["/console.css", "console.css"],
  ["/icon.svg", "icon.svg"],
]);

/** Each stream does some work four times a second. */
const maxStreams = 32;
const tokenBodyBytes = 1_024;
const developmentPath = "/development/";

export function createEndpoints(
  parts: EndpointParts,
): (request: HttpRequest, trust: Trust) => Promise<HttpResponse | undefined> {
  const { options, sessions, view, viewers } = parts;
  let streams = 0;

  const sessionOf = (request: HttpRequest): Session | undefined => {
    const secret = readSessionCookie(request.headers);
    return secret === undefined ? undefined : sessions.find(secret);
  };

  const page = async (name: string, request: HttpRequest): Promise<HttpResponse | undefined> => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead) return withConsoleHeaders(refuseMethod(["GET", "HEAD"]));
    const answer = name === "" ? toPage : await options.file(name, request);
    return answer && withConsoleHeaders(answer);
  };

  const setCookie = (request: HttpRequest, secret: string, ms: number): HttpResponse => {
    const cookie = writeSessionCookie(request.headers, { secret, ms, secure: options.secure });
    return { status: 204, headers: { ...consoleHeaders, ...answerHeaders, "set-cookie": cookie } };
  };

  /** `POST /svc/console/session {token}`: from the page only. */
  const openSession = async (request: HttpRequest): Promise<HttpResponse | undefined> => {
    if (!isFromOwnPage(request.headers) || !isJson(request.headers)) return undefined;
    // Treat a body without a token, or a body that is too long, like a wrong token.
    const values = await readStrings(request, tokenBodyBytes).catch(() => new Map());
    const session = sessions.trade(values.get("token") ?? "");
    return session && setCookie(request, session.secret, sessionMs);
  };

  const endSession = (request: HttpRequest, session: Session): HttpResponse => {
    sessions.end(session);
    return setCookie(request, "", 0);
  };

  const events = (request: HttpRequest, session: Session | undefined): HttpResponse => {
    if (streams >= maxStreams)
      throw new NodeNotAvailable(`More than ${maxStreams} look at this console`);
    const isAllowed = (): boolean =>
      session === undefined || sessions.find(session.secret) !== undefined;
    const body = async function* (): AsyncGenerator<Uint8Array> {
      const leave = viewers.enter();
      streams++;
      try {
        yield* streamEvents(view, request.signal, isAllowed);
      } finally {
        streams--;
        leave();
      }
    };
    const fields = {
      "content-type": "text/event-stream; charset=utf-8",
      // Keeps proxies from buffering the stream.
      "x-accel-buffering": "no",
    };
    return {
      status: 200,
      headers: { ...consoleHeaders, ...answerHeaders, ...fields },
      body: body(),
    };
  };

  const state = (): HttpResponse => {
    const leave = viewers.enter();
    try {
      return json(view.snapshot().state);
    } finally {
      leave();
    }
  };

  /** Calls with the trust key's rights: its holder gave this user the link. */
  const call = async (request: HttpRequest): Promise<HttpResponse> => {
    if (!isJson(request.headers)) throw new BadRequest("A call of the console is application/json");
    const answer = await parts.call(new SessionCall(request));
    return withConsoleHeaders(answer ?? notFound());
  };

  /** Only for requests to this machine: unlike calls, controls change files. */
  const develop = async (path: string, request: HttpRequest): Promise<HttpResponse> => {
    const { controls } = options;
    if (controls === undefined || !isForLoopback(request.headers)) return notFound();
    return withConsoleHeaders(await control(controls, path.slice(developmentPath.length), request));
  };

  return async (request, { holdsKey }) => {
    const fullPath = pathOf(request.target);
    if (!fullPath.startsWith(consolePath)) return undefined;
    const path = fullPath.slice(consolePath.length);
    const file = files.get(path);
    if (file !== undefined) return await page(file, request);
    if (!path.startsWith("/") || isCrossOrigin(request.headers)) return undefined;
    const { method } = request;
    if (path === "/session" && method === "POST") return await openSession(request);
    const session = sessionOf(request);
    if (session === undefined && !holdsKey) return undefined;
    if (path === "/state" && method === "GET") return state();
    if (fullPath.startsWith(consoleTypesPath) && method === "GET") {
      const fqn = decodeSegment(fullPath.slice(consoleTypesPath.length));
      const version = readVersion(queryOf(request.target)).toString();
      return json((await parts.types(fqn, version)) ?? null);
    }
    if (path === "/events" && method === "GET")
      return events(request, holdsKey ? undefined : session);
    // A browser sends cookies on its own, so a session also needs the page's Origin.
    const isOwnPage = isFromOwnPage(request.headers);
    if (!holdsKey && !isOwnPage) return notFound();
    if (path === "/session" && method === "DELETE" && session !== undefined)
      return endSession(request, session);
    if (method !== "POST") return notFound();
    if (path.startsWith(developmentPath))
      return session !== undefined && isOwnPage ? await develop(path, request) : notFound();
    if (path === "/token")
      return json({ path: `${consolePath}#token=${sessions.token()}`, ms: tokenMs }, 201);
    return path.startsWith(rpcPath) ? await call(request) : notFound();
  };
}

function json(value: unknown, status = 200): HttpResponse {
  return {
    status,
    headers: { ...consoleHeaders, ...answerHeaders, "content-type": mediaTypes.json },
    body: JSON.stringify(value),
  };
}

function withConsoleHeaders(answer: HttpResponse): HttpResponse {
  return { ...answer, headers: { ...answer.headers, ...consoleHeaders } };
}
