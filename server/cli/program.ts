// The commands. Each is a file with its options, help and action, loaded when it is needed.

import { Command, CommanderError } from "commander";
import { packageVersion } from "../base/package-folder.ts";
import { wantsColour } from "../base/paint.ts";
import type { Terminal } from "../base/terminal.ts";
import { exitCodeOf } from "./failure.ts";

const examples = `
Examples:
  seamline init my-app --install           a new application, ready to run
  seamline dev                             work on the application
  seamline build                           build ./src into ./dist
  seamline start --config standalone.json  the whole application in one process
  seamline start --config node.json        one service of several
  seamline call orders/quote --arg sku=42  one call, as any program would make it
  seamline inspect                         what runs where, and what browsers receive
  seamline check                           everything that is wrong, for CI

Configuration: --config FILE, else the variable SEAMLINE_CONFIG, else ./seamline.json

Exit codes:
  0  done, or stopped as asked
  1  failed: the message says why
  2  the command line is wrong

Variables:
  DEBUG=seamline  show stacks of errors
  NO_COLOR=1      no colours
`;

/** Adds a command to the program; `onService` is to be called if the process has to go on. */
type AddCommand = (
  program: Command,
  terminal: Terminal,
  onService: () => void,
) => void | Promise<void>;

/** In the order of the help. */
const commands: Readonly<Record<string, () => Promise<AddCommand>>> = {
  init: async () => (await import("./init.ts")).addInit,
  dev: async () => (await import("./dev.ts")).addDev,
  start: async () => (await import("./start.ts")).addStart,
  build: async () => (await import("./build.ts")).addBuild,
  call: async () => (await import("./call.ts")).addCall,
  inspect: async () => (await import("./inspect.ts")).addInspect,
  check: async () => (await import("./check.ts")).addCheck,
  openapi: async () => (await import("./openapi.ts")).addOpenapi,
};

/** Runs one command line. Gives the exit code, or `undefined` if it has started a service. */
export async function run(
  words: readonly string[],
  terminal: Terminal = process,
): Promise<number | undefined> {
  let code: number | undefined = 0;
  try {
    const program = createProgram(terminal);
    const [name = ""] = words;
    // Help and suggestions name all of them.
    const needed = Object.hasOwn(commands, name) ? [name] : Object.keys(commands);
    for (const command of needed) {
      const add = await commands[command]?.();
      await add?.(program, terminal, () => (code = undefined));
    }
    await program.parseAsync(words, { from: "user" });
    return code;
  } catch (error) {
    // Commander has printed it already. Help and version end here as well, with 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return exitCodeOf(error, terminal);
  }
}

function createProgram(terminal: Terminal): Command {
  return (
    new Command("seamline")
      .description("One TypeScript application, split by segment files over browser and servers")
      .version(packageVersion(), "-V, --version", "print the version")
      .helpOption("-h, --help", "print this help")
      .helpCommand(false)
      // `call` has a --version of its own.
      .enablePositionalOptions()
      .addHelpText("after", examples)
      .showHelpAfterError("Run with --help to see what there is")
      .exitOverride()
      .configureOutput({
        writeOut: (text) => void terminal.stdout.write(text),
        writeErr: (text) => void terminal.stderr.write(text),
        getOutHasColors: () => wantsColour(terminal.stdout, terminal.env),
        getErrHasColors: () => wantsColour(terminal.stderr, terminal.env),
      })
  );
}
