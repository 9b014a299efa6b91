// Runs every suite of this folder in every mode.

import { afterAll, beforeAll, describe } from "vitest";

import { type Mode, modeNames, startMode } from "./_modes.ts";
import { streams } from "./streams.ts";

const suites = [streams];

// A mounted service is one process, so there is no second way to run it.
const modes = modeNames;

describe.each(modes)("in the mode '%s'", (name) => {
  let mode: Mode | undefined;
  beforeAll(async () => void (mode = await startMode(name, suites)), 60_000);
  afterAll(async () => await mode?.stop());
  for (const suite of suites)
    describe(suite.title, () =>
      suite.tests(() => {
        if (mode === undefined) throw new Error("the mode has not started");
        return mode;
      }),
    );
});
