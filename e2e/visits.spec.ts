// The files that pages load from one visit to the next, with real builds, a real repository and a real proxy.

import { SourceMap } from "node:module";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, type Page, test } from "@playwright/test";
import type { Application, Command } from "../test/process/_application.ts";
import { integrityOf } from "./_origin.ts";
import { copyWire, startService } from "./wire-application.ts";
import { runtimeHash } from "../server/base/runtime-files.ts";

let application: Application;
let repository: { url: string; command: Command };
let proxy = "";

const build = async (): Promise<void> => {
  const command = application.seamline(["build"]);
  expect(await command.ended(), command.output()).toBe(0);
};

/** Restarts at the same address, as the other services aren't told about it. */
const startRepository = async (): Promise<void> => {
  const url = repository?.url ?? "http://127.0.0.1:0";
  repository = await startService(application, "repository", {
    mode: "repository",
    url,
    assets: ["plain.html"],
  });
  // A proxy dials it again within two seconds. Until then files are 503.
  if (proxy !== "")
    await expect.poll(async () => (await fetch(`${proxy}/plain.html`)).status).toBe(200);
};

test.describe.configure({ mode: "default" });
test.beforeAll(async () => {
  application = await copyWire();
  await build();
  await startRepository();
  // No test makes a remote call, so the node's address is never used.
  const places = { node: "http://127.0.0.1:9", repository: repository.url };
  proxy = (
    await startService(application, "proxy", {
      mode: "proxy",
      url: "http://127.0.0.1:0",
      ...places,
    })
  ).url;
});
test.afterAll(() => application?.remove());

async function open(page: Page, path: string): Promise<void> {
  await page.goto(proxy + path);
  await expect(page.locator("body")).toHaveAttribute("data-started", "true");
}

const edition = async (page: Page): Promise<string> => await page.evaluate("local.edition()");

/** Runs a module's text in the page and returns its result. */
const inPage = async (page: Page, text: string): Promise<unknown> =>
  await page.evaluate(`(async () => { ${text} })()`);

/** The revision that the page has cached for the next visit. */
const kept = async (page: Page): Promise<string | undefined> =>
  await page.evaluate(
    () =>
      new Promise<string | undefined>((resolve, reject) => {
        const opening = indexedDB.open("seamline");
        opening.addEventListener("error", () => reject(new Error("no database")));
        opening.addEventListener("success", () => {
          if (!opening.result.objectStoreNames.contains("client")) return resolve(undefined);
          const reading = opening.result
            .transaction("client")
            .objectStore("client")
            .get(location.origin);
          reading.addEventListener("success", () => {
            opening.result.close();
            resolve((reading.result as { revision: string } | undefined)?.revision);
          });
        });
      }),
  );

const revision = async (): Promise<string> =>
  (
    JSON.parse(await readFile(join(application.root, "dist/server/manifest.json"), "utf8")) as {
      revision: string;
    }
  ).revision;

/** Paths below `/svc/` that a visit requests until the page has started. */
async function requestedBy(page: Page, path: string): Promise<readonly string[]> {
  const requested: string[] = [];
  page.on("request", (request) => requested.push(new URL(request.url()).pathname));
  await open(page, path);
  return requested.filter((name) => name.startsWith("/svc/")).toSorted();
}

/** Answers requests for `path` with a changed document, and the strictest policy. */
async function change(page: Page, path: string, act: (html: string) => string): Promise<void> {
  await page.route(proxy + path, async (route) => {
    const response = await route.fetch();
    const headers = {
      ...response.headers(),
      "content-security-policy":
        "default-src 'self'; img-src data:; require-trusted-types-for 'script'; trusted-types 'none'",
    };
    await route.fulfill({ response, headers, body: act(await response.text()) });
  });
}

const hash = runtimeHash();

/** Files of the runtime at the addresses that browsers keep for good. */
const keptFiles = (...names: string[]): string[] => names.map((name) => `/svc/${hash}/${name}.js`);

test("a first visit to a built page whose calls carry classes asks for client.js, remote.js and codec.js at once, under the strictest policy", async ({
  page,
}) => {
  const refused: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") refused.push(message.text());
  });
  await change(page, "/", (html) => html);
  expect(await requestedBy(page, "/")).toEqual(keptFiles("client", "codec", "remote"));
  expect(await edition(page)).toBe("first edition");
  expect(refused).toEqual([]);
});

