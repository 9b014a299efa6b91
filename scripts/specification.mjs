// Writes docs/specification.md from the titles of the tests. `npm run specification`.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const root = join(import.meta.dirname, "..");
const numberPattern = String.raw`[a-z]+(?:-[a-z]+)*-\d+`;
const atTheBeginning = new RegExp(String.raw`^(${numberPattern}(?:, ${numberPattern})*): (\S.*)$`);
const inBrackets = new RegExp(String.raw`\((${numberPattern}(?:, ${numberPattern})*)\)`, "g");

/** Path of the document, from the root. */
export const document = "docs/specification.md";

/**
 * @typedef {{ path: string, text: string }} TestFile
 * @typedef {{ id: string, words: string | undefined, path: string }} Title `words` only if the title
 *   begins with the number: that is the statement's own test.
 * @typedef {Readonly<Record<string, { title: string, statements: number }>>} Topics
 * @typedef {Readonly<Record<string, Topics>>} Chapters
 * @typedef {{ way: string, runs: number }} WayCount
 * @typedef {{ ids: readonly string[], ways: readonly WayCount[] }} Case
 */

/** @param {Chapters} chapters @returns {Topics} */
const topicsOf = (chapters) => Object.assign({}, ...Object.values(chapters));

/** @param {string} id */
const topicOf = (id) => id.replace(/-\d+$/, "");

/** All test files.
 * @returns {TestFile[]}
 */
export function testFiles() {
  return (
    ["test", "e2e"]
      .flatMap((folder) =>
        readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map(
          (name) => `${folder}/${name}`,
        ),
      )
      .map((path) => path.replaceAll("\\", "/"))
      // This script's own test has made-up titles.
      .filter(
        (path) =>
          /\.(test|spec)\.ts$|^test\/everywhere\/\w/.test(path) &&
          path !== "test/specification.test.ts",
      )
      .toSorted()
      .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
  );
}

/** The statements that titles name, at the beginning or in brackets.
 * @param {readonly TestFile[]} files
 * @param {Chapters} chapters
 * @returns {Title[]}
 */
