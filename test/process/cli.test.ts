import { once } from "node:events";
import { readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, vi } from "vitest";
import { freePort } from "../_free-port.ts";
import {
  type Application,
  buildPackage,
  createApplication,
  inApplication,
} from "./_application.ts";

const anywhere = "http://127.0.0.1:0";
const address = /^(?:node|repository|standalone) at (http:\/\/127\.0\.0\.1:\d+)/m;

beforeAll(buildPackage, 120_000);

async function createGreeting(): Promise<Application> {
  const application = await createApplication();
  await application.put(
    "src/greet.ts",
    'import { Loud } from "./loud";\nexport async function greet(name: string) {\n  return new Loud(name).text;\n}\n',
  );
  await application.put(
    "src/loud.ts",
    "export class Loud {\n  constructor(public name: string) {}\n  get text() { return `Hello ${this.name}!`; }\n}\n",
  );
  await application.put("src/index.html", "<!doctype html><title>Greeting</title>");
  await application.put("greet.segment.json", { "./greet": { greet: { access: "public" } } });
  await application.put("seamline.json", { mode: "standalone", url: anywhere });
  return application;
}

vi.setConfig({ maxConcurrency: 3 });
const it = inApplication(createGreeting);

const get = async (url: string): Promise<string> => await (await fetch(url)).text();

it.concurrent.for([["--help"], ["inspect"], ["check"]])(
  "%s exits without an error if its reader closes the pipe, as head does",
  { timeout: 60_000 },
  async ([word = ""], { application }) => {
    const command = application.seamline([word]);
    command.child.stdout.destroy();
    expect(await command.ended()).toBe(0);
    expect(command.output()).toBe("");
  },
);

it.concurrent(
  "check exits with its code even if nothing reads its output",
  { timeout: 60_000 },
  async ({ application }) => {
    await application.put("greet.segment.json", { "./greet": { greet: { access: "publik" } } });
    const command = application.seamline(["check"]);
    command.child.stdout.destroy();
    expect(await command.ended()).toBe(1);
  },
);

