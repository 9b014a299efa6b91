// `npm run docs`: the documents as a site, in docs/.vitepress/dist. Writes the reference first, and fails on whatever the site's builder warns of, on
// a page that isn't there or can't be found by its search, and on a request that would leave the site. `-- --serve` serves it while you write.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { toJsonSchema } from "@valibot/to-json-schema";
import { runnerImport } from "vite";
import { apiPages, errorsPage } from "./docs-api.mjs";
import { configurationDocument, document as configuration } from "./docs-configuration.mjs";

const root = join(import.meta.dirname, "..");
const docs = join(root, "docs");
const site = join(docs, ".vitepress/dist");
const started = performance.now();

/** @param {string} path @param {string} text */
function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  // Unchanged files stay as old as they are: who serves would load each page again.
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeFileSync(path, text);
}

/** A module of the sources. @param {string} path */
async function load(path) {
  const { module } = await runnerImport(join(root, path), {
    root,
    configFile: false,
    logLevel: "warn",
  });
  return module;
}

async function writeReference() {
  /** @type {typeof import("../server/json-schema.ts")} */
  const { configJsonSchema } = await load("server/json-schema.ts");
  /** @type {typeof import("../src/errors.ts")} */
  const errors = await load("src/errors.ts");
  /** @type {import("../server/json-schema.ts").Convert} */
  const convert = (one) => ({
    ...toJsonSchema(one, { typeMode: "input", ignoreActions: ["raw_check"] }),
  });
  write(join(root, configuration), configurationDocument(configJsonSchema(convert)));
  const { pages, problems } = apiPages([...errors.frameworkErrors.keys()]);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  const api = join(docs, "reference/api");
  const written = { ...pages, "reference/api/errors.md": errorsPage(errors) };
  for (const [path, text] of Object.entries(written)) write(join(docs, path), text);
  // Of an entry that the package has no more.
  for (const name of readdirSync(api))
    if (!(`reference/api/${name}` in written)) rmSync(join(api, name));
}

/** @param {string[]} words */
async function vitepress(...words) {
  const command = join(root, "node_modules/vitepress/bin/vitepress.js");
  const serves = words[0] === "dev";
  const child = spawn(process.execPath, [command, ...words], {
    cwd: root,
    stdio: serves ? "inherit" : ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text) => (said += text));
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (serves) return;
  // Of a missing language or a wrong link it only warns.
  const lines = said
    .split("\n")
    .filter((line) => !/^\s*(?:vitepress v|- |.*✓|build complete|$)/.test(line));
  if (code !== 0 || lines.length > 0) throw new Error(said);
}

/** What is wrong with the site that was built. */
async function problemsOfSite() {
  /** @type {{ pagesOf(): string[] }} */
  const { pagesOf } = await load("docs/.vitepress/sidebar.ts");
  const pages = pagesOf();
  const files = readdirSync(site, { recursive: true, encoding: "utf8" }).map((file) =>
    file.replaceAll("\\", "/"),
  );
  const index = files.find((file) => /localSearchIndexroot.*\.js$/.test(file));
  /** @type {{ default: string }} */
  const found =
    index === undefined
      ? { default: '{"documentIds":{}}' }
      : await import(pathToFileURL(join(site, index)).href);
  const searched = new Set(
    Object.values(JSON.parse(found.default).documentIds).map((id) => id.split("#")[0]),
  );
  const texts = files
    .filter((file) => /\.(?:html|css)$/.test(file))
    .map((file) => ({ file, text: readFileSync(join(site, file), "utf8") }));
  return [
    ...pages
      .filter(
        (page) => !files.includes(`${page.slice(1)}${page.endsWith("/") ? "index" : ""}.html`),
      )
      .map((page) => `${page} was not built`),
    ...pages.filter((page) => !searched.has(page)).map((page) => `the search doesn't know ${page}`),
    ...texts.flatMap(({ file, text }) =>
      [
        ...text.matchAll(
          /<(?:script|img|link|iframe|source)\b[^>]*\b(?:src|href)="(?:https?:)?\/\/[^"]*"|url\((?:https?:)?\/\/[^)]*\)|@import\s[^;]*/g,
        ),
      ].map(([what]) => `${file} asks another site: ${what}`),
    ),
  ];
}

await writeReference();
if (process.argv.includes("--serve")) await vitepress("dev", "docs", "--host", "127.0.0.1");
else {
  await vitepress("build", "docs");
  const problems = await problemsOfSite();
  if (problems.length > 0) throw new Error(problems.join("\n"));
  console.log(
    `docs/.vitepress/dist built in ${((performance.now() - started) / 1000).toFixed(1)} s`,
  );
}
