import { byId } from "./dom.ts";

/** Shows a page in `main`. `signal` aborts when another page replaces it. */
export type View = (
  main: HTMLElement,
  argument: string,
  signal: AbortSignal,
) => void | Promise<void>;

let leaving = new AbortController();

/** Shows the view for the address (`#/cloth/TA-0001`), now and whenever it changes. */
export function startRouter(views: Readonly<Record<string, View>>): void {
  const main = byId("main");
  const show = (moved: boolean): void => {
    const [name = "", ...rest] = location.hash.replace(/^#\/?/, "").split("/");
    if (moved && !/^#?\/|^$/.test(location.hash.slice(1))) return; // the skip link
    leaving.abort();
    leaving = new AbortController();
    document.body.dataset["view"] = name in views ? name : "";
    main.replaceChildren();
    void (views[name] ?? views[""])?.(main, decoded(rest.join("/")), leaving.signal);
    for (const link of document.querySelectorAll("[data-route]"))
      if (link.getAttribute("data-route") === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    if (moved) {
      scrollTo({ top: 0 });
      // Users who are typing keep the focus.
      if (!(document.activeElement instanceof HTMLInputElement))
        main.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
    }
  };
  addEventListener("hashchange", () => show(true));
  show(false);
}

/** A typed address may contain a stray `%`, which is then taken literally. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
