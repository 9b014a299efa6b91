// `authed(async (user, title) => …)`: callers must not pass what the wrapper passes.

import { expect, it } from "vitest";

import { checkApplication } from "../../server/report/check.ts";
import { anyPort, applicationOf, start } from "../spec/_started.ts";

const files = (head: string) => ({
  "src/shop/authed.ts":
    "export const authed = (run: any): any => async (...args: unknown[]) => run('the signed-in one', ...args);\n",
  "src/shop/create.ts": `import { authed } from "./authed.ts";\nexport const create${head} = authed(async (user: string, title: string) => \`\${title} of \${user}\`);\n`,
  "shop.segment.json": '{ "./shop/create": { "create": { "access": "public" } } }',
});
const log = { info: () => {}, warn: () => {}, error: () => {} };

it("callers of a wrapped function pass the parameters of the constant's type, not those of the inner function", async () => {
  const application = applicationOf(files(": (title: string) => Promise<string>"));
  await application.build();
  expect(application.manifest().procedures[0]?.parameters).toEqual([
    { kind: "plain", name: "title" },
  ]);
  const { url } = await start(application, { mode: "standalone", url: anyPort });
  const post = async (body: object) => {
    const answer = await fetch(`${url}/rpc/shop/create`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return [answer.status, await answer.text()];
  };
  expect(await post({ title: "felt" })).toEqual([200, "felt of the signed-in one"]);
  expect(await post({ user: "root", title: "felt" })).toEqual([400, "Unknown parameter 'user'"]);
  expect(await post({ user: "root" })).toEqual([400, "Missing value for parameter 'title'"]);
});

it("a build and a check refuse a wrapped function without a type, with the line and what to write", async () => {
  const application = applicationOf(files(""));
  const expected = {
    file: "src/shop/create.ts",
    line: 2,
    column: 14,
    message: "'create' comes from authed(…): the source doesn't say which parameters callers give",
    hint: "Write its type: const create: (title: string) => Promise<string> = authed(…)",
  };
  expect(await application.problems()).toMatchObject([expected]);
  expect((await checkApplication({ root: application.root, env: {}, log })).problems).toMatchObject(
    [expected],
  );
});
