// The doors of `/svc/console`. The page's files are for everyone; everything else is for those with a session or the trust key, and for all
// others it isn't there: they get what they would get for any path that doesn't exist.

import { BadRequest, NodeNotAvailable } from "../errors.ts";
import type { HeaderFields, HttpRequest, HttpResponse } from "../ports.ts";
import { answerHeaders, consolePath, headers, mediaTypes, rpcPath } from "../protocol.ts";
import { notFound } from "../roles/role.ts";
import { pathOf } from "../router.ts";
import type { Credentials } from "../trust.ts";
import type { ConsoleOptions } from "./console.ts";
import { type Session, type Sessions, sessionTime, tokenTime } from "./sessions.ts";
import { streamOf, type View } from "./stream.ts";

export interface DoorsParts {
  readonly credentials: Credentials;
  readonly options: ConsoleOptions;
  readonly sessions: Sessions;
  readonly view: View;
  /** Somebody looks, until the returned function is called. */
  readonly look: () => () => void;
  /** A call for who holds a session. */
  readonly call: (request: HttpRequest) => Promise<HttpResponse | undefined>;
}

/** On all that the console sends: nothing from elsewhere, nothing inline, in no frame, read by no other site. */
export const consoleHeaders = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
} as const;

const files = new Map([
  ["", "index.html"],
  ["/", "index.html"],
  ["/console.js", "console.js"],
  ["/console.css", "console.css"],
  ["/icon.svg", "icon.svg"],
]);

/** Streams at once: each costs a little work four times a second. */
const mostStreams = 32;
/** Bytes of the body that holds a token. */
const longestToken = 1_024;

export function createDoors(
  parts: DoorsParts,
): (request: HttpRequest) => Promise<HttpResponse | undefined> {
  const { credentials, options, sessions, view } = parts;
  let streams = 0;

  const withKey = (request: HttpRequest): boolean => credentials.of(request.headers).holdsKey;
  const sessionOf = (request: HttpRequest): Session | undefined => {
    const secret = cookieOf(request.headers);
    return secret === undefined ? undefined : sessions.find(secret);
  };
  const json = (value: unknown, status = 200): HttpResponse => ({
    status,
    headers: { ...consoleHeaders, ...answerHeaders, "content-type": mediaTypes.json },
    body: JSON.stringify(value),
  });

  const page = async (name: string, request: HttpRequest): Promise<HttpResponse | undefined> => {
    if (request.method !== "GET" && request.method !== "HEAD") return undefined;
    const answer = await options.file(name, request);
    return answer && { ...answer, headers: { ...answer.headers, ...consoleHeaders } };
  };

  /** `POST /svc/console/session {token}`: from the page only. */
  const open = async (request: HttpRequest): Promise<HttpResponse | undefined> => {
    if (!ofOwnPage(request.headers) || !isJson(request.headers)) return undefined;
    const session = sessions.trade(await tokenIn(request));
    if (session === undefined) return undefined;
    return {
      status: 204,
      headers: {
        ...consoleHeaders,
        ...answerHeaders,
        "set-cookie": setCookie(request.headers, session.secret, sessionTime),
      },
    };
  };

  const events = (request: HttpRequest, session: Session | undefined): HttpResponse => {
    if (streams >= mostStreams)
      throw new NodeNotAvailable(`More than ${mostStreams} look at this console`);
    const body = async function* (): AsyncGenerator<Uint8Array> {
      const leave = parts.look();
      streams++;
      try {
        yield* streamOf(
          view,
          request.signal,
          () => session === undefined || sessions.find(session.secret) !== undefined,
        );
      } finally {
        streams--;
        leave();
      }
    };
    // What lies between must not gather it.
    const fields = {
      "content-type": "text/event-stream; charset=utf-8",
      "x-accel-buffering": "no",
    };
    return {
      status: 200,
      headers: { ...consoleHeaders, ...answerHeaders, ...fields },
      body: body(),
    };
  };

  const state = (): HttpResponse => {
    const leave = parts.look();
    try {
      return json(view.snapshot().state);
    } finally {
      leave();
    }
  };

  /** A call with the rights of who looks: he has shown the trust key, or a link that its holder gave him. */
  const call = async (request: HttpRequest): Promise<HttpResponse> => {
    const answer =
      (await parts.call(new CallOfSession(request, credentials.fields("service")))) ?? notFound();
    return { ...answer, headers: { ...answer.headers, ...consoleHeaders } };
  };

  return async (request) => {
    const path = pathOf(request.target);
    if (!path.startsWith(consolePath)) return undefined;
    const rest = path.slice(consolePath.length);
    const file = files.get(rest);
    if (file !== undefined) return await page(file, request);
    if (!rest.startsWith("/") || fromElsewhere(request.headers)) return undefined;
    const { method } = request;
    if (rest === "/session" && method === "POST") return await open(request);
    const session = sessionOf(request);
    const key = withKey(request);
    if (session === undefined && !key) return undefined;
    if (rest === "/state" && method === "GET") return state();
    if (rest === "/events" && method === "GET") return events(request, key ? undefined : session);
    // A cookie comes along by itself, a key does not.
    if (!key && !ofOwnPage(request.headers)) return notFound();
    if (rest === "/session" && method === "DELETE" && session !== undefined) {
      sessions.end(session);
      return {
        status: 204,
        headers: {
          ...consoleHeaders,
          ...answerHeaders,
          "set-cookie": setCookie(request.headers, "", 0),
        },
      };
    }
    if (method !== "POST") return notFound();
    if (rest === "/token")
      return json({ path: `${consolePath}#token=${sessions.token()}`, ms: tokenTime }, 201);
    if (!rest.startsWith(rpcPath)) return notFound();
    if (!isJson(request.headers)) throw new BadRequest("A call of the console is application/json");
    return await call(request);
  };

  function setCookie(fields: HeaderFields, secret: string, ms: number): string {
    return `${cookieName(fields)}=${secret}; Path=${consolePath}; Max-Age=${ms / 1000}; HttpOnly; SameSite=Strict${options.secure ? "; Secure" : ""}`;
  }
}

