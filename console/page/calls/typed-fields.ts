// A field for each name that a call gives a value for, by the type that its node checks it by.

import type { CallerName, CallTypes, Type } from "../../console-state.ts";
import { h, setText } from "../base/dom.ts";
import { dateNote } from "./argument-fields.ts";
import { marked } from "./argument-values.ts";
import { checkboxField, choiceField, freeField, inputField, jsonField } from "./basic-fields.ts";
import { type Field, type Fields, group, missing, type Slot } from "./field.ts";
import {
  armsOf,
  dataOf,
  type Definitions,
  literalValue,
  resolved,
  serialized,
} from "./serialized.ts";
import { literalText, nullLast, textOf } from "./type-text.ts";

/** Objects inside more objects than this are written as JSON. */
const mostLevels = 3;

/** A field's place among others. */
interface Place extends Slot {
  readonly level: number;
}

export function typedFields({ names, definitions }: CallTypes): Fields {
  return new Map(
    names.map(({ name, type, optional }) => [
      name,
      fieldOf(type, { label: name, name, optional: optional === true, level: 0 }, definitions),
    ]),
  );
}

function fieldOf(type: Type, place: Place, definitions: Definitions): Field {
  const all = nullLast(armsOf(type, definitions));
  const found = resolved(type, definitions);
  const isOptional =
    place.optional ||
    (found.kind === "union" && found.arms.some(({ kind }) => kind === "undefined"));
  const slot = { ...place, optional: isOptional };
  const [arm, ...others] = all;
  if (arm === undefined) return { element: h("span"), read: () => undefined };
  const choices = all.map((each) => choicesOf(resolved(each, definitions)));
  if (others.length === 0 && resolved(arm, definitions).kind === "boolean" && !isOptional)
    return checkboxField(slot, "boolean");
  if (choices.every((each) => each !== undefined) && !(others.length === 0 && isNull(arm)))
    return choiceField(slot, textOf(shown(type, found)), choices.flat());
  if (others.length === 0) return singleField(arm, slot, definitions);
  return all.some((each) => resolved(each, definitions).kind === "unknown")
    ? freeField(slot)
    : unionField(all, slot, definitions);
}

/** A name says more of an object than its kind, and less of any other type. */
function shown(type: Type, found: Type): Type {
  return found.kind === "object" ? type : found;
}

function isNull({ kind }: Type): boolean {
  return kind === "null";
}

function choicesOf(type: Type): { text: string; value: unknown }[] | undefined {
  switch (type.kind) {
    case "null":
      return [{ text: "null", value: null }];
    case "boolean":
      return [true, false].map((value) => ({ text: String(value), value }));
    case "literals":
      return type.values.map((literal) => ({
        text: typeof literal === "string" ? literal : literalText(literal),
        value: literalValue(literal),
      }));
    default:
      return undefined;
  }
}

function singleField(type: Type, slot: Place, definitions: Definitions): Field {
  const found = resolved(type, definitions);
  const note = textOf(shown(type, found));
  const asJson = (): Field =>
    jsonField(slot, `JSON: ${note}`, startOf(found), (value) =>
      serialized(type, value, definitions),
    );
  switch (found.kind) {
    case "number":
      return inputField(slot, { ...found, type: "number", note });
    case "bigint":
      return inputField(slot, { type: "bigint", note });
    case "string":
    case "template":
      return inputField(slot, { type: "string", note });
    case "url":
      return inputField(slot, { type: "URL", note });
    case "date":
      return inputField(slot, { type: "Date", note: dateNote });
    case "unknown":
      return freeField(slot);
    case "array":
    case "set":
      return listField(found, note, slot, definitions);
    case "object": {
      const members = Object.entries(found.members);
      const hasFields = slot.level < mostLevels && found.index === undefined && members.length > 0;
      return hasFields ? objectField(members, note, slot, definitions) : asJson();
    }
    default:
      return asJson();
  }
}

/** The JSON with which a form's field of a type begins. */
function startOf(type: Type): string {
  switch (type.kind) {
    case "object":
      return "{}";
    case "array":
    case "set":
    case "map":
    case "tuple":
      return "[]";
    case "instance":
      return JSON.stringify(marked("class", { key: type.key, args: {}, fields: {} }));
    default:
      return "";
  }
}

