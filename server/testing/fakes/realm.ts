// A realm is one module graph with its own copies of the application's classes. Values that a test
// passes to a procedure, or a fake returns, move between realms as they would over a wire.

import { entryOf, type ClassRecord, type ServerManifest } from "../../../src/base/manifest.ts";
import type { Log } from "../../../src/base/ports.ts";
import type { ServerModules } from "../../../src/roles/application/application.ts";
import { Classes } from "../../../src/codec/classes.ts";
import { loadNamed } from "../../../src/codec/named-classes.ts";
import { decodeParsed, encodeSerialized } from "../../../src/codec/serialized.ts";

/** The classes of a graph, each loaded when a value first needs it. */
export class RealmClasses extends Classes {
  /** Loads the application's classes of these names. */
  readonly loadNamed: (names: ReadonlySet<string>) => Promise<void>;

  constructor(modules: ServerModules, manifest: ServerManifest, log: Log) {
    super();
    const loading = new Map<string, Promise<void>>();
    const loadRecord = async (record: ClassRecord, file: string): Promise<void> => {
      try {
        this.register(record, (await modules.import(file))[record.export]);
      } catch (error) {
        // Its module may need a page, or a service that isn't running.
        log.error(`class '${record.key}' can't be loaded, so its instances are refused`, error);
      }
    };
    const load = async (isNeeded: (record: ClassRecord) => boolean): Promise<void> => {
      const all = manifest.classes.filter(isNeeded).map(async (record) => {
        const file = entryOf(manifest.modules, record.module)?.file;
        if (file === undefined) return;
        const loaded = loading.get(record.key) ?? loadRecord(record, file);
        loading.set(record.key, loaded);
        await loaded;
      });
      await Promise.all(all);
    };
    // A received message names its classes. A value to send may have any class.
    this.load = async (keys) => await load(({ key }) => keys === undefined || keys.has(key));
    this.loadNamed = async (names) =>
      await load(({ key }) => names.has(key.slice(key.lastIndexOf("/") + 1)));
  }
}

// No limits: the values are the test's own.
const limits = {
  maxDepth: Infinity,
  maxValues: Infinity,
  maxObjects: Infinity,
  maxDigits: Infinity,
};

/**
 * Recreates the instances in `value` in another realm. Returns `value` itself if it has none or
 * can't be encoded.
 */
export async function adopted(
  value: unknown,
  from: RealmClasses,
  to: RealmClasses,
): Promise<unknown> {
  if (from === to || typeof value !== "object" || value === null) return value;
  const names = namesIn(value);
  if (names.size === 0) return value;
  await from.loadNamed(names);
  let text: string;
  try {
    text = await encodeSerialized(value, { classes: from, trusted: true, stacks: true });
  } catch {
    // Sending it will fail with a better message.
    return value;
  }
  if (!text.includes('"key"')) return value;
  const tree: unknown = JSON.parse(text);
  await loadNamed(tree, to);
  return decodeParsed(tree, { classes: to, limits, trusted: true });
}

/** Names of the classes of all values inside a value. */
function namesIn(value: object): ReadonlySet<string> {
  const names = new Set<string>();
  const seen = new Set<unknown>([value]);
  for (const item of seen) {
    if (typeof item !== "object" || item === null) continue;
    const { constructor } = item;
    if (typeof constructor === "function" && constructor !== Object && constructor !== Array)
      names.add(constructor.name);
    const parts =
      item instanceof Map
        ? [...item.keys(), ...item.values()]
        : item instanceof Set
          ? [...item]
          : Object.values(item);
    for (const part of parts) seen.add(part);
    if (item instanceof Error) seen.add(item.cause);
  }
  return names;
}
