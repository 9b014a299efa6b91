// Moving a procedure: its entries leave their segment files for another one, on disk, as a person's editor would do it.

import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { segmentFileEnding } from "../../src/segment.ts";
import type { Application } from "../build/application.ts";

type Segment = Record<string, Record<string, unknown>>;

/** Lets `toSegment` alone name the versions of a procedure. A segment that isn't there yet gets a file beside the present one. */
export async function moveProcedure(
  { root, procedures, segments }: Application,
  fqn: string,
  toSegment: string,
): Promise<void> {
  const versions = procedures.filter((one) => one.fqn === fqn);
  const [first] = versions.flatMap((one) => one.entries);
  if (first === undefined) throw new Error(`There is no procedure '${fqn}'`);
  const target = join(
    root,
    segments.find((one) => one.name === toSegment)?.file ??
      join(dirname(first.segment.file), `${toSegment}${segmentFileEnding}`),
  );
  const texts = new Map<string, Segment>();
  const open = async (file: string): Promise<Segment> => {
    const known = texts.get(file) ?? ((await readSegment(file)) as Segment);
    texts.set(file, known);
    return known;
  };
  const into = await open(target);
  for (const { entries } of versions) {
    // In several segments it may have several accesses: the one that it is moved with is that of the first.
    const [one] = entries;
    if (
      one === undefined ||
      entries.some(({ segment }) => segment.name === toSegment && entries.length === 1)
    )
      continue;
    const { module, export: name } = one.entry;
    const value = (await open(join(root, one.segment.file)))[module]?.[name];
    for (const { segment, entry } of entries) {
      const from = await open(join(root, segment.file));
      delete from[entry.module]?.[entry.export];
      if (Object.keys(from[entry.module] ?? {}).length === 0) delete from[entry.module];
    }
    // An assignment would take `__proto__` for something else than a name.
    into[module] = { ...into[module], ...Object.fromEntries([[name, value]]) };
  }
  // First where it comes: whoever reads in between finds it in two places, and not in none.
  await write(target, into);
  for (const [file, text] of texts) if (file !== target) await write(file, text);
}

async function readSegment(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}

async function write(file: string, segment: Segment): Promise<void> {
  await writeFile(file, `${JSON.stringify(segment, undefined, 2)}\n`);
}
