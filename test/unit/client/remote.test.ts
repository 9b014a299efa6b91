import { describe, expect, it, vi } from "vitest";

import { createPageRemote, type Page } from "../../../client/remote.ts";
import { NotFound } from "../../../src/base/errors.ts";
import { emptyContext } from "../../../src/base/context.ts";
import { createBrowser } from "./_page.ts";

/** Calls what a seam to another node runs, from a page whose server answers with this error. */
async function failure(form: object): Promise<Error> {
  const body = JSON.stringify({ serialized: true, name: "Error", trace: [], fields: {}, ...form });
  const headers = { "content-type": "application/json" };
  vi.stubGlobal("fetch", async () => new Response(body, { status: 404, headers }));
  try {
    const page = {
      browser: createBrowser({}),
      placement: { report: () => {} },
      rare: async () => ({ checkRevision: async () => {} }),
    } as unknown as Page;
    const stock = createPageRemote(page).away({
      fqn: "shop/stock",
      version: "0.0.0",
      parameters: [],
    });
    const procedureOfThePage = async (): Promise<unknown> => await stock.call(emptyContext());
    return (await procedureOfThePage().catch((error: unknown) => error)) as Error;
  } finally {
    vi.unstubAllGlobals();
  }
}

describe("an error of a remote call", () => {
  const form = { type: "NotFound", message: "There is no tea" };

  it("has the line of the page's call in its stack, below the lines of the decoder", async () => {
    const error = await failure(form);
    expect(error).toBeInstanceOf(NotFound);
    expect(error.stack).toMatch(/^NotFound: There is no tea\n +at /);
    expect(error.stack).toMatch(/\n +at (?:async )?procedureOfThePage \(.*remote\.test\.ts/);
    expect(error.stack).not.toMatch(/\n(?! +at )/);
  });

  it("has the line of the page's call below the lines of a server, which development sends", async () => {
    const stack = "NotFound: There is no tea\n    at stock (src/stock.ts:7:3)";
    const error = await failure({ ...form, stack });
    expect(error.stack?.slice(0, stack.length + 8)).toBe(`${stack}\n    at `);
    expect(error.stack).toMatch(/\n +at (?:async )?procedureOfThePage \(/);
  });
});