/** Browsers keep no ports apart: services of one machine would take each other's cookie. */
function cookieName(fields: HeaderFields): string {
  return `svc-console-${/:(\d+)$/.exec(String(fields["host"] ?? ""))?.[1] ?? "default"}`;
}

function cookieOf(fields: HeaderFields): string | undefined {
  const name = `${cookieName(fields)}=`;
  const found = String(fields["cookie"] ?? "")
    .split(";")
    .map((one) => one.trim())
    .find((one) => one.startsWith(name));
  return found?.slice(name.length);
}

/** A browser says that a page of another site asks, or of another port of this machine. */
function fromElsewhere(fields: HeaderFields): boolean {
  const site = fields["sec-fetch-site"];
  return site !== undefined && site !== "same-origin" && site !== "none";
}

/** The page itself asks: browsers let no script choose `Origin`. */
function ofOwnPage(fields: HeaderFields): boolean {
  const { origin, host } = fields;
  return (
    typeof origin === "string" &&
    typeof host === "string" &&
    URL.canParse(origin) &&
    new URL(origin).host === host.toLowerCase()
  );
}

function isJson(fields: HeaderFields): boolean {
  return /^application\/json\s*(?:;|$)/i.test(String(fields["content-type"] ?? ""));
}

/** What is no token is one that nobody has. */
async function tokenIn(request: HttpRequest): Promise<string> {
  try {
    const { token } = JSON.parse(
      new TextDecoder().decode(await request.readBody(longestToken)),
    ) as { token?: unknown };
    return typeof token === "string" ? token : "";
  } catch {
    return "";
  }
}

// Of the browser and of the page: the call has others of its own. What else there is, `authorization` for one, is the caller's.
const ofThePage = /^(?:sec-|origin$|referer$|access-control-)/;

/** The request behind `/svc/console`, as the RPC door takes it: with a credential in place of the session. */
class CallOfSession implements HttpRequest {
  readonly method: string = "POST";
  readonly target: string;
  readonly headers: HeaderFields;
  readonly #of: HttpRequest;

  constructor(of: HttpRequest, credential: Readonly<Record<string, string>>) {
    const own = cookieName(of.headers);
    const fields: Record<string, string | readonly string[] | undefined> = { ...credential };
    for (const [name, value] of Object.entries(of.headers))
      if (!ofThePage.test(name) && (!name.startsWith("x-svc-") || name === headers.encoding))
        fields[name] = value;
    const cookies = String(of.headers["cookie"] ?? "")
      .split(";")
      .filter((one) => one.trim() !== "" && !one.trim().startsWith(`${own}=`));
    if (cookies.length > 0) fields["cookie"] = cookies.join(";").trim();
    else delete fields["cookie"];
    this.#of = of;
    this.target = of.target.slice(consolePath.length);
    this.headers = fields;
  }

  get scheme(): "http" | "https" {
    return this.#of.scheme;
  }

  get signal(): AbortSignal {
    return this.#of.signal;
  }

  get isReceiving(): boolean {
    return this.#of.isReceiving === true;
  }

  readBody(limit: number): Promise<Uint8Array> {
    return this.#of.readBody(limit);
  }
}
