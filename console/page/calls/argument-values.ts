// Converts typed text to a value in the serialized form of src/codec. Errors name the argument.

import { parsedUrl } from "../../../src/base/url.ts";

export function parse(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${name} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** JSON of one kind; `null` is left to the procedure. */
export function parsedAs(kind: "object" | "list", value: unknown, name: string): unknown {
  const found = Array.isArray(value) ? "list" : typeof value;
  if (found !== kind) throw new Error(`${name} is not a JSON ${kind}`);
  return value;
}

export function convert(text: string, type: string, name: string): unknown {
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
      return marked("BigInt", { value: text });
    case "Date": {
      const date = new Date(text);
      if (Number.isNaN(date.getTime())) throw new Error(`${name} is not a date`);
      return marked("Date", { value: date.toISOString() });
    }
    case "URL":
      if (parsedUrl(text) === undefined) throw new Error(`${name} is not a URL`);
      return marked("Url", { value: text });
    default:
      return text;
  }
}

/** A serialized form. */
export function marked(name: string, members: object): object {
  return { serialized: true, name, ...members };
}
