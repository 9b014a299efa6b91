// `.seamline/modules.d.ts`: the modules of an application by their paths, for `client.import` (src/imported.ts). Of 1,000 modules it costs the
// compiler 0.1 s in a whole check, and an editor nothing that could be told from chance: each is looked at when somebody names it.

import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";

import { slashed } from "../sources.ts";
import type { Application } from "./application.ts";

type Typed = Pick<Application, "root" | "cut" | "clientModules">;

const head = `// The modules that client.import may name, by path. Made by Seamline in each build, check and development server: list this file
// under "include" in tsconfig.json, and leave it out of the repository.
`;

/**
 * Writes the declarations where they changed, so that an editor has nothing to read again where they didn't. Gives their text; where it is
 * `last`, what this gave before, the disk isn't looked at.
 */
export async function writeModuleTypes(application: Typed, last?: string): Promise<string> {
  const folder = join(application.root, ".seamline");
  const file = join(folder, "modules.d.ts");
  const text = moduleTypes(application);
  if (text === last || (await readFile(file, "utf8").catch(() => undefined)) === text) return text;
  await mkdir(folder, { recursive: true });
  // As beside the key: whatever the application's own .gitignore says. One that stands there is its owner's.
  await writeFile(join(folder, ".gitignore"), "*\n", { flag: "wx" }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    },
  );
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, text);
  await rename(temporary, file);
  return text;
}

/** The text of the declarations: the same for the same modules, on every machine. */
export function moduleTypes({ root, cut, clientModules }: Typed): string {
  const modules = new Map(
    [...[...cut.values()].map((one) => one.module), ...clientModules].map((module) => [
      module.id,
      module,
    ]),
  );
  const lines = [...modules.values()]
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
    .map(({ id, file }) => {
      const path = JSON.stringify(slashed(relative(join(root, ".seamline"), file)));
      return `    ${JSON.stringify(`./${id}.js`)}: typeof import(${path});\n`;
    });
  // With an export of its own the file is a module, and adds to the package's interface; without, it would stand in for the package.
  return `${head}declare module "seamline/client" {\n  interface Modules {\n${lines.join("")}  }\n}\nexport {};\n`;
}
