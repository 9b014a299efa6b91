import { join } from "node:path";

import { expect, it, vi } from "vitest";

import { realPath } from "../../../server/sources.ts";

// As it is for whoever asks a moment before another process removes a folder.
vi.mock("node:fs", async (original) => ({ ...(await original<object>()), existsSync: () => true }));

it("a path that goes while it is looked at keeps the name that it would have", () => {
  const gone = join(import.meta.dirname, "gone/file.ts");
  expect(realPath(gone)).toBe(gone);
});
