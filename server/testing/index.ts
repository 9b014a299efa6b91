// `seamline/testing`: an application in the memory of a test.

export { createTestCluster } from "./cluster.ts";
export type { CallFilter, TestCluster, TestClusterOptions } from "./test-cluster.ts";
export { type ManifestOptions, readManifest } from "./application.ts";
export type { RecordedCall } from "./calls.ts";
export type { Failure, FailOptions } from "./failures.ts";
export type { FakeOptions, Restore } from "./fakes.ts";
export type { TestCaller, TestNode, TestService } from "./places.ts";
export { TestClock } from "./test-clock.ts";
export { TestLog } from "./test-log.ts";
export type { AnyFake, Fake, Fakes, ProceduresOf } from "../../src/fake.ts";
