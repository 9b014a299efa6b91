// State that travels with calls between services besides arguments and results: the outer request and
// `locals` on the way in, settings of the answer on the way back. A member of the deployment
// believes other members only, and outsiders get none of it.

import type { CallResponse, CallScope, Locals, OuterRequest } from "../base/call-scope.ts";
import type { Context } from "../base/context.ts";
import { BadGateway, BadRequest } from "../base/errors.ts";
import type { HeaderFields, HttpRequest, HttpResponse, PeerResponse } from "../base/ports.ts";
import type { RequestNotes, SentNotes } from "../base/ports/telemetry.ts";
import { serviceHeaders } from "../base/protocol.ts";
import { decodeLocals, encodeLocals, freezeDeeply } from "../codec/locals.ts";
import { toBase64 } from "../codec/values/binary.ts";
import type { Limits } from "../base/limits.ts";
import {
  type OuterCall,
  readOuterCall,
  relayedOuterCall,
  sentOuterCall,
} from "../http/context/outer-request.ts";
import { ResponseSettings } from "../http/context/response-settings.ts";
import { readSettings, type SettingsForm } from "../http/context/settings-form.ts";
import type { PublicOrigin, RequestedOrigin } from "../http/public-origin.ts";
import type { Trust } from "../http/trust.ts";
import { scopeOf } from "../runtime/call-context.ts";

/** The call that has the state: its exchange. */
export interface Stateful {
  readonly request: HttpRequest;
  readonly trust: Trust;
  readonly requestedOrigin: RequestedOrigin;
}

export interface CallStateParts {
  readonly web: PublicOrigin;
  readonly limits: Pick<Limits, "localsBytes">;
}

/** The state of one incoming call. Each part is made when it is first used. */
export class CallState implements CallScope {
  readonly #exchange: Stateful;
  readonly #parts: CallStateParts;
  #outer: OuterCall | undefined;
  #locals: Locals | undefined;
  /** The field for other services, once the locals can't change. */
  #localsField: string | undefined;
  #hasBegun = false;
  #settings: ResponseSettings | undefined;
  #isAnswered = false;
  readonly #seen = () =>
    this.#parts.web.seen(this.#exchange.request, this.#exchange.requestedOrigin);

  constructor(exchange: Stateful, parts: CallStateParts) {
    this.#exchange = exchange;
    this.#parts = parts;
    const { request, trust } = exchange;
    const field = trust.member ? request.headers[serviceHeaders.locals] : undefined;
    if (typeof field === "string") this.#localsField = field;
  }

  get request(): OuterRequest {
    return this.#outerCall.request;
  }

  get notes(): RequestNotes | undefined {
    return this.#exchange.request.notes;
  }

