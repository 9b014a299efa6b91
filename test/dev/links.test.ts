import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";

import { describe, expect, it } from "vitest";

import { buildApplication } from "../../server/vite/build.ts";
import { checkApplication } from "../../server/report/check.ts";
import {
  createApplication,
  develop,
  eventually,
  type Files,
  type Running,
  shop,
} from "./_session.ts";

const secret = "planted-in-a-body";
const vault = [
  "export async function open(key: string): Promise<boolean> {",
  `  return key === "${secret}";`,
  "}",
  "",
].join("\n");

/** A page that calls a procedure whose source must not reach it. */
const bank: Files = {
  "index.html": shop["index.html"] ?? "",
  "src/main.ts": 'import { open } from "./shop/vault.ts";\nconsole.log(await open("a"));\n',
  "src/shop/vault.ts": vault,
  "src/shop/plain.ts": "export const plain = 1;\n",
  "segments/office.segment.json": '{ "./shop/vault": { "open": { "access": "public" } } }\n',
};

const log = { info: () => {}, warn: () => {}, error: () => {} };

function link(root: string, from: string, to: string): void {
  rmSync(join(root, from), { recursive: true, force: true });
  mkdirSync(dirname(join(root, from)), { recursive: true });
  symlinkSync(relative(dirname(join(root, from)), to), join(root, from));
}

/** Targets that `src/shop/vault.ts` links to. */
const elsewhere: Readonly<Record<string, (root: string) => string>> = {
  "in the source folder": (root) => join(root, "src/other/safe.ts"),
  "in the application folder": (root) => join(root, "lib/safe.ts"),
  "outside of the application": (root) => join(root, "../shared/safe.ts"),
};

function move(root: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, vault);
  link(root, "src/shop/vault.ts", target);
}

/** The answers to every request by which a page might get a file. */
async function requestAll(
  { session }: Running,
  files: readonly string[],
  root: string,
): Promise<string> {
  const answers: string[] = [];
  const ask = async (
    path: string,
    headers: Record<string, string> = {},
    method = "GET",
  ): Promise<void> => {
    const answer = await fetch(session.url + path, { headers, method });
    answers.push(`${method} ${path} ${answer.status}\n${await answer.text()}`);
  };
  for (const file of files)
    for (const path of [`/${relative(root, file)}`, `/@fs${file}`])
      for (const query of [
        "",
        "?import",
        "?raw",
        "?url",
        "?import&raw",
        "?inline",
        "?seamline=body",
        "?seamline=shared",
        "?seamline=code",
        "?t=1",
      ]) {
        await ask(path + query, { accept: "*/*", "sec-fetch-dest": "script" });
        await ask(path + query, { accept: "text/html", "sec-fetch-dest": "document" });
        await ask(path + query, {}, "POST");
      }
  for (const path of ["/", "/src/main.ts", "/svc/manifest.json"]) await ask(path);
  return answers.join("\n");
}

const textIn = (folder: string): string =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true, encoding: "utf8" })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
        .join("\n")
    : "";

describe.each(Object.keys(elsewhere))("a module with procedures linked to a file %s", (where) => {
  const targetOf = (root: string): string => elsewhere[where]?.(root) ?? "";
  const refused = {
    file: "src/shop/vault.ts",
    message: expect.stringMatching(/^this file is a link to \S*safe\.ts, /),
    hint: expect.stringMatching(/^(?:Put the file itself here|Name "\.\/other\/safe")/),
  };

  it("a linked module with procedures is refused by builds and checks", async () => {
    const { root } = createApplication(bank);
    move(root, targetOf(root));
    const { problems } = await checkApplication({ root, log, env: {} });
    expect(problems).toEqual([expect.objectContaining(refused)]);
    const built = await buildApplication({ root, log }).then(
      () => undefined,
      (error: unknown) => (error as { problems?: unknown }).problems,
    );
    expect(textIn(join(root, "dist/browser"))).not.toContain(secret);
    expect(built).toEqual([expect.objectContaining(refused)]);
  });

  it("a linked module with procedures is refused in development, and no page gets its source", async () => {
    let files: string[] = [];
    let root = "";
    const running = await develop(bank, {
      at(at) {
        root = at;
        move(at, targetOf(at));
        files = [join(at, "src/shop/vault.ts"), targetOf(at)];
        return at;
      },
    });
    const { problems } = await running.nextEvent("problems");
    expect(problems).toEqual([expect.objectContaining(refused)]);
    expect(await requestAll(running, files, root)).not.toContain(secret);
  });

  it("a module with procedures that becomes a link is refused, and no page gets its source", async () => {
    const running = await develop(bank);
    const { root, nextEvent } = running;
    const files = [join(root, "src/shop/vault.ts"), targetOf(root)];
    expect(await requestAll(running, files, root)).not.toContain(secret);
    move(root, targetOf(root));
    const { problems } = await nextEvent("problems");
    expect(problems).toEqual([expect.objectContaining(refused)]);
    expect(await requestAll(running, files, root)).not.toContain(secret);
    rmSync(files[0] ?? "");
    running.write({ "src/shop/vault.ts": vault.replace("key ===", "key !==") });
    const value = await eventually(
      async () => (await running.get("/rpc/shop/open?key=a")).value,
      (value) => value === true,
    );
    expect(value).toBe(true);
  });
});

