// `seamline/testing`: an application in the memory of a test.

export { createTestCluster } from "./create-test-cluster.ts";
export type {
  CallFilter,
  TestCaller,
  TestCluster,
  TestClusterOptions,
  TestNode,
  TestPage,
  TestService,
} from "./test-cluster.ts";
export { type ManifestOptions, readManifest } from "./application.ts";
export type { RecordedCall } from "./fakes/calls.ts";
export type { Failure, FailOptions } from "../local/failures.ts";
export type { FakeOptions, Restore } from "./fakes/fakes.ts";
export { TestClock } from "./test-clock.ts";
export { TestLog } from "./test-log.ts";
export type { AnyFake, Fake, Fakes, ProceduresOf } from "../../src/types/fake.ts";
