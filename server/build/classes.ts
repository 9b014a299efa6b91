// Class records: what the runtime needs to take instances apart and to build them again (§2.3), parents included.

import { fqnOf, fqnOfAnonymousDefault } from "../../src/fqn.ts";
import { type ClassRecord, platformPrefix } from "../../src/manifest.ts";
import type { Problem } from "../../src/problem.ts";
import { frameworkErrors } from "../../src/errors.ts";
import { isForbidden } from "../../src/serializer/fault.ts";
import type { ClassDescription, ClassMember, ModuleDescription } from "../../src/split/describe.ts";
import { importedClass } from "./linked-classes.ts";
import type { Modules, SourceModule } from "./modules.ts";

interface Shape {
  /** The constructor's, this class's own or the nearest parent's. */
  readonly parameters: readonly string[];
  readonly defaults?: readonly string[] | undefined;
  readonly pattern?: true | undefined;
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

// Of the platform's own, these have nothing that an instance would lose.
const stateless = new Set(["Object", "EventTarget"]);

// The error form has places of its own for these (decisions §3).
const errorMembers = new Set(["name", "message", "stack", "cause", "trace"]);

/** Records of all exported classes of `among`. Where two have one key instances of neither can be sent: a warning here (decisions §6). */
export async function classRecords(
  among: Iterable<SourceModule>,
  modules: Modules,
): Promise<{ readonly records: readonly ClassRecord[]; readonly warnings: readonly Problem[] }> {
  const byKey = new Map<string, { record: ClassRecord; module: SourceModule }[]>();
  const unsendable: Problem[] = [];
  for (const module of among)
    for (const one of modules.describe(module).classes) {
      const record = recordOf(one, module, await shapeOf(one, module, modules));
      for (const { name } of one.members.filter((member) => isForbidden(member.name)))
        unsendable.push({
          file: module.name,
          message: `the class "${record.export}" has a member "${name}", which no message can carry: its instances arrive without it`,
          hint: "Give it another name.",
        });
      const others = byKey.get(record.key) ?? [];
      // One class under two export names is one class.
      if (one.name !== "" && others.some((other) => other.module === module)) continue;
      byKey.set(record.key, [...others, { record, module }]);
    }
  const records: ClassRecord[] = [];
  const warnings: Problem[] = unsendable;
  for (const [key, found] of byKey) {
    const [first, second] = found;
    if (second === undefined) records.push((first as { record: ClassRecord }).record);
    else {
      const clash = found.map((one) => one.module.name).join(" and ");
      records.push(...found.map((one) => ({ ...one.record, clash })));
      warnings.push({
        file: second.module.name,
        message: `the classes "${second.record.export}" here and in ${first?.module.name} have one key, "${key}": instances of neither can be sent`,
        hint: "Rename one of them, or move one to another directory.",
      });
    }
  }
  return { records: records.sort((one, other) => (one.key < other.key ? -1 : 1)), warnings };
}

function recordOf(one: ClassDescription, module: SourceModule, shape: Shape): ClassRecord {
  const isReadable = (name: string): boolean =>
    shape.members.get(name)?.readable === true ||
    (shape.error && (name === "message" || name === "cause"));
  const args = shape.parameters.map((parameter) => {
    const name = parameter.replace(/^\.\.\./, "");
    return name !== "" && isReadable(name) ? parameter : null;
  });
  while (args.at(-1) === null) args.pop();
  const isFixed = (name: string): boolean =>
    shape.defaults?.includes(name) === true && shape.members.get(name)?.writable === false;
  const fixed = args.filter((name) => name !== null).filter(isFixed);
  const given = new Set(args.map((arg) => arg?.replace(/^\.\.\./, "")));
  const fields = [...shape.members.values()]
    .filter((member) => member.readable && member.writable && !given.has(member.name))
    .map((member) => member.name)
    .filter((name) => !isForbidden(name) && !(shape.error && errorMembers.has(name)));
  return {
    key: one.name === "" ? fqnOfAnonymousDefault(module.id) : fqnOf(module.id, one.name),
    module: module.id,
    export: one.export,
    args,
    fields,
    ...(fixed.length > 0 && { fixed }),
    ...(shape.pattern && { pattern: true }),
    ...(shape.error ? { error: true } : shape.unread !== undefined && { unread: shape.unread }),
  };
}

async function shapeOf(
  one: ClassDescription,
  module: SourceModule,
  modules: Modules,
  depth = 0,
): Promise<Shape> {
  const parent =
    one.superclass === undefined || depth > 32
      ? undefined
      : await parentShape(one.superclass, module, modules, depth + 1);
  const members = new Map(parent?.members);
  // An accessor hides the parent's of the same name as a whole, its setter too.
  for (const member of one.members) members.set(member.name, member);
  const {
    parameters = [],
    defaults,
    pattern,
  } = one.parameters === undefined ? (parent ?? {}) : one;
  const { unread = parent?.unread } = one;
  return { parameters, defaults, pattern, members, error: parent?.error ?? false, unread };
}

/** Of a class that can't be read, it says just that. */
async function parentShape(
  name: string,
  module: SourceModule,
  modules: Modules,
  depth: number,
): Promise<Shape> {
  const description = modules.describe(module);
  const beside = description.classes.find((one) => one.name === name);
  if (beside !== undefined) return await shapeOf(beside, module, modules, depth);
  for (const { specifier, names } of description.imports) {
    // `errors.NotFound` of `import * as errors` is written with its dot.
    const [head, member] = name.split(".");
    const local = names.find((one) => one.local === head);
    if (local === undefined) continue;
    const imported = local.imported === "*" ? member : local.imported;
    if (imported === undefined) break;
    if (
      specifier === "seamline" ||
      specifier === "seamline/client" ||
      specifier.startsWith("/svc/")
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
