// The figures at the top: calls per second with a minute's course, failures, latency, members, browsers.

import { h, setText } from "./dom.ts";
import { count, durations, rate } from "./format.ts";
import type { Model } from "./model.ts";

/** Calls per second are of so many whole seconds. */
const span = 5;

interface Figure {
  readonly element: HTMLElement;
  set(value: string, note: string): void;
}

function figure(label: string, ...more: readonly Node[]): Figure {
  const value = h("dd", { class: "value" }, "–");
  const note = h("dd", { class: "note" }, "");
  return {
    element: h("div", { class: "figure" }, h("dt", {}, label), value, note, ...more),
    set(text, below) {
      setText(value, text);
      setText(note, below);
    },
  };
}

export function figuresView(model: Model): HTMLElement {
  const course = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const pathOf = (className: string): SVGPathElement => {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("class", className);
    return path;
  };
  const bars = pathOf("");
  const reds = pathOf("bad");
  course.setAttribute("viewBox", "0 0 120 28");
  course.setAttribute("preserveAspectRatio", "none");
  course.setAttribute("class", "course");
  course.setAttribute("aria-hidden", "true");
  course.append(bars, reds);
  const box = h("dd", { class: "chart" });
  box.append(course);
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
    const seconds = Math.min(span, Math.max(1, Math.floor((figures.now - figures.since) / 1000)));
    const recent = whole.slice(-seconds).reduce((sum, [one]) => sum + one, 0) / seconds;
    calls.set(
      rate(recent),
      `${count(figures.calls)} since ${new Date(figures.since + model.offset).toLocaleTimeString("en-GB")}`,
    );
    const [all, bad] = figures.seconds.reduce(
      ([a, b], [one, other]) => [a + one, b + other],
      [0, 0],
    );
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
    const ready = model.members.filter(({ state }) => state === "ready").length;
    members.set(
      `${ready} of ${model.members.length}`,
      ready === model.members.length
        ? "all members healthy"
        : `${model.members.length - ready} out`,
    );
    members.element.classList.toggle("bad", ready < model.members.length);
    browsers.set(count(figures.browsers), figures.sites.join(", ") || "none has called");
    draw(bars, reds, whole);
  });
  return h(
    "dl",
    { class: "figures" },
    ...[calls, failures, latency, members, browsers].map(({ element }) => element),
  );
}

/** All bars in one path: each path is laid out by itself. */
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
