import { join } from "node:path";

import { expect, it, vi } from "vitest";

import { realPath } from "../../../server/files/sources.ts";

// Simulates another process that removes the folder meanwhile.
vi.mock("node:fs", async (original) => ({ ...(await original<object>()), existsSync: () => true }));

it("realPath makes a path absolute if the file disappears meanwhile", () => {
  const gone = join(import.meta.dirname, "gone/file.ts");
  expect(realPath(gone)).toBe(gone);
});
