import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";

import { CorsMiddleware, startServer as fromPackage } from "../../server/main.ts";
import { startServer } from "../../server/start-server.ts";
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

describe("§4.6 startServer", () => {
  it("§4.6-1 startServer(moduleImporter) gives the promise of a server object", async () => {
    const server = await start(applicationOf({}), gateway);
    expect(server).toMatchObject({
      role: "gateway",
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
    });
    expect(await text(`${server.url}/health/live`)).toBe("true");
  });

  it.each([undefined, {}, "./main.js"])(
    "refuses %j in the place of the module importer (§4.6-1)",
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

  it("§4.6-2 startServer reads the configuration and runs the service that this names", async () => {
    const application = applicationOf(files);
    const server = await start(application, standalone);
    expect(server.describe()).toEqual({ segments: ["greet"], procedures: 1 });
    expect(await text(`${server.url}/rpc/greet/greet?name=Ada`)).toBe("Hello, Ada");
  });

  it("§4.6-3 moduleImporter is an async function that takes a module's specifier and returns the module", async () => {
    const application = applicationOf(files);
    const asked: string[] = [];
    const importer = async (specifier: string) => {
      asked.push(specifier);
      return await application.importer(specifier);
    };
    await start({ root: application.root, importer }, standalone);
    expect(asked.filter((one) => !/^file:\/\/.*\.js$/.test(one))).toEqual([]);
    expect(asked.length).toBeGreaterThan(1);
  });

  it("§4.6-4 moduleImporter is called when a module of the application is imported, so that its dependencies load from the application's folder", async () => {
    const application = applicationOf(files);
    const asked: string[] = [];
    const importer = async (specifier: string) => (
      asked.push(specifier),
      await application.importer(specifier)
    );
    const server = await start({ root: application.root, importer }, standalone);
    // `words` is installed in the application alone.
    expect(await text(`${server.url}/rpc/greet/greet?name=Ada`)).toBe("Hello, Ada");
    expect(asked.some((one) => one.includes("greet/greet"))).toBe(true);
  });

  it("§4.6-5 the server object offers addHealthCheck(name, check)", async () => {
    const server = await start(applicationOf({}), gateway);
    server.addHealthCheck("disk", { isHealthy: async () => false });
    expect(await text(`${server.url}/health`)).toBe('{"disk":false}');
    expect(() => server.addHealthCheck("disk", {} as never)).toThrow(TypeError);
  });

  it("§4.6-6 the server object offers addMiddleware(middleware)", async () => {
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
  it("D6.start-server-1 options.config is the path of the configuration or the configuration itself, and comes before all else", async () => {
    const application = applicationOf({
      "given.json": JSON.stringify(gateway),
      "seamline.json": "{}",
    });
    vi.stubEnv("SVC_CONFIG", "nothing.json");
    process.argv = [...argv, "--config", "nothing.json"];
    expect((await start(application, "given.json")).role).toBe("gateway");
    expect((await start(application, gateway)).role).toBe("gateway");
  });

  it("D6.start-server-2 without options.config --config on the command line names the file", async () => {
    const application = applicationOf({
      "named.json": JSON.stringify(gateway),
      "seamline.json": "{}",
    });
    vi.stubEnv("SVC_CONFIG", "nothing.json");
    for (const words of [["--config", "named.json"], ["--config=named.json"]]) {
      process.argv = [...argv, ...words];
      expect((await start(application, undefined)).role).toBe("gateway");
    }
  });

  it("D6.start-server-3 without these two the variable SVC_CONFIG names the file", async () => {
    const application = applicationOf({
      "variable.json": JSON.stringify(gateway),
      "seamline.json": "{}",
    });
    process.argv = argv.slice(0, 2);
    vi.stubEnv("SVC_CONFIG", "variable.json");
    expect((await start(application, undefined)).role).toBe("gateway");
  });

  it("a variable that is empty names nothing, as elsewhere (D6.start-server-3)", async () => {
    process.argv = argv.slice(0, 2);
    vi.stubEnv("SVC_CONFIG", "");
    expect(
      (await start(applicationOf({ "seamline.json": JSON.stringify(gateway) }), undefined)).role,
    ).toBe("gateway");
  });

  it("an application folder that isn't there is told as that, and not as a missing file (D6.start-server-4)", async () => {
    const { importer, root } = applicationOf({});
    await expect(start({ importer, root: `${root}/nowhere` }, "seamline.json")).rejects.toThrow(
      `there is no application folder ${root}/nowhere`,
    );
  });

  it("D6.start-server-4 without any of the three the file is ./seamline.json in the application folder", async () => {
    process.argv = argv.slice(0, 2);
    expect(
      (await start(applicationOf({ "seamline.json": JSON.stringify(gateway) }), undefined)).role,
    ).toBe("gateway");
    await expect(start(applicationOf({}), undefined)).rejects.toThrow("seamline.json");
  });
});

describe("signals", () => {
  /** A host's main file as a process of its own, ended by a signal: its exit code, or the signal when nobody listened. */
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
    for await (const chunk of child.stdout) if (String(chunk).includes("up http")) break;
    child.kill(signal);
    const [code, by] = (await once(child, "exit")) as [number | null, string | null];
    return code ?? by;
  }

  it("D6.start-server-5 a server stops on SIGTERM and on SIGINT", async () => {
    expect(await Promise.all([ended("", "SIGTERM"), ended("", "SIGINT")])).toEqual([0, 0]);
  });

  it("D6.start-server-6 with options.signals false a server leaves signals to the application", async () => {
    expect(await ended("signals: false", "SIGTERM")).toBe("SIGTERM");
  });

  it("D6.start-server-7 the package `seamline` exports CorsMiddleware, and startServer beside it", async () => {
    const application = applicationOf({});
    const log = new TestLog();
    const server = await fromPackage(application.importer, {
      config: gateway,
      root: application.root,
      signals: false,
      log,
    });
    onTestFinished(() => server.stop());
    server.addMiddleware(new CorsMiddleware("http://page"));
    const answer = await fetch(`${server.url}/rpc/a`, { method: "OPTIONS" });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([
      204,
      "http://page",
    ]);
    // And so it is for an application that has the package installed.
    buildPackage();
    const installed = await createApplication();
    onTestFinished(() => installed.remove());
    await installed.put(
      "main.mjs",
      'import { CorsMiddleware, startServer } from "seamline";\nconsole.log(CorsMiddleware.name, startServer.name);\n',
    );
    const main = spawn(process.execPath, [join(installed.root, "main.mjs")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    for await (const chunk of main.stdout) said += String(chunk);
    expect(said).toBe("CorsMiddleware startServer\n");
  });
});

describe("a start that fails", () => {
  it("on a port that is taken says so, and leaves nothing behind: no copy of the modules, no listener (§4.6-2)", async () => {
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
    // The same, once the port is free.
    await new Promise((resolve) => taken.close(resolve));
    const server = await start(application, "seamline.json");
    expect(await text(`${server.url}/rpc/greet/greet?name=Ada`)).toBe("Hello, Ada!");
  });

  it("because of a module that the configuration names leaves nothing behind either (§4.6-2)", async () => {
    const application = applicationOf(files);
    writeFileSync(join(application.root, "broken.mjs"), "throw new Error('broken');");
    const config = { ...standalone, middleware: ["./src/layers/loud.ts", "./broken.mjs"] };
    application.write({ "seamline.json": JSON.stringify(config) });
    await expect(start(application, "seamline.json")).rejects.toThrow("broken");
    expect(application.list("node_modules/.cache/seamline/run")).toEqual([]);
  });
});
