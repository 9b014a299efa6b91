// Mistakes that the entries of segment files make together.

import { isCallable } from "../../../src/base/access.ts";
import { procedureKey } from "../../../src/base/fqn.ts";
import { endsInVersion } from "../../../src/base/version.ts";
import { segmentFileEnding } from "../../../src/base/manifest.ts";
import type { Problem } from "../../../src/base/problem.ts";
import type { SegmentFile, SegmentFileEntry } from "../../../src/runtime/segment.ts";
import { parameterNames } from "../../../src/split/procedures/read-parameters.ts";
import type { ApplicationGraph } from "../cut/application.ts";
import {
  type ApplicationProcedure,
  type NamedFunction,
  type Place,
  functionKey,
  groupBy,
  isRoute,
  placeOf,
} from "../cut/application-procedure.ts";

/** Segments with one name, and entries that are wrong by themselves or contradict each other. */
export function segmentEntries({
  segments,
  functions,
  entryProblems,
  named,
}: ApplicationGraph): readonly Problem[] {
  const calls = named.filter((procedure) => !isRoute(procedure));
  return [
    ...sameNames(segments),
    ...entryProblems,
    ...groupBy(functions, functionKey).flatMap(([first, ...others]) =>
      others.flatMap((other) => disagreement(first, other)),
    ),
    ...groupBy(
      functions.filter(({ entry }) => isCallable(entry.access)),
      functionKey,
    ).flatMap(([first, ...others]) => others.flatMap((other) => disagreementOutside(first, other))),
    ...calls.flatMap(versionedName),
    ...twins(calls),
    ...scattered(calls),
  ];
}

/** Warns of entries that some callers can't use, and of an application without any. */
export function uselessEntries({ segments, named }: ApplicationGraph): readonly Problem[] {
  return [
    ...(segments.length === 0 ? [noSegments] : []),
    ...named
      .filter((procedure) => !isRoute(procedure))
      .filter((procedure) => procedure.parameters.flatMap(parameterNames).includes("version"))
      .map(versionParameter),
  ];
}

const noSegments: Problem = {
  file: `*${segmentFileEnding}`,
  message:
    "there is no such file, so no function is a procedure, and pages get everything that they import",
  hint: `Write one, NAME${segmentFileEnding}: { "./shop/quote": { "quote": { "access": "public" } } }`,
};

/** The settings in which two entries of one function differ. */
function disagreement(first: NamedFunction, second: NamedFunction): readonly Problem[] {
  const at = (message: string, hint: string): readonly Problem[] => [
    { ...placeOf(second), message, hint },
  ];
  const function_ = nameOf(first);
  const there = `${first.segment.file} at ${first.entry.path}`;
  if (routeOf(first) !== routeOf(second))
    return at(
      `${function_} is ${routeOf(second)} here, and ${routeOf(first)} in ${there}`,
      "A function is either a procedure or a route, the same in all segments: export a second function for the other.",
    );
  if (first.fqn !== second.fqn)
    return at(
      `${function_} is named "${second.fqn}" here, and "${first.fqn}" in ${there}`,
      'A function has one name: give both entries the same module and the same "as".',
    );
  if (first.entry.version !== second.entry.version)
    return at(
      `${function_} has version ${second.entry.version} here, and ${first.entry.version} in ${there}`,
      "A function has one version in all segments.",
    );
  if (first.export.name !== second.export.name)
    return at(
      `${function_} is named as export "${second.entry.export}" here, and as "${first.entry.export}" in ${there}`,
      "Name one of its exports everywhere.",
    );
  if (first.segment === second.segment)
    return at(
      `${function_} is named twice in this segment, also at ${first.entry.path}`,
      "Remove one of the two entries.",
    );
  return [];
}

/**
 * In what all entries must agree that callers from outside reach: a call comes to any node that has one of
 * them. Entries that leave a key out agree with those that say its default.
 */
const agreed = [
  "guard",
  "validate",
  "extra",
  "safe",
  "resume",
  "idempotent",
] as const satisfies readonly (keyof SegmentFileEntry)[];

const defaults: Partial<Record<(typeof agreed)[number], unknown>> = {
  validate: true,
  extra: "drop",
};

function disagreementOutside(first: NamedFunction, second: NamedFunction): readonly Problem[] {
  const key = agreed.find((field) => saidIn(first, field) !== saidIn(second, field));
  if (key === undefined) return [];
  return [
    {
      ...placeOf(second),
      message: `${nameOf(first)} has ${shownIn(second, key)} here, and ${shownIn(first, key)} in ${first.segment.file} at ${first.entry.path}`,
      hint: `Give all its public and protected entries the same "${key}": a call comes to any node that has one of them.`,
    },
  ];
}

