// A row of the list of calls. Rows are reused, as changing an element's text costs the browser a
// fraction of a new element.

import type { SeenCall } from "../../console-state.ts";
import { h } from "../base/dom.ts";
import {
  bytes,
  callers,
  duration,
  failed,
  memberName,
  outcome,
  versionText,
} from "../base/format.ts";
import type { Model } from "../base/model.ts";

export class CallRow {
  readonly element: HTMLElement;
  call: SeenCall;
  /** The call that the row shows now. */
  written: SeenCall | undefined;
  readonly #badge: HTMLElement;
  readonly #texts = Array.from({ length: 9 }, () => new Text());

  constructor(call: SeenCall) {
    this.call = call;
    const [time, fqn, version, route, sent, got, took, result, message] = this.#texts;
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
      cell("result", this.#badge, h("small", {}, message)),
    );
  }

  /** Whether the row still shows an earlier call. */
  get stale(): boolean {
    return this.written !== this.call;
  }

  /** Assigns another call, which {@link CallRow.write} then shows. */
  assign(call: SeenCall): this {
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
      call.message === undefined ? "" : ` ${call.message}`,
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

/** When a call ended, in local time. */
export function timeOf(call: SeenCall, model: Model): string {
  const at = new Date(call.at + model.offset);
  return `${at.toTimeString().slice(0, 8)}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

export function routeOf(call: SeenCall, model: Model): string {
  const member = model.placeOf(call);
  const to = call.node ?? (member === undefined ? undefined : memberName(member));
  return to === undefined ? callers[call.from] : `${callers[call.from]} → ${to}`;
}
