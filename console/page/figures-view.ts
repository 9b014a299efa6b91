// The figures at the top: calls per second with a chart of the last minute, failures, latency,
// members and browsers.

import { h, setText } from "./base/dom.ts";
import { count, durations, rate } from "./base/format.ts";
import type { Model } from "./base/model.ts";

/** Calls per second are an average over this many whole seconds. */
const averageSeconds = 5;

interface Figure {
  readonly element: HTMLElement;
  set(value: string, note: string): void;
}

function figure(label: string, ...charts: readonly Node[]): Figure {
  const value = h("dd", { class: "value" }, "–");
  const note = h("dd", { class: "note" }, "");
  return {
    element: h("div", { class: "figure" }, h("dt", {}, label), value, note, ...charts),
    set(newValue, newNote) {
      setText(value, newValue);
      setText(note, newNote);
    },
  };
}

export function figuresView(model: Model): HTMLElement {
  const chart = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const pathOf = (className: string): SVGPathElement => {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("class", className);
    return path;
  };
  const bars = pathOf("");
  const reds = pathOf("bad");
  chart.setAttribute("viewBox", "0 0 120 28");
  chart.setAttribute("preserveAspectRatio", "none");
  chart.setAttribute("class", "course");
  chart.setAttribute("aria-hidden", "true");
  chart.append(bars, reds);
  const box = h("dd", { class: "chart" });
  box.append(chart);
  const calls = figure("Calls per second", box);
  const failures = figure("Failures, last minute");
  const latency = figure("Latency p50 / p95");
  const members = figure("In rotation");
  const browsers = figure("Browsers, last minute");

  model.onChange((parts) => {
    if (!parts.has("figures") && !parts.has("members")) return;
    const { figures } = model;
    if (figures === undefined) return;
    const whole = figures.seconds.slice(0, -1);
    const seconds = Math.min(
      averageSeconds,
      Math.max(1, Math.floor((figures.now - figures.since) / 1000)),
    );
    const recent = whole.slice(-seconds).reduce((sum, [number]) => sum + number, 0) / seconds;
    calls.set(
      rate(recent),
      `${count(figures.calls)} since ${new Date(figures.since + model.offset).toLocaleTimeString("en-GB")}`,
    );
    const all = figures.seconds.reduce((sum, [number]) => sum + number, 0);
    const bad = figures.seconds.reduce((sum, [, number]) => sum + number, 0);
    failures.set(
      count(bad),
      all === 0
        ? "no calls"
        : `${((100 * bad) / all).toFixed(bad === 0 ? 0 : 1)} % of ${count(all)} calls`,
    );
    failures.element.classList.toggle("bad", bad > 0);
    latency.set(
      figures.p50 === undefined || figures.p95 === undefined
        ? "–"
        : durations(figures.p50, figures.p95),
      figures.open === 0 ? "none under way" : `${count(figures.open)} under way`,
    );
    // Calls of this gateway go to its own members only.
    const own = model.members.filter(({ isElsewhere }) => isElsewhere !== true);
    const ready = own.filter(({ state }) => state === "ready").length;
    members.set(
      `${ready} of ${own.length}`,
      ready === own.length ? "all members healthy" : `${own.length - ready} out`,
    );
    members.element.classList.toggle("bad", ready < own.length);
    browsers.set(count(figures.browsers), figures.sites.join(", ") || "none has called");
    draw(bars, reds, whole);
  });
  return h(
    "dl",
    { class: "figures" },
    ...[calls, failures, latency, members, browsers].map(({ element }) => element),
  );
}

/** Draws all bars as one path, as each path costs a layout. */
function draw(
  bars: SVGPathElement,
  reds: SVGPathElement,
  seconds: readonly (readonly [number, number])[],
): void {
  const most = Math.max(1, ...seconds.map(([calls]) => calls));
  const bar = (number: number, at: number, least: number): string => {
    const size = number === 0 ? least : Math.max(1.5, (number / most) * 26);
    return size === 0 ? "" : `M${at * 2 + 1} 28v-${size.toFixed(1)}`;
  };
  const set = (path: SVGPathElement, text: string): void => {
    if (path.getAttribute("d") !== text) path.setAttribute("d", text);
  };
  set(bars, seconds.map(([calls], at) => bar(calls, at, 0.5)).join(""));
  set(reds, seconds.map(([, failures], at) => bar(failures, at, 0)).join(""));
}
