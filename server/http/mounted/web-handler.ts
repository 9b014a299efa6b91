// Answers a Request of the web with a Response: for Hono, Bun, Deno, and anything else that calls `fetch`.

import { FileNotFound } from "../../../src/base/errors.ts";
import type { HttpResponse } from "../../../src/base/ports.ts";
import { discard, stopReading } from "../../../src/http/bodies.ts";
import { hasNullBody, webHeaders } from "../../../src/http/web-messages.ts";
import { headProblem } from "../../../src/wire/request-head.ts";
import { chunkBytes } from "../../host/held-memory.ts";
import { slicesOf } from "../writing/slices.ts";
import { refusal } from "../writing/write-answer.ts";
import {
  belowPrefix,
  bodyWasRead,
  mistake,
  type MountedService,
  prefixOf,
} from "./mounted-service.ts";
import { WebRequest } from "./web-request.ts";
import { wholeBytes } from "../connection/limits.ts";

/** A server's facts about a request that aren't in it. */
export interface CallerInfo {
  /** The address of the other end. */
  readonly address?: string | undefined;
  /** The message of Node's that the request was made from, as adapters pass it: its target is as it came. */
  readonly incoming?: { readonly url?: string | undefined } | undefined;
}

export async function answerWeb(
  service: MountedService,
  source: Request,
  info?: CallerInfo,
): Promise<Response> {
  const request = new WebRequest(source, addressOf(info), service);
  const end = service.requests.begin({
    cut: (reason) => request.cut(reason),
    // A stream breaks when it is cut, and the rest is its server's.
    destroy() {},
  });
  const finish = (): void => {
    request.finished();
    end();
  };
  try {
    const answer = isRewritten(info)
      ? await refusal(new FileNotFound(), request.headers)
      : await answerTo(service, source, request);
    return toResponse(answer, { request, finish, service });
  } catch (fault) {
    service.onFault(fault);
    finish();
    return new Response(null, { status: 500, headers: { "cache-control": "no-store" } });
  }
}

/** Servers pass other things there, too: Bun its server, which has an address of another type. */
function addressOf(info: CallerInfo | undefined): string | undefined {
  const address: unknown = info?.address;
  return typeof address === "string" ? address : undefined;
}

/**
 * Whether the path that came isn't that of the request: parsers of URLs resolve dots, take backslashes for
 * slashes, and drop everything behind a hash. A proxy in front of this service may have gone by the other one.
 */
function isRewritten(info: CallerInfo | undefined): boolean {
  const target: unknown = info?.incoming?.url;
  if (typeof target !== "string") return false;
  const [path = ""] = target.split("?", 1);
  return /[\\#]|\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path);
}

async function answerTo(
  service: MountedService,
  source: Request,
  request: WebRequest,
): Promise<HttpResponse> {
  if (service.role.isTaken(request.target)) {
    const rawHeaders = Object.entries(request.headers).flat();
    const problem = headProblem({ target: request.target, rawHeaders }, service.limits);
    if (problem !== undefined) return await refusal(problem, request.headers);
    if (source.bodyUsed || source.body?.locked === true) return mistake(service, bodyWasRead);
    return await service.role.handle(request);
  }
  const found = await service.role.find(request);
  if (found !== undefined) return found;
  const prefix = prefixOf(request);
  if (prefix !== undefined) return mistake(service, belowPrefix(prefix));
  return await service.role.handle(request);
}

interface AnswerParts {
  readonly request: WebRequest;
  readonly finish: () => void;
  readonly service: MountedService;
}

function toResponse(answer: HttpResponse, parts: AnswerParts): Response {
  const { status, body } = answer;
  const { request, finish } = parts;
  const headers = webHeaders(answer.headers);
  const hasBody = !hasNullBody(status);
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) {
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    if (bytes !== undefined && hasBody && !headers.has("content-length"))
      headers.set("content-length", String(bytes.byteLength));
    const isSent = bytes !== undefined && hasBody && request.method !== "HEAD";
    // The server takes a whole body at once, and we couldn't tell how long it waits for its reader.
    if (isSent && bytes.byteLength > wholeBytes) {
      request.holder.take(bytes.byteLength);
      return new Response(streamOf(slicesOf(bytes), parts), { status, headers });
    }
    finish();
    return new Response(isSent ? (bytes as Uint8Array<ArrayBuffer>) : null, { status, headers });
  }
  if (!hasBody || request.method === "HEAD") {
    discard(body);
    finish();
    return new Response(null, { status, headers });
  }
  return new Response(streamOf(body, parts), { status, headers });
}

/** The chunks as the reader asks for them. An answer that breaks breaks the stream. */
function streamOf(
  body: AsyncIterable<Uint8Array>,
  { request, finish, service }: AnswerParts,
): ReadableStream<Uint8Array> {
  const reader = body[Symbol.asyncIterator]();
  const { holder } = request;
  let isOpen = true;
  let broken = (_: unknown): void => {};
  const end = (): void => {
    if (!isOpen) return;
    isOpen = false;
    unwatch();
    holder.give(chunkBytes);
    stopReading(reader);
    finish();
  };
  const cut = (reason: Error): void => {
    if (!isOpen) return;
    broken(reason);
    end();
  };
  holder.take(chunkBytes);
  const unwatch = holder.watch(service.limits.idleTimeoutMs, () =>
    cut(new Error("Nothing of the answer was read for a long time")),
  );
  request.onLeave(() => cut(new Error("The caller went away")));
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        broken = (reason) => controller.error(reason);
      },
      async pull(controller) {
        try {
          const { done, value } = await reader.next();
          if (!isOpen) return;
          request.moved();
          if (done !== true) return controller.enqueue(value);
          controller.close();
          end();
        } catch (fault) {
          if (!isOpen) return;
          service.onFault(fault);
          cut(fault instanceof Error ? fault : new Error(String(fault)));
        }
      },
      cancel: end,
    },
    // Nothing is read ahead: waiting chunks belong to the application.
    { highWaterMark: 0 },
  );
}
