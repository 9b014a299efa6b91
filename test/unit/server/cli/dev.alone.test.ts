// The command line of `seamline dev`, with a fake session. Alone, as its signals would end a Vite of another test, and with it
// the process.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { dev, type DevCommandOptions } from "../../../../server/cli/dev.ts";
import { run } from "../../../../server/cli/program.ts";
import type { StartDev } from "../../../../server/dev/session.ts";
import { fakeSession, fakeTerminal } from "../_dev-session.ts";

const startDev = vi.fn<StartDev>();

let session = fakeSession();

beforeEach(() => {
  session = fakeSession();
  startDev.mockReset().mockImplementation(async () => session);
});

afterEach(() => {
  // The command sets it when it stops normally.
  process.exitCode = undefined;
});

const start = (options: Partial<DevCommandOptions>, terminal = fakeTerminal({ isTTY: false })) =>
  dev({ root: ".", ...options }, terminal, startDev);

describe("seamline dev", () => {
  it("starts a session with the command line's options, and closes it on q", async () => {
    const terminal = fakeTerminal();
    const signals = process.listenerCount("SIGINT");
    const ended = start({ port: 0, host: "::1", config: "package.json" }, terminal);
    await expect.poll(() => terminal.seen()).toContain("ready");
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

  it("listens on all addresses with --host and no value", async () => {
    const ended = start({ host: true });
    await expect.poll(() => startDev.mock.calls[0]?.[0].host).toBe("0.0.0.0");
    process.emit("SIGTERM");
    await ended;
  });

  it("opens the page with --open, or prints that it can't", async () => {
    const terminal = fakeTerminal({ env: { BROWSER: "none" } });
    const ended = start({ open: true }, terminal);
    await expect
      .poll(() => terminal.seen())
      .toContain("warning: the page could not be opened: BROWSER=none");
    await terminal.type("q");
    await ended;
  });

  it("stops on SIGINT before the session has started", async () => {
    const before = process.listenerCount("SIGINT");
    startDev.mockReturnValue(new Promise(() => {}));
    const ended = start({});
    await expect.poll(() => startDev).toHaveBeenCalled();
    process.emit("SIGINT");
    await ended;
    expect(process.listenerCount("SIGINT")).toBe(before);
  });

  it("rejects if the start fails, and restores the terminal and the signal handlers", async () => {
    const signals = process.listenerCount("SIGINT");
    startDev.mockRejectedValue(new Error("port 5173 is taken"));
    const terminal = fakeTerminal();
    await expect(start({}, terminal)).rejects.toThrow("port 5173 is taken");
    expect(terminal.stdin.rawMode).toBe(false);
    expect(process.listenerCount("SIGINT")).toBe(signals);
  });

  it("refuses a configuration that doesn't exist", async () => {
    await expect(start({ config: "none.json" })).rejects.toThrow(
      "--config: there is no file none.json",
    );
    expect(startDev).not.toHaveBeenCalled();
  });

  it.each([
    [
      {},
      "Port 80 is already in use",
      "port 80 is in use: choose another with --port, or stop the program that uses it",
    ],
    [
      { syscall: "listen", code: "EACCES" },
      "no",
      "only an administrator may listen on port 80: choose one from 1024 up with --port",
    ],
    [
      { syscall: "getaddrinfo", code: "ENOTFOUND" },
      "no",
      "this machine can't listen at nowhere (ENOTFOUND): give one of its own addresses with --host",
    ],
    [{ syscall: "open", code: "EACCES" }, "no such luck", "no such luck"],
  ])("has a hint if it can't listen: %j", async (fields, message, shown) => {
    startDev.mockRejectedValue(Object.assign(new Error(message), fields));
    await expect(start({ port: 80, host: "nowhere" })).rejects.toThrow(shown);
  });

  it.each([
    [["--port", "x"], "Expected a number from 0 to 65535."],
    [["--port", "65536"], "Expected a number from 0 to 65535."],
    [["--prot", "1"], "Did you mean --port?"],
    [["folder"], "too many arguments"],
  ])("exits with 2 for %j", async (words, message) => {
    const terminal = fakeTerminal({ isTTY: false });
    expect(await run(["dev", ...words], terminal)).toBe(2);
    expect(terminal.seen()).toContain(message);
    expect(startDev).not.toHaveBeenCalled();
  });

  it("logs an unhandled rejection of the application and goes on", async () => {
    const terminal = fakeTerminal({ isTTY: false });
    const ended = start({}, terminal);
    await expect.poll(() => terminal.seen()).toContain("ready");
    process.emit("unhandledRejection", new RangeError("nobody waits"), Promise.resolve());
    expect(terminal.seen()).toContain("error: unhandled rejection: RangeError: nobody waits");
    process.emit("SIGTERM");
    await ended;
  });
});
