// Services as `startServer` starts them, in this process: configuration, files and sockets are real ones.

import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { afterAll, onTestFinished } from "vitest";

import {
  type ModuleImporter,
  type Server,
  type ServerOptions,
  startServer,
} from "../../server/start-server.ts";
import * as core from "../../src/index.ts";
import { createFixture, type Files, type Fixture } from "../build/_fixture.ts";
import { TestLog } from "../_cluster.ts";

let count = 0;

/** An application whose modules find the runtime of the tests themselves under the package's name. */
export function applicationOf(
  files: Files,
  atEnd?: (remove: () => void) => void,
  folder?: string,
): Fixture & { readonly importer: ModuleImporter } {
  const name = `seamline started ${count++}`;
  Reflect.set(globalThis, name, core);
  const runtime = `const core = globalThis[${JSON.stringify(name)}];\nexport const { ${Object.keys(core).join(", ")} } = core;\n`;
  const fixture = createFixture(
    { "node_modules/seamline/index.js": runtime, ...files },
    atEnd,
    folder,
  );
  // Vitest would transform what it imports itself; these are to run as Node runs them. What CommonJS imports, Node imports.
  writeFileSync(join(fixture.root, "load.cjs"), "module.exports = (url) => import(url);");
  return {
    ...fixture,
    importer: createRequire(import.meta.url)(join(fixture.root, "load.cjs")) as ModuleImporter,
  };
}

/** Services serve on for a second when they stop: all of a file do it at once, and while other tests run. */
const stopping: Promise<void>[] = [];
afterAll(async () => void (await Promise.all(stopping)));

/** Starts a service of it that stops with the test; `log` has its lines. */
export async function start(
  application: { readonly root: string; readonly importer: ModuleImporter },
  config: ServerOptions["config"],
  options: ServerOptions = {},
): Promise<Server & { readonly lines: readonly string[] }> {
  const log = new TestLog();
  const given = config === undefined ? {} : { config };
  const server = await startServer(application.importer, {
    ...given,
    root: application.root,
    signals: false,
    log,
    ...options,
  });
  onTestFinished(() => {
    const stopped = server.stop();
    // Told at the end of the file; nobody waits for it before.
    stopped.catch(() => {});
    stopping.push(stopped);
  });
  return Object.assign(server, { lines: log.lines });
}

export const anyPort = "http://127.0.0.1:0";
