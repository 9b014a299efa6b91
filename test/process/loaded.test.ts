// Which files a start loads, for each role: whoever makes a role import more sees it here.

import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { anyPort, type Application, buildPackage, createStock } from "./_application.ts";

const trustKey = "the-trust-key-of-this-test-0123456789";
/** What applications import. */
const imported = ["internal.js", "main.js"];
/** What each role loads of this package. A file costs a start about as much as 10 KB of code. */
const files = {
  gateway: ["cli.js", "core.js", "gateway.js", "relay.js"],
  // A proxy has asked for the base of its pages.
  repository: ["cli.js", "core.js", "file-answer.js", "files.js", "rolldown-runtime.js"],
  standalone: ["cli.js", "core.js", "files.js", ...imported, "segments.js", "standalone.js"],
  node: ["cli.js", "core.js", ...imported, "node.js", "segments.js"],
  proxy: ["cli.js", "core.js", "proxy.js", "relay.js"],
} as const;
type Mode = keyof typeof files;

let application: Application;
let folder: string;
/** What V8 had compiled when the process ended. */
const loaded = new Map<Mode, readonly string[]>();

beforeAll(async () => {
  buildPackage();
  folder = await mkdtemp(join(tmpdir(), "seamline-loaded-"));
  application = await createStock();
  const start = async (mode: Mode, config: object = {}): Promise<string> => {
    const { url, command } = await application.service(
      mode,
      { mode, url: anyPort, trustKey, ...config },
      ["--no-build"],
      { NODE_V8_COVERAGE: join(folder, mode) },
    );
    stops.push(async () => {
      await command.ended("SIGTERM");
      loaded.set(mode, await scriptsIn(join(folder, mode)));
    });
    return url;
  };
  const stops: (() => Promise<void>)[] = [];
  const [gateway, repository] = await Promise.all([start("gateway"), start("repository")]);
  await Promise.all([
    start("standalone"),
    start("node", { gateway, repository, segments: ["stock"] }),
    start("proxy", { gateway, repository }),
  ]);
  await Promise.all(stops.map((stop) => stop()));
});
afterAll(async () => {
  await application?.remove();
  await rm(folder, { recursive: true, force: true });
});

/** The files that the coverage of a process names. */
async function scriptsIn(coverage: string): Promise<readonly string[]> {
  const scripts: string[] = [];
  for (const name of await readdir(coverage)) {
    const { result } = JSON.parse(await readFile(join(coverage, name), "utf8")) as {
      result: readonly { readonly url: string }[];
    };
    scripts.push(...result.map(({ url }) => url).filter((url) => url.startsWith("file:")));
  }
  return scripts;
}

it.each(Object.keys(files) as Mode[])("A %s loads only the code that it runs", (mode) => {
  const scripts = loaded.get(mode) ?? [];
  const isBuilt = (url: string): boolean => /\/(?:run|src)\/|\/\.cache\//.test(url);
  const own = scripts.filter((url) => !isBuilt(url));
  // The names of chunks end with a number where two have the same name.
  const names = own.map((url) => url.replace(/^.*\//, "").replace(/\d+(?=\.js$)/, ""));
  expect(names.toSorted()).toEqual([...files[mode]].toSorted());
  expect(scripts.filter((url) => /undici|commander/.test(url))).toEqual([]);
});

it("Code that a start doesn't run isn't in what every role loads", async () => {
  const core = (loaded.get("gateway") ?? []).find((url) => /\/core\d*\.js$/.test(url));
  const text = await readFile(new URL(core ?? ""), "utf8");
  const parts = [...text.matchAll(/^\/\/ ((?:src|server)\/\S+)$/gm)].map(([, file]) => file);
  expect(parts).toContain("src/roles/role.ts");
  for (const rare of [
    "server/modules/module-store.ts", // of nodes and standalones, and for middleware
    "server/modules/error-location.ts", // for a module that throws
    "server/modules/configured-modules.ts",
    "src/codec/multipart/parse-multipart.ts",
    "src/roles/load-node.ts",
    "src/roles/relay/through-middleware.ts",
    "src/runtime/dispatch.ts",
    "src/runtime/segment.ts", // of the build
  ])
    expect(parts).not.toContain(rare);
});

it("files of pages import nothing from /svc/client.js that it doesn't export", async () => {
  const served = join(import.meta.dirname, "../../dist/svc");
  const client = await readFile(join(served, "client.js"), "utf8");
  const exported = new Set(namesIn(/export\{([^}]*)\}/g, client, 1));
  expect(exported.size).toBeGreaterThan(20);
  const names = (await readdir(served)).filter((name) => name.endsWith(".js"));
  expect(names).toContain("rare.js");
  for (const name of names) {
    const text = await readFile(join(served, name), "utf8");
    const imports = namesIn(/import\{([^}]*)\}from"\.\/client\.js"/g, text, 0);
    expect(
      imports.filter((wanted) => !exported.has(wanted)),
      name,
    ).toEqual([]);
  }
});

it("seamline/client exports what users call, and nothing for generated code", async () => {
  const script = (name: string, conditions: string[] = []) =>
    execFileSync(
      process.execPath,
      [
        ...conditions,
        "-p",
        `import(${JSON.stringify(name)}).then((all) => console.log(Object.keys(all).join(" "))), ""`,
      ],
      { cwd: join(import.meta.dirname, "../.."), encoding: "utf8" },
    ).trim();
  expect(script("seamline/client")).toBe("startClient");
  const inBrowser = script("seamline", ["--conditions=browser"]).split(" ");
  expect(inBrowser).toContain("runProcedure");
  expect(inBrowser).not.toContain("seam");
});

/** The names in lists of `a as b`: those before (0) or after (1) the `as`. */
function namesIn(lists: RegExp, text: string, side: 0 | 1): string[] {
  return [...text.matchAll(lists)].flatMap(([, list = ""]) =>
    list.split(",").map((entry) => {
      const [first = "", last = first] = entry.split(" as ");
      return side === 0 ? first : last;
    }),
  );
}
