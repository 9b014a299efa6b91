// `seamline call`: calls one procedure as any program would, and prints its result, where it ran
// and how long it took.

import { performance } from "node:perf_hooks";
import type { Command } from "commander";
import { DeadlineExceeded } from "../../src/base/errors.ts";
import { type IncomingResponse, isLocalFailure, TransportError } from "../../src/base/ports.ts";
import { headers, rpcPath, versionParameter } from "../../src/base/protocol.ts";
import { OpaqueClasses } from "../../src/codec/classes.ts";
import { trustKeyHeader } from "../../src/http/trust.ts";
import { traceOf } from "../../src/base/trace.ts";
import { decodeAnswer } from "../../src/wire/decode-answer.ts";
import type { Config } from "../config/config.ts";
import { createPaint, wantsColour } from "../base/paint.ts";
import { printable } from "../base/printable.ts";
import type { Terminal } from "../base/terminal.ts";
import { readAuthorities } from "../config/tls.ts";
import { type ArgumentOptions, readArguments } from "./call-arguments.ts";
import {
  type CallTarget,
  findConfig,
  findTarget,
  findTrustKey,
  type TargetOptions,
} from "./call-target.ts";
import { type ClientRequest, send } from "./http-client.ts";
import { AlreadyReported, UsageError } from "./failure.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { collect, readMilliseconds, withRoot } from "./options.ts";
import { jsonOf, shown } from "./shown-value.ts";

export interface CallOptions extends ArgumentOptions, TargetOptions {
  readonly version?: string;
  readonly header?: readonly string[];
  readonly timeout: number;
  readonly json?: true;
}

const argumentHint =
  "error: expected only the name of a procedure. Give its arguments with --arg: --arg sku=42";

export function addCall(program: Command, terminal: Terminal): void {
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
      async (procedure: string, options: CallOptions) => await call(procedure, options, terminal),
    );
}

/**
 * Prints the value to standard output, and where and how long to standard error. An error answer is
 * printed as it came, and the command fails.
 */
export async function call(
  procedure: string,
  options: CallOptions,
  terminal: Terminal,
): Promise<void> {
  const config = await findConfig(options, terminal);
  const target = await findTarget(options, config, terminal);
  const request = await requestFor(procedure, target.origin, options, config, terminal);
  const ca = config?.tls?.ca;
  const authorities = ca === undefined ? undefined : await readAuthorities(ca);
  const { response, ms } = await sendCall(request, target, options.timeout, authorities);
  const facts = {
    status: response.status,
    node: textOf(response, headers.node) || undefined,
    ms: Math.round(ms * 10) / 10,
  };
  // The application's classes aren't here: instances are shown by their parts.
  const outcome = await decodeAnswer(response, { classes: new OpaqueClasses() }).then(
    ({ value }) => ({ value }),
    (error: unknown) => ({ error: error as Error }),
  );
  await (options.json ? printJson : printText)(outcome, facts, response, terminal);
  if (!isOurs(response))
    terminal.stderr.write(
      `  → What answers at ${target.origin} seems to be another server. ${target.hint}\n`,
    );
  if ("error" in outcome) throw new AlreadyReported();
}

async function requestFor(
  procedure: string,
  origin: string,
  options: CallOptions,
  config: Config | undefined,
  terminal: Terminal,
): Promise<ClientRequest> {
  const { query, body } = await readArguments(options, terminal);
  if (options.version !== undefined) query.unshift([versionParameter, options.version]);
  const path = encodeURIComponent(procedure.replace(/^\//, "")).replaceAll("%2F", "/");
  const search = query.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
  return {
    url: `${origin}${rpcPath}${path}${search === "" ? "" : `?${search}`}`,
    method: body === undefined ? "GET" : "POST",
    headers: {
      ...Object.fromEntries((options.header ?? []).map(headerOf)),
      [headers.encoding]: "serialized, superjson",
      ...(options.trustKey && trustKeyHeader(await findTrustKey(options, config))),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body }),
  };
}

function headerOf(text: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`--header: expected 'name: value', found '${text}'`);
  return [name.toLowerCase(), value];
}

async function sendCall(
  request: ClientRequest,
  { origin, from, note, hint }: CallTarget,
  timeout: number,
  authorities: readonly string[] | undefined,
): Promise<{ response: IncomingResponse; ms: number }> {
  const started = performance.now();
  const late = new DeadlineExceeded(`No answer within ${timeout} ms: --timeout sets a longer time`);
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(late), timeout);
  try {
    const response = await send(request, { signal: controller.signal, authorities });
    return { response, ms: performance.now() - started };
  } catch (error) {
    if (!(error instanceof TransportError) || error.sent || isLocalFailure(error)) throw error;
    const absence = absentCodes.has((error.cause as NodeJS.ErrnoException | undefined)?.code ?? "")
      ? `: nothing answers there${note}`
      : "";
    throw new Error(`${error.message.replace(origin, `${origin}${from}`)}${absence}\n  → ${hint}`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Codes that mean that nothing listens there. With others, such as those of certificates, something
 * does.
 */
const absentCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
]);

type Outcome = { readonly value: unknown } | { readonly error: Error };

interface Facts {
  readonly status: number;
  readonly node: string | undefined;
  readonly ms: number;
}

async function printText(
  outcome: Outcome,
  { status, node, ms }: Facts,
  _: IncomingResponse,
  { stdout, stderr, env }: Terminal,
): Promise<void> {
  const failed = "error" in outcome;
  const paint = createPaint(wantsColour(stderr, env));
  const facts = [
    ...(failed ? [String(status)] : []),
    ...(node === undefined ? [] : [printable(node)]),
    `${ms} ms`,
  ].join(" · ");
  if (failed) {
    const { error } = outcome;
    const cause =
      error.cause instanceof Error ? [`caused by ${error.cause.name}: ${error.cause.message}`] : [];
    const lines = [`${error.name}: ${error.message}`, ...traceOf(error), ...cause];
    stderr.write(`${paint("red", "error:")} ${lines.map(printable).join("\n")}\n`);
  } else {
    const { columns, isTTY } = stdout;
    const colors = wantsColour(stdout, env);
    stdout.write(`${shown(outcome.value, { colors, columns, isTTY })}\n`);
  }
  stderr.write(`${paint("dim", facts)}\n`);
}

async function printJson(
  outcome: Outcome,
  facts: Facts,
  response: IncomingResponse,
  { stdout }: Terminal,
): Promise<void> {
  const superjson = textOf(response, headers.encoding) === "superjson";
  const sent = superjson
    ? (JSON.parse(new TextDecoder().decode(response.body)) as unknown)
    : undefined;
  const form = sent ?? (await jsonOf("error" in outcome ? outcome.error : outcome.value));
  const result = "error" in outcome ? { error: form } : { value: form };
  stdout.write(
    `${printable(JSON.stringify({ ...result, ...(superjson && { encoding: "superjson" }), ...facts }))}\n`,
  );
}

/** Every answer of a procedure has one of these headers. */
function isOurs(response: IncomingResponse): boolean {
  return [headers.encoding, headers.dataType, headers.error].some(
    (name) => response.headers[name] !== undefined,
  );
}

function textOf(response: IncomingResponse, name: string): string {
  return String(response.headers[name] ?? "");
}
