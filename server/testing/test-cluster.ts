// The interface of a test cluster.

import type { AnyFake, Fake, Fakes, ProceduresOf } from "../../src/types/fake.ts";
import type { HealthCheck } from "../../src/http/health.ts";
import type { Imported, ModuleAt, Modules, RunProcedure } from "../../src/types/imported.ts";
import type { Middleware } from "../../src/http/middleware.ts";
import type { OwnImporter } from "./application.ts";
import type { RecordedCall } from "./fakes/calls.ts";
import type { FailOptions, Failure } from "../local/failures.ts";
import type { FakeOptions, Restore } from "./fakes/fakes.ts";
import type { TestClock } from "./test-clock.ts";
import type { TestLog } from "./test-log.ts";

/** Where calls can be made from. */
export interface TestCaller {
  /**
   * The module at `path`, relative to the source folder, as this caller has it: remote procedures
   * are called where they are. Typed by `.seamline/modules.d.ts`, or by a type argument:
   * `import<typeof import("../src/shop/quote.ts")>("./shop/quote")`.
   */
  // oxlint-disable-next-line typescript/no-redundant-type-constituents -- empty here, and filled in an application
  import<Module = never, const Path extends keyof Modules | (string & {}) = string>(
    path: Path,
  ): Promise<Imported<[Module] extends [never] ? ModuleAt<Path> : Module>>;
  /** Calls a procedure by its name. */
  readonly runProcedure: RunProcedure;
}

/** The page of a cluster. */
export interface TestPage extends TestCaller {
  /** Its cookies by name. Calls send them, and answers set them, also those that scripts can't read. */
  readonly cookies: Map<string, string>;
}

/** A service of the cluster. */
export interface TestService {
  readonly name: string;
  /** Its address, which exists only inside the cluster. */
  readonly url: string;
  readonly running: boolean;
  /** Sends a request to this service from outside, as `curl` would. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  addMiddleware(middleware: Middleware): void;
  addHealthCheck(name: string, check: HealthCheck): void;
  /** Ends it as a power cut does: the gateway isn't notified, and running calls get no answer. */
  kill(): void;
  /**
   * Ends it as a deploy does: it leaves its gateway first. The cluster's clock advances a second.
   */
  stop(): Promise<void>;
  /** Starts it again with new modules. Resolves when it answers. */
  start(): Promise<void>;
}

/** A service that holds segments, and calls procedures. */
export interface TestNode extends TestService, TestCaller {
  readonly segments: readonly string[];
}

/** Which application a test cluster runs, and where its segments are. */
export interface TestClusterOptions<Procedures = ProceduresOf> {
  /** The application folder [the working directory]. */
  readonly root?: string;
  /** Module paths start here, relative to `root` [./src]. */
  readonly source?: string;
  /** The segments of each node, by its name [a node for each segment that isn't for browsers]. */
  readonly nodes?: Readonly<Record<string, string | readonly string[]>>;
  /** Segments that the page loads [none]. */
  readonly page?: readonly string[];
  /** Segments that browsers may load [those that the application's pages start]. */
  readonly browserSegments?: readonly string[];
  /** Fakes that apply from the start. A module whose procedures are all faked isn't loaded. */
  readonly fakes?: Fakes<Procedures>;
  /** The clock of all services [a new one]. It stands still until the test advances it. */
  readonly clock?: TestClock;
  /** The log of all services [a new one]. */
  readonly log?: TestLog;
  /**
   * A configuration (`mode` and `url` are optional) or its file. Its middleware and health checks
   * apply to the gateway, as do its `errors`, and its limits to all services.
   */
  readonly config?: string | object;
  /** Vite's configuration file, relative to `root`; `false`: none [the one that Vite finds]. */
  readonly viteConfig?: string | false;
  /**
   * Imports a module as the test does, so that both share its classes [Vitest's importer under
   * Vitest].
   */
  readonly importer?: OwnImporter;
}

/** Which calls {@link TestCluster.calls} returns. */
export interface CallFilter {
  readonly fqn?: string;
  readonly where?: string;
  readonly from?: string;
}

/** The fake for a type argument: of a function, or of a module that has the function. */
type FakeFor<Given> = [Given] extends [never]
  ? AnyFake
  : Given extends (...args: never[]) => unknown
    ? Fake<Given>
    : { [Name in keyof Given]: Fake<Given[Name]> }[keyof Given];

/** Keeps a name whose type is known from matching the overload without one. */
type Untyped<Fqn, Given, Procedures> = [Given] extends [never]
  ? Fqn extends keyof Procedures
    ? never
    : unknown
  : unknown;

/** A running cluster. Calls made through it come from a trusted service without segments. */
export interface TestCluster<Procedures = ProceduresOf> extends TestCaller, AsyncDisposable {
  readonly clock: TestClock;
  readonly log: TestLog;
  readonly gateway: TestService;
  readonly nodes: readonly TestNode[];
  /**
   * The page. It holds the segments that `page` names, and calls as a browser does, without trust.
   */
  readonly page: TestPage;
  /** Throws if there is no such node, and suggests the nearest name. */
  node(name: string): TestNode;
  /**
   * Sends a request to the gateway from outside: `await cluster.fetch("/rpc/shop/quote?sku=felt")`.
   */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Replaces a procedure by a function wherever it runs, even if no node holds it. */
  fake<Fqn extends keyof Procedures & string>(
    fqn: Fqn,
    fake: Fake<Procedures[Fqn]>,
    options?: FakeOptions,
  ): Restore;
  fake<Given = never, const Fqn extends string = string>(
    fqn: Fqn & Untyped<Fqn, Given, Procedures>,
    fake: FakeFor<Given>,
    options?: FakeOptions,
  ): Restore;
  /** Makes requests to a service fail or arrive late. */
  fail(service: string, failure: Failure, options?: FailOptions): Restore;
  /**
   * Calls of procedures since the start or the last {@link TestCluster.forget}, in order of their
   * start.
   */
  calls(filter?: string | CallFilter): readonly RecordedCall[];
  forget(): void;
  stop(): Promise<void>;
}
