import { describe, expect, it } from "vitest";

import { openFilesWarning, readOpenFilesLimit } from "../../../server/open-files.ts";

const limits = (open: string): string =>
  `Limit                     Soft Limit           Hard Limit           Units     \nMax cpu time              unlimited            unlimited            seconds   \nMax open files            ${open.padEnd(20)} 524288               files     \n`;

describe("the limit of open files", () => {
  it("is read from /proc where there is one", async () => {
    expect(await readOpenFilesLimit(async () => limits("1024"))).toBe(1024);
    expect(await readOpenFilesLimit(async () => limits("unlimited"))).toBe(Infinity);
  });

  it("is taken from Node's own report elsewhere", async () => {
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

  it("is unknown where neither says it, and nothing is said then", async () => {
    for (const text of ["", "Max processes 1 1 processes\n"])
      expect(
        await readOpenFilesLimit(
          async () => text,
          () => ({}),
        ),
      ).toBeUndefined();
    expect(openFilesWarning(undefined, "gateway", 10_000)).toBeUndefined();
  });

  it("of this process is known on the systems that have one", async () => {
    expect(await readOpenFilesLimit()).toBeGreaterThan(0);
  });
});

describe("the warning at the start", () => {
  it("comes when fewer files may be open than connections, and says what to do", () => {
    expect(openFilesWarning(1024, "node", 10_000)).toBe(
      "this process may open 1024 files, and limits.connections is 10000: raise the limit (ulimit -n, LimitNOFILE), or set limits.connections to 1024 or less",
    );
    expect(openFilesWarning(10_000, "node", 10_000)).toBeUndefined();
  });

  it.each(["gateway", "proxy"] as const)("counts two for each call that a %s passes on", (mode) => {
    expect(openFilesWarning(16_000, mode, 10_000)).toBe(
      "this process may open 16000 files, and limits.connections is 10000, each of them two with the connection on which a call goes on: raise the limit (ulimit -n, LimitNOFILE), or set limits.connections to 8000 or less",
    );
    expect(openFilesWarning(20_000, mode, 10_000)).toBeUndefined();
  });
});
