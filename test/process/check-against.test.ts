// `seamline check --against`, and what a start says of the build that it replaces.

import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { anyPort, type Application, createApplication, type Service } from "./_application.ts";

const before = `export interface Line { sku: string; note?: string }
export async function order(line: Line): Promise<string> { return line.sku; }
export async function quote(metres: number): Promise<{ total: number }> { return { total: metres }; }
export async function count(): Promise<number> { return 1; }
`;

const after = `export interface Line { sku: string }
export async function order(line: Line): Promise<string> { return line.sku; }
export async function quote(metres: number, sku: string): Promise<{ total: number }> { return { total: metres }; }
export async function count(atLeast = 0): Promise<number> { return 1; }
`;

const segment = (names: readonly string[], more: object = {}): object => ({
  "./shop/lines": Object.fromEntries(
    names.map((name) => [name, { access: "public", validate: true, ...more }]),
  ),
});

const names = ["order", "quote", "count"];
const token = "a-token-of-twenty-letters";
let application: Application;
let service: Service;

beforeAll(async () => {
  application = await createApplication();
  await application.put("src/shop/lines.ts", before);
  await application.put("shop.segment.json", segment(names));
  service = await application.service("standalone", {
    mode: "standalone",
    url: anyPort,
    openapi: { token },
  });
  const { root } = application;
  await cp(join(root, "dist"), join(root, ".earlier"), { recursive: true });
  await application.put("src/shop/lines.ts", after);
}, 60_000);
afterAll(async () => await application.remove());

async function check(
  words: readonly string[],
  env?: Record<string, string>,
): Promise<{ readonly code: unknown; readonly output: string }> {
  const command = application.seamline(["check", ...words], env);
  return { code: await command.ended(), output: command.output() };
}

const breaking = `error: src/shop/lines.ts: shop/quote: sku is new and required: callers of the earlier build don't send it
  → Make it optional, or put the change into a new version
`;
const risky = `warning: src/shop/lines.ts: shop/order: line.note is gone: callers still send it, and it is dropped in silence
  → Keep the member as long as callers send it, or put the change into a new version
`;

describe("seamline check --against", () => {
  it("changes-1: A breaking change is a problem of seamline check --against, a risky one a warning, and others are counted", async () => {
    const { code, output } = await check(["--against", ".earlier"]);
    expect(output).toContain(breaking);
    expect(output).toContain(risky);
    expect(output).toContain(
      "since .earlier: 1 breaking change, 1 risky, 1 that callers don't notice\n",
    );
    expect(code).toBe(1);
    const { output: json } = await check(["--against", ".earlier/server", "--json"]);
    expect(JSON.parse(json)).toMatchObject({
      ok: false,
      problems: [{ file: "src/shop/lines.ts" }],
      warnings: [{ file: "src/shop/lines.ts" }],
      checked: { changes: { breaking: 1, risky: 1, fine: 1 } },
    });
  });

  it("changes-2: A running service is compared by what it tells strangers, or those who have its token", async () => {
    const refused = await check(["--against", service.url]);
    expect([refused.code, refused.output]).toEqual([
      1,
      expect.stringContaining("Set SEAMLINE_TOKEN"),
    ]);
    const found = await check(["--against", service.url], { SEAMLINE_TOKEN: token });
    expect(found.output).toContain(breaking);
    expect(found.code).toBe(1);
  });

  it("changes-3: Risky changes alone are no failure, unless --max-warnings says so", async () => {
    await application.put("src/shop/lines.ts", after.replace(", sku: string)", ")"));
    const { code, output } = await check(["--against", ".earlier"]);
    expect([code, output]).toEqual([0, expect.stringContaining(risky)]);
    expect((await check(["--against", ".earlier", "--max-warnings", "0"])).code).toBe(1);
    await application.put("src/shop/lines.ts", after);
  });

  it("What isn't a build, or has no contract, is said", async () => {
    const none = await check(["--against", "src"]);
    expect([none.code, none.output]).toEqual([
      1,
      expect.stringContaining("there is no build in src"),
    ]);
    const { root } = application;
    await cp(join(root, ".earlier"), join(root, ".old"), { recursive: true });
    await rm(join(root, ".old/server/contract.json"));
    expect((await check(["--against", ".old"])).output).toContain(
      "the build in .old has no contract.json: it is of an earlier release of Seamline",
    );
    await writeFile(
      join(root, ".old/server/contract.json"),
      '{"format":99,"procedures":[],"routes":[]}',
    );
    expect((await check(["--against", ".old"])).output).toContain("its format is 99");
    const nothing = await check(["--against", "http://127.0.0.1:9"]);
    expect([nothing.code, nothing.output]).toEqual([1, expect.stringContaining("127.0.0.1:9")]);
    expect((await check(["--against", "ftp://127.0.0.1"])).output).toContain(
      "there is no build in ftp:",
    );
  });

  it("A service without openapi has nothing to compare with", async () => {
    const { url } = await application.service("closed", { mode: "standalone", url: anyPort });
    expect((await check(["--against", url])).output).toContain(
      `${url}/svc/contract.json answered 404`,
    );
  });
});

describe("a start", () => {
  it("changes-4: A repository and a standalone warn at their start of changes that callers of the build before notice", async () => {
    const build = application.seamline(["build"]);
    expect(await build.ended()).toBe(0);
    const kept = JSON.parse(
      await readFile(join(application.root, "dist/server/kept.json"), "utf8"),
    ) as {
      builds: readonly { revision: string }[];
    };
    const revision = kept.builds[1]!.revision;
    for (const mode of ["standalone", "repository"]) {
      const { command } = await application.service(`${mode}-next`, {
        mode,
        url: anyPort,
        trustKey: "the-key-of-this-deployment-of-tests",
      });
      expect(command.output()).toContain(
        `breaking since revision ${revision}: shop/quote: sku is new and required`,
      );
      expect(command.output()).toContain(
        `risky since revision ${revision}: shop/order: line.note is gone`,
      );
    }
  });
});
