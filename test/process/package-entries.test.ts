// The built package: what its entries export.

import { execFileSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { runtimeFolder } from "../../server/base/runtime-files.ts";
import { buildPackage } from "./_application.ts";

beforeAll(buildPackage);

it("files of pages import nothing from /svc/client.js that it doesn't export", async () => {
  const served = runtimeFolder();
  const client = await readFile(join(served, "client.js"), "utf8");
  const exported = new Set(namesIn(/export\{([^}]*)\}/g, client, 1));
  expect(exported.size).toBeGreaterThan(20);
  const names = await readdir(served);
  expect(names).toContain("rare.js");
  for (const name of names) {
    const text = await readFile(join(served, name), "utf8");
    const imports = namesIn(/import\{([^}]*)\}from"\.\/client\.js"/g, text, 0);
    expect(
      imports.filter((wanted) => !exported.has(wanted)),
      name,
    ).toEqual([]);
  }
});

it("seamline/client exports what users call, and nothing for generated code", async () => {
  const script = (name: string, conditions: string[] = []) =>
    execFileSync(
      process.execPath,
      [
        ...conditions,
        "-p",
        `import(${JSON.stringify(name)}).then((all) => console.log(Object.keys(all).join(" "))), ""`,
      ],
      { cwd: join(import.meta.dirname, "../.."), encoding: "utf8" },
    ).trim();
  expect(script("seamline/client")).toBe("startClient");
  const inBrowser = script("seamline", ["--conditions=browser"]).split(" ");
  expect(inBrowser).toContain("runProcedure");
  expect(inBrowser).not.toContain("seam");
});

/** The names in lists of `a as b`: those before (0) or after (1) the `as`. */
function namesIn(lists: RegExp, text: string, side: 0 | 1): string[] {
  return [...text.matchAll(lists)].flatMap(([, list = ""]) =>
    list.split(",").map((entry) => {
      const [first = "", last = first] = entry.split(" as ");
      return side === 0 ? first : last;
    }),
  );
}
