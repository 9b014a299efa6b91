import { describe, expect, it } from "vitest";

import { openFilesWarning, readOpenFilesLimit } from "../../../server/config/open-files.ts";

const limits = (open: string): string =>
  `Limit                     Soft Limit           Hard Limit           Units     \nMax cpu time              unlimited            unlimited            seconds   \nMax open files            ${open.padEnd(20)} 524288               files     \n`;

describe("the limit of open files", () => {
  it("is read from /proc if that exists", async () => {
    expect(await readOpenFilesLimit(async () => limits("1024"))).toBe(1024);
    expect(await readOpenFilesLimit(async () => limits("unlimited"))).toBe(Infinity);
  });

  it("is taken from Node's report without /proc", async () => {
    const nothing = () => Promise.reject(new Error("no /proc"));
    expect(
      await readOpenFilesLimit(nothing, () => ({
        userLimits: { open_files: { soft: "256", hard: "unlimited" } },
      })),
    ).toBe(256);
    expect(
      await readOpenFilesLimit(nothing, () => ({
        userLimits: { open_files: { soft: "unlimited", hard: "unlimited" } },
      })),
    ).toBe(Infinity);
  });

  it("is unknown if neither has it, and causes no warning", async () => {
    for (const text of ["", "Max processes 1 1 processes\n"])
      expect(
        await readOpenFilesLimit(
          async () => text,
          () => ({}),
        ),
      ).toBeUndefined();
    expect(openFilesWarning(undefined, 10_000)).toBeUndefined();
  });

  it("is known for this process", async () => {
    expect(await readOpenFilesLimit()).toBeGreaterThan(0);
  });
});

describe("the warning about open files", () => {
  it("is logged if maxConnections exceeds the limit, with a hint", () => {
    expect(openFilesWarning(1024, 10_000)).toBe(
      "this process may open 1024 files, and limits.maxConnections is 10000: raise the limit to 10032 (ulimit -n, LimitNOFILE), or set limits.maxConnections to 992 or less",
    );
  });

  it("isn't logged again after either of its hints was followed, and leaves room for the process's own files", () => {
    expect(openFilesWarning(1024, 992)).toBeUndefined();
    expect(openFilesWarning(10_032, 10_000)).toBeUndefined();
    expect(openFilesWarning(10_000, 10_000)).toBeUndefined();
    expect(openFilesWarning(9_999, 10_000)).toMatch(/to 9967 or less$/);
    expect(openFilesWarning(16, 20)).toMatch(/to 1 or less$/);
  });
});
