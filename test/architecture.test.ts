import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { frameworkErrors } from "../src/base/errors.ts";
import { hasConsole } from "./_has-console.ts";
import { root, type Source, sourcesIn, ts } from "./_sources.ts";
import type TypeScript from "typescript";

const rooms = {
  src: sourcesIn("src"),
  client: sourcesIn("client"),
  server: sourcesIn("server"),
  console: hasConsole ? sourcesIn("console") : [],
};
const all = Object.values(rooms).flat();

/** Where a room's imports may lead: folders of the project, and packages. */
function strangers(
  sources: readonly Source[],
  folders: readonly string[],
  packages: RegExp,
): string[] {
  return sources.flatMap(({ path, imports }) =>
    imports
      .filter((one) =>
        one.path === undefined
          ? !packages.test(one.specifier)
          : !folders.includes(one.path.split("/")[0] ?? ""),
      )
      .map((one) => `${path} imports ${one.specifier}`),
  );
}

describe("rooms", () => {
  // Development is a build that goes on; its terminal is a part of the command line.
  const inBuild = (source: Source) =>
    /^server\/(?:compile|contract|local|report|testing|types|vite|dev(?!\/terminal))\//.test(
      source.path,
    );

  const ofTypes = (source: Source) => source.path.startsWith("server/types/");

  it("src imports only itself and what is bundled into it", () => {
    expect(
      strangers(rooms.src, ["src"], /^(cookie|path-to-regexp|magic-string|superjson)$/),
    ).toEqual([]);
  });

  it("client imports src and the browser's storage; what is for tests, also msw", () => {
    const forTests = (source: Source) => source.path.startsWith("client/testing/");
    expect(strangers(rooms.client.filter(forTests), ["src"], /^msw$/)).toEqual([]);
    const sources = rooms.client.filter((source) => !forTests(source));
    expect(strangers(sources, ["client", "src"], /^idb-keyval$/)).toEqual([]);
    expect(
      sources.filter(({ imports }) =>
        imports.some((one) => one.path?.startsWith("client/testing/")),
      ),
    ).toEqual([]);
  });

  it("server imports src, Node and its own libraries; vite only in its build, so that a production role never loads it", () => {
    const own =
      /^(node:.*|commander|@opentelemetry\/api|@nats-io\/(?:transport-node|jetstream|kv)|valibot|picomatch|@fastify\/send|path-to-regexp|ws)$/;
    const sources = rooms.server.filter((source) => !inBuild(source));
    expect(strangers(sources, ["server", "src"], own)).toEqual([]);
    expect(
      strangers(
        rooms.server.filter((source) => inBuild(source) && !ofTypes(source)),
        ["server", "src"],
        /^(node:.*|vite|vite\/module-runner|magic-string|picomatch)$/,
      ),
    ).toEqual([]);
  });

  it("types of the compiler are imported where types are read, and nothing else of it is: the application has it", () => {
    expect(
      strangers(rooms.server.filter(ofTypes), ["server", "src"], /^(node:.*|typescript)$/),
    ).toEqual([]);
    const importers = rooms.server.flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier }) => specifier === "typescript")
        .map(({ typeOnly }) => `${path}${typeOnly ? "" : " at run time"}`),
    );
    expect(importers).toEqual(["server/types/programs.ts", "server/types/read-types.ts"]);
  });

  it("nothing but a lazy import leads from a role to the build", () => {
    const eager = rooms.server
      .filter((source) => !inBuild(source) && !source.path.startsWith("server/cli/"))
      .flatMap(({ path, imports }) =>
        imports
          .filter(
            (one) =>
              /^server\/(?:compile|dev(?!\/terminal)|report|types|vite)\//.test(one.path ?? "") &&
              !one.typeOnly &&
              !one.lazy,
          )
          .map((one) => `${path} imports ${one.path}`),
      );
    expect(eager).toEqual([]);
  });

  it("the demo knows the package by its name only", () => {
    const leaving = sourcesIn("demo").flatMap(({ path, imports }) =>
      imports
        .filter((one) => one.path !== undefined && !one.path.startsWith("demo/"))
        .map((one) => `${path} imports ${one.specifier}`),
    );
    expect(leaving).toEqual([]);
  });
});

