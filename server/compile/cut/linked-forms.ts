// Forms of parameters whose types other modules export.

import type { Parameter, PatternName } from "../../../src/base/manifest.ts";
import { type FormPart, hintOfParts } from "../../../src/split/procedures/form-hint.ts";
import { type ApplicationProcedure, isRoute } from "./application-procedure.ts";
import type { Modules, SourceModule } from "../read/modules.ts";

/** Through how many modules a type is followed. */
const maxModules = 5;

/** The procedures among functions that segments name, with the forms that other modules tell. */
export async function proceduresOf(
  named: readonly ApplicationProcedure[],
  modules: Modules,
): Promise<readonly ApplicationProcedure[]> {
  return await Promise.all(
    named
      .filter((each) => !isRoute(each))
      .map(async (procedure) => {
        const forms = procedure.entries[0].export.forms;
        if (forms === undefined) return procedure;
        const hints = new Map<string, PatternName["form"]>();
        for (const [name, parts] of forms)
          hints.set(name, hintOfParts(await linked(modules, procedure.module, parts, maxModules)));
        return {
          ...procedure,
          parameters: procedure.parameters.map((each) => hinted(each, hints)),
        };
      }),
  );
}

async function linked(
  modules: Modules,
  module: SourceModule,
  parts: readonly FormPart[],
  left: number,
): Promise<FormPart[]> {
  const found = await Promise.all(
    parts.map(async (part): Promise<readonly FormPart[]> => {
      if (!("specifier" in part)) return [part];
      const target = await modules.resolve(part.specifier, module.file);
      return target === undefined || left === 0
        ? [{ kind: undefined }]
        : await exported(modules, target, part.name, left - 1);
    }),
  );
  return found.flat();
}

async function exported(
  modules: Modules,
  module: SourceModule,
  name: string,
  left: number,
): Promise<FormPart[]> {
  const { named, stars } = modules.exportedTypes(module);
  const parts = named.get(name);
  if (parts !== undefined) return await linked(modules, module, parts, left);
  for (const specifier of left === 0 ? [] : stars) {
    const target = await modules.resolve(specifier, module.file);
    const found = target && (await exported(modules, target, name, left - 1));
    if (found?.some((part) => !("kind" in part) || part.kind !== undefined)) return found;
  }
  return [{ kind: undefined }];
}

function hinted(parameter: Parameter, hints: ReadonlyMap<string, PatternName["form"]>): Parameter {
  const name = <Named extends PatternName>(named: Named): Named => {
    const form = hints.get(named.name);
    return form === undefined ? named : { ...named, form };
  };
  if (parameter.kind === "plain") return name(parameter);
  if (parameter.kind === "object") return { ...parameter, names: parameter.names.map(name) };
  if (parameter.kind === "array")
    return { ...parameter, names: parameter.names.map((each) => each && name(each)) };
  return parameter;
}
