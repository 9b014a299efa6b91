// A form field for each parameter, from the kind, type and optionality that the build recorded.

import type { Parameter, PatternName } from "../../../src/base/manifest.ts";
import { h } from "../base/dom.ts";

export interface Field {
  readonly element: HTMLElement;
  readonly name: string;
  /** `undefined` if it is left out. Throws an Error for an invalid value. */
  read(): { readonly value: unknown } | undefined;
}

export function fieldsOf(parameters: readonly Parameter[]): Field[] {
  return parameters.flatMap((parameter): Field[] => {
    if (parameter.kind === "rest")
      return [jsonField(`...${parameter.name}`, true, "a JSON list", "[]")];
    if (parameter.kind === "plain") return [fieldOf(parameter)];
    return parameter.names.flatMap((name) =>
      name === null
        ? []
        : [fieldOf(parameter.optional === true ? { ...name, optional: true } : name)],
    );
  });
}

/** All arguments in one field, for nodes of older versions, which don't report parameters. */
export function argumentsField(): Field {
  return jsonField("arguments", true, "a JSON object: parameter names and values", "{}");
}

function fieldOf({ name, type, ...rest }: PatternName): Field {
  const optional = rest.optional === true;
  if (type === undefined) return freeField(name, optional);
  if (type.endsWith("[]")) return listField(name, type.slice(0, -2), optional);
  if (type === "boolean") return choiceField(name, optional);
  const kinds: ReadonlyMap<string, readonly [string, string]> = new Map([
    ["number", ["text", "decimal"]],
    ["bigint", ["text", "numeric"]],
    ["Date", ["datetime-local", ""]],
  ]);
  const [kind, mode] = kinds.get(type) ?? ["text", ""];
  const id = idOf(name);
  const input = h("input", {
    id,
    name,
    type: kind,
    inputmode: mode || undefined,
    step: kind === "datetime-local" ? "any" : undefined,
    autocomplete: "off",
  });
  return {
    name,
    element: labelled(id, name, type, optional, input),
    read() {
      if (input.value === "") return missing(name, optional);
      return { value: convert(input.value, type, name) };
    },
  };
}

function choiceField(name: string, optional: boolean): Field {
  const id = idOf(name);
  const select = h(
    "select",
    { id, name },
    ...[...(optional ? ["left out"] : []), "true", "false"].map((text) =>
      h("option", { value: text }, text),
    ),
  );
  return {
    name,
    element: labelled(id, name, "boolean", optional, select),
    read: () => (select.value === "left out" ? undefined : { value: select.value === "true" }),
  };
}

function listField(name: string, type: string, optional: boolean): Field {
  const id = idOf(name);
  const area = h("textarea", { id, name, rows: 3, spellcheck: "false" });
  return {
    name,
    element: labelled(id, name, `${type}[], one per line`, optional, area),
    read() {
      if (area.value === "") return optional ? undefined : { value: [] };
      return { value: area.value.split("\n").map((text) => convert(text, type, name)) };
    },
  };
}

/** Takes text or JSON, for a missing type or one without a field of its own. */
function freeField(name: string, optional: boolean): Field {
  const id = idOf(name);
  const area = h("textarea", { id, name, rows: 1, spellcheck: "false" });
  const forms = [...(optional ? ["left out"] : []), "text", "JSON"];
  const select = h(
    "select",
    { "aria-label": `form of ${name}` },
    ...forms.map((form) => h("option", { value: form }, form)),
  );
  area.addEventListener("input", () => {
    if (select.value === "left out") select.value = "text";
  });
  return {
    name,
    element: labelled(id, name, "", optional, h("div", { class: "line" }, area, select)),
    read() {
      if (select.value === "left out") return undefined;
      return { value: select.value === "JSON" ? parse(area.value, name) : area.value };
    },
  };
}

function jsonField(name: string, optional: boolean, note: string, start: string): Field {
  const id = idOf(name);
  const area = h("textarea", { id, name, rows: 3, spellcheck: "false" });
  area.value = start;
  return {
    name,
    element: labelled(id, name, note, optional, area),
    read: () => ({ value: parse(area.value, name) }),
  };
}

function labelled(
  id: string,
  name: string,
  type: string,
  optional: boolean,
  control: HTMLElement,
): HTMLElement {
  const note = [type, optional ? "optional" : ""].filter((part) => part !== "").join(", ");
  return h(
    "div",
    { class: "argument" },
    h(
      "label",
      { for: id },
      h("code", {}, name),
      note === "" ? null : h("span", { class: "note" }, ` ${note}`),
    ),
    control,
  );
}

function idOf(name: string): string {
  return `argument-${name}`;
}

function missing(name: string, optional: boolean): undefined {
  if (!optional) throw new Error(`${name} is missing`);
  return undefined;
}

function parse(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${name} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** Converts to the serialized form of src/codec. */
function convert(text: string, type: string, name: string): unknown {
  switch (type) {
    case "number": {
      const value = Number(text);
      if (text.trim() === "" || !Number.isFinite(value)) throw new Error(`${name} is not a number`);
      return value;
    }
    case "boolean":
      if (text !== "true" && text !== "false") throw new Error(`${name} is neither true nor false`);
      return text === "true";
    case "bigint":
      if (!/^-?\d+$/.test(text)) throw new Error(`${name} is not a whole number`);
      return { serialized: true, name: "BigInt", value: text };
    case "Date": {
      const date = new Date(text);
      if (Number.isNaN(date.getTime())) throw new Error(`${name} is not a date`);
      return { serialized: true, name: "Date", value: date.toISOString() };
    }
    default:
      return text;
  }
}