describe("folders", () => {
  // Each folder imports only from those before it, types included. The references in the folders'
  // tsconfig.json files say the same to the compiler. "" stands for the files beside the folders.
  const order = {
    src: ["base", "http", "link", "types", "codec", "runtime", "wire", "roles", "split", ""],
    server: [
      "base",
      "types",
      "contract",
      "config",
      "host",
      "http",
      "telemetry",
      "files",
      "console",
      "modules",
      "directory",
      "start",
      "",
      "compile",
      "local",
      "dev",
      "vite",
      "report",
      "cli",
      "testing",
    ],
  };
  const folderOf = (path: string) => path.split("/").slice(1, -1)[0] ?? "";

  it.each(["src", "server"] as const)("of %s are all in the order", (room) => {
    const folders = new Set(rooms[room].map(({ path }) => folderOf(path)));
    expect([...folders].toSorted()).toEqual(order[room].toSorted());
  });

  it.each(["src", "server"] as const)("of %s import only from folders before them", (room) => {
    const rank = (path: string) => order[room].indexOf(folderOf(path));
    const upwards = rooms[room].flatMap(({ path, imports }) =>
      imports
        .filter((one) => one.path?.startsWith(`${room}/`) && rank(one.path) > rank(path))
        .map((one) => `${path} imports ${one.specifier}`),
    );
    expect(upwards).toEqual([]);
  });

  it("never import each other, directly or by way of others; types count too", () => {
    const led = new Map<string, Set<string>>();
    const folder = (path: string) => path.slice(0, path.lastIndexOf("/"));
    for (const { path, imports } of Object.values(rooms).flat())
      for (const { path: to } of imports)
        if (to !== undefined && folder(to) !== folder(path))
          led.set(folder(path), (led.get(folder(path)) ?? new Set()).add(folder(to)));
    const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
      [...(led.get(from) ?? [])].some((next) => {
        if (next === to) return true;
        if (seen.has(next)) return false;
        seen.add(next);
        return reaches(next, to, seen);
      });
    expect([...led.keys()].filter((from) => reaches(from, from))).toEqual([]);
  });

  it("of the build import only from those before them: it reads, cuts, judges, and writes", () => {
    const steps = ["read", "cut", "rules", "", "write", "plugin"];
    const stepOf = (path: string) => steps.indexOf(path.split("/").slice(2, -1)[0] ?? "");
    const upwards = rooms.server
      .filter(({ path }) => path.startsWith("server/compile/"))
      .flatMap(({ path, imports }) =>
        imports
          .filter(
            (one) => one.path?.startsWith("server/compile/") && stepOf(one.path) > stepOf(path),
          )
          .map((one) => `${path} imports ${one.specifier}`),
      );
    expect(upwards).toEqual([]);
  });

  it("Roles and the splitter don't import each other", () => {
    const across = rooms.src.flatMap(({ path, imports }) =>
      imports
        .filter((one) => folderOf(path) === "split" && folderOf(one.path ?? "") === "roles")
        .map((one) => `${path} imports ${one.specifier}`),
    );
    expect(across).toEqual([]);
  });
});

describe("the console", () => {
  /** Paths of the console that a file names in any string, as imports and globs do. */
  function consolePathsIn({ path, tree }: Source): string[] {
    const found: string[] = [];
    const visit = (node: TypeScript.Node): void => {
      if (ts.isStringLiteralLike(node) && node.text.startsWith(".")) {
        const named = posix.join(posix.dirname(path), node.text);
        if (named === "console" || named.startsWith("console/")) found.push(named);
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);
    return found;
  }

  it("is named by the file that loads it, and by no other", () => {
    const naming = [...rooms.src, ...rooms.client, ...rooms.server].flatMap((source) =>
      consolePathsIn(source).map((named) => `${source.path} names ${named}`),
    );
    expect(naming).toEqual(["server/console/load-console.ts names console/server/console.ts"]);
  });

  it("imports the vocabulary of the core, the port of observers and its own, and its page the vocabulary alone", () => {
    const others = rooms.console.flatMap(({ path, imports }) => {
      const may = path.startsWith("console/page/")
        ? /^(?:console\/(?!server\/)|src\/(?:base|types)\/)/
        : /^(?:console\/(?!page\/)|src\/(?:base|http|types)\/|src\/roles\/pipeline\/observer\.ts$|server\/console\/console-port\.ts$)/;
      return imports
        .filter((one) => one.path === undefined || !may.test(one.path))
        .map(({ specifier }) => `${path} imports ${specifier}`);
    });
    expect(others).toEqual([]);
  });
});

describe("NATS", () => {
  const elsewhere = all.filter(({ path }) => !path.startsWith("server/directory/nats/"));

  it("is named in its folder, by the key of configurations, and by the file that opens directories", () => {
    // The types of configurations are written from their schema.
    expect(elsewhere.filter(({ text }) => /nats/i.test(text)).map(({ path }) => path)).toEqual([
      "server/config/config-schema.ts",
      "server/config/config-types.ts",
      "server/directory/open-directory.ts",
    ]);
  });

  it("is imported by one file, and its packages by none outside of its folder", () => {
    const importing = elsewhere.flatMap(({ path, imports }) =>
      imports
        .filter(
          (one) =>
            one.path?.startsWith("server/directory/nats/") || one.specifier.startsWith("@nats-io/"),
        )
        .map(({ specifier }) => `${path} imports ${specifier}`),
    );
    expect(importing).toEqual(["server/directory/open-directory.ts imports ./nats/open.ts"]);
  });
});

it("A start loads no code that few starts need", () => {
  const sources = new Map(all.map((source) => [source.path, source]));
  const loaded = new Set<string>();
  /** Adds the modules that an import loads before its code runs. */
  const load = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const one of sources.get(path)?.imports ?? [])
      if (one.path !== undefined && !one.typeOnly && !one.lazy) load(one.path);
  };
  load("server/cli/cli.ts");
  load("server/cli/start.ts");
  const rare = [
    "server/cli/program.ts",
    "server/config/tls.ts",
    "server/directory/open-directory.ts",
    "server/files/file-answer.ts",
    "server/modules/configured-modules.ts",
    "server/modules/error-location.ts",
    "server/modules/load-failure.ts",
    "server/telemetry/telemetry.ts",
    "server/console/load-console.ts",
    "src/codec/superjson/superjson.ts",
    "src/roles/relay/through-middleware.ts",
    "src/runtime/segment.ts",
  ];
  expect(rare.filter((path) => !sources.has(path))).toEqual([]);
  expect(loaded).toContain("src/roles/gateway.ts");
  expect(rare.filter((path) => loaded.has(path))).toEqual([]);
});

