// Services as `startServer` starts them, in this process: configuration, files and sockets are real
// ones.

import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { afterAll, beforeAll, onTestFinished } from "vitest";

import { getContext, withId } from "../../server/host/carrier.ts";
import { onStop } from "../../server/host/stops.ts";
import type { ModuleImporter } from "../../server/modules/module-importer.ts";
import type { Server, ServerOptions } from "../../server/start/server.ts";
import { startServer } from "../../server/start/start-server.ts";
import * as index from "../../src/index.ts";
import * as internal from "../../src/internal.ts";
import { buildHere } from "../_build-here.ts";
import { createFixture, type Files, type Fixture } from "../build/_fixture.ts";
import { TestLog } from "../_cluster.ts";

// The package and what generated code imports, as one module.
const core = { ...index, ...internal, getContext, onStop, withId };

let count = 0;

/**
 * An application whose modules find the runtime of the tests themselves under the package's name.
 */
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
  // Vitest would transform modules that it imports itself. What CommonJS imports, Node imports.
  writeFileSync(join(fixture.root, "load.cjs"), "module.exports = (url) => import(url);");
  return {
    ...fixture,
    importer: createRequire(import.meta.url)(join(fixture.root, "load.cjs")) as ModuleImporter,
  };
}

/** An application that is built once for the tests beside the call, and removed after them. */
export function builtOnce(files: Files): ReturnType<typeof applicationOf> {
  const application = applicationOf(files, afterAll);
  beforeAll(async () => void (await application.build()), 60_000);
  return application;
}

/** Stopping takes a second, as services still serve what was sent: all of a file stop at once. */
const stopping: Promise<void>[] = [];
afterAll(async () => void (await Promise.all(stopping)));

/** Starts a service that stops with the test; `log` gets its lines. */
export async function start(
  application: { readonly root: string; readonly importer: ModuleImporter | undefined },
  config: ServerOptions["config"],
  options: ServerOptions = {},
): Promise<Server & { readonly lines: readonly string[] }> {
  const log = new TestLog();
  const configured = config === undefined ? {} : { config: config };
  await buildHere(application.root, { ...configured, ...options });
  const server = await startServer(application.importer, {
    ...configured,
    root: application.root,
    signals: false,
    log,
    ...options,
  });
  onTestFinished(() => {
    const stopped = server.stop();
    // Awaited at the end of the file.
    stopped.catch(() => {});
    stopping.push(stopped);
  });
  return Object.assign(server, { lines: log.lines });
}

export const anyPort = "http://127.0.0.1:0";