test("a built page whose manifest is too large for it preloads the manifest, and asks once", async ({
  page,
}) => {
  const current = await revision();
  await change(page, "/", (html) =>
    html.replace(
      /<script type="application\/json".*?<\/script>/,
      `<link rel="preload" as="fetch" crossorigin href="/svc/manifest.json?revision=${current}">`,
    ),
  );
  const files = [...keptFiles("client", "codec", "plain", "remote"), "/svc/manifest.json"];
  expect(await requestedBy(page, "/")).toEqual(files);
  expect(await edition(page)).toBe("first edition");
});

test("a second visit to a page that no build made starts without waiting for the manifest's request", async ({
  page,
}) => {
  await open(page, "/plain.html");
  await expect.poll(() => kept(page)).toBe(await revision());
  let held = 0;
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route("**/svc/manifest.json", async (route) => {
    held++;
    await released;
    await route.continue();
  });
  await open(page, "/plain.html");
  expect(await edition(page)).toBe("first edition");
  expect(held).toBe(1);
  release();
});

test("a second visit to a built page asks its service for no file of the runtime, and one to a page that no build made for client.js alone", async ({
  page,
}) => {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  const paths = new Map<string, string>();
  session.on("Network.requestWillBeSent", ({ requestId, request }) =>
    paths.set(requestId, new URL(request.url).pathname),
  );
  const isCached = new Set<string>();
  session.on("Network.requestServedFromCache", ({ requestId }) => isCached.add(requestId));
  session.on("Network.responseReceived", ({ requestId, response }) => {
    if (response.fromDiskCache === true) isCached.add(requestId);
  });
  const asked = async (path: string): Promise<readonly string[]> => {
    paths.clear();
    await open(page, path);
    await page.waitForLoadState("networkidle");
    return [...paths]
      .filter(([id, name]) => !isCached.has(id) && name.startsWith("/svc/"))
      .map(([, name]) => name)
      .toSorted();
  };
  expect(await asked("/")).toEqual(keptFiles("client", "codec", "remote"));
  expect(await asked("/")).toEqual([]);
  const plain = await asked("/plain.html");
  expect(plain).toEqual([...keptFiles("plain"), "/svc/client.js", "/svc/manifest.json"]);
  expect(await asked("/plain.html")).toEqual(["/svc/client.js", "/svc/manifest.json"]);
});

test("a page of another release runs with the files of the service that it meets, which no cache keeps for that release", async ({
  page,
}) => {
  const other = "0123456789abcdef";
  const ofOther = async (path: string): Promise<string> =>
    (await (await fetch(proxy + path)).text()).replaceAll(hash, other);
  await page.route(/\/assets\/.*\.js$/, async (route) =>
    route.fulfill({
      contentType: "text/javascript",
      body: await ofOther(new URL(route.request().url()).pathname),
    }),
  );
  await page.route(`${proxy}/`, async (route) => {
    let html = await ofOther("/");
    for (const [, file = "", integrity = ""] of html.matchAll(
      /"(assets\/[^"]+\.js)":\{"integrity":"([^"]+)"/g,
    ))
      html = html.replaceAll(integrity, integrityOf(await ofOther(`/${file}`)));
    await route.fulfill({ contentType: "text/html", body: html });
  });
  expect(await requestedBy(page, "/")).toEqual(
    ["client", "codec", "remote"].map((name) => `/svc/${other}/${name}.js`),
  );
  expect(await edition(page)).toBe("first edition");
});

test("client.js and hooks.js are one runtime", async ({ page }) => {
  await open(page, "/");
  const found = await inPage(
    page,
    `const [client, hooks, own] = await Promise.all(["client.js", "hooks.js", "${hash}/client.js"].map((name) => import("/svc/" + name)));
     return [Object.keys(hooks).toSorted(), client.startClient === own.startClient && hooks.startClient === own.startClient,
       hooks.runProcedure === own.runProcedure && Object.keys(client).every((name) => client[name] === own[name]),
       await hooks.runProcedure("local/edition")];`,
  );
  expect(found).toEqual([
    ["onStop", "runProcedure", "startClient", "withOptions"],
    true,
    true,
    "first edition",
  ]);
});

