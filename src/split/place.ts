// What goes where (docs/architecture.md): which units form the shared part, and which the body of a build.

import type { Problem } from "../problem.ts";
import { type Module, specifierOf, type Unit } from "./analyze.ts";
import { problemAt } from "./mark.ts";
import type { Procedure } from "./procedures.ts";
import { isFunction, type Node, walk } from "./tree.ts";

export interface Placement {
  readonly shared: ReadonlySet<Unit>;
  readonly body: ReadonlySet<Unit>;
}

/** Places the units of a module for a build that may hold `held` of its `procedures`. What is shared doesn't depend on it. */
export function place(
  module: Module,
  procedures: readonly Procedure[],
  held: readonly Procedure[],
): Placement {
  const seams = new Set(procedures.map((one) => one.unit));
  const reach = (roots: Iterable<Unit>, into: Set<Unit>): Set<Unit> => {
    const open = [...roots];
    for (let unit = open.pop(); unit !== undefined; unit = open.pop()) {
      if (into.has(unit)) continue;
      into.add(unit);
      open.push(...needs(module, unit).filter((one) => !seams.has(one)));
    }
    return into;
  };
  const shared = reach(
    module.exports.flatMap((one) => one.units).filter((unit) => !seams.has(unit)),
    new Set(),
  );
  // A `var` in a block makes a statement a declaration: it goes where its names are needed, and nowhere else.
  const needed = reach(seams, new Set());
  const statements = module.units.filter(
    (unit) =>
      unit.kind === "statement" &&
      !shared.has(unit) &&
      (unit.names.length === 0 || !needed.has(unit)),
  );
  for (const unit of statements) {
    const mentioned = mentions(module, unit);
    if (mentioned.size > 0 && [...mentioned].every((one) => shared.has(one))) shared.add(unit);
  }

  const body = reach(
    held.map((one) => one.unit),
    new Set(),
  );
  const whole = held.length === procedures.length;
  const present = new Set([...body, ...shared]);
  for (const unit of statements) {
    if (held.length === 0 || shared.has(unit)) continue;
    const mentioned = mentions(module, unit);
    // A build that holds every procedure keeps nothing back. Another takes only what needs nothing that it hasn't got.
    if (whole || (mentioned.size > 0 && [...mentioned].every((one) => present.has(one))))
      reach([unit], body);
  }
  // An import may stand in both parts: it is the same module for both. All else exists once, in the shared part.
  for (const unit of shared) if (unit.kind !== "import") body.delete(unit);
  return { shared, body };
}

function mentions(module: Module, unit: Unit): Set<Unit> {
  const found = unit.references
    .filter((one) => !one.soft)
    .flatMap((one) => module.bindings.get(one.name) ?? []);
  return new Set(found.filter((one) => one !== unit));
}

function needs(module: Module, unit: Unit): Unit[] {
  return unit.references.flatMap((one) => {
    const declaring = module.bindings.get(one.name) ?? [];
    return one.soft ? declaring.filter((other) => other.kind === "import") : declaring;
  });
}

/** Bindings that one part declares and another writes: no import can do that. */
export function writesAcross(
  module: Module,
  procedures: readonly Procedure[],
  { shared }: Placement,
): Problem[] {
  const problems: Problem[] = [];
  const seams = new Set(procedures.map((one) => one.unit));
  for (const unit of module.units) {
    for (const { name, start } of unit.references.filter((one) => one.write)) {
      const declaring = module.bindings.get(name) ?? [];
      if (declaring.some((one) => seams.has(one))) {
        const message = `'${name}' is written here, but a segment names it: callers hold its seam, which can't be replaced`;
        problems.push(
          problemAt(
            module,
            start,
            message,
            `Keep '${name}' as it is declared, and call what changes from inside it`,
          ),
        );
      } else if (
        !shared.has(unit) &&
        declaring.some((one) => shared.has(one) && one.kind !== "import")
      ) {
        const message = `'${name}' is written here, in the code of a procedure, but it is declared in the part of the module that others import`;
        const hint = `Make it a property of a const object, \`const state = { ${name}: … }\`, and write \`state.${name}\`; or write it in an exported function`;
        problems.push(problemAt(module, start, message, hint));
      }
    }
  }
  return problems;
}

/** What would not run any more: code that is in no part of any build. */
export function unplaced(module: Module, { shared, body }: Placement): Problem[] {
  return module.units
    .filter((unit) => !shared.has(unit) && !body.has(unit) && actsWhenLoaded(module, unit))
    .map((unit) => {
      const what =
        unit.names.length === 0
          ? "This statement"
          : unit.names.map((name) => `'${name}'`).join(", ");
      const message = `${what} is needed by no export of the module, so it is left out and does not run`;
      return problemAt(
        module,
        unit.node.start,
        message,
        "Use it, export it, or make it a statement of its own",
      );
    });
}

/** Statements that a build for browsers leaves out although they mention a procedure that it holds, or are style. */
export function leftBehind(
  module: Module,
  held: readonly Procedure[],
  { shared, body }: Placement,
): Problem[] {
  const units = new Set(held.map((one) => one.unit));
  return module.units
    .filter((unit) => unit.kind === "statement" && !shared.has(unit) && !body.has(unit))
    .filter((unit) => isStyle(unit) || [...mentions(module, unit)].some((one) => units.has(one)))
    .map((unit) => {
      if (isStyle(unit)) {
        const hint = "Import it in the page, or in a module of which no segment names anything";
        return problemAt(
          module,
          unit.node.start,
          "This import takes effect on servers only, as some procedures of the module are for servers",
          hint,
        );
      }
      const message =
        "This statement runs on servers only: it mentions something that the build for browsers doesn't hold";
      return problemAt(
        module,
        unit.node.start,
        message,
        "Mention in it only what the browser's procedures use as well",
      );
    });
}

// A style sheet is of no use on a server, so its author meant the browser.
function isStyle({ node }: Unit): boolean {
  return (
    node.type === "ImportDeclaration" &&
    /\.(?:css|less|s[ac]ss|styl)(?:\?|$)/.test(specifierOf(node))
  );
}

const acting = new Set([
  "CallExpression",
  "NewExpression",
  "AwaitExpression",
  "TaggedTemplateExpression",
  "AssignmentExpression",
  "UpdateExpression",
  "ImportExpression",
]);

function actsWhenLoaded(module: Module, unit: Unit): boolean {
  if (unit.kind === "statement") return true;
  // TypeScript drops an import that nothing uses; JavaScript runs it.
  if (unit.kind === "import") return /\.(?:js|mjs|jsx)$/.test(module.file);
  let acts = false;
  if (unit.kind === "declarator")
    walk(unit.node, (node: Node) => {
      if (acting.has(node.type)) acts = true;
      return !isFunction(node);
    });
  return acts;
}
