// Records each run of a call, its node and its time: nodes append each call's id to a file of their own, and this counts.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** A procedure began to run. */
export interface Run {
  readonly node: string;
  readonly pid: number;
  /** By the system's clock, in ms. */
  readonly at: number;
}

/** The runs of each call, by its id. */
export type Runs = ReadonlyMap<string, readonly Run[]>;

export async function readLedger(folder: string): Promise<Runs> {
  const runs = new Map<string, Run[]>();
  for (const name of await readdir(folder)) {
    const [, node = "", pid] = /^(.*)-(\d+)$/.exec(name) ?? [];
    if (pid === undefined) continue;
    for (const line of (await readFile(join(folder, name), "utf8")).split("\n")) {
      const [id = "", at] = line.split(" ");
      if (id === "") continue;
      const list = runs.get(id) ?? [];
      if (list.length === 0) runs.set(id, list);
      list.push({ node, pid: Number(pid), at: Number(at) });
    }
  }
  return runs;
}
