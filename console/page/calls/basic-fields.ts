// Fields for single values, and for those that are written as JSON.

import { h } from "../base/dom.ts";
import { convert, parse } from "./argument-values.ts";
import { type Field, labelled, missing, type Slot } from "./field.ts";

/** The kind of an input: the conversion of its text, and its attributes for the browser. */
export interface InputKind {
  readonly type: "string" | "number" | "bigint" | "Date" | "URL";
  readonly note: string;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly int?: boolean | undefined;
}

export function inputField(slot: Slot, { type, note, min, max, int }: InputKind): Field {
  const { optional } = slot;
  const input = h("input", {
    type: type === "number" ? "number" : type === "Date" ? "datetime-local" : "text",
    inputmode: type === "bigint" ? "numeric" : undefined,
    step: type === "Date" || (type === "number" && int !== true) ? "any" : undefined,
    min,
    max,
    autocomplete: "off",
    spellcheck: "false",
  });
  return {
    element: labelled(slot, note, input),
    read(path) {
      if (input.validity.badInput) throw new Error(`${path} is not a ${type}`);
      if (input.value === "" && (optional || type !== "string")) return missing(path, optional);
      return { value: convert(input.value, type, path) };
    },
  };
}

export function checkboxField(slot: Slot, note: string): Field {
  const box = h("input", { type: "checkbox" });
  return {
    element: labelled(slot, note, box),
    read: () => ({ value: box.checked }),
  };
}

/** One of some values, in their serialized form. */
export function choiceField(
  slot: Slot,
  note: string,
  choices: readonly { readonly text: string; readonly value: unknown }[],
): Field {
  const left = slot.optional ? ["left out"] : [];
  const texts = [...left, ...choices.map(({ text }) => text)];
  const select = h("select", {}, ...texts.map((text) => h("option", {}, text)));
  return {
    element: labelled(slot, note, select),
    read() {
      const choice = choices[select.selectedIndex - left.length];
      return choice && { value: choice.value };
    },
  };
}

/** Takes text or JSON, for values of any type. */
export function freeField(slot: Slot): Field {
  const { label, optional } = slot;
  const area = h("textarea", { rows: 1, spellcheck: "false" });
  const forms = [...(optional ? ["left out"] : []), "text", "JSON"];
  const select = h(
    "select",
    { "aria-label": `form of ${typeof label === "string" ? label : slot.name}` },
    ...forms.map((form) => h("option", { value: form }, form)),
  );
  area.addEventListener("input", () => {
    if (select.value === "left out") select.value = "text";
  });
  return {
    element: labelled(slot, "text or JSON", area, h("div", { class: "line" }, area, select)),
    read(path) {
      if (select.value === "left out") return undefined;
      return { value: select.value === "JSON" ? parse(area.value, path) : area.value };
    },
  };
}

/** JSON; `serialize` returns the serialized form of its value, or throws an Error. */
export function jsonField(
  slot: Slot,
  note: string,
  start: string,
  serialize: (value: unknown, path: string) => unknown = (value) => value,
): Field {
  const area = h("textarea", { rows: 3, spellcheck: "false" });
  if (!slot.optional) area.value = start;
  return {
    element: labelled(slot, note, area),
    read(path) {
      if (area.value.trim() === "") return missing(path, slot.optional);
      return { value: serialize(parse(area.value, path), path) };
    },
  };
}
