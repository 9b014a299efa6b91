// What a test cluster is to those who write tests.

import type { AnyFake, Fake, Fakes, ProceduresOf } from "../../src/fake.ts";
import type { OwnImporter } from "./application.ts";
import type { RecordedCall } from "./calls.ts";
import type { FailOptions, Failure } from "./failures.ts";
import type { FakeOptions, Restore } from "./fakes.ts";
import type { TestCaller, TestNode, TestService } from "./places.ts";
import type { TestClock } from "./test-clock.ts";
import type { TestLog } from "./test-log.ts";

/** What a test cluster is made of. */
export interface TestClusterOptions<Procedures = ProceduresOf> {
  /** The application folder [the working directory]. */
  readonly root?: string;
  /** Module paths start here, relative to `root` [./src]. */
  readonly source?: string;
  /** Nodes by name, with the segments that each holds [one for each segment that is not the page's, named as the segment]. */
  readonly nodes?: Readonly<Record<string, string | readonly string[]>>;
  /** Segments that the page loads [none]. */
  readonly page?: readonly string[];
  /** Segments that browsers may load [those that the application's pages start]. */
  readonly clients?: readonly string[];
  /** Fakes that are there before anything is loaded: a module of which every procedure is faked is left alone. */
  readonly fakes?: Fakes<Procedures>;
  /** Of every place [one of its own]. It stands until it is told to go on. */
  readonly clock?: TestClock;
  /** What every place says [one of its own]. */
  readonly log?: TestLog;
  /** A configuration (an object needs neither mode nor url), or its file: its middleware and health checks go to the gateway, and its limits hold everywhere. */
  readonly config?: string | object;
  /** Vite's configuration file, relative to `root`; `false`: none [the one that Vite finds]. */
  readonly viteConfig?: string | false;
  /** Imports a module as the test itself does, so that it has the test's own classes [under Vitest: by Vitest]. */
  readonly importer?: OwnImporter;
}

/** Which calls {@link TestCluster.calls} gives. */
export interface CallFilter {
  readonly fqn?: string;
  readonly where?: string;
  readonly from?: string;
}

/** What `fake` takes for a type that is given: a function's, or a module's of which one function is meant. */
type FakeFor<Given> = [Given] extends [never]
  ? AnyFake
  : Given extends (...args: never[]) => unknown
    ? Fake<Given>
    : { [Name in keyof Given]: Fake<Given[Name]> }[keyof Given];

/** A name whose type is known is not to be taken for one of which nothing is. */
type Untyped<Fqn, Given, Procedures> = [Given] extends [never]
  ? Fqn extends keyof Procedures
    ? never
    : unknown
  : unknown;

/** A running cluster. Its own calls are those of a trusted service that holds no segment. */
export interface TestCluster<Procedures = ProceduresOf> extends TestCaller, AsyncDisposable {
  readonly clock: TestClock;
  readonly log: TestLog;
  readonly gateway: TestService;
  readonly nodes: readonly TestNode[];
  /** A page: holds the segments that `page` names, and calls as a browser does, trusted by nobody. */
  readonly page: TestCaller;
  /** Throws where there is no node of this name, with the nearest one. */
  node(name: string): TestNode;
  /** Asks the gateway, from outside: `await cluster.fetch("/rpc/shop/quote?sku=felt")`. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Puts a function in the place of a procedure, wherever that is; also of one that no node holds. */
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
  /** Has requests to a place fail, or come late. */
  fail(place: string, failure: Failure, options?: FailOptions): Restore;
  /** Calls of procedures since the start or {@link TestCluster.forget}, in the order in which they began. */
  calls(filter?: string | CallFilter): readonly RecordedCall[];
  forget(): void;
  stop(): Promise<void>;
}
