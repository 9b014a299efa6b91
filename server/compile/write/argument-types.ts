// Selects the functions whose parameter types are read: callers from outside reach them, and their arguments
// are checked.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Alias as ViteAlias } from "vite";
import { isChecked } from "../../../src/base/access.ts";
import { typesIdOf } from "../../../src/base/manifest.ts";
import {
  prepareTypesBeside,
  readTypesBeside,
  type TypesFolders,
  type TypesReading,
  type TypesRequest,
} from "../../types/reading.ts";
import type { Application } from "../cut/application.ts";
import type { ApplicationProcedure } from "../cut/application-procedure.ts";
import type { Alias } from "../../types/programs.ts";
import { classRecords } from "../cut/classes.ts";
import type { SourceModule } from "../read/modules.ts";

/** Whether an entry of a procedure has arguments of callers from outside checked. */
export function hasChecks({ entries }: ApplicationProcedure): boolean {
  return entries.some(({ entry }) => isChecked(entry));
}

/** The parts of Vite's configuration that are used here. */
export interface TypesConfig {
  readonly resolve: { readonly alias: readonly ViteAlias[] };
  readonly cacheDir: string;
}

/**
 * Reads the types of an application; undefined if nothing is checked. With `contract`, its callers can be told of
 * them. `texts`: files that have changed on the disk since the application was read, as they were.
 */
export async function readTypesOf(
  application: Application,
  config: TypesConfig,
  { contract = false, texts }: { readonly contract?: boolean } & Pick<TypesRequest, "texts"> = {},
): Promise<TypesReading | undefined> {
  const request = await requestFor(application, config, { contract, texts });
  return request && (await readTypesBeside(request));
}

async function requestFor(
  application: Application,
  config: TypesConfig,
  { contract, texts }: Pick<TypesRequest, "contract" | "texts">,
): Promise<TypesRequest | undefined> {
  const checked = application.procedures.filter(hasChecks);
  if (checked.length === 0) return undefined;
  const { modules, root, outputs } = application;
  const { records } = await classRecords(builtModules(application), application);
  return {
    root,
    functions: [...checked, ...(contract ? application.routes : [])].map((procedure) => {
      const { module, export: exported } = procedure;
      const code = modules.describe(module).exports.find(({ name }) => name === exported)?.code;
      return {
        id: typesIdOf({ module: module.id, export: exported }),
        file: module.file,
        export: exported,
        ...(code !== undefined && { code }),
        ...(procedure.route !== undefined && { route: true as const }),
      };
    }),
    classes: records.flatMap(({ key, module, export: exported, pattern, clash }) => {
      const file = modules.get(module)?.file;
      const travels = file !== undefined && pattern === undefined && clash === undefined;
      return travels ? [{ key, file, export: exported }] : [];
    }),
    aliases: aliasesOf(config),
    outputs,
    contract,
    // A request without any is equal to that of a build, which may have kept its reading.
    ...(texts && Object.keys(texts).length > 0 && { texts }),
    cache: cacheOf(config, contract),
  };
}

function aliasesOf({ resolve }: TypesConfig): readonly Alias[] {
  return resolve.alias.flatMap(({ find, replacement }) =>
    typeof find === "string" ? [{ find, replacement }] : [],
  );
}

/** Neither takes the other's place: a build comes between two development sessions. */
function cacheOf({ cacheDir }: TypesConfig, contract: boolean): string {
  return join(cacheDir, contract ? "seamline-contract.json" : "seamline-types.json");
}

/** Has the compiler parse the application while it is read, unless an earlier reading may still count. */
export function prepareTypes({ root, source, outputs }: TypesFolders, config: TypesConfig): void {
  if ([true, false].some((contract) => existsSync(cacheOf(config, contract)))) return;
  prepareTypesBeside({ root, source, outputs, aliases: aliasesOf(config) });
}

/** The modules whose classes nodes know. */
export function builtModules({
  serverModules,
  cut,
  pageClasses,
}: Pick<Application, "serverModules" | "cut" | "pageClasses">): readonly SourceModule[] {
  const all = new Set([
    ...serverModules,
    ...[...cut.values()].map(({ module }) => module),
    ...pageClasses,
  ]);
  return [...all].sort((a, b) => (a.id < b.id ? -1 : 1));
}
