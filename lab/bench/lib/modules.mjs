// An application of many modules, for benches of the build and of development.

/** How many modules belong to one procedure. @param {number} modules */
export const groupOf = (modules) => Math.min(10, modules / 2);

/** The first module of each group. @param {number} modules */
export const roots = (modules) =>
  Array.from({ length: modules / groupOf(modules) }, (_, at) => at * groupOf(modules));

/**
 * Every tenth module has a procedure and imports the next nine; half of the procedures run in the
 * page.
 * @param {number} modules
 */
export function manyModules(modules) {
  const group = groupOf(modules);
  /** @type {Record<string, string>} */
  const files = {
    "index.html": '<!doctype html><script type="module" src="/src/main.ts"></script>\n',
    "src/main.ts": `import { startClient } from "seamline/client";
import { sum0 } from "./parts/part0.ts";
await startClient("page");
globalThis.sum0 = sum0;
`,
  };
  const segments = { page: {}, office: {} };
  for (let index = 0; index < modules; index++) {
    const text = `export const step${index} = (given: number): number => given + ${index} - ${index};\n`;
    if (index % group > 0) files[`src/parts/part${index}.ts`] = text;
    else {
      const others = Array.from({ length: group - 1 }, (_, offset) => index + offset + 1).filter(
        (other) => other < modules,
      );
      const imports = others
        .map((other) => `import { step${other} } from "./part${other}.ts";\n`)
        .join("");
      const sum = others.map((other) => `step${other}(given)`).join(" + ");
      files[`src/parts/part${index}.ts`] =
        `${imports}export async function sum${index}(given: number): Promise<number> {\n  return (${sum}) * 1;\n}\n`;
      segments[index % (2 * group) === 0 ? "page" : "office"][`./parts/part${index}`] = {
        [`sum${index}`]: { access: "public" },
      };
    }
  }
  for (const [name, content] of Object.entries(segments))
    files[`segments/${name}.segment.json`] = JSON.stringify(content);
  return files;
}

/**
 * The same modules for Vite alone: a page that imports all procedures, and a server that does.
 * @param {number} modules
 */
export function manyModulesForVite(modules) {
  const parts = Object.entries(manyModules(modules)).filter(([path]) => path.includes("/parts/"));
  const all = roots(modules);
  const imports = all.map((at) => `import { sum${at} } from "./parts/part${at}.ts";\n`).join("");
  const list = `[${all.map((at) => `sum${at}`).join(", ")}]`;
  return {
    ...Object.fromEntries(parts),
    "index.html": '<!doctype html><script type="module" src="/src/main.ts"></script>\n',
    "src/main.ts": `${imports}globalThis.all = ${list};\n`,
    "files.mjs":
      "export default { build: { rolldownOptions: { output: { preserveModules: true } } } };\n",
    "src/server.ts": `${imports}export const all = ${list};\n`,
  };
}
