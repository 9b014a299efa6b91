import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

import { describe, expect, it, onTestFinished } from "vitest";

import { shownError } from "../../../server/modules/load-failure.ts";
import { errorLocation } from "../../../server/modules/error-location.ts";

const source =
  'import { absent } from "absent";\n\nexport const a = 1;\nexport async function go(): Promise<void> {\n  absent();\n}\n';

/** Writes files to a new folder and returns it. */
function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "seamline-thrown-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

function notFound(message: string, code = "ERR_MODULE_NOT_FOUND"): Error {
  return Object.assign(new Error(message), { code });
}

describe("the location of a failed import", () => {
  it.each<[string, (file: string) => Error]>([
    ["Node's message", (file) => notFound(`Cannot find package 'absent' imported from ${file}`)],
    [
      "the message of Vite's module runner",
      (file) => notFound(`Cannot find module 'absent' imported from '${file}'`),
    ],
    [
      "the message of Vite's plugins",
      (file) =>
        notFound(
          `Failed to load url absent (resolved id: absent) in ${file}. Does the file exist?`,
          "ERR_LOAD_URL",
        ),
    ],
  ])("is the line of the import for %s", (_, thrown) => {
    const file = join(folderWith({ "a.ts": source }), "a.ts");
    expect(errorLocation(thrown(file))).toMatchObject({ file, line: 1, column: 24 });
    expect(shownError(thrown(file))).toBe("Cannot find package 'absent'");
  });

  it("isn't an earlier comment or a longer name", () => {
    const text =
      '// "absent" may be missing\nimport "absent-too";\nexport const a = async () => await import("absent");\n';
    const file = join(folderWith({ "a.ts": text }), "a.ts");
    expect(
      errorLocation(notFound(`Cannot find module 'absent' imported from '${file}'`)),
    ).toMatchObject({ line: 3, column: 43 });
  });

  it("is shown with lines of the source, not of the part that a node loads", () => {
    const folder = folderWith({ "src/a.ts": source });
    const file = join(folder, "src/a.ts");
    const built = "cache/run/host-1-0123abcd/revision/a~body.js";
    const blanked = source
      .replace("export const a = 1;", " ".repeat(19))
      .replace("export", "      ");
    const map = {
      version: 3,
      sources: [pathToFileURL(file).href],
      sourcesContent: [blanked],
      names: [],
      mappings: "",
    };
    const write = (text: string): void => writeFileSync(join(folder, "src/a.ts"), text);
    mkdirSync(dirname(join(folder, built)), { recursive: true });
    writeFileSync(join(folder, built), 'import "absent";');
    writeFileSync(join(folder, `${built}.map`), JSON.stringify(map));
    const place = () =>
      errorLocation(notFound(`Cannot find package 'absent' imported from ${join(folder, built)}`));
    const frame = ['> 1 | import { absent } from "absent";', `    | ${" ".repeat(23)}^`];
    expect(place()).toEqual({ file, line: 1, column: 24, frame: [...frame, "  2 |"].join("\n") });
    write(source.replace("\n\n", "\nconst b = 2;\n"));
    expect(place()?.frame).toBe([...frame, "  2 | const b = 2;"].join("\n"));
    // Edited since the build, so that only the part still has the line.
    write(`\n\n${source}`);
    expect(place()).toEqual({ file, line: 1, column: 24, frame: [...frame, "  2 |"].join("\n") });
  });

  it.each<[string, string]>([
    [
      "a module that only a plugin knows",
      "Cannot find module 'absent' imported from '\0virtual:a'",
    ],
    ["a path that isn't absolute", "Cannot find module 'absent' imported from 'src/a.ts'"],
    [
      "an address that isn't a file's",
      "Cannot find package 'absent' imported from file://%zz/a.js",
    ],
    ["a file that isn't there", "Cannot find package 'absent' imported from /nowhere/a.js"],
  ])("is unknown if the importer is %s", (_, message) => {
    expect(errorLocation(notFound(message))).toBeUndefined();
    expect(shownError(notFound(message))).toBe("Cannot find package 'absent'");
  });

  it("is in the installed file, even if that has a source map", () => {
    const folder = folderWith({
      "node_modules/tool/index.js": 'import "absent";\n',
      "node_modules/tool/index.js.map": JSON.stringify({
        version: 3,
        sources: ["webpack://tool/src/index.ts"],
        names: [],
        mappings: "",
      }),
    });
    const file = join(folder, "node_modules/tool/index.js");
    expect(
      errorLocation(notFound(`Cannot find package 'absent' imported from ${file}`)),
    ).toMatchObject({ file, line: 1, column: 8 });
  });
});
