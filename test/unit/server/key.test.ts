import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readTrustKey, trustKeyWarning } from "../../../server/config/key.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "seamline-key-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("the trust key", () => {
  it("is the configured one, and no file is written", async () => {
    expect(await readTrustKey(folder, "configured-key-0001")).toBe("configured-key-0001");
    expect(await readdir(folder)).toEqual([]);
  });

  it("is random, readable only by its owner, ignored by git and reused at the next start", async () => {
    const key = await readTrustKey(folder);
    expect(key).toMatch(/^[\w-]{43}$/);
    expect((await stat(join(folder, ".seamline/key"))).mode & 0o777).toBe(0o600);
    expect((await readdir(join(folder, ".seamline"))).toSorted()).toEqual([".gitignore", "key"]);
    execFileSync("git", ["init", "-q"], { cwd: folder });
    expect(execFileSync("git", ["status", "--porcelain"], { cwd: folder, encoding: "utf8" })).toBe(
      "",
    );
    expect(await readTrustKey(folder)).toBe(key);
  });

  it("is the same for roles that start concurrently", async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => readTrustKey(folder)));
    expect(new Set(keys).size).toBe(1);
    expect((await readdir(join(folder, ".seamline"))).toSorted()).toEqual([".gitignore", "key"]);
  });

  it("keeps what a user has written, and the user's .gitignore", async () => {
    await mkdir(join(folder, ".seamline"));
    await writeFile(join(folder, ".seamline/.gitignore"), "key\n");
    await writeFile(join(folder, ".seamline/key"), "written-by-a-person\n");
    expect(await readTrustKey(folder)).toBe("written-by-a-person");
    await rm(join(folder, ".seamline/key"));
    await readTrustKey(folder);
    expect(await readFile(join(folder, ".seamline/.gitignore"), "utf8")).toBe("key\n");
  });

  it.each(["", "words with spaces in them"])(
    "that is invalid (%j) is refused with its path and a hint",
    async (text) => {
      await mkdir(join(folder, ".seamline"));
      await writeFile(join(folder, ".seamline/key"), text);
      await expect(readTrustKey(folder)).rejects.toThrow(/\.seamline\/key .*Remove the file/);
    },
  );

  it("that can't be written causes one error with a hint", async () => {
    await writeFile(join(folder, ".seamline"), "a file where the folder should be");
    await expect(readTrustKey(folder)).rejects.toThrow(/trustKey/);
  });
});

describe("a trust key that can be guessed", () => {
  it("is accepted with a warning", () => {
    expect(trustKeyWarning("short")).toContain("shorter than 16 characters");
    expect(trustKeyWarning("0123456789abcdef")).toBeUndefined();
  });
});
