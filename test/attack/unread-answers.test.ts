import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Processes, startProcesses } from "../../lab/fuzz/services/processes.ts";
import { leaveUnread } from "../../lab/fuzz/services/unread.ts";

// `npm run fuzz -- --only unread` has more roles, kinds of answers and callers.

let processes: Processes;
beforeAll(async () => {
  processes = await startProcesses({}, ["--max-old-space-size=512"]);
}, 120_000);
afterAll(async () => await processes?.close());

describe("64 callers that ask for 8 MiB each and read nothing", { timeout: 90_000 }, () => {
  it.each([
    ["text", "standalone"],
    ["shared", "standalone"],
    ["whole", "standalone"],
    ["text", "gateway"],
    ["whole", "gateway"],
  ] as const)("as %s end no process with a heap of 512 MB, asked of a %s", async (kind, role) => {
    const { services } = processes;
    const { served } = await leaveUnread(services[role].port, kind, 64, 2_500);
    for (const [name, service] of Object.entries(services))
      expect([
        name,
        service.ended(),
        service.output().slice(service.ended() ? -2_000 : Infinity),
      ]).toEqual([name, undefined, ""]);
    expect(served).toBeGreaterThan(0);
  });
});
