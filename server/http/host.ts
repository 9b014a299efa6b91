// Implements the core's ports (src/base/ports.ts) with Node.

import { createHash, createHmac, timingSafeEqual, hkdfSync } from "node:crypto";
import type { ApplicationTypes } from "../../src/base/parameter-types.ts";
import type {
  Clock,
  EventLoop,
  Host,
  HttpRequest,
  HttpResponse,
  Log,
  MemoryBudget,
  ModuleNamespace,
  Names,
  Telemetry,
} from "../../src/base/ports.ts";
import { answerHeaders, mediaTypes } from "../../src/base/protocol.ts";
import { createLog } from "../base/log.ts";
import { createCarrier } from "../host/carrier.ts";
import { nodeClock } from "../host/clock.ts";
import { createEventLoop } from "../host/event-loop.ts";
import { createLinkHost } from "./links/dial.ts";
import { systemNames } from "../host/names.ts";

/** Compares in constant time. Hashing hides the lengths too. */
export function equalSecrets(left: string, right: string): boolean {
  return timingSafeEqual(hashed(left), hashed(right));
}

/**
 * The refusal of a request that doesn't have this token in its field `authorization`. The case of the scheme `Bearer`
 * doesn't matter. `what` begins its text: "Metrics need".
 */
export function tokenRefusal(
  { authorization }: HttpRequest["headers"],
  token: string,
  what: string,
): HttpResponse | undefined {
  const [, shown = ""] =
    typeof authorization === "string" ? (/^bearer +(.*)$/i.exec(authorization) ?? []) : [];
  if (equalSecrets(shown, token)) return undefined;
  return {
    status: 401,
    headers: { ...answerHeaders, "content-type": mediaTypes.text, "www-authenticate": "Bearer" },
    body: `${what} the configured token: authorization: Bearer …`,
  };
}

/** HMAC-SHA-256 in base64url. */
export function sign(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("base64url");
}

/** HKDF-SHA-256 without a salt, 32 bytes in base64url. */
export function deriveKey(secret: string, purpose: string): string {
  return Buffer.from(hkdfSync("sha256", secret, "", purpose, 32)).toString("base64url");
}

/** SHA-256 in lower-case hex. */
export function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Loads the code of checks only for a build that has types. */
export async function openTypes(module: ModuleNamespace): Promise<ApplicationTypes> {
  const { openTypes: open } = await import("../types/open-types.ts");
  return open(module);
}

function hashed(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** For a host that doesn't listen: no callers fill its memory. */
export const unbounded: MemoryBudget = { hasRoom: () => true, fitsAnswer: () => true };

/** For services in memory, which share an event loop with their test or their developer's tools. */
export const prompt: EventLoop = {
  watch() {},
  unwatch() {},
  delay: () => 0,
  isBusy: () => false,
  turn: (next) => void setImmediate(next),
};

/** The ports of this process. `parts` replace Node's own. */
export function nodeHost(
  parts: {
    readonly log?: Log;
    readonly links?: Host["links"];
    readonly names?: Names;
    readonly clock?: Clock;
    readonly memory?: MemoryBudget;
    readonly loop?: EventLoop;
    readonly telemetry?: Telemetry | undefined;
  } = {},
): Host {
  return {
    links: parts.links ?? createLinkHost(),
    names: parts.names ?? systemNames,
    memory: parts.memory ?? unbounded,
    clock: parts.clock ?? nodeClock,
    loop: parts.loop ?? createEventLoop(),
    carrier: createCarrier(),
    log: parts.log ?? createLog(),
    telemetry: parts.telemetry,
    equalSecrets,
    sign,
    deriveKey,
    digest,
    openTypes,
  };
}
