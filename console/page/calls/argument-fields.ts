// Fields for the arguments of a procedure whose types are unknown: by the kinds and names of its parameters.

import type { Parameter, PatternName } from "../../../src/base/manifest.ts";
import { convert, parsedAs } from "./argument-values.ts";
import { h } from "../base/dom.ts";
import { choiceField, freeField, inputField, jsonField } from "./basic-fields.ts";
import { type Field, type Fields, labelled, type Slot } from "./field.ts";

export function fieldsOf(parameters: readonly Parameter[]): Fields {
  return new Map(
    parameters.flatMap((parameter): [string, Field][] => {
      if (parameter.kind === "rest") {
        const label = `...${parameter.name}`;
        return [[label, jsonOf("list", "JSON list", { label, name: label, optional: false })]];
      }
      if (parameter.kind === "plain") return [[parameter.name, fieldOf(parameter)]];
      return parameter.names.flatMap((name) =>
        name === null
          ? []
          : [
              [
                name.name,
                fieldOf(parameter.optional === true ? { ...name, optional: true } : name),
              ],
            ],
      );
    }),
  );
}

/** All arguments in one field, for procedures of nodes without a description. */
export function argumentsField(): Field {
  return jsonOf("object", "JSON object: parameter names and values", {
    label: "arguments",
    name: "arguments",
    optional: false,
  });
}

function fieldOf({ name, type, optional }: PatternName): Field {
  const slot = { label: name, name, optional: optional === true };
  switch (type) {
    case undefined:
      return freeField(slot);
    case "boolean":
      return choiceField(
        slot,
        type,
        [true, false].map((value) => ({ text: String(value), value })),
      );
    case "number":
    case "bigint":
      return inputField(slot, { type, note: type });
    case "Date":
      return inputField(slot, { type, note: dateNote });
    default:
      return linesField(slot, type.slice(0, -2));
  }
}

export const dateNote = "Date, in your time zone";

function linesField(slot: Slot, type: string): Field {
  const area = h("textarea", { rows: 3, spellcheck: "false" });
  return {
    element: labelled(slot, `${type}[], one per line`, area),
    read(path) {
      if (area.value === "") return slot.optional ? undefined : { value: [] };
      return { value: area.value.split("\n").map((text) => convert(text, type, path)) };
    },
  };
}

function jsonOf(kind: "object" | "list", note: string, slot: Slot): Field {
  return jsonField(slot, note, kind === "list" ? "[]" : "{}", (value, path) =>
    parsedAs(kind, value, path),
  );
}
