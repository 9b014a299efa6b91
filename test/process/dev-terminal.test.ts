// `seamline dev` as a person has it: at a terminal, with keys; and as a script has it, without.

import { mkdir, readFile, symlink } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Application, buildPackage, createApplication } from "./_application.ts";
import { type PseudoTerminal, startAtTerminal } from "./_pseudo-terminal.ts";

const packageRoot = join(import.meta.dirname, "../..");
const cli = join(packageRoot, "dist/cli.js");

let application: Application;
let terminal: PseudoTerminal | undefined;

beforeAll(buildPackage, 120_000);

beforeEach(async () => {
  application = await createApplication();
  await symlink(
    join(packageRoot, "node_modules/vite"),
    join(application.root, "node_modules/vite"),
    "junction",
  );
  await mkdir(join(application.root, "src"));
  await application.put(
    "index.html",
    '<!doctype html><title>Shop</title><script type="module" src="/src/main.ts"></script>',
  );
  await application.put(
    "src/main.ts",
    'import { startClient } from "seamline";\nawait startClient("view");\n',
  );
  await application.put(
    "src/quote.ts",
    "export async function quote(metres: number, note = 'none'): Promise<string> {\n  return `${metres} metres, ${note}`;\n}\n",
  );
  await application.put(
    "src/fail.ts",
    "export async function fail(): Promise<void> {\n  throw new RangeError('no such cloth');\n}\n",
  );
  await application.put(
    "src/draw.ts",
    "export async function draw(): Promise<string> {\n  return 'drawn';\n}\n",
  );
  await application.put("office.segment.json", {
    "./quote": { quote: { access: "public" } },
    "./fail": { fail: { access: "public" } },
  });
  await application.put("view.segment.json", { "./draw": { draw: { access: "public" } } });
});

afterEach(async () => {
  terminal?.kill();
  terminal = undefined;
  await application.remove();
});

const start = (...words: string[]): PseudoTerminal =>
  startAtTerminal([process.execPath, cli, "dev", "--port", "0", ...words], application.root);

describe("at a terminal", () => {
  it("shows where everything is, calls, tells what is replaced and what is wrong, kills, moves, and quits with 0", async () => {
    terminal = start();
    await terminal.says(/q quit/);
    expect(terminal.output()).toMatch(/Page +http:\/\/localhost:\d+/);
    expect(terminal.output()).toMatch(/office +node office +2\n/);
    expect(terminal.output()).toMatch(/view +page +1\n/);
    expect(terminal.output()).toMatch(/Public +draw, fail, quote\n/);

    terminal.press("c");
    await terminal.says(/Call which procedure/);
    terminal.press("qu\t\r");
    await terminal.says(/metres \(number\): $/);
    terminal.press("3\r");
    await terminal.says(/note .*: $/);
    terminal.press("\r");
    await terminal.says(/quote\(metres: 3\) gave '3 metres, none' on node office, \d+ ms/);

    await application.put(
      "src/quote.ts",
      "export async function quote(metres: number, note = 'none'): Promise<string> {\n  return `${metres} m`;\n}\n",
    );
    await terminal.says(/replaced quote on node office.*its own state starts anew/s);

    terminal.press("c");
    await terminal.says(/fail\n/);
    terminal.press("fail\r");
    await terminal.says(/RangeError: no such cloth/);
    await terminal.says(/src\/fail\.ts:2:9/);

    await application.put(
      "office.segment.json",
      '{\n  "./quote": { "quote": { "access": "publik" } }\n}\n',
    );
    await terminal.says(/error: office\.segment\.json:2:\d+ .*\n.*\n> 2 \|.*publik.*\n.*\^/);
    const broken = terminal.output().length;
    await application.put("office.segment.json", {
      "./quote": { quote: { access: "public" } },
      "./fail": { fail: { access: "public" } },
    });
    await terminal.says(/mended/, broken);

    terminal.press("k");
    await terminal.says(/kill office/);
    terminal.press("1");
    await terminal.says(/node office is stopped/);
    const stopped = terminal.output().length;
    terminal.press("k");
    await terminal.says(/start office/);
    terminal.press("1");
    await terminal.says(/node office is ready/, stopped);

    terminal.press("m");
    await terminal.says(/Move which procedure/);
    terminal.press("quote\r");
    await terminal.says(/Move quote from office to/);
    terminal.press("1");
    await terminal.says(/moved quote from node office to the page, \d+ ms/);
    expect(
      JSON.parse(await readFile(join(application.root, "view.segment.json"), "utf8")),
    ).toHaveProperty(["./quote", "quote", "access"]);

    terminal.press("q");
    expect(await terminal.ended()).toBe(0);
  }, 60_000);

  it("ends with 0 on Ctrl-C, in a question too", async () => {
    terminal = start();
    await terminal.says(/q quit/);
    terminal.press("c");
    await terminal.says(/Call which procedure/);
    terminal.press("\u0003");
    expect(await terminal.ended()).toBe(0);
  });
});

