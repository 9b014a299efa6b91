import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { run } from "../../../../server/cli/program.ts";
import { readStart, runStart } from "../../../../server/cli/start.ts";
import type { Server } from "../../../../server/start/server.ts";
import { startServer } from "../../../../server/start/start-server.ts";
import { Problems } from "../../../../src/base/problem.ts";
import { fromStored } from "../../../../src/codec/stored-manifest.ts";

vi.mock("../../../../server/start/start-server.ts", () => ({
  startServer: vi.fn<typeof startServer>(),
}));
const started = vi.mocked(startServer);

let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "seamline-cli-")));
  started
    .mockReset()
    .mockResolvedValue({ consoleLink: () => undefined } as Partial<Server> as Server);
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function command(
  words: string[],
  env: Record<string, string> = {},
  isTTY = false,
): Promise<{ code: number | undefined; out: string; err: string }> {
  let [out, err] = ["", ""];
  const code = await run(words, {
    stdout: { isTTY, write: (text) => (out += text) },
    stderr: { isTTY, write: (text) => (err += text) },
    env,
  });
  return { code, out, err };
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(join(root, path, ".."), { recursive: true });
  await writeFile(join(root, path), text);
}

describe("seamline", () => {
  it("prints its version, and help with examples, exit codes and variables", async () => {
    const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
    expect(await command(["--version"])).toEqual({ code: 0, out: `${version}\n`, err: "" });
    const help = await command(["--help"]);
    expect(help).toMatchObject({ code: 0, err: "" });
    for (const part of [
      "start [options]",
      "build [options]",
      "Examples:",
      "Exit codes:",
      "NO_COLOR",
    ])
      expect(help.out).toContain(part);
    expect((await command(["start", "--help"])).out).toContain("--no-build");
  });

  it.each([
    [["strat"], "unknown command 'strat'\n(Did you mean start?)"],
    [["start", "--confg", "x"], "unknown option '--confg'\n(Did you mean --config?)"],
    [["start", "--config"], "argument missing"],
    [["build", "extra"], "too many arguments"],
    [
      ["check", "--root", "/no/such"],
      "'--root <folder>' argument '/no/such' is invalid. There is no such folder.",
    ],
    [["dev", "--root", "package.json"], "There is no such folder."],
    [
      ["call", "orders/quote", "sku=42"],
      "error: expected only the name of a procedure. Give its arguments with --arg: --arg sku=42\n",
    ],
    [
      ["start", "--port", "3000"],
      "'url' in the configuration sets the host and port of a service.",
    ],
    [
      ["start", "--host", "0.0.0.0"],
      "'url' in the configuration sets the host and port of a service.",
    ],
  ])("exits with 2 for %j, and suggests what was meant", async (words, message) => {
    const { code, out, err } = await command(words);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(message);
    expect(err).toContain("--help");
  });
});

