// Runs every suite of this folder in every mode.

import { afterAll, beforeAll, describe } from "vitest";

import { type Mode, modeNames, startMode } from "./_modes.ts";
import { calls } from "./calls.ts";
import { context } from "./context.ts";
import { crossSite } from "./cross-site.ts";
import { deepLinks } from "./deep-links.ts";
import { files } from "./files.ts";
import { http } from "./http.ts";
import { masked } from "./masked.ts";
import { options } from "./options.ts";
import { routes } from "./routes.ts";
import { streams } from "./streams.ts";

const suites = [
  calls,
  context,
  crossSite,
  deepLinks,
  files,
  http,
  masked,
  options,
  routes,
  streams,
];

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