export function titlesOf(files, chapters) {
  const topics = topicsOf(chapters);
  return files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .filter((line) => !/^\s*(\/\/|\*)/.test(line))
      .flatMap((line) =>
        [...line.matchAll(/(["'`])((?:\\.|(?!\1).)*)\1/g)].map(([, , literal = ""]) =>
          literal.replaceAll(/\\(.)/g, "$1"),
        ),
      )
      .flatMap((literal) => {
        const [, ids, words = ""] = atTheBeginning.exec(literal) ?? [];
        const own = (ids?.split(", ") ?? []).map((id) => ({ id, words: statementOf(words), path }));
        // Brackets may contain other words with a number, such as (utf-8).
        const further = [...literal.matchAll(inBrackets)]
          .flatMap(([, list = ""]) => list.split(", "))
          .filter((id) => topicOf(id) in topics)
          .map((id) => ({ id, words: undefined, path }));
        return [...own, ...further];
      }),
  );
}

const placeholder = String.raw`(?:%[sdijfo#]|\$\w+)`;
const placeholderAtEnd = new RegExp(
  String.raw`(?: \([^()]*${placeholder}[^()]*\)|: '?${placeholder}.*)$`,
);

/** A title without the runner's placeholders, which are at the end, in brackets or after a colon.
 * @param {string} title
 */
const statementOf = (title) =>
  title.replaceAll(inBrackets, "").trimEnd().replace(placeholderAtEnd, "");

/** Problems of the numbers: gaps, unknown ones, statements with two tests of their own.
 * @param {Chapters} chapters
 * @param {readonly Title[]} titles
 * @returns {string[]}
 */
export function problemsOf(chapters, titles) {
  const topics = topicsOf(chapters);
  /** @type {string[]} */
  const problems = [];
  const numbers = Object.entries(topics).flatMap(([name, { statements }]) =>
    numbersOf(name, statements),
  );
  for (const { id, words, path } of titles) {
    const topic = topics[topicOf(id)];
    if (/%[sdijfo#]/.test(words ?? ""))
      problems.push(`${path}: move what is filled into ${id} to the end of its title`);
    if (topic === undefined)
      problems.push(`${path}: ${id} names no topic of test/spec/_sentences.ts`);
    else if (!numbers.includes(id))
      problems.push(`${path}: there is no ${id}: the topic has ${topic.statements} statements`);
  }
  for (const [name, { statements }] of Object.entries(topics))
    if (statements === 0) problems.push(`${name} has no statements`);
  for (const number of numbers) {
    const own = titles.filter(({ id, words }) => id === number && words !== undefined);
    if (own.length === 0) problems.push(`${number} has no test whose title begins with it`);
    if (own.length > 1)
      problems.push(
        `${number} begins ${own.length} titles: ${own.map(({ path }) => path).join(", ")}`,
      );
  }
  return problems;
}

/** @param {string} topic @param {number} count */
const numbersOf = (topic, count) =>
  Array.from({ length: count }, (_, index) => `${topic}-${index + 1}`);

/** The document.
 * @param {Chapters} chapters
 * @param {readonly Title[]} titles
 * @param {readonly Case[]} cases
 */
export function specificationOf(chapters, titles, cases) {
  const topics = topicsOf(chapters);
  const total = Object.values(topics).reduce((sum, { statements }) => sum + statements, 0);
  const lines = [
    "# Specification",
    "",
    "<!-- Written by `npm run specification` from the titles of the tests. -->",
    "",
    `What Seamline does, in ${total} statements. Each is the title of a test, so it holds as long as that`,
    "test passes. The links behind a statement lead to its test, and to further tests that show it. Its",
    "number names it elsewhere: `cors-3` is the third statement of [CORS](#cors).",
    "",
  ];
  for (const [chapter, list] of Object.entries(chapters))
    lines.push(
      `- **${chapter}**: ${Object.entries(list)
        .map(([name, { title }]) => `[${title}](#${name})`)
        .join(" · ")}`,
    );
  lines.push("");
  for (const [chapter, list] of Object.entries(chapters)) {
    lines.push(`## ${chapter}`, "");
    for (const [name, { title, statements }] of Object.entries(list)) {
      lines.push(`<a id="${name}"></a>`, "", `### ${title}`, "");
      for (const [index, id] of numbersOf(name, statements).entries()) {
        const named = titles.filter((each) => each.id === id);
        const own = named.find(({ words }) => words !== undefined);
        lines.push(
          `${index + 1}. <a id="${id}"></a>${sentenceOf(own?.words ?? "")} ${linksOf(own, named)}`,
        );
      }
      lines.push("");
    }
  }
  lines.push(...waysTable(topics, cases));
  return lines.join("\n");
}

/** @param {string} words */
function sentenceOf(words) {
  const text = escaped(words);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** @param {Title | undefined} own @param {readonly Title[]} named */
function linksOf(own, named) {
  const paths = new Set([own, ...named].flatMap((title) => title?.path ?? []));
  const links = [...paths].map(
    (path) => `[${basename(path).replace(/(\.(test|spec))?\.ts$/, "")}](../${path})`,
  );
  return `<sub>${links.join(" ")}</sub>`;
}

/** How often each topic is called, in each of the ways.
 * @param {Topics} topics
 * @param {readonly Case[]} cases
 */
function waysTable(topics, cases) {
  const ways = [...new Set(cases.flatMap((each) => each.ways.map(({ way }) => way)))];
  if (ways.length === 0) return [];
  /** @param {readonly Case[]} some @param {string} way */
  const count = (some, way) =>
    some
      .flatMap((each) => each.ways.filter((counted) => counted.way === way))
      .reduce((sum, { runs }) => sum + runs, 0);
  const rows = Object.entries(topics)
    .map(([name, { title }]) => ({
      link: `[${title}](#${name})`,
      some: cases.filter(({ ids }) => ids.some((id) => topicOf(id) === name)),
    }))
    .filter(({ some }) => some.length > 0);
  return [
    "## The same calls in four ways",
    "",
    "The calls of [one table](../test/_all-calls.ts) are made wherever the application may run, as an HTTP",
    "request and, where possible, by the client. Each must get the same answer everywhere. So many calls",
    "show each topic (a call may show several):",
    "",
    `| topic | ${ways.join(" | ")} |`,
    `|---|${ways.map(() => "--:|").join("")}`,
    ...rows.map(
      ({ link, some }) => `| ${link} | ${ways.map((way) => count(some, way)).join(" | ")} |`,
    ),
    `| all | ${ways.map((way) => count(cases, way)).join(" | ")} |`,
    "",
  ];
}

// Titles are plain text, with markup only between backticks.
/** @param {string} text */
const escaped = (text) =>
  text
    .split(/(`[^`]*`)/)
    .map((piece) =>
      piece.startsWith("`") && piece.length > 1 ? piece : piece.replaceAll(/[\\*_<>|[\]]/g, "\\$&"),
    )
    .join("");

if (process.argv[1] === import.meta.filename) {
  // Loads the TypeScript tables with Vite, which works on every Node that this package supports.
  const { runnerImport } = await import("vite");
  /** @param {string} path */
  const load = async (path) =>
    (await runnerImport(join(root, path), { configFile: false, logLevel: "error" })).module;
  const { chapters } = /** @type {{ chapters: Chapters }} */ (
    await load("test/spec/_sentences.ts")
  );
  const { cases } = /** @type {{ cases: Case[] }} */ (await load("test/_all-calls.ts"));
  const titles = titlesOf(testFiles(), chapters);
  writeFileSync(join(root, document), specificationOf(chapters, titles, cases));
  const problems = problemsOf(chapters, titles);
  for (const problem of problems) console.error(problem);
  console.log(
    `${document} is written${problems.length === 0 ? "" : `; ${problems.length} problems`}`,
  );
  process.exitCode = problems.length === 0 ? 0 : 1;
}
