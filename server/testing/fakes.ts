// Which fakes stand for which procedures at this moment. The one that was set last is asked first.

import { procedureKey } from "../../src/fqn.ts";
import type { ProcedureRecord } from "../../src/manifest.ts";
import { type FakeProcedure, unknownProcedure } from "../../src/roles/fake-modules.ts";
import { parseVersion } from "../../src/version.ts";

/** Which calls a fake answers. */
export interface FakeOptions {
  /** The version that it stands for [every version]. */
  readonly version?: string;
  /** How many calls it answers [all]; then the procedure itself is back. */
  readonly times?: number;
}

/** Gives back what was there before; also by `using`. */
export interface Restore extends Disposable {
  (): void;
}

export function restoring(act: () => void): Restore {
  return Object.assign(act, { [Symbol.dispose]: act });
}

interface Standing {
  readonly run: FakeProcedure;
  left: number;
}

export interface FakeRegistry {
  /** Throws where the application has no such procedure. Gives the records that the fake stands for. */
  records(fqn: string, version: string | undefined): readonly ProcedureRecord[];
  set(records: readonly ProcedureRecord[], run: FakeProcedure, times?: number): Restore;
  has(record: ProcedureRecord): boolean;
  /** The fake for a call that is made now; it counts. */
  take(record: ProcedureRecord): FakeProcedure | undefined;
  clear(): void;
}

export function createFakeRegistry(procedures: readonly ProcedureRecord[]): FakeRegistry {
  const standing = new Map<string, Standing[]>();
  const keyOf = ({ fqn, version }: ProcedureRecord): string => procedureKey(fqn, version);
  const find = (record: ProcedureRecord): Standing | undefined =>
    standing.get(keyOf(record))?.findLast((one) => one.left > 0);
  return {
    records(fqn, version) {
      const named = procedures.filter((one) => one.fqn === fqn);
      if (named.length === 0) throw new Error(unknownProcedure(fqn, procedures));
      if (version === undefined) return named;
      const wanted = parseVersion(version).toString();
      const found = named.filter((one) => one.version === wanted);
      if (found.length === 0)
        throw new Error(
          `'${fqn}' has no version ${wanted}: there is ${named.map((one) => one.version).join(", ")}`,
        );
      return found;
    },
    set(records, run, times = Infinity) {
      if (typeof run !== "function")
        throw new TypeError(`A fake is a function, not ${run === null ? "null" : typeof run}`);
      // Of each version its own number of calls would be hard to tell apart: it is one fake.
      const one: Standing = { run, left: times };
      for (const record of records)
        standing.set(keyOf(record), [...(standing.get(keyOf(record)) ?? []), one]);
      return restoring(() => {
        for (const record of records)
          standing.set(
            keyOf(record),
            (standing.get(keyOf(record)) ?? []).filter((other) => other !== one),
          );
      });
    },
    has: (record) => find(record) !== undefined,
    take(record) {
      const found = find(record);
      if (found === undefined) return undefined;
      found.left--;
      return found.run;
    },
    clear: () => standing.clear(),
  };
}
