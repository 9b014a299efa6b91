// `seamline dev` as a process: at a terminal with keys, and without a terminal as in a script.

import { mkdir, symlink } from "node:fs/promises";
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
    'import { startClient } from "seamline/client";\nawait startClient("view");\n',
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
  startAtTerminal([process.execPath, cli, "dev", "--port", "0", ...words], application.root, {
    BROWSER: "none",
  });

describe("seamline dev at a terminal", () => {
  it("lists addresses, opens page and console, prints replacements, failures, problems and moves, and exits with 0", async () => {
    terminal = start();
    await terminal.says(/q quit/);
    expect(terminal.output()).toMatch(/Page +http:\/\/localhost:\d+/);
    expect(terminal.output()).toMatch(/office +node office +2\n/);
    expect(terminal.output()).toMatch(/view +page +1\n/);
    expect(terminal.output()).toMatch(/Public +draw, fail, quote\n/);

    terminal.press("o");
    await terminal.says(/Can't open the page from here \(BROWSER=none.*\): http:\/\/localhost:\d+/);
    terminal.press("c");
    await terminal.says(/Can't open the console from here .*\/svc\/console#token=[0-9a-f]{64}/);
    const { address } = /(?<address>http:\/\/localhost:\d+)/.exec(terminal.output())!.groups!;

    await application.put(
      "src/quote.ts",
      "export async function quote(metres: number, note = 'none'): Promise<string> {\n  return `${metres} m`;\n}\n",
    );
    await terminal.says(/replaced quote on node office.*its own state starts anew/s);

    await fetch(`${address}/rpc/fail`);
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

    await application.put("office.segment.json", { "./fail": { fail: { access: "public" } } });
    await application.put("view.segment.json", {
      "./draw": { draw: { access: "public" } },
      "./quote": { quote: { access: "public" } },
    });
    await terminal.says(/moved quote from node office to the page, \d+ ms/);

    terminal.press("q");
    expect(await terminal.ended()).toBe(0);
  }, 60_000);

  it("exits with 0 on Ctrl-C", async () => {
    terminal = start();
    await terminal.says(/q quit/);
    terminal.press("\u0003");
    expect(await terminal.ended()).toBe(0);
  });
});

describe("seamline dev without a terminal", () => {
  it("prints lines, and exits with 0 on SIGTERM", async () => {
    const dev = application.seamline(["dev", "--port", "0"]);
    await dev.says(/Watching/);
    expect(dev.output()).not.toContain("quit");
    // oxlint-disable-next-line no-control-regex
    expect(dev.output()).not.toMatch(/\u001B/);
    expect(await dev.ended("SIGTERM")).toBe(0);
  });

  it("prints one JSON object per line with --json", async () => {
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

  it("exits with 1 and a hint if the port is taken or the configuration doesn't exist", async () => {
    const taken = createServer();
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, "localhost", () => resolve((taken.address() as AddressInfo).port));
    });
    const late = application.seamline(["dev", "--port", String(port)]);
    expect(await late.ended()).toBe(1);
    expect(late.output()).toBe(
      `error: port ${port} is in use: choose another with --port, or stop the program that uses it\n`,
    );
    taken.close();
    const lost = application.seamline(["dev", "--port", "0", "--config", "none.json"]);
    expect(await lost.ended()).toBe(1);
    expect(lost.output()).toBe("error: --config: there is no file none.json\n");
  });

  it("reports an invalid configuration, and goes on when it is fixed", async () => {
    await application.put("seamline.json", '{\n  "mode": "standalone",\n  "url": "nowhere"\n}\n');
    const dev = application.seamline(["dev", "--port", "0"]);
    await dev.says(/error: seamline\.json:3:3 at url: .*\n.*\n.*\n> 3 \|   "url": "nowhere"\n/);
    await application.put("seamline.json", '{ "mode": "standalone", "url": "http://127.0.0.1:1" }');
    await dev.says(/mended/);
    expect(await dev.ended("SIGTERM")).toBe(0);
  });

  it("exits with 2 for an invalid command line", async () => {
    const wrong = application.seamline(["dev", "--port", "many"]);
    expect(await wrong.ended()).toBe(2);
    expect(wrong.output()).toContain("Expected a number from 0 to 65535.");
  });
});
