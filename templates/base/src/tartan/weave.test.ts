import { expect, it } from "vitest";
import { describe } from "./describe.ts";
import { weave } from "./weave.ts";

// Vitest doesn't split modules: tests call procedures in this process, as plain functions.
it("weaves the same tartan for the same name", async () => {
  const tartan = await weave("Ada");
  expect((await weave(" ada ")).stripes).toEqual(tartan.stripes);
  expect(tartan.colourAt(0, 0)).toBe(tartan.stripes[0]?.colour);
  expect(tartan.colourAt(tartan.repeat(), 0)).toBe(tartan.colourAt(0, 0));
  expect(await describe(tartan)).toContain(`${tartan.repeat()} threads`);
});

it("refuses an empty name", async () => {
  await expect(weave(" ")).rejects.toThrow("A tartan needs a name");
});
