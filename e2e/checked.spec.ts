// `checked` in a page: the body of a procedure that runs there, and a call of one that runs on the server.

import { test } from "@playwright/test";
import { buildPackage } from "../test/process/_application.ts";
import { commands, expectShown } from "./_page.ts";

const order = (name: string): string => `import { checked, type StandardSchema } from "seamline";
import { type MaxLength } from "seamline/types";
interface Order<Metres> { lines: { metres: Metres }[] }
const schema: StandardSchema<Order<string>, Order<number>> = {
  "~standard": {
    version: 1,
    vendor: "own",
    validate(value) {
      const { lines } = value as Order<unknown>;
      const metres = lines[0]!.metres;
      // The type says that it is a text.
      return typeof metres === "string" && metres !== ""
        ? { value: { lines: [{ metres: Number(metres) }] } }
        : { issues: [{ message: "no number", path: ["lines", 0, { key: "metres" }] }] };
    },
  },
};
export const ${name} = checked(schema, async (order, unit?: string & MaxLength<2>) => order.lines[0]!.metres + 1 + (unit ?? " m"));
`;

const files = {
  // This leaves imports in place all of whose names are types.
  "tsconfig.json": { compilerOptions: { verbatimModuleSyntax: true } },
  "src/here.ts": order("here"),
  "src/there.ts": order("there"),
  "ui.segment.json": { "./here": { here: { access: "public" } } },
  "server.segment.json": { "./there": { there: { access: "public" } } },
  "src/main.ts": `import { checked, InvalidParameterValue } from "seamline";
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
  for (const metres of ["7", ""]) lines.push(await ended(() => run({ lines: [{ metres }] })));
lines.push(await ended(async () => checked({} as any, async () => {})));
document.querySelector("output")!.textContent = JSON.stringify(lines);
`,
};

const refused = [true, "order.lines[0].metres: no number"];
const noSchema = [false, "checked() needs a Standard Schema"];

test.beforeAll(() => buildPackage());

for (const command of commands)
  test(`a checked procedure gives the same in the page and on the server, and an error without a schema: ${command}`, async ({
    page,
  }) => {
    const shown = JSON.stringify(["8 m", refused, "8 m", refused, noSchema]);
    await expectShown(page, command, files, shown);
  });