describe("without a terminal", () => {
  it("writes lines, and ends with 0 on SIGTERM", async () => {
    const dev = application.seamline(["dev", "--port", "0"]);
    await dev.says(/Watching/);
    expect(dev.output()).not.toContain("quit");
    // oxlint-disable-next-line no-control-regex
    expect(dev.output()).not.toMatch(/\u001B/);
    expect(await dev.ended("SIGTERM")).toBe(0);
  });

  it("writes one JSON object a line with --json", async () => {
    const dev = application.seamline(["dev", "--port", "0", "--json"]);
    await dev.says(/"ready".*\n/);
    await application.put(
      "src/quote.ts",
      "export async function quote(metres: number): Promise<string> {\n  return `${metres} m`;\n}\n",
    );
    await dev.says(/"replaced".*\n|"reloaded".*\n|"moved".*\n/);
    expect(await dev.ended("SIGINT")).toBe(0);
    const lines = dev
      .output()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { event: string });
    expect(lines.find((line) => line.event === "ready")).toMatchObject({
      url: expect.stringMatching(/^http:\/\/localhost:\d+\/?$/),
      nodes: [{ name: "office", segments: ["office"], procedures: 2, state: "ready" }],
    });
    expect(lines.at(-1)).toEqual({ event: "stopped" });
  });

  it("ends with 1 and says what to do when the port is taken, or there is no configuration of that name", async () => {
    const taken = createServer();
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, "localhost", () => resolve((taken.address() as AddressInfo).port));
    });
    const late = application.seamline(["dev", "--port", String(port)]);
    expect(await late.ended()).toBe(1);
    expect(late.output()).toBe(
      `error: port ${port} is taken: name another with --port, or stop what listens there\n`,
    );
    taken.close();
    const lost = application.seamline(["dev", "--port", "0", "--config", "none.json"]);
    expect(await lost.ended()).toBe(1);
    expect(lost.output()).toBe("error: none.json: there is no such file, but --config names it\n");
  });

  it("tells of a broken configuration, and goes on when it is mended", async () => {
    await application.put("seamline.json", '{\n  "mode": "standalone",\n  "url": "nowhere"\n}\n');
    const dev = application.seamline(["dev", "--port", "0"]);
    await dev.says(/error: seamline\.json:3:3 at url: .*\n.*\n.*\n> 3 \|   "url": "nowhere"\n/);
    await application.put("seamline.json", '{ "mode": "standalone", "url": "http://127.0.0.1:1" }');
    await dev.says(/mended/);
    expect(await dev.ended("SIGTERM")).toBe(0);
  });

  it("ends with 2 for a command line that can't be", async () => {
    const wrong = application.seamline(["dev", "--port", "many"]);
    expect(await wrong.ended()).toBe(2);
    expect(wrong.output()).toContain("It is a number from 0 to 65535.");
  });
});
