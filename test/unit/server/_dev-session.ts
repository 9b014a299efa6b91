// A fake development session, and a fake terminal that records its output.

import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import type { Parameter } from "../../../src/base/manifest.ts";
import type { DevEvent, DevNode, DevProcedure, DevSession } from "../../../server/dev/session.ts";
import type { Terminal, TerminalInput, TerminalOutput } from "../../../server/base/terminal.ts";

export interface FakeSession extends DevSession {
  emit(event: DevEvent): void;
  /** Every call, kill, start and move. */
  readonly done: unknown[][];
  closed: boolean;
}

export function procedure(
  fqn: string,
  segment: string,
  overrides: Partial<DevProcedure> = {},
): DevProcedure {
  return {
    fqn,
    version: "0.0.0",
    access: "public",
    segments: [segment],
    parameters: [],
    nodes: [segment],
    ...overrides,
  };
}

export function node(name: string, overrides: Partial<DevNode> = {}): DevNode {
  return { name, segments: [name], procedures: 1, state: "ready", ...overrides };
}

export const plain = (
  name: string,
  overrides: Partial<Extract<Parameter, { kind: "plain" }>> = {},
): Parameter => ({
  kind: "plain",
  name,
  ...overrides,
});

/** A shop with two nodes and a browser segment. */
export function fakeSession(overrides: Partial<DevSession> = {}): FakeSession {
  const listeners = new Set<(event: DevEvent) => void>();
  const done: unknown[][] = [];
  const session: FakeSession = {
    url: "http://localhost:5173/",
    consoleUrl: () => "http://localhost:5173/svc/console#token=abc",
    watched: ["/app", "/app/src"],
    isRead: true,
    ready: Promise.resolve(),
    nodes: () => [node("orders", { procedures: 2 }), node("stock", { state: "stopped" })],
    procedures: () => [
      procedure("shop/quote", "orders", {
        parameters: [plain("sku", { type: "number" }), plain("note", { optional: true })],
      }),
      procedure("shop/total", "orders", { access: "private" }),
      procedure("shop/left", "stock", { access: "protected" }),
      procedure("view/draw", "ui", { nodes: ["page"] }),
    ],
    call: async (...call) => {
      done.push(["call", ...call]);
      return { value: { price: 12 }, node: "orders", ms: 3.2 };
    },
    kill: async (name) => void done.push(["kill", name]),
    start: async (name) => void done.push(["start", name]),
    move: async (...move) => void done.push(["move", ...move]),
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => void (session.closed = true),
    ...overrides,
    emit: (event) => {
      for (const listener of listeners) listener(event);
    },
    done,
    closed: false,
  };
  return session;
}

export interface FakeTerminal extends Terminal {
  readonly stdout: TerminalOutput & { write(text: string | Uint8Array): boolean };
  /** The output without colours. */
  seen(): string;
  /** The output with escape sequences. */
  raw(): string;
  /** Text, or the name of a key. */
  type(...keys: string[]): Promise<void>;
  readonly stdin: TerminalInput & { readonly rawMode: boolean };
}

const sequences: Readonly<Record<string, string>> = {
  enter: "\r",
  escape: "\u001B",
  up: "\u001B[A",
  "ctrl-a": "\u0001",
  "ctrl-c": "\u0003",
  "ctrl-d": "\u0004",
};

interface Kind {
  readonly isTTY?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** With `isTTY: false` it is a pipe without keys. */
export function fakeTerminal({ isTTY = true, env = {} }: Kind = {}): FakeTerminal {
  let raw = "";
  const output = (): FakeTerminal["stdout"] => ({
    write(text) {
      raw += String(text);
      return true;
    },
    isTTY,
  });
  const keys = new PassThrough();
  const stdin = Object.assign(keys, {
    isTTY,
    rawMode: false,
    setRawMode(on: boolean) {
      stdin.rawMode = on;
    },
  });
  return {
    stdout: output(),
    stderr: output(),
    stdin,
    env,
    raw: () => raw,
    seen: () => stripVTControlCharacters(raw),
    async type(...pressed) {
      for (const key of pressed) {
        keys.write(sequences[key] ?? key);
        // The key is handled within this turn of the event loop.
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}
