// Development sessions with a real Vite, on applications in temporary folders whose files tests
// edit.

import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { onTestFinished as onCurrentTestFinished, type TestContext, vi } from "vitest";

import { stackOf } from "../../server/base/stacks.ts";
import type { DevEvent, DevSession } from "../../server/dev/session.ts";
import { startDev } from "../../server/vite/start-dev.ts";
import { freePort } from "../_free-port.ts";
import { formatProblem } from "../../src/base/problem.ts";

// Only bounds a failure: the first session of a process loads Vite, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

export type Files = Readonly<Record<string, string>>;

export interface Application {
  readonly root: string;
  write(files: Files): void;
  /** Replaces a text that must be in the file. */
  edit(file: string, from: string, to: string): void;
  remove(file: string): void;
}

export interface Running extends Application {
  readonly session: DevSession;
  readonly events: DevEvent[];
  readonly logged: string[];
  /** The answer to a call from outside, as JSON or as text. */
  get(target: string): Promise<{ readonly status: number; readonly value: unknown }>;
  text(path: string): Promise<string>;
  /** Waits for an event of this kind that came after `since`, a number of events. */
  nextEvent<Kind extends DevEvent["kind"]>(
    kind: Kind,
    since?: number,
  ): Promise<Extract<DevEvent, { kind: Kind }>>;
}

/**
 * Polls until the value is accepted. After the deadline, returns the last value for an assertion.
 */
export async function eventually<T>(
  read: () => T | Promise<T>,
  isAccepted: (value: T) => boolean,
  ms = 20_000,
): Promise<T> {
  const deadline = performance.now() + ms;
  for (;;) {
    const value = await read();
    if (isAccepted(value) || performance.now() > deadline) return value;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Of tests that run beside each other, each has to say which one it is. */
type Concurrent = Pick<TestContext, "onTestFinished">;

/** Under Vitest the plugin doesn't split modules. For tests that run beside each other, for all of a file. */
export const splitUnderVitest = (): void => void vi.stubEnv("VITEST", undefined);

/** Creates the application in a folder of this name inside a temporary folder. */
export function createApplication(
  files: Files,
  name = "app",
  { onTestFinished }: Concurrent = { onTestFinished: onCurrentTestFinished },
): Application {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "seamline-dev-")));
  const root = join(folder, name);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const write = (more: Files): void => {
    for (const [name, text] of Object.entries(more)) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), text);
    }
  };
  write({ "package.json": '{ "name": "fixture", "private": true, "type": "module" }', ...files });
  // The session loads the application's own Vite.
  mkdirSync(join(root, "node_modules"));
  symlinkSync(
    join(import.meta.dirname, "../../node_modules/vite"),
    join(root, "node_modules/vite"),
  );
  return {
    root,
    write,
    edit(file, from, to) {
      const text = readFileSync(join(root, file), "utf8");
      if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
      writeFileSync(join(root, file), text.replace(from, to));
    },
    remove: (file) => rmSync(join(root, file), { recursive: true }),
  };
}

export interface DevelopOptions {
  readonly config?: string;
  /** The name of the application folder. */
  readonly name?: string;
  /** The folder for the session, if not the application's own. */
  readonly at?: (root: string) => string;
  /** `false`: don't wait for the nodes. */
  readonly awaitsNodes?: boolean;
  /** The test's, if others run beside it. Its file calls {@link splitUnderVitest}. */
  readonly context?: Concurrent;
}

