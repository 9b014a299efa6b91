// `seamline check --against`: the contract of an earlier build, from its folder or from a service that runs it.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { paths } from "../../src/base/protocol.ts";
import { parsedUrl } from "../../src/base/url.ts";
import { addressProblem } from "../config/config-address.ts";
import { parseContract } from "../contract/contract.ts";
import { manifestFiles } from "../files/sources.ts";
import { readAuthorities } from "../config/tls.ts";
import type { EarlierBuild } from "../report/earlier-build.ts";
import type { Terminal } from "../base/terminal.ts";
import { UsageError } from "./failure.ts";
import { answerMs } from "./times.ts";

/** The variable with the token of a service whose configuration asks for one: a command line is seen by others. */
export const tokenVariable = "SEAMLINE_TOKEN";

const contractPath = paths.components + manifestFiles.contract;

interface AgainstOptions {
  readonly config?: string;
  readonly root: string;
}

/** Reads what `--against` names. Throws if there is no contract. */
export async function readEarlierBuild(
  against: string,
  options: AgainstOptions,
  terminal: Terminal,
): Promise<EarlierBuild> {
  const isAddress = /^https?:/.test(against);
  return isAddress
    ? { name: against, isPublic: true, contract: await ask(against, options, terminal) }
    : { name: against, isPublic: false, contract: await readFolder(against, options.root) };
}

async function readFolder(against: string, root: string): Promise<EarlierBuild["contract"]> {
  const folders = [against, join(against, "server")].map((folder) => resolve(root, folder));
  const folder = folders.find((one) => existsSync(join(one, manifestFiles.contract)));
  if (folder !== undefined) {
    const text = await readFile(join(folder, manifestFiles.contract), "utf8");
    return parseContract(text, join(against, manifestFiles.contract));
  }
  const isBuild = folders.some((one) => existsSync(join(one, manifestFiles.server)));
  throw new Error(
    isBuild
      ? `--against: the build in ${against} has no ${manifestFiles.contract}: it is of an earlier release of Seamline\n  → Build its sources again with this release`
      : `--against: there is no build in ${against}\n  → Name the output folder of an earlier build, or the address of a service that runs one`,
  );
}

async function ask(
  against: string,
  options: AgainstOptions,
  terminal: Terminal,
): Promise<EarlierBuild["contract"]> {
  const base = against.replace(/\/+$/, "");
  const url = base.endsWith(contractPath) ? base : base + contractPath;
  const address = parsedUrl(url)?.origin ?? against;
  const problem = addressProblem(address);
  if (problem !== undefined) throw new UsageError(`--against: ${problem}`);
  const { findConfig, send } = await import("./call.ts");
  // A configuration says which certificates count.
  const config = address.startsWith("https:")
    ? await findConfig({ ...options, trustKey: true }, terminal)
    : undefined;
  const ca = config?.tls?.ca;
  const authorities = ca === undefined ? undefined : await readAuthorities(ca);
  const token = terminal.env[tokenVariable];
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const signal = AbortSignal.timeout(answerMs);
  const { status, body } = await send(
    { url, method: "GET", headers },
    { signal, authorities },
  ).catch((error: unknown) => {
    throw signal.aborted
      ? new Error(`${address} gave no answer in ${answerMs / 1000} s`, { cause: error })
      : error;
  });
  if (status === 401)
    throw new Error(
      `${url} asks for a token\n  → Set ${tokenVariable} to the 'token' of its key 'openapi'`,
    );
  if (status !== 200)
    throw new Error(
      `${url} answered ${status}\n  → A repository or standalone tells its contract if its configuration says "openapi"`,
    );
  return parseContract(new TextDecoder().decode(body), url);
}
