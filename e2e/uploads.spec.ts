// What a stranger has uploaded, and a procedure gives back: opened as a page of the application's origin it runs nothing there.

import { expect, type Page, type Route, test } from "@playwright/test";
import { type Application, buildPackage, createApplication } from "../test/process/_application.ts";
import { startService } from "./wire-application.ts";

const files: Record<string, string> = {
  "src/uploads/uploads.ts": `const kept = new Map<string, Blob>();
/** Keeps a file as it came, as an application does that lets its users exchange pictures. */
export async function upload(id: string, file: Blob): Promise<string> {
  kept.set(id, file);
  return file instanceof File ? file.name : "no name";
}
export async function download(id: string): Promise<Blob | undefined> {
  return kept.get(id);
}
`,
  "src/main.ts": `import { startClient } from "seamline/client";
import { download, upload } from "./uploads/uploads.ts";
await startClient();
document.cookie = "session=secret; path=/";
localStorage.setItem("token", "secret");
Object.assign(globalThis, { download, upload });
document.body.dataset["started"] = "true";
`,
  "index.html": `<!doctype html><link rel="icon" href="data:," /><body><script type="module" src="/src/main.ts"></script></body>\n`,
  "uploads.segment.json": JSON.stringify({
    "./uploads/uploads": { upload: { access: "public" }, download: { access: "public" } },
  }),
};

const steal = `try { fetch("/stolen?" + encodeURIComponent(document.cookie + localStorage.getItem("token"))); } catch (error) { fetch("/tried?" + error.name); } document.title = "ran";`;
const documents = {
  "evil.html": [
    "text/html",
    `<!doctype html><title>uploaded</title><p>hello</p><script>${steal}</script><img src="x" onerror='${steal}'>`,
  ],
  "evil.svg": [
    "image/svg+xml",
    `<svg xmlns="http://www.w3.org/2000/svg"><title>uploaded</title><script><![CDATA[${steal}]]></script></svg>`,
  ],
  "evil.xhtml": [
    "application/xhtml+xml",
    `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>uploaded</title><script><![CDATA[${steal}]]></script></head></html>`,
  ],
} as const;
type Name = keyof typeof documents;

let application: Application;
let services: Readonly<Record<"proxy" | "standalone", string>>;

test.beforeAll(async () => {
  buildPackage();
  application = await createApplication();
  for (const [path, text] of Object.entries(files)) await application.put(path, text);
  const built = application.seamline(["build"]);
  if ((await built.ended()) !== 0) throw new Error(built.output());
  const start = async (name: string, config: object): Promise<string> =>
    (
      await startService(application, name, {
        url: "http://127.0.0.1:0",
        trustKey: "the-trust-key-of-the-uploads",
        ...config,
      })
    ).url;
  const repository = await start("repository", { mode: "repository" });
  const gateway = await start("gateway", { mode: "gateway" });
  await start("node", { mode: "node", gateway, repository, segments: ["uploads"] });
  services = {
    proxy: await start("proxy", { mode: "proxy", gateway, repository }),
    standalone: await start("standalone", { mode: "standalone" }),
  };
});
test.afterAll(() => application?.remove());

/** Uploads the documents from the application's page; gives the address of each, and notes what is asked for behind its back. */
async function uploaded(
  page: Page,
  service: keyof typeof services,
): Promise<{ at: (name: Name) => string; asked: string[] }> {
  await page.goto(services[service]);
  await expect(page.locator("body")).toHaveAttribute("data-started", "true");
  for (const [name, [type, text]] of Object.entries(documents)) {
    const came = await page.evaluate(
      async ([id, mediaType, content]) =>
        await (globalThis as unknown as { upload(id: string, file: File): Promise<string> }).upload(
          id,
          new File([content], id, { type: mediaType }),
        ),
      [name, type, text] as const,
    );
    expect(came).toBe(name);
  }
  const asked: string[] = [];
  await page.route(/\/(stolen|tried)\?/, async (route) => {
    asked.push(new URL(route.request().url()).pathname);
    await route.fulfill({ body: "" });
  });
  return { at: (name) => `${services[service]}/rpc/uploads/download?id=${name}`, asked };
}

/** The answers come to the browser without these headers, as some proxies and caches leave them. */
async function without(page: Page, ...names: readonly string[]): Promise<void> {
  await page.route("**/rpc/uploads/download*", async (route: Route) => {
    const response = await route.fetch();
    const headers = Object.fromEntries(
      Object.entries(response.headers()).filter(([name]) => !names.includes(name)),
    );
    await route.fulfill({ response, headers });
  });
}

for (const service of ["standalone", "proxy"] as const)
  for (const name of Object.keys(documents) as Name[]) {
    test(`${service}: ${name} that was uploaded is saved under its name, and not opened (D2.responses-14)`, async ({
      page,
    }) => {
      const { at, asked } = await uploaded(page, service);
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.goto(at(name)).catch(() => undefined),
      ]);
      expect(download.suggestedFilename()).toBe(name);
      expect(asked).toEqual([]);
    });

    test(`${service}: ${name} that is opened all the same runs nothing, and has no origin (D2.responses-13)`, async ({
      page,
    }) => {
      const { at, asked } = await uploaded(page, service);
      await without(page, "content-disposition");
      await page.goto(at(name));
      expect(await page.title()).toBe("uploaded");
      // By the debugger, which no policy stops.
      expect(await page.evaluate("origin")).toBe("null");
      expect(
        await page.evaluate(
          "(() => { try { return document.cookie; } catch (error) { return error.name; } })()",
        ),
      ).toBe("SecurityError");
      expect(asked).toEqual([]);
    });

    test(`${service}: ${name} would run and read the cookie without the policy: these tests can fail`, async ({
      page,
    }) => {
      const { at, asked } = await uploaded(page, service);
      await without(page, "content-disposition", "content-security-policy");
      await page.goto(at(name));
      await expect(page).toHaveTitle("ran");
      await expect.poll(() => asked).toContain("/stolen");
    });
  }

test("a page gets a File back as a File, with its name, type and time", async ({ page }) => {
  await uploaded(page, "proxy");
  const back = await page.evaluate(async () => {
    const there = globalThis as unknown as {
      upload(id: string, file: File): Promise<string>;
      download(id: string): Promise<File>;
    };
    await there.upload(
      "x",
      new File(["täxt"], 'ä "1".txt', { type: "text/plain", lastModified: 86_400_000 }),
    );
    const file = await there.download("x");
    return [file instanceof File, file.name, file.type, file.lastModified, await file.text()];
  });
  expect(back).toEqual([true, 'ä "1".txt', "text/plain", 86_400_000, "täxt"]);
});
