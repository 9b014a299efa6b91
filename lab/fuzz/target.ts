// The interface of the fuzzer's targets, and the definition of a fault.

import type { Random } from "./random.ts";

export interface Target {
  readonly name: string;
  /** Milliseconds that one input may take [1,000]. */
  readonly slowMs?: number;
  open?(): Promise<void>;
  /** Makes one input and tries it. Throws what is wrong with the answer. */
  attempt(random: Random): void | Promise<void>;
  /** Text to report beside the number of inputs. Throws if something is wrong after all of them. */
  figures?(): string | Promise<string>;
  close?(): Promise<void>;
}

/** A fault, with the input that causes it. */
export class Finding extends Error {
  override readonly name = "Finding";
  readonly what: string;
  readonly input: string;
  constructor(what: string, input: unknown) {
    super(what);
    this.what = what;
    this.input = shown(input);
  }
}

function shown(input: unknown): string {
  const text: string | undefined =
    input instanceof Uint8Array
      ? JSON.stringify(Buffer.from(input).toString("latin1"))
      : typeof input === "string"
        ? JSON.stringify(input)
        : JSON.stringify(input, (_, value: unknown) =>
            value instanceof Map
              ? { map: [...(value as Map<unknown, unknown>)] }
              : typeof value === "bigint"
                ? `${value}n`
                : value,
          );
  return text ?? "undefined";
}

/** Runs `act`, which may throw errors of the listed classes only. */
export function tolerate<T>(
  input: unknown,
  allowed: readonly (abstract new (...args: never[]) => unknown)[],
  act: () => T,
): T | undefined {
  try {
    return act();
  } catch (thrown) {
    checkThrown(thrown, input, allowed);
    return undefined;
  }
}

/** The same for promises. */
export async function tolerateLater<T>(
  input: unknown,
  allowed: readonly (abstract new (...args: never[]) => unknown)[],
  act: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await act();
  } catch (thrown) {
    checkThrown(thrown, input, allowed);
    return undefined;
  }
}

function checkThrown(
  thrown: unknown,
  input: unknown,
  allowed: readonly (abstract new (...args: never[]) => unknown)[],
): void {
  if (thrown instanceof Finding) throw thrown;
  if (!allowed.some((type) => thrown instanceof type))
    throw new Finding(
      `throws ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`,
      input,
    );
}

/** Stacks, paths and system errors, which no answer may hold. */
export const leak: RegExp =
  /\/tmp\/|\/home\/|\/work\/|node_modules|file:\/\/|\n\s+at |\bE[A-Z]{4,}\b|errno|syscall|"stack"|127\.0\.0\.1/;

/** Throws if an answer blames the service for its caller's mistake, or says what it shouldn't. */
export function checkAnswer(status: number, text: string, input: unknown): void {
  if (status === 500) throw new Finding(`answers 500: ${text.slice(0, 300)}`, input);
  const found = leak.exec(text);
  if (found !== null && status >= 400)
    throw new Finding(
      `the answer ${status} holds ${found[0].trim()}: ${text.slice(0, 300)}`,
      input,
    );
}

const watched = [Object, Array, Function, Map, Set, Promise, Error, String, Number, RegExp, Date];

/** Keys of prototypes and of the global object, which no input may change. */
export function census(): string {
  return `${watched.map(({ prototype }) => Reflect.ownKeys(prototype as object).length).join()} ${Reflect.ownKeys(globalThis).length} ${Object.keys(Object.prototype).join()}`;
}
