// A fake watcher, which reports only the events of a test, over real files.

import { EventEmitter } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { watch, type WatchedServer } from "../../../server/dev/watch.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "watch-")));
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(root, { recursive: true, force: true });
});

function start(files: readonly string[]) {
  const names = new Map<string, string[]>();
  const isIn = (path: string): boolean =>
    names.get(dirname(path))?.includes(basename(path)) === true;
  const put = (path: string): void => {
    if (!isIn(path))
      names.set(dirname(path), [...(names.get(dirname(path)) ?? []), basename(path)]);
  };
  const asked: string[] = [];
  const watcher = Object.assign(new EventEmitter(), {
    getWatched: () => Object.fromEntries(names),
    add: (paths: string | readonly string[]) =>
      void asked.push(...[paths].flat().map((path) => `add ${basename(path)}`)),
    unwatch: (paths: readonly string[]) =>
      void asked.push(...paths.map((path) => `unwatch ${basename(path)}`)),
  });
  let told: string[] = [];
  watcher.on("all", (event: string, path: string) => told.push(`${event} ${basename(path)}`));
  const seen: string[] = [];
  let forgotten = 0;
  const pluginContainer = { watchChange: async () => void forgotten++ };
  const server = {
    watcher,
    config: { root },
    environments: { client: { pluginContainer, logger: console } },
  };
  for (const file of ["", ...files]) put(join(root, file));
  const watched = { root, except: [join(root, "dist")] };
  const stop = watch(server as unknown as WatchedServer, watched, (file) =>
    seen.push(basename(file)),
  );
  return {
    asked,
    seen,
    stop,
    put: (name: string) => put(join(root, name)),
    forgotten: () => forgotten,
    ready: () => watcher.emit("ready"),
    /** The watcher reports an event. */
    reports: (event: string, name: string) => watcher.emit("all", event, join(root, name)),
    /** The system does. */
    raw: (event: string, name: string, watchedPath = root) =>
      watcher.emit("raw", event, name, { watchedPath }),
    /** Events that were reported through the watcher within this time. */
    async within(ms: number): Promise<readonly string[]> {
      told = [];
      await vi.advanceTimersByTimeAsync(ms);
      return told;
    },
  };
}

/** Gives each text of a file another time: the clock of files ticks every few ms. */
let time = Date.now() / 1_000 - 100;
function write(name: string, text: string): void {
  const path = join(root, name);
  writeFileSync(path, text);
  utimesSync(path, ++time, time);
}

describe("a path is looked at again 100 ms after its last event", () => {
  it("a change that the watcher has dropped, because it came soon after another, is reported", async () => {
    write("a.ts", "one");
    const { reports, within, seen } = start(["a.ts"]);
    write("a.ts", "two");
    reports("change", "a.ts");
    write("a.ts", "three");
    expect(await within(99)).toEqual([]);
    expect(await within(1)).toEqual(["change a.ts"]);
    expect(seen).toEqual(["a.ts", "a.ts"]);
    expect(await within(2_000)).toEqual([]);
  });

  it("a change that the watcher has reported is not reported again", async () => {
    write("a.ts", "one");
    const { reports, within, seen } = start(["a.ts"]);
    write("a.ts", "two");
    reports("change", "a.ts");
    expect(await within(2_000)).toEqual([]);
    expect(seen).toEqual(["a.ts"]);
  });

  it("each event puts the look off", async () => {
    write("a.ts", "one");
    const { reports, raw, within } = start(["a.ts"]);
    reports("change", "a.ts");
    write("a.ts", "two");
    await within(80);
    raw("change", "a.ts");
    expect(await within(99)).toEqual([]);
    expect(await within(1)).toEqual(["change a.ts"]);
  });

  it("a file of which only the system has told is reported", async () => {
    const { raw, put, within, asked } = start([]);
    write("new.ts", "one");
    raw("rename", "new.ts");
    expect(await within(100)).toEqual([]);
    expect(asked).toEqual(["add new.ts"]);
    put("new.ts");
    expect(await within(200)).toEqual(["add new.ts"]);
  });

  it("a file that the watcher ignores is not reported, and not looked for all the time", async () => {
    const { raw, within, asked } = start([]);
    write("ignored.ts", "one");
    raw("rename", "ignored.ts");
    expect(await within(1_000_000)).toEqual([]);
    expect(asked).toHaveLength(10);
  });

  it("a removed file is reported at the second look, and one that is replaced meanwhile as changed", async () => {
    for (const name of ["gone.ts", "saved.ts"]) write(name, "one");
    const { reports, raw, within } = start(["gone.ts", "saved.ts"]);
    for (const name of ["gone.ts", "saved.ts"]) {
      reports("change", name);
      rmSync(join(root, name));
      raw("rename", name);
    }
    expect(await within(100)).toEqual([]);
    write("saved.ts", "two");
    expect((await within(200)).toSorted()).toEqual(["change saved.ts", "unlink gone.ts"]);
    expect(await within(2_000)).toEqual([]);
  });

  it("the files of a new folder are reported, however late the watcher reaches them", async () => {
    const { reports, put, within } = start([]);
    mkdirSync(join(root, "deep"));
    write("deep/a.ts", "one");
    put("deep");
    reports("addDir", "deep");
    expect(await within(100)).toEqual([]);
    put("deep/a.ts");
    expect(await within(200)).toEqual(["add a.ts"]);
  });

  it("the files of a new folder are reported, however deep, even if the watcher has told of none of its folders", async () => {
    const { raw, put, within } = start([]);
    mkdirSync(join(root, "deep/deeper/deepest"), { recursive: true });
    write("deep/deeper/deepest/a.ts", "one");
    raw("rename", "deep");
    await within(100);
    for (const name of ["deep", "deep/deeper", "deep/deeper/deepest"]) put(name);
    put("deep/deeper/deepest/a.ts");
    expect(await within(2_000)).toEqual(["add a.ts"]);
  });

  it("the files of a new folder are reported by a watcher that takes ten seconds to reach them", async () => {
    const { raw, put, within } = start([]);
    mkdirSync(join(root, "deep"));
    write("deep/a.ts", "one");
    raw("rename", "deep");
    put("deep");
    expect(await within(10_000)).toEqual([]);
    put("deep/a.ts");
    expect(await within(10_000)).toEqual(["add a.ts"]);
  });
});

