// Creates and changes elements. Never parses markup: callers choose texts that the page shows, and
// its policy forbids it.

type Child = Node | string | number | null | undefined | false;
type Handler = (event: never) => void;
export type Attributes = Readonly<
  Record<string, string | number | boolean | Handler | null | undefined>
>;

/**
 * `on…` attributes are listeners, `true` has no value; `undefined`, `null` and `false` are omitted.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function")
      element.addEventListener(name.slice(2), value as unknown as EventListener);
    else if (value !== undefined && value !== null && value !== false)
      element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element: Element, children: readonly Child[]): void {
  for (const child of children)
    if (child !== undefined && child !== null && child !== false)
      element.append(typeof child === "number" ? String(child) : child);
}

/** Replaces all children. */
export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren();
  append(element, children);
}

/** Sets a text only if it differs, as each write reaches screen readers and the layout. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Makes `children` the only children. Children that are in place aren't touched, so they keep the focus. */
export function arrange(element: Element, children: readonly Element[]): void {
  const kept = new Set(children);
  for (const child of Array.from(element.children)) if (!kept.has(child)) child.remove();
  let before = element.firstElementChild;
  for (const child of children)
    if (child === before) before = before.nextElementSibling;
    else element.insertBefore(child, before);
}

/** Roving focus: arrow keys move between the rows of a list, and Tab reaches one of them. */
export function rove(list: HTMLElement, rows: () => readonly HTMLElement[]): void {
  list.addEventListener("keydown", (event) => {
    const all = rows();
    const at = all.indexOf(
      (event.target as HTMLElement).closest<HTMLElement>("[data-row]") as HTMLElement,
    );
    if (at < 0) return;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined || all[to] === undefined) return;
    event.preventDefault();
    for (const row of all) row.tabIndex = row === all[to] ? 0 : -1;
    all[to].focus();
  });
}

export const narrow: MediaQueryList = matchMedia("(max-width: 640px)");

/** Height of a table's row in pixels: `--row` in styles/base.css. */
export function rowHeight(): number {
  return narrow.matches ? 56 : 36;
}

/** A table with a fixed header; `body` takes the rows. */
export function gridOf(
  name: string,
  label: string,
  heads: readonly string[],
  body: HTMLElement,
): HTMLElement {
  const head = h(
    "div",
    { class: "row header", role: "row" },
    ...heads.map((text) => h("div", { role: "columnheader" }, text)),
  );
  return h(
    "div",
    { class: `grid ${name}`, role: "grid", "aria-label": label, "aria-colcount": heads.length },
    h(
      "div",
      { class: "scroller", role: "presentation" },
      h("div", { role: "rowgroup", class: "head" }, head),
      body,
    ),
  );
}
