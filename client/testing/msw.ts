// `seamline/testing/msw`: handlers for msw that answer the calls of a front end as the application's services would. The same in browsers
// and on Node, so nothing here may be of Node; msw itself is the user's own.

import { OpaqueClasses } from "../../src/serializer/classes.ts";
import { http, type HttpHandler } from "msw";

import { NotImplemented } from "../../src/errors.ts";
import type { Fakes, ProceduresOf } from "../../src/fake.ts";
import { entryOf, type ClassRecord, type ServerManifest } from "../../src/manifest.ts";
import type { Host, HttpRequest, HttpResponse } from "../../src/ports.ts";
import { rpcPath } from "../../src/protocol.ts";
import { type FakeProcedure, fakeModules, unknownProcedure } from "../../src/roles/fake-modules.ts";
import { ask } from "../../src/roles/memory-network.ts";
import { createNode } from "../../src/roles/node.ts";
import { decodeSegment, pathOf } from "../../src/router.ts";
import { defaultLimits } from "../../src/serializer/limits.ts";
import { readEncoding } from "../../src/wire/decode-call.ts";
import { encodeError } from "../../src/wire/encode-result.ts";

export type { AnyFake, Fake, Fakes, ProceduresOf } from "../../src/fake.ts";

/** Which application the handlers stand for. */
export interface MswOptions {
  /** What is known of the procedures: `dist/server/manifest.json` of a build, or what `readManifest()` of `seamline/testing` gives. */
  readonly manifest: object | Promise<object>;
  /** Address of the service [any origin]. */
  readonly url?: string;
  /** Calls of procedures without a fake: an error that names the procedure, or msw's next handler ["fail"]. */
  readonly unknown?: "fail" | "pass";
  /** Classes whose instances fakes take and give, also of errors. They are known by their names. */
  readonly classes?: readonly (abstract new (...args: never[]) => object)[];
}

/**
 * Handlers by which a front end's tests have the procedures that they name: with their versions, checks of parameters, encodings and
 * errors, and called as from a page. Throws, or fails at the first call, for names that the application doesn't have.
 */
export function mswHandlers<Procedures = ProceduresOf>(
  options: MswOptions,
  fakes: Fakes<NoInfer<Procedures>>,
): HttpHandler[] {
  const { manifest, url = "*", unknown = "fail" } = options;
  const own = new Map(Object.entries(fakes as Readonly<Record<string, FakeProcedure>>));
  // What is wrong is told at once where that can be.
  let started = manifest instanceof Promise ? undefined : start(manifest, own, options);
  // Who waits for it hears of it.
  started?.catch(() => {});
  return [
    http.all(`${url.replace(/\/$/, "")}${rpcPath}*`, async ({ request }) => {
      const role = await (started ??= Promise.resolve(manifest).then(
        async (found) => await start(found, own, options),
      ));
      const { href, origin, host: asked } = new URL(request.url);
      const full = href.slice(origin.length);
      const target = full.slice(full.indexOf(rpcPath));
      const fqn = decodeSegment(pathOf(target).slice(rpcPath.length));
      if (!own.has(fqn) && unknown === "pass") return undefined;
      // Browsers keep the field from scripts.
      const headers = { host: asked, ...Object.fromEntries(request.headers) };
      if (!own.has(fqn) && request.method !== "OPTIONS")
        return responseOf(await missing(fqn, headers));
      const body = new Uint8Array(await request.arrayBuffer());
      return responseOf(await ask(role, request.method, target, headers, body, request.signal));
    }),
  ];
}

type Node = ReturnType<typeof createNode>;