describe.concurrent("seamline start, as a process", () => {
  it(
    "sets NODE_ENV to production for modules that load, unless it is set",
    { timeout: 60_000 },
    async ({ application }) => {
      await application.put(
        "src/greet.ts",
        'const loaded = process.env["NODE_ENV"];\nexport async function greet() { return loaded; }\n',
      );
      await application.put("test.env", "NODE_ENV=staging\n");
      for (const [words, env, expected] of [
        [[], {}, "production"],
        [[], { NODE_ENV: "test" }, "test"],
        [["--env-file", "test.env"], {}, "staging"],
      ] as const) {
        const service = application.seamline(["start", ...words], env);
        const [, url = ""] = await service.says(address);
        expect(await get(`${url}/rpc/greet`)).toBe(expected);
        await service.ended("SIGTERM");
      }
    },
  );

  it("logs an unhandled rejection and goes on", { timeout: 60_000 }, async ({ application }) => {
    await application.put(
      "src/greet.ts",
      'export async function greet(name: string) {\n  void Promise.reject(new Error(`lost ${name}`));\n  return "hello";\n}\n',
    );
    const service = application.seamline(["start"]);
    const [, url] = await service.says(address);
    expect(await get(`${url}/rpc/greet?name=Ada`)).toBe("hello");
    await service.says(
      /error: unhandled rejection in \[greet \| v0\.0\.0\]: an await is missing\n {2}Error: lost Ada/,
    );
    expect(await get(`${url}/rpc/greet?name=Bob`)).toBe("hello");
    expect(await service.ended("SIGTERM")).toBe(0);
  });

  it(
    "goes on when nobody reads its log any more, and says so on the output that is left",
    { timeout: 60_000 },
    async ({ application }) => {
      await application.put("seamline.json", {
        mode: "standalone",
        url: anywhere,
        accessLog: true,
      });
      await application.put(
        "src/greet.ts",
        'export async function greet(name: string) {\n  void Promise.reject(new Error(`lost ${name}`));\n  return "hello";\n}\n',
      );
      const service = application.seamline(["start"]);
      const [, url] = await service.says(address);
      service.child.stdout.destroy();
      // The first write may still get into the pipe.
      while (!service.output().includes("stdout can't be written"))
        expect(await get(`${url}/rpc/greet?name=Ada`)).toBe("hello");
      expect(service.output()).toMatch(
        /^warning: stdout can't be written \(EPIPE\): this service goes on without it$/m,
      );
      service.child.stderr.destroy();
      for (let calls = 0; calls < 20; calls++)
        expect(await get(`${url}/rpc/greet?name=Ada`)).toBe("hello");
      expect(await service.ended("SIGTERM")).toBe(0);
    },
  );

  it(
    "builds if necessary, serves, stops on a signal, and reuses the build at the next start",
    { timeout: 60_000 },
    async ({ application }) => {
      const first = application.seamline(["start"]);
      const [, url] = await first.says(address);
      expect(first.output()).toMatch(
        /^there is no build in \.\/dist yet: making one\nstandalone at /,
      );
      expect(await get(`${url}/rpc/greet?name=Ada`)).toBe("Hello Ada!");
      expect(await get(`${url}/`)).toContain("<title>Greeting</title>");
      expect(await application.runTrees()).toHaveLength(1);
      expect(await first.ended("SIGTERM")).toBe(0);
      expect(await application.runTrees()).toEqual([]);

      const second = application.seamline(["start"]);
      const [, again] = await second.says(address);
      expect(await get(`${again}/rpc/greet?name=Ada`)).toBe("Hello Ada!");
      expect(second.output()).toMatch(/^standalone at \S+ .*\n$/);
      expect(await second.ended("SIGINT")).toBe(0);
    },
  );

  it.for(["SIGINT", "SIGTERM"] as const)(
    "stops on %s during the build, and leaves no files",
    { timeout: 60_000 },
    async (signal, { application, expect }) => {
      // Vite's configuration writes the build's process id and then keeps the build waiting.
      await application.put(
        "vite.config.js",
        `import { writeFileSync } from "node:fs";
writeFileSync("builder", String(process.pid));
await new Promise((resolve) => setTimeout(resolve, 60_000));
export default {};
`,
      );
      const command = application.seamline(["start"]);
      const builderOf = async (): Promise<number> =>
        Number(await readFile(join(application.root, "builder"), "utf8"));
      // The file is empty for a moment.
      await expect.poll(builderOf).toBeGreaterThan(0);
      const builder = await builderOf();
      expect(await command.ended(signal)).toBe(0);
      expect(command.output()).toBe(
        `there is no build in ./dist yet: making one\nStopped by ${signal} during the build\n`,
      );
      expect(() => process.kill(builder, 0)).toThrow("ESRCH");
      expect(await readdir(application.root)).not.toContain("dist");
    },
  );

  it(
    "writes an error's file and line in the TypeScript source to the log only",
    { timeout: 60_000 },
    async ({ application }) => {
      await application.put(
        "src/shop/fail.ts",
        "interface Reason {\n  text: string;\n}\nexport async function fail(reason: string | Reason) {\n  throw new Error(`no: ${reason}`);\n}\n",
      );
      await application.put("shop.segment.json", { "./shop/fail": { fail: { access: "public" } } });
      const command = application.seamline(["start"]);
      const [, url] = await command.says(address);
      expect(await get(`${url}/rpc/shop/fail?reason=x`)).toBe("no: x\n[shop/fail | v0.0.0]");
      const [, place] = await command.says(/Error: no: x\n +at .*?\((.*?)\)\n/);
      expect(place).toBe(`${join(application.root, "src/shop/fail.ts")}:5:9`);
      expect(await command.ended("SIGTERM")).toBe(0);
    },
  );

  it(
    "exits with 1 and one message if its port is taken, and leaves nothing running",
    { timeout: 60_000 },
    async ({ application }) => {
      const taken = createServer().listen(0, "127.0.0.1");
      await once(taken, "listening");
      const { port } = taken.address() as { port: number };
      await application.put("gateway.json", { mode: "gateway", url: `http://127.0.0.1:${port}` });
      const command = application.seamline(["start", "--config", "gateway.json"]);
      expect(await command.ended()).toBe(1);
      expect(command.output()).toBe(
        `error: Can't listen at http://127.0.0.1:${port}: port ${port} is used by another process. Stop it, or set another port in 'url'\n`,
      );
      taken.close();
    },
  );

  it(
    "exits with 1 and the build's own message if the build fails",
    { timeout: 60_000 },
    async ({ application }) => {
      await application.put("greet.segment.json", { "./greet": { gret: { access: "public" } } });
      const command = application.seamline(["start"]);
      expect(await command.ended()).toBe(1);
      expect(command.output()).toMatch(
        /error: The build failed\n\nerror: greet\.segment\.json.*gret/s,
      );
      expect(command.output()).not.toMatch(/^ +at /m);
      // No partial build is left for the next start.
      await expect(readFile(join(application.root, "dist/server/manifest.json"))).rejects.toThrow(
        "ENOENT",
      );
    },
  );

  it("exits with 1 and reports every problem of a configuration", async ({ application }) => {
    await application.put("seamline.json", {
      mode: "standalone",
      url: "${URL_OF_THIS}",
      asets: [],
    });
    const command = application.seamline(["start"]);
    expect(await command.ended()).toBe(1);
    expect(command.output()).toBe(
      "error: 2 problems\n\nseamline.json:1:22 at url: the environment variable URL_OF_THIS isn't set\n  → Set it, or give a default: ${URL_OF_THIS:-…}\n\n" +
        "seamline.json:1:45 at asets: unknown key\n  → Did you mean 'assets'?\n",
    );
  });
});

