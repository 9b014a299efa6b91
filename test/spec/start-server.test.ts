import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";

import { createHandler } from "../../server/start/create-handler.ts";
import { CorsMiddleware } from "../../server/main.ts";
import { startServer } from "../../server/start/start-server.ts";
import { TestLog } from "../_cluster.ts";
import { anyPort, applicationOf, start } from "./_started.ts";
import { buildPackage, createApplication } from "../process/_application.ts";

const gateway = { mode: "gateway", url: anyPort };
const files = {
  "src/greet/greet.ts":
    'import { greeting } from "words";\nexport async function greet(name: string) { return `${greeting}, ${name}`; }\n',
  "src/layers/loud.ts":
    "export default class Loud { async handle(fqn, version, args, headers, next) { return `${await next()}!`; } }\n",
  "greet.segment.json": '{ "./greet/greet": { "greet": { "access": "public" } } }',
  "node_modules/words/package.json":
    '{ "name": "words", "type": "module", "exports": "./index.js" }',
  "node_modules/words/index.js": 'export const greeting = "Hello";\n',
};
const standalone = { mode: "standalone", url: anyPort };
const text = async (url: string): Promise<string> => await (await fetch(url)).text();

describe("startServer", () => {
  it("hooks-1: startServer(moduleImporter) returns the promise of a server object", async () => {
    const server = await start(applicationOf({}), gateway);
    expect(server).toMatchObject({
      mode: "gateway",
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
    });
    expect(await text(`${server.url}/health/live`)).toBe("true");
  });

  it.each([null, {}, "./main.js"])(
    "startServer refuses %j as module importer (hooks-1)",
    async (importer) => {
      await expect(
        startServer(importer as never, { config: gateway, signals: false }),
      ).rejects.toThrow(
        new TypeError(
          "startServer takes a module importer: startServer((specifier) => import(specifier))",
        ),
      );
    },
  );

  it("a service that isn't on loopback warns once if its configuration doesn't set 'errors'", async () => {
    const application = applicationOf(files);
    const log = new TestLog();
    // Mounted, so that nothing listens at this address.
    const handler = await createHandler(application.importer, {
      root: application.root,
      config: { mode: "standalone", url: "http://10.0.0.1:3000" },
      log,
    });
    onTestFinished(async () => await handler.close());
    expect(log.lines.filter((line) => line.includes("'errors'"))).toEqual([
      `warning: configuration: 'errors' isn't set, so callers read the messages of this application's errors: set it to "masked" to hide them, or to "shown"`,
    ]);
    expect((await start(application, standalone)).lines.join()).not.toContain("'errors'");
  });

  it("hooks-2: startServer reads the configuration and runs the service that it describes", async () => {
    const application = applicationOf(files);
    const server = await start(application, standalone);
    expect(server.info).toEqual({
      mode: "standalone",
      url: server.url,
      segments: ["greet"],
      procedures: 1,
      routes: 0,
    });
    expect(await text(`${server.url}/rpc/greet/greet?name=Ada`)).toBe("Hello, Ada");
  });

  it("hooks-3: moduleImporter is an async function that takes a module's specifier and returns the module", async () => {
    const application = applicationOf(files);
    const specifiers: string[] = [];
    const importer = async (specifier: string) => {
      specifiers.push(specifier);
      return await application.importer(specifier);
    };
    await start({ root: application.root, importer }, standalone);
    expect(specifiers.filter((specifier) => !/^file:\/\/.*\.js$/.test(specifier))).toEqual([]);
    expect(specifiers.length).toBeGreaterThan(1);
  });

  it("hooks-4: moduleImporter is called when a module of the application is imported, so that its dependencies load from the application's folder", async () => {
    const application = applicationOf(files);
    const specifiers: string[] = [];
    const importer = async (specifier: string) => (
      specifiers.push(specifier),
      await application.importer(specifier)
    );
    const server = await start({ root: application.root, importer }, standalone);
    // `words` is installed in the application alone.
    expect(await text(`${server.url}/rpc/greet/greet?name=Ada`)).toBe("Hello, Ada");
    expect(specifiers.some((specifier) => specifier.includes("greet/greet"))).toBe(true);
  });

  it("startServer without an importer imports from the application folder (hooks-3)", async () => {
    const { root } = applicationOf({
      "node_modules/count-calls/package.json": '{ "type": "module", "exports": "./index.js" }',
      "node_modules/count-calls/index.js":
        "export default { isHealthy: async () => import.meta.url.includes('count-calls') };",
      "checks/disk.mjs": "export default { isHealthy: async () => true };\n",
    });
    const config = {
      ...gateway,
      healthChecks: { package: "count-calls", path: "./checks/disk.mjs" },
    };
    const server = await start({ root, importer: undefined }, config);
    expect(await text(`${server.url}/health`)).toBe('{"package":true,"path":true}');
  });

  it("hooks-5: the server object offers addHealthCheck(name, check)", async () => {
    const server = await start(applicationOf({}), gateway);
    server.addHealthCheck("disk", { isHealthy: async () => false });
    expect(await text(`${server.url}/health`)).toBe('{"disk":false}');
    expect(() => server.addHealthCheck("disk", {} as never)).toThrow(TypeError);
  });

  it("hooks-6: the server object offers addMiddleware(middleware)", async () => {
    const server = await start(applicationOf(files), standalone);
    server.addMiddleware({
      handle: async (_fqn, _version, _args, _headers, next) => `${String(await next())}?`,
    });
    expect(await text(`${server.url}/rpc/greet/greet?name=Ada`)).toBe("Hello, Ada?");
    expect(() => server.addMiddleware({} as never)).toThrow(TypeError);
  });
});

