// The interface of a service for its callers, as plain JSON: each version of each procedure with its
// parameter and result types, and each route. Builds write it; documents and comparisons are pure functions
// of it.

import { Problems } from "../../src/base/problem.ts";
import type { ClassTypes, ContractSignature, Type } from "../types/model.ts";

export interface Contract {
  /** Incremented when an older release couldn't read the form. */
  readonly format: typeof contractFormat;
  /** Name and version of the application's package, if it has them. */
  readonly application: { readonly name?: string; readonly version?: string };
  /** Sorted by name, then by version. */
  readonly procedures: readonly ContractProcedure[];
  readonly routes: readonly ContractRoute[];
  /** Types that a `ref` points to: those that the application exports, and recursive ones. */
  readonly definitions: Readonly<Record<string, Definition>>;
  /** By the key that instances travel with. */
  readonly classes: Readonly<Record<string, ClassTypes>>;
}

export const contractFormat = 1;

/**
 * Reads the text of a contract. Throws {@link Problems} if it isn't one, or if a later release wrote it.
 * `from` names it.
 */
export function parseContract(text: string, from: string): Contract {
  let contract: Partial<Contract> | undefined;
  try {
    contract = JSON.parse(text) as Partial<Contract>;
  } catch {
    // A file that isn't JSON gets the same message as JSON that isn't a contract.
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
  /** A guard checks its callers. The contract doesn't name the guard. */
  readonly guarded?: true;
  /** The treatment of undeclared members: dropped unless this says otherwise. */
  readonly extra?: "keep" | "refuse";
  /** Its arguments aren't checked, so its parameter types are a promise of the source only. */
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
