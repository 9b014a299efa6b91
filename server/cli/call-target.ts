// Which service `seamline call` asks, with which key, and what to say if nothing answers there.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { TrustKey } from "../../src/http/trust.ts";
import { addressProblem } from "../config/config-address.ts";
import { configVariable, defaultConfigFile } from "../config/config-file.ts";
import { type Config, readConfig } from "../config/config.ts";
import { addressFile, readDevAddress } from "../start/dev-address.ts";
import { keyFile, readTrustKey } from "../config/key.ts";
import type { Terminal } from "../base/terminal.ts";
import { UsageError } from "./failure.ts";

const defaultUrl = "http://127.0.0.1:3000";

/** The options of `call` that select the service. */
export interface TargetOptions {
  readonly url?: string;
  readonly trustKey?: true;
  readonly config?: string;
  readonly root: string;
}

export interface CallTarget {
  readonly origin: string;
  /** Where the address comes from, to be inserted after it in a message. */
  readonly from: string;
  /** What else to say if nothing answers. */
  readonly note: string;
  readonly hint: string;
}

/** The named configuration, or the one in the application folder; a call with --url needs none. */
export async function findConfig(
  { config: named, root, url, trustKey }: TargetOptions,
  { env }: Terminal,
): Promise<Config | undefined> {
  if (url !== undefined && !trustKey && named === undefined) return undefined;
  const selected = named ?? configVariable(env);
  const file = selected ?? defaultConfigFile;
  const folder = resolve(root);
  if (selected === undefined && !existsSync(resolve(folder, file))) return undefined;
  return await readConfig(file, { root: folder, env });
}

export async function findTarget(
  { url: address, config: named, root }: TargetOptions,
  config: Config | undefined,
  { env }: Terminal,
): Promise<CallTarget> {
  const problem = address === undefined ? undefined : addressProblem(address);
  if (problem !== undefined) throw new UsageError(`--url: ${problem}`);
  const folder = resolve(root);
  const file = named ?? configVariable(env);
  // A named configuration means its service. Otherwise a running `seamline dev` goes first.
  const dev =
    address === undefined && file === undefined ? await readDevAddress(folder) : undefined;
  const url = new URL(address ?? (dev?.isRunning ? dev.url : (config?.url ?? defaultUrl)));
  if (url.port === "0")
    throw new UsageError(
      "The configuration lets its service take any free port: give the address with --url",
    );
  const { origin } = url;
  if (dev?.isRunning)
    return {
      origin,
      from: `, which ${addressFile} names for the 'seamline dev' of process ${dev.pid},`,
      note: "",
      hint: "Run 'seamline dev' again, or give the address of the service with --url",
    };
  const from =
    address === undefined
      ? config === undefined
        ? ", the default address,"
        : `, the url of ${file ?? "seamline.json"},`
      : "";
  if (address !== undefined || file !== undefined)
    return {
      origin,
      from,
      note: "",
      hint: "Start the service, or give another address with --url",
    };
  const ended =
    dev === undefined ? "" : `; the process ${dev.pid} that ${addressFile} names has ended`;
  return {
    origin,
    from,
    note: `, and no 'seamline dev' runs in ${folder}${ended}`,
    hint: "Run 'seamline dev' or 'seamline start', or give the address of the service with --url",
  };
}

/** The trust key of the application folder, or the configured one. */
export async function findTrustKey(
  { root }: TargetOptions,
  config: Config | undefined,
): Promise<TrustKey> {
  const folder = resolve(root);
  // Reading must not make a key: no service would know it.
  if (config?.trustKey === undefined && !existsSync(join(folder, keyFile)))
    throw new Error(
      `There is no trust key: the first service that starts in ${folder} writes ${keyFile}, and no configuration sets one`,
    );
  return await readTrustKey(folder, config?.trustKey);
}
