// The keys of `seamline dev`.

import { describe, expect, it, vi } from "vitest";
import type { DevSession } from "../../../server/dev/session.ts";
import { showInTerminal } from "../../../server/dev/show-in-terminal.ts";
import { fakeSession, fakeTerminal } from "./_dev-session.ts";

function show({
  session: changes,
  open = async () => {},
}: {
  session?: Partial<DevSession>;
  open?: (url: string) => Promise<void>;
} = {}) {
  const session = fakeSession(changes);
  const terminal = fakeTerminal();
  const stop = vi.fn<() => void>();
  const shows = showInTerminal(terminal, { root: "/app", version: "1.2.3", stop, open });
  shows.start(session, { ms: 412 });
  const first = terminal.seen();
  return { session, terminal, shows, stop, after: () => terminal.seen().slice(first.length) };
}

describe("keys of `seamline dev`", () => {
  it("o opens the page, and c opens the console with a new link each time", async () => {
    const open = vi.fn<(url: string) => Promise<void>>(async () => {});
    let links = 0;
    const consoleUrl = () => `http://localhost:5173/svc/console#token=${++links}`;
    const { terminal } = show({ open, session: { consoleUrl } });
    const shown = links;
    await terminal.type("o", "c", "c");
    expect(open.mock.calls.map(([url]) => url)).toEqual([
      "http://localhost:5173/",
      `http://localhost:5173/svc/console#token=${shown + 1}`,
      `http://localhost:5173/svc/console#token=${shown + 2}`,
    ]);
  });

  it.each(["h", "?"])("%s prints a help with all keys and a link to the console", async (key) => {
    const { terminal, after } = show();
    await terminal.type(key);
    const help = after();
    for (const name of ["o", "c", "h", "q"])
      expect(help).toMatch(new RegExp(`^  ${name}  \\w`, "m"));
    expect(help).toContain("http://localhost:5173/svc/console#token=abc");
  });

  it.each(["q", "ctrl-c", "ctrl-d"])("%s quits", async (key) => {
    const { terminal, stop } = show();
    await terminal.type(key);
    expect(stop).toHaveBeenCalledTimes(1);
  });

  it("an address that can't be opened is printed", async () => {
    const open = async () => await Promise.reject(new Error("no opener"));
    const { terminal, after } = show({ open });
    await terminal.type("o", "c");
    expect(after()).toBe(
      [
        "Can't open the page from here (no opener): http://localhost:5173/",
        "Can't open the console from here (no opener): http://localhost:5173/svc/console#token=abc",
        "",
      ].join("\n"),
    );
  });

  it("c reports that there is no console while nothing runs", async () => {
    const open = vi.fn<(url: string) => Promise<void>>(async () => {});
    const { terminal, after } = show({ open, session: { consoleUrl: () => undefined } });
    await terminal.type("c");
    expect(after()).toBe("There is no console yet: nothing runs.\n");
    expect(open).not.toHaveBeenCalled();
  });

  it("c says that the build has no console if there is none while nodes run", async () => {
    const { terminal, session, after } = show({ session: { consoleUrl: () => undefined } });
    session.emit({ kind: "mended" });
    const before = after().length;
    await terminal.type("c");
    expect(after().slice(before)).toBe("This build of Seamline has no console.\n");
  });

  it("other keys do nothing", async () => {
    const { terminal, stop, after } = show();
    await terminal.type("x", "k", "m", "up", "enter", "escape", " ", "C", "Q", "ctrl-a");
    expect(after()).toBe("");
    expect(stop).not.toHaveBeenCalled();
  });
});

describe("the terminal of `seamline dev`", () => {
  it("closing the session restores the terminal", async () => {
    const { terminal, shows, after } = show();
    expect(terminal.stdin.rawMode).toBe(true);
    shows.close();
    expect(terminal.stdin.rawMode).toBe(false);
    expect(after()).toBe("");
    expect(terminal.stdin.listenerCount("keypress")).toBe(0);
  });
});
