// What a page lends to the client: its address, its build's revision, and its module map. No decisions here.

import type { Clock, ModuleNamespace } from "../src/ports.ts";

/** A page or a worker, as far as the client needs one. */
export interface Browser {
  readonly clock: Clock;
  /** `https://shop.example`: the service that the page came from takes its calls (§4.6). */
  readonly origin: string;
  /** Revision of the build that made the page; `undefined` for a page that no build made. */
  readonly revision: string | undefined;
  /** Fetches a module without running it, or puts a style sheet to use. Rejects when it is missing, or is not what `integrity` says. */
  preload(url: string, integrity: string): Promise<void>;
  import(url: string): Promise<ModuleNamespace>;
  warn(line: string, cause: unknown): void;
}

/** The surroundings that `/svc/client.js` runs in. */
export const browser: Browser = {
  clock: {
    now: () => performance.now(),
    after(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  },
  get origin() {
    return location.origin;
  },
  get revision() {
    return globalThis.document?.querySelector<HTMLMetaElement>("meta[name=seamline-revision]")
      ?.content;
  },
  async preload(url, integrity) {
    const sheet = url.endsWith(".css");
    const link = globalThis.document?.createElement("link");
    if (
      sheet
        ? link && ![...document.styleSheets].some(({ href }) => href === url)
        : link?.relList.supports("modulepreload")
    )
      await new Promise((resolve, reject) => {
        Object.assign(link as object, {
          rel: sheet ? "stylesheet" : "modulepreload",
          integrity,
          href: url,
          onload: resolve,
          onerror: reject,
        });
        document.head.append(link);
      }).finally(() => sheet || link?.remove());
    else if (!sheet) {
      // Workers have no links, and older browsers no modulepreload: the same check, by way of the HTTP cache.
      const response = await fetch(url, { integrity });
      if (!response.ok) throw new Error(`status ${response.status}`);
    }
  },
  import: (url) => import(/* @vite-ignore */ url) as Promise<ModuleNamespace>,
  // oxlint-disable-next-line no-console -- a page has no other log
  warn: (line, cause) => console.warn(`Seamline: ${line}`, cause),
};
