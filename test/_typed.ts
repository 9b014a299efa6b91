// Applications whose builds wrote the types of parameters, as TypeScript's own compiler reads them.

import { runInThisContext } from "node:vm";
import { generateChecks } from "../server/types/generate-checks.ts";
import type { ParameterType, TypeModel } from "../server/types/model.ts";
import type { ClassRecord, Parameter, PatternName } from "../src/base/manifest.ts";
import type { ModuleNamespace } from "../src/base/ports.ts";
import type { ServerModules } from "../src/roles/application/application.ts";
import { testModules, type TestProcedure } from "./_cluster.ts";
import { platformConfig, read } from "./unit/types/_read.ts";

export interface TypedProcedure extends Omit<TestProcedure, "parameters"> {
  /** `(lines: Line[], admin = false)`; the last of several implements overloads. */
  readonly signature: string | readonly string[];
}

export interface TypedOptions {
  /** TypeScript before the signatures. */
  readonly declarations?: string;
  /** Exported there, with the name in their key: `app/Line`. */
  readonly classes?: readonly { readonly record: ClassRecord; readonly constructor: unknown }[];
}

/** The output file of the types. */
export const typesFile = "_types.js";

/** The parameters of a manifest, without how text is read: types say it. */
function parametersOf({ functions }: TypeModel, id: string): Parameter[] {
  const [first] = functions[id] ?? [];
  const optional = (member: { readonly optional?: true }): { optional?: true } =>
    member.optional === true ? { optional: true } : {};
  const named = (member: { readonly name: string; readonly optional?: true }): PatternName => ({
    name: member.name,
    ...optional(member),
  });
  return (first?.parameters ?? []).map((parameter: ParameterType): Parameter => {
    switch (parameter.kind) {
      case "plain":
        return { kind: "plain", ...named(parameter) };
      case "rest":
        return { kind: "rest", name: parameter.name };
      case "object":
        return { kind: "object", names: parameter.names.map(named), ...optional(parameter) };
      case "array":
        return {
          kind: "array",
          names: parameter.names.map((name) => name && named(name)),
          ...optional(parameter),
        };
    }
  });
}

/** The module that a build writes of a model. */
export function typesModule(model: TypeModel): ModuleNamespace {
  return { model, default: runInThisContext(`(${generateChecks(model)})`) as unknown };
}

/** The modules of an application, each time with a graph of their own. */
export function typedModules(
  procedures: readonly TypedProcedure[],
  { declarations = "", classes = [] }: TypedOptions = {},
): () => ServerModules {
  const functions = procedures.map(({ signature }, index) => {
    const overloads = [signature].flat();
    const implementation = overloads.pop();
    return [
      ...overloads.map((one) => `export async function f${index}${one};`),
      `export async function f${index}${implementation} {}`,
    ].join("\n");
  });
  const { model, problems } = read(
    { "tsconfig.json": platformConfig, "src/all.ts": [declarations, ...functions].join("\n") },
    procedures.map((_, index) => ({
      id: `m${index}#run`,
      file: "src/all.ts",
      export: `f${index}`,
    })),
    [],
    classes.map(({ record }) => ({
      key: record.key,
      file: "src/all.ts",
      export: record.export,
    })),
  );
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join("\n"));
  const withParameters = procedures.map((procedure, index) => ({
    ...procedure,
    parameters: parametersOf(model, `m${index}#run`),
  }));
  return () =>
    withTypes(
      testModules(withParameters, classes, [], true),
      async () => await Promise.resolve(typesModule(model)),
    );
}

/** Modules of a build that has types. */
export function withTypes(
  modules: ServerModules,
  types: () => Promise<ModuleNamespace>,
): ServerModules {
  return {
    manifest: async () => ({ ...(await modules.manifest()), types: typesFile }),
    import: async (file) => (file === typesFile ? await types() : await modules.import(file)),
  };
}
