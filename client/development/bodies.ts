// Bodies of a page in development, and `onStop` of its modules: code is replaced by hot updates,
// and a body moves away and back (docs/guide/closing.md).

import { checkStopCallback, StopCallbacks } from "../../src/runtime/stop-callbacks.ts";
import { browser } from "../browser.ts";
import { callsEndMs, updateMs } from "./times.ts";

type Code = Readonly<Record<string, (...args: never[]) => unknown>>;

/** The callbacks that an instance of a module passed to `onStop`. */
class ModuleStops {
  readonly callbacks: StopCallbacks = new StopCallbacks(browser.clock.after);
  readonly #file: string;
  #stopping: Promise<void> = Promise.resolve();

  constructor(module: string) {
    this.#file = fileOf(module);
  }

  /** Runs the callbacks, after calls in the module's code. A later call waits as well. */
  async stop(): Promise<void> {
    this.#stopping = this.#stopping.then(async () => {
      if (this.callbacks.isEmpty) return;
      await bodies.get(this.#file)?.callsEnded();
      await this.callbacks.run(console);
    });
    await this.#stopping;
  }
}

/** The latest instances, by the module's address. */
const stops = new Map<string, ModuleStops>();
/** By the address of the module's file. */
const bodies = new Map<string, Body>();
/** Modules that wait for the callbacks of a body that leaves. */
const waiting = new Set<() => void>();

/**
 * For a module that imports `onStop`, before it runs: runs the callbacks of the instance that it
 * replaces, and returns its own `onStop`.
 */
export async function moduleStops(
  module: string,
  hot: { prune(listener: () => void): void } | undefined,
): Promise<(callback: () => unknown) => void> {
  await stops.get(module)?.stop();
  const own = new ModuleStops(module);
  stops.set(module, own);
  // The page doesn't import it any more. If the body that did has left, that body goes first.
  hot?.prune(() => {
    const cancel = browser.clock.after(callsEndMs, end);
    function end(): void {
      cancel();
      waiting.delete(end);
      void own.stop();
    }
    waiting.add(end);
  });
  return (callback) => {
    checkStopCallback(callback);
    own.callbacks.add(callback);
  };
}

/** The code behind a proxy module: the latest that has loaded. */
class Body {
  readonly #file: string;
  readonly #codeModule: string;
  /** The proxy module's own URL. */
  readonly #url: string;
  #code: Code;
  readonly #running = new Set<Promise<unknown>>();
  /** Its callbacks have run, so it has to run again before its next use. */
  #isStopped = false;
  readonly #onReplaced = new Set<() => void>();

  constructor(file: string, url: string, code: Code) {
    this.#file = file;
    this.#codeModule = `${file}?seamline=code`;
    this.#url = url;
    this.#code = { ...code };
  }

  call(name: string, self: unknown, args: readonly never[]): unknown {
    const answer = Object.hasOwn(this.#code, name)
      ? this.#code[name]!.apply(self, args as never)
      : this.#behind(name, self, args);
    const call = Promise.resolve(answer);
    this.#running.add(call);
    const end = (): unknown => this.#running.delete(call);
    call.then(end, end);
    return answer;
  }

  /** For a procedure that came after the code was read, or left before, while the page hasn't been notified yet. */
  async #behind(name: string, self: unknown, args: readonly never[]): Promise<unknown> {
    const find = async (): Promise<((...args: never[]) => unknown) | undefined> =>
      (await elsewhere(this.#file, name)) ?? this.#code[name];
    const run = (await find()) ?? (await this.#replaced().then(find));
    if (run === undefined)
      throw new TypeError(`${this.#file} has no function '${name}': reload the page`);
    return await run.apply(self, args as never);
  }

  /** Vite's next update, or {@link updateMs}. */
  async #replaced(): Promise<void> {
    await within(updateMs, new Promise<void>((resolve) => this.#onReplaced.add(resolve)));
  }

  async callsEnded(): Promise<void> {
    await within(callsEndMs, Promise.allSettled(this.#running));
  }

  /** Vite has updated the code. Functions that the latest code lacks have left the page. */
  replace(code: Code | undefined): void {
    this.#code = { ...this.#code, ...code };
    // Without functions it is the code of a body that has left.
    if (Object.keys(code ?? {}).length === 0) return;
    this.#isStopped = false;
    for (const end of this.#onReplaced) end();
    this.#onReplaced.clear();
  }

  async leave(): Promise<void> {
    const left = stops.get(this.#codeModule);
    if (left?.callbacks.isEmpty === false) this.#isStopped = true;
    await left?.stop();
  }

  async arrive(): Promise<void> {
    if (!this.#isStopped) return;
    // When its first procedure is back, its text has changed.
    await this.#replaced();
    if (!this.#isStopped) return;
    const url = new URL(this.#url);
    // Only a new address makes a browser run a module again. Vite ignores `t`.
    url.search = `?seamline=code&t=${Date.now()}`;
    this.replace((await import(/* @vite-ignore */ url.href)) as Code);
  }
}

type Elsewhere = (
  file: string,
  name: string,
) => Promise<((...args: never[]) => unknown) | undefined>;

let elsewhere: Elsewhere = async () => undefined;

/**
 * Sets the function that finds a procedure by the address of its file and its name there. It follows
 * the current manifest, and resolves to a function that calls the procedure if it isn't in this page.
 */
export function findElsewhere(find: Elsewhere): void {
  elsewhere = find;
}

/** For the proxy module at `url`, which stands for the body of `file` and has loaded its code. */
export function bodyOf(file: string, url: string, code: Code): Body {
  const body = new Body(file, url, code);
  bodies.set(file, body);
  return body;
}

/** Bodies with these addresses are about to be used. */
export async function arrive(addresses: Iterable<string>): Promise<void> {
  await Promise.all([...addresses].map(async (path) => await bodies.get(fileOf(path))?.arrive()));
}

/** No seam leads to the bodies with these addresses any more. */
export async function leave(addresses: Iterable<string>): Promise<void> {
  await Promise.all([...addresses].map(async (path) => await bodies.get(fileOf(path))?.leave()));
  for (const end of waiting) end();
}

/** An address without its time of change. */
export function fileOf(address: string): string {
  return address.split("?")[0] ?? address;
}

async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let cancel = (): void => {};
  const late = new Promise<void>((resolve) => (cancel = browser.clock.after(ms, resolve)));
  await Promise.race([promise, late]);
  cancel();
}
