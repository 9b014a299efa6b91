// Shows a result by its type: a number, a date, a map, an instance. Reads the serialized form
// without creating instances.

import { h } from "../base/dom.ts";
import { bytes, count } from "../base/format.ts";

/** Entries shown of a list or an object. */
const maxEntries = 200;
/** Levels that are open at first. */
const openLevels = 2;

type Form = { readonly serialized: true; readonly name: string } & Readonly<
  Record<string, unknown>
>;

export function valueView(value: unknown, level = 0): HTMLElement {
  if (isForm(value)) return formView(value, level);
  if (Array.isArray(value))
    return list(
      `list of ${count(value.length)}`,
      value.map((item, at) => [String(at), item]),
      level,
    );
  if (typeof value === "object" && value !== null)
    return list("object", Object.entries(value), level);
  return scalar(
    typeof value === "string" ? "text" : value === null ? "nothing" : typeof value,
    typeof value === "string" ? JSON.stringify(value) : String(value),
  );
}

/** A scalar; `kind` is the value of the header `x-svc-data-type`. */
export function scalarView(kind: string, text: string): HTMLElement {
  return kind === "string"
    ? scalar("text", JSON.stringify(text))
    : scalar(kind, text === "" ? kind : text);
}

function scalar(kind: string, text: string): HTMLElement {
  return h("span", { class: `value ${kind}` }, text);
}

function formView(form: Form, level: number): HTMLElement {
  const { name } = form;
  const text = (key: string): string => (typeof form[key] === "string" ? form[key] : "");
  switch (name) {
    case "Date":
      return scalar("date", form["value"] === null ? "Invalid Date" : `Date ${text("value")}`);
    case "BigInt":
      return scalar("bigint", `${text("value")}n`);
    case "Number":
      return scalar("number", text("value"));
    case "Undefined":
      return scalar("nothing", "undefined");
    case "RegExp":
      return scalar("text", `/${text("source")}/${text("flags")}`);
    case "Url":
      return scalar("text", `URL ${text("value")}`);
    case "Binary":
      return scalar(
        "binary",
        `${text("type")}, ${bytes(Math.floor((text("base64").replace(/=+$/, "").length * 3) / 4))}`,
      );
    case "Map": {
      const { keys = [], values = [] } = (form["entries"] ?? {}) as {
        keys?: unknown[];
        values?: unknown[];
      };
      return list(
        `Map of ${count(keys.length)}`,
        keys.map((key, at) => [typeof key === "string" ? key : JSON.stringify(key), values[at]]),
        level,
      );
    }
    case "Set": {
      const values = (form["values"] ?? []) as unknown[];
      return list(
        `Set of ${count(values.length)}`,
        values.map((item, at) => [String(at), item]),
        level,
      );
    }
    case "Object":
      return list("object", Object.entries(form["value"] ?? {}), level);
    case "Error":
      return list(
        text("type"),
        [["message", form["message"]], ...Object.entries(form["fields"] ?? {})],
        level,
      );
    case "class":
      return list(
        text("key"),
        [
          ...Object.entries(form["args"] ?? {}).map(([at, item]): [string, unknown] => [
            `argument ${at}`,
            item,
          ]),
          ...Object.entries(form["fields"] ?? {}),
        ],
        level,
      );
    default:
      return scalar("text", JSON.stringify(form));
  }
}

function list(
  title: string,
  entries: readonly (readonly [string, unknown])[],
  level: number,
): HTMLElement {
  const head = h("summary", {}, title);
  const rows = entries
    .slice(0, maxEntries)
    .map(([key, value]) =>
      h("li", {}, h("span", { class: "key" }, key), " ", valueView(value, level + 1)),
    );
  if (entries.length > maxEntries)
    rows.push(h("li", { class: "note" }, `${count(entries.length - maxEntries)} more`));
  return h(
    "details",
    { class: "value", open: level < openLevels && entries.length > 0 },
    head,
    h("ul", {}, ...rows),
  );
}

function isForm(value: unknown): value is Form {
  return (
    typeof value === "object" &&
    value !== null &&
    (value as { serialized?: unknown }).serialized === true
  );
}
