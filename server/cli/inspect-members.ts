// `seamline inspect --running`: the members of running gateways.

import type { IncomingResponse } from "../../src/base/ports.ts";
import { paths } from "../../src/base/protocol.ts";
import { trustKeyHeader } from "../../src/http/trust.ts";
import type { ListedMember } from "../../src/roles/members/member-endpoints.ts";
import { printable } from "../base/printable.ts";
import type { Terminal } from "../base/terminal.ts";
import { count } from "../base/paint.ts";
import { addressProblem } from "../config/config-address.ts";
import type { Config } from "../config/config.ts";
import { readAuthorities } from "../config/tls.ts";
import { findConfig, findTrustKey, send } from "./call.ts";
import { UsageError } from "./failure.ts";

export interface InspectMembersOptions {
  /** The gateway's address; `true`: those that the configuration names. */
  readonly running: string | true;
  readonly config?: string;
  readonly root: string;
  readonly json?: true;
}

const answerMs = 5_000;

/** Prints a line for each member, or one JSON object. */
export async function inspectMembers(
  options: InspectMembersOptions,
  terminal: Terminal,
): Promise<void> {
  const config = await findConfig({ ...options, trustKey: true }, terminal);
  const addresses = addressesOf(options.running, config);
  const trustKey = await findTrustKey(options, config);
  const ca = config?.tls?.ca;
  const authorities = ca === undefined ? undefined : await readAuthorities(ca);
  const headers = trustKeyHeader(trustKey);
  const outcomes = await Promise.allSettled(
    addresses.map(async (gateway) => ({
      gateway,
      members: read(gateway, await ask(gateway, headers, authorities)),
    })),
  );
  const failures = outcomes.flatMap((outcome) =>
    outcome.status === "rejected" ? [outcome.reason as Error] : [],
  );
  const found = outcomes.flatMap((outcome) =>
    outcome.status === "fulfilled" ? [outcome.value] : [],
  );
  const lines = options.json
    ? [JSON.stringify(addresses.length === 1 ? found[0] : { gateways: found }, null, 2)]
    : found.flatMap(({ gateway, members }) => [
        `${count(members.length, "member")} of the gateway at ${gateway}`,
        ...rows(members),
      ]);
  // Those that answer are shown, and the command fails if one doesn't.
  if (found.length > 0) terminal.stdout.write(`${printable(lines.join("\n"))}\n`);
  if (failures.length > 0) throw new Error(failures.map(({ message }) => message).join("\n"));
}

function addressesOf(running: string | true, config: Config | undefined): readonly string[] {
  const named =
    typeof running === "string"
      ? running
      : config?.mode === "gateway"
        ? config.url
        : config !== undefined && "gateway" in config
          ? config.gateway
          : undefined;
  if (named === undefined)
    throw new UsageError(
      "no configuration names a gateway\n  → Give its address: seamline inspect --running http://127.0.0.1:3002",
    );
  return [named].flat().map((address) => {
    const problem = addressProblem(address);
    if (problem !== undefined) throw new UsageError(`--running: ${problem}`);
    return address.replace(/\/+$/, "");
  });
}

async function ask(
  address: string,
  headers: Readonly<Record<string, string>>,
  authorities: readonly string[] | undefined,
): Promise<IncomingResponse> {
  const signal = AbortSignal.timeout(answerMs);
  try {
    return await send(
      { url: address + paths.nodes, method: "GET", headers },
      { signal, authorities },
    );
  } catch (error) {
    throw signal.aborted
      ? new Error(`${address} gave no answer in ${answerMs / 1000} s`, { cause: error })
      : error;
  }
}

function read(address: string, { status, body }: IncomingResponse): readonly ListedMember[] {
  if (status === 401)
    throw new Error(
      `The gateway at ${address} refuses this trust key: run the command in the gateway's application folder, or name a configuration with its 'trustKey'`,
    );
  const text = new TextDecoder().decode(body);
  const members =
    status === 200 && text.startsWith("{")
      ? (JSON.parse(text) as { members?: unknown }).members
      : undefined;
  if (!Array.isArray(members))
    throw new Error(`What answers at ${address} isn't a gateway: it answered ${status}`);
  return members as readonly ListedMember[];
}

const states = {
  ready: "in rotation",
  unhealthy: "out: its health checks say so",
  silent: "out: it doesn't answer",
};

function rows(members: readonly ListedMember[]): readonly string[] {
  const cells = members.map(({ url, state, procedures, routes, name }) => [
    url,
    states[state],
    [
      count(procedures, "procedure"),
      ...(routes === 0 ? [] : [count(routes, "route")]),
      ...(name === undefined ? [] : [name]),
    ].join(", "),
  ]);
  const widths = [0, 1].map((column) =>
    Math.max(0, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  return cells.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd(),
  );
}
