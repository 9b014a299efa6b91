import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { FolderWatcher } from "../../../server/dev/folder-watcher.ts";

function watched(files: readonly string[]) {
  const above = mkdtempSync(join(tmpdir(), "seamline-watch-"));
  onTestFinished(() => rmSync(above, { recursive: true, force: true }));
  const root = join(above, "src");
  mkdirSync(root);
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  for (const file of files) write(file, "first");
  const told: string[] = [];
  const errors: Error[] = [];
  const watcher = new FolderWatcher(
    root,
    (event, path) => void told.push(`${event} ${relative(root, path)}`.trim()),
    (error) => void errors.push(error),
  );
  onTestFinished(() => watcher.close());
  onTestFinished(() => expect(errors).toEqual([]));
  /** What has been told, as soon as nothing has been for a while. */
  const all = async (): Promise<readonly string[]> => {
    for (let before = -1; before !== told.length || before === 0;) {
      before = told.length;
      await new Promise((resolve) => setTimeout(resolve, 250));
      if (before === 0 && told.length === 0) break;
    }
    return told.splice(0).toSorted();
  };
  return { root, write, told, all, watcher, path: (name: string) => join(root, name) };
}

describe.runIf(process.platform === "linux")("the watcher of the source folder", () => {
  it("tells of a change once, however it is written", async () => {
    const { write, all, path } = watched(["a.ts", "shop/quote.ts"]);
    write("shop/quote.ts", "second");
    expect(await all()).toEqual(["change shop/quote.ts"]);
    // As many editors do: a file of its own, which then takes the place.
    write("shop/.quote.ts.swap", "third");
    renameSync(path("shop/.quote.ts.swap"), path("shop/quote.ts"));
    expect((await all()).filter((one) => !one.includes("swap"))).toEqual(["change shop/quote.ts"]);
  });

  it("waits until an emptied file has been filled, and tells of one that stays empty", async () => {
    const { root, told, all, path } = watched(["a.ts"]);
    truncateSync(path("a.ts"));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(told).toEqual([]);
    writeFileSync(join(root, "a.ts"), "second");
    expect(await all()).toEqual(["change a.ts"]);
    truncateSync(path("a.ts"));
    expect(await all()).toEqual(["change a.ts"]);
  });

  it("takes a file that goes and comes again at once for a change", async () => {
    const { write, all, path } = watched(["a.ts"]);
    rmSync(path("a.ts"));
    await new Promise((resolve) => setTimeout(resolve, 30));
    write("a.ts", "second");
    expect(await all()).toEqual(["change a.ts"]);
    rmSync(path("a.ts"));
    expect(await all()).toEqual(["unlink a.ts"]);
    write("a.ts", "third");
    expect(await all()).toEqual(["add a.ts"]);
  });

  it("follows folders that come, with what is in them, and that go", async () => {
    const { write, all, path } = watched(["a.ts"]);
    write("deep/er/b.ts", "first");
    expect(await all()).toEqual(["add deep/er/b.ts", "addDir deep", "addDir deep/er"]);
    write("deep/er/b.ts", "second");
    expect(await all()).toEqual(["change deep/er/b.ts"]);
    renameSync(path("deep"), path("other"));
    expect(await all()).toEqual([
      "add other/er/b.ts",
      "addDir other",
      "addDir other/er",
      "unlink deep/er/b.ts",
      "unlinkDir deep",
      "unlinkDir deep/er",
    ]);
    write("other/er/b.ts", "third");
    expect(await all()).toEqual(["change other/er/b.ts"]);
  });

  it("tells when a file takes a folder's place, and a folder a file's", async () => {
    const { write, all, path } = watched(["a/b.ts"]);
    rmSync(path("a"), { recursive: true });
    write("a", "a file");
    expect(await all()).toEqual(["add a", "unlink a/b.ts", "unlinkDir a"]);
    rmSync(path("a"));
    write("a/c.ts", "first");
    expect(await all()).toEqual(["add a/c.ts", "addDir a", "unlink a"]);
  });

  it("goes on when the whole folder was gone", async () => {
    const { root, write, all } = watched(["a.ts"]);
    rmSync(root, { recursive: true });
    expect(await all()).toEqual(["unlink a.ts", "unlinkDir"]);
    write("a.ts", "again");
    expect(await all()).toEqual(["add a.ts", "addDir"]);
    write("a.ts", "and again");
    expect(await all()).toEqual(["change a.ts"]);
  });

  it("leaves out node_modules, folders with a dot, and what links lead to", async () => {
    const { root, write, all } = watched(["node_modules/x/index.js", ".cache/a.ts", "a.ts"]);
    symlinkSync(dirname(root), join(root, "up"));
    expect(await all()).toEqual([]);
    write("node_modules/x/index.js", "second");
    write(".cache/a.ts", "second");
    expect(await all()).toEqual([]);
  });

  it("tells of each of many files", async () => {
    const names = Array.from({ length: 500 }, (_, index) => `part/${index % 7}/file${index}.ts`);
    const { write, all } = watched(names);
    for (const name of names) write(name, "second");
    expect(await all()).toEqual(names.map((name) => `change ${name}`).toSorted());
  });

  it("tells of nothing any more when it is closed", async () => {
    const { write, all, watcher } = watched(["a.ts"]);
    write("a.ts", "second");
    watcher.close();
    write("a.ts", "third");
    expect(await all()).toEqual([]);
  });
});
