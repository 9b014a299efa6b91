// docs/specification.md: every statement of the specification and the test that shows it, read from the titles of the tests. `npm run specification`.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const root = join(import.meta.dirname, "..");
const id = String.raw`(?:§\d+(?:\.\d+)?|D\d+(?:\.[a-z]+(?:-[a-z]+)*)?)-\d+`;
const canonical = new RegExp(String.raw`^(${id}(?:,? ${id})*) (\S.*)$`);
const inBrackets = new RegExp(String.raw`\((${id}(?:[,;]? ${id})*)\)`, "g");
const single = new RegExp(id, "g");

/** Where the document lies, from the root. */
export const document = "docs/specification.md";

/**
 * @typedef {{ path: string, text: string }} TestFile
 * @typedef {{ id: string, words: string | undefined, path: string }} Title `words` only where the title begins with the id: that is the statement's own test.
 * @typedef {Readonly<Record<string, { title: string, statements: number }>>} Sentences
 * @typedef {{ way: string, runs: number }} WayCount
 * @typedef {{ ids: readonly string[], ways: readonly WayCount[] }} Case
 */

/** All files of tests, from the root.
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
      // Its own test makes titles up.
      .filter((path) => /\.(test|spec)\.ts$/.test(path) && path !== "test/specification.test.ts")
      .toSorted()
      .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
  );
}

/** The ids that titles name: at the beginning, or in brackets.
 * @param {readonly TestFile[]} files
 * @returns {Title[]}
 */
export function titlesOf(files) {
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
        const [, ids = "", words = ""] = canonical.exec(literal) ?? [];
        const own = [...ids.matchAll(single)].map(([one]) => ({
          id: one,
          words: statement(words),
          path,
        }));
        const others = [...literal.matchAll(inBrackets)].flatMap(([, list = ""]) => [
          ...list.matchAll(single),
        ]);
        return [...own, ...others.map(([one]) => ({ id: one, words: undefined, path }))];
      }),
  );
}

const filledIn = String.raw`(?:%[sdijfo#]|\$\w+)`;
const filledAtEnd = new RegExp(String.raw`(?: \([^()]*${filledIn}[^()]*\)|: '?${filledIn}.*)$`);

/** A title without what the runner fills in: that stands at the end, in brackets or behind a colon.
 * @param {string} title
 */
const statement = (title) => title.replaceAll(inBrackets, "").trimEnd().replace(filledAtEnd, "");

/** What is wrong with the ids: gaps, strangers, statements with two tests of their own.
 * @param {Sentences} sentences
 * @param {readonly Title[]} titles
 * @returns {string[]}
 */
export function problemsOf(sentences, titles) {
  /** @type {string[]} */
  const problems = [];
  const known = new Set(
    Object.entries(sentences).flatMap(([part, { statements }]) => numbersOf(part, statements)),
  );
  for (const title of titles) {
    const part = sentences[title.id.slice(0, title.id.lastIndexOf("-"))];
    if (/%[sdijfo#]/.test(title.words ?? ""))
      problems.push(
        `${title.path}: what is filled into ${title.id} belongs to the end of its title`,
      );
    if (part === undefined)
      problems.push(`${title.path}: ${title.id} names no part of test/spec/_sentences.ts`);
    else if (!known.has(title.id))
      problems.push(
        `${title.path}: ${title.id} is not there: the part has ${part.statements} statements`,
      );
  }
  for (const [part, { statements }] of Object.entries(sentences))
    if (statements === 0) problems.push(`${part} has no statements`);
  for (const one of known) {
    const own = titles.filter((title) => title.id === one && title.words !== undefined);
    if (own.length === 0) problems.push(`${one} has no test whose title begins with it`);
    if (own.length > 1)
      problems.push(
        `${one} begins ${own.length} titles: ${own.map(({ path }) => path).join(", ")}`,
      );
  }
  return problems;
}

/** @param {string} part @param {number} count */
const numbersOf = (part, count) => Array.from({ length: count }, (_, at) => `${part}-${at + 1}`);

/** The document.
 * @param {Sentences} sentences
 * @param {readonly Title[]} titles
 * @param {readonly Case[]} cases
 */
export function specificationOf(sentences, titles, cases) {
  const statements = Object.values(sentences).reduce((sum, one) => sum + one.statements, 0);
  const lines = [
    "# Specification",
    "",
    "<!-- Written by `npm run specification` from the titles of the tests. -->",
    "",
    `What Seamline does, statement by statement: ${statements} of them, each with the test that shows it. \`§\` are the parts of the specification,`,
    "`D` the points that it leaves open and that are settled here. A statement is the title of its test, word for word, so it holds as long as",
    "the test passes; `npm test` fails when one has no test, or when this page is not what the titles say. Behind it stand further tests",
    "that name the statement; `calls` counts the calls of the [table of calls](../test/_ways.ts) that show it.",
    "",
    "Comments in the code, titles of tests and other pages name the parts: `§4.1` is the part of that number, and `decisions §5` are the parts",
    "whose names begin with D5.",
    "",
    Object.entries(sentences)
      .filter(([, { statements: count }]) => count > 0)
      .map(([part, { title }]) => `[${part} ${title}](#${anchorOf(`${part} ${title}`)})`)
      .join(" · "),
    "",
    ...waysTable(sentences, cases),
  ];
  for (const [part, { title, statements: count }] of Object.entries(sentences)) {
    lines.push(`## ${part} ${title}`, "", "| number | statement | tests |", "|---|---|---|");
    for (const one of numbersOf(part, count)) {
      const named = titles.filter((each) => each.id === one);
      const own = named.find(({ words }) => words !== undefined);
      const calls = cases.filter(({ ids }) => ids.includes(one)).length;
      lines.push(
        `| ${one} | ${own === undefined ? "" : escaped(own.words ?? "")} | ${linksOf(own, named, calls)} |`,
      );
    }
    lines.push("");
  }
  return lines.join("\n");
}

/** A heading's, as GitHub makes it.
 * @param {string} heading
 */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} -]/gu, "")
    .replaceAll(" ", "-");