describe("where the configuration comes from", () => {
  const argv = process.argv;
  afterEach(() => {
    process.argv = argv;
    vi.unstubAllEnvs();
  });
  it("start-server-1: options.config is the path of the configuration or the configuration itself, and takes precedence", async () => {
    const application = applicationOf({
      "given.json": JSON.stringify(gateway),
      "seamline.json": "{}",
    });
    vi.stubEnv("SEAMLINE_CONFIG", "nothing.json");
    process.argv = [...argv, "--config", "nothing.json"];
    expect((await start(application, "given.json")).mode).toBe("gateway");
    expect((await start(application, gateway)).mode).toBe("gateway");
  });

  it("start-server-2: without options.config, --config on the command line names the file", async () => {
    const application = applicationOf({
      "named.json": JSON.stringify(gateway),
      "seamline.json": "{}",
    });
    vi.stubEnv("SEAMLINE_CONFIG", "nothing.json");
    for (const words of [["--config", "named.json"], ["--config=named.json"]]) {
      process.argv = [...argv, ...words];
      expect((await start(application, undefined)).mode).toBe("gateway");
    }
  });

  it("start-server-3: without these two, the variable SEAMLINE_CONFIG names the file", async () => {
    const application = applicationOf({
      "variable.json": JSON.stringify(gateway),
      "seamline.json": "{}",
    });
    process.argv = argv.slice(0, 2);
    vi.stubEnv("SEAMLINE_CONFIG", "variable.json");
    expect((await start(application, undefined)).mode).toBe("gateway");
  });

  it("an empty SEAMLINE_CONFIG counts as unset (start-server-3)", async () => {
    process.argv = argv.slice(0, 2);
    vi.stubEnv("SEAMLINE_CONFIG", "");
    expect(
      (await start(applicationOf({ "seamline.json": JSON.stringify(gateway) }), undefined)).mode,
    ).toBe("gateway");
  });

  it("a missing application folder is reported as such, and not as a missing file (start-server-4)", async () => {
    const { importer, root } = applicationOf({});
    await expect(start({ importer, root: `${root}/nowhere` }, "seamline.json")).rejects.toThrow(
      `there is no application folder ${root}/nowhere`,
    );
  });

  it("start-server-4: without any of the three, the file is ./seamline.json in the application folder", async () => {
    process.argv = argv.slice(0, 2);
    expect(
      (await start(applicationOf({ "seamline.json": JSON.stringify(gateway) }), undefined)).mode,
    ).toBe("gateway");
    await expect(start(applicationOf({}), undefined)).rejects.toThrow("seamline.json");
  });
});

