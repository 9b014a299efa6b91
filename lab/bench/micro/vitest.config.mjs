// `npm run bench:micro`: the smallest parts by themselves. What they say of a change, `npm run bench`
// must confirm: a part that is twice as fast may be a hundredth of a call.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { root: import.meta.dirname, benchmark: { include: ["*.bench.mjs"] } },
});