/** Starts a session on an application with these files. It ends with the test. */
export async function develop(files: Files, options: DevelopOptions = {}): Promise<Running> {
  const onTestFinished = options.context?.onTestFinished ?? onCurrentTestFinished;
  if (options.context === undefined) {
    splitUnderVitest();
    onTestFinished(() => void vi.unstubAllEnvs());
  }
  const application = createApplication(files, options.name, { onTestFinished });
  const logged: string[] = [];
  const log = {
    info: (line: string) => void logged.push(line),
    warn: (line: string) => void logged.push(`warning: ${line}`),
    error: (line: string, cause?: unknown) =>
      void logged.push(`error: ${line} ${cause instanceof Error ? stackOf(cause) : ""}`),
  };
  const { at = (root) => root, config } = options;
  const session = await startDev({
    root: at(application.root),
    // For port 0, Vite looks for a free port and takes it later, when another process may have it.
    port: await freePort(),
    host: "127.0.0.1",
    log,
    config,
  });
  onTestFinished(async () => await session.close());
  if (options.awaitsNodes !== false) await session.ready;
  const events: DevEvent[] = [];
  session.on((event) => void events.push(event));
  return {
    ...application,
    session,
    events,
    logged,
    async get(target) {
      const answer = await fetch(session.url + target, once);
      const text = await answer.text();
      try {
        return { status: answer.status, value: JSON.parse(text) as unknown };
      } catch {
        return { status: answer.status, value: text };
      }
    },
    text: async (path) => await (await fetch(session.url + path, once)).text(),
    async nextEvent(kind, since = 0) {
      const find = () => events.slice(since).find((event) => event.kind === kind);
      const found = await eventually(find, (event) => event !== undefined);
      if (found === undefined)
        throw new Error(
          `no event '${kind}' came, but ${events.slice(since).map(shown).join("; ") || "none"}; ${logged.join("\n")}`,
        );
      return found as never;
    },
  };
}

/** A server that was busy for seconds closes idle connections, and a request may be on one of them. */
const once = { headers: { connection: "close" } };

function shown(event: DevEvent): string {
  return event.kind === "problems"
    ? event.problems.map(formatProblem).join("\n")
    : JSON.stringify(event);
}

/** A shop of two servers and a page. */
export const shop: Files = {
  "index.html":
    '<!doctype html><html><head><title>Shop</title></head><body><script type="module" src="/src/main.ts"></script></body></html>\n',
  "src/main.ts": [
    'import { startClient } from "seamline/client";',
    'import { Money } from "./shop/money.ts";',
    'import { quote } from "./shop/quote.ts";',
    'await startClient("ui");',
    "console.log(quote, Money);",
    "",
  ].join("\n"),
  "src/shop/money.ts":
    "export class Money {\n  readonly amount: number;\n  constructor(amount: number) {\n    this.amount = amount;\n  }\n}\n",
  "src/shop/quote.ts": [
    'import { Money } from "./money.ts";',
    'import { costOf } from "./suppliers.ts";',
    "",
    "const margin = 2;",
    "let calls = 0;",
    "export const shared = new Map<string, number>();",
    "",
    "export async function quote(sku: string, metres = 1): Promise<Money> {",
    "  calls++;",
    "  shared.set(sku, calls);",
    "  return new Money((await costOf(sku)) * margin * metres);",
    "}",
    "",
    "export async function counts(): Promise<{ own: number; shared: number }> {",
    "  return { own: calls, shared: shared.size };",
    "}",
    "",
  ].join("\n"),
  "src/shop/suppliers.ts":
    "export async function costOf(sku: string): Promise<number> {\n  return sku.length * 10;\n}\n",
  "src/shop/stock.ts": [
    'import { quote } from "./quote.ts";',
    "export async function stock(sku: string): Promise<number> {",
    "  return sku.length;",
    "}",
    "export async function worth(sku: string): Promise<number> {",
    "  return (await quote(sku)).amount * (await stock(sku));",
    "}",
    "",
  ].join("\n"),
  "src/ui/filter.ts":
    'export async function filter(words: string[]): Promise<string[]> {\n  return words.filter((word) => word !== "");\n}\n',
  "segments/office.segment.json":
    '{ "./shop/quote": { "quote": { "access": "public" }, "counts": { "access": "public" } } }\n',
  "segments/store.segment.json":
    '{ "./shop/stock": { "stock": { "access": "public" }, "worth": { "access": "public" } } }\n',
  "segments/ui.segment.json": '{ "./ui/filter": { "filter": { "access": "public" } } }\n',
};
