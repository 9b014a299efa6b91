// The places of a test cluster: services that answer, and callers that only call.

import type { Imported, ModuleAt, Modules, RunProcedure } from "../../src/imported.ts";
import type { HealthCheck } from "../../src/health.ts";
import type { Middleware } from "../../src/middleware.ts";
import { entryOf, type ServerManifest } from "../../src/manifest.ts";
import {
  type Host,
  type IncomingResponse,
  type Log,
  type ModuleNamespace,
  type Transport,
  TransportError,
} from "../../src/ports.ts";
import { nearest } from "../../src/problem.ts";
import type { ServerModules } from "../../src/roles/load-node.ts";
import type { Role } from "../../src/roles/role.ts";
import type { Modules as SourceModules } from "../build/modules.ts";
import { createCarrier, equalSecrets, sign, unbounded } from "../host.ts";
import type { CallRecorder } from "./calls.ts";
import type { FailingNetwork } from "./failures.ts";
import type { TestClock } from "./test-clock.ts";

/** Where calls can be made from. */
export interface TestCaller {
  /**
   * The module at `path`, relative to the source folder, as this place has it: a procedure that is elsewhere is called there. Typed by
   * `.seamline/modules.d.ts`, or by what is given: `import<typeof import("../src/shop/quote.ts")>("./shop/quote")`.
   */
  // oxlint-disable-next-line typescript/no-redundant-type-constituents -- it is empty here, and filled in an application
  import<Module = never, const Path extends keyof Modules | (string & {}) = string>(
    path: Path,
  ): Promise<Imported<[Module] extends [never] ? ModuleAt<Path> : Module>>;
  /** Calls a procedure by its name (§4.6). */
  readonly runProcedure: RunProcedure;
}

/** A service of the cluster. */
export interface TestService {
  readonly name: string;
  /** Where it would listen; only inside the cluster. */
  readonly url: string;
  readonly running: boolean;
  /** Asks this service itself, from outside, as `curl` would. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  addMiddleware(middleware: Middleware): void;
  addHealthCheck(name: string, check: HealthCheck): void;
  /** Ends it as a power cut does: it tells nobody, and what it was doing gets no answer. */
  kill(): void;
  /** Ends it as a deploy does: it leaves its gateway first. A second of the cluster's clock passes. */
  stop(): Promise<void>;
  /** Starts it again, with modules that are new; resolves when it answers. */
  start(): Promise<void>;
}

/** A node: a service that holds segments, and that calls. */
export interface TestNode extends TestService, TestCaller {
  readonly segments: readonly string[];
}

/** What every place is lent. */
export interface Surroundings {
  readonly network: FailingNetwork;
  readonly clock: TestClock;
  readonly log: Log;
  readonly recorder: CallRecorder;
  readonly sources: SourceModules;
  /** Throws once the cluster has been stopped. */
  readonly alive: () => void;
  /** Lets time pass until something is done. */
  readonly until: (done: Promise<void>) => Promise<void>;
}

/** The address of a place. A segment's name may have letters that hosts can't have, or don't tell apart: `valueOf` and `valueof` are two. */
export function urlOf(name: string): string {
  return `http://${name.replace(/[^a-z0-9-]/gu, (letter) => `_${letter.codePointAt(0)?.toString(16)}_`)}.test`;
}

/** The name of the place at an address. */
export function placeAt(origin: string): string {
  const host = new URL(origin).hostname.replace(/\.test$/, "");
  return host.replace(/_([\da-f]+)_/g, (_, code: string) =>
    String.fromCodePoint(Number.parseInt(code, 16)),
  );
}

/** One life of a place: what is over hears and says nothing any more. */
export interface Life {
  over: boolean;
}

/** The ports of one place, as long as it lives. */
export function hostOf(
  name: string,
  { network, clock, log, recorder }: Surroundings,
  life: Life = { over: false },
): Host {
  const transport = network.transport(name);
  const say = (level: "info" | "warn" | "error") => (line: string, cause?: unknown) =>
    life.over ? undefined : log[level](`${name}: ${line}`, cause);
  return {
    transport: {
      async send(request) {
        if (life.over) throw new TransportError(`${name} was killed`, false);
        return await recorder.as(name, async () => await transport.send(request));
      },
      close: transport.close,
    },
    names: network.names,
    clock: {
      now: () => clock.now(),
      after: (ms, run) => clock.after(ms, () => (life.over ? undefined : recorder.as(name, run))),
    },
    carrier: createCarrier(),
    log: { info: say("info"), warn: say("warn"), error: say("error") },
    memory: unbounded,
    equalSecrets,
    sign,
  };
}

export interface ServiceParts {
  readonly name: string;
  readonly surroundings: Surroundings;
  /** Composes the role of one life. */
  readonly compose: (host: Host) => Role;
}

