// Who may call what (§5). `guarded` runs on the other node.
import { runProcedure } from "seamline";
import { guarded } from "./guarded.ts";

export async function hidden(): Promise<string> {
  return "private";
}

/** Public, and in the same segment as `hidden`. */
export async function besideHidden(): Promise<string> {
  return `${await hidden()} from beside`;
}

/** Calls what outsiders can't. */
export async function viaGuarded(): Promise<string> {
  return `${await guarded()} from within`;
}

/** Private in one segment, public in another (§2.2). */
export async function both(): Promise<string> {
  return "both";
}

/** In two segments, on two nodes. */
export async function shared(): Promise<string> {
  return "shared";
}

/** By name, with what its own headers say. */
export async function byName(name: string, version: string = ""): Promise<unknown> {
  return await runProcedure(name, version, {});
}
