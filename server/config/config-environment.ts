// `${NAME}` and `${NAME:-default}` in a configuration.

import { nearest, type Problem } from "../../src/base/problem.ts";
import { isMode, schemas } from "./config-schema.ts";
import { kindsOf, schemasAt, type SchemaNode } from "./schema-key.ts";

const placeholder = /\$\{([^}]*)(?:\}|$)/g;
const form = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
// Configurations have at most three levels; an object that contains itself is endless.
const maxDepth = 16;

const missingVariable = (name: string): string => `the environment variable ${name} isn't set`;

/** Whether the problem is a variable that another machine may have. */
export function isMissingVariable({ message }: Problem): boolean {
  return /^the environment variable \S+ isn't set$/.test(message);
}

/** `value` with every placeholder replaced; those that can't be replaced are added to `problems`. */
export function substitute(
  value: Readonly<Record<string, unknown>>,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  problems: Problem[],
): Record<string, unknown> {
  const walk = (item: unknown, path: string, depth: number): unknown => {
    if (typeof item === "string") return replace(item, path);
    if (typeof item !== "object" || item === null) return item;
    if (depth > maxDepth) {
      const [key = path] = path.split(".");
      if (!problems.some((problem) => problem.path === key))
        problems.push({ file, path: key, message: "it is nested too deeply for a configuration" });
      return undefined;
    }
    if (Array.isArray(item))
      return item.map((element, index) => walk(element, `${path}.${index}`, depth + 1));
    const below = (key: string): string => (path === "" ? key : `${path}.${key}`);
    return Object.fromEntries(
      Object.entries(item).map(([key, element]) => [key, walk(element, below(key), depth + 1)]),
    );
  };
  const replace = (text: string, path: string): unknown => {
    if (!text.includes("${")) return text;
    const refuse = (message: string): string => {
      problems.push({ file, path, message, hint: "Write ${NAME} or ${NAME:-default}" });
      return "";
    };
    const replaced = text.replace(placeholder, (whole, inside: string) => {
      // The first closing brace would end it, and the rest would stay as text.
      if (inside.includes("${")) return refuse(`'${text}' has a variable inside another`);
      if (!whole.endsWith("}")) return refuse(`'${whole}' has no closing brace`);
      const [, name, fallback] = form.exec(inside) ?? [];
      if (name === undefined) return refuse(`'${whole}' isn't a variable`);
      const variable = Object.hasOwn(env, name) ? env[name] : undefined;
      // As in a shell, `:-` treats an empty variable as unset.
      if (variable !== undefined && (variable !== "" || fallback === undefined)) return variable;
      if (fallback !== undefined) return fallback;
      const near = nearest(name, Object.keys(env));
      problems.push({
        file,
        path,
        message: missingVariable(name),
        hint: `Set it, or give a default: \${${name}:-…}${near === undefined ? "" : ` (there is ${near})`}`,
      });
      return "";
    });
    return schema === undefined ? replaced : typed(replaced, schemasAt(schema, path));
  };
  let schema: SchemaNode | undefined;
  const mode = walk(value["mode"], "mode", 1);
  if (isMode(mode)) schema = schemas[mode];
  const { mode: _, ...others } = value;
  return { ...("mode" in value && { mode }), ...(walk(others, "", 0) as object) };
}

/** A text as the kind of value that its key takes: a trust key of digits stays a string. */
function typed(text: string, at: readonly SchemaNode[]): unknown {
  const kinds = at.flatMap(kindsOf);
  if (/^(?:true|false)$/.test(text) && kinds.some(({ type }) => type === "boolean"))
    return text === "true";
  const takesNumbers = kinds.some(
    ({ type, options = [] }) => type === "number" || options.some(Number.isFinite),
  );
  return takesNumbers && /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}
