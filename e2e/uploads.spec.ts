// Files that an attacker uploads and a procedure returns: opened at the application's origin, they
// run no script. And uploads that their page aborts.

import { expect, type Page, type Route, test } from "@playwright/test";
import { type Application, buildPackage, createApplication } from "../test/process/_application.ts";
import { startService } from "./wire-application.ts";

const files: Record<string, string> = {
  "src/uploads/uploads.ts": `const kept = new Map<string, Blob>();
/** Stores a file unchanged, as an application would that lets users exchange pictures. */
export async function upload(id: string, file: Blob): Promise<string> {
  kept.set(id, file);
  return file instanceof File ? file.name : "no name";
}
/** The received file as text, with all of its properties. */
export async function inspect(value: unknown): Promise<unknown> {
  if (value instanceof Blob) {
    const { name, lastModified } = value as File;
    const bytes = new Uint8Array(await value.arrayBuffer()).slice(0, 4);
    return [value instanceof File, name ?? "-", value.type, lastModified ?? "-", value.size, ...bytes].join();
  }
  if (value instanceof FormData) return await inspect([...value]);
  if (Array.isArray(value)) return await Promise.all(value.map(inspect));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    await Promise.all(Object.entries(value).map(async ([key, member]) => [key, await inspect(member)])),
  );
}
export async function download(id: string): Promise<Blob | undefined> {
  return kept.get(id);
}
`,
  "src/main.ts": `import { startClient } from "seamline/client";
import { withOptions } from "seamline";
import { download, inspect, upload } from "./uploads/uploads.ts";
await startClient();
document.cookie = "session=secret; path=/";
localStorage.setItem("token", "secret");
Object.assign(globalThis, { download, inspect, upload, withOptions });
document.body.dataset["started"] = "true";
`,
  "index.html": `<!doctype html><link rel="icon" href="data:," /><body><script type="module" src="/src/main.ts"></script></body>\n`,
  "uploads.segment.json": JSON.stringify({
    "./uploads/uploads": {
      upload: { access: "public" },
      download: { access: "public" },
      inspect: { access: "public" },
    },
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

/** Uploads the documents from the application's page; records requests that their scripts make. */
async function uploaded(
  page: Page,
  service: keyof typeof services,
): Promise<{ at: (name: Name) => string; requested: string[] }> {
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
  const requested: string[] = [];
  await page.route(/\/(stolen|tried)\?/, async (route) => {
    requested.push(new URL(route.request().url()).pathname);
    await route.fulfill({ body: "" });
  });
  return { at: (name) => `${services[service]}/rpc/uploads/download?id=${name}`, requested };
}

/** Strips headers from the answers, as some proxies and caches do. */
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
    test(`${service}: an uploaded ${name} is downloaded under its name, not opened (responses-14)`, async ({
      page,
    }) => {
      const { at, requested } = await uploaded(page, service);
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.goto(at(name)).catch(() => undefined),
      ]);
      expect(download.suggestedFilename()).toBe(name);
      expect(requested).toEqual([]);
    });

    test(`${service}: an uploaded ${name} that is opened anyway runs no script and has no origin (responses-13)`, async ({
      page,
    }) => {
      const { at, requested } = await uploaded(page, service);
      await without(page, "content-disposition");
      await page.goto(at(name));
      expect(await page.title()).toBe("uploaded");
      // Evaluated through the debugger, which the policy doesn't restrict.
      expect(await page.evaluate("origin")).toBe("null");
      expect(
        await page.evaluate(
          "(() => { try { return document.cookie; } catch (error) { return error.name; } })()",
        ),
      ).toBe("SecurityError");
      expect(requested).toEqual([]);
    });

    test(`${service}: without the policy, an uploaded ${name} runs and reads the cookie, so these tests can fail`, async ({
      page,
    }) => {
      const { at, requested } = await uploaded(page, service);
      await without(page, "content-disposition", "content-security-policy");
      await page.goto(at(name));
      await expect(page).toHaveTitle("ran");
      await expect.poll(() => requested).toContain("/stolen");
    });
  }

