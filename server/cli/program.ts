// Commands, their options and their help. What a command does is in a file of its own, loaded when it is run.

import { statSync } from "node:fs";

import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { defaultLimits } from "../../src/serializer/limits.ts";
import { wantsColour } from "../log.ts";
import { packageVersion } from "../package-folder.ts";
import { realPath } from "../sources.ts";
import { AlreadyTold, reportFailure, type Terminal, UsageError } from "./terminal.ts";

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

Configuration: --config FILE, else the variable SVC_CONFIG, else ./seamline.json

Exit codes:
  0  done, or stopped as asked
  1  it could not be done: the message says why
  2  the command line is wrong

Variables:
  DEBUG=seamline  show stacks of errors
  NO_COLOR=1      no colours
`;

const inspectExamples = `
Examples:
  seamline inspect                          segments, what browsers receive, warnings
  seamline inspect --segment shop           the procedures of one segment
  seamline inspect --procedure shop/quote   one procedure: where it is, what it takes, who imports it
  seamline inspect --why node:fs            the chain of imports from a page to it

Exit codes:
  0  told, whatever there is to warn of
  1  the application can't be read: the problems are told
  2  there is no such segment, procedure or module
`;

const checkExamples = `
Examples:
  seamline check                    before a commit
  seamline check --max-warnings 0   in CI, where a warning is a failure
  seamline check --build --json     all that can be found, for a program

Exit codes:
  0  no problem, and not more warnings than --max-warnings allows
  1  there are problems, or more warnings
  2  the command line is wrong
