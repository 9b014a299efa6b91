// Guards in a development session: added, edited, broken and mended while it runs.

import { describe, expect, it } from "vitest";

import { develop, eventually, type Files } from "./_session.ts";

const shop = "segments/shop.segment.json";
const auth = "src/auth.ts";
const segment = (guard?: unknown): string =>
  `${JSON.stringify({ "./shop/price": { price: { access: "public", ...(guard === undefined ? {} : { guard }) } } })}\n`;
const refusing = (message: string): string =>
  `import { Forbidden } from "seamline";\nimport { word } from "./word.ts";\nexport async function signedIn(): Promise<void> {\n  throw new Forbidden("${message} " + word);\n}\n`;

const files: Files = {
  "index.html": "<!doctype html><title>Shop</title>\n",
  [shop]: segment("./auth.ts#signedIn"),
  "src/shop/price.ts": "export async function price(): Promise<number> {\n  return 7;\n}\n",
  [auth]: refusing("no"),
  "src/word.ts": 'export const word = "entry";\n',
};

async function running(more: Files = {}) {
  const session = await develop({ ...files, ...more });
  const text = async (): Promise<string> => {
    const answer = await fetch(new URL("/rpc/shop/price", session.session.url), {
      headers: { accept: "text/plain" },
    });
    return `${answer.status} ${(await answer.text()).split("\n")[0]}`;
  };
  const becomes = async (expected: string): Promise<void> =>
    expect(await eventually(text, (found) => found === expected, 15_000)).toBe(expected);
  return { ...session, text, becomes };
}

describe("a guard in development", () => {
  it("takes effect when it is edited, when what it imports is, and when an entry takes it off or names it again", async () => {
    const { write, edit, becomes } = await running();
    await becomes("403 no entry");
    edit(auth, '"no "', '"still no "');
    await becomes("403 still no entry");
    edit("src/word.ts", "entry", "way");
    await becomes("403 still no way");
    write({ [shop]: segment(false) });
    await becomes("200 7");
    write({ [shop]: segment("./auth.ts#signedIn") });
    await becomes("403 still no way");
  });

  it("that can't be loaded any more refuses all calls until it can be", async () => {
    const { write, edit, becomes, nextEvent, events } = await running({
      [auth]: "export async function signedIn(): Promise<void> {}\n",
    });
    await becomes("200 7");
    write({
      [auth]:
        'throw new Error("no database");\nexport async function signedIn(): Promise<void> {}\n',
    });
    await becomes("503 The guard of this call can't be loaded");
    const { problems } = await nextEvent("problems");
    expect(problems).toMatchObject([
      {
        file: auth,
        message: "Error: no database, while loading the guard auth#signedIn (segment shop)",
      },
    ]);
    const before = events.length;
    edit(auth, 'throw new Error("no database");\n', "");
    await becomes("200 7");
    await nextEvent("mended", before);
  });

  it("that is new and can't be loaded refuses all calls of what names it now", async () => {
    const { write, becomes } = await running({
      [shop]: segment(),
      [auth]:
        'throw new Error("no database");\nexport async function signedIn(): Promise<void> {}\n',
    });
    await becomes("200 7");
    write({ [shop]: segment("./auth.ts#signedIn") });
    await becomes("503 The guard of this call can't be loaded");
    write({ [auth]: refusing("no") });
    await becomes("403 no entry");
  });

  it("that can't be loaded keeps its node from starting", async () => {
    const { write, becomes, session } = await running({
      [auth]:
        'throw new Error("no database");\nexport async function signedIn(): Promise<void> {}\n',
    });
    expect(
      await eventually(
        () =>
          session
            .nodes()
            .map(({ state }) => state)
            .join(),
        (state) => state === "failed",
      ),
    ).toBe("failed");
    write({ [auth]: refusing("no") });
    await becomes("403 no entry");
  });

  it("that isn't there is a problem, and the procedures stay as they were", async () => {
    const { write, becomes, nextEvent } = await running();
    await becomes("403 no entry");
    write({ [shop]: segment("./auth.ts#signdIn") });
    const { problems } = await nextEvent("problems");
    expect(problems).toMatchObject([{ file: shop, hint: 'Did you mean "signedIn"?' }]);
    await becomes("403 no entry");
  });
});