describe("what was there before", () => {
  it("a change is reported that was made before the watcher has reached the file", async () => {
    for (const name of ["a.ts", "b.ts"]) write(name, "one");
    const { put, within, seen } = start([]);
    write("a.ts", "two");
    expect(await within(10_000)).toEqual([]);
    for (const name of ["a.ts", "b.ts"]) put(name);
    expect(await within(100_000)).toEqual(["change a.ts"]);
    expect(seen).toEqual(["a.ts"]);
  });

  it("the watcher's `ready`, which comes too soon, changes nothing", async () => {
    write("a.ts", "one");
    const { ready, put, within } = start([]);
    ready();
    write("a.ts", "two");
    put("a.ts");
    expect(await within(1_000)).toEqual(["change a.ts"]);
  });

  it("a file and a folder are reported that are removed before the watcher has reached them", async () => {
    mkdirSync(join(root, "deep"));
    for (const name of ["a.ts", "deep/b.ts"]) write(name, "one");
    const { put, within } = start([]);
    put("deep");
    rmSync(join(root, "a.ts"));
    rmSync(join(root, "deep"), { recursive: true });
    expect((await within(2_000)).toSorted()).toEqual([
      "unlink a.ts",
      "unlink b.ts",
      "unlinkDir deep",
    ]);
  });

  it("a file is reported that is added before the watcher watches its folder", async () => {
    mkdirSync(join(root, "deep"));
    const { put, within, asked } = start(["deep"]);
    write("deep/a.ts", "one");
    await within(1_000);
    expect(asked).toEqual(["add a.ts"]);
    put("deep/a.ts");
    expect(await within(2_000)).toEqual(["add a.ts"]);
  });

  it("folders that hold no source are not looked into", async () => {
    for (const name of ["dist", "node_modules"]) mkdirSync(join(root, name));
    for (const name of ["dist/a.js", "node_modules/b.js"]) write(name, "one");
    const { within, asked } = start(["dist", "node_modules"]);
    write("dist/a.js", "two");
    expect(await within(10_000)).toEqual([]);
    expect(asked).toEqual([]);
  });
});

describe("a watch that has ended", () => {
  it("a folder that takes the name of another one is watched anew", async () => {
    mkdirSync(join(root, "parts"));
    const { raw, within, asked } = start(["parts", "parts/a.ts"]);
    renameSync(join(root, "parts"), join(root, ".other"));
    raw("rename", "parts", join(root, "parts"));
    await within(300);
    expect(asked).toEqual([]);
    mkdirSync(join(root, "parts"));
    await within(100);
    expect(asked).toEqual(["unwatch parts", "add parts"]);
  });

  it("a name that doesn't come back is looked for no longer than the watcher takes to report it", async () => {
    mkdirSync(join(root, "parts"));
    const { raw, within, asked } = start(["parts"]);
    rmSync(join(root, "parts"), { recursive: true });
    raw("rename", "parts", join(root, "parts"));
    await within(1_100);
    mkdirSync(join(root, "parts"));
    await within(2_000);
    expect(asked).toEqual([]);
  });
});

describe("a file that is created anew", () => {
  it("Vite forgets failed imports of a file that the watcher reports as changed, but which is new", () => {
    write("a.ts", "one");
    // The session begins a while later.
    vi.setSystemTime(Date.now() + 100);
    const { reports, forgotten } = start(["a.ts"]);
    reports("change", "a.ts");
    expect(forgotten()).toBe(0);
    renameSync(join(root, "a.ts"), join(root, "old.ts"));
    vi.useRealTimers();
    for (const end = Date.now() + 20; Date.now() < end;);
    write("a.ts", "two");
    reports("change", "a.ts");
    expect(forgotten()).toBe(1);
  });
});

it("after its end nothing is looked at and nothing is reported", async () => {
  write("a.ts", "one");
  const { reports, raw, within, seen, stop } = start(["a.ts"]);
  reports("change", "a.ts");
  write("a.ts", "two");
  stop();
  reports("change", "a.ts");
  raw("rename", "a.ts");
  expect(await within(10_000)).toEqual([]);
  expect(seen).toEqual(["a.ts"]);
});
