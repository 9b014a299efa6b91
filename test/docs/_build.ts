// The examples run the package as it is published: built once, before any of them.

import { spawnSync } from "node:child_process";
import { root } from "../_sources.ts";

export function setup(): void {
  const { status, stderr, stdout } = spawnSync(process.execPath, ["scripts/build.mjs", "--if-needed"], { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
}