it("No file imports itself through others; types count too", () => {
  const graph = new Map(
    all.map(({ path, imports }) => [path, imports.flatMap((one) => one.path ?? [])]),
  );
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) cycles.push([...way.slice(way.indexOf(path)), path].join(" → "));
    if (done.has(path) || way.includes(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...way, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  expect(cycles).toEqual([]);
});

it("Whether a link is carried by a socket or a WebSocket is decided in server/http/links alone", () => {
  const makers = /^server\/http\/links\/(?:socket-channel|web-socket-channel|upgrades)\.ts$/;
  const importers = all
    .filter(({ imports }) => imports.some(({ path = "" }) => makers.test(path)))
    .map(({ path }) => path);
  expect(importers.filter((path) => !path.startsWith("server/http/links/"))).toEqual([]);
});

describe("public names", () => {
  // Each is a promise to users: one that is new or gone changes this list, and the CHANGELOG.
  const names = (...lists: string[]) => lists.join(" ").split(" ").toSorted();
  const errors = [
    "BadGateway BadRequest DeadlineExceeded FileNotFound Forbidden InvalidParameterValue InvalidSerializedValue InvalidVersionNumber",
    "LoopDetected MethodNotAllowed MiddlewareNotCompleted MisdirectedRequest MissingParameterValue NodeNotAvailable NotAcceptable NotFound NotImplemented",
    "PayloadTooLarge PaymentRequired ProcedureNotFound RequestHeaderFieldsTooLarge RequestTimeout SegmentNotFound ServiceError statusOf",
    "Teapot TooManyStreams Unauthorized UnknownParameter UnsupportedEncoding ValueNotSerializable",
  ];
  const graph = "Graph Seam SeamHost SeamRecord createGraph";
  const generated = "begun context seam traced";
  // /svc/remote.js must have the same classes and marks as the runtime that it belongs to.
  const lent =
    "Context TransportError emptyContext errorOf frameworkErrors isContext ranOn setRanOn setTrace snapshot";
  const hooks = "onStop runProcedure startClient withOptions";
  const fakes = "AnyFake Fake Fakes ProceduresOf";
  const program = ts.createProgram(
    [
      "server/main.ts",
      "client/index.ts",
      "client/seamline.ts",
      "client/client.ts",
      "client/hooks.ts",
      "src/internal.ts",
      "src/types/constraints.ts",
      "server/index.ts",
      "server/vite/index.ts",
      "server/testing/index.ts",
      "client/testing/msw.ts",
    ].map((file) => join(root, file)),
    {
      allowImportingTsExtensions: true,
      module: ts.ModuleKind.NodeNext,
      noEmit: true,
      target: ts.ScriptTarget.ES2023,
      types: ["node"],
    },
  );

  function exportsOf(file: string): string[] {
    const checker = program.getTypeChecker();
    const source = program.getSourceFile(join(root, file));
    const symbol = source && checker.getSymbolAtLocation(source);
    return symbol
      ? checker
          .getExportsOfModule(symbol)
          .map((one) => one.name)
          .toSorted()
      : [];
  }

  it("every error of the framework has its class's name among them", () => {
    expect(names(...errors)).toEqual([...frameworkErrors.keys(), "statusOf"].toSorted());
  });

  it.each([
    [
      "seamline",
      "server/main.ts",
      [
        ...errors,
        "Args CallHeaders CallOptions CallResponse Checked Context CookieOptions CorsMiddleware CorsOptions HealthCheck Locals MaybeContext",
        "Middleware OptionHeaders OuterRequest Procedure RequestCookies ResponseCookies ResponseHeaders RunProcedure StandardSchema Stream Version WithOptions",
        "checked getContext onStop parseVersion runProcedure traceOf withId withOptions",
      ],
    ],
    [
      "seamline/client",
      "client/index.ts",
      [
        "Client ClientOptions Imported Modules ObservedCall Outdated OutdatedEvent PageHeaders StartClient startClient",
      ],
    ],
    [
      "seamline in a browser",
      "client/seamline.ts",
      [...errors, "checked getContext onStop parseVersion runProcedure traceOf withId withOptions"],
    ],
    ["seamline/internal", "src/internal.ts", [graph, "begun"]],
    [
      "seamline/types",
      "src/types/constraints.ts",
      ["Format Int Max MaxLength Min MinLength Pattern"],
    ],
    [
      "/svc/client.js",
      "client/client.ts",
      [...errors, generated, hooks, lent, "checked getContext parseVersion traceOf withId"],
    ],
    ["/svc/hooks.js", "client/hooks.ts", [hooks]],
    [
      "seamline/server",
      "server/index.ts",
      [
        "CallerInfo Config ConfigInput Handler HandlerOptions ModuleImporter Problem Problems Server ServerInfo ServerOptions createHandler defineConfig startServer",
      ],
    ],
    ["seamline/vite", "server/vite/index.ts", ["SeamlineOptions seamline"]],
    [
      "seamline/testing",
      "server/testing/index.ts",
      [
        fakes,
        "CallFilter FailOptions Failure FakeOptions ManifestOptions RecordedCall Restore TestCaller TestClock TestCluster TestClusterOptions",
        "TestLog TestNode TestPage TestService createTestCluster readManifest",
      ],
    ],
    ["seamline/testing/msw", "client/testing/msw.ts", [fakes, "MswOptions mswHandlers"]],
  ])("%s", (_, file, expected) => {
    expect(exportsOf(file)).toEqual([...new Set(names(...expected))]);
  });
});

describe("walls that the compiler keeps", () => {
  // A file that isn't there, as if it stood in the room: what the room's own project says about it.
  function complaints(room: string, text: string): string[] {
    const config = ts.getParsedCommandLineOfConfigFile(
      join(root, room, "tsconfig.json"),
      {},
      { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} },
    );
    if (config === undefined) throw new Error(`${room} has no tsconfig.json`);
    const file = join(root, room, "probe.ts");
    const host = ts.createCompilerHost(config.options);
    const { fileExists, getSourceFile, readFile } = host;
    host.fileExists = (path) => path === file || fileExists(path);
    host.readFile = (path) => (path === file ? text : readFile(path));
    host.getSourceFile = (path, target, ...rest) =>
      path === file
        ? ts.createSourceFile(path, text, target)
        : getSourceFile(path, target, ...rest);
    const program = ts.createProgram(
      [file],
      { ...config.options, composite: false, incremental: false, noEmit: true },
      host,
    );
    return program
      .getSemanticDiagnostics(program.getSourceFile(file))
      .map((one) => ts.flattenDiagnosticMessageText(one.messageText, "\n"));
  }

  it.each([
    ["src", 'export { readFile } from "node:fs/promises";'],
    ["src", "export const one: unknown = Buffer;"],
    ["src", "export const one: unknown = process;"],
    ["src", "export const one: unknown = document;"],
    ["client", 'export { readFile } from "node:fs/promises";'],
    ["client", "export const one: unknown = process;"],
    ["server", "export const one: unknown = document;"],
    ["server", "export const one: unknown = window;"],
  ])("%s refuses %s", (room, text) => {
    expect(complaints(room, text)).toEqual([expect.stringMatching(/Cannot find (name|module)/)]);
  });

  it.each([
    ["src", "export const one: unknown = [URL, fetch, TextEncoder, AbortSignal];"],
    ["client", "export const one: unknown = [document, window, fetch];"],
    [
      "server",
      'import { readFile } from "node:fs/promises"; export const one: unknown = [readFile, Buffer, process];',
    ],
  ])("%s takes %s", (room, text) => {
    expect(complaints(room, text)).toEqual([]);
  });
});
