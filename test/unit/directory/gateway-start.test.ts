import { expect, it, onTestFinished } from "vitest";

import { defaultLimits } from "../../../src/base/limits.ts";
import { Directory } from "../../../src/roles/directory/directory.ts";
import { withDirectory } from "../../../src/roles/with-directory.ts";
import { createGateway } from "../../../src/roles/gateway.ts";
import { ask, key, TestClock, testHost, TestLog, TestNetwork } from "../../_cluster.ts";
import { MemoryServer } from "../../_memory-buckets.ts";

it("a gateway that starts while the directory is away isn't ready, and misses no procedure, until nodes can find it; then it stays ready when the directory goes (directory-3)", async () => {
  const clock = new TestClock();
  const host = testHost(new TestNetwork(), clock, new TestLog());
  const server = new MemoryServer();
  const directory = new Directory({
    host,
    buckets: server.buckets(),
    trustKey: key,
    prefix: "seamline",
    instance: "1",
  });
  const options = { trustKey: key, limits: defaultLimits, newId: () => "1", directory };
  const url = "http://gateway";
  const role = withDirectory(createGateway(host, options), directory, () =>
    directory.announceGateway(url),
  );
  onTestFinished(() => role.stop());
  const statusOf = async (path: string): Promise<number> => (await ask(role, "GET", path)).status;
  const statuses = async () => [
    await statusOf("/health/live"),
    await statusOf("/health/ready"),
    await statusOf("/rpc/shop/none"),
  ];
  server.away();
  const starting = role.start(url);
  await clock.pass(60_000);
  expect(await statuses()).toEqual([200, 503, 503]);
  server.back();
  await starting;
  expect(await statuses()).toEqual([200, 200, 503]);
  await clock.pass(3_000);
  expect(await statuses()).toEqual([200, 200, 404]);
  server.away();
  await clock.pass(60_000);
  expect(await statuses()).toEqual([200, 200, 404]);
});
