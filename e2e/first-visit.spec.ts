// All JavaScript that a page requests before its first remote call: a page without it waits for
// each file. Built by `seamline build` and by `vite build`, with one page and with several.

import { runtimeHash } from "../server/base/runtime-files.ts";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, type Page, test } from "@playwright/test";
import {
  type Application,
  buildPackage,
  createApplication,
  launch,
} from "../test/process/_application.ts";

const packageRoot = join(import.meta.dirname, "..");

/** A page that shows the result of a call. */
const html = (name: string): string =>
  `<!doctype html><title>${name}</title><output></output><script type="module" src="/src/pages/${name}.ts"></script>`;
const script = (call: string): string => `
import { startClient } from "seamline/client";
import { add, double } from "../stock.ts";
const client = await startClient();
document.querySelector("output")!.textContent = String(await ${call});
// A path that the build can't read.
Object.assign(window, { load: (path: string) => client.import(path), add, double });
`;

interface Built {
  readonly application: Application;
  readonly url: string;
}

/** An application with these pages, built and served. */
async function built(pages: readonly string[], tool: "seamline" | "vite"): Promise<Built> {
  const application = await createApplication();
  await application.put("stock.segment.json", {
    "./stock": { add: { access: "public" }, double: { access: "public" } },
  });
  await application.put(
    "src/stock.ts",
    `export async function add(a: number, b: number): Promise<number> {
  return a + b;
}
export async function double(a: number): Promise<number> {
  return 2 * a;
}
`,
  );
  for (const page of pages) {
    await application.put(`${page}.html`, html(page));
    await application.put(
      `src/pages/${page}.ts`,
      script(page === "index" ? "add(1, 2)" : "double(3)"),
    );
  }
  const input = JSON.stringify(pages.map((page) => `${page}.html`));
  await application.put(
    "vite.config.js",
    tool === "seamline"
      ? `export default { build: { rolldownOptions: { input: ${input} } } };\n`
      : `import { seamline } from "seamline/vite";\nexport default { plugins: [seamline()], build: { rolldownOptions: { input: ${input} } } };\n`,
  );
  await application.put("seamline.json", { mode: "standalone", url: "http://127.0.0.1:0" });
  await symlink(
    join(packageRoot, "node_modules/vite"),
    join(application.root, "node_modules/vite"),
    "junction",
  );
  const vite = join(packageRoot, "node_modules/vite/bin/vite.js");
  const command =
    tool === "seamline"
      ? application.seamline(["build"])
      : launch([process.execPath, vite, "build"], application.root);
  expect(await command.ended(), command.output()).toBe(0);
  const [, url = ""] = await application
    .seamline(["start", "--no-build"])
    .says(/standalone at (http:\S+)/);
  return { application, url };
}

/** The scripts that a visit requests before its first call, without the hashes in their names. */
async function scriptsOf(page: Page, url: string, shown: string): Promise<readonly string[]> {
  const scripts: string[] = [];
  let called = false;
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    called ||= pathname.startsWith("/rpc/");
    // A preloaded module is a script, too; a document, a call and an icon are not.
    if (!called && (request.resourceType() === "script" || pathname.endsWith(".js")))
      scripts.push(pathname.replace(/-[\w-]{8}(?=\.js$)/, ""));
  });
  await page.goto(url);
  await expect(page.locator("output")).toHaveText(shown);
  return scripts.toSorted();
}

const runtime = ["client", "remote"].map((name) => `/svc/${runtimeHash()}/${name}.js`);

test.beforeAll(() => buildPackage());

for (const tool of ["seamline", "vite"] as const)
  test(`a page built by ${tool} requests its own script and two files of the runtime, and client.import still finds the face`, async ({
    page,
  }) => {
    const { application, url } = await built(["index"], tool);
    try {
      expect(await scriptsOf(page, url, "3")).toEqual(["/assets/index.js", ...runtime]);
      const found = await page.evaluate(`(async () => {
        const face = await load("./stock.js");
        return [Object.keys(face).toSorted(), await face.add(2, 3), await face.double(4), face.add.length];
      })()`);
      expect(found).toEqual([["add", "double"], 5, 8, 2]);
    } finally {
      await application.remove();
    }
  });

test("of several pages, each requests its own script, one file with what they share, and the runtime", async ({
  page,
  context,
}) => {
  const { application, url } = await built(["index", "till"], "seamline");
  try {
    const shared = "/assets/stock.js";
    expect(await scriptsOf(page, url, "3")).toEqual(["/assets/index.js", shared, ...runtime]);
    const till = await scriptsOf(await context.newPage(), `${url}/till.html`, "6");
    expect(till).toEqual([shared, "/assets/till.js", ...runtime]);
  } finally {
    await application.remove();
  }
});
