// `seamline/testing/msw`: msw handlers that answer a front end's calls as the application's
// services would. They run in browsers and in Node, so nothing here may use Node's API. Users bring
// their own msw.

import { OpaqueClasses } from "../../src/codec/classes.ts";
import { http, type HttpHandler, type WebSocketHandler, ws } from "msw";

import { NotImplemented } from "../../src/base/errors.ts";
import type { Fakes, ProceduresOf } from "../../src/types/fake.ts";
import { entryOf, type ClassRecord, type ServerManifest } from "../../src/base/manifest.ts";
import { fromStored } from "../../src/codec/stored-manifest.ts";
import type { Host, HttpRequest, HttpResponse, PeerResponse } from "../../src/base/ports.ts";
import { pageLinkPath, rpcPath } from "../../src/base/protocol.ts";
import {
  type FakeProcedure,
  fakeModules,
  unknownProcedure,
} from "../../src/roles/application/fake-modules.ts";
import { exchange } from "../../src/roles/memory-exchange.ts";
import { createNode } from "../../src/roles/node.ts";
import { withoutVersion } from "../../src/base/version.ts";
import { withCallVary } from "../../src/http/answers.ts";
import { decodeSegment, pathOf } from "../../src/http/router.ts";
import { webStream } from "../../src/http/web-messages.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { encodeError } from "../../src/wire/encode-error.ts";
import { refusalEncoding } from "../../src/wire/encoding.ts";

export type { AnyFake, Fake, Fakes, ProceduresOf } from "../../src/types/fake.ts";

/** The application that the handlers stand in for. */
export interface MswOptions {
  /**
   * Describes the procedures: `dist/server/manifest.json` of a build, or the result of
   * `readManifest()` of `seamline/testing`.
   */
  readonly manifest: object | Promise<object>;
  /** Address of the service [any origin]. */
  readonly url?: string;
  /** Calls without a fake get an error that names the procedure, or msw's next handler ["fail"]. */
  readonly unknown?: "fail" | "pass";
  /** Classes, including errors, whose instances fakes take and return; matched by name. */
  readonly classes?: readonly (abstract new (...args: never[]) => object)[];
}

/**
 * Creates handlers for the procedures that `fakes` names, with the versions, parameter checks,
 * encodings and errors that a page would get. Throws for a name that the application doesn't have;
 * if the manifest is a promise, the first call fails instead.
 */
export function mswHandlers<Procedures = ProceduresOf>(
  options: MswOptions,
  fakes: Fakes<NoInfer<Procedures>>,
): (HttpHandler | WebSocketHandler)[] {
  const { manifest, url = "*", unknown = "fail" } = options;
  const fakeByFqn = new Map(Object.entries(fakes as Readonly<Record<string, FakeProcedure>>));
  // With a manifest at hand, mistakes are reported at once.
  let started = manifest instanceof Promise ? undefined : start(manifest, fakeByFqn, options);
  // The calls that await it report the failure.
  started?.catch(() => {});
  const base = url.replace(/\/$/, "");
  return [
    // Without a link, a page's streams are calls by `fetch`. A service that is there would answer over the link
    // without the fakes, and a server that takes no upgrades would make the first stream wait.
    ws
      .link(base.replace(/^http/, "ws") + pageLinkPath)
      .addEventListener("connection", ({ client }) => client.close()),
    http.all(`${base}${rpcPath}*`, async ({ request }) => {
      const role = await (started ??= Promise.resolve(manifest).then(
        async (resolved) => await start(resolved, fakeByFqn, options),
      ));
      const { href, origin, host: authority } = new URL(request.url);
      const pathAndQuery = href.slice(origin.length);
      const target = pathAndQuery.slice(pathAndQuery.indexOf(rpcPath));
      const fqn = withoutVersion(decodeSegment(pathOf(target).slice(rpcPath.length)));
      if (!fakeByFqn.has(fqn) && unknown === "pass") return undefined;
      // Browsers hide the Host header from scripts.
      const headers = { host: authority, ...Object.fromEntries(request.headers) };
      if (!fakeByFqn.has(fqn) && request.method !== "OPTIONS")
        return responseOf(await missing(fqn, headers));
      try {
        const body = new Uint8Array(await request.arrayBuffer());
        const { method, signal } = request;
        return responseOf(await exchange(role, { method, target, headers, body, signal }));
      } catch (error) {
        // The caller has gone. msw would print the rejection as a mistake of its handler.
        if (request.signal.aborted) return Response.error();
        throw error;
      }
    }),
  ];
}

type Node = ReturnType<typeof createNode>;

