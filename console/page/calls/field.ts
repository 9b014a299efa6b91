// A field of the call form: a control with its label.

import { h } from "../base/dom.ts";

export interface Field {
  readonly element: HTMLElement;
  /**
   * The value in its serialized form; `undefined` if it is left out. Throws an Error for an invalid one, which
   * names it by `path`.
   */
  read(path: string): { readonly value: unknown } | undefined;
}

/** A field for each name that a call gives a value for. */
export type Fields = ReadonlyMap<string, Field>;

/** Where a field stands. */
export interface Slot {
  readonly label: string | HTMLElement;
  /** Of its control: the path to the value. */
  readonly name: string;
  readonly optional: boolean;
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

let controls = 0;

/**
 * A control with its label; `note` describes the values that it takes. `line` is the control with others
 * beside it.
 */
export function labelled(
  { label, name, optional }: Slot,
  note: string,
  control: Control,
  line: HTMLElement = control,
): HTMLElement {
  control.id = `argument-${++controls}`;
  control.name = name;
  const caption = h("label", { for: control.id }, ...words({ label, optional }, note));
  return control.type === "checkbox"
    ? h("div", { class: "tick" }, control, caption)
    : h("div", { class: "argument" }, caption, line);
}

/** Several fields as one. An optional group has a checkbox, and isn't there before it is checked. */
export function group(
  slot: Slot,
  note: string,
  fill: () => readonly HTMLElement[],
): { readonly element: HTMLElement; readonly isThere: () => boolean } {
  const content = h("div", { class: "parts" });
  const box = h("input", { type: "checkbox" });
  if (!slot.optional) content.append(...fill());
  box.addEventListener("change", () => content.replaceChildren(...(box.checked ? fill() : [])));
  const legend = slot.optional ? [labelled(slot, note, box)] : words(slot, note);
  return {
    element: h("fieldset", {}, h("legend", {}, ...legend), content),
    isThere: () => !slot.optional || box.checked,
  };
}

function words({ label, optional }: Omit<Slot, "name">, note: string): HTMLElement[] {
  const name = typeof label === "string" ? h("code", {}, label) : label;
  return [name, h("span", { class: "note" }, ` ${note}${optional ? ", optional" : ""}`)];
}

export function missing(path: string, optional: boolean): undefined {
  if (!optional) throw new Error(`${path} is missing`);
  return undefined;
}