test("a File returned to a page is a File with its name, type and time", async ({ page }) => {
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

for (const service of ["standalone", "proxy"] as const)
  test(`${service}: a page's files arrive with their bytes, names, types and times: alone, in objects and in a FormData (uploads-2)`, async ({
    page,
  }) => {
    const requested: string[] = [];
    page.on("request", (request) => requested.push(new URL(request.url()).pathname));
    await page.goto(services[service]);
    await expect(page.locator("body")).toHaveAttribute("data-started", "true");
    await page.evaluate(() => {
      document.body.innerHTML =
        '<form><input name="text" value="t\u00e4xt\n" /><input name="file" type="file" /></form>';
    });
    await page.setInputFiles("input[type=file]", {
      name: '\u00e4 "1"\\.bin',
      mimeType: "image/png",
      buffer: Buffer.from([0, 255, 13, 10]),
    });
    const came = await page.evaluate(async () => {
      const { inspect } = globalThis as unknown as { inspect(value: unknown): Promise<unknown> };
      const form = document.querySelector("form") as HTMLFormElement;
      const [picked] = (form.querySelector("[type=file]") as HTMLInputElement).files as FileList;
      const time = (picked as File).lastModified;
      const big = new File([new Uint8Array(3_000_000).fill(7)], "big", { lastModified: 1 });
      const cycle: Record<string, unknown> = { picked };
      cycle["self"] = cycle;
      const refused = await inspect(cycle).catch((error: Error) => error.name);
      const results = [
        await inspect(picked),
        await inspect({ deep: [new Blob(["ab"], { type: "a/b" }), { big }] }),
        await inspect(new FormData(form)),
      ];
      return [
        refused,
        ...(JSON.parse(JSON.stringify(results).replaceAll(String(time), "TIME")) as unknown[]),
      ];
    });
    const picked = 'true,\u00e4 "1"\\.bin,image/png,TIME,4,0,255,13,10';
    expect(came).toEqual([
      "ValueNotSerializable",
      picked,
      { deep: ["false,-,a/b,-,2,97,98", { big: "true,big,,1,3000000,7,7,7,7" }] },
      [
        ["text", "t\u00e4xt"],
        ["file", picked],
      ],
    ]);
    // The page preloads it, as its calls carry classes.
    expect(requested.filter((path) => path.endsWith("/codec.js"))).toHaveLength(1);
  });

test("proxy: an upload of 20 MB that withOptions aborts halfway rejects at once, runs no procedure, and the next call works", async ({
  page,
}) => {
  await page.goto(services.proxy);
  await expect(page.locator("body")).toHaveAttribute("data-started", "true");
  // Loads the runtime's files, which would be slow as well.
  await page.evaluate(`withOptions(inspect, { timeoutMs: 10_000 })(1)`);
  const browser = await page.context().newCDPSession(page);
  const conditions = { offline: false, latency: 0, downloadThroughput: -1 };
  await browser.send("Network.enable");
  // Some twenty seconds.
  await browser.send("Network.emulateNetworkConditions", {
    ...conditions,
    uploadThroughput: 1_000_000,
  });
  const aborted = await page.evaluate(`(async () => {
    const controller = new AbortController();
    const call = withOptions(upload, { signal: controller.signal })(
      "large",
      new File([new Uint8Array(20_000_000)], "large"),
    ).then(() => "came", String);
    const early = await Promise.race([call, new Promise((go) => setTimeout(go, 500, "under way"))]);
    const start = performance.now();
    controller.abort("enough");
    return [early, await call, performance.now() - start < 5000];
  })()`);
  expect(aborted).toEqual(["under way", "enough", true]);
  await browser.send("Network.emulateNetworkConditions", { ...conditions, uploadThroughput: -1 });
  expect(await page.evaluate(`download("large").then(String)`)).toBe("undefined");
});
