// Draws lines between the map's boxes, and calls as dots that run along them. Positions are read
// when the layout changes, never in a frame; nothing is drawn while no dot runs or the map is out
// of sight. It is a canvas because dots as animated elements cost twice as much: a browser creates
// a layer whenever one begins or ends (lab/bench/console-page.mjs).

import type { Caller } from "../../console-state.ts";
import { travelMs } from "../base/times.ts";

/** Boxes of the map; without a hub the member is the service itself. */
export interface Layout {
  readonly stage: HTMLElement;
  readonly callers: Readonly<Record<"browser" | "outside", HTMLElement>>;
  readonly hub: HTMLElement | undefined;
  readonly members: ReadonlyMap<string, HTMLElement>;
  readonly lines: boolean;
}

interface Line {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
  /** The boxes lie side by side, so the curve bends horizontally. */
  readonly across: boolean;
}

interface Dot {
  readonly line: Line;
  readonly start: number;
  readonly bad: boolean;
}

/** Dots per update and line, and in total: more can't be told apart and cost frames. */
const maxDotsPerFlow = 6;
const maxDots = 160;
/** Pixels around the lines: half of the largest dot. */
const margin = 5;

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

export class FlowCanvas {
  readonly element: HTMLCanvasElement = document.createElement("canvas");
  readonly #context = this.element.getContext("2d");
  #dots: Dot[] = [];
  #lines = new Map<string, Line>();
  #still: readonly Line[] = [];
  #frame = 0;
  #inSight = false;
  #area = new DOMRect();
  #colours = { line: "", dot: "", bad: "" };

  constructor() {
    this.element.setAttribute("aria-hidden", "true");
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    addEventListener("themechange", () => this.repaint());
    new IntersectionObserver(
      (seen) => (this.#inSight = seen.at(-1)?.isIntersecting === true),
    ).observe(this.element);
  }

  measure({ stage, callers, hub, members, lines }: Layout): void {
    const box = stage.getBoundingClientRect();
    const placeOf = (element: HTMLElement): DOMRect => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return new DOMRect(x - box.x - stage.clientLeft, y - box.y - stage.clientTop, width, height);
    };
    this.#lines.clear();
    this.#dots = [];
    const places = new Map([...members].map(([id, element]) => [id, placeOf(element)]));
    const middle = hub && placeOf(hub);
    const drawn: Line[] = [];
    for (const caller of ["browser", "outside"] as const) {
      const from = placeOf(callers[caller]);
      for (const [id, to] of middle === undefined ? places : [["", middle] as const]) {
        const line = lineOf(from, to);
        this.#lines.set(`${caller} ${id}`, line);
        drawn.push(line);
      }
    }
    if (middle !== undefined && lines)
      for (const [id, to] of places) {
        const line = lineOf(middle, to);
        this.#lines.set(`hub ${id}`, line);
        drawn.push(line);
      }
    this.#still = drawn;
    this.#place();
    this.repaint();
  }