/** @param {Title | undefined} own @param {readonly Title[]} named @param {number} calls */
function linksOf(own, named, calls) {
  const others = named.filter((one) => one !== own);
  /** @param {string} path */
  const link = (path) => `[${basename(path).replace(/\.(test|spec)\.ts$/, "")}](../${path})`;
  return [
    ...(own === undefined ? [] : [link(own.path)]),
    ...(others.length === 0
      ? []
      : [
          `${others.length} more in ${[...new Set(others.map(({ path }) => path))].map(link).join(", ")}`,
        ]),
    ...(calls === 0 ? [] : [`${calls} ${calls === 1 ? "call" : "calls"}`]),
  ].join("; ");
}

/** How often each part is called, in each of the ways.
 * @param {Sentences} sentences
 * @param {readonly Case[]} cases
 */
function waysTable(sentences, cases) {
  const ways = [...new Set(cases.flatMap((one) => one.ways.map(({ way }) => way)))];
  if (ways.length === 0) return [];
  /** @param {readonly Case[]} some @param {string} way */
  const count = (some, way) =>
    some
      .flatMap((one) => one.ways.filter((each) => each.way === way))
      .reduce((sum, { runs }) => sum + runs, 0);
  const rows = Object.keys(sentences)
    .map((part) => ({
      part,
      some: cases.filter(({ ids }) => ids.some((one) => one.replace(/-\d+$/, "") === part)),
    }))
    .filter(({ some }) => some.length > 0);
  return [
    "## The same calls in four ways",
    "",
    "Each call of the table has one answer, and gets it wherever the application runs and whoever calls: as a request, and where it can be, as",
    "a call of the client. How many show a part (one may show several):",
    "",
    `| part | ${ways.join(" | ")} |`,
    `|---|${ways.map(() => "--:|").join("")}`,
    ...rows.map(
      ({ part, some }) => `| ${part} | ${ways.map((way) => count(some, way)).join(" | ")} |`,
    ),
    `| all | ${ways.map((way) => count(cases, way)).join(" | ")} |`,
    "",
  ];
}

// Titles are plain text: nothing in them is markup, but what stands between backticks.
/** @param {string} text */
const escaped = (text) =>
  text
    .split(/(`[^`]*`)/)
    .map((piece) =>
      piece.startsWith("`") && piece.length > 1
        ? piece.replaceAll("|", "\\|")
        : piece.replaceAll(/[\\*_<>|[\]]/g, "\\$&"),
    )
    .join("");

if (process.argv[1] === import.meta.filename) {
  // The tables are TypeScript, and Vite reads it on every Node that this package runs on.
  const { runnerImport } = await import("vite");
  /** @param {string} path */
  const load = async (path) =>
    (await runnerImport(join(root, path), { configFile: false, logLevel: "error" })).module;
  const { sentences } = /** @type {{ sentences: Sentences }} */ (
    await load("test/spec/_sentences.ts")
  );
  const { cases } = existsSync(join(root, "test/_ways.ts"))
    ? /** @type {{ cases: Case[] }} */ (await load("test/_ways.ts"))
    : { cases: [] };
  const titles = titlesOf(testFiles());
  writeFileSync(join(root, document), specificationOf(sentences, titles, cases));
  const problems = problemsOf(sentences, titles);
  for (const problem of problems) console.error(problem);
  console.log(
    `${document} is written${problems.length === 0 ? "" : `; ${problems.length} problems`}`,
  );
  process.exitCode = problems.length === 0 ? 0 : 1;
}
