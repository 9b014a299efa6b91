import { defineConfig } from "vitest/config";

export default defineConfig({
  // The database takes seconds to make, and more on a machine that has other work.
  test: {
    include: ["test/*.test.ts"],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
