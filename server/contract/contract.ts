// What a service promises to its callers, as plain JSON: each version of each procedure with the types that it takes
// and gives, and each route. Builds write it; documents and comparisons are pure functions of it.

import { Problems } from "../../src/base/problem.ts";
import type { ClassTypes, ContractSignature, Type } from "../types/model.ts";

export interface Contract {
  /** Raised when an older release couldn't read it. */
  readonly format: typeof contractFormat;
  /** Name and version of the application's package, if it has them. */
  readonly application: { readonly name?: string; readonly version?: string };
  /** Sorted by name, then by version. */
  readonly procedures: readonly ContractProcedure[];
  readonly routes: readonly ContractRoute[];
  /** Types that `ref` names: those that the application exports, and those that contain themselves. */
  readonly definitions: Readonly<Record<string, Definition>>;
  /** By the key that instances travel with. */
  readonly classes: Readonly<Record<string, ClassTypes>>;
}

export const contractFormat = 1;

/** Reads the text of a contract. Throws {@link Problems} if it is none, or one of a later release. `from` names it. */
export function parseContract(text: string, from: string): Contract {
  let contract: Partial<Contract> | undefined;
  try {
    contract = JSON.parse(text) as Partial<Contract>;
  } catch {
    // What isn't JSON is no contract either.
  }
  if (!Array.isArray(contract?.procedures) || !Array.isArray(contract.routes))
    throw new Problems([
      {
        file: from,
        message: "this isn't the contract of a build",
        hint: "Name the output folder of 'seamline build', or a service with 'openapi' in its configuration",
      },
    ]);
  if (contract.format !== contractFormat)
    throw new Problems([
      {
        file: from,
        message: `its format is ${contract.format}, and this release reads ${contractFormat}`,
        hint: "Use the release that built it, or build it again",
      },
    ]);
  return contract as Contract;
}

export interface Definition {
  readonly type: Type;
  /** Its comment in the source. */
  readonly doc?: string;
}

export interface ContractProcedure {
  readonly fqn: string;
  readonly version: string;
  readonly access: "public" | "protected";
  readonly safe?: true;
  readonly idempotent?: true;
  /** A stream that goes on after the last item that its reader has. */
  readonly resume?: true;
  /** A guard looks at its callers. Which one is not told. */
  readonly guarded?: true;
  /** What happens to members that no type names: they are dropped unless this says otherwise. */
  readonly extra?: "keep" | "refuse";
  /** Its arguments aren't checked, so the types of its parameters are only what the source says. */
  readonly unchecked?: true;
  readonly deprecated?: true;
  readonly doc?: string;
  /** Its overloads: a call fits one of them. */
  readonly signatures: readonly ContractSignature[];
}

export interface ContractRoute {
  /** Named like a procedure. */
  readonly name: string;
  readonly access: "public" | "protected";
  readonly method: string;
  /** As the segment file has it: `/articles/:slug`. */
  readonly path: string;
  readonly guarded?: true;
  readonly doc?: string;
}
