// The commands, their options and their help. Each command is a file of its own, loaded when it
// runs.

import { Command, CommanderError, Option } from "commander";
import { defaultLimits } from "../../src/base/limits.ts";
import { packageVersion } from "../base/package-folder.ts";
import { wantsColour } from "../base/paint.ts";
import type { Terminal } from "../base/terminal.ts";
import type { BuildCommandOptions } from "./build.ts";
import type { CallOptions } from "./call.ts";
import type { CheckCommandOptions } from "./check.ts";
import type { DevCommandOptions } from "./dev.ts";
import { exitCodeOf } from "./failure.ts";
import { checkExamples, examples, inspectExamples } from "./help.ts";
import type { InitOptions } from "./init.ts";
import type { InspectCommandOptions } from "./inspect.ts";
import {
  collect,
  readCount,
  readFolder,
  readMilliseconds,
  readPort,
  refuseAddress,
} from "./option-values.ts";
import type { StartOptions } from "./start.ts";

/** Runs one command line. Gives the exit code, or `undefined` if it has started a service. */
export async function run(
  words: readonly string[],
  terminal: Terminal = process,
): Promise<number | undefined> {
  let code: number | undefined = 0;
  try {
    const program = createProgram(terminal, () => (code = undefined));
    await program.parseAsync(words, { from: "user" });
    return code;
  } catch (error) {
    // Commander has printed it already. Help and version end here as well, with 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return exitCodeOf(error, terminal);
  }
}

/** Adds a command to the program; `onService` is to be called if the process has to go on. */
type AddCommand = (program: Command, terminal: Terminal, onService: () => void) => void;

const commands: readonly AddCommand[] = [
  addInit,
  addDev,
  addStart,
  addBuild,
  addCall,
  addInspect,
  addCheck,
];

function createProgram(terminal: Terminal, onService: () => void): Command {
  const program = new Command("seamline")
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
    });
  for (const add of commands) add(program, terminal, onService);
  return program;
}

function addInit(program: Command, terminal: Terminal): void {
  program
    .command("init")
    .description("make a new application in a folder")
    .argument("<folder>", "where: a new folder, or . for this one")
    .addOption(
      new Option("-t, --template <name>", "the template (default: vanilla)").choices([
        "vanilla",
        "react",
        "vue",
        "svelte",
        "solid",
        "preact",
      ]),
    )
    .option("--install", "install its packages as well")
    .option("--seamline <spec>", "another seamline than this version: a tarball, a folder, a tag")
    .action(
      async (folder: string, options: InitOptions) =>
        await (await import("./init.ts")).init(folder, options, terminal),
    );
}

const envFileHelp = "a file with variables, as of Node; may be repeated";

function addDev(program: Command, terminal: Terminal): void {
  withRoot(
    program
      .command("dev")
      .description("work on an application: Vite's server, local nodes, hot updates in both")
      .option("-c, --config <file>", "configuration of a repository or standalone"),
  )
    .option("-p, --port <number>", "port of the page (default: Vite's)", readPort)
    .option(
      "--host [address]",
      "listen at this address, or at all without one (default: only this machine)",
    )
    .option("--open", "open the page in the browser")
    .option("--env-file <file>", envFileHelp, collect)
    .option("--json", "print one JSON object per line, for programs")
    .action(
      async (options: DevCommandOptions) => await (await import("./dev.ts")).dev(options, terminal),
    );
}

function addStart(program: Command, terminal: Terminal, onService: () => void): void {
  withRoot(
    program
      .command("start")
      .description("start the service that a configuration names")
      .option("-c, --config <file>", "the configuration"),
  )
    .option("--build", "build before the start")
    .option("--no-build", "never build (default: build if there is no build and Vite is installed)")
    .option("--console", "turn the console on, and print a link to it")
    .option("--env-file <file>", envFileHelp, collect)
    .addOption(new Option("-p, --port <number>").argParser(refuseAddress).hideHelp())
    .addOption(new Option("--host <address>").argParser(refuseAddress).hideHelp())
    .action(async (options: StartOptions) => {
      const { start } = await import("./start.ts");
      if (await start(options, terminal)) onService();
    });
}

function addBuild(program: Command, terminal: Terminal): void {
  withRoot(
    program
      .command("build")
      .description("build an application for browsers and for nodes")
      .option("-s, --source <folder>", "where the modules are (default: ./src)")
      .option("-o, --output <folder>", "where the build goes (default: ./dist)")
      .option("-c, --config <file>", "configuration of a repository or standalone that has both")
      .option("--revisions <number>", "how many earlier builds to keep (default: 1)", readCount),
  )
    .addOption(new Option("--settings <json>").hideHelp())
    .action(
      async (options: BuildCommandOptions) =>
        await (await import("./build.ts")).build(options, terminal),
    );
}

function addCall(program: Command, terminal: Terminal): void {
  withRoot(
    program
      .command("call")
      .description("call a procedure, and print its result, where it ran and how long it took")
      .argument("<procedure>", "its full name, such as orders/quote")
      .option(
        "-a, --arg <name=text>",
        "an argument: text, as in a query; name:=json for JSON; may be repeated",
        collect,
      )
      .option("--args <json>", "arguments as a JSON object; - reads it from standard input")
      .option("--version <version>", "which version (default: 0.0.0)")
      .option(
        "-u, --url <address>",
        "the service (default: a running seamline dev, else the url of the configuration)",
      )
      .option("-H, --header <name: value>", "a header to send; may be repeated", collect)
      .option("--trust-key", "send the trust key of this application folder")
      .option("--timeout <ms>", "how long to wait", readMilliseconds, defaultLimits.callTimeoutMs)
      .option("-c, --config <file>", "the configuration"),
  )
    .option("--json", "print one JSON object, values in the serialized encoding, for programs")
    .configureOutput({
      outputError: (text, write) =>
        write(text.replace(/^error: too many arguments.*/, argumentHint)),
    })
    .action(
      async (procedure: string, options: CallOptions) =>
        await (await import("./call.ts")).call(procedure, options, terminal),
    );
}

const argumentHint =
  "error: expected only the name of a procedure. Give its arguments with --arg: --arg sku=42";

function addInspect(program: Command, terminal: Terminal): void {
  withRoot(
    program
      .command("inspect")
      .description("what runs where, what browsers receive, and warnings")
      .option(
        "-c, --config <file>",
        "configuration of a repository or standalone, for source and output folder",
      )
      .option(
        "--running [address]",
        "instead: the members of a running gateway, and whether calls go to them over links or HTTP",
      ),
  )
    .option("--json", "print everything as one JSON object, for programs")
    .addHelpText("after", inspectExamples)
    .action(
      async (options: InspectCommandOptions) =>
        await (await import("./inspect.ts")).inspect(options, terminal),
    );
}

function addCheck(program: Command, terminal: Terminal): void {
  withRoot(
    program
      .command("check")
      .description(
        "look for mistakes in all segment files, configurations and modules, without building",
      )
      .option("--build", "also run a build and discard it, to find what only a bundler sees")
      .option("--max-warnings <number>", "fail if there are more warnings", readCount)
      .option("-c, --config <file>", "one more configuration to check, wherever it is"),
  )
    .option("--json", "print one JSON object, for programs")
    .addHelpText("after", checkExamples)
    .action(
      async (options: CheckCommandOptions) =>
        await (await import("./check.ts")).check(options, terminal),
    );
}

function withRoot(command: Command): Command {
  const description = "the application folder; all paths are relative to it";
  return command.option("--root <folder>", description, readFolder, ".");
}
