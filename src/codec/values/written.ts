// The JSON text of values that have a form, and of what is around them. Everything else is left to
// `JSON.stringify`.

/** JSON text that stands for a value in a walked tree. */
export class Written {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

// Of surrogates, only halves of pairs are escaped; `JSON.stringify` knows which are.
const mayNeedEscapes = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/** A string as JSON. */
export function quote(text: string): string {
  return text.length > 100 || mayNeedEscapes.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** What a walk left of a value, as JSON; `undefined` for what JSON leaves out. */
export function jsonOf(value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
      return quote(value);
    case "number":
    case "boolean":
      return String(value);
    default:
      return value instanceof Written ? value.text : JSON.stringify(value);
  }
}

/**
 * Writes a list or object, some of whose members are written already. The other members are as they
 * were, unless `json` says how to write them.
 */
export function written(tree: object, json: typeof jsonOf = jsonOf): Written {
  let text = "";
  if (Array.isArray(tree)) {
    for (const item of tree as unknown[])
      text += `${text === "" ? "[" : ","}${json(item) ?? "null"}`;
    return new Written(text === "" ? "[]" : `${text}]`);
  }
  for (const key of Object.keys(tree)) {
    const member = json((tree as Readonly<Record<string, unknown>>)[key]);
    if (member !== undefined) text += `${text === "" ? "{" : ","}${quote(key)}:${member}`;
  }
  return new Written(text === "" ? "{}" : `${text}}`);
}

/** {@link jsonOf} for a tree that has written parts at any depth. */
export function jsonOfTree(value: unknown): string {
  return typeof value === "object" && value !== null && !(value instanceof Written)
    ? written(value, jsonOfTree).text
    : (jsonOf(value) as string);
}
