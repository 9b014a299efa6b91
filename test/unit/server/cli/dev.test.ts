// The command line of `seamline dev`, with a session of the test's own.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { dev } from "../../../../server/cli/dev.ts";
import { type DevCommandOptions, run } from "../../../../server/cli/program.ts";
import type { StartDev } from "../../../../server/dev/session.ts";
import { fakeSession, fakeTerminal } from "../_dev-session.ts";

const startDev = vi.fn<StartDev>();

let session = fakeSession();

beforeEach(() => {
  session = fakeSession();
  startDev.mockReset().mockImplementation(async () => session);
});

afterEach(() => {
  // The command says with it that it ended as asked.
  process.exitCode = undefined;
});

const start = (options: Partial<DevCommandOptions>, terminal = fakeTerminal({ isTTY: false })) =>
  dev({ root: ".", ...options }, terminal, startDev);

describe("seamline dev", () => {
  it("starts a session with what the command line says, and closes it when it is told to quit", async () => {
    const terminal = fakeTerminal();
    const signals = process.listenerCount("SIGINT");
    const ended = start({ port: 0, host: "::1", config: "package.json" }, terminal);
    await vi.waitFor(() => expect(terminal.seen()).toContain("ready"));
    expect(process.listenerCount("SIGINT")).toBe(signals + 1);
    await terminal.type("q");
    await ended;
    expect(startDev.mock.calls).toEqual([
      [
        {
          root: process.cwd(),
          port: 0,
          host: "::1",
          config: "package.json",
          log: expect.anything(),
        },
      ],
    ]);
    expect(session.closed).toBe(true);
    expect(process.exitCode).toBe(0);
    expect(process.listenerCount("SIGINT")).toBe(signals);
  });

  it("listens on all addresses with --host alone", async () => {
    const ended = start({ host: true });
    await vi.waitFor(() => expect(startDev.mock.calls[0]?.[0].host).toBe("0.0.0.0"));
    process.emit("SIGTERM");
    await ended;
  });

  it("opens the page with --open, and says politely that it could not", async () => {
    const terminal = fakeTerminal({ env: { BROWSER: "none" } });
    const ended = start({ open: true }, terminal);
    await vi.waitFor(() =>
      expect(terminal.seen()).toContain("warning: the page was not opened: BROWSER=none"),
    );
    await terminal.type("q");
    await ended;
  });

  it("stops on SIGINT before the session is there", async () => {
    const before = process.listenerCount("SIGINT");
    startDev.mockReturnValue(new Promise(() => {}));
    const ended = start({});
    await vi.waitFor(() => expect(startDev).toHaveBeenCalled());
    process.emit("SIGINT");
    await ended;
    expect(process.listenerCount("SIGINT")).toBe(before);
  });

  it("fails as the start does, and nothing of the terminal or the signals is kept", async () => {
    const signals = process.listenerCount("SIGINT");
    startDev.mockRejectedValue(new Error("port 5173 is taken"));
    const terminal = fakeTerminal();
    await expect(start({}, terminal)).rejects.toThrow("port 5173 is taken");
    expect(terminal.stdin.rawMode).toBe(false);
    expect(process.listenerCount("SIGINT")).toBe(signals);
  });

  it("refuses a configuration that isn't there", async () => {
    await expect(start({ config: "none.json" })).rejects.toThrow(
      "none.json: there is no such file, but --config names it",
    );
    expect(startDev).not.toHaveBeenCalled();
  });

  it.each([
    [
      {},
      "Port 80 is already in use",
      "port 80 is taken: name another with --port, or stop what listens there",
    ],
    [
      { syscall: "listen", code: "EACCES" },
      "no",
      "nobody but the system's administrator may listen on port 80: name one from 1024 on with --port",
    ],
    [
      { syscall: "getaddrinfo", code: "ENOTFOUND" },
      "no",
      "this machine can't listen at nowhere (ENOTFOUND): name an address of its own with --host",
    ],
    [{ syscall: "open", code: "EACCES" }, "no such luck", "no such luck"],
  ])("says what to do when it can't listen: %j", async (fields, message, told) => {
    startDev.mockRejectedValue(Object.assign(new Error(message), fields));
    await expect(start({ port: 80, host: "nowhere" })).rejects.toThrow(told);
  });

  it.each([
    [["--port", "x"], "It is a number from 0 to 65535."],
    [["--port", "65536"], "It is a number from 0 to 65535."],
    [["--prot", "1"], "Did you mean --port?"],
    [["folder"], "too many arguments"],
  ])("ends with 2 for %j", async (words, message) => {
    const terminal = fakeTerminal({ isTTY: false });
    expect(await run(["dev", ...words], terminal)).toBe(2);
    expect(terminal.seen()).toContain(message);
    expect(startDev).not.toHaveBeenCalled();
  });

  it("tells of a promise of the application that failed with nobody waiting, and goes on", async () => {
    const terminal = fakeTerminal({ isTTY: false });
    const ended = start({}, terminal);
    await vi.waitFor(() => expect(terminal.seen()).toContain("ready"));
    process.emit("unhandledRejection", new RangeError("nobody waits"), Promise.resolve());
    expect(terminal.seen()).toContain(
      "error: a promise failed, and nobody waits for it: RangeError: nobody waits",
    );
    process.emit("SIGTERM");
    await ended;
  });
});
