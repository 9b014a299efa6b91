// Options that several commands have, and their values; a wrong one ends the command with exit code 2.

import { statSync } from "node:fs";

import { type Command, InvalidArgumentError } from "commander";
import { realPath } from "../files/sources.ts";

export function withRoot(command: Command): Command {
  const description = "the application folder; all paths are relative to it";
  return command.option("--root <folder>", description, readFolder, ".");
}

export const envFileHelp = "a file with variables, as of Node; may be repeated";

/** An option that may be given more than once. */
export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

function readFolder(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new InvalidArgumentError("There is no such folder.");
  return realPath(path);
}

export function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError("Expected a number from 0 to 65535.");
  return port;
}

export function readMilliseconds(text: string): number {
  const ms = Number(text);
  if (!/^\d+$/.test(text) || ms === 0 || ms > 2 ** 31 - 1)
    throw new InvalidArgumentError("Expected a number of milliseconds.");
  return ms;
}

export function readCount(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("Expected a number.");
  return Number(text);
}

/** For `start`, where users of other servers expect `--port` and `--host`. */
export function refuseAddress(): never {
  throw new InvalidArgumentError("'url' in the configuration sets the host and port of a service.");
}
