// How the schema of a configuration describes its keys, and how to find a key in it.

import * as v from "valibot";

/** The facts about a key besides its values. */
export interface KeyFacts {
  /** The sentence that editors and the reference show. */
  readonly description: string;
  /** Shown by them as well. Only `filled` puts it into a configuration that lacks the key. */
  readonly default?: unknown;
  /** The page about it in docs/guide. */
  readonly guide?: string;
  /** The way out if the key is missing. */
  readonly missing?: string;
  /** Its value is in no message, as messages end up in logs. */
  readonly isSecret?: true;
  /** A file or folder; made absolute. A module may be a package as well. */
  readonly path?: "file" | "module";
}

export type Described<S extends v.GenericSchema> = v.SchemaWithPipe<
  readonly [S, v.MetadataAction<v.InferOutput<S>, { readonly key: KeyFacts }>]
>;

/** A key that must be there. */
export function required<S extends v.GenericSchema>(schema: S, facts: KeyFacts): Described<S> {
  return v.pipe(schema, v.metadata({ key: facts }));
}

/** A key that may be left out. */
export function optional<S extends v.GenericSchema>(
  schema: S,
  facts: KeyFacts,
): Described<v.OptionalSchema<S, undefined>> {
  return required(v.optional(schema), facts);
}

/** A key whose default is part of the checked configuration. */
export function filled<S extends v.GenericSchema, D extends v.InferInput<S>>(
  schema: S,
  fallback: D,
  facts: KeyFacts,
): Described<v.OptionalSchema<S, D>> {
  return required(v.optional(schema, fallback), { default: fallback, ...facts });
}

/** The parts of a schema that lead to those of its members. */
export interface SchemaNode {
  readonly type: string;
  readonly wrapped?: SchemaNode;
  readonly options?: readonly unknown[];
  readonly entries?: Readonly<Record<string, SchemaNode>>;
  readonly item?: SchemaNode;
  readonly value?: SchemaNode;
}

/** `undefined` for a schema that isn't a key's. */
export function factsOf(schema: SchemaNode): KeyFacts | undefined {
  const { key } = v.getMetadata(schema as unknown as v.GenericSchema) as { key?: KeyFacts };
  return key;
}

/** The kinds of values that a schema takes: several for a union. */
export function kindsOf(schema: SchemaNode): readonly SchemaNode[] {
  if (schema.wrapped !== undefined) return kindsOf(schema.wrapped);
  if (schema.type !== "union") return [schema];
  return (schema.options as readonly SchemaNode[]).flatMap(kindsOf);
}

/** The schemas of a key, or of an index, in the values that `schema` takes. */
export function schemasBelow(schema: SchemaNode, name: string): readonly SchemaNode[] {
  return kindsOf(schema).flatMap(({ entries = {}, item, value }) => {
    const below = Object.hasOwn(entries, name) ? entries[name] : (item ?? value);
    return below === undefined ? [] : [below];
  });
}

/** The schemas at a path such as `limits.bodyBytes`. */
export function schemasAt(schema: SchemaNode, path: string): readonly SchemaNode[] {
  let found: readonly SchemaNode[] = [schema];
  for (const name of path.split(".")) found = found.flatMap((parent) => schemasBelow(parent, name));
  return found;
}

/** The keys that an object of these schemas may have; none if it takes any. */
export function keysOf(schemas: readonly SchemaNode[]): readonly string[] {
  return schemas.flatMap(kindsOf).flatMap(({ entries = {} }) => Object.keys(entries));
}