function nameOf({ export: { name, ownName = name }, module }: NamedFunction): string {
  return `the function "${ownName}" of ${module.name}`;
}

function saidIn({ entry }: NamedFunction, key: (typeof agreed)[number]): string | undefined {
  const value = key === "idempotent" ? (entry.idempotent ?? entry.safe) : entry[key];
  const isDefault = value === undefined || value === defaults[key];
  return isDefault ? undefined : JSON.stringify(value);
}

function shownIn(named: NamedFunction, key: (typeof agreed)[number]): string {
  const said = saidIn(named, key);
  return said === undefined ? `no "${key}"` : `"${key}": ${said}`;
}

function routeOf({ entry }: NamedFunction): string {
  const { route, crossSite = false, bodyBytes } = entry;
  if (route === undefined) return "a procedure";
  const options = [
    ...(crossSite ? ['"crossSite"'] : []),
    ...(bodyBytes === undefined ? [] : [`"bodyBytes": ${bodyBytes}`]),
  ];
  const more = options.length === 0 ? "" : ` with ${options.join(" and ")}`;
  return `the route "${route.method} ${route.path}"${more}`;
}

/** A warning only: a POST gives this parameter in its body, and a seam always can. */
function versionParameter(procedure: ApplicationProcedure): Problem {
  const { module, export: name, fqn, entries } = procedure;
  const { line, column } = entries[0].export;
  return {
    file: module.name,
    line,
    column,
    message: `"${name}" has a parameter "version", which a GET can't pass: in the query of "${fqn}" it is the version of the procedure`,
    hint: "Rename the parameter if the procedure should be callable by GET.",
  };
}

/** Callers write a version behind the name: in a path, such a name would be another procedure's version. */
function versionedName(procedure: ApplicationProcedure): readonly Problem[] {
  const { fqn, entries } = procedure;
  const part = fqn.split("/").find(endsInVersion);
  // In "as", no @ is allowed at all.
  if (part === undefined || entries[0].entry.as?.endsWith(part) === true) return [];
  const isName = fqn.endsWith(part);
  return [
    {
      ...place(procedure),
      message: `the name "${fqn}" has "${part}" in it, and in calls "${part.slice(part.lastIndexOf("@"))}" stands for a version`,
      hint: isName
        ? 'Name the procedure otherwise with "as", and its version with "version".'
        : `Rename the directory "${part}".`,
    },
  ];
}

/** Two functions under one name and version. */
function twins(procedures: readonly ApplicationProcedure[]): readonly Problem[] {
  return groupBy(procedures, (procedure) => procedureKey(procedure.fqn, procedure.version)).flatMap(
    ([first, ...others]) =>
      others.map((other) => ({
        ...place(other),
        message: `"${other.fqn}" version ${other.version} stands for two functions: ${text(first)}, and ${text(other)}`,
        hint: 'Give one of them another "version", or another name with "as".',
      })),
  );
}

/** All versions of a procedure must be in the same segments. */
function scattered(procedures: readonly ApplicationProcedure[]): readonly Problem[] {
  return groupBy(procedures, (procedure) => procedure.fqn).flatMap(([first, ...others]) =>
    others.flatMap((other) => {
      const [here, there] = [other, first].map(segmentsOf);
      if (here === there || other.version === first.version) return [];
      return [
        {
          ...place(other),
          message: `version ${other.version} of "${other.fqn}" is in ${here}, but version ${first.version} is in ${there} (${place(first).file})`,
          hint: "All versions of a procedure must be in the same segments.",
        },
      ];
    }),
  );
}

function sameNames(segments: readonly SegmentFile[]): readonly Problem[] {
  return groupBy(segments, (segment) => segment.name).flatMap(([first, ...others]) =>
    others.map((other) => ({
      file: other.file,
      message: `segment "${other.name}" is also defined by ${first.file}`,
      hint: "Rename one of the files, or merge them.",
    })),
  );
}

function segmentsOf(procedure: ApplicationProcedure): string {
  return [...new Set(procedure.entries.map((entry) => entry.segment.name))].sort().join(", ");
}

function place(procedure: ApplicationProcedure): Place {
  return placeOf(procedure.entries[0]);
}

function text(procedure: ApplicationProcedure): string {
  return `"${procedure.export}" of ${procedure.module.name} (${place(procedure).file})`;
}
