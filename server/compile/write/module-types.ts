// `.seamline/modules.d.ts`: the modules of an application by their paths, for `client.import`
// (src/types/imported.ts). For 1,000 modules it adds 0.1 s to a whole check, and nothing measurable to an
// editor, which resolves a module only when code names it.

import { readFile, rename, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";

import { makeFolder, writing } from "../../base/write-failure.ts";
import { slashed } from "../../files/sources.ts";
import type { Application } from "../cut/application.ts";

type Typed = Pick<Application, "root" | "cut" | "browserModules">;

const head = `// The modules that client.import may name, by path. Made by Seamline in each build, check and development server: list this file
// under "include" in tsconfig.json, and leave it out of the repository.
`;

/**
 * Writes the declarations if they changed, so that editors needn't reload them. Returns their text.
 * If it equals `last`, the text of the previous call, the disk isn't touched.
 */
export async function writeModuleTypes(application: Typed, last?: string): Promise<string> {
  const folder = join(application.root, ".seamline");
  const file = join(folder, "modules.d.ts");
  const text = moduleTypes(application);
  if (text === last || (await readFile(file, "utf8").catch(() => undefined)) === text) return text;
  const write = async (): Promise<void> => {
    await makeFolder(folder);
    // Keeps the folder out of the repository, whatever the application's .gitignore contains. An
    // existing file is left alone.
    await writeFile(join(folder, ".gitignore"), "*\n", { flag: "wx" }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      },
    );
    const temporary = `${file}.${process.pid}`;
    await writeFile(temporary, text);
    await rename(temporary, file);
  };
  await writing(file, "work on a copy of the application", write);
  return text;
}

/** The text of the declarations: the same for the same modules, on every machine. */
export function moduleTypes({ root, cut, browserModules }: Typed): string {
  const modules = new Map(
    [...[...cut.values()].map((cutModule) => cutModule.module), ...browserModules].map((module) => [
      module.id,
      module,
    ]),
  );
  const lines = [...modules.values()]
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, file }) => {
      const path = JSON.stringify(slashed(relative(join(root, ".seamline"), file)));
      return `    ${JSON.stringify(`./${id}.js`)}: typeof import(${path});\n`;
    });
  // With an export the file is a module, which augments the package's interface; without, it would
  // replace the package.
  return `${head}declare module "seamline/client" {\n  interface Modules {\n${lines.join("")}  }\n}\nexport {};\n`;
}
