// Why a segment can't name an export, in words for its author.

import { nearest, type Problem } from "../../base/problem.ts";
import type { Module } from "../read/analyze.ts";
import { type Callable, returnTypeOf, typeName, valueOf } from "./callable.ts";
import { problemAt } from "../read/code-frame.ts";
import { declaredType } from "./declared-type.ts";
import type { LocalExport } from "../read/exports.ts";
import { bare, child, need, type Node } from "../read/tree.ts";

/** The problem of an export called `then`. */
export const thenable: { readonly message: string; readonly hint: string } = {
  message:
    "a module can't export `then`: `import()` takes such a module for a promise, and waits forever",
  hint: "Rename it",
};

/** The reasons why a segment can't name this export; none if it can. */
export function exportProblems(module: Module, found: LocalExport, callable: Callable): Problem[] {
  const start = (callable.fn ?? callable.class ?? found.node).start;
  const named =
    found.exported === "then" ? [problemAt(module, start, thenable.message, thenable.hint)] : [];
  return [...named, ...kindProblems(module, found, callable, start)];
}

// Types that are never a promise.
const typesWithoutPromise =
  /^TS(?:(?:String|Number|Boolean|BigInt|Symbol|Void|Undefined|Null|Object)Keyword|(?:Array|Tuple|Literal|TemplateLiteral)Type)$/;

const syncIterators = /^(?:Generator|Iterable(?:Iterator)?|Iterator(?:Object)?)$/;

const asyncGeneratorHint =
  "Make it an `async function*`, which returns an AsyncGenerator: a procedure may run on another machine";

function kindProblems(
  module: Module,
  found: LocalExport,
  callable: Callable,
  start: number,
): Problem[] {
  const subject = found.exported === "default" ? "The default export" : `'${found.exported}'`;
  switch (callable.kind) {
    case "sync": {
      if (callable.fn?.["generator"] === true) {
        const message = `${subject} is named by a segment, but it is a generator that is not async`;
        return [problemAt(module, start, message, asyncGeneratorHint)];
      }
      const message = `${subject} is named by a segment, but it is not async`;
      const hint = "Declare it `async`: a procedure may run on another machine";
      return [problemAt(module, start, message, hint)];
    }
    case "class": {
      const message = `${subject} is named by a segment, but it is a class`;
      const hint = "Name async functions in segments; classes are available everywhere without";
      return [problemAt(module, start, message, hint)];
    }
    case "wrapped": {
      const type = callable.signature === undefined ? undefined : returnTypeOf(callable.signature);
      if (syncIterators.test(typeName(type))) {
        const message = `${subject} is named by a segment, but its type returns an iterator that is not async`;
        return [problemAt(module, found.node.start, message, asyncGeneratorHint)];
      }
      if (type === undefined || !typesWithoutPromise.test(type.type)) return [];
      const message = `${subject} is named by a segment, but its type doesn't return a promise`;
      const hint = "Return a Promise or an AsyncGenerator: a procedure may run on another machine";
      return [problemAt(module, found.node.start, message, hint)];
    }
    case "other":
      return [unknownParameters(module, found, subject, callable)];
    default:
      return [];
  }
}

// Declarations of TypeScript that are values but not functions.
const typeScriptDeclarations = new Map([
  ["TSEnumDeclaration", "an enum"],
  ["TSModuleDeclaration", "a namespace"],
]);

// Values that are plainly not functions.
const plainValues = new Set([
  "Literal",
  "TemplateLiteral",
  "ObjectExpression",
  "ArrayExpression",
  "UnaryExpression",
  "BinaryExpression",
]);

/**
 * The text doesn't say which parameters callers give. A guess could let callers set a parameter
 * that only a wrapper may set.
 */
function unknownParameters(
  module: Module,
  found: LocalExport,
  subject: string,
  { fn }: Callable,
): Problem {
  const exampleType = `(title: string) => ${fn?.["generator"] === true ? "AsyncGenerator" : "Promise"}<string>`;
  const problem = (message: string, hint: string): Problem =>
    problemAt(module, found.node.start, message, hint);
  const [unit] = found.units;
  const value = unit === undefined ? undefined : (valueOf(unit) ?? child(unit.node, "init"));
  const declaration = typeScriptDeclarations.get(value?.type ?? "");
  if (declaration !== undefined)
    return problem(
      `${subject} is named by a segment, but it is ${declaration}`,
      "Name async functions in segments; modules that import this have it without",
    );
  if (unit === undefined || value === undefined || plainValues.has(value.type))
    return problem(
      `${subject} is named by a segment, but it is not a function that can be read from the source`,
      "Export an async function",
    );
  const type = declaredType(module, unit);
  const name = found.local ?? "create";
  if (type !== undefined)
    return problem(
      `${subject} has the type ${type.text}, which isn't a function type declared in this file`,
      `Write the function type itself: const ${name}: ${exampleType} = …; imported and computed types can't be read here`,
    );
  const origin = valueOf(unit) === undefined ? "…" : originText(module, value);
  const declared =
    found.local === undefined
      ? `export default ${origin} satisfies ${exampleType}`
      : `const ${name}: ${exampleType} = ${origin}`;
  return problem(
    `${subject} comes from ${origin === "…" ? "an expression" : origin}: the source doesn't say which parameters callers give`,
    /\.m?jsx?$/.test(module.file)
      ? `Write its type in a comment above it: /** @type {${exampleType}} */`
      : `Write its type: ${declared}`,
  );
}

/** A call or a member by its name, and `…` for other expressions. */
function originText({ source }: Module, value: Node): string {
  const named = value.type === "CallExpression" ? bare(need(value, "callee")) : value;
  const text = source.slice(named.start, named.end);
  if (!/^[\w$.]{1,60}$/.test(text)) return "…";
  return value.type === "CallExpression" ? `${text}(…)` : text;
}

/** The problem of an export that a segment names and the module doesn't have. */
export function missingExport(module: Module, name: string): Problem {
  const reexport = module.reexports.find(({ exported }) => exported === name);
  if (reexport !== undefined)
    return problemAt(
      module,
      reexport.node.start,
      `'${name}' is only passed on from '${reexport.specifier}'`,
      "It is split in the module that declares it: name that one in the segment",
    );
  const names = [...module.exports, ...module.reexports].map(({ exported }) => exported);
  const near = nearest(name, names);
  const choice =
    names.length === 0
      ? "It exports nothing"
      : `It exports ${names.map((exported) => `'${exported}'`).join(", ")}`;
  return problemAt(
    module,
    0,
    name === "default"
      ? "A segment names the default export, but the module has none"
      : `A segment names '${name}', but the module exports no such value`,
    near === undefined ? choice : `Did you mean '${near}'? ${choice}`,
  );
}
