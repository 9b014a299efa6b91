type Child = Node | string | false | null | undefined;
type Attributes = Readonly<
  Record<string, string | number | boolean | ((event: Event) => void) | undefined>
>;

/**
 * Creates an element: `on…` are listeners, `true` is an empty attribute, `false` and `undefined`
 * none.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(
    ...children.filter((child) => child !== false && child !== null && child !== undefined),
  );
  return element;
}

/** Finds an element of index.html. */
export function byId(id: string): HTMLElement;
export function byId<T extends HTMLElement>(id: string, kind: new () => T): T;
export function byId(id: string, kind: new () => HTMLElement = HTMLElement): HTMLElement {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`index.html has no ${kind.name} #${id}`);
  return element;
}

/** Debounces `act`: it runs once there was no call for `ms`. */
export function debounced<A extends readonly unknown[]>(
  ms: number,
  act: (...args: A) => void,
): (...args: A) => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(act, ms, ...args);
  };
}

const dates = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "long",
  year: "numeric",
  timeZone: "UTC",
});
const days = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "long",
  timeZone: "UTC",
});

export const dateText = (date: Date): string => dates.format(date);
export const dayText = (date: Date): string => days.format(date);
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);
