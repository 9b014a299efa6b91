// A realm: one graph of modules with its own copies of the application's classes. What a test hands to a procedure, or a fake to its caller,
// goes from one realm into another, as it would over a wire.

import { entryOf, type ClassRecord, type ServerManifest } from "../../src/manifest.ts";
import type { Log } from "../../src/ports.ts";
import type { ServerModules } from "../../src/roles/load-node.ts";
import { Classes } from "../../src/serializer/classes.ts";
import { loadNamed } from "../../src/serializer/named-classes.ts";
import { decodeParsed, encodeSerialized } from "../../src/serializer/serialized.ts";

/** The classes of a graph, each loaded when a value first needs it. */
export class RealmClasses extends Classes {
  /** Loads the classes of these names, as far as the application has them. */
  readonly loadNamed: (names: ReadonlySet<string>) => Promise<void>;

  constructor(modules: ServerModules, manifest: ServerManifest, log: Log) {
    super();
    const loading = new Map<string, Promise<void>>();
    const loadOne = async (record: ClassRecord, file: string): Promise<void> => {
      try {
        this.register(record, (await modules.import(file))[record.export]);
      } catch (error) {
        // It may need a page, or a service that isn't there: then its instances can't be here.
        log.error(`class '${record.key}' can't be loaded, so its instances are refused`, error);
      }
    };
    const load = async (wanted: (record: ClassRecord) => boolean): Promise<void> => {
      const all = manifest.classes.filter(wanted).map(async (record) => {
        const file = entryOf(manifest.modules, record.module)?.file;
        if (file === undefined) return;
        const loaded = loading.get(record.key) ?? loadOne(record, file);
        loading.set(record.key, loaded);
        await loaded;
      });
      await Promise.all(all);
    };
    // A message says which; a value that is to be sent may be of any.
    this.load = async (keys) => await load(({ key }) => keys === undefined || keys.has(key));
    this.loadNamed = async (names) =>
      await load(({ key }) => names.has(key.slice(key.lastIndexOf("/") + 1)));
  }
}

// Nobody's message is measured here: it is the test's own.
const limits = { depth: Infinity, values: Infinity, objects: Infinity, digits: Infinity };

/** `value` with its instances as another realm has them; the value itself if it has none, or can't be taken apart. */
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
    text = await encodeSerialized(value, { classes: from, stacks: true });
  } catch {
    // Whoever sends it on says what is wrong with it.
    return value;
  }
  if (!text.includes('"key"')) return value;
  const tree: unknown = JSON.parse(text);
  await loadNamed(tree, to);
  return decodeParsed(tree, text, { classes: to, limits, trusted: true });
}

/** Names of the classes of all that is in a value. */
function namesIn(value: object): ReadonlySet<string> {
  const names = new Set<string>();
  const seen = new Set<unknown>([value]);
  for (const one of seen) {
    if (typeof one !== "object" || one === null) continue;
    const { constructor } = one;
    if (typeof constructor === "function" && constructor !== Object && constructor !== Array)
      names.add(constructor.name);
    const parts =
      one instanceof Map
        ? [...one.keys(), ...one.values()]
        : one instanceof Set
          ? [...one]
          : Object.values(one);
    for (const part of parts) seen.add(part);
    if (one instanceof Error) seen.add(one.cause);
  }
  return names;
}