describe("seamline start", () => {
  it.each([
    [[], {}],
    [["--config", "a.json"], { config: "a.json" }],
    [["--build"], { build: true }],
    [["--no-build"], { build: false }],
  ])("%j starts the server with %j, and has no exit code yet", async (words, options) => {
    expect((await command(["start", "--root", root, ...words])).code).toBeUndefined();
    expect(started.mock.calls).toEqual([[expect.any(Function), { root, ...options }]]);
    // A service is started without the program.
    const plain = readStart(["start", "--root", root, ...words])!;
    started.mockClear();
    expect(await runStart(plain)).toBeUndefined();
    expect(started.mock.calls).toEqual([[expect.any(Function), { root, ...options }]]);
  });

  it.each([
    ["--help"],
    ["--confg", "x"],
    ["--config"],
    ["--config", "--build"],
    ["--root", "/no/such"],
    ["--build", "--no-build"],
    ["--port", "3000"],
    ["extra"],
  ])("%j is explained by the program", (...words) => {
    expect(readStart(["start", ...words])).toBeUndefined();
  });

  it("has the same options without the program", () => {
    const words = ["-c", "a.json", "--no-build", "--console", `--root=${root}`];
    expect(readStart(["start", ...words])).toEqual({
      root,
      config: "a.json",
      build: false,
      console: true,
    });
    expect(readStart(["dev"])).toBeUndefined();
  });

  const text = { SEAMLINE_LOG: "text" };

  it("exits with 1 and one message, without a stack", async () => {
    started.mockRejectedValue(
      new Error("Can't listen at http://127.0.0.1:1: port 1 is taken", {
        cause: new Error("deeper"),
      }),
    );
    expect(await command(["start"], text)).toEqual({
      code: 1,
      out: "",
      err: "error: Can't listen at http://127.0.0.1:1: port 1 is taken\n",
    });
  });

  it("prints the number of problems", async () => {
    started.mockRejectedValue(
      new Problems([
        { file: "a.json", message: "one" },
        { file: "b.json", message: "two" },
      ]),
    );
    expect((await command(["start"], text)).err).toBe(
      "error: 2 problems\n\na.json: one\n\nb.json: two\n",
    );
  });

  it.each(["seamline", "*", "other,seamline"])("prints stacks with DEBUG=%s", async (DEBUG) => {
    started.mockRejectedValue(new Error("outer", { cause: new Error("deeper") }));
    expect((await command(["start"], { ...text, DEBUG })).err).toMatch(
      /^error: outer\n\nError: outer\n +at .*\nError: deeper\n +at /s,
    );
    expect((await command(["start"], { ...text, DEBUG: "seamlines" })).err).toBe("error: outer\n");
  });

  it("has colours at a terminal, but not with NO_COLOR", async () => {
    started.mockRejectedValue(new Error("x"));
    expect((await command(["start"], {}, true)).err).toContain("\u001B[31m");
    expect((await command(["start"], { ...text, NO_COLOR: "1" }, true)).err).toBe("error: x\n");
  });

  it("prints one JSON line where the log would be JSON, with stacks only if DEBUG asks for them", async () => {
    const problems = new Problems([
      { file: "a.json", path: "url", message: "one", hint: "Do this" },
      { file: "b.json", message: "two" },
    ]);
    started.mockRejectedValue(problems);
    for (const run of [
      () => command(["start"]),
      () => command(["start"], { SEAMLINE_LOG: "json" }, true),
    ]) {
      const { code, out, err } = await run();
      expect([code, out, err.split("\n").length]).toEqual([1, "", 2]);
      expect(JSON.parse(err)).toEqual({
        time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        level: "error",
        message: "2 problems\n\na.json at url: one\n  → Do this\n\nb.json: two",
      });
    }
    // A plain start, without the program, too.
    let err = "";
    const terminal = { stdout: { write: () => {} }, env: { DEBUG: "seamline" } };
    const stderr = { write: (line: string) => (err += line) };
    expect(await runStart({ root }, { ...terminal, stderr })).toBe(1);
    expect(JSON.parse(err)).toMatchObject({ error: expect.stringMatching(/\n +at /) as string });
    // A log of this kind doesn't exist, so errors are plain text.
    expect((await command(["start"], { SEAMLINE_LOG: "yaml" })).err).toMatch(/^error: 2 problems/);
  });
});

describe("seamline build", () => {
  beforeEach(async () => {
    await put("package.json", '{ "type": "module" }');
    await put(
      "code/greet.ts",
      "export async function greet(name: string) { return `Hello ${name}`; }",
    );
    await put("greet.segment.json", '{ "./greet": { "greet": { "access": "public" } } }');
  });

  it("takes source and output from the command line, and prints one line about the result", async () => {
    const { code, out, err } = await command([
      "build",
      "--root",
      root,
      "--source",
      "code",
      "--output",
      "out",
    ]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(
      /^built \.\/out in \d+\.\d s: 1 procedure in 1 segment, \d+ modules? \(revision \w+\)\n$/,
    );
    expect(
      fromStored(JSON.parse(await readFile(join(root, "out/server/manifest.json"), "utf8"))),
    ).toMatchObject({ procedures: [{ fqn: "greet" }] });
  });

  it("takes source and output from a configuration, unless the command line has them", async () => {
    const config = {
      mode: "repository",
      url: "http://127.0.0.1:1",
      source: "./code",
      output: "./made",
    };
    await put("seamline.json", JSON.stringify(config));
    expect((await command(["build", "--root", root])).out).toContain("built ./made");
    await put("other.json", JSON.stringify({ ...config, output: "./other" }));
    expect(
      (await command(["build", "--root", root], { SEAMLINE_CONFIG: "other.json" })).out,
    ).toContain("built ./other");
    expect(
      (await command(["build", "--root", root, "--config", "other.json", "-o", "mine"])).out,
    ).toContain("built ./mine");
  });

  it("refuses a configuration without sources if it was named", async () => {
    await put("seamline.json", '{ "mode": "gateway", "url": "http://127.0.0.1:1" }');
    expect(await command(["build", "--root", root, "--config", "seamline.json"])).toEqual({
      code: 1,
      out: "",
      err: "error: seamline.json has mode 'gateway', which has no sources: name the configuration of a repository or standalone\n",
    });
    expect((await command(["build", "--root", root, "-s", "code"])).code).toBe(0);
  });

  it("exits with 1 and lists all problems", async () => {
    await put(
      "greet.segment.json",
      '{ "./greet": { "gret": { "access": "public" } }, "./none": { "x": { "access": "public" } } }',
    );
    const { code, err } = await command(["build", "--root", root, "-s", "code"]);
    expect(code).toBe(1);
    expect(err).toMatch(/^error: 2 problems\n\ngreet\.segment\.json/);
  });
});
