// The types of parameters where sources run without a build: they are read while the application runs already.

import { runInThisContext } from "node:vm";
import { wholeFault } from "../../src/base/faults.ts";
import type { ApplicationTypes, ParameterTypes } from "../../src/base/parameter-types.ts";
import { openModel } from "../types/open-model.ts";
import { formatProblem } from "../../src/base/problem.ts";
import type { TypesReading } from "../types/reading.ts";

/** `undefined`: no arguments are checked. */
export type ReadTypes = () => Promise<TypesReading | undefined>;

export interface LiveTypesOptions {
  /** How long a call waits for types that are being read [until they are]. */
  readonly waitMs?: number;
  /** A call isn't checked, as its types have taken longer. */
  readonly onLate?: (id: string) => void;
}

export class LiveTypes implements ApplicationTypes {
  readonly #options: LiveTypesOptions;
  /** Begins the reading that counts, if no call has needed it yet. */
  #begin: ReadTypes;
  /** The latest reading; `undefined` before it has begun, and once it is over. */
  #reading: Promise<void> | undefined;
  #isRead = false;
  #types: ApplicationTypes | undefined;
  /** Why no types could be read. */
  #failure: string | undefined;

  /** With `read`, the first call from outside begins the reading. */
  constructor(read: ReadTypes, options: LiveTypesOptions = {}) {
    this.#begin = read;
    this.#options = options;
  }

  /** Begins a reading that counts in place of those before it: calls wait for it. Rejects if it does. */
  async read(read: ReadTypes): Promise<TypesReading | undefined> {
    const reading = read();
    this.#begin = async () => await reading;
    await this.#started(this.#begin);
    return await reading;
  }

  /** Resolves once no reading runs: a reading keeps what it has read in a file. */
  async settled(): Promise<void> {
    while (this.#reading !== undefined) await this.#reading;
  }

  ready(id: string): Promise<void> | undefined {
    return this.#isRead ? undefined : this.#wait(id);
  }

  async whole(): Promise<void> {
    await this.#untilRead();
  }

  of(id: string): ParameterTypes | null {
    // The reading goes on, but callers have stopped waiting for it.
    if (this.#reading !== undefined) return null;
    return this.#types?.of(id) ?? this.#refusing();
  }

  async #wait(id: string): Promise<void> {
    const { waitMs, onLate } = this.#options;
    if (waitMs === undefined) return await this.#untilRead();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, waitMs)));
    await Promise.race([this.#untilRead(), late]);
    clearTimeout(timer);
    if (!this.#isRead) onLate?.(id);
  }

  async #untilRead(): Promise<void> {
    // A change may begin another reading meanwhile.
    while (!this.#isRead) await (this.#reading ?? this.#started(this.#begin));
  }

  /** For a procedure whose types can't be read: all its callers are refused. */
  #refusing(): ParameterTypes {
    const why = this.#failure || "its module has just changed: try again";
    const refusal = wholeFault(`its types can't be read, so nothing says what it takes: ${why}`);
    return {
      check: () => ({ refusal }),
      fieldValue: (_, fields) => fields[0],
      judge: () => ({ refusal }),
      withoutExtra: (_, parts) => parts,
      describe: () => undefined,
    };
  }

  #started(read: ReadTypes): Promise<void> {
    this.#isRead = false;
    const open = async (): Promise<void> => {
      let [types, failure]: [ApplicationTypes?, string?] = [];
      try {
        const found = await read();
        // All of them: which one is of which function, only their texts say.
        failure = found?.problems.map(formatProblem).join("\n");
        if (found !== undefined)
          types = openModel(found.model, (source) => runInThisContext(source) as unknown);
      } catch (error) {
        failure = error instanceof Error ? error.message : String(error);
      }
      // Another reading may have begun meanwhile.
      if (this.#reading !== own) return;
      [this.#types, this.#failure, this.#reading, this.#isRead] = [types, failure, undefined, true];
    };
    const own = open();
    this.#reading = own;
    return own;
  }
}
