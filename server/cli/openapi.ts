// `seamline openapi`: the OpenAPI document of an application, from its sources.

import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { Problems } from "../../src/base/problem.ts";
import { createLog } from "../base/log.ts";
import type { Terminal } from "../base/terminal.ts";
import { writing } from "../base/write-failure.ts";
import { settingsOf } from "./build.ts";
import { withRoot } from "./options.ts";
import { withProgress } from "./progress.ts";

interface OpenapiCommandOptions {
  readonly out?: string;
  readonly config?: string;
  readonly root: string;
}

const examples = `
Examples:
  seamline openapi                     print it
  seamline openapi --out openapi.json  write it into a file

Exit codes:
  0  done
  1  the application has problems, or two operations would have one id
  2  the command line is wrong
`;

export function addOpenapi(program: Command, terminal: Terminal): void {
  withRoot(
    program
      .command("openapi")
      .description("the OpenAPI document of all public procedures and routes")
      .option("-o, --out <file>", "write it into a file instead of printing it")
      .option(
        "-c, --config <file>",
        "configuration of a repository or standalone, for source and checks",
      ),
  )
    .addHelpText("after", examples)
    .action(async (options: OpenapiCommandOptions) => await openapi(options, terminal));
}

/** Throws {@link Problems} for an application that can't be built. */
async function openapi(options: OpenapiCommandOptions, terminal: Terminal): Promise<void> {
  const { stdout, stderr, env } = terminal;
  const log = createLog({ out: stderr, err: stderr, env, level: "error" });
  const settings = { ...(await settingsOf(options, terminal)), log };
  const { readContract } = await import("../report/read-contract.ts");
  const { contract, clashes, base } = await withProgress("reading", terminal, async () =>
    readContract(settings),
  );
  if (clashes.length > 0) throw new Problems(clashes);
  const { openApiOf } = await import("../contract/openapi.ts");
  const { document } = openApiOf(contract, base);
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (options.out === undefined) return void stdout.write(text);
  const file = resolve(options.out);
  await writing(file, "name another file", async () => await writeFile(file, text));
}
