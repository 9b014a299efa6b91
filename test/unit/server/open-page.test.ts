// BROWSER names the program to start, so that the test doesn't open a real browser.

import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPage } from "../../../server/dev/open-page.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "open-page-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function program(text: string): Promise<string> {
  const path = join(folder, "browser");
  await writeFile(path, `#!/bin/sh\n${text}\n`);
  await chmod(path, 0o755);
  return path;
}

describe("openPage", () => {
  it("passes the address to the platform's program", async () => {
    const BROWSER = await program(`echo "$1" > ${folder}/opened`);
    await openPage("http://localhost:1/?a=1&b=2", { BROWSER });
    await expect
      .poll(async () => await readFile(join(folder, "opened"), "utf8"))
      .toBe("http://localhost:1/?a=1&b=2\n");
  });

  it("rejects with the reason if the program fails", async () => {
    await expect(
      openPage("http://localhost:1/", { BROWSER: join(folder, "none") }),
    ).rejects.toThrow(/^there is no .*none here$/);
    await expect(
      openPage("http://localhost:1/", { BROWSER: await program("exit 3") }),
    ).rejects.toThrow(/browser ended with 3$/);
    await expect(openPage("http://localhost:1/", { BROWSER: "none" })).rejects.toThrow(
      "BROWSER=none",
    );
    await expect(openPage("http://localhost:1/", {}, "win32")).rejects.toThrow(
      "there is no cmd here",
    );
  });

  it("doesn't wait for a program that keeps running", async () => {
    const BROWSER = await program(`echo $$ > ${folder}/pid; exec sleep 30`);
    await openPage("http://localhost:1/", { BROWSER });
    process.kill(Number(await readFile(join(folder, "pid"), "utf8")));
  });
});
