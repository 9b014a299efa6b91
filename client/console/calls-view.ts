// The last calls, the newest first, and one of them in full.

import type { SeenCall } from "../../src/console/state.ts";
import { openDialog } from "./dialog.ts";
import { fill, gridOf, h, rove, setText } from "./dom.ts";
import { bytes, callers, duration, failed, memberName, outcome, versionText } from "./format.ts";
import type { Model } from "./model.ts";

const heads = ["Time", "Procedure", "Route", "Sent", "Got", "Took", "Result"];
/** The list is drawn so often at most, in ms; where most of it is new each time, nobody reads it, and it is drawn less often. */
const drawTime = 250;
const rushTime = 1_000;
const rush = 20;

export function callsView(model: Model): HTMLElement {
  const body = h("div", { role: "rowgroup" });
  const grid = gridOf("calls-grid", "Last calls", heads, body);
  const empty = h("p", { class: "empty" }, "No call yet. Calls show here as they pass.");
  const pause = h("button", { type: "button", "aria-pressed": "false" }, "Pause");
  const only = h("input", { type: "checkbox", id: "only-failures" });
  const note = h("p", { class: "note", role: "status" });
  /** What is shown while the list stands still: somebody asked for that, or is about to choose one. */
  let held: readonly SeenCall[] | undefined;
  let paused = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let drawnAt = 0;
  let newest = 0;
  let rows = new Map<number, HTMLElement>();

  const draw = (): void => {
    clearTimeout(timer);
    timer = undefined;
    drawnAt = performance.now();
    newest = model.calls[0]?.number ?? 0;
    const calls = (held ?? model.calls).filter((call) => !only.checked || failed(call));
    const kept = new Map<number, HTMLElement>();
    for (const call of calls) kept.set(call.number, rows.get(call.number) ?? rowOf(call, model));
    const focused = body.contains(document.activeElement) ? (document.activeElement as HTMLElement) : undefined;
    for (const [number, row] of rows) if (!kept.has(number)) row.remove();
    // Only what is new is put in: what has the focus keeps it.
    let before: Element | null = body.firstElementChild;
    for (const row of kept.values())
      if (row === before) before = before.nextElementSibling;
      else body.insertBefore(row, before);
    rows = kept;
    const all = [...kept.values()];
    if (!all.some((row) => row.tabIndex === 0) && all[0] !== undefined) all[0].tabIndex = 0;
    if (focused !== undefined && !focused.isConnected) all[0]?.focus({ preventScroll: true });
    empty.hidden = calls.length > 0;
    setText(empty, only.checked ? "No failure among the last calls." : "No call yet. Calls show here as they pass.");
  };

  model.onChange((parts) => {
    if (!parts.has("calls") || held !== undefined || timer !== undefined) return;
    const wait = (model.calls[0]?.number ?? 0) - newest > rush ? rushTime : drawTime;
    timer = setTimeout(draw, Math.max(0, drawnAt + wait - performance.now()));
  });
  const hold = (): void => {
    const still = paused || grid.matches(":hover") || grid.contains(document.activeElement);
    setText(note, !still ? "" : paused ? "paused" : "held while you are in it");
    if (still === (held !== undefined)) return;
    held = still ? model.calls : undefined;
    if (!still) draw();
  };
  for (const event of ["pointerenter", "pointerleave", "focusin"]) grid.addEventListener(event, hold);
  // The focus has left when the event is over.
  grid.addEventListener("focusout", () => setTimeout(hold));
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    setText(pause, paused ? "Go on" : "Pause");
    hold();
  });
  only.addEventListener("change", draw);
  const openRow = (event: Event): void => {
    const number = Number((event.target as HTMLElement).closest<HTMLElement>("[data-row]")?.dataset["row"] ?? Number.NaN);
    const call = (held ?? model.calls).find((one) => one.number === number);
    if (call !== undefined) openDialog(`${call.fqn} ${versionText(call.version)}`, details(call, model));
  };
  grid.addEventListener("click", openRow);
  grid.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    openRow(event);
  });
  rove(grid, () => [...rows.values()]);
  draw();
  return h(
    "section",
    { id: "calls", "aria-labelledby": "calls-title" },
    h(
      "div",
      { class: "section-head" },
      h("h2", { id: "calls-title" }, "Last calls"),
      note,
      h("div", { class: "field" }, h("label", { class: "check" }, only, "Failures only"), pause),
    ),
    grid,
    empty,
  );
}

function timeOf(call: SeenCall, model: Model): string {
  const at = new Date(call.at + model.offset);
  return `${at.toLocaleTimeString("en-GB")}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

function routeOf(call: SeenCall, model: Model): string {
  const member = model.placeOf(call);
  const to = call.node ?? (member === undefined ? undefined : memberName(member));
  return to === undefined ? callers[call.from] : `${callers[call.from]} → ${to}`;
}

function rowOf(call: SeenCall, model: Model): HTMLElement {
  const cell = (kind: string, ...text: readonly (string | Node)[]): HTMLElement => h("div", { role: "gridcell", class: kind }, ...text);
  return h(
    "div",
    { class: `row ${failed(call) ? "failed" : ""}`, role: "row", "data-row": call.number, tabindex: -1 },
    cell("time number", timeOf(call, model)),
    cell("fqn", call.fqn, h("small", {}, ` ${versionText(call.version)}`)),
    cell("route", routeOf(call, model)),
    cell("number sent", bytes(call.arguments)),
    cell("number got", bytes(call.result)),
    cell("number took", duration(call.ms)),
    cell("result", h("span", { class: `badge ${failed(call) ? "bad" : "good"}` }, outcome(call))),
  );
}

function details(call: SeenCall, model: Model): HTMLElement {
  const facts = h("dl", { class: "facts" });
  const add = (name: string, text: string): void => facts.append(h("div", {}, h("dt", {}, name), h("dd", {}, text)));
  add("Result", outcome(call));
  add("Ended", timeOf(call, model));
  add("Took", duration(call.ms));
  add("Route", routeOf(call, model));
  if (call.hops > 0) add("Passed before", `${call.hops} ${call.hops === 1 ? "service" : "services"}`);
  if (call.method !== undefined) add("Method", call.method);
  add("Arguments", bytes(call.arguments));
  add("Answer", bytes(call.result));
  const trace = h("div", {});
  if (call.trace !== undefined)
    fill(
      trace,
      h("h3", {}, "Trace, the origin first"),
      h("ol", { class: "trace" }, ...call.trace.map((line) => h("li", {}, h("code", {}, line)))),
    );
  return h(
    "div",
    {},
    facts,
    trace,
    h(
      "p",
      { class: "note remark" },
      "Values of arguments and results, and messages of errors, are not shown here: the node's log has those.",
    ),
  );
}
