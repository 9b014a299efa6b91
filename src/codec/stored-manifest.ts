// The server's manifest as a build writes it. A procedure takes a few characters: parameters and places in
// segments, which many procedures share, stand in a list and are referred to by index. In memory they are shared,
// too.

import { fqnOf } from "../base/fqn.ts";
import type { Parameter, ProcedureRecord, SegmentEntry, ServerManifest } from "../base/manifest.ts";
import { defaultVersion } from "../base/version.ts";

/** The file's `format`; that of a manifest in memory is another. */
export const storedFormat = 2;

/** In which segment a procedure is, and how. */
type Place = Omit<SegmentEntry, "procedure"> & { readonly segment: string };

/**
 * The name of its export, indices into `parameters` and `places`, then its version unless that is
 * the default one, and its FQN unless that follows from module and export. Of a stream all are there.
 */
type StoredProcedure = readonly [
  name: string,
  parameters: number,
  places: number,
  version?: string,
  fqn?: string,
  stream?: true,
];

/** `manifest.json` of a build. */
export interface StoredManifest extends Omit<ServerManifest, "format" | "procedures" | "segments"> {
  readonly format: typeof storedFormat;
  readonly segments: readonly string[];
  readonly parameters: readonly (readonly Parameter[])[];
  readonly places: readonly (readonly Place[])[];
  readonly procedures: readonly {
    readonly module: string;
    readonly exports: readonly StoredProcedure[];
  }[];
}

/** Values without repetition, by their JSON. */
class Shared<T> {
  readonly values: T[] = [];
  readonly #indices = new Map<string, number>();

  indexOf(value: T): number {
    const text = JSON.stringify(value);
    const known = this.#indices.get(text);
    if (known !== undefined) return known;
    this.#indices.set(text, this.values.length);
    return this.values.push(value) - 1;
  }
}

/** The text of `manifest.json`: a line for each item of its tables. */
export function writeStored(manifest: ServerManifest): string {
  const { procedures, segments, ...others } = manifest;
  const places = procedures.map((): Place[] => []);
  for (const [segment, entries] of Object.entries(segments))
    for (const { procedure, ...how } of entries) places[procedure]?.push({ segment, ...how });
  const parameters = new Shared<readonly Parameter[]>();
  const shared = new Shared<readonly Place[]>();
  const modules = new Map<string, StoredProcedure[]>();
  procedures.forEach((record, index) => {
    const { module, export: name, version, fqn, stream = false } = record;
    const stored = modules.get(module) ?? [];
    modules.set(module, stored);
    const named = stream || fqn !== fqnOf(module, name);
    stored.push([
      name,
      parameters.indexOf(record.parameters),
      shared.indexOf(places[index] ?? []),
      ...(named || version !== defaultVersion.toString() ? [version] : []),
      ...(named ? [fqn] : []),
      ...(stream ? [stream] : []),
    ] as unknown as StoredProcedure);
  });
  const stored: StoredManifest = {
    ...others,
    format: storedFormat,
    segments: Object.keys(segments),
    parameters: parameters.values,
    places: shared.values,
    procedures: Array.from(modules, ([module, exports]) => ({ module, exports })),
  };
  return `{\n${Object.entries(stored)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${JSON.stringify(key)}: ${lines(value)}`)
    .join(",\n")}\n}\n`;
}

function lines(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const items = Array.isArray(value)
    ? value.map((item) => JSON.stringify(item))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${JSON.stringify(item)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return items.length === 0 ? `${open}${close}` : `${open}\n  ${items.join(",\n  ")}\n ${close}`;
}

/**
 * Reads a manifest that was stored in this form. Throws for mistakes in its procedures; the rest isn't checked
 * here.
 */
export function readStored(stored: StoredManifest): ServerManifest {
  const unversioned = defaultVersion.toString();
  const { parameters, places, segments, procedures, ...others } = stored;
  for (const key of ["segments", "parameters", "places", "procedures"] as const)
    if (!Array.isArray(stored[key])) throw new TypeError(`it lists no ${key}`);
  const records: ProcedureRecord[] = [];
  const entries = new Map(segments.map((name): [string, SegmentEntry[]] => [name, []]));
  for (const { module, exports } of procedures.map(checkedModule))
    for (const [
      name,
      of,
      at,
      version = unversioned,
      fqn = fqnOf(module, name),
      stream,
    ] of exports) {
      const taken = parameters[of];
      if (!Array.isArray(taken) || !Array.isArray(places[at]))
        throw new TypeError(`the procedure ${fqn} has no parameters or places`);
      const record = { fqn, version, module, export: name, parameters: taken };
      const procedure = records.push(stream ? { ...record, stream } : record) - 1;
      for (const { segment, ...how } of places[at]) {
        const all = entries.get(segment);
        if (all === undefined) throw new TypeError(`it lists no segment '${segment}'`);
        all.push({ procedure, ...how });
      }
    }
  return { ...others, format: 1, procedures: records, segments: Object.fromEntries(entries) };
}

/** Throws if the entry of a module has another shape. */
function checkedModule(entry: StoredManifest["procedures"][number]): typeof entry {
  if (!Array.isArray(entry?.exports) || !entry.exports.every(Array.isArray))
    throw new TypeError("an entry of 'procedures' has no list of exports");
  return entry;
}

/**
 * The manifest in a parsed JSON file: a build's, or one in the form that `readManifest()` of the
 * test kit returns.
 */
export function fromStored(
  json: Partial<StoredManifest | ServerManifest> | null,
): Partial<ServerManifest> {
  if (json?.format === storedFormat) return readStored(json as StoredManifest);
  if (json?.format === 1) return json;
  throw new TypeError(
    `its format is ${JSON.stringify(json?.format)}, and ${storedFormat} was expected`,
  );
}