export class Service implements TestService {
  readonly name: string;
  readonly url: string;
  readonly #parts: ServiceParts;
  readonly #layers: Middleware[] = [];
  readonly #checks: [string, HealthCheck][] = [];
  #role: Role | undefined;
  #life: Life = { over: true };

  constructor(parts: ServiceParts) {
    this.name = parts.name;
    this.url = urlOf(parts.name);
    this.#parts = parts;
  }

  get running(): boolean {
    return !this.#life.over;
  }

  /** The role of this life; throws in between. */
  protected role(): Role {
    this.#parts.surroundings.alive();
    if (this.#role === undefined || this.#life.over)
      throw new Error(`'${this.name}' is not running: start it with start()`);
    return this.#role;
  }

  async fetch(path: string, init?: RequestInit): Promise<Response> {
    const { network, recorder, alive } = this.#parts.surroundings;
    alive();
    return await recorder.as(
      "outside",
      async () => await fetched(network.transport("outside"), this.url, path, init),
    );
  }

  addMiddleware(middleware: Middleware): void {
    this.role().addMiddleware(middleware);
    this.#layers.push(middleware);
  }

  addHealthCheck(name: string, check: HealthCheck): void {
    this.role().addHealthCheck(name, check);
    this.#checks.push([name, check]);
  }

  kill(): void {
    if (this.#life.over) return;
    const { network } = this.#parts.surroundings;
    this.#life.over = true;
    network.roles.delete(this.url);
    network.cut(this.name);
  }

  async stop(): Promise<void> {
    const role = this.role();
    await this.#parts.surroundings.until(role.stop());
    this.kill();
  }

  async start(): Promise<void> {
    const { surroundings, compose } = this.#parts;
    surroundings.alive();
    if (this.running) throw new Error(`'${this.name}' is running already`);
    const life: Life = { over: false };
    const role = compose(hostOf(this.name, surroundings, life));
    for (const layer of this.#layers) role.addMiddleware(layer);
    for (const [name, check] of this.#checks) role.addHealthCheck(name, check);
    this.#life = life;
    this.#role = role;
    surroundings.network.roles.set(this.url, role);
    try {
      await surroundings.recorder.as(this.name, async () => await role.start(this.url));
    } catch (error) {
      this.kill();
      throw error;
    }
  }
}

/** A node; `modules` are those of the life that it has. */
export class Node extends Service implements TestNode {
  readonly segments: readonly string[];
  readonly #modules: () => ServerModules;
  readonly #sources: SourceModules;

  constructor(
    parts: ServiceParts & {
      readonly segments: readonly string[];
      readonly modules: () => ServerModules;
    },
  ) {
    super(parts);
    this.segments = parts.segments;
    this.#modules = parts.modules;
    this.#sources = parts.surroundings.sources;
  }

  readonly import: TestCaller["import"] = async (path: string) => {
    this.role();
    return (await importModule(path, this.#modules(), this.#sources)) as never;
  };

  readonly runProcedure: RunProcedure = async (...call) =>
    (await this.role().runProcedure?.(...call)) as never;
}

/** A module by its path in the source folder. Throws what names the nearest one. */
export async function importModule(
  path: string,
  modules: ServerModules,
  sources: SourceModules,
): Promise<ModuleNamespace> {
  const found = sources.find(path);
  if (found === undefined) {
    const known = [...sources.ids].map((id) => `./${id}`);
    const meant = nearest(path, known);
    throw new Error(
      `'${path}' is no module of the source folder${meant === undefined ? "" : `; did you mean '${meant}'?`}`,
    );
  }
  const manifest: ServerManifest = await modules.manifest();
  return await modules.import(entryOf(manifest.modules, found.id)?.file ?? found.file);
}

/** A request from outside, as `fetch` would make it. */
async function fetched(
  transport: Transport,
  base: string,
  path: string,
  init?: RequestInit,
): Promise<Response> {
  if (!path.startsWith("/"))
    throw new TypeError(`The path of a request begins with '/': '/${path}'`);
  const request = new Request(base + path, init);
  const body = new Uint8Array(await request.arrayBuffer());
  let answer: IncomingResponse;
  try {
    answer = await transport.send({
      url: request.url,
      method: request.method,
      headers: { host: new URL(base).host, ...Object.fromEntries(request.headers) },
      ...(body.length === 0 ? {} : { body }),
      signal: request.signal,
    });
  } catch (cause) {
    throw cause instanceof TransportError ? new TypeError("fetch failed", { cause }) : cause;
  }
  const fields = new Headers();
  for (const [name, value] of Object.entries(answer.headers))
    for (const one of typeof value === "string" ? [value] : (value ?? [])) fields.append(name, one);
  const isEmpty = [204, 205, 304].includes(answer.status);
  return new Response(isEmpty ? null : new Uint8Array(answer.body), {
    status: answer.status,
    headers: fields,
  });
}
