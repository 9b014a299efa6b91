import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Application, buildPackage, createApplication } from "./_application.ts";

beforeAll(buildPackage, 120_000);

let application: Application;
beforeEach(async () => {
  application = await createApplication();
  await application.put(
    "index.html",
    '<!doctype html><script type="module" src="/src/main.ts"></script>',
  );
  await application.put(
    "src/main.ts",
    'import { greet } from "./greet";\ndocument.title = await greet("Ada");\n',
  );
  await application.put(
    "src/greet.ts",
    "export async function greet(name: string): Promise<string> {\n  return name;\n}\n",
  );
  await application.put("greet.segment.json", {
    "./greet": { greet: { access: "public", validate: true } },
  });
});
afterEach(() => application.remove());

describe("the command line in a process", () => {
  it("seamline inspect prints the application and exits", { timeout: 60_000 }, async () => {
    const command = application.seamline(["inspect"]);
    expect(await command.ended()).toBe(0);
    expect(command.output()).toMatch(
      /^1 procedure in 1 segment\n\ngreet {2}nodes {2}greet\.segment\.json\n {2}greet {2}public {2}\(name: string\): Promise<string>\n {4}from src\/main\.ts:1\n\nBrowsers receive 2 modules/,
    );
  });

  it(
    "seamline check exits with 0, or with 1 if there is a problem",
    { timeout: 60_000 },
    async () => {
      const right = application.seamline(["check", "--max-warnings", "0"]);
      expect(await right.ended()).toBe(0);
      expect(right.output()).toBe(
        "nothing wrong in 1 procedure, 2 modules, 1 segment file and 0 configurations\n",
      );
      await rm(join(application.root, "src/greet.ts"));
      const wrong = application.seamline(["check"]);
      expect(await wrong.ended()).toBe(1);
      expect(wrong.output()).toContain(`"./greet" isn't one`);
    },
  );
});
