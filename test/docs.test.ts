// The documents are right: links lead somewhere, code blocks are valid, tables leave nothing out.

import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, posix } from "node:path";

import * as vite from "vite";
import { describe, expect, it } from "vitest";

import { parserOf } from "../server/compile/read/load-vite.ts";
import { frameworkErrors, statusOf } from "../src/base/errors.ts";
import { defaultLimits } from "../src/base/limits.ts";
import { families } from "../server/telemetry/metrics/families.ts";
import { describeModule } from "../src/split/describe/describe.ts";
import { readModule } from "../src/split/read/read-module.ts";
import { splitModule } from "../src/split/write/split-module.ts";
import { filesIn, root } from "./_sources.ts";
import { createFixture } from "./build/_fixture.ts";
import { readmeExample } from "./docs/_readme.ts";

const read = (path: string): string => readFileSync(join(root, path), "utf8");
// Pages of the API and copies of the rooms' pages are made when the site is: it looks after their links itself.
const pages = filesIn("docs").filter(
  (path) => path.endsWith(".md") && !/^docs\/(?:reference\/api|rooms)\//.test(path),
);
/** Pages of rooms, beside their code. */
const rooms = ["src", "client", "console", "server"]
  .flatMap(filesIn)
  .filter((path) => path.endsWith(".md"));
const skill = filesIn("skills").filter((path) => path.endsWith(".md"));
const documents = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "lab/README.md",
  "lab/bench/README.md",
  "demo/README.md",
  "examples/conduit/README.md",
  ...pages,
  ...rooms,
  ...skill,
];
const drawings = filesIn("docs/images").filter((path) => path.endsWith(".svg"));

/** Fenced blocks: language, what stands behind it, and text. */
function blocksOf(path: string): { language: string; label: string; text: string }[] {
  return [...read(path).matchAll(/^```(\w*) ?(.*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = "", label = "", text = ""]) => ({
      language,
      label,
      text,
    }),
  );
}

const withoutBlocks = (text: string): string => text.replaceAll(/^```[\s\S]*?^```$/gm, "");

/** The ids that a repository host gives to headings, and those that the page sets itself. */
function anchorsOf(path: string): string[] {
  const headings = [...withoutBlocks(read(path)).matchAll(/^#+ (.*)$/gm)].map(
    ([, text = ""]) => text,
  );
  const own = [...read(path).matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id = ""]) => id);
  return headings
    .map((text) =>
      text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    )
    .concat(own);
}

/** Rows of the table whose first heading is `head`; cells without backticks. */
function tableOf(path: string, head: string): string[][] {
  const lines = read(path).split("\n");
  const start = lines.findIndex((line) => line.startsWith(`| ${head} |`));
  const end = lines.findIndex((line, at) => at > start && !line.startsWith("|"));
  return lines.slice(start + 2, end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
}

describe("links", () => {
  it.each(documents)("of %s lead somewhere", (document) => {
    const broken = [...withoutBlocks(read(document)).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = ""]) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => {
        const [path = "", anchor] = target.split("#");
        const file = path === "" ? document : posix.join(dirname(document), path);
        if (!existsSync(join(root, file))) return true;
        return anchor !== undefined && !(file.endsWith(".md") && anchorsOf(file).includes(anchor));
      });
    expect(broken).toEqual([]);
  });

  it("CONTRIBUTING's steps of a request name files, and not folders only", () => {
    const named = [...read("CONTRIBUTING.md").matchAll(/\[`[^`]+`\]\(([^)]+)\)/g)].map(
      ([, path = ""]) => path,
    );
    expect(named.filter((path) => statSync(join(root, path)).isFile()).length).toBeGreaterThan(15);
  });

  // The others name files of applications.
  const ofTheProject = documents.filter(
    (path) =>
      !/^(?:README|CHANGELOG|demo|examples|skills|docs\/(?:guide|comparison|index))/.test(path),
  );

  it.each(ofTheProject)("files of the project that %s names are there", (document) => {
    const files =
      /(?<![\w./-])(?:src|client|server|console|test|e2e|scripts|lab|docs)\/[\w./-]+\.(?:ts|mjs|md|json)\b/g;
    // Links are looked after above.
    const text = read(document).replaceAll(/\]\([^)]*\)/g, "]");
    const missing = [...text.matchAll(files)]
      .map(([path]) => path)
      .filter((path) => !existsSync(join(root, path)));
    expect(missing).toEqual([]);
  });

  it("the architecture leads to the page of every room", () => {
    const text = read("docs/architecture.md");
    expect(rooms.filter((path) => !text.includes(`(../${path})`))).toEqual([]);
    expect(rooms.length).toBeGreaterThan(15);
  });

  it("every page of docs/ is in its index", () => {
    const index = read("docs/README.md");
    const named = pages.filter((path) =>
      /^docs\/(?:guide\/[^/]+|(?!README|index)[^/]+|reference\/[^/]+|decisions\/README)\.md$/.test(
        path,
      ),
    );
    expect(named.filter((path) => !index.includes(`(${posix.relative("docs", path)})`))).toEqual(
      [],
    );
  });
});

