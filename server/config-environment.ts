// `${NAME}` and `${NAME:-default}` in a configuration (decisions §5).

import { nearest, type Problem } from "../src/problem.ts";

const placeholder = /\$\{([^}]*)\}/g;
const form = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
// Text from the environment stands for a number only where a number belongs: a trust key of digits stays text.
const numbers = /^(?:monitor|limits\..*)$/;

/** `value` with every placeholder replaced; what can't be replaced is added to `problems`. */
export function substitute(
  value: Readonly<Record<string, unknown>>,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  problems: Problem[],
): Record<string, unknown> {
  const walk = (one: unknown, path: string): unknown => {
    if (typeof one === "string") return text(one, path);
    if (Array.isArray(one)) return one.map((item, index) => walk(item, `${path}.${index}`));
    if (typeof one === "object" && one !== null)
      return Object.fromEntries(Object.entries(one).map(([key, item]) => [key, walk(item, path === "" ? key : `${path}.${key}`)]));
    return one;
  };
  const text = (one: string, path: string): unknown => {
    if (!one.includes("${")) return one;
    const replaced = one.replace(placeholder, (whole, inside: string) => {
      const [, name, fallback] = form.exec(inside) ?? [];
      if (name === undefined) {
        problems.push({ file, path, message: `'${whole}' is no variable`, hint: "Write ${NAME} or ${NAME:-default}" });
        return "";
      }
      const given = env[name];
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
    return numbers.test(path) && /^\d+$/.test(replaced) ? Number(replaced) : replaced;
  };
  return walk(value, "") as Record<string, unknown>;
}
