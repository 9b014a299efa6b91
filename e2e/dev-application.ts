// Runs `seamline dev` as a real process on an application in a temporary folder, and reads its JSON
// lines.

import { spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

const root = join(import.meta.dirname, "..");

export type Line = { readonly event: string; readonly ms?: number } & Readonly<
  Record<string, unknown>
>;

export interface DevRun {
  readonly url: string;
  /** The console's link. */
  readonly console: string;
  readonly lines: readonly Line[];
  readonly folder: string;
  /** The status of a call from outside. */
  status(target: string): Promise<number>;
  write(file: string, text: string): void;
  edit(file: string, from: string, to: string): void;
  stop(): Promise<void>;
}

const unchecked = '{ "mode": "standalone", "url": "http://127.0.0.1:3000", "validate": false }\n';

/**
 * Starts `seamline dev` and resolves once it is ready. The application has the package, Vite and `packages`; with
 * `typescript`, arguments of callers outside are checked.
 */
export async function develop(
  files: Readonly<Record<string, string>>,
  packages: readonly string[] = [],
): Promise<DevRun> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "seamline-dev-")));
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  // Reading types takes as long as starting, and most of these tests are about something else.
  if (!packages.includes("typescript")) write("seamline.json", unchecked);
  for (const [file, text] of Object.entries(files)) write(file, text);
  write("package.json", '{ "name": "fixture", "private": true, "type": "module" }');
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/seamline"), "dir");
  for (const name of ["vite", ...packages])
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name), "dir");
  const child = spawn(
    process.execPath,
    [join(root, "dist/cli.js"), "dev", "--json", "--port", "0"],
    { cwd: folder },
  );
  const lines: Line[] = [];
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const ready = await new Promise<Line>((resolve, reject) => {
    createInterface(child.stdout).on("line", (text) => {
      const line = JSON.parse(text) as Line;
      lines.push(line);
      if (line.event === "ready") resolve(line);
    });
    void ended.then(() => reject(new Error(`it ended before it was ready: ${errors}`)));
  });
  return {
    url: String(ready["url"]),
    console: String(ready["console"]),
    lines,
    folder,
    status: async (target) => (await fetch(String(ready["url"]) + target)).status,
    write,
    edit(file, from, to) {
      const text = readFileSync(join(folder, file), "utf8");
      if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
      write(file, text.replace(from, to));
    },
    async stop() {
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