  /** Sizes the canvas to the lines, so that fewer pixels are repainted. */
  #place(): void {
    const across = this.#still.flatMap(({ x1, x2 }) => [x1, x2]);
    const down = this.#still.flatMap(({ y1, y2 }) => [y1, y2]);
    const [x, y] = [
      Math.floor(Math.min(...across)) - margin,
      Math.floor(Math.min(...down)) - margin,
    ];
    const [width, height] = [
      Math.ceil(Math.max(...across)) + margin - x,
      Math.ceil(Math.max(...down)) + margin - y,
    ];
    this.#area = this.#still.length === 0 ? new DOMRect() : new DOMRect(x, y, width, height);
    const ratio = devicePixelRatio || 1;
    const { style } = this.element;
    for (const [name, size] of Object.entries({ left: x, top: y, width, height }))
      style.setProperty(name, `${size}px`);
    this.element.width = Math.round(this.#area.width * ratio);
    this.element.height = Math.round(this.#area.height * ratio);
    this.#context?.setTransform(ratio, 0, 0, ratio, -x * ratio, -y * ratio);
  }

  /** Shows calls that run from a caller to a member. */
  flow({
    from,
    to,
    calls,
    failures,
  }: {
    from: Caller;
    to: string | undefined;
    calls: number;
    failures: number;
  }): void {
    if (reducedMotion.matches || !this.#inSight) return;
    const caller =
      from === "browser"
        ? "browser"
        : from === "member" || from === "local"
          ? undefined
          : "outside";
    const now = performance.now();
    const number = Math.min(maxDotsPerFlow, calls);
    for (let at = 0; at < number && this.#dots.length < maxDots; at++) {
      const start = now + (at * 250) / number;
      const bad = at < Math.min(number, Math.ceil((failures / calls) * number));
      const first = caller && (this.#lines.get(`${caller} `) ?? this.#lines.get(`${caller} ${to}`));
      if (first !== undefined) this.#dots.push({ line: first, start, bad });
      const second = to === undefined ? undefined : this.#lines.get(`hub ${to}`);
      if (second !== undefined)
        this.#dots.push({
          line: second,
          start: first === undefined ? start : start + travelMs,
          bad,
        });
    }
    if (this.#dots.length > 0 && this.#frame === 0) this.#frame = requestAnimationFrame(this.#draw);
  }

  repaint(): void {
    const { color, fill, stroke } = getComputedStyle(this.element);
    this.#colours = { line: color, dot: fill, bad: stroke };
    if (this.#frame === 0) this.#paint(performance.now());
  }

  readonly #draw = (): void => {
    const now = performance.now();
    this.#dots = this.#inSight ? this.#dots.filter(({ start }) => now - start < travelMs) : [];
    this.#paint(now);
    this.#frame = this.#dots.length === 0 ? 0 : requestAnimationFrame(this.#draw);
  };

  #paint(now: number): void {
    const context = this.#context;
    if (context === null) return;
    const { x: left, y: top, width, height } = this.#area;
    context.clearRect(left, top, width, height);
    context.strokeStyle = this.#colours.line;
    context.lineWidth = 1.25;
    context.beginPath();
    for (const line of this.#still) {
      const { x1, y1, x2, y2, across } = line;
      context.moveTo(x1, y1);
      if (across) context.bezierCurveTo((x1 + x2) / 2, y1, (x1 + x2) / 2, y2, x2, y2);
      else context.bezierCurveTo(x1, (y1 + y2) / 2, x2, (y1 + y2) / 2, x2, y2);
    }
    context.stroke();
    for (const { line, start, bad } of this.#dots) {
      const part = (now - start) / travelMs;
      if (part < 0) continue;
      const [x, y] = pointOf(line, part);
      context.fillStyle = bad ? this.#colours.bad : this.#colours.dot;
      context.beginPath();
      context.arc(x, y, bad ? 4 : 3, 0, 2 * Math.PI);
      context.fill();
    }
  }
}

/** A line between the facing sides of two boxes. */
function lineOf(from: DOMRect, to: DOMRect): Line {
  if (to.left >= from.right)
    return {
      x1: from.right,
      y1: from.top + from.height / 2,
      x2: to.left,
      y2: to.top + to.height / 2,
      across: true,
    };
  return {
    x1: from.left + from.width / 2,
    y1: from.bottom,
    x2: to.left + to.width / 2,
    y2: Math.max(to.top, from.bottom),
    across: false,
  };
}

function pointOf({ x1, y1, x2, y2, across }: Line, part: number): readonly [number, number] {
  const rest = 1 - part;
  const [cx1, cy1, cx2, cy2] = across
    ? [(x1 + x2) / 2, y1, (x1 + x2) / 2, y2]
    : [x1, (y1 + y2) / 2, x2, (y1 + y2) / 2];
  const mix = (a: number, b: number, c: number, d: number): number =>
    rest ** 3 * a + 3 * rest ** 2 * part * b + 3 * rest * part ** 2 * c + part ** 3 * d;
  return [mix(x1, cx1, cx2, x2), mix(y1, cy1, cy2, y2)];
}
