// A built page below a path of its origin, as it is served and behind nginx as the guide has it, under the
// content security policy that the starters have.

import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, type Page, test } from "@playwright/test";

import { freePort } from "../test/_free-port.ts";
import { type Application, buildPackage, createApplication } from "../test/process/_application.ts";

const root = join(import.meta.dirname, "..");
const nginx = ["/usr/sbin/nginx", "/usr/bin/nginx"].find((path) => existsSync(path));
const guide = readFileSync(join(root, "docs/guide/deployment.md"), "utf8");
const { headers } = JSON.parse(
  readFileSync(join(root, "templates/base/seamline.json"), "utf8"),
) as { headers: object };

let application: Application;
let url = "";

test.beforeAll(async () => {
  buildPackage();
  application = await createApplication();
  await application.put("vite.config.mjs", 'export default { base: "/shop/" };\n');
  await application.put(
    "index.html",
    '<!doctype html><html><head><meta charset="utf-8"><title>Shop</title></head><body><script type="module" src="/src/main.ts"></script></body></html>',
  );
  await application.put(
    "src/main.ts",
    `import "./main.css";
import { visit } from "./shop/visit.ts";
const answers = [await visit(), await visit()];
const { word } = await import("./later.ts");
document.body.textContent = [...answers, word].join(" ");
`,
  );
  await application.put("src/main.css", "body { color: rgb(1, 2, 3); }\n");
  await application.put("src/later.ts", 'export const word = "later";\n');
  await application.publish(
    "shop/visit",
    `import { getContext } from "seamline";
export async function visit(): Promise<string> {
  const { cookies, response } = getContext();
  const visits = Number(cookies.get("visits") ?? 0) + 1;
  response.cookies.set("visits", String(visits));
  return String(visits);
}
`,
    ["visit"],
  );
  const build = application.seamline(["build"]);
  expect(await build.ended(), build.output()).toBe(0);
  const config = { mode: "standalone", url: "http://127.0.0.1:0", errors: "masked", headers };
  ({ url } = await application.service("shop", config, ["--no-build"]));
});
test.afterAll(async () => await application.remove());

/** Opens the page, and returns its text with what the browser complained about. */
async function opened(page: Page, address: string): Promise<{ text: string; faults: string[] }> {
  const faults: string[] = [];
  page.on("console", (message) => void (message.type() === "error" && faults.push(message.text())));
  page.on("pageerror", (error) => void faults.push(String(error)));
  page.on("response", (answer) => {
    if (answer.status() >= 400 && !answer.url().endsWith("/favicon.ico"))
      faults.push(`${answer.status()} ${answer.url()}`);
  });
  await page.goto(address);
  await expect(page.locator("body")).toHaveText(/later/);
  await expect(page.locator("body")).toHaveCSS("color", "rgb(1, 2, 3)");
  const own = faults.filter((fault) => !/favicon|404 \(Not Found\)/.test(fault));
  return { text: (await page.locator("body").textContent()) ?? "", faults: own };
}

test("a page below a base runs under the starters' policy, and keeps its cookies", async ({
  page,
}) => {
  const { text, faults } = await opened(page, `${url}/shop/`);
  expect(faults).toEqual([]);
  expect(text).toBe("1 2 later");
  expect((await page.context().cookies())[0]).toMatchObject({ name: "visits", path: "/shop" });
  const answer = await page.request.get(`${url}/shop/`);
  expect(answer.headers()["content-security-policy"]).toContain("default-src 'self'");
});

for (const [what, pattern] of [
  ["takes the base off", /```nginx shown\n(location \/shop\/ \{[^`]*takes \/shop off[^`]*)```/],
  ["leaves the base on", /```nginx shown\n(location \/shop\/ \{[^`]*leaves \/shop on[^`]*)```/],
] as const)
  test(`behind an nginx that ${what}, as the guide has it, the page and its calls work`, async ({
    page,
  }) => {
    test.skip(nginx === undefined, "nginx isn't installed");
    const location = pattern.exec(guide)?.[1] ?? "";
    expect(location).toContain("127.0.0.1:3000");
    const front = await startNginx(location.replace("127.0.0.1:3000", new URL(url).host));
    try {
      const { text, faults } = await opened(page, `${front.url}/shop/`);
      expect(faults).toEqual([]);
      expect(text).toBe("1 2 later");
    } finally {
      front.child.kill("SIGKILL");
      rmSync(front.folder, { recursive: true, force: true });
    }
  });

async function startNginx(
  location: string,
): Promise<{ url: string; child: ChildProcess; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), "seamline-nginx-"));
  const port = await freePort();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `  ${name}_temp_path ${folder}/${name};`)
    .join("\n");
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
${temporary}
  server {
    listen 127.0.0.1:${port};
${location}
  }
}
`,
  );
  const child = spawn(nginx ?? "", ["-p", folder, "-c", "nginx.conf", "-e", "stderr"], {
    stdio: "ignore",
  });
  const at = `http://127.0.0.1:${port}`;
  await expect
    .poll(
      async () =>
        await fetch(`${at}/shop/health/live`).then(
          ({ status }) => status,
          () => 0,
        ),
    )
    .toBe(200);
  return { url: at, child, folder };
}