describe.concurrent("a node and its repository, as processes", () => {
  it(
    "exit with 0 on a signal while the node waits for its repository",
    { timeout: 60_000 },
    async ({ application }) => {
      await application.put("node.json", {
        mode: "node",
        url: anywhere,
        repository: "http://127.0.0.1:9",
        segments: ["greet"],
        log: "info",
      });
      const node = application.seamline(["start", "--config", "node.json"]);
      await node.says(/repository/);
      expect(await node.ended("SIGTERM")).toBe(0);
      expect(node.output()).not.toContain("error");
    },
  );

  it(
    "share modules over HTTP, and the node starts from its cache while the repository is unreachable",
    { timeout: 60_000 },
    async ({ application }) => {
      const trustKey = "the-key-of-both-folders";
      const far = await createApplication();
      try {
        await application.put("repository.json", { mode: "repository", url: anywhere, trustKey });
        const repository = application.seamline(["start", "--config", "repository.json"]);
        const [, repositoryUrl] = await repository.says(address);
        // A node needs neither sources nor a build nor Vite in its folder.
        await far.put("seamline.json", {
          mode: "node",
          url: anywhere,
          repository: repositoryUrl,
          segments: ["greet"],
          trustKey,
          log: "info",
        });

        const first = far.seamline(["start"]);
        const [, url] = await first.says(address);
        expect(first.output()).toMatch(/^modules: \d+ fetched \(\d+\.\d kB\), 0 cached\n/);
        expect(await get(`${url}/rpc/greet?name=Ada`)).toBe("Hello Ada!");
        expect(await first.ended("SIGTERM")).toBe(0);

        const second = far.seamline(["start"]);
        await second.says(address);
        expect(second.output()).not.toContain("taken");
        expect(await second.ended("SIGTERM")).toBe(0);

        expect(await repository.ended("SIGTERM")).toBe(0);
        const third = far.seamline(["start"]);
        const [, again] = await third.says(address);
        expect(third.output()).toMatch(
          /^warning: the repository at \S+ refused the connection: starting from the cached revision \w+\n/,
        );
        expect(await get(`${again}/rpc/greet?name=Ada`)).toBe("Hello Ada!");
        expect(await third.ended("SIGTERM")).toBe(0);
      } finally {
        await far.remove();
      }
    },
  );

  it(
    "with different trust keys make the node exit with 1 and a hint",
    { timeout: 60_000 },
    async ({ application }) => {
      await application.put("repository.json", { mode: "repository", url: anywhere });
      const repository = application.seamline(["start", "--config", "repository.json"]);
      const [, repositoryUrl] = await repository.says(address);
      const far = await createApplication();
      try {
        await far.put("seamline.json", {
          mode: "node",
          url: anywhere,
          repository: repositoryUrl,
          segments: ["greet"],
        });
        const node = far.seamline(["start"]);
        expect(await node.ended()).toBe(1);
        expect(node.output()).toMatch(
          /^error: http:\S+ has another trust key: both must have the same trustKey\n$/,
        );
      } finally {
        await far.remove();
      }
    },
  );
});

