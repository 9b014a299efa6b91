// The list of the last calls, newest first, and a call's dialog.

import type { SeenCall } from "../../console-state.ts";
import { CallRow, routeOf, timeOf } from "./call-row.ts";
import { openDialog } from "../base/dialog.ts";
import { arrange, fill, gridOf, h, rove, rowHeight, setText } from "../base/dom.ts";
import { bytes, duration, failed, outcome, versionText } from "../base/format.ts";
import type { Model } from "../base/model.ts";
import { drawIntervalMs, rushIntervalMs } from "../base/times.ts";

const heads = ["Time", "Procedure", "Route", "Sent", "Got", "Took", "Result"];
/** More new calls than this per update can't be read anyway, so the list updates less often. */
const rushCalls = 20;
/** Rows written per frame; visible ones come first. */
const rowsPerFrame = 16;

export function callsView(model: Model): HTMLElement {
  const body = h("div", { role: "rowgroup" });
  const grid = gridOf("calls-grid", "Last calls", heads, body);
  const empty = h("p", { class: "empty" }, "No call yet. Calls show here as they pass.");
  const pause = h("button", { type: "button", "aria-pressed": "false" }, "Pause");
  const only = h("input", { type: "checkbox", id: "only-failures" });
  const note = h("p", { class: "note", role: "status" });
  /** The calls of the rows. */
  let listed: readonly SeenCall[] = [];
  /** The list stands still: the user paused it, or is about to open a call. */
  let held = false;
  let paused = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let drawnAt = 0;
  let rows: readonly CallRow[] = [];
  let frame = 0;
  // Cached, as reading scrollTop between writes forces a layout.
  let scrolled = 0;
  const scroller = grid.firstElementChild!;
  scroller.addEventListener("scroll", () => (scrolled = scroller.scrollTop), { passive: true });

  const draw = (): void => {
    clearTimeout(timer);
    timer = undefined;
    drawnAt = performance.now();
    if (!held) listed = model.calls;
    const calls = listed.filter((call) => !only.checked || failed(call));
    const kept = new Map(rows.map((row) => [row.call.number, row]));
    const numbers = new Set(calls.map(({ number }) => number));
    // Reuses the rows of calls that left the list, so that no row is created or moved.
    const free = rows.filter((row) => !numbers.has(row.call.number));
    const focused = body.contains(document.activeElement)
      ? (document.activeElement as HTMLElement)
      : undefined;
    for (const { element } of free) element.tabIndex = -1;
    rows = calls.map(
      (call) => (kept.get(call.number) ?? free.shift())?.assign(call) ?? new CallRow(call),
    );
    arrange(body, elements());
    const first = rows[0]?.element;
    if (first !== undefined && !rows.some(({ element }) => element.tabIndex === 0))
      first.tabIndex = 0;
    if (focused !== undefined && !focused.isConnected) first?.focus({ preventScroll: true });
    empty.hidden = calls.length > 0;
    setText(
      empty,
      only.checked
        ? "No failure among the last calls."
        : "No call yet. Calls show here as they pass.",
    );
    cancelAnimationFrame(frame);
    write();
  };
  const elements = (): HTMLElement[] => rows.map(({ element }) => element);

  /** Writes some rows now and the rest in the following frames. */
  const write = (): void => {
    const stale = rows.filter((row) => row.stale);
    const top = Math.floor(scrolled / rowHeight());
    const near = rows.slice(top, top + rowsPerFrame).filter((row) => row.stale);
    for (const row of near.length > 0 ? near : stale.slice(0, rowsPerFrame)) row.write(model);
    if (rows.some((row) => row.stale)) frame = requestAnimationFrame(write);
  };

  model.onChange((parts) => {
    if (!parts.has("calls") || held || timer !== undefined) return;
    const news = (model.calls[0]?.number ?? 0) - (listed[0]?.number ?? 0);
    const interval = news > rushCalls ? rushIntervalMs : drawIntervalMs;
    const wait = listed.length === 0 ? 0 : interval;
    timer = setTimeout(draw, Math.max(0, drawnAt + wait - performance.now()));
  });
  const hold = (): void => {
    const isStill = paused || grid.matches(":hover") || grid.contains(document.activeElement);
    const reason = paused ? "paused" : "held while you are in it";
    setText(note, isStill ? reason : "");
    if (isStill === held) return;
    held = isStill;
    if (!held) draw();
  };
  for (const event of ["pointerenter", "pointerleave", "focusin"])
    grid.addEventListener(event, hold);
  // During the event, the focus hasn't left yet.
  grid.addEventListener("focusout", () => setTimeout(hold));
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    setText(pause, paused ? "Resume" : "Pause");
    hold();
  });
  only.addEventListener("change", draw);
  const openRow = (event: Event): void => {
    const call = rows.find(({ element }) => element.contains(event.target as Node))?.written;
    if (call !== undefined)
      openDialog(`${call.fqn} ${versionText(call.version)}`, details(call, model));
  };
  grid.addEventListener("click", openRow);
  grid.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    openRow(event);
  });
  rove(grid, elements);
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

function details(call: SeenCall, model: Model): HTMLElement {
  const facts = h("dl", { class: "facts" });
  const add = (name: string, text: string): void =>
    facts.append(h("div", {}, h("dt", {}, name), h("dd", {}, text)));
  add("Result", outcome(call));
  if (call.message !== undefined) add("Message", call.message);
  add("Ended", timeOf(call, model));
  add("Took", duration(call.ms));
  add("Route", routeOf(call, model));
  if (call.hops > 0)
    add("Passed before", `${call.hops} ${call.hops === 1 ? "service" : "services"}`);
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
      failed(call) && call.message === undefined
        ? "Arguments and results aren't shown here. The node's log has the message of this error."
        : "Arguments and results aren't shown here.",
    ),
  );
}