test("a forbidden segment and a missing one get the same message", async ({ page }) => {
  await open(page, "/plain.html");
  for (const segment of ["wire", "nothing"]) {
    const found = await inPage(
      page,
      `const { SegmentNotFound, startClient } = await import("/svc/client.js");
       return await startClient("${segment}").then(() => "it started", (error) => [error instanceof SegmentNotFound, error.message]);`,
    );
    expect(found).toEqual([
      true,
      `segment '${segment}' is not one that browsers may load (ui); see browserSegments`,
    ]);
  }
  // The manifest doesn't reveal it either.
  const manifest = await (await fetch(`${proxy}/svc/manifest.json`)).text();
  expect(Object.keys((JSON.parse(manifest) as { segments: object }).segments)).toEqual(["ui"]);
});

test("client.import of a forbidden module and of a missing one rejects with the page's own FileNotFound", async ({
  page,
}) => {
  await open(page, "/plain.html");
  for (const path of ["./wire/second.js", "./wire/nothing.js"]) {
    const found = (await inPage(
      page,
      `const { FileNotFound } = await import("/svc/client.js");
       return await client.import("${path}").then((module) => Object.keys(module), (error) => [error instanceof FileNotFound, error.message]);`,
    )) as readonly unknown[];
    expect(found, path).toEqual([
      true,
      expect.stringContaining(`'${path}' is not a module that browsers can get`),
    ]);
  }
});

test("the stack of an error that a page's procedure throws has the line of TypeScript", async ({
  page,
}) => {
  await open(page, "/");
  const stack = (await inPage(
    page,
    `return await local.broken({ text: "torn" }).catch((error) => error.stack);`,
  )) as string;
  const [, url = "", line, column] =
    /at [^\n]*?\(?(http:\S+?\.js):(\d+):(\d+)\)?/.exec(stack.slice(stack.indexOf("\n"))) ?? [];
  const script = await (await fetch(url)).text();
  const [, file = ""] = /\/\/# sourceMappingURL=(\S+)\s*$/.exec(script) ?? [];
  const map = new SourceMap(
    (await (await fetch(new URL(file, url))).json()) as ConstructorParameters<typeof SourceMap>[0],
  );
  const place = map.findEntry(Number(line) - 1, Number(column) - 1);
  const source = await readFile(join(application.root, "src/local/local.ts"), "utf8");
  expect("originalSource" in place && place.originalSource).toMatch(/src\/local\/local\.ts(\?|$)/);
  expect(source.split("\n")["originalLine" in place ? place.originalLine : -1]).toContain(
    "throw new Refused(reason.text, code)",
  );
});

test("after a deploy a built page is new at once, and a plain one on the visit after", async ({
  page,
  context,
}) => {
  await open(page, "/plain.html");
  const first = await revision();
  await expect.poll(() => kept(page)).toBe(first);
  const stays = await context.newPage();
  await open(stays, "/");

  await application.put(
    "src/local/local.ts",
    (await readFile(join(application.root, "src/local/local.ts"), "utf8")).replace(
      "first edition",
      "second edition",
    ),
  );
  await build();
  expect(await repository.command.ended("SIGTERM")).toBe(0);
  await startRepository();
  const second = await revision();
  expect(second).not.toBe(first);

  // An open page keeps its revision.
  expect(await edition(stays)).toBe("first edition");
  // A plain page runs the whole cached revision, whose files still exist.
  await open(page, "/plain.html");
  expect(await edition(page)).toBe("first edition");
  await expect.poll(() => kept(page)).toBe(second);
  await open(page, "/plain.html");
  expect(await edition(page)).toBe("second edition");
  await open(stays, "/");
  expect(await edition(stays)).toBe("second edition");
  expect(await stays.locator("meta[name=seamline-revision]").getAttribute("content")).toBe(second);
});

test("after two missed deploys a page starts with the newest revision, as files of the cached one are gone", async ({
  page,
}) => {
  await open(page, "/plain.html");
  await expect.poll(() => kept(page)).toBe(await revision());
  for (const name of ["third edition", "fourth edition"]) {
    const text = await readFile(join(application.root, "src/local/local.ts"), "utf8");
    await application.put("src/local/local.ts", text.replace(/"\w+ edition"/, `"${name}"`));
    await build();
  }
  expect(await repository.command.ended("SIGTERM")).toBe(0);
  await startRepository();
  // The browser's HTTP cache would hide that the files are gone.
  const session = await page.context().newCDPSession(page);
  await session.send("Network.clearBrowserCache");
  await open(page, "/plain.html");
  expect(await edition(page)).toBe("fourth edition");
  await expect.poll(() => kept(page)).toBe(await revision());
});