`;

/** Runs one command line and gives the exit code; `start` goes on running after it. */
export async function run(words: readonly string[], terminal: Terminal = process): Promise<number> {
  try {
    await createProgram(terminal).parseAsync(words, { from: "user" });
    return 0;
  } catch (error) {
    // Commander has told it already. Help and version end here as well, with 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof AlreadyTold)) reportFailure(error, terminal);
    return error instanceof UsageError ? 2 : 1;
  }
}

function createProgram(terminal: Terminal): Command {
  const program = new Command("seamline")
    .description("One TypeScript application, split by segment files over browser and servers")
    .version(packageVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    // `--version` is a word of `call` as well.
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

  program
    .command("init")
    .description("make a new application in a folder")
    .argument("<folder>", "where: a new folder, or . for this one")
    .addOption(
      new Option("-t, --template <name>", "what it is made of (default: vanilla)").choices([
        "vanilla",
        "react",
        "vue",
      ]),
    )
    .option("--install", "install its packages as well")
    .option("--seamline <spec>", "another seamline than this version: a tarball, a folder, a tag")
    .action(
      async (folder: string, options: InitOptions) =>
        await (await import("./init.ts")).init(folder, options, terminal),
    );

  program
    .command("dev")
    .description("work on an application: Vite's server, a cluster beside it, hot updates in both")
    .option("-c, --config <file>", "configuration of a repository or standalone")
    .option(
      "--root <folder>",
      "the application folder; all paths are relative to it",
      folderOf,
      ".",
    )
    .option("-p, --port <number>", "port of the page (default: Vite's)", portOf)
    .option(
      "--host [address]",
      "listen there, without an address on all; left out, only this machine gets in",
    )
    .option("--open", "open the page in the browser")
    .option("--json", "one JSON object a line, for programs")
    .action(
      async (options: DevCommandOptions) => await (await import("./dev.ts")).dev(options, terminal),
    );

  program
    .command("start")
    .description("start the service that a configuration names")
    .option("-c, --config <file>", "the configuration")
    .option(
      "--root <folder>",
      "the application folder; all paths are relative to it",
      folderOf,
      ".",
    )
    .option("--build", "build before the start")
    .option(
      "--no-build",
      "never build; without either, a missing build is made if Vite is installed",
    )
    .option("--console", "switch the console on, and print a link to it")
    // `dev` has them, and so have other servers.
    .addOption(new Option("-p, --port <number>").argParser(refuseAddress).hideHelp())
    .addOption(new Option("--host <address>").argParser(refuseAddress).hideHelp())
    .action(
      async (options: StartOptions) => await (await import("./start.ts")).start(options, terminal),
    );

  program
    .command("build")
    .description("build an application for browsers and for nodes")
    .option("-s, --source <folder>", "where the modules are (default: ./src)")
    .option("-o, --output <folder>", "where the build goes (default: ./dist)")
    .option("-c, --config <file>", "configuration of a repository or standalone that says both")
    .option(
      "--root <folder>",
      "the application folder; all paths are relative to it",
      folderOf,
      ".",
    )
    .addOption(new Option("--settings <json>").hideHelp())
    .action(
      async (options: BuildCommandOptions) =>
        await (await import("./build.ts")).build(options, terminal),
    );

  program
    .command("call")
    .description("call a procedure, and see what comes of it, where it ran and how long it took")
    .argument("<procedure>", "its full name, such as orders/quote")
    .option(
      "-a, --arg <name=text>",
      "an argument: text, as in a query; name:=json for JSON; as often as needed",
      gathered,
    )
    .option("--args <json>", "arguments as a JSON object; - reads it from standard input")
    .option("--version <version>", "which version (default: 0.0.0)")
    .option(
      "-u, --url <address>",
      "where to (default: a running seamline dev, else the url of the configuration)",
    )
    .option("-H, --header <name: value>", "a header to send; as often as needed", gathered)
    .option("--trust-key", "show the key of this application folder, as its own services do")
    .option("--timeout <ms>", "how long to wait", millisecondsOf, defaultLimits.time)
    .option("-c, --config <file>", "the configuration")
    .option(
      "--root <folder>",
      "the application folder; all paths are relative to it",
      folderOf,
      ".",
    )
    .option("--json", "one JSON object, values in the serialized encoding, for programs")
    .configureOutput({
      outputError: (text, write) =>
        write(text.replace(/^error: too many arguments.*/, argumentHint)),
    })
    .action(
      async (procedure: string, options: CallOptions) =>
        await (await import("./call.ts")).call(procedure, options, terminal),
    );

  program
    .command("inspect")
    .description("what runs where, what browsers receive, and what will surprise")
    .option("-s, --segment <name>", "only this segment, each of its procedures on a line")
    .option(
      "-p, --procedure <name>",
      "only these procedures, with all that is known of them: a full name, or its beginning",
    )
    .option(
      "-w, --why <module>",
      "by which imports a module, a package or a module of Node gets into the browser, or why it doesn't",
    )
    .option(
      "-c, --config <file>",
      "configuration of a repository or standalone, for source and output folder",
    )
    .option(
      "--root <folder>",
      "the application folder; all paths are relative to it",
      folderOf,
      ".",
    )
    .option("--json", "one JSON object, for programs")
    .addHelpText("after", inspectExamples)
    .action(
      async (options: InspectCommandOptions) =>
        await (await import("./inspect.ts")).inspect(options, terminal),
    );

  program
    .command("check")
    .description(
      "look for mistakes in every segment file, configuration and module, without building",
    )
    .option(
      "--build",
      "run a build as well, and throw its output away: finds what only a bundler sees",
    )
    .option("--max-warnings <number>", "end with 1 if there are more warnings", warningsOf)
    .option("-c, --config <file>", "one more configuration to look at, wherever it is")
    .option(
      "--root <folder>",
      "the application folder; all paths are relative to it",
      folderOf,
      ".",
    )
    .option("--json", "one JSON object, for programs")
    .addHelpText("after", checkExamples)
    .action(
      async (options: CheckCommandOptions) =>
        await (await import("./check.ts")).check(options, terminal),
    );

  return program;
}

const argumentHint =
  "error: there is more than the name of a procedure. Its arguments go behind --arg: --arg sku=42";

function refuseAddress(): never {
  throw new InvalidArgumentError("Host and port of a service stand in 'url' of its configuration.");
}

function warningsOf(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("It is a number.");
  return Number(text);
}

export interface CheckCommandOptions {
  readonly build?: true;
  readonly maxWarnings?: number;
  readonly config?: string;
  readonly root: string;
  readonly json?: true;
}

export interface InspectCommandOptions {
  readonly segment?: string;
  readonly procedure?: string;
  readonly why?: string;
  readonly config?: string;
  readonly root: string;
  readonly json?: true;
}

function gathered(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function millisecondsOf(text: string): number {
  const ms = Number(text);
  if (!/^\d+$/.test(text) || ms === 0 || ms > 2 ** 31 - 1)
    throw new InvalidArgumentError("It is a number of milliseconds.");
  return ms;
}

export interface CallOptions {
  readonly arg?: readonly string[];
  readonly args?: string;
  readonly version?: string;
  readonly url?: string;
  readonly header?: readonly string[];
  readonly trustKey?: true;
  readonly timeout: number;
  readonly config?: string;
  readonly root: string;
  readonly json?: true;
}

export interface InitOptions {
  readonly template?: "vanilla" | "react" | "vue";
  readonly install?: true;
  readonly seamline?: string;
}

function folderOf(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new InvalidArgumentError("There is no such folder.");
  return realPath(path);
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError("It is a number from 0 to 65535.");
  return port;
}

export interface DevCommandOptions {
  readonly config?: string;
  readonly root: string;
  readonly port?: number;
  /** `true` without an address. */
  readonly host?: string | true;
  readonly open?: true;
  readonly json?: true;
}

export interface StartOptions {
  readonly config?: string;
  readonly root: string;
  readonly build?: boolean;
  readonly console?: boolean;
}

export interface BuildCommandOptions {
  readonly source?: string;
  readonly output?: string;
  readonly config?: string;
  readonly root: string;
  /** JSON of `BuildSettings`: how a starting service asks for a build. */
  readonly settings?: string;
}
