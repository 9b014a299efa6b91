// `${NAME}` and `${NAME:-default}` in a configuration (decisions §5).

import { nearest, type Problem } from "../src/problem.ts";

const placeholder = /\$\{([^}]*)(?:\}|$)/g;
const form = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
// Text from the environment stands for a number only where a number belongs: a trust key of digits stays text.
const numbers = /^(?:monitor|limits\..*)$/;
const flags = /^console$/;
// No configuration goes deeper than three levels; an object that holds itself goes down for ever.
const deepest = 16;

/** `value` with every placeholder replaced; what can't be replaced is added to `problems`. */
export function substitute(
  value: Readonly<Record<string, unknown>>,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  problems: Problem[],
): Record<string, unknown> {
  const walk = (one: unknown, path: string, depth: number): unknown => {
    if (typeof one === "string") return text(one, path);
    if (typeof one !== "object" || one === null) return one;
    if (depth > deepest) {
      const [key = path] = path.split(".");
      if (!problems.some((known) => known.path === key))
        problems.push({ file, path: key, message: "it is nested too deep to be a configuration" });
      return undefined;
    }
    if (Array.isArray(one))
      return one.map((item, index) => walk(item, `${path}.${index}`, depth + 1));
    const below = (key: string): string => (path === "" ? key : `${path}.${key}`);
    return Object.fromEntries(
      Object.entries(one).map(([key, item]) => [key, walk(item, below(key), depth + 1)]),
    );
  };
  const text = (one: string, path: string): unknown => {
    if (!one.includes("${")) return one;
    const refuse = (message: string): string => {
      problems.push({ file, path, message, hint: "Write ${NAME} or ${NAME:-default}" });
      return "";
    };
    const replaced = one.replace(placeholder, (whole, inside: string) => {
      // The first brace would end it, and the rest be text.
      if (inside.includes("${")) return refuse(`'${one}' has a variable inside another`);
      if (!whole.endsWith("}")) return refuse(`'${whole}' has no closing brace`);
      const [, name, fallback] = form.exec(inside) ?? [];
      if (name === undefined) return refuse(`'${whole}' is no variable`);
      const given = Object.hasOwn(env, name) ? env[name] : undefined;
      // As in a shell: `:-` counts an empty variable as unset.
      if (given !== undefined && (given !== "" || fallback === undefined)) return given;
      if (fallback !== undefined) return fallback;
      const near = nearest(name, Object.keys(env));
      problems.push({
        file,
        path,
        message: `the environment has no variable ${name}`,
        hint: `Set it, or give a default: \${${name}:-…}${near === undefined ? "" : ` (there is ${near})`}`,
      });
      return "";
    });
    if (flags.test(path) && /^(?:true|false)$/.test(replaced)) return replaced === "true";
    return numbers.test(path) && /^\d+$/.test(replaced) ? Number(replaced) : replaced;
  };
  return walk(value, "", 0) as Record<string, unknown>;
}