describe("signals", () => {
  /**
   * A host's main file as a process of its own, ended by a signal: its exit code, or the signal
   * when there was no listener.
   */
  async function ended(options: string, signal: NodeJS.Signals): Promise<unknown> {
    buildPackage();
    const application = await createApplication();
    onTestFinished(() => application.remove());
    await application.put(
      "main.mjs",
      `import { startServer } from "seamline/server";
       const server = await startServer((one) => import(one), { config: { mode: "gateway", url: "${anyPort}" }, ${options} });
       console.log("up", server.url);`,
    );
    const child = spawn(process.execPath, [join(application.root, "main.mjs")], {
      cwd: application.root,
      stdio: ["ignore", "pipe", "inherit"],
    });
    // Goes on reading: without a reader of its log a service ends with an error.
    await new Promise<void>((resolve) =>
      child.stdout.on("data", (chunk) => String(chunk).includes("up http") && resolve()),
    );
    child.kill(signal);
    const [code, by] = (await once(child, "exit")) as [number | null, string | null];
    return code ?? by;
  }

  it("start-server-5: a server stops on SIGTERM and on SIGINT", async () => {
    expect(await Promise.all([ended("", "SIGTERM"), ended("", "SIGINT")])).toEqual([0, 0]);
  });

  it("start-server-6: with options.signals false, a server leaves signals to the application", async () => {
    expect(await ended("signals: false", "SIGTERM")).toBe("SIGTERM");
  });

  it("start-server-7: the package `seamline` exports CorsMiddleware", async () => {
    const server = await start(applicationOf({}), gateway);
    server.addMiddleware(new CorsMiddleware("http://page"));
    const answer = await fetch(`${server.url}/rpc/a`, { method: "OPTIONS" });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([
      204,
      "http://page",
    ]);
    // The same holds for an application that has the package installed.
    buildPackage();
    const installed = await createApplication();
    onTestFinished(() => installed.remove());
    await installed.put(
      "main.mjs",
      'import { CorsMiddleware } from "seamline";\nconsole.log(CorsMiddleware.name);\n',
    );
    const main = spawn(process.execPath, [join(installed.root, "main.mjs")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    for await (const chunk of main.stdout) output += String(chunk);
    expect(output).toBe("CorsMiddleware\n");
  });
});

describe("a start that fails", () => {
  it("a start on a port in use fails with a message, and leaves no copy of the modules and no listener (hooks-2)", async () => {
    const application = applicationOf(files);
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };
    const listeners = process.listenerCount("SIGTERM");
    const config = {
      mode: "standalone",
      url: `http://127.0.0.1:${port}`,
      middleware: ["./src/layers/loud.ts"],
    };
    application.write({ "seamline.json": JSON.stringify(config) });
    await expect(start(application, "seamline.json")).rejects.toThrow(String(port));
    expect(application.list("node_modules").filter((file) => file.includes("/run/"))).toEqual([]);
    expect(process.listenerCount("SIGTERM")).toBe(listeners);
    // The same start succeeds once the port is free.
    await new Promise((resolve) => taken.close(resolve));
    const server = await start(application, "seamline.json");
    expect(await text(`${server.url}/rpc/greet/greet?name=Ada`)).toBe("Hello, Ada!");
  });

  it("a start that fails because of a configured module leaves nothing behind (hooks-2)", async () => {
    const application = applicationOf(files);
    writeFileSync(join(application.root, "broken.mjs"), "throw new Error('broken');");
    const config = { ...standalone, middleware: ["./src/layers/loud.ts", "./broken.mjs"] };
    application.write({ "seamline.json": JSON.stringify(config) });
    await expect(start(application, "seamline.json")).rejects.toThrow("broken");
    expect(application.list("node_modules/.cache/seamline/run")).toEqual([]);
  });
});