function start(
  json: object,
  fakes: ReadonlyMap<string, FakeProcedure>,
  { classes = [] }: MswOptions,
): Promise<Node> {
  const manifest = checked(json);
  for (const fqn of fakes.keys())
    if (!manifest.procedures.some((procedure) => procedure.fqn === fqn))
      throw new Error(unknownProcedure(fqn, manifest.procedures));
  const found = classes.map((constructor) => ({
    record: recordOf(constructor.name, manifest),
    constructor,
  }));
  const modules = fakeModules({
    manifest: {
      ...manifest,
      classes: found.map(({ record }) => record),
      // Any procedure may use any of the classes.
      imports: Object.fromEntries(
        manifest.procedures.map(({ module }) => [module, found.map(({ record }) => record.module)]),
      ),
    },
    guarded: false,
    fakeOf: (record) => fakes.get(record.fqn),
    import: async (file) =>
      Object.fromEntries(
        found
          .filter(({ record }) => entryOf(manifest.modules, record.module)?.file === file)
          .map(({ record, constructor }) => [record.export, constructor]),
      ),
  });
  const segments = Object.keys(manifest.segments);
  // Callers are pages, so no request has the key.
  const role = createNode(host, {
    trustKey: crypto.randomUUID(),
    limits: defaultLimits,
    // msw decides which addresses the handlers answer for.
    web: { hosts: ["*"] },
    gateway: undefined,
    modules,
    segments,
    name: undefined,
  });
  return role.start("http://msw.test").then(() => role);
}

function checked(json: object): ServerManifest {
  try {
    const manifest = fromStored(json);
    if (Array.isArray(manifest.procedures) && Array.isArray(manifest.classes))
      return manifest as ServerManifest;
  } catch (error) {
    throw notManifest(`: ${(error as Error).message}`, error);
  }
  throw notManifest("");
}

function notManifest(why: string, cause?: unknown): TypeError {
  return new TypeError(
    `'manifest' is not a Seamline manifest${why}; pass dist/server/manifest.json, or await readManifest() of 'seamline/testing'`,
    { cause },
  );
}

function recordOf(name: string, { classes }: ServerManifest): ClassRecord {
  const named = classes.filter(({ key }) => key.slice(key.lastIndexOf("/") + 1) === name);
  const [found] = named;
  if (found === undefined)
    throw new Error(
      `The application doesn't export a class '${name}'; it exports ${classes.map(({ key }) => key).join(", ") || "none"}`,
    );
  if (named.length > 1)
    throw new Error(
      `The application has several classes named '${name}': ${named.map(({ key }) => key).join(", ")}`,
    );
  return found;
}

async function missing(fqn: string, headers: Record<string, string>): Promise<HttpResponse> {
  const error = new NotImplemented(
    `mswHandlers(…) has no fake for '${fqn}': pass one, or { unknown: "pass" }`,
  );
  host.log.error(error.message);
  const answer = await encodeError(error, refusalEncoding(headers), {
    classes: new OpaqueClasses(),
    stacks: false,
  });
  return withCallVary(answer);
}

function responseOf({
  status,
  headers,
  body,
}: Pick<HttpResponse, "status" | "headers" | "body"> | PeerResponse): Response {
  const fields = new Headers();
  for (const [name, value] of Object.entries(headers as HttpRequest["headers"]))
    for (const text of typeof value === "string" ? [value] : (value ?? []))
      fields.append(name, text);
  const isEmpty = status === 204 || status === 205 || status === 304;
  const isStream = typeof body === "object" && !(body instanceof Uint8Array);
  const content = isStream ? webStream(body) : (body as BodyInit | undefined);
  return new Response(isEmpty ? null : (content ?? null), { status, headers: fields });
}

const host: Host = {
  links: {
    dial: async (base) =>
      await Promise.reject(new Error(`msw handlers don't link to other services: ${base}`)),
    soon: (run) => void setTimeout(run),
  },
  names: {
    resolve: async (name) =>
      await Promise.reject(new Error(`msw handlers don't resolve names: ${name}`)),
  },
  memory: { hasRoom: () => true, fitsAnswer: () => true },
  loop: {
    watch() {},
    unwatch() {},
    delay: () => 0,
    isBusy: () => false,
    turn: (next) => void setTimeout(next),
  },
  clock: {
    now: () => performance.now(),
    after(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  },
  // Browsers can't carry a context across an await.
  carrier: {
    run: (_, act) => act(),
    current: () => undefined,
    snapshot: () => (act) => act(),
  },
  log: {
    info() {},
    // oxlint-disable no-console -- answers hide a fake's mistakes, so the test's output shows them
    warn: (line) => console.warn(`Seamline: ${line}`),
    error: (line, ...cause) => console.error(`Seamline: ${line}`, ...cause),
    // oxlint-enable no-console
  },
  equalSecrets: (a, b) => a === b,
  // Handlers don't forward calls, so no other node has to verify this signature.
  sign: () => crypto.randomUUID(),
  deriveKey: () => crypto.randomUUID(),
  digest: () => crypto.randomUUID(),
};
