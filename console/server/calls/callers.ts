// Identifies callers: a service of the deployment, a browser, or another client.

import type { Caller, Figures } from "../../console-state.ts";
import type { HeaderFields, HttpRequest } from "../../../src/base/ports.ts";
import { serviceHeaders } from "../../../src/base/protocol.ts";
import type { Credentials } from "../../../src/http/trust.ts";
import { windowMs } from "../base/times.ts";
import { parsedUrl } from "../../../src/base/url.ts";

/** Bounded because clients can make up user agents. */
const maxBrowsers = 1_000;
const maxTextLength = 200;
const maxSites = 8;

export class Callers {
  readonly #trust: Credentials["of"];
  /** Browsers by site and kind. */
  readonly #browsers = new Map<string, { readonly site: string; readonly calledAt: number }>();

  constructor(trust: Credentials["of"]) {
    this.#trust = trust;
  }

  /** Identifies the caller of a request, and counts browsers. */
  identify(request: Pick<HttpRequest, "headers" | "from">, now: number): Caller {
    const { headers: fields } = request;
    if (this.#trust(request).trusted) return "member";
    const agent = textOf(fields["user-agent"]);
    // All browsers' user agents begin like this. A program that pretends to be one only appears in
    // the wrong box.
    if (!agent.startsWith("Mozilla/")) return "outside";
    const site = siteOf(fields);
    const key = `${site} ${agent}`;
    if (this.#browsers.has(key) || this.#browsers.size < maxBrowsers)
      this.#browsers.set(key, { site, calledAt: now });
    return "browser";
  }

  /** The browsers of the last minute. */
  browsers(now: number): Pick<Figures, "browsers" | "sites"> {
    for (const [key, { calledAt }] of this.#browsers)
      if (calledAt < now - windowMs) this.#browsers.delete(key);
    const sites = new Set([...this.#browsers.values()].map(({ site }) => site));
    return { browsers: this.#browsers.size, sites: [...sites].slice(0, maxSites) };
  }
}

/** A same-origin GET has no `Origin`, so the host stands in for it. */
function siteOf(fields: HeaderFields): string {
  const origin = String(fields["origin"] ?? "");
  const host = parsedUrl(origin)?.host ?? fields[serviceHeaders.forwardedHost] ?? fields["host"];
  return textOf(host);
}

function textOf(field: HeaderFields[string]): string {
  return String(field ?? "").slice(0, maxTextLength);
}
