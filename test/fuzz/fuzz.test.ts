// A few inputs for each target, the same ones every time: `npm run fuzz` tries as many as there is
// time for.

import { expect, it } from "vitest";
import { runTarget } from "./run.ts";
import { decoderTargets } from "./targets/decoders.ts";
import { fieldTargets } from "./targets/fields.ts";
import { fileTargets } from "./targets/files.ts";
import { serviceTargets } from "./targets/services.ts";

const targets = [...decoderTargets, ...fieldTargets, ...fileTargets, ...serviceTargets];

it.each(targets.map((target) => [target.name, target] as const))(
  "bad input for %s causes no fault, takes no time, and changes no prototype",
  async (_, target) => {
    const { inputs, findings } = await runTarget(target, { seed: 1, count: 100 });
    expect(findings).toEqual([]);
    expect(inputs).toBe(100);
  },
);
