// Processes and folders that a run made: however this process ends, it leaves none of them behind.

import { rmSync } from "node:fs";

import type { Command } from "../../../test/process/_application.ts";

const running = new Set<Command>();
const folders = new Set<string>();
process.once("exit", () => {
  for (const { child } of running) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Remembers the process until it ends. */
export function started(command: Command): Command {
  running.add(command);
  command.child.once("close", () => running.delete(command));
  return command;
}

export function removedAtExit(folder: string): string {
  folders.add(folder);
  return folder;
}
