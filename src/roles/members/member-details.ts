// Optional details that a member sends to its gateway (`node` in `POST /nodes`). They are for the
// console; calls don't depend on them.

import { isAccess } from "../../base/access.ts";
import { BadRequest } from "../../base/errors.ts";
import type { Access, Parameter, PatternName } from "../../base/manifest.ts";
import { defaultVersion } from "../../base/version.ts";
import type { Registration } from "../../runtime/registry.ts";
import type { RouteRegistration } from "../../runtime/routes.ts";

/** A member's description of itself. */
export interface MemberDetails {
  readonly name?: string;
  readonly segments: readonly string[];
  readonly procedures: readonly MemberProcedure[];
}

/** One version of a procedure, or a route, and the segments that name it. */
export interface MemberProcedure {
  readonly fqn: string;
  readonly version: string;
  readonly access: Access;
  readonly segments: readonly string[];
  readonly parameters: readonly Parameter[];
  /** Method and path of a route: `POST /webhooks/:provider`. */
  readonly route?: string;
  /** The guard of callers from outside: `auth#signedIn`. */
  readonly guard?: string;
}

export function describeNode(
  name: string | undefined,
  segments: readonly string[],
  registrations: readonly Registration[],
  routes: readonly RouteRegistration[],
): MemberDetails {
  const called = registrations.map((registration): MemberProcedure => {
    const { fqn, version, parameters } = registration.record;
    return {
      fqn,
      version,
      access: registration.access,
      segments: registration.segments,
      parameters,
      ...(registration.guard !== undefined && { guard: registration.guard }),
    };
  });
  const procedures = [...called, ...routes.map(describeRoute)];
  return { ...(name === undefined ? {} : { name }), segments, procedures };
}

/** For a gateway. `undefined` if it keeps no description of this size: then the node joins without one. */
export function describeMember(
  ...node: Parameters<typeof describeNode>
): MemberDetails | undefined {
  const [, , registrations, routes] = node;
  if (registrations.length + routes.length > most.procedures) return undefined;
  try {
    const details = describeNode(...node);
    readMemberDetails(details);
    return details;
  } catch (error) {
    if (error instanceof BadRequest) return undefined;
    throw error;
  }
}

/** As the console lists a route. */
export function describeRoute({
  name,
  method,
  path,
  access,
  segments,
  guard,
}: Omit<RouteRegistration, "run" | "trace">): MemberProcedure {
  return {
    fqn: name,
    version: defaultVersion.toString(),
    access,
    segments,
    parameters: [],
    route: `${method} ${path}`,
    ...(guard !== undefined && { guard }),
  };
}

// Limits of a gateway's memory for each member: far more than applications have, and little enough for a
// hundred members.
const most = {
  segments: 1_000,
  procedures: 10_000,
  parameters: 100,
  names: 100,
  text: 300,
  route: 2_000,
} as const;

/**
 * Throws BadRequest with the path of the mistake. Ignores unknown keys, which later versions may
 * add.
 */
export function readMemberDetails(value: unknown): MemberDetails {
  const details = objectOf(value, "node");
  const { name } = details;
  return {
    ...(name === undefined ? {} : { name: textOf(name, "node.name") }),
    segments: listOf(details["segments"], "node.segments", most.segments, textOf),
    procedures: listOf(details["procedures"], "node.procedures", most.procedures, procedureOf),
  };
}

/** The name in a join by digest: the rest is in the list. */
export function readMemberName(value: unknown): string {
  return textOf(value, "name");
}

function procedureOf(value: unknown, path: string): MemberProcedure {
  const procedure = objectOf(value, path);
  const { access, route, guard } = procedure;
  if (!isAccess(access)) throw wrong(`${path}.access`, "an access");
  const version = textOf(procedure["version"], `${path}.version`);
  if (!/^\d{1,9}(\.\d{1,9}){2}$/.test(version)) throw wrong(`${path}.version`, "a version");
  return {
    fqn: textOf(procedure["fqn"], `${path}.fqn`),
    version,
    access,
    segments: listOf(procedure["segments"], `${path}.segments`, most.segments, textOf),
    parameters: listOf(procedure["parameters"], `${path}.parameters`, most.parameters, parameterOf),
    ...(route === undefined ? {} : { route: textOf(route, `${path}.route`, most.route) }),
    ...(guard === undefined ? {} : { guard: textOf(guard, `${path}.guard`) }),
  };
}

function parameterOf(value: unknown, path: string): Parameter {
  const parameter = objectOf(value, path);
  const { kind } = parameter;
  const optional = flagOf(parameter["optional"], `${path}.optional`);
  if (kind === "rest") return { kind, name: textOf(parameter["name"], `${path}.name`) };
  if (kind === "plain") return { kind, ...nameOf(parameter, path) };
  const names = parameter["names"];
  if (kind === "object")
    return { kind, names: listOf(names, `${path}.names`, most.names, patternNameOf), ...optional };
  if (kind !== "array") throw wrong(`${path}.kind`, "a kind of parameter");
  return {
    kind,
    names: listOf(names, `${path}.names`, most.names, (item, at) =>
      item === null ? null : patternNameOf(item, at),
    ),
    ...optional,
  };
}

const patternNameOf = (value: unknown, path: string): PatternName =>
  nameOf(objectOf(value, path), path);

const types = new Set(
  ["number", "boolean", "bigint", "Date"]
    .flatMap((type) => [type, `${type}[]`])
    .concat("string[]", "File[]"),
);

function nameOf(fields: Readonly<Record<string, unknown>>, path: string): PatternName {
  const { type } = fields;
  if (type !== undefined && !(typeof type === "string" && types.has(type)))
    throw wrong(`${path}.type`, "a type of value");
  return {
    name: textOf(fields["name"], `${path}.name`),
    ...flagOf(fields["optional"], `${path}.optional`),
    ...(type === undefined ? {} : { type: type as Exclude<PatternName["type"], undefined> }),
  };
}

function flagOf(value: unknown, path: string): { optional?: true } {
  if (value === undefined) return {};
  if (value !== true) throw wrong(path, "true, or nothing");
  return { optional: true };
}

function objectOf(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw wrong(path, "an object");
  return value as Readonly<Record<string, unknown>>;
}

function textOf(value: unknown, path: string, maxLength: number = most.text): string {
  if (typeof value !== "string" || value === "" || value.length > maxLength)
    throw wrong(path, `a text of 1 to ${maxLength} characters`);
  return value;
}

function listOf<T>(
  value: unknown,
  path: string,
  maxLength: number,
  readItem: (value: unknown, path: string) => T,
): T[] {
  if (!Array.isArray(value) || value.length > maxLength)
    throw wrong(path, `a list of at most ${maxLength}`);
  return value.map((item, at) => readItem(item, `${path}[${at}]`));
}

function wrong(path: string, expected: string): BadRequest {
  return new BadRequest(`'${path}' is not ${expected}`);
}
