// Class records, from which the runtime serializes and rebuilds instances, inherited members
// included.

import { fqnOf, fqnOfAnonymousDefault } from "../../../src/base/fqn.ts";
import { type ClassRecord, platformPrefix } from "../../../src/base/manifest.ts";
import type { Problem } from "../../../src/base/problem.ts";
import { paths } from "../../../src/base/protocol.ts";
import { frameworkErrors } from "../../../src/base/errors.ts";
import { isForbidden } from "../../../src/codec/values/fault.ts";
import type {
  ClassDescription,
  ClassMember,
  ModuleDescription,
  RequiredParameter,
} from "../../../src/split/describe/describe.ts";
import type { Application } from "./application.ts";
import { importedClass } from "../read/linked-classes.ts";
import type { Modules, SourceModule } from "../read/modules.ts";

interface Shape {
  /** Of this class's own constructor or the nearest inherited one. */
  readonly parameters: readonly string[];
  readonly defaults?: readonly string[] | undefined;
  readonly pattern?: ClassDescription["pattern"];
  /** With the file of the constructor. */
  readonly required?: readonly (RequiredParameter & { readonly file: string })[] | undefined;
  readonly members: ReadonlyMap<string, ClassMember>;
  readonly error: boolean;
  /** See {@link ClassRecord.unread}. */
  readonly unread?: string | undefined;
}

const nativeErrors = new Set([
  "Error",
  "EvalError",
  "RangeError",
  "ReferenceError",
  "SyntaxError",
  "TypeError",
  "URIError",
  "AggregateError",
]);

// Classes of the platform without state that an instance could lose.
const stateless = new Set(["Object", "EventTarget"]);

// The wire form of errors has fields of its own for these.
const errorMembers = new Set(["name", "message", "stack", "cause", "trace"]);

/**
 * Records of all exported classes of `among`. If two have the same key, instances of neither can be
 * sent, which is a warning here.
 */
export async function classRecords(
  among: Iterable<SourceModule>,
  { modules, procedures }: Pick<Application, "modules" | "procedures">,
): Promise<{ readonly records: readonly ClassRecord[]; readonly warnings: readonly Problem[] }> {
  const byKey = new Map<string, { record: ClassRecord; module: SourceModule }[]>();
  const unsendable: Problem[] = [];
  const named = await namedClasses(procedures, modules);
  for (const module of among)
    for (const description of modules.outline(module).classes) {
      const shape = await shapeOf(description, module, modules);
      const record = recordOf(description, module, shape);
      // An instance is refused when it is sent. An error always travels, and would lose its class.
      if (record.error === true && description.pattern !== undefined)
        unsendable.push({
          file: module.name,
          ...description.pattern,
          message: `the constructor of the error class "${record.export}" destructures a parameter, so it can't be constructed again: its errors arrive as another class`,
          hint: "Name the parameter after a member, or give it a default.",
        });
      // Any error may be thrown. A problem of an inherited constructor is reported once.
      if (shape.error ? description.parameters !== undefined : named.has(record.key))
        unsendable.push(...uncarried(description, shape));
      for (const { name } of description.members.filter((member) => isForbidden(member.name)))
        unsendable.push({
          file: module.name,
          message: `the class "${record.export}" has a member "${name}", which can't be sent: its instances arrive without it`,
          hint: "Give it another name.",
        });
      const sameKey = byKey.get(record.key) ?? [];
      // One class under two names is one class.
      if (description.name !== "" && sameKey.some((entry) => entry.module === module)) continue;
      byKey.set(record.key, [...sameKey, { record, module }]);
    }
  const records: ClassRecord[] = [];
  const warnings: Problem[] = unsendable;
  for (const [key, found] of byKey) {
    const [first, second] = found;
    if (second === undefined) records.push((first as { record: ClassRecord }).record);
    else {
      const clash = found.map((entry) => entry.module.name).join(" and ");
      records.push(...found.map((entry) => ({ ...entry.record, clash })));
      warnings.push({
        file: second.module.name,
        message: `the classes "${second.record.export}" here and in ${first?.module.name} have the same key, "${key}": instances of neither can be sent`,
        hint: "Rename one of them, or move one to another directory.",
      });
    }
  }
  return { records: records.sort((a, b) => (a.key < b.key ? -1 : 1)), warnings };
}

/** Keys of the classes that types of procedures name, as far as imports and their modules tell. */
async function namedClasses(
  procedures: Application["procedures"],
  modules: Modules,
): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for (const { module, entries } of procedures) {
    const { classes, imports } = modules.describe(module);
    for (const name of entries[0].export.types ?? []) {
      const beside = classes.find((candidate) => candidate.name === name);
      if (beside !== undefined) keys.add(keyOf(beside, module));
      for (const { specifier, names } of imports)
        for (const { imported } of names.filter(({ local }) => local === name)) {
          const found = await importedClass(specifier, imported, module.file, modules);
          if (found !== undefined) keys.add(keyOf(found.class, found.module));
        }
    }
  }
  return keys;
}

