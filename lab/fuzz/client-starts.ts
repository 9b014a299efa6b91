// Many starts and imports in one page: what the runtime keeps of each.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createStartClient } from "../../client/start-client.ts";
import { createGraph } from "../../src/runtime/seam.ts";
import { createBrowser, fileOf, manifestOf } from "../../test/unit/client/_page.ts";

const manifest = manifestOf({
  procedures: [{ fqn: "a/b", version: "0.0.0", module: "a/b", export: "b", parameters: [] }],
  segments: { ui: [{ procedure: 0, access: "private" }] },
  modules: { "a/b": { file: "b.js", body: "b-body.js" } },
  files: { "b.js": fileOf(), "b-body.js": fileOf() },
});

/** Bytes that each of so many starts and imports leaves behind, after the first hundred. */
export async function bytesPerStart(starts: number): Promise<number> {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  const heap = (): number => {
    gc();
    gc();
    return process.memoryUsage().heapUsed;
  };
  const body = { b: async () => 1 };
  const browser = Object.assign(createBrowser({ "b.js": body, "b-body.js": body }, "r1"), {
    manifest: JSON.stringify(manifest),
  });
  const start = createStartClient(createGraph(), browser);
  const run = async (count: number): Promise<void> => {
    for (let done = 0; done < count; done++) {
      const client = await start("ui");
      await client.import("./a/b.js");
      // The page's own lists of what was asked for would grow.
      browser.imported.length = 0;
      browser.preloaded.length = 0;
    }
  };
  await run(100);
  const before = heap();
  await run(starts);
  return (heap() - before) / starts;
}
