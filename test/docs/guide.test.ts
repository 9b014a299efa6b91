// Every example in the guide, and in the skill for coding agents, works from top to bottom of each page.

import { beforeAll, describe, expect, inject, it, vi } from "vitest";
import { filesIn } from "../_sources.ts";
import { runPage } from "./_runner.ts";

// Each page starts processes of its own, and a machine may have two cores. The time only bounds a failure.
vi.setConfig({ maxConcurrency: 2, testTimeout: 300_000 });

const pages = ["docs/guide", "skills"].flatMap(filesIn).filter((path) => path.endsWith(".md"));

beforeAll(() => expect(inject("missing")).toBe(""));

describe("every example", () => {
  it.concurrent.each(pages)("of %s does what the page says", async (page) => {
    const { examples, failures } = await runPage(page);
    if (failures.length > 0) expect.fail(failures.join("\n\n"));
    expect(examples).toBeGreaterThan(0);
  });
});