describe.concurrent("seamline start before the repository", () => {
  it(
    "makes a proxy wait for the modules of its middleware",
    { timeout: 60_000 },
    async ({ application }) => {
      const [files, calls] = [
        `http://127.0.0.1:${await freePort()}`,
        `http://127.0.0.1:${await freePort()}`,
      ];
      await application.put(
        "src/middleware.ts",
        "export default { async handle(...[, , , , next]: [unknown, unknown, unknown, unknown, () => unknown]) { return `${await next()}?`; } };\n",
      );
      const proxy = {
        mode: "proxy",
        url: anywhere,
        node: calls,
        repository: files,
        middleware: ["./src/middleware.ts"],
      };
      await application.put("proxy.json", proxy);
      await application.put("seamline.json", { mode: "repository", url: files });
      await application.put("node.json", {
        mode: "node",
        url: calls,
        repository: files,
        segments: ["greet"],
      });
      expect(await application.seamline(["build"]).ended()).toBe(0);
      const early = application.seamline(["start", "--config", "proxy.json"]);
      await early.says(/refused the connection; trying again/);
      await application.seamline(["start"]).says(address);
      await application.seamline(["start", "--config", "node.json"]).says(address);
      const [, url] = await early.says(/^proxy at (http:\/\/127\.0\.0\.1:\d+)/m);
      expect(await get(`${url}/rpc/greet?name=Ada`)).toBe("Hello Ada!?");
    },
  );
});

describe.concurrent("seamline build, as a process", () => {
  it(
    "leads to a warning at the next start if the sources have changed",
    { timeout: 60_000 },
    async ({ application }) => {
      expect(await application.seamline(["build"]).ended()).toBe(0);
      await application.put(
        "src/loud.ts",
        "export class Loud {\n  constructor(public name: string) {}\n  get text() { return `Hi ${this.name}`; }\n}\n",
      );
      const command = application.seamline(["start", "--no-build"]);
      const [, url] = await command.says(address);
      expect(command.output()).toContain("warning: the build in ./dist is older than the sources.");
      expect(await get(`${url}/rpc/greet?name=Ada`)).toBe("Hello Ada!");
      expect(await command.ended("SIGTERM")).toBe(0);

      const built = application.seamline(["start", "--build"]);
      const [, fresh] = await built.says(address);
      expect(await get(`${fresh}/rpc/greet?name=Ada`)).toBe("Hi Ada");
      expect(await built.ended("SIGTERM")).toBe(0);
      await rm(join(application.root, "dist"), { recursive: true });
      const without = application.seamline(["start", "--no-build"]);
      expect(await without.ended()).toBe(1);
      expect(without.output()).toMatch(
        /^error: There is no build in \.\/dist, and --no-build forbids/,
      );
    },
  );
});

describe.concurrent("seamline dev --env-file", () => {
  it(
    "loads variables as Node does: those that are set stay",
    { timeout: 60_000 },
    async ({ application, expect }) => {
      await application.put("shop.env", 'WAREHOUSE="Mill Lane 3"\nOWNER=nobody\n');
      await application.put("later.env", "FLOOR=2\n");
      await application.put(
        "src/greet.ts",
        "export async function greet(): Promise<unknown> {\n  return [process.env.WAREHOUSE, process.env.OWNER, process.env.FLOOR];\n}\n",
      );
      const session = application.seamline(
        ["dev", "--port", "0", "--env-file", "shop.env", "--env-file", "later.env"],
        { OWNER: "Ada" },
      );
      const [, url] = await session.says(/(http:\/\/localhost:\d+)/);
      await expect
        .poll(() => get(`${url}/rpc/greet`), { timeout: 20_000 })
        .toBe('["Mill Lane 3","Ada","2"]');
      expect(await session.ended("SIGTERM")).toBe(0);
    },
  );

  it(
    "ends if there is no such file, and names it",
    { timeout: 60_000 },
    async ({ application }) => {
      const session = application.seamline(["dev", "--port", "0", "--env-file", "none.env"]);
      // Node 20 reads this option itself, wherever it stands.
      expect(await session.ended()).toBe(process.versions.node.startsWith("20.") ? 9 : 1);
      expect(session.output()).toMatch(
        /none\.env: not found|error: Can't read the variables in .*none\.env \(--env-file\): there is no such file/,
      );
    },
  );
});
