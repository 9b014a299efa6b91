// A form field for each parameter, according to its type from the build.

import type { Choice, Parameter, PatternName } from "../../../src/base/manifest.ts";
import { convert, parse, parsedAs } from "./argument-values.ts";
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
      return [jsonField(`...${parameter.name}`, "JSON list", "list", "[]")];
    if (parameter.kind === "plain") return [fieldOf(parameter)];
    return parameter.names.flatMap((name) =>
      name === null
        ? []
        : [fieldOf(parameter.optional === true ? { ...name, optional: true } : name)],
    );
  });
}

/** All arguments in one field, for procedures of nodes without a description. */
export function argumentsField(): Field {
  return jsonField("arguments", "JSON object: parameter names and values", "object", "{}");
}

function fieldOf({ name, type, form, ...rest }: PatternName): Field {
  const optional = rest.optional === true;
  if (type?.endsWith("[]")) return listField(name, type.slice(0, -2), optional);
  const kind = type ?? form;
  if (kind === "boolean") return choiceField(name, kind, [true, false], optional);
  if (kind === "object" || kind === "list") {
    const empty = kind === "list" ? "[]" : "{}";
    return jsonField(name, `JSON ${kind}`, kind, optional ? "" : empty, { optional });
  }
  if (kind === undefined) return freeField(name, optional);
  if (typeof kind !== "string")
    return choiceField(
      name,
      kind.map((choice) => JSON.stringify(choice)).join(" | "),
      kind,
      optional,
    );
  return inputField(name, kind, optional);
}

const inputs: Readonly<Record<string, readonly [type: string, mode: string, note?: string]>> = {
  number: ["text", "decimal"],
  bigint: ["text", "numeric"],
  Date: ["datetime-local", "", "Date, in your time zone"],
};

function inputField(name: string, type: string, optional: boolean): Field {
  const [kind, mode, note = type] = inputs[type] ?? ["text", ""];
  const id = idOf(name);
  const input = h("input", {
    id,
    name,
    type: kind,
    inputmode: mode || undefined,
    step: kind === "datetime-local" ? "any" : undefined,
    autocomplete: "off",
    spellcheck: "false",
  });
  return {
    name,
    element: labelled(id, name, note, optional, input),
    read() {
      if (input.value === "" && (optional || type !== "string")) return missing(name, optional);
      return { value: convert(input.value, type, name) };
    },
  };
}

function choiceField(
  name: string,
  note: string,
  choices: readonly Choice[],
  optional: boolean,
): Field {
  const id = idOf(name);
  const left = optional ? ["left out"] : [];
  const select = h(
    "select",
    { id, name },
    ...[...left, ...choices.map(String)].map((text) => h("option", {}, text)),
  );
  return {
    name,
    element: labelled(id, name, note, optional, select),
    read() {
      const at = select.selectedIndex - left.length;
      return at < 0 ? undefined : { value: choices[at] };
    },
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
    element: labelled(
      id,
      name,
      "text or JSON",
      optional,
      h("div", { class: "line" }, area, select),
    ),
    read() {
      if (select.value === "left out") return undefined;
      return { value: select.value === "JSON" ? parse(area.value, name) : area.value };
    },
  };
}

function jsonField(
  name: string,
  note: string,
  kind: "object" | "list",
  start: string,
  { optional }: { readonly optional: boolean } = { optional: false },
): Field {
  const id = idOf(name);
  const area = h("textarea", { id, name, rows: 3, spellcheck: "false" });
  area.value = start;
  return {
    name,
    element: labelled(id, name, note, optional, area),
    read() {
      if (area.value.trim() === "") return missing(name, optional);
      return { value: parsedAs(kind, area.value, name) };
    },
  };
}

function labelled(
  id: string,
  name: string,
  type: string,
  optional: boolean,
  control: HTMLElement,
): HTMLElement {
  return h(
    "div",
    { class: "argument" },
    h(
      "label",
      { for: id },
      h("code", {}, name),
      h("span", { class: "note" }, ` ${type}${optional ? ", optional" : ""}`),
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
