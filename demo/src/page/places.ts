import type { ObservedCall } from "seamline/client";
import { byId, h } from "./dom.ts";

interface Lane {
  readonly element: HTMLElement;
  readonly rows: HTMLElement;
  readonly count: HTMLElement;
  readonly chip: HTMLElement;
  readonly procedures: Map<string, Row>;
  calls: number;
}

interface Row {
  readonly element: HTMLElement;
  readonly times: HTMLElement;
  readonly ms: HTMLElement;
  readonly bar: HTMLElement;
  calls: number;
}

const latest = 6;
const tones: Readonly<Record<string, string>> = {
  "This browser": "browser",
  "node A": "a",
  "node B": "b",
};
const lanes = new Map<string, Lane>();

/**
 * Shows where a call ran: in its place's lane, its procedure's row and the list of latest calls.
 */
export function showCall(call: ObservedCall): void {
  const place = call.where === "local" ? "This browser" : (call.node ?? "a node");
  const lane = lanes.get(place) ?? addLane(place);
  lane.calls++;
  lane.count.textContent = lane.calls === 1 ? "1 call" : `${lane.calls} calls`;
  lane.chip.lastElementChild!.textContent = String(lane.calls);
  const name = call.fqn.split("/").at(-1) ?? call.fqn;
  const row = lane.procedures.get(call.fqn) ?? addRow(lane, call.fqn);
  row.calls++;
  row.times.textContent = `×${row.calls}`;
  row.ms.textContent = time(call.ms);
  row.bar.style.setProperty("--length", String(Math.min(1, Math.log10(1 + call.ms * 4) / 3)));
  flash(row.element);
  flash(lane.chip);
  const failed =
    call.error instanceof Error ? call.error.name : call.error === undefined ? undefined : "failed";
  showLatest(place, name, call.ms, failed);
  byId("last-call").replaceChildren(h("code", {}, name), ` ${time(call.ms)}`);
}

/** Repeated calls, such as those of a shelf of swatches, share a line with a count. */
function showLatest(place: string, name: string, ms: number, failed: string | undefined): void {
  const list = byId("latest");
  const key = `${place} ${name} ${failed ?? ""}`;
  const same =
    list.firstElementChild instanceof HTMLElement && list.firstElementChild.dataset["key"] === key
      ? list.firstElementChild
      : undefined;
  const count = Number(same?.dataset["count"] ?? 0) + 1;
  const line = h(
    "li",
    { class: failed === undefined ? "" : "failed", "data-key": key, "data-count": count },
    dot(place),
    h("code", {}, name),
    h("span", { class: "what" }, failed ?? titleOf(place), count > 1 && ` ×${count}`),
    h("span", { class: "ms" }, time(ms)),
  );
  if (same === undefined) list.prepend(line);
  else same.replaceWith(line);
  while (list.childElementCount > latest) list.lastElementChild?.remove();
}

/** The lane of this browser, and the button that opens the strip on a small screen. */
export function startPlaces(): void {
  addLane("This browser");
  const toggle = byId("places-toggle");
  toggle.addEventListener("click", () => {
    const open = byId("places").classList.toggle("open");
    toggle.setAttribute("aria-expanded", String(open));
  });
}

function addLane(place: string): Lane {
  const rows = h("ul");
  const count = h("span", { class: "number" }, "no calls yet");
  const element = h(
    "section",
    { class: "lane", "data-tone": toneOf(place), "data-place": place },
    h("h3", {}, dot(place), titleOf(place), count),
    rows,
  );
  const chip = h(
    "span",
    { class: "chip", "data-tone": toneOf(place) },
    dot(place),
    place === "This browser" ? "Browser" : titleOf(place),
    h("b", {}, "0"),
  );
  const lane: Lane = { element, rows, count, chip, procedures: new Map(), calls: 0 };
  lanes.set(place, lane);
  // Nodes are sorted by name, whichever answers first.
  const after = [...lanes.keys()]
    .filter((name) => name !== "This browser" && name > place)
    .sort()[0];
  const next = place === "This browser" || after === undefined ? undefined : lanes.get(after);
  if (place === "This browser") byId("local").append(element);
  else byId("remote").insertBefore(element, next?.element ?? null);
  byId("chips").insertBefore(chip, next?.chip ?? null);
  byId("places").dataset["nodes"] = String(lanes.size - 1);
  return lane;
}

function addRow(lane: Lane, fqn: string): Row {
  const [times, ms, bar] = [
    h("span", { class: "times" }),
    h("span", { class: "ms" }),
    h("span", { class: "bar" }),
  ];
  const at = fqn.lastIndexOf("/") + 1;
  const element = h(
    "li",
    {},
    h("code", {}, h("span", {}, fqn.slice(0, at)), fqn.slice(at)),
    times,
    ms,
    bar,
  );
  const row: Row = { element, times, ms, bar, calls: 0 };
  lane.procedures.set(fqn, row);
  const sorted = [...lane.procedures]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { element: each }]) => each);
  lane.rows.append(...sorted);
  return row;
}

const titleOf = (place: string): string => place.charAt(0).toUpperCase() + place.slice(1);
const toneOf = (place: string): string => tones[place] ?? "other";
const dot = (place: string): HTMLElement =>
  h("span", { class: "dot", "data-tone": toneOf(place), "aria-hidden": "true" });
const time = (ms: number): string =>
  ms < 0.1 ? "<0.1 ms" : ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;

function flash(element: HTMLElement): void {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  element.animate?.([{ backgroundColor: "var(--flash)" }, { backgroundColor: "transparent" }], {
    duration: 700,
    easing: "ease-out",
  });
}