/** A member may also come from a parent that can't be read, so such classes have none. */
function uncarried({ export: name }: ClassDescription, shape: Shape): Problem[] {
  return (shape.unread === undefined ? (shape.required ?? []) : [])
    .filter((parameter) => !isCarried(parameter.name, shape))
    .filter((parameter) => !(shape.error && parameter.name === "options"))
    .map(({ name: parameter, ...place }) => ({
      ...place,
      message: `the constructor of the class "${name}" has a parameter "${parameter}", and no member of that name: instances are sent without it, and constructed with undefined where they arrive`,
      hint: "Name the parameter after a member, or give it a default.",
    }));
}

function isCarried(name: string, { members, error }: Shape): boolean {
  return (
    members.get(name)?.readable === true || (error && (name === "message" || name === "cause"))
  );
}

function keyOf({ name }: ClassDescription, { id }: SourceModule): string {
  return name === "" ? fqnOfAnonymousDefault(id) : fqnOf(id, name);
}

function recordOf(description: ClassDescription, module: SourceModule, shape: Shape): ClassRecord {
  const args = shape.parameters.map((parameter) => {
    const name = parameter.replace(/^\.\.\./, "");
    return name !== "" && isCarried(name, shape) ? parameter : null;
  });
  while (args.at(-1) === null) args.pop();
  const isFixed = (name: string): boolean =>
    shape.defaults?.includes(name) === true && shape.members.get(name)?.writable === false;
  const fixed = args.filter((name) => name !== null).filter(isFixed);
  const argumentNames = new Set(args.map((arg) => arg?.replace(/^\.\.\./, "")));
  const fields = [...shape.members.values()]
    .filter((member) => member.readable && member.writable && !argumentNames.has(member.name))
    .map((member) => member.name)
    .filter((name) => !isForbidden(name) && !(shape.error && errorMembers.has(name)));
  return {
    key: keyOf(description, module),
    module: module.id,
    export: description.export,
    args,
    fields,
    ...(fixed.length > 0 && { fixed }),
    ...(shape.pattern && { pattern: true }),
    ...(shape.error ? { error: true } : shape.unread !== undefined && { unread: shape.unread }),
  };
}

async function shapeOf(
  description: ClassDescription,
  module: SourceModule,
  modules: Modules,
  depth = 0,
): Promise<Shape> {
  const parent =
    description.superclass === undefined || depth > 32
      ? undefined
      : await parentShape(description.superclass, module, modules, depth + 1);
  const members = new Map(parent?.members);
  // An accessor replaces the inherited one of the same name completely, including its setter.
  for (const member of description.members) members.set(member.name, member);
  const {
    parameters = [],
    defaults,
    pattern,
  } = description.parameters === undefined ? (parent ?? {}) : description;
  const required =
    description.parameters === undefined
      ? parent?.required
      : description.required?.map((parameter) => ({ file: module.name, ...parameter }));
  const { unread = parent?.unread } = description;
  const error = parent?.error ?? false;
  return { parameters, defaults, pattern, required, members, error, unread };
}

/** If the parent can't be read, the shape says just that. */
async function parentShape(
  name: string,
  module: SourceModule,
  modules: Modules,
  depth: number,
): Promise<Shape> {
  const description = modules.describe(module);
  const beside = description.classes.find((sibling) => sibling.name === name);
  if (beside !== undefined) return await shapeOf(beside, module, modules, depth);
  for (const { specifier, names } of description.imports) {
    // `errors.NotFound` of `import * as errors` is written with its dot.
    const [head, member] = name.split(".");
    const local = names.find((binding) => binding.local === head);
    if (local === undefined) continue;
    const imported = local.imported === "*" ? member : local.imported;
    if (imported === undefined) break;
    if (
      specifier === "seamline" ||
      specifier === "seamline/client" ||
      specifier.startsWith(paths.components)
    ) {
      if (!frameworkErrors.has(imported)) break;
      return errorShape(imported === "Teapot" ? [] : ["message", "options"]);
    }
    const found = await importedClass(specifier, imported, module.file, modules);
    return found === undefined
      ? unreadShape(name)
      : await shapeOf(found.class, found.module, modules, depth);
  }
  if (stateless.has(name) && !description.locals.includes(name))
    return { parameters: [], members: new Map(), error: false };
  if (!nativeErrors.has(name))
    return unreadShape(isGlobal(name, description) ? `${platformPrefix}${name}` : name);
  if (name !== "AggregateError") return errorShape(["message", "options"]);
  return errorShape(
    ["errors", "message", "options"],
    [["errors", { name: "errors", readable: true, writable: true }]],
  );
}

function isGlobal(name: string, { imports, locals }: ModuleDescription): boolean {
  return (
    /^[\w$]+$/.test(name) &&
    !locals.includes(name) &&
    !imports.some(({ names }) => names.some(({ local }) => local === name))
  );
}

function unreadShape(text: string): Shape {
  return {
    parameters: [],
    members: new Map(),
    error: false,
    unread: text.replace(/\s+/g, " ").slice(0, 48),
  };
}

function errorShape(
  parameters: readonly string[],
  members: readonly [string, ClassMember][] = [],
): Shape {
  return { parameters, members: new Map(members), error: true };
}
