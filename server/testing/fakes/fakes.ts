// The fakes that currently replace procedures. The last one set wins.

import { procedureKey } from "../../../src/base/fqn.ts";
import type { ProcedureRecord } from "../../../src/base/manifest.ts";
import {
  type FakeProcedure,
  unknownProcedure,
} from "../../../src/roles/application/fake-modules.ts";
import { parseVersion } from "../../../src/base/version.ts";

/** Which calls a fake answers. */
export interface FakeOptions {
  /** The version to replace [every version]. */
  readonly version?: string;
  /** How many calls to answer [all]. After that the procedure itself runs again. */
  readonly times?: number;
}

/** Undoes a fake or failure when called, or at the end of a `using` block. */
export interface Restore extends Disposable {
  (): void;
}

export function restoring(act: () => void): Restore {
  return Object.assign(act, { [Symbol.dispose]: act });
}

interface Entry {
  readonly run: FakeProcedure;
  left: number;
}

export interface FakeRegistry {
  /**
   * The procedures that a fake replaces. Throws if the application has none with this name and
   * version.
   */
  records(fqn: string, version: string | undefined): readonly ProcedureRecord[];
  set(records: readonly ProcedureRecord[], run: FakeProcedure, times?: number): Restore;
  has(record: ProcedureRecord): boolean;
  /** The fake for a call, which counts against its `times`. */
  take(record: ProcedureRecord): FakeProcedure | undefined;
  clear(): void;
}

export function createFakeRegistry(procedures: readonly ProcedureRecord[]): FakeRegistry {
  const entries = new Map<string, Entry[]>();
  const keyOf = ({ fqn, version }: ProcedureRecord): string => procedureKey(fqn, version);
  const find = (record: ProcedureRecord): Entry | undefined =>
    entries.get(keyOf(record))?.findLast(({ left }) => left > 0);
  return {
    records(fqn, version) {
      const named = procedures.filter((record) => record.fqn === fqn);
      if (named.length === 0) throw new Error(unknownProcedure(fqn, procedures));
      if (version === undefined) return named;
      const parsed = parseVersion(version).toString();
      const records = named.filter((record) => record.version === parsed);
      if (records.length === 0)
        throw new Error(
          `'${fqn}' has no version ${parsed}: there is ${named.map((record) => record.version).join(", ")}`,
        );
      return records;
    },
    set(records, run, times = Infinity) {
      if (typeof run !== "function")
        throw new TypeError(`A fake is a function, not ${run === null ? "null" : typeof run}`);
      // All versions share the entry, so `times` counts the calls of all of them.
      const entry: Entry = { run, left: times };
      for (const record of records)
        entries.set(keyOf(record), [...(entries.get(keyOf(record)) ?? []), entry]);
      return restoring(() => {
        for (const record of records)
          entries.set(
            keyOf(record),
            (entries.get(keyOf(record)) ?? []).filter((candidate) => candidate !== entry),
          );
      });
    },
    has: (record) => find(record) !== undefined,
    take(record) {
      const entry = find(record);
      if (entry === undefined) return undefined;
      entry.left--;
      return entry.run;
    },
    clear: () => entries.clear(),
  };
}
