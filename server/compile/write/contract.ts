// The contract of an application, from its segment files and the types that were read.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isCallable, isChecked } from "../../../src/base/access.ts";
import { type Access, type Parameter, typesIdOf } from "../../../src/base/manifest.ts";
import type { Problem } from "../../../src/base/problem.ts";
import { byVersion } from "../../../src/base/version.ts";
import {
  type Contract,
  contractFormat,
  type ContractProcedure,
  type ContractRoute,
} from "../../contract/contract.ts";
import { nameOf, openApiOf } from "../../contract/openapi.ts";
import type { ContractFunction, NamedType, ParameterType, Type } from "../../types/model.ts";
import type { TypesReading } from "../../types/reading.ts";
import type { Application } from "../cut/application.ts";
import {
  type ApplicationProcedure,
  type ApplicationRoute,
  isRoute,
  placeOf,
} from "../cut/application-procedure.ts";

type Contracted = Pick<Application, "root" | "procedures" | "routes">;

/** `reading` is missing if no arguments are checked: then nothing is known of types. */
export function contractOf(
  { root, procedures, routes }: Contracted,
  reading: TypesReading | undefined,
): Contract {
  const { definitions = {}, docs = {}, classes = {}, functions = {} } = reading?.contract ?? {};
  const read = (named: ApplicationProcedure): ContractFunction | undefined => {
    const id = typesIdOf({ module: named.module.id, export: named.export });
    return Object.hasOwn(functions, id) ? functions[id] : undefined;
  };
  return {
    format: contractFormat,
    application: packageOf(root),
    procedures: procedures
      .flatMap((named) => procedureOf(named, read(named)))
      .sort(byNameAndVersion),
    routes: routes.flatMap((named) => routeOf(named, read(named))),
    definitions: Object.fromEntries(
      Object.entries(definitions).map(([name, type]) => [
        name,
        { type, ...(Object.hasOwn(docs, name) && { doc: docs[name]! }) },
      ]),
    ),
    classes,
  };
}

/** Functions that would be one operation of an OpenAPI document. */
export function clashProblems(
  { procedures, routes }: Pick<Contracted, "procedures" | "routes">,
  contract: Contract,
): readonly Problem[] {
  const named = new Map(
    [...procedures, ...routes].map((one) => [nameOf(isRoute(one) ? one.route : one), one]),
  );
  return openApiOf(contract).clashes.map(({ operationId, names }) => ({
    ...placeOf(named.get(names[1])!.entries[0]),
    message: `${names.join(" and ")} would be one operation of the OpenAPI document, '${operationId}'`,
    hint: 'Give one of them another name, by "as" in its entry',
  }));
}

function procedureOf(
  named: ApplicationProcedure,
  read: ContractFunction | undefined,
): ContractProcedure[] {
  const callable = named.entries
    .map(({ entry }) => entry)
    .filter(({ access }) => isCallable(access));
  const [entry] = callable;
  if (entry === undefined) return [];
  const { extra, guard } = entry;
  const types = isChecked(entry) ? read : undefined;
  return [
    {
      fqn: named.fqn,
      version: named.version,
      access: accessOf(callable),
      ...(entry.safe && { safe: true }),
      ...(entry.idempotent && { idempotent: true }),
      ...(entry.resume && { resume: true }),
      ...(guard !== undefined && { guarded: true }),
      ...(extra !== undefined && extra !== "drop" && { extra }),
      ...(!isChecked(entry) && { unchecked: true }),
      ...(types?.deprecated && { deprecated: true }),
      ...(types?.doc !== undefined && { doc: types.doc }),
      signatures: types?.signatures ?? [
        {
          parameters: named.parameters.map(untyped),
          result: anything,
          ...(named.stream && { streams: true }),
        },
      ],
    },
  ];
}

function routeOf(
  { fqn, route, entries }: ApplicationRoute,
  read: ContractFunction | undefined,
): ContractRoute[] {
  const callable = entries.map(({ entry }) => entry).filter(({ access }) => isCallable(access));
  const [entry] = callable;
  if (entry === undefined) return [];
  return [
    {
      name: fqn,
      access: accessOf(callable),
      method: route.method,
      path: route.path,
      ...(entry.guard !== undefined && { guarded: true }),
      ...(read?.doc !== undefined && { doc: read.doc }),
    },
  ];
}

function byNameAndVersion(left: ContractProcedure, right: ContractProcedure): number {
  if (left.fqn !== right.fqn) return left.fqn < right.fqn ? -1 : 1;
  return byVersion(left.version, right.version);
}

/** A function that one of its segments makes public is public. */
function accessOf(entries: readonly { readonly access: Access }[]): "public" | "protected" {
  return entries.some(({ access }) => access === "public") ? "public" : "protected";
}

const anything: Type = { kind: "unknown" };

/** Of a parameter only its name is known, and whether it may be left out. */
function untyped(parameter: Parameter): ParameterType {
  const name = ({ name: text, optional }: { name: string; optional?: true }): NamedType => ({
    name: text,
    type: anything,
    ...(optional && { optional }),
  });
  switch (parameter.kind) {
    case "plain":
      return { kind: "plain", ...name(parameter) };
    case "rest":
      return { kind: "rest", name: parameter.name, type: { kind: "array", items: anything } };
    case "object":
      return {
        kind: "object",
        names: parameter.names.map(name),
        ...(parameter.optional && { optional: true }),
      };
    case "array":
      return {
        kind: "array",
        names: parameter.names.map((one) => one && name(one)),
        ...(parameter.optional && { optional: true }),
      };
  }
}

function packageOf(root: string): Contract["application"] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  } catch {
    // An application needs no package of its own.
    return {};
  }
  const { name, version } = (content ?? {}) as { name?: unknown; version?: unknown };
  return {
    ...(typeof name === "string" && { name }),
    ...(typeof version === "string" && { version }),
  };
}
