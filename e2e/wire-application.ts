// Builds and starts the application of e2e/wire as users would: `seamline build`, and a process per
// service.

import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { key } from "../test/_call.ts";
import { gathered } from "../test/_gathered.ts";
import {
  type Application,
  buildPackage,
  type Command,
  createApplication,
} from "../test/process/_application.ts";

const anywhere = "http://127.0.0.1:0";
const root = join(import.meta.dirname, "..");

/** Copies the application into a temporary folder, without building it. */
export async function copyWire(): Promise<Application> {
  buildPackage();
  const application = await createApplication();
  await cp(join(root, "e2e/wire"), application.root, { recursive: true });
  const classes = await readFile(join(root, "test/_wire-classes.ts"), "utf8");
  // `Trap` and the class records are for tests in memory; here the build finds the classes.
  await application.put(
    "src/people/people.ts",
    asApplication(classes.slice(0, classes.indexOf("export class Trap"))),
  );
  for (const table of [
    "wire-cases",
    "call",
    "call-names",
    "call-query",
    "call-access",
    "call-results",
    "call-superjson",
    "all-calls",
  ])
    await application.put(
      `src/people/${table}.ts`,
      asApplication(await readFile(join(root, `test/_${table}.ts`), "utf8")),
    );
  // Source maps for browser files too, so that a test can follow a stack.
  await application.put("vite.config.js", "export default { build: { sourcemap: true } };\n");
  return application;
}

/** Turns a test file into a module of an application, with imports from the package's name. */
function asApplication(text: string): string {
  const module = text
    .replace(/^import .*(ClassRecord|Classes).*\n/gm, "")
    .replace(
      'import { setTrace } from "../src/base/trace.ts";',
      'const setTrace = (error: Error, value: string[]): unknown => Object.defineProperty(error, "trace", { value });',
    )
    .replaceAll(/"\.\.\/src\/base\/(errors|trace)\.ts"/g, '"seamline"')
    .replaceAll('"./_wire-classes.ts"', '"./people.ts"')
    .replaceAll('"../e2e/wire/src/', '"../')
    .replaceAll('"./_', '"./');
  if (module.includes("../src/"))
    throw new Error(
      `a file of the wire cases imports from ../src/, which applications can't:\n${module.slice(0, 500)}`,
    );
  return module;
}

/** Starts a service and returns its address. */
export async function startService(
  application: Application,
  name: string,
  config: object,
): Promise<{ url: string; command: Command }> {
  await application.put(`${name}.json`, config);
  const command = application.seamline(["start", "--no-build", "--config", `${name}.json`]);
  const [, url = ""] = await command.says(/^\w+ at (http:\/\/127\.0\.0\.1:\d+)/m);
  return { url, command };
}

export interface WireCluster {
  readonly proxy: string;
  readonly standalone: string;
  readonly repository: string;
  /** The output of all services. */
  output(): string;
}

/** Starts a repository, gateway, two nodes and a proxy, and the same application standalone. */
export async function startWire(application: Application): Promise<WireCluster> {
  const built = application.seamline(["build"]);
  if ((await built.ended()) !== 0) throw new Error(built.output());
  const assets = ["plain.html"];
  const start = (name: string, config: object) =>
    startService(application, name, { url: anywhere, trustKey: key, ...config });
  const [repository, gateway, standalone] = await Promise.all([
    start("repository", { mode: "repository", assets }),
    start("gateway", { mode: "gateway" }),
    start("standalone", { mode: "standalone", assets, name: "one process" }),
  ]);
  const places = { repository: repository.url, gateway: gateway.url };
  const [one, two, proxy] = await Promise.all([
    start("one", { mode: "node", name: "node one", segments: ["wire", "calls"], ...places }),
    start("two", { mode: "node", name: "node two", segments: ["second", "more"], ...places }),
    start("proxy", { mode: "proxy", ...places }),
  ]);
  await gathered(proxy.url);
  const all = [
    built,
    repository.command,
    gateway.command,
    standalone.command,
    one.command,
    two.command,
    proxy.command,
  ];
  return {
    proxy: proxy.url,
    standalone: standalone.url,
    repository: repository.url,
    output: () => all.map((command) => command.output()).join(""),
  };
}
