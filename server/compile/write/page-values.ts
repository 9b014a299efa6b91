// Whether pages load /svc/codec.js from the start, or with the first value that needs it, if there ever is one.

import type { ClassRecord } from "../../../src/base/manifest.ts";
import type { Contract, ContractProcedure } from "../../contract/contract.ts";
import type { ParameterType, Type } from "../../types/model.ts";
import { reaches } from "../../types/values.ts";
import type { Application } from "../cut/application.ts";

/**
 * Whether calls that pages can make carry values that neither JSON nor `/svc/remote.js` knows. Where types don't say what
 * travels, an application whose pages have a class is taken to send it.
 */
export function needsCodec(
  {
    procedures,
    pageModules,
    browserSegments,
  }: Pick<Application, "procedures" | "pageModules" | "browserSegments">,
  contract: Contract,
  classes: readonly ClassRecord[],
): boolean {
  const called = new Set(
    procedures
      .filter(
        ({ module, entries }) =>
          pageModules.has(module) &&
          entries.some(({ segment }) => !browserSegments.includes(segment.name)),
      )
      .map(keyOf),
  );
  const definitions = Object.fromEntries(
    Object.entries(contract.definitions).map(([name, { type }]) => [name, type]),
  );
  const hasClasses = classes.some(({ error }) => !error);
  const known = [new WeakMap<Type, boolean>(), new WeakMap<Type, boolean>()] as const;
  const isForm = (type: Type): boolean =>
    isUnknown(type) ? hasClasses : forms.has(type.kind) || isBigLiteral(type);
  // A file is sent when a user has chosen one, which is later, and takes longer than the code does.
  const isSentForm = (type: Type): boolean => isForm(type) && !files.has(type.kind);
  return contract.procedures
    .filter((procedure) => called.has(keyOf(procedure)))
    .flatMap(({ signatures }) => signatures)
    .some(
      ({ parameters, result }) =>
        reaches({ definitions }, result, isForm, known[0]) ||
        parameters
          .flatMap(typesOf)
          .some((type) => reaches({ definitions }, type, isSentForm, known[1])),
    );
}

const files: ReadonlySet<Type["kind"]> = new Set(["file", "blob", "form"]);

const forms: ReadonlySet<Type["kind"]> = new Set<Type["kind"]>([
  ...files,
  "bigint",
  "binary",
  "instance",
  "map",
  "regexp",
  "set",
  "url",
]);

const keyOf = ({ fqn, version }: Pick<ContractProcedure, "fqn" | "version">): string =>
  `${fqn} ${version}`;

const isUnknown = ({ kind }: Type): boolean =>
  kind === "unknown" || kind === "defined" || kind === "nonprimitive";

const isBigLiteral = (type: Type): boolean =>
  type.kind === "literals" && type.values.some((value) => typeof value === "object");

const typesOf = (parameter: ParameterType): readonly Type[] =>
  "type" in parameter
    ? [parameter.type]
    : parameter.names.flatMap((name) => (name === null ? [] : [name.type]));