describe("a linked folder in the source folder", () => {
  const main = 'import { open } from "./linked/vault.ts";\nconsole.log(await open("a"));\n';

  it("pages that import through a linked folder get their part of a module with procedures", async () => {
    const files = { ...bank, "src/main.ts": main };
    let root = "";
    const running = await develop(files, {
      at(at) {
        link(at, "src/linked", join(at, "src/shop"));
        return (root = at);
      },
    });
    const paths = ["src/linked/vault.ts", "src/shop/vault.ts"].map((path) => join(root, path));
    expect(running.events.filter(({ kind }) => kind === "problems")).toEqual([]);
    expect(await running.text("/src/shop/vault.ts")).toContain("seam");
    expect(await requestAll(running, paths, root)).not.toContain(secret);
    const { root: built } = createApplication(files);
    link(built, "src/linked", join(built, "src/shop"));
    const { manifest } = await buildApplication({ root: built, log });
    expect(Object.keys(manifest.procedures)).toHaveLength(1);
    expect(textIn(join(built, "dist/browser"))).not.toContain(secret);
  });

  it("a page may start with a module in a linked folder", async () => {
    const { root } = createApplication({
      ...bank,
      "src/main.ts": 'import "./linked/start.ts";\n',
      "src/shop/start.ts":
        'import { startClient } from "seamline/client";\nawait startClient("office");\n',
    });
    link(root, "src/linked", join(root, "src/shop"));
    const { warnings, problems } = await checkApplication({ root, log, env: {} });
    expect([problems, warnings]).toEqual([[], []]);
  });

  it("a segment file that names a module through a linked folder is a problem that says what to do", async () => {
    const files = {
      ...bank,
      "segments/office.segment.json": '{ "./linked/vault": { "open": { "access": "public" } } }\n',
    };
    for (const [target, hint] of [
      ["src/shop", 'Name its real path: "./shop/vault".'],
      ["lib", "Put the folder itself there."],
    ] as const) {
      const { root, write } = createApplication(files);
      write({ "lib/vault.ts": vault });
      link(root, "src/linked", join(root, target));
      const { problems } = await checkApplication({ root, log, env: {} });
      const message =
        'expected a module of the source folder, but "./linked/vault" is behind src/linked, which is a link';
      expect(problems).toEqual([expect.objectContaining({ message, hint })]);
    }
  });

  it.each([
    [
      "preserveSymlinks keeps the link in paths",
      main,
      "is requested by a path through a symbolic link",
    ],
    [
      "new URL() names a file behind it",
      'console.log(new URL("./linked/vault.ts", import.meta.url));\n',
      "is published as a file by new URL",
    ],
    [
      "?raw imports a file behind it",
      'import text from "./linked/vault.ts?raw";\nconsole.log(text);\n',
      'is imported with "?raw"',
    ],
  ])("no page gets a source through a linked folder if %s", async (_, code, message) => {
    const files = {
      ...bank,
      "src/main.ts": code,
      "vite.config.js": message.includes("symbolic link")
        ? "export default { resolve: { preserveSymlinks: true } };\n"
        : "export default {};\n",
    };
    const { root } = createApplication(files);
    link(root, "src/linked", join(root, "src/shop"));
    await expect(buildApplication({ root, log })).rejects.toThrow(message);
    expect(textIn(join(root, "dist/browser"))).not.toContain(secret);
    let at = "";
    const running = await develop(files, {
      at(folder) {
        link(folder, "src/linked", join(folder, "src/shop"));
        return (at = folder);
      },
    });
    const paths = ["src/linked/vault.ts", "src/shop/vault.ts"].map((path) => join(at, path));
    expect(await requestAll(running, paths, at)).not.toContain(secret);
  });
});

describe("a linked module without procedures", () => {
  it("a linked module without procedures is refused only if nodes must find its classes by name", async () => {
    const { root, write } = createApplication({
      ...bank,
      "src/main.ts": 'import { plain } from "./shop/plain.ts";\nconsole.log(plain);\n',
    });
    write({
      "lib/plain.ts": "export const plain = 1;\n",
      "lib/money.ts": "export class Money {}\n",
    });
    link(root, "src/shop/plain.ts", join(root, "lib/plain.ts"));
    await buildApplication({ root, log });
    link(root, "src/shop/money.ts", join(root, "lib/money.ts"));
    write({
      "src/shop/vault.ts": `import type { Money } from "./money.ts";\nexport type { Money };\n${vault}`,
    });
    const { problems } = await checkApplication({ root, log, env: {} });
    const message = expect.stringContaining(
      "this file is a link to lib/money.ts, and Vite knows it by that path: nodes and pages don't find it",
    );
    expect(problems).toEqual([expect.objectContaining({ file: "src/shop/money.ts", message })]);
  });
});
