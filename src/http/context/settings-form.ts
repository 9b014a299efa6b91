// Settings of an answer in the form in which they travel between services, and the settings that are allowed.

import { isServiceHeader } from "../../base/protocol.ts";
import { isHopByHop } from "../forwarded.ts";
import { checkedHeader } from "../header-field.ts";
import { maxCookieBytes } from "./cookies.ts";

export interface SettingsForm {
  /** Names, values, and whether they are added to the values before. No values: taken back. */
  readonly headers?: readonly (readonly [string, readonly string[], boolean])[];
  /** Keys and texts. */
  readonly cookies?: readonly (readonly [string, string])[];
  readonly status?: number;
}

/** Checks settings from another service. Throws for settings that a procedure couldn't have made. */
export function readSettings(form: unknown): SettingsForm {
  if (typeof form !== "object" || form === null) throw new TypeError("Settings must be an object");
  const { headers = [], cookies = [], status } = form as Readonly<Record<string, unknown>>;
  if (status !== undefined && !isStatus(status)) throw new TypeError("'status' must be 200 to 203");
  return {
    headers: entriesOf(headers, "headers").map(([name, values, isAppended]) => {
      if (!Array.isArray(values)) throw new TypeError("The values of a header must be a list");
      const key = checkedSetting(name, values[0] ?? "");
      for (const value of values) checkedSetting(name, value);
      return [key, values as readonly string[], isAppended === true];
    }),
    cookies: entriesOf(cookies, "cookies").map(([key, text]) => {
      if (typeof key !== "string" || typeof text !== "string" || !cookieForm.test(text))
        throw new TypeError("A cookie must be a key and the value of a Set-Cookie field");
      if (text.length > maxCookieBytes) throw new TypeError("A cookie is too large");
      return [key, text];
    }),
    ...(status !== undefined && { status }),
  };
}

const cookieForm = /^[-!#$%&'*+.^_`|~\w]+=[\x20-\x7e]*$/;

function entriesOf(value: unknown, name: string): readonly (readonly unknown[])[] {
  if (!Array.isArray(value) || !value.every((entry) => Array.isArray(entry)))
    throw new TypeError(`'${name}' must be a list of lists`);
  return value as readonly (readonly unknown[])[];
}

/** A status that an answer can have set. */
export function isStatus(status: unknown): status is number {
  return Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 203;
}

const ofContent = /^content-(?!disposition$|language$)/;

/** The reason why a header can't be set, with an alternative. */
function refusedReason(name: string, value: unknown): string | undefined {
  if (name === "set-cookie") return "use response.cookies";
  if (name === "location") return "a redirect needs a route";
  if (name.startsWith("access-control-")) return "CorsMiddleware sets it";
  if (isServiceHeader(name)) return "it is one of Seamline's own";
  if (ofContent.test(name)) return "it depends on the result";
  if (name === "x-content-type-options" && value !== "nosniff") return "each answer has 'nosniff'";
  return isHopByHop(name) || name.startsWith("proxy-") ? "it belongs to the connection" : undefined;
}

/** The name in lower case. Throws TypeError if the header can't be set, or can't have the value. */
export function checkedSetting(name: unknown, value: unknown): string {
  const key = checkedHeader(name, value);
  const reason = refusedReason(key, value);
  if (reason !== undefined) throw new TypeError(`response.headers can't set '${key}': ${reason}`);
  return key;
}
