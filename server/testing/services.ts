// The services of a test cluster as the test sees them.

import { nearest } from "../../src/base/problem.ts";
import type { HealthCheck } from "../../src/http/health.ts";
import type { RunProcedure } from "../../src/types/imported.ts";
import type { Middleware } from "../../src/http/middleware.ts";
import { type Peer, type PeerResponse, TransportError } from "../../src/base/ports.ts";
import type { ServerModules } from "../../src/roles/application/application.ts";
import type { NodeRole } from "../../src/roles/node.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import type { Service } from "../local/service.ts";
import type { CallRecorder } from "./fakes/calls.ts";
import type { ClusterModules } from "./modules.ts";
import type { TestCaller, TestNode, TestService } from "./test-cluster.ts";

export interface ServiceSurroundings {
  readonly recorder: CallRecorder;
  /** The way of requests from outside the cluster. */
  readonly outside: Peer;
  /** Throws once the cluster has been stopped. */
  readonly assertOpen: () => void;
  /** Lets the cluster's time pass until something is done. */
  readonly passUntil: (done: Promise<void>) => Promise<void>;
}

/** Adds the service to its deployment. `prepare` runs on the role of each start. */
export type AddService<R extends Role> = (prepare: (role: R) => R) => Service<R>;

export class ClusterService<R extends Role = Role> implements TestService {
  readonly #service: Service<R>;
  readonly #surroundings: ServiceSurroundings;
  readonly #middleware: Middleware[] = [];
  readonly #checks: [string, HealthCheck][] = [];

  constructor(surroundings: ServiceSurroundings, add: AddService<R>) {
    this.#surroundings = surroundings;
    this.#service = add((role) => {
      for (const middleware of this.#middleware) role.addMiddleware(middleware);
      for (const [name, check] of this.#checks) role.addHealthCheck(name, check);
      return role;
    });
  }

  get name(): string {
    return this.#service.name;
  }

  get url(): string {
    return this.#service.url;
  }

  get running(): boolean {
    return this.#service.running;
  }

  /** Throws while the service isn't running. */
  protected get role(): R {
    this.#surroundings.assertOpen();
    const { role } = this.#service;
    if (role === undefined) throw new Error(`'${this.name}' is not running: start it with start()`);
    return role;
  }

  async fetch(path: string, init?: RequestInit): Promise<Response> {
    const { outside, recorder, assertOpen } = this.#surroundings;
    assertOpen();
    return await recorder.as("outside", async () => await fetchFrom(outside, this.url, path, init));
  }

  addMiddleware(middleware: Middleware): void {
    this.role.addMiddleware(middleware);
    this.#middleware.push(middleware);
  }

  addHealthCheck(name: string, check: HealthCheck): void {
    this.role.addHealthCheck(name, check);
    this.#checks.push([name, check]);
  }

  kill(): void {
    this.#service.kill();
  }

  async stop(): Promise<void> {
    await this.#surroundings.passUntil(this.role.stop());
    await this.ended();
    this.kill();
  }

  /** After the last call. */
  protected async ended(): Promise<void> {}

  async start(): Promise<void> {
    this.#surroundings.assertOpen();
    if (this.running) throw new Error(`'${this.name}' is running already`);
    await this.#surroundings.recorder.as(this.name, async () => await this.#service.start());
  }
}

export interface NodeParts {
  readonly segments: readonly string[];
  /** The modules of the current life. */
  readonly modules: () => ServerModules;
  readonly graphs: ClusterModules;
}

export class ClusterNode extends ClusterService<NodeRole> implements TestNode {
  readonly segments: readonly string[];
  readonly #parts: NodeParts;

  constructor(surroundings: ServiceSurroundings, add: AddService<NodeRole>, parts: NodeParts) {
    super(surroundings, add);
    this.segments = parts.segments;
    this.#parts = parts;
  }

  readonly import: TestCaller["import"] = async (path: string) => {
    void this.role;
    return (await this.#parts.graphs.import(path, this.#parts.modules())) as never;
  };

  override kill(): void {
    super.kill();
    this.#parts.graphs.forget(this.#parts.modules());
  }

  protected override async ended(): Promise<void> {
    await this.#parts.graphs.stop(this.#parts.modules());
  }

  readonly runProcedure: RunProcedure = async (...call) =>
    (await this.role.runProcedure?.(...call)) as never;
}

/** Sends a request from outside, and converts the answer as global `fetch` does. */
async function fetchFrom(
  peer: Peer,
  base: string,
  path: string,
  init?: RequestInit,
): Promise<Response> {
  if (!path.startsWith("/"))
    throw new TypeError(`The path of a request begins with '/': '/${path}'`);
  const request = new Request(base + path, init);
  const { body } = request;
  let answer: PeerResponse;
  try {
    answer = await peer.send({
      url: request.url,
      method: request.method,
      headers: {
        host: new URL(base).host,
        ...lengthOf(init?.body),
        ...Object.fromEntries(request.headers),
      },
      ...(body === null ? {} : { body }),
      signal: request.signal,
    });
  } catch (cause) {
    throw asFetch(cause, "fetch failed");
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers))
    for (const field of [value ?? []].flat()) headers.append(name, field);
  const isEmpty = [204, 205, 304].includes(answer.status);
  const content =
    answer.body instanceof Uint8Array
      ? new Uint8Array(answer.body)
      : ReadableStream.from(asFetched(answer.body));
  return new Response(isEmpty ? null : content, { status: answer.status, headers });
}

/** The `content-length` that global `fetch` sends if it knows the body's length. */
function lengthOf(body: RequestInit["body"]): Record<string, string> {
  const known = body instanceof URLSearchParams ? body.toString() : body;
  const length =
    typeof known === "string"
      ? Buffer.byteLength(known)
      : known instanceof Blob
        ? known.size
        : known instanceof ArrayBuffer || ArrayBuffer.isView(known)
          ? known.byteLength
          : undefined;
  return length === undefined ? {} : { "content-length": String(length) };
}

async function* asFetched(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    throw asFetch(cause, "terminated");
  }
}

/** An error as global `fetch` words it. */
function asFetch(cause: unknown, message: string): unknown {
  return cause instanceof TransportError ? new TypeError(message, { cause }) : cause;
}

/** The message for a name that the cluster doesn't have. */
export function noService(
  kind: string,
  name: string,
  services: readonly { readonly name: string }[],
): string {
  const names = services.map((service) => service.name);
  const meant = nearest(name, names);
  return `This cluster has no ${kind} '${name}'; ${meant === undefined ? `there is ${names.join(", ") || "none"}` : `did you mean '${meant}'?`}`;
}
