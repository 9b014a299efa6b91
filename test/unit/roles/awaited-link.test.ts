// Requests that find no link to a repository: they have it dialled.

import { expect, it, vi } from "vitest";

import type { Host } from "../../../src/base/ports.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import type { LinkAnswer } from "../../../src/base/ports/links.ts";
import { createProxy } from "../../../src/roles/proxy.ts";
import { createRepository } from "../../../src/roles/repository.ts";
import { ask, settle, TestDeployment } from "../../_cluster.ts";

const longestRetryMs = 2_000;

const files = {
  publicFile: async () => ({ status: 200, headers: {}, body: "a file" }),
  component: async () => ({ status: 200, headers: {}, body: "{}" }),
  serverFile: async () => undefined,
};

/** A proxy whose repository is up, and how often it has dialled. */
async function deployed() {
  // The longest waits.
  vi.spyOn(Math, "random").mockReturnValue(1);
  const local = new TestDeployment({ limits: { ...defaultLimits, maxCalls: 2_000 } });
  const { network, clock, log } = local;
  await local.gateway();
  const repository = local.add("repository", (host, common) =>
    createRepository(host, { ...common, files }),
  );
  await repository.start();
  const dials = { count: 0, isHeld: false };
  const counted = (host: Host): Host => ({
    ...host,
    links: {
      ...host.links,
      async dial(base, ...rest) {
        if (base === repository.url) dials.count++;
        if (base === repository.url && dials.isHeld) return await new Promise<never>(() => {});
        return await host.links.dial(base, ...rest);
      },
    },
  });
  const proxy = await local
    .add("proxy", (host, common) =>
      createProxy(counted(host), {
        ...common,
        calls: "http://gateway",
        repository: repository.url,
      }),
    )
    .start();
  const file = async (): Promise<number> => (await ask(proxy, "GET", "/a.txt")).status;
  expect(await file()).toBe(200);
  dials.count = 0;
  const kill = (): void => {
    network.roles.delete(repository.url);
    repository.kill();
  };
  return { network, clock, log, repository, dials, file, kill };
}

it("a repository that is back serves the next file at once, whatever the wait before the next dial", async () => {
  const { clock, repository, file, kill } = await deployed();
  kill();
  await clock.pass(5 * longestRetryMs);
  expect(await file()).toBe(503);
  await repository.start();
  expect(await file()).toBe(200);
});

it("a thousand files that wait together have it dialled once", async () => {
  const { clock, repository, dials, file, kill } = await deployed();
  kill();
  await clock.pass(5 * longestRetryMs);
  await repository.start();
  dials.count = 0;
  const statuses = await Promise.all(Array.from({ length: 1_000 }, file));
  expect([new Set(statuses), dials.count]).toEqual([new Set([200]), 1]);
});

it("while nothing listens there, each file is refused at once, and the log says so once", async () => {
  const { clock, dials, log, file, kill } = await deployed();
  kill();
  await clock.pass(5 * longestRetryMs);
  log.lines.length = 0;
  dials.count = 0;
  for (let files = 0; files < 100; files++) expect(await file()).toBe(503);
  expect(dials.count).toBe(100);
  expect(log.lines).toEqual([]);
});

it("a repository that hangs costs the files of a try no more than its first second", async () => {
  const { clock, dials, file, kill } = await deployed();
  kill();
  await clock.pass(5 * longestRetryMs);
  dials.isHeld = true;
  dials.count = 0;
  const answered = vi.fn();
  for (let files = 0; files < 2; files++) void file().then(answered);
  await clock.pass(999);
  expect(answered).not.toHaveBeenCalled();
  await clock.pass(1);
  expect(answered.mock.calls).toEqual([[503], [503]]);
  expect(dials.count).toBe(1);
  void file().then(answered);
  await clock.pass(0);
  expect(answered.mock.calls).toHaveLength(3);
});

it("one that accepts each link and ends it at once is dialled by the back-off only", async () => {
  const { network, clock, dials, repository, file, kill } = await deployed();
  kill();
  await repository.start();
  const role = network.roles.get(repository.url)!;
  const ending = (answer: LinkAnswer): LinkAnswer =>
    answer === undefined || !("open" in answer)
      ? answer
      : {
          ...answer,
          open(channel) {
            answer.open(channel);
            queueMicrotask(() => void settle().then(() => channel.close()));
          },
        };
  network.roles.set(repository.url, {
    ...role,
    accept: (upgrade) => ending(role.accept!(upgrade)),
  });
  await clock.pass(10 * longestRetryMs);
  dials.count = 0;
  for (let files = 0; files < 50; files++) expect(await file()).toBe(503);
  expect(dials.count).toBe(0);
});

it("one with another trust key is dialled by the back-off only", async () => {
  const { network, clock, dials, repository, file, kill } = await deployed();
  kill();
  const other = new TestDeployment({ trustKey: "another-trust-key" });
  const role = await other
    .add("repository", (host, common) => createRepository(host, { ...common, files }))
    .start();
  network.roles.set(repository.url, role);
  await clock.pass(5 * longestRetryMs);
  dials.count = 0;
  for (let files = 0; files < 50; files++) expect(await file()).toBe(503);
  expect(dials.count).toBe(0);
});
