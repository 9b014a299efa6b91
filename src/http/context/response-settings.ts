// Settings of the application for an answer, collected until the answer goes out.

import type {
  CallResponse,
  CookieOptions,
  ResponseCookies,
  ResponseHeaders,
} from "../../base/call-scope.ts";
import type { HttpResponse } from "../../base/ports.ts";
import { answerHeaders } from "../../base/protocol.ts";
import { changesCookie, type CookieDefaults, type SetCookie, setCookie } from "./cookies.ts";
import { checkedSetting, isStatus, type SettingsForm } from "./settings-form.ts";

/** Between services they travel in one header field, which must fit beside all others. */
const maxBytes = 16_384;

const noStore = answerHeaders["cache-control"];

/** The call that is answered. */
export interface SettingsParts extends CookieDefaults {
  /** Whether the answer brings cookies. */
  readonly takesCookies: boolean;
  /** The cookies of the request, as it sent them. */
  readonly cookie: string | undefined;
}

export class ResponseSettings implements CallResponse, ResponseHeaders {
  readonly #parts: () => SettingsParts;
  readonly #headers = new Map<string, { values: readonly string[]; isAppended: boolean }>();
  readonly #cookies = new Map<string, string>();
  #status: number | undefined;
  #isClosed = false;
  #isStatusFixed = false;

  constructor(parts: () => SettingsParts) {
    this.#parts = parts;
    const isWritable = (): boolean => !this.#isClosed && parts().takesCookies;
    this.cookies = {
      get writable() {
        return isWritable();
      },
      set: (name, value, options = {}) => this.#setCookie(name, value, options),
      delete: (name, options = {}) =>
        this.#setCookie(name, "", { ...options, maxAge: 0, expires: new Date(0) }),
    };
  }

  readonly headers: ResponseHeaders = this;

  readonly cookies: ResponseCookies;

  get status(): number {
    return this.#status ?? 200;
  }

  set status(status: number) {
    this.#assertOpen();
    if (this.#isStatusFixed && status !== 200)
      throw new TypeError("The status of a stream is 200: throw an error for a failure");
    if (!isStatus(status))
      throw new TypeError(
        `response.status can be 200 to 203, not ${String(status)}: throw an error for a failure, or use a route`,
      );
    this.#status = status;
  }

  /** The status can't be set from now on. */
  fixStatus(): void {
    this.#isStatusFixed = true;
  }

  set(name: string, value: string): void {
    this.#setHeader(checkedSetting(name, value), [value], false);
  }

  append(name: string, value: string): void {
    const key = checkedSetting(name, value);
    const { values = [], isAppended = true } = this.#headers.get(key) ?? {};
    this.#setHeader(key, [...values, value], isAppended);
  }

  delete(name: string): void {
    this.#setHeader(checkedSetting(name, ""), [], false);
  }

  /** Adds the settings of an inner call; the last added win. */
  add({ headers = [], cookies = [], status }: SettingsForm): void {
    // A late answer to a call that was given up.
    if (this.#isClosed) return;
    for (const [name, values, isAppended] of headers) {
      const present = isAppended ? this.#headers.get(name) : undefined;
      this.#setHeader(
        name,
        [...(present?.values ?? []), ...values],
        isAppended && (present?.isAppended ?? true),
      );
    }
    for (const [key, text] of cookies) this.#putCookie({ key, text });
    if (status !== undefined) this.#status = status;
  }

  /** `undefined` if nothing is set. */
  form(): SettingsForm | undefined {
    if (this.#headers.size + this.#cookies.size === 0 && this.#status === undefined)
      return undefined;
    return {
      headers: [...this.#headers].map(([name, { values, isAppended }]) => [
        name,
        values,
        isAppended,
      ]),
      cookies: [...this.#cookies],
      ...(this.#status !== undefined && { status: this.#status }),
    };
  }

  /** The answer to an outsider. An error only gets cookies. */
  onto(answer: HttpResponse, { isPlain }: { readonly isPlain: boolean }): HttpResponse {
    const isError = answer.status >= 400;
    const fields: Record<string, string | readonly string[]> = { ...answer.headers };
    if (!isError)
      for (const [name, { values, isAppended }] of this.#headers) {
        const before = isAppended && fields[name] !== undefined ? [fields[name]].flat() : [];
        if (values.length > 0) fields[name] = [...before, ...values].join(", ");
      }
    if (this.#cookies.size > 0)
      fields["set-cookie"] = [...[fields["set-cookie"] ?? []].flat(), ...this.#cookies.values()];
    // A shared cache would hand one user's cookie to all others, a cookie of middleware too.
    if (fields["set-cookie"] !== undefined) fields["cache-control"] = noStore;
    return {
      ...answer,
      status: isPlain && !isError ? (this.#status ?? answer.status) : answer.status,
      headers: fields,
    };
  }

  /** The application lets caches keep the answer. */
  get mayBeKept(): boolean {
    const { values = [] } = this.#headers.get("cache-control") ?? {};
    return (
      values.length > 0 &&
      !values.some((value) => /\bno-store\b/i.test(value)) &&
      this.#cookies.size === 0 &&
      this.status === 200
    );
  }

  /** The `etag` that the application sets, if any. */
  get etag(): string | undefined {
    return this.#headers.get("etag")?.values.join(", ") || undefined;
  }

  /** The answer goes out: from now on settings throw. */
  close(): void {
    this.#isClosed = true;
  }

  #setHeader(name: string, values: readonly string[], isAppended: boolean): void {
    this.#assertOpen();
    const before = this.#headers.get(name);
    // The last added goes last.
    this.#headers.delete(name);
    this.#headers.set(name, { values, isAppended });
    this.#assertSize(() => {
      if (before === undefined) this.#headers.delete(name);
      else this.#headers.set(name, before);
    });
  }

  #setCookie(name: string, value: string, options: CookieOptions): void {
    this.#assertOpen();
    const parts = this.#parts();
    const cookie = setCookie(name, value, options, parts);
    if (parts.takesCookies) return this.#putCookie(cookie);
    if (changesCookie(cookie.text, parts.cookie))
      throw new TypeError(
        `The cookie '${name}' can't be set here: the answer to a stream of a page brings none. Set it in a call (response.cookies.writable tells)`,
      );
  }

  #putCookie({ key, text }: SetCookie): void {
    const before = this.#cookies.get(key);
    this.#cookies.delete(key);
    this.#cookies.set(key, text);
    this.#assertSize(() => {
      if (before === undefined) this.#cookies.delete(key);
      else this.#cookies.set(key, before);
    });
  }

  #assertOpen(): void {
    if (this.#isClosed)
      throw new Error("The answer is already sent: set response before the procedure returns");
  }

  #assertSize(undo: () => void): void {
    let bytes = 0;
    for (const [name, { values }] of this.#headers)
      for (const value of values) bytes += name.length + bytesOf(value);
    for (const [key, text] of this.#cookies) bytes += bytesOf(key) + text.length;
    if (bytes <= maxBytes) return;
    undo();
    throw new TypeError(`An answer can have ${maxBytes} bytes of headers and cookies set`);
  }
}

/**
 * The length as JSON, the form in which settings travel: a quote has two bytes there, and so has any letter over
 * ASCII.
 */
function bytesOf(text: string): number {
  return new TextEncoder().encode(JSON.stringify(text)).length - 2;
}