  get locals(): Locals {
    if (this.#locals === undefined) {
      this.#locals = this.#localsField === undefined ? {} : readLocals(this.#localsField);
      if (this.#hasBegun) freezeDeeply(this.#locals);
    }
    return this.#locals;
  }

  get response(): CallResponse {
    return this.#response;
  }

  /** The settings of the answer until now; `undefined` if there is none. */
  get settings(): Pick<ResponseSettings, "mayBeKept" | "etag"> | undefined {
    return this.#settings;
  }

  get #response(): ResponseSettings {
    if (this.#settings === undefined) {
      const { cookie } = this.#exchange.request.headers;
      this.#settings = new ResponseSettings(() => ({
        ...this.#outerCall,
        cookie: typeof cookie === "string" ? cookie : undefined,
      }));
      if (this.#isAnswered) this.#settings.close();
    }
    return this.#settings;
  }

  get #outerCall(): OuterCall {
    return (this.#outer ??= readOuterCall(
      this.#exchange.request,
      this.#exchange.trust,
      this.#seen,
    ));
  }

  /**
   * The procedure starts, here or elsewhere: `locals` can't change any more. Throws ValueNotSerializable if they
   * couldn't travel, whether or not they have to.
   */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    if (this.#locals === undefined) return;
    this.#localsField = localsField(this.#locals, this.#parts.limits);
    freezeDeeply(this.#locals);
  }

  /** The answer will be a stream, whose status is 200: browsers give up streams with others. */
  streams(): void {
    this.#response.fixStatus();
  }

  /** For a call that a procedure makes. */
  sentFields(): Record<string, string> {
    return this.#fields(sentOuterCall(this.#outerCall));
  }

  /** For this call, passed on. Freezes `locals`: later changes wouldn't travel. */
  relayedFields(): Record<string, string> {
    this.begin();
    return this.#fields(relayedOuterCall(this.#exchange.request, this.#exchange.trust, this.#seen));
  }

  /** Adds the settings of an answer to a call that was made or passed on. */
  received(fields: HeaderFields): void {
    this.#response.add(decodeSettings(fields[serviceHeaders.response]));
  }

  /** The answer as it goes out: settings for a service, headers and cookies for others. */
  onto(answer: HttpResponse, isPlain: boolean): HttpResponse {
    this.#isAnswered = true;
    const settings = this.#settings;
    if (settings === undefined) return answer;
    settings.close();
    if (!this.#exchange.trust.relays) return settings.onto(answer, { isPlain });
    const form = settings.form();
    return form === undefined
      ? answer
      : {
          ...answer,
          headers: { [serviceHeaders.response]: toField(JSON.stringify(form)), ...answer.headers },
        };
  }

  #fields(outer: string): Record<string, string> {
    const locals =
      this.#locals === undefined || this.#hasBegun
        ? this.#localsField
        : localsField(this.#locals, this.#parts.limits);
    return locals === undefined
      ? { [serviceHeaders.request]: outer }
      : { [serviceHeaders.request]: outer, [serviceHeaders.locals]: locals };
  }
}

/** The part of outbound calls in the state of the call that makes them. */
export interface StateCarrier {
  readonly fields: (context: Context) => Record<string, string> | undefined;
  readonly received: (context: Context, answer: PeerResponse) => void;
  /** Notes an outbound call; `undefined` if the service keeps no such notes. */
  readonly sends: (context: Context, name: string) => SentNotes | undefined;
}

/** For services; pages have no such state. */
export const callStates: StateCarrier = {
  fields: (context) => stateOf(context)?.sentFields(),
  received(context, answer) {
    if (serviceHeaders.response in answer.headers) stateOf(context)?.received(answer.headers);
  },
  sends: (context, name) => stateOf(context)?.notes?.sends?.(name),
};

function stateOf(context: Context): CallState | undefined {
  const scope = scopeOf(context);
  return scope instanceof CallState ? scope : undefined;
}

/** An answer without the settings that came with it. */
export function withoutSettings(answer: PeerResponse): PeerResponse {
  const { [serviceHeaders.response]: _, ...headers } = answer.headers;
  return { ...answer, headers };
}

function localsField(locals: Locals, limits: Pick<Limits, "localsBytes">): string | undefined {
  const text = encodeLocals(locals, limits.localsBytes);
  return text === undefined ? undefined : toField(text);
}

/** Only members of the deployment send locals, so a field that can't be read is a mistake. */
function readLocals(field: string): Locals {
  try {
    return decodeLocals(fromField(field));
  } catch (cause) {
    throw new BadRequest(`The field ${serviceHeaders.locals} can't be read`, { cause });
  }
}

function decodeSettings(field: unknown): SettingsForm {
  try {
    if (typeof field !== "string") throw new TypeError("There is more than one");
    return readSettings(JSON.parse(fromField(field)));
  } catch (cause) {
    throw new BadGateway("The settings of an answer can't be read", { cause });
  }
}

function toField(text: string): string {
  return toBase64(new TextEncoder().encode(text))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}

function fromField(field: string): string {
  const binary = atob(field.replaceAll("-", "+").replaceAll("_", "/"));
  return new TextDecoder().decode(Uint8Array.from(binary, (letter) => letter.charCodeAt(0)));
}
