import { expect, it, onTestFinished, vi } from "vitest";

import { develop, eventually } from "./_session.ts";

const application = {
  "main.segment.json": '{ "./calls": { "compute": { "access": "public" } } }',
  "src/calls.ts": `export async function compute(ms: number): Promise<number> {
  for (const end = performance.now() + ms; performance.now() < end;);
  return ms;
}
`,
};

it("a session logs that a procedure has computed for more than a second, and nothing if the machine slept", async () => {
  const { get, logged } = await develop(application);
  const blocked = (): number => logged.filter((line) => line.includes("was blocked for")).length;
  // As if the process had all of the processor meanwhile, and then as if it had none.
  const usage = vi.spyOn(process, "cpuUsage").mockReturnValue({ user: 9e9, system: 0 });
  onTestFinished(() => usage.mockRestore());
  const long = "/rpc/compute?ms=1500";
  expect(await get(long)).toEqual({ status: 200, value: 1_500 });
  expect(await eventually(blocked, (count) => count > 0)).toBe(1);
  expect(logged.find((line) => line.includes("was blocked"))).toMatch(
    /^warning: the event loop was blocked for \d+\.\d s, and nothing was answered; this process computed for \d+\.\d s of that time$/,
  );
  usage.mockReturnValue({ user: 0, system: 0 });
  await get(long);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(blocked()).toBe(1);
});
