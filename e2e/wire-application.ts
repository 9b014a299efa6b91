// The application of e2e/wire, built and started as its users would: `seamline build`, and one process for each service.

import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { key } from "../test/_call.ts";
import {
  type Application,
  buildPackage,
  type Command,
  createApplication,
} from "../test/process/_application.ts";

const anywhere = "http://127.0.0.1:0";
const root = join(import.meta.dirname, "..");

/** A copy of the application in a folder of its own, not built yet. */
export async function copyWire(): Promise<Application> {
  buildPackage();
  const application = await createApplication();
  await cp(join(root, "e2e/wire"), application.root, { recursive: true });
  const classes = await readFile(join(root, "test/_wire-classes.ts"), "utf8");
  // From where the records of the tests in memory begin, it is theirs alone: here the build finds the classes.
  await application.put(
    "src/people/people.ts",
    asApplication(classes.slice(0, classes.indexOf("/** Its constructor may end"))),
  );
  for (const table of [
    "wire-cases",
    "call",
    "call-names",
    "call-query",
    "call-access",
    "call-results",
    "call-superjson",
    "ways",
  ])
    await application.put(
      `src/people/${table}.ts`,
      asApplication(await readFile(join(root, `test/_${table}.ts`), "utf8")),
    );
  // Maps for the browser's files too, so that a test can follow a stack there.
  await application.put("vite.config.js", "export default { build: { sourcemap: true } };\n");
  return application;
}

/** A file of the tests as a module of an application: what it takes from the package's rooms comes from the package. */
function asApplication(text: string): string {
  const own = text
    .replace(/^import .*(ClassRecord|Classes).*\n/gm, "")
    .replace(
      'import { setTrace } from "../src/trace.ts";',
      'const setTrace = (error: Error, value: string[]): unknown => Object.defineProperty(error, "trace", { value });',
    )
    .replaceAll(/"\.\.\/src\/(errors|trace)\.ts"/g, '"seamline"')
    .replaceAll('"./_wire-classes.ts"', '"./people.ts"')
    .replaceAll('"../e2e/wire/src/', '"../')
    .replaceAll('"./_', '"./');
  if (own.includes("../src/"))
    throw new Error(
      `a file of the wire cases takes more of the rooms than an application can:\n${own.slice(0, 500)}`,
    );
  return own;
}

/** Starts one service and gives its address. */
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
  /** All that its services wrote. */
  output(): string;
}

/** repository, gateway, two nodes and a proxy; and the same application in one process. */
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