describe("commands", () => {
  // The comparison has commands of other tools' starters.
  const ours = documents.filter((document) => document !== "docs/comparison.md");

  it.each(ours)(
    "that %s names are scripts of the package, or of an application that `seamline init` makes",
    (document) => {
      const scriptsOf = (file: string) =>
        (JSON.parse(read(file)) as { scripts: Record<string, string> }).scripts;
      const scripts = {
        ...scriptsOf("templates/vanilla/package.json"),
        ...scriptsOf("package.json"),
      };
      const named = [...read(document).matchAll(/npm run ([\w:-]+)/g)].map(([, name = ""]) => name);
      expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
    },
  );

  it("imports in code blocks are entries of the package", () => {
    const { exports } = JSON.parse(read("package.json")) as { exports: Record<string, unknown> };
    const specifiers = documents.flatMap((path) =>
      blocksOf(path).flatMap(({ text }) =>
        [...text.matchAll(/from "(seamline(?:\/\w+)?)"/g)].map(([, specifier = ""]) => specifier),
      ),
    );
    expect(specifiers.length).toBeGreaterThan(0);
    expect(specifiers.filter((one) => exports[one.replace("seamline", ".")] === undefined)).toEqual(
      [],
    );
  });
});

describe("code blocks", () => {
  it("the README's example is a complete application, before the move and after it", async () => {
    for (const [when, files] of Object.entries(readmeExample)) {
      const application = createFixture({
        "index.html": '<!doctype html><script type="module" src="/src/main.ts"></script>',
        ...files,
      });
      const { manifest } = await application.build();
      expect(manifest.procedures.map((one) => one.fqn)).toEqual(["shop/discount"]);
      expect(Object.keys(manifest.segments).toSorted()).toEqual(["page", "server"]);
      expect(application.warned).toEqual([]);
      const published = application
        .list("dist/browser")
        .map((file) => application.read(`dist/browser/${file}`))
        .join("");
      expect(published).toContain("shop/discount");
      // The function's own code: only where the page runs it.
      expect(/>=\s*15/.test(published)).toBe(when === "after");
    }
  });

  it("the module on the splitter's page splits into the parts that stand there", () => {
    const block = (label: string): string =>
      blocksOf("src/split/README.md").find((one) => one.label === label)?.text ?? "";
    const [source, file] = [block("split:source"), "shop/quote.ts"];
    const parse = parserOf(vite);
    const found = describeModule({ source, file, parse }).exports.find(
      (one) => one.name === "quote",
    );
    const input = {
      reading: readModule({ source, file, parse }),
      procedures: [
        {
          export: "quote",
          fqn: "shop/quote",
          version: "1.0.0",
          parameters: found?.parameters ?? [],
        },
      ],
      ids: { face: "shop/quote", shared: "shop/quote?seamline=shared", graph: "seamline:graph" },
    };
    const [parts] = splitModule(input, [{ held: new Set(["quote"]), environment: "server" }]);
    // Where an import stands makes no difference.
    const bare = (text: string | undefined): string[] => {
      const dense = (text ?? "").replaceAll(/\s/g, "");
      const imports = /import\{[^}]*\}from"[^"]*";/g;
      return [...(dense.match(imports) ?? []).toSorted(), dense.replaceAll(imports, "")];
    };
    expect(bare(parts?.face.code)).toEqual(bare(block("split:face")));
    expect(bare(parts?.shared?.code)).toEqual(bare(block("split:shared")));
    expect(bare(parts?.body?.code)).toEqual(bare(block("split:body")));
  });
});

describe("tables", () => {
  it("errors: every class of the runtime with its status, and the message of those that are for procedures", () => {
    const namesOf = (cell = ""): string[] => cell.replace(/;.*/, "").split(", ");
    const thrown = tableOf("docs/guide/errors.md", "status | to throw").map(
      ([status, name, message]) => [status, ...namesOf(name), message],
    );
    const others = tableOf("docs/guide/errors.md", "status | class").flatMap(([status, names]) =>
      namesOf(names).map((name) => [status, name]),
    );
    const errors = [...frameworkErrors.values()].map((Class) => new Class());
    const found = (name: string | undefined): Error =>
      errors.find((one) => one.name === name) ?? new Error("");
    expect(thrown.filter(([, name]) => name !== "any other")).toEqual(
      thrown
        .filter(([, name]) => name !== "any other")
        .map(([, name]) => [String(statusOf(found(name))), name, found(name).message]),
    );
    expect(others).toEqual(others.map(([, name]) => [String(statusOf(found(name))), name]));
    expect(
      [...thrown, ...others]
        .map(([, name]) => String(name === "any other" ? "ServiceError" : name))
        .toSorted(),
    ).toEqual([...frameworkErrors.keys()].toSorted());
  });

  it("metrics: all of them, with type, labels and meaning", () => {
    expect(
      tableOf("docs/guide/operations.md", "metric | type").map((row) => row.join(" | ")),
    ).toEqual(
      Object.values(families).map(({ name, type, help, labels }) =>
        [name, type, labels.join(", "), help].join(" | "),
      ),
    );
  });

  it("limits: all of them, with their defaults", () => {
    const listed = Object.fromEntries(
      tableOf("docs/guide/limits.md", "limit")
        // Those whose default depends on something else.
        .filter(([name]) => name !== "heldBytes" && name !== "streamAgeMs")
        .map(([name = "", value = ""]) => [name, Number.parseInt(value, 10)]),
    );
    expect(listed).toEqual(defaultLimits);
  });
});

describe("drawings", () => {
  it.each(drawings)(
    "%s is small, has words for those who can't see it, and loads nothing",
    (path) => {
      const text = read(path);
      expect(text.length).toBeLessThan(12_000);
      expect(text).toMatch(/<title[^>]*>[^<]+<\/title>\s*<desc[^>]*>[^<]+<\/desc>/);
      expect(text).toContain("prefers-color-scheme: dark");
      expect(text.replace("http://www.w3.org/2000/svg", "")).not.toMatch(
        /<script|https?:\/\/|@import/,
      );
    },
  );
});
