import type { Files } from "./_session.ts";

/**
 * An application of so many modules. Every tenth has a procedure of the segment `office`, and
 * imports the nine after it.
 */
export function partsApplication(modules: number): Files {
  const files: Record<string, string> = {
    "index.html": '<!doctype html><script type="module" src="/src/main.ts"></script>\n',
    "src/main.ts": 'import { startClient } from "seamline/client";\nawait startClient();\n',
  };
  const office: Record<string, unknown> = {};
  for (let index = 0; index < modules; index++) {
    files[`src/parts/part${index}.ts`] = partText(index, modules);
    if (index % 10 === 0)
      office[`./parts/part${index}`] = {
        // It is about files: checks have a test of their own.
        [`sum${index}`]: { access: "public", validate: false },
      };
  }
  files["segments/office.segment.json"] = JSON.stringify(office);
  return files;
}

/** `sum0(1)` is the number of its imports times `factor`. */
export function partText(index: number, modules: number, factor = 1): string {
  if (index % 10 > 0)
    return `export const step${index} = (given: number): number => given + ${index} - ${index};\n`;
  const others = Array.from({ length: 9 }, (_, offset) => index + offset + 1).filter(
    (other) => other < modules,
  );
  const imports = others
    .map((other) => `import { step${other} } from "./part${other}.ts";\n`)
    .join("");
  const sum = others.map((other) => `step${other}(given)`).join(" + ") || "given";
  return `${imports}export async function sum${index}(given: number): Promise<number> {\n  return (${sum}) * ${factor};\n}\n`;
}
