// A fake development session, and a fake terminal that records its output.

import { PassThrough } from "node:stream";
import type { Parameter } from "../../../src/base/manifest.ts";
import type {
  DevEvent,
  DevNode,
  DevProcedure,
  DevSession,
} from "../../../server/dev/session/session.ts";
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
  /** The visible text, as a terminal renders the output, including scrolled lines. */
  seen(): string;
  /** The output with escape sequences. */
  raw(): string;
  /** Text, or the name of a key. */
  type(...keys: string[]): Promise<void>;
  readonly stdin: TerminalInput & { readonly rawMode: boolean };
  resize(columns: number): void;
}

const sequences: Readonly<Record<string, string>> = {
  enter: "\r",
  escape: "\u001B",
  up: "\u001B[A",
  "ctrl-a": "\u0001",
  "ctrl-c": "\u0003",
  "ctrl-d": "\u0004",
};

interface Screen {
  readonly columns?: number;
  readonly isTTY?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** With `isTTY: false` it is a pipe without keys. */
export function fakeTerminal({ columns = 80, isTTY = true, env = {} }: Screen = {}): FakeTerminal {
  let raw = "";
  const resizers = new Set<() => void>();
  const size = { columns, rows: 24 };
  const output = (): FakeTerminal["stdout"] => ({
    write(text) {
      raw += String(text);
      return true;
    },
    isTTY,
    get columns() {
      return size.columns;
    },
    get rows() {
      return size.rows;
    },
    on: (_event, listener) => resizers.add(listener),
    off: (_event, listener) => resizers.delete(listener),
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
    seen: () => render(raw, isTTY ? size.columns : Infinity).join("\n"),
    async type(...pressed) {
      for (const key of pressed) {
        keys.write(sequences[key] ?? key);
        // The key is handled within this turn of the event loop.
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    resize(next) {
      size.columns = next;
      for (const listener of resizers) listener();
    },
  };
}

/** Renders text, line breaks, cursor moves up and right, and clearing to the end. Ignores colours. */
export function render(raw: string, columns: number): string[] {
  const rows: string[] = [""];
  let row = 0;
  let column = 0;
  // oxlint-disable-next-line no-control-regex
  for (const [token] of raw.matchAll(/\u001B\[\d*[A-Za-z]|[^\u001B]/gu)) {
    const count = Number(/\d+/.exec(token)?.[0] ?? 1);
    const action = token.length > 1 ? token.at(-1) : undefined;
    if (token === "\n") {
      row++;
      column = 0;
      if (rows[row] === undefined) rows[row] = "";
    } else if (token === "\r") column = 0;
    else if (action === "A") row = Math.max(0, row - count);
    else if (action === "C") column += count;
    else if (action === "J") {
      rows.length = row + 1;
      rows[row] = rows[row]!.slice(0, column);
    } else if (!token.startsWith("\u001B")) {
      if (column === columns) {
        row++;
        column = 0;
        rows[row] ??= "";
      }
      rows[row] = rows[row]!.padEnd(column).slice(0, column) + token + rows[row]!.slice(column + 1);
      column++;
    }
  }
  return rows;
}