function start(
  given: object,
  fakes: ReadonlyMap<string, FakeProcedure>,
  { classes = [] }: MswOptions,
): Promise<Node> {
  const manifest = checked(given);
  for (const fqn of fakes.keys())
    if (!manifest.procedures.some((one) => one.fqn === fqn))
      throw new Error(unknownProcedure(fqn, manifest.procedures));
  const found = classes.map((one) => ({ record: recordOf(one.name, manifest), constructor: one }));
  const modules = fakeModules({
    manifest: {
      ...manifest,
      classes: found.map(({ record }) => record),
      // Each procedure may have to do with each of them.
      imports: Object.fromEntries(
        manifest.procedures.map(({ module }) => [module, found.map(({ record }) => record.module)]),
      ),
    },
    fakeOf: (record) => fakes.get(record.fqn),
    import: async (file) =>
      Object.fromEntries(
        found
          .filter(({ record }) => entryOf(manifest.modules, record.module)?.file === file)
          .map(({ record, constructor }) => [record.export, constructor]),
      ),
  });
  const segments = Object.keys(manifest.segments);
  // Nobody shows the key: callers are pages.
  const role = createNode(host, {
    trustKey: crypto.randomUUID(),
    limits: defaultLimits,
    // The handlers stand for whatever address they were given.
    web: { hosts: ["*"] },
    gateway: undefined,
    modules,
    segments,
    name: undefined,
  });
  return role.start("http://msw.test").then(() => role);
}

function checked(given: object): ServerManifest {
  const manifest = given as Partial<ServerManifest>;
  if (
    manifest.format !== 1 ||
    !Array.isArray(manifest.procedures) ||
    !Array.isArray(manifest.classes)
  )
    throw new TypeError(
      "'manifest' is no manifest of Seamline: give dist/server/manifest.json, or await readManifest() of 'seamline/testing'",
    );
  return manifest as ServerManifest;
}

function recordOf(name: string, { classes }: ServerManifest): ClassRecord {
  const named = classes.filter(({ key }) => key.slice(key.lastIndexOf("/") + 1) === name);
  const [found] = named;
  if (found === undefined)
    throw new Error(
      `The application exports no class '${name}'; there is ${classes.map(({ key }) => key).join(", ") || "none"}`,
    );
  if (named.length > 1)
    throw new Error(
      `The application has several classes '${name}': ${named.map(({ key }) => key).join(", ")}`,
    );
  return found;
}

async function missing(fqn: string, headers: Record<string, string>): Promise<HttpResponse> {
  const error = new NotImplemented(
    `mswHandlers(…) was given no fake for '${fqn}': give one, or { unknown: "pass" }`,
  );
  host.log.error(error.message);
  return await encodeError(error, readEncoding(headers), {
    classes: new OpaqueClasses(),
    stacks: false,
  });
}

function responseOf({
  status,
  headers,
  body,
}: Pick<HttpResponse, "status" | "headers" | "body"> | Awaited<ReturnType<typeof ask>>): Response {
  const fields = new Headers();
  for (const [name, value] of Object.entries(headers as HttpRequest["headers"]))
    for (const one of typeof value === "string" ? [value] : (value ?? [])) fields.append(name, one);
  const isEmpty = status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : (body as BodyInit), { status, headers: fields });
}

const host: Host = {
  transport: {
    send: async ({ url }) => await Promise.reject(new Error(`A fake of msw calls nothing: ${url}`)),
    close: async () => {},
  },
  names: {
    resolve: async (name) =>
      await Promise.reject(new Error(`A fake of msw looks up no name: ${name}`)),
    own: () => [],
  },
  memory: { hasRoom: () => true },
  clock: {
    now: () => performance.now(),
    after(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  },
  // Nothing of a browser carries a context across an await.
  carrier: { run: (_, act) => act(), current: () => undefined },
  log: {
    info() {},
    // oxlint-disable no-console -- what a fake did wrong is for whoever runs the test, and answers hide it
    warn: (line) => console.warn(`Seamline: ${line}`),
    error: (line, ...cause) => console.error(`Seamline: ${line}`, ...cause),
    // oxlint-enable no-console
  },
  equalSecrets: (one, other) => one === other,
  // Handlers pass no call on, so nobody has to know this value again.
  sign: () => crypto.randomUUID(),
};