function objectField(
  members: readonly (readonly [string, Pick<CallerName, "type" | "optional">])[],
  note: string,
  slot: Place,
  definitions: Definitions,
): Field {
  let fields: (readonly [string, Field])[] = [];
  const { element, isThere } = group(slot, note, () => {
    fields = members.map(([name, { type, optional }]) => {
      const inside = {
        label: name,
        name: `${slot.name}.${name}`,
        optional: optional === true,
        level: slot.level + 1,
      };
      return [name, fieldOf(type, inside, definitions)] as const;
    });
    return fields.map(([, field]) => field.element);
  });
  return {
    element,
    read(path) {
      if (!isThere()) return undefined;
      const values = fields.flatMap(([name, field]) => {
        const found = field.read(`${path}.${name}`);
        return found === undefined ? [] : [[name, found.value] as const];
      });
      return { value: dataOf(Object.fromEntries(values)) };
    },
  };
}

function listField(
  type: Extract<Type, { kind: "array" | "set" }>,
  note: string,
  slot: Place,
  definitions: Definitions,
): Field {
  let items: { field: Field; row: HTMLElement; label: HTMLElement; remove: HTMLElement }[] = [];
  const rows = h("div", { class: "parts" });
  const number = (): void =>
    items.forEach(({ label, remove }, at) => {
      setText(label, `[${at}]`);
      remove.setAttribute("aria-label", `Remove ${slot.name}[${at}]`);
    });
  const add = (): void => {
    const label = h("code");
    const inside = { label, name: `${slot.name}[]`, optional: false, level: slot.level };
    const field = fieldOf(type.items, inside, definitions);
    const remove = h("button", { type: "button", onclick: () => drop(row) }, "×");
    const row = h("div", { class: "line" }, field.element, remove);
    items.push({ field, row, label, remove });
    rows.append(row);
    number();
  };
  const drop = (row: HTMLElement): void => {
    items = items.filter((item) => item.row !== row);
    row.remove();
    number();
    more.focus();
  };
  const more = h(
    "button",
    { type: "button", "aria-label": `Add to ${slot.name}`, onclick: add },
    "Add",
  );
  const { element, isThere } = group(slot, note, () => {
    items = [];
    rows.replaceChildren();
    return [rows, more];
  });
  return {
    element,
    read(path) {
      if (!isThere()) return undefined;
      const values = items.map(({ field }, at) => {
        const found = field.read(`${path}[${at}]`);
        // An item can't be left out.
        return found === undefined ? marked("Undefined", {}) : found.value;
      });
      return { value: type.kind === "set" ? marked("Set", { values }) : values };
    },
  };
}

/** A choice of the arm, and its field. */
function unionField(arms: readonly Type[], slot: Place, definitions: Definitions): Field {
  let chosen: Field | undefined;
  const titles = arms.map((arm) => titleOf(arm, definitions));
  const select = h(
    "select",
    { "aria-label": `type of ${slot.name}`, onchange: () => choose() },
    ...titles.map((title) => h("option", {}, title)),
  );
  const place = h("div");
  const choose = (): void => {
    const arm = arms[select.selectedIndex] ?? arms[0]!;
    const inside = { ...slot, label: h("span"), optional: false };
    // `null` is all that it can be.
    chosen = isNull(arm) ? undefined : fieldOf(arm, inside, definitions);
    place.replaceChildren(...(chosen === undefined ? [] : [chosen.element]));
  };
  const { element, isThere } = group(slot, titles.join(" | "), () => {
    choose();
    return [select, place];
  });
  return {
    element,
    read(path) {
      if (!isThere()) return undefined;
      return chosen === undefined ? { value: null } : (chosen.read(path) ?? missing(path, false));
    },
  };
}

/** The discriminant of an arm: its name, or the members with a literal. */
function titleOf(type: Type, definitions: Definitions): string {
  const found = resolved(type, definitions);
  if (type.kind === "ref" || found.kind !== "object") return textOf(shown(type, found));
  const literals = Object.entries(found.members).flatMap(([name, member]) =>
    member.type.kind === "literals" ? [`${name}: ${textOf(member.type)}`] : [],
  );
  return literals.length === 0 ? textOf(found) : `{ ${literals.join(", ")} }`;
}
