// A row of the list of calls. It is made once, and then written for one call after the other: new texts in the elements that are there cost a
// browser a fraction of new elements.

import type { SeenCall } from "../../src/console/state.ts";
import { h } from "./dom.ts";
import { bytes, callers, duration, failed, memberName, outcome, versionText } from "./format.ts";
import type { Model } from "./model.ts";

export class CallRow {
  readonly element: HTMLElement;
  call: SeenCall;
  /** What stands in it. */
  written: SeenCall | undefined;
  readonly #badge: HTMLElement;
  readonly #texts = Array.from({ length: 8 }, () => new Text());

  constructor(call: SeenCall) {
    this.call = call;
    const [time, fqn, version, route, sent, got, took, result] = this.#texts;
    this.#badge = h("span", {}, result);
    const cell = (kind: string, ...content: readonly (Node | undefined)[]): HTMLElement =>
      h("div", { role: "gridcell", class: kind }, ...content);
    this.element = h(
      "div",
      { role: "row", "data-row": "", tabindex: -1 },
      cell("time number", time),
      cell("fqn", fqn, h("small", {}, version)),
      cell("route", route),
      cell("number sent", sent),
      cell("number got", got),
      cell("number took", took),
      cell("result", this.#badge),
    );
  }

  /** It shows another call than its own. */
  get stale(): boolean {
    return this.written !== this.call;
  }

  /** It becomes the row of another call, which it shows once it is written. */
  take(call: SeenCall): this {
    this.call = call;
    return this;
  }

  write(model: Model): void {
    const { call } = this;
    this.written = call;
    const texts = [
      timeOf(call, model),
      call.fqn,
      ` ${versionText(call.version)}`,
      routeOf(call, model),
      bytes(call.arguments),
      bytes(call.result),
      duration(call.ms),
      outcome(call),
    ];
    for (const [at, text] of this.#texts.entries())
      if (text.data !== texts[at]) text.data = texts[at]!;
    setClass(this.element, failed(call) ? "row failed" : "row");
    setClass(this.#badge, failed(call) ? "badge bad" : "badge good");
  }
}

function setClass(element: HTMLElement, name: string): void {
  if (element.className !== name) element.className = name;
}

/** When a call ended, by the clock on this page's wall. */
export function timeOf(call: SeenCall, model: Model): string {
  const at = new Date(call.at + model.offset);
  return `${at.toTimeString().slice(0, 8)}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

export function routeOf(call: SeenCall, model: Model): string {
  const member = model.placeOf(call);
  const to = call.node ?? (member === undefined ? undefined : memberName(member));
  return to === undefined ? callers[call.from] : `${callers[call.from]} → ${to}`;
}
