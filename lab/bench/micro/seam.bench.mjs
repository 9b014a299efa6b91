// A call of a face, beside a call of the function itself.
import { bench, describe } from "vitest";

import { createGraph } from "../../../src/runtime/seam.ts";

async function add(a, b) {
  return a + b;
}

const graph = createGraph();
graph.bind({ attach: (seam) => (seam.run = add) });
const seam = graph.seam({ fqn: "stock/add", version: "1.0.0", parameters: [] });
// As the build writes it.
function face(_a, _b) {
  return seam.run.apply(this, arguments);
}

describe("seam", () => {
  bench("the function", async () => {
    for (let at = 0; at < 1_000; at++) await add(at, 1);
  });
  bench("its face, with the procedure here", async () => {
    for (let at = 0; at < 1_000; at++) await face(at, 1);
  });
});
