// Checks arguments that a main file passes to a service's hooks.

import { ownName, signatureProblem } from "../../http/middleware.ts";

/** Throws a `TypeError` if it isn't a middleware. */
export function checkMiddleware(middleware: unknown): void {
  if (typeof (middleware as { handle?: unknown } | undefined)?.handle !== "function")
    throw new TypeError(
      `addMiddleware takes an object with an async function handle(fqn, version, args, headers, next), not ${describeArgument(middleware)}`,
    );
  const layer = middleware as Parameters<typeof signatureProblem>[0];
  const problem = signatureProblem(layer);
  if (problem !== undefined)
    throw new TypeError(`addMiddleware can't take ${ownName(layer) ?? "this object"}: ${problem}`);
}

/** Throws a `TypeError` unless both are valid for `addHealthCheck`. */
export function checkHealthCheck(name: unknown, check: unknown): void {
  if (typeof name !== "string" || name === "")
    throw new TypeError(
      `addHealthCheck(name, check) takes a name first, not ${describeArgument(name)}`,
    );
  if (typeof (check as { isHealthy?: unknown } | undefined)?.isHealthy !== "function")
    throw new TypeError(
      `addHealthCheck('${name}', …) takes an object with an async function isHealthy(), not ${describeArgument(check)}`,
    );
}

/** Describes a wrong argument, with a hint. */
function describeArgument(value: unknown): string {
  if (typeof value === "object") return value === null ? "null" : "an object without it";
  if (typeof value !== "function") return value === "" ? "an empty string" : typeof value;
  const isClass = /^class\b/.test(Function.prototype.toString.call(value));
  return isClass ? `the class ${value.name}; pass an instance: new ${value.name}()` : "a function";
}
