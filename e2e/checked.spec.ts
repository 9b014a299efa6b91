// `checked` in a page: the body of a procedure that runs there, and a call of one that runs on the server.

import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { type Application, buildPackage, createApplication } from "../test/process/_application.ts";

let application: Application;
let url: string;
test.beforeAll(async () => {
  buildPackage();
  application = await createApplication();
  await symlink(
    join(import.meta.dirname, "../node_modules/zod"),
    join(application.root, "node_modules/zod"),
    "junction",
  );
  // This leaves imports in place all of whose names are types.
  await application.put("tsconfig.json", { compilerOptions: { verbatimModuleSyntax: true } });
  const order = (name: string) => `import { checked } from "seamline";
import { type MaxLength } from "seamline/types";
import { z } from "zod";
const schema = z.object({ lines: z.array(z.object({ metres: z.string().transform(Number) })) });
export const ${name} = checked(schema, async (order, unit?: string & MaxLength<2>) => order.lines[0]!.metres + 1 + (unit ?? ""));
`;
  await application.put("src/here.ts", order("here"));
  await application.put("src/there.ts", order("there"));
  await application.put("ui.segment.json", { "./here": { here: { access: "public" } } });
  await application.put("server.segment.json", { "./there": { there: { access: "public" } } });
  await application.put(
    "index.html",
    '<!doctype html><title>t</title><output></output><script type="module" src="/src/page.ts"></script>',
  );
  await application.put(
    "src/page.ts",
    `import { checked, InvalidParameterValue } from "seamline";
import { startClient } from "seamline/client";
import { here } from "./here.ts";
import { there } from "./there.ts";
await startClient("ui");
const ended = async (call: () => Promise<unknown>) => {
  try {
    return await call();
  } catch (error) {
    return [error instanceof InvalidParameterValue, error.message];
  }
};
const lines = [];
for (const run of [here, there])
  for (const metres of ["7", 7]) lines.push(await ended(() => run({ lines: [{ metres }] } as any)));
lines.push(await ended(async () => checked({} as any, async () => {})));
document.querySelector("output")!.textContent = JSON.stringify(lines);
`,
  );
  await application.put("seamline.json", { mode: "standalone", url: "http://127.0.0.1:0" });
  const built = application.seamline(["build"]);
  expect(await built.ended(), built.output()).toBe(0);
  [, url = ""] = await application
    .seamline(["start", "--no-build"])
    .says(/standalone at (http:\S+)/);
});
test.afterAll(async () => await application.remove());

test("a checked procedure gives the same in the page and on the server, and an error without a schema", async ({
  page,
}) => {
  await page.goto(url);
  const message = "order.lines[0].metres: Invalid input: expected string, received number";
  await expect(page.locator("output")).toHaveText(
    JSON.stringify([
      "8",
      [true, message],
      "8",
      [true, message],
      [false, "checked() needs a Standard Schema"],
    ]),
  );
});
