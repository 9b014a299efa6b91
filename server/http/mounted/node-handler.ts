// Answers requests of a server of Node that isn't ours: of node:http, Express, Fastify, or over HTTP/2.

import type { IncomingMessage, ServerResponse } from "node:http";

import type { HttpRequest, HttpResponse } from "../../../src/base/ports.ts";
import { announcesBody } from "../../../src/http/bodies.ts";
import { pathOf } from "../../../src/http/router.ts";
import { headProblem } from "../../../src/wire/request-head.ts";
import { refusal, writeAnswer } from "../writing/write-answer.ts";
import { acceptRequest, type AcceptedRequest } from "./accept-request.ts";
import { belowPrefix, bodyWasRead, mistake, type MountedService } from "./mounted-service.ts";

/** Express and others keep the target here that they took a prefix off. */
type Message = IncomingMessage & { readonly originalUrl?: unknown; readonly baseUrl?: unknown };

/**
 * Answers `message`, or calls `next` if it isn't for the service. Without `next` that is a 404.
 * Returns nothing: some servers would take a promise for the end of the request.
 */
export function answerNode(
  service: MountedService,
  message: IncomingMessage,
  response: ServerResponse,
  next: (() => void) | undefined,
): void {
  const { memory, limits, requests, onFault } = service;
  const accepted = acceptRequest(message, response, memory, limits);
  const { request, connection } = accepted;
  const end = requests.begin({
    cut: (reason) => request.cut(reason),
    destroy: () => void response.destroy(),
  });
  const answer = async (): Promise<void> => {
    const found = await answerTo(service, message, accepted, next === undefined);
    request.answered();
    if (found === undefined) {
      accepted.letGo();
      end();
      // Not in here: an error that it throws is its own.
      return process.nextTick(() => next?.());
    }
    await writeAnswer(message, response, found, {
      closing: false,
      isMounted: true,
      connection,
    });
    await closed(response);
    request.finished();
    end();
  };
  answer().catch((fault: unknown) => {
    onFault(fault);
    if (response.headersSent) response.destroy();
    else response.writeHead(500, { "content-length": 0, "cache-control": "no-store" }).end();
    request.finished();
    end();
  });
}

/** Bytes that its server has yet to send belong to the request. */
function closed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (response.closed) resolve();
    else response.once("close", resolve);
  });
}

async function answerTo(
  service: MountedService,
  message: Message,
  { plain }: AcceptedRequest,
  isOnly: boolean,
): Promise<HttpResponse | undefined> {
  const prefix = prefixOf(message);
  if (prefix !== undefined && prefix !== service.role.base)
    return mistake(service, belowPrefix(prefix));
  if (service.role.isTaken(plain.target)) {
    const { rawHeaders, url = "/" } = message;
    const problem = headProblem({ target: url, rawHeaders: fieldsOf(rawHeaders) }, service.limits);
    if (problem !== undefined) return await refusal(problem, plain.headers);
    if (wasRead(message, plain)) return mistake(service, bodyWasRead);
  }
  return await (isOnly ? service.role.handle(plain) : service.role.find(plain));
}

/** Without the pseudo-headers of HTTP/2, which aren't fields. */
function fieldsOf(rawHeaders: readonly string[]): readonly string[] {
  if (rawHeaders[0]?.startsWith(":") !== true) return rawHeaders;
  return rawHeaders.filter((_, at) => !rawHeaders[at - (at % 2)]?.startsWith(":"));
}

/** The prefix below which a router passes requests on, if there is one. */
function prefixOf({ url = "/", originalUrl, baseUrl }: Message): string | undefined {
  if (typeof baseUrl === "string" && baseUrl !== "") return baseUrl;
  if (typeof originalUrl !== "string" || originalUrl === url) return undefined;
  const [whole, path] = [pathOf(originalUrl), pathOf(url)];
  if (whole.length > path.length && whole.endsWith(path)) return whole.slice(0, -path.length);
  return path === "/" && whole !== path ? whole : undefined;
}

/** Whether reading the body has begun elsewhere: we would wait for it in vain. */
function wasRead(message: IncomingMessage, { method, headers }: HttpRequest): boolean {
  const isBodiless = method === "GET" || method === "HEAD" || method === "OPTIONS";
  if (isBodiless && !announcesBody(headers)) return false;
  // The caller is gone, so it doesn't matter any more.
  if (message.destroyed && !message.readableEnded) return false;
  return (
    message.readableDidRead ||
    message.readableEnded ||
    message.readableFlowing === true ||
    message.listenerCount("data") > 0 ||
    message.listenerCount("readable") > 0
  );
}
