// `npm run docs`: builds the documents as a site in docs/.vitepress/dist. Writes the reference
// and copies of the rooms' pages first. Fails on any warning of the builder, on a page that is missing or that search doesn't
// find, and on requests to other sites. `-- --serve` serves the site while you write.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { apiPages, errorsPage } from "./docs-api.mjs";
import { load } from "./typescript.mjs";

const root = join(import.meta.dirname, "..");
const docs = join(root, "docs");
const site = join(docs, ".vitepress/dist");
const started = performance.now();

/** @param {string} path @param {string} text */
function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  // Doesn't touch unchanged files, as `--serve` would reload each page.
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeFileSync(path, text);
}

async function writeReference() {
  /** @type {typeof import("../src/base/errors.ts")} */
  const errors = await load("src/base/errors.ts");
  const { pages, problems } = apiPages([...errors.frameworkErrors.keys()]);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  writeFolder("reference/api", { ...pages, "reference/api/errors.md": errorsPage(errors) });
}

async function writeRooms() {
  /** @type {typeof import("../docs/.vitepress/rooms.ts")} */
  const { roomPage, rooms, textOf } = await load("docs/.vitepress/rooms.ts");
  writeFolder(
    "rooms",
    Object.fromEntries(rooms.map((file) => [`${roomPage(file)}.md`, textOf(file)])),
  );
}

async function writeTexts() {
  /** @type {typeof import("../docs/.vitepress/llms.ts")} */
  const { llmsFiles } = await load("docs/.vitepress/llms.ts");
  for (const [path, text] of Object.entries(llmsFiles())) write(join(site, path), text);
}

/**
 * Writes all pages of a folder, and removes those of what isn't there any more.
 * @param {string} folder
 * @param {Readonly<Record<string, string>>} pages by their paths in the site
 */
function writeFolder(folder, pages) {
  for (const [path, text] of Object.entries(pages)) write(join(docs, path), text);
  for (const name of readdirSync(join(docs, folder)))
    if (!(`${folder}/${name}` in pages)) rmSync(join(docs, folder, name));
}

/** @param {string[]} words */
async function vitepress(...words) {
  const command = join(root, "node_modules/vitepress/bin/vitepress.js");
  const serves = words[0] === "dev";
  const child = spawn(process.execPath, [command, ...words], {
    cwd: root,
    stdio: serves ? "inherit" : ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text) => (output += text));
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (serves) return;
  // VitePress only warns about missing languages and broken links.
  const lines = output
    .split("\n")
    .filter((line) => !/^\s*(?:vitepress v|- |.*✓|build complete|$)/.test(line));
  if (code !== 0 || lines.length > 0) throw new Error(output);
}

/** Checks the built site. */
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
    ...files
      .filter((file) => /^(?:guide|reference|rooms)\/.*\.html$/.test(file))
      .map((file) => `/${file.replace(/\.html$/, "")}`)
      .filter((page) => !pages.includes(page))
      .map((page) => `${page} isn't in the sidebar`),
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
await writeRooms();
if (process.argv.includes("--serve")) await vitepress("dev", "docs", "--host", "127.0.0.1");
else {
  await vitepress("build", "docs");
  await writeTexts();
  const problems = await problemsOfSite();
  if (problems.length > 0) throw new Error(problems.join("\n"));
  console.log(
    `docs/.vitepress/dist built in ${((performance.now() - started) / 1000).toFixed(1)} s`,
  );
}
