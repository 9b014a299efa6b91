// The client's view of the page: its origin, its build's revision, and its module map.

import type { ModuleNamespace } from "../src/base/ports.ts";
import type { Browser } from "./page-parts.ts";

// Workers have no document.
const find = (selector: string): Element | null | undefined =>
  globalThis.document?.querySelector(selector);

/** The page or worker that `/svc/client.js` runs in. */
export const browser: Browser = {
  clock: {
    now: () => performance.now(),
    after(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  },
  get base() {
    // A CDN may have served the runtime, but calls are for the page's origin.
    return (
      location.origin + new URL(import.meta.url).pathname.replace(/\/svc(\/\w+)?\/\w+\.js$/, "")
    );
  },
  get revision() {
    return (find("meta[name=seamline-revision]") as HTMLMetaElement | null | undefined)?.content;
  },
  get manifest() {
    return find("#seamline-manifest")?.textContent;
  },
  async preload(url, integrity) {
    const sheet = url.endsWith(".css");
    const link = globalThis.document?.createElement("link");
    if (
      sheet
        ? link && ![...document.styleSheets].some(({ href }) => href === url)
        : link?.relList.supports("modulepreload")
    )
      await new Promise((onload, onerror) => {
        const rel = sheet ? "stylesheet" : "modulepreload";
        document.head.append(Object.assign(link, { rel, integrity, href: url, onload, onerror }));
      }).finally(() => sheet || link?.remove());
    // Workers have no <link> and older browsers no modulepreload.
    else if (!sheet) await (await import("./rare.ts")).fetchFile(url, integrity);
  },
  import: (url) => import(/* @vite-ignore */ url) as Promise<ModuleNamespace>,
  // oxlint-disable-next-line no-console -- a page has no other log
  warn: (line, cause) => console.warn(`Seamline: ${line}`, cause),
};
