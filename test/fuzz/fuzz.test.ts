// A few inputs for each target, the same ones every time: `npm run fuzz` tries as many as there is
// time for.

import { expect, it } from "vitest";
import { runTarget } from "../../lab/fuzz/run.ts";
import { decoderTargets } from "../../lab/fuzz/targets/decoders.ts";
import { openSockets } from "../attack/_sockets.ts";
import { edgeTarget } from "../../lab/fuzz/targets/edge.ts";
import { fieldTargets } from "../../lab/fuzz/targets/fields.ts";
import { fileTargets } from "../../lab/fuzz/targets/files.ts";
import { joinTargets } from "../../lab/fuzz/targets/joins.ts";
import { linkTargets } from "../../lab/fuzz/targets/links.ts";
import { serviceTargets } from "../../lab/fuzz/targets/services.ts";

const targets = [
  ...decoderTargets,
  ...fieldTargets,
  ...fileTargets,
  ...joinTargets,
  ...linkTargets,
  ...serviceTargets,
];
// The machine may be busy with other tests.
const edge = edgeTarget(openSockets, 6);

it.each(targets.map((target) => [target.name, target] as const))(
  "bad input for %s causes no fault, takes no time, and changes no prototype",
  async (_, target) => {
    const { inputs, findings } = await runTarget(target, { seed: 1, count: 100 });
    expect(findings).toEqual([]);
    expect(inputs).toBe(100);
  },
);

it("bytes split anywhere, pipelined, cut off, or with lengths and chunks that lie cause no fault at node, gateway, proxy and repository", async () => {
  const { findings } = await runTarget(edge, { seed: 1, count: 8 });
  expect(findings).toEqual([]);
});
