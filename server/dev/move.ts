// Moves a procedure by editing the segment files on disk, as a person would.

import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { BadRequest } from "../../src/base/errors.ts";
import { readJson } from "../../src/base/json.ts";
import { Problems } from "../../src/base/problem.ts";
import { entryOf, segmentFileEnding } from "../../src/base/manifest.ts";
import type { Application } from "../compile/cut/application.ts";

type SegmentFile = Record<string, Record<string, unknown>>;

/** A new segment's name becomes the name of a file and of a node. */
const segmentName = /^\w[\w-]{0,99}$/;

/**
 * Moves a route, or all versions of a procedure, to one segment. A new segment gets a file beside the old one.
 */
export async function moveProcedure(
  { root, procedures, routes, segments }: Application,
  fqn: string,
  toSegment: string,
): Promise<void> {
  const versions = [...procedures, ...routes].filter((procedure) => procedure.fqn === fqn);
  const [first] = versions.flatMap((version) => version.entries);
  if (first === undefined) throw new BadRequest(`There is no procedure '${fqn}'`);
  const target = segments.find(({ name }) => name === toSegment)?.file;
  if (target === undefined && !segmentName.test(toSegment))
    throw new BadRequest(
      `'${toSegment}' can't be the name of a new segment: use letters, digits, - and _`,
    );
  const targetFile = join(
    root,
    target ?? join(dirname(first.segment.file), `${toSegment}${segmentFileEnding}`),
  );
  const contents = new Map<string, SegmentFile>();
  const open = async (file: string): Promise<SegmentFile> => {
    const content = contents.get(file) ?? (await readSegment(file));
    contents.set(file, content);
    return content;
  };
  const into = await open(targetFile);
  for (const { entries } of versions) {
    // If segments give it different accesses, it keeps the first.
    const [entry] = entries;
    const isThere = entries.length === 1 && entry?.segment.name === toSegment;
    if (entry === undefined || isThere) continue;
    const { module, export: name } = entry.entry;
    const value = entryOf(entryOf(await open(join(root, entry.segment.file)), module) ?? {}, name);
    if (value === undefined)
      throw new BadRequest(`${entry.segment.file} doesn't name '${fqn}' any more: try again`);
    for (const { segment, entry: named } of entries) {
      const from = await open(join(root, segment.file));
      delete from[named.module]?.[named.export];
      if (Object.keys(from[named.module] ?? {}).length === 0) delete from[named.module];
    }
    // Not by assignment: the name may be `__proto__`.
    into[module] = { ...into[module], ...Object.fromEntries([[name, value]]) };
  }
  // Write the target first: a reader in between sees the procedure twice rather than not at all.
  await write(targetFile, into);
  for (const [file, content] of contents) if (file !== targetFile) await write(file, content);
}

async function readSegment(file: string): Promise<SegmentFile> {
  try {
    const read = readJson(await readFile(file, "utf8"), file);
    if ("broken" in read) throw new Problems([read.broken]);
    return read.value as SegmentFile;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}

async function write(file: string, content: SegmentFile): Promise<void> {
  await writeFile(file, `${JSON.stringify(content, undefined, 2)}\n`);
}
