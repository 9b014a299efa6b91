// What a member may tell its gateway beside its FQNs (`node` in `POST /nodes`): for people who look, and for no call.

import { BadRequest } from "../errors.ts";
import type { Access, Parameter, PatternName } from "../manifest.ts";
import type { Registration } from "../registry.ts";

/** A member about itself. */
export interface MemberAbout {
  readonly name?: string;
  readonly segments: readonly string[];
  readonly procedures: readonly AboutProcedure[];
}

export interface AboutProcedure {
  readonly fqn: string;
  readonly version: string;
  readonly access: Access;
  readonly segments: readonly string[];
  readonly parameters: readonly Parameter[];
}

export function aboutNode(
  name: string | undefined,
  segments: readonly string[],
  registrations: readonly Registration[],
): MemberAbout {
  const procedures = registrations.map(({ record, access, segments: among }) => {
    const { fqn, version, parameters } = record;
    return { fqn, version, access, segments: among, parameters };
  });
  return { ...(name === undefined ? {} : { name }), segments, procedures };
}

// What a gateway keeps for each member: far more than applications have, and little enough for a hundred members.
const most = {
  segments: 1_000,
  procedures: 10_000,
  parameters: 100,
  names: 100,
  text: 300,
} as const;

/** Throws BadRequest with the path of what is wrong. Keys that it doesn't know are of a later version, and left out. */
export function readAbout(value: unknown): MemberAbout {
  const about = objectOf(value, "node");
  const { name } = about;
  return {
    ...(name === undefined ? {} : { name: textOf(name, "node.name") }),
    segments: listOf(about["segments"], "node.segments", most.segments, textOf),
    procedures: listOf(about["procedures"], "node.procedures", most.procedures, procedureOf),
  };
}

function procedureOf(value: unknown, path: string): AboutProcedure {
  const one = objectOf(value, path);
  const { access } = one;
  if (access !== "public" && access !== "protected" && access !== "private")
    throw wrong(`${path}.access`, "an access");
  const version = textOf(one["version"], `${path}.version`);
  if (!/^\d{1,9}(\.\d{1,9}){2}$/.test(version)) throw wrong(`${path}.version`, "a version");
  return {
    fqn: textOf(one["fqn"], `${path}.fqn`),
    version,
    access,
    segments: listOf(one["segments"], `${path}.segments`, most.segments, textOf),
    parameters: listOf(one["parameters"], `${path}.parameters`, most.parameters, parameterOf),
  };
}

function parameterOf(value: unknown, path: string): Parameter {
  const one = objectOf(value, path);
  const { kind } = one;
  const optional = flagOf(one["optional"], `${path}.optional`);
  if (kind === "rest") return { kind, name: textOf(one["name"], `${path}.name`) };
  if (kind === "plain") return { kind, ...nameOf(one, path) };
  const names = one["names"];
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
  ["number", "boolean", "bigint", "Date"].flatMap((type) => [type, `${type}[]`]).concat("string[]"),
);

function nameOf(one: Readonly<Record<string, unknown>>, path: string): PatternName {
  const { type } = one;
  if (type !== undefined && !(typeof type === "string" && types.has(type)))
    throw wrong(`${path}.type`, "a type of value");
  return {
    name: textOf(one["name"], `${path}.name`),
    ...flagOf(one["optional"], `${path}.optional`),
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

function textOf(value: unknown, path: string): string {
  if (typeof value !== "string" || value === "" || value.length > most.text)
    throw wrong(path, `a text of 1 to ${most.text} characters`);
  return value;
}

function listOf<T>(
  value: unknown,
  path: string,
  longest: number,
  item: (value: unknown, path: string) => T,
): T[] {
  if (!Array.isArray(value) || value.length > longest)
    throw wrong(path, `a list of at most ${longest}`);
  return value.map((one, at) => item(one, `${path}[${at}]`));
}

function wrong(path: string, expected: string): BadRequest {
  return new BadRequest(`'${path}' is not ${expected}`);
}
