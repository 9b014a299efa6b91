// Runs the suite about Vite's base in every mode: one that has a base.

import { afterAll, beforeAll, describe } from "vitest";

import { type Mode, modeNames, startMode } from "./_modes.ts";
import { belowBase } from "./below-base.ts";

const modes = modeNames;

describe.each(modes)("in the mode '%s'", (name) => {
  let mode: Mode | undefined;
  beforeAll(async () => void (mode = await startMode(name, [belowBase], "/shop/")), 60_000);
  afterAll(async () => await mode?.stop());
  describe(belowBase.title, () =>
    belowBase.tests(() => {
      if (mode === undefined) throw new Error("the mode has not started");
      return mode;
    }),
  );
});
