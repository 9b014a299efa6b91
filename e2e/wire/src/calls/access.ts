// Procedures with every kind of access. `guarded` and `members` run on the other node.
import { runProcedure } from "seamline";
import { guarded } from "./guarded.ts";
import { members } from "./members.ts";

export async function hidden(): Promise<string> {
  return "private";
}

/** Public, and in the same segment as `hidden`. */
export async function besideHidden(): Promise<string> {
  return `${await hidden()} from beside`;
}

/** Calls a procedure that outsiders can't call. */
export async function viaGuarded(): Promise<string> {
  return `${await guarded()} from within`;
}

/** Calls a procedure that only members may call from outside. */
export async function viaMembers(): Promise<string> {
  return `${await members()} from within`;
}

/** Private in one segment, public in another. */
export async function both(): Promise<string> {
  return "both";
}

/** In two segments, on two nodes. */
export async function shared(): Promise<string> {
  return "shared";
}

/** Calls a procedure by name. */
export async function byName(name: string, version: string = ""): Promise<unknown> {
  return await runProcedure(name, version, {});
}
