// Decides which units of a module form the shared part, and which form the body of a build
// (src/split/README.md).

import type { Problem } from "../../base/problem.ts";
import type { Module } from "../read/analyze.ts";
import { problemAt } from "../read/code-frame.ts";
import type { LocatedProcedure } from "../procedures/locate-procedures.ts";
import { importedName, specifierOf } from "../read/node-names.ts";
import type { Unit } from "../read/units.ts";

export interface Partition {
  readonly shared: ReadonlySet<Unit>;
  readonly body: ReadonlySet<Unit>;
}

/**
 * Partitions the units of a module for a build that may hold `held` of its `procedures`. The shared
 * part doesn't depend on `held`.
 */
export function partitionUnits(
  module: Module,
  procedures: readonly LocatedProcedure[],
  held: readonly LocatedProcedure[],
): Partition {
  const seams = unitsOfProcedures(procedures);
  /** Adds `roots` and all that they need, except procedures: these are called through seams. */
  const reach = (roots: Iterable<Unit>, reached: Set<Unit>): Set<Unit> => {
    const open = [...roots];
    for (let unit = open.pop(); unit !== undefined; unit = open.pop()) {
      if (reached.has(unit)) continue;
      reached.add(unit);
      open.push(...unitsNeededBy(module, unit).filter((needed) => !seams.has(needed)));
    }
    return reached;
  };
  const exported = module.exports.flatMap(({ units }) => units);
  const shared = reach(
    exported.filter((unit) => !seams.has(unit)),
    new Set(),
  );
  // A `var` in a block makes a statement a declaration: it goes only where its names are needed.
  const neededByProcedures = reach(seams, new Set());
  const statements = module.units.filter(
    (unit) =>
      unit.kind === "statement" &&
      !shared.has(unit) &&
      (unit.names.length === 0 || !neededByProcedures.has(unit)),
  );
  for (const statement of statements) {
    const mentioned = unitsMentionedBy(module, statement);
    if (mentioned.size > 0 && isSubset(mentioned, shared)) reach([statement], shared);
  }

  const body = reach(unitsOfProcedures(held), new Set());
  const holdsAll = held.length === procedures.length;
  const present = new Set([...body, ...shared]);
  for (const statement of statements) {
    if (held.length === 0 || shared.has(statement)) continue;
    const mentioned = unitsMentionedBy(module, statement);
    // A build that holds all procedures hides nothing. Others must have all that a statement needs.
    if (holdsAll || (mentioned.size > 0 && isSubset(mentioned, present))) reach([statement], body);
  }
  // An import may be in both parts, as both get the same module. All else exists once.
  for (const unit of shared) if (unit.kind !== "import") body.delete(unit);
  return { shared, body };
}

function unitsOfProcedures(procedures: readonly LocatedProcedure[]): Set<Unit> {
  return new Set(procedures.map(({ unit }) => unit));
}

function isSubset(units: ReadonlySet<Unit>, of: ReadonlySet<Unit>): boolean {
  return [...units].every((unit) => of.has(unit));
}

function unitsMentionedBy(module: Module, unit: Unit): Set<Unit> {
  const mentioned = unit.references
    .filter(({ soft }) => !soft)
    .flatMap(({ name }) => module.bindings.get(name) ?? []);
  return new Set(mentioned.filter((declaring) => declaring !== unit && !isOnStop(declaring)));
}

// Every node has it, so a statement that calls it goes with the code that it closes.
function isOnStop({ kind, node, statement }: Unit): boolean {
  return (
    kind === "import" &&
    specifierOf(statement) === "seamline" &&
    ["onStop", "*"].includes(importedName(node))
  );
}

function unitsNeededBy(module: Module, unit: Unit): Unit[] {
  return unit.references.flatMap(({ name, soft }) => {
    const declaring = module.bindings.get(name) ?? [];
    return soft ? declaring.filter(({ kind }) => kind === "import") : declaring;
  });
}

/** Refuses variables that one part declares and another writes, which no import can do. */
export function writesAcrossParts(
  module: Module,
  procedures: readonly LocatedProcedure[],
  { shared }: Partition,
): Problem[] {
  const problems: Problem[] = [];
  const seams = unitsOfProcedures(procedures);
  for (const unit of module.units) {
    for (const { name, start } of unit.references.filter(({ write }) => write)) {
      const declaring = module.bindings.get(name) ?? [];
      if (declaring.some((declaration) => seams.has(declaration))) {
        const message = `'${name}' is written here, but a segment names it: callers hold its seam, which can't be replaced`;
        const hint = `Keep '${name}' as it is declared, and call what changes from inside it`;
        problems.push(problemAt(module, start, message, hint));
      } else if (
        !shared.has(unit) &&
        declaring.some((declaration) => shared.has(declaration) && declaration.kind !== "import")
      ) {
        const message = `'${name}' is written here, in the code of a procedure, but it is declared in the part of the module that others import`;
        const hint = `Make it a property of a const object, \`const state = { ${name}: … }\`, and write \`state.${name}\`; or write it in an exported function`;
        problems.push(problemAt(module, start, message, hint));
      }
    }
  }
  return problems;
}

/** Warns of code with an effect that is in no part of any build. */
export function unplaced(module: Module, { shared, body }: Partition): Problem[] {
  return module.units
    .filter((unit) => !shared.has(unit) && !body.has(unit) && actsWhenLoaded(module, unit))
    .map(({ names, node }) => {
      const subject =
        names.length === 0 ? "This statement" : names.map((name) => `'${name}'`).join(", ");
      const message = `${subject} is needed by no export of the module, so it is left out and does not run`;
      const hint = "Use it, export it, or make it a statement of its own";
      return problemAt(module, node.start, message, hint);
    });
}

/** Warns of style sheets and of statements about held procedures that a browser won't get. */
export function leftOutOfBrowser(
  module: Module,
  held: readonly LocatedProcedure[],
  { shared, body }: Partition,
): Problem[] {
  const heldUnits = unitsOfProcedures(held);
  const problems: Problem[] = [];
  for (const unit of module.units) {
    if (unit.kind !== "statement" || shared.has(unit) || body.has(unit)) continue;
    const { start } = unit.node;
    if (isStyleImport(unit)) {
      const message =
        "This import takes effect on servers only, as some procedures of the module are for servers";
      const hint = "Import it in the page, or in a module of which no segment names anything";
      problems.push(problemAt(module, start, message, hint));
    } else if ([...unitsMentionedBy(module, unit)].some((declaring) => heldUnits.has(declaring))) {
      const message =
        "This statement runs on servers only: it mentions something that the build for browsers doesn't hold";
      const hint = "Mention in it only what the browser's procedures use as well";
      problems.push(problemAt(module, start, message, hint));
    }
  }
  return problems;
}

// A server has no use for a style sheet, so its author meant the browser.
function isStyleImport({ node }: Unit): boolean {
  return (
    node.type === "ImportDeclaration" &&
    /\.(?:css|less|s[ac]ss|styl)(?:\?|$)/.test(specifierOf(node))
  );
}

function actsWhenLoaded(module: Module, unit: Unit): boolean {
  if (unit.kind === "statement") return true;
  // TypeScript drops an unused import. In JavaScript it loads the module.
  if (unit.kind === "import") return /\.(?:js|mjs|jsx)$/.test(module.file);
  return unit.kind === "declarator" && unit.acts;
}
