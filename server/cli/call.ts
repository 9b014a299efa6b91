// `seamline call`: calls one procedure as any program would, and prints its result, or the items of its stream as they
// come, where it ran and how long it took.

import { existsSync } from "node:fs";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { join, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { text as readText } from "node:stream/consumers";
import type { Command } from "commander";
import { BadGateway, DeadlineExceeded } from "../../src/base/errors.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { type IncomingResponse, isLocalFailure, TransportError } from "../../src/base/ports.ts";
import { headers, rpcPath, versionParameter } from "../../src/base/protocol.ts";
import { traceOf } from "../../src/base/trace.ts";
import { OpaqueClasses } from "../../src/codec/classes.ts";
import { targetOf } from "../../src/http/router.ts";
import { type TrustKey, trustKeyHeader } from "../../src/http/trust.ts";
import { decodeAnswer } from "../../src/wire/decode-answer.ts";
import { eventStreamType } from "../../src/wire/event-stream.ts";
import {
  type ReadingOptions,
  ReceivedStream,
  type StreamAnswer,
} from "../../src/wire/outgoing/send-stream.ts";
import { createPaint, wantsColour } from "../base/paint.ts";
import { printable } from "../base/printable.ts";
import type { Terminal } from "../base/terminal.ts";
import { addressProblem } from "../config/config-address.ts";
import { configVariable, defaultConfigFile } from "../config/config-file.ts";
import { type Config, readConfig } from "../config/config.ts";
import { keyFile, readTrustKey } from "../config/key.ts";
import { readAuthorities } from "../config/tls.ts";
import { nodeClock } from "../host/clock.ts";
import { type Progress, transportFailure } from "../http/connection/transport-failure.ts";
import { addressFile, readDevAddress } from "../start/dev-address.ts";
import { AlreadyReported, UsageError } from "./failure.ts";
import { collect, readMilliseconds, withRoot } from "./options.ts";
import { jsonOf, shown } from "./shown-value.ts";

/** The options of `call` that select the service. */
interface TargetOptions {
  readonly url?: string;
  readonly trustKey?: true;
  readonly config?: string;
  readonly root: string;
}

/** The options of `call` that give arguments. */
interface ArgumentOptions {
  readonly arg?: readonly string[];
  readonly args?: string;
}

interface CallOptions extends ArgumentOptions, TargetOptions {
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
async function call(procedure: string, options: CallOptions, terminal: Terminal): Promise<void> {
  const config = await findConfig(options, terminal);
  const target = await findTarget(options, config, terminal);
  const request = await requestFor(procedure, target.origin, options, config, terminal);
  const ca = config?.tls?.ca;
  const authorities = ca === undefined ? undefined : await readAuthorities(ca);
  const started = performance.now();
  const response = await sendCall(request, target, options.timeout, authorities);
  const { outcome, items } = await outcomeOf(response, procedure, async (item) => {
    const { stdout, env } = terminal;
    const line = options.json
      ? printable(JSON.stringify({ item: await jsonOf(item) }))
      : shown(item, { ...stdout, colors: wantsColour(stdout, env) });
    // It may be paused: then the procedure has to wait, too.
    if (stdout.write(`${line}\n`) === false)
      await new Promise<void>((goOn) => stdout.once?.("drain", goOn));
  });
  const facts = {
    status: response.status,
    node: textOf(response, headers.node) || undefined,
    items,
    ms: Math.round((performance.now() - started) * 10) / 10,
  };
  await (options.json ? printJson : printText)(outcome, facts, response, terminal);
  if (response.status === 405 && request.method === "GET")
    terminal.stderr.write("  → Give an argument as JSON, name:=json: then the call is a POST\n");
  if (!isOurs(response))
    terminal.stderr.write(
      `  → The server at ${target.origin} seems to be another one. ${target.hint}\n`,
    );
  if ("error" in outcome) throw new AlreadyReported();
}

interface Result {
  readonly outcome: Outcome;
  /** The number of a stream's items. */
  readonly items: number | undefined;
}

/** Hands the items of a stream to `take`, one after the other. The application's classes aren't here: instances are shown by their parts. */
async function outcomeOf(
  response: Received,
  procedure: string,
  take: (item: unknown) => Promise<void>,
): Promise<Result> {
  const decode = async (answer: IncomingResponse): ReturnType<typeof decodeAnswer> =>
    await decodeAnswer(answer, { classes: new OpaqueClasses() });
  let items: number | undefined;
  try {
    if (isWhole(response)) return { outcome: { value: (await decode(response)).value }, items };
    const stream = streamOf(response, procedure, { decode });
    items = 0;
    for (;;) {
      const { done, value } = await stream.next();
      if (done === true) return { outcome: { value }, items };
      items++;
      await take(value);
    }
  } catch (error) {
    return { outcome: { error: error as Error }, items };
  }
}

function streamOf(
  answer: StreamedResponse,
  procedure: string,
  codec: ReadingOptions["codec"],
): ReceivedStream {
  const { body, ...head } = answer;
  const answered: StreamAnswer = {
    answer: { ...head, body: nothing },
    failed(cause) {
      throw new BadGateway(`The stream of '${procedure}' was cut off`, { cause });
    },
    ending: { settled() {} },
  };
  const { streamIdleMs: idleMs } = defaultLimits;
  return new ReceivedStream({ codec, clock: nodeClock, idleMs }, procedure, answered, body);
}

const nothing = new Uint8Array();

const defaultUrl = "http://127.0.0.1:3000";

interface CallTarget {
  readonly origin: string;
  /** Where the address comes from, to be inserted after it in a message. */
  readonly from: string;
  /** Added to the message if nothing answers. */
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

async function findTarget(
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
      accept: `*/*, ${eventStreamType}`,
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

/** Where arguments go: into the query of a GET, or, if one is JSON, into the body of a POST. */
interface CallArguments {
  readonly query: [string, string][];
  readonly body?: string;
}

/**
 * `name=text` is text, as in a query: the service converts it by the type of the parameter.
 * `name:=json` is JSON. Parsing any text as JSON would turn the SKU 42 into a number.
 */
async function readArguments(
  { arg = [], args }: ArgumentOptions,
  { stdin }: Terminal,
): Promise<CallArguments> {
  const parsed = arg.map(readArgument);
  const texts = parsed.filter((argument): argument is TextArgument => "text" in argument);
  if (args === undefined && texts.length === parsed.length && texts.length > 0)
    return { query: texts.map(({ name, text }) => [name, text]) };
  const object = args === undefined ? {} : readObject(args === "-" ? await readAll(stdin) : args);
  // Without a prototype, `__proto__` is a name like any other, and the service decides about it.
  const body: Record<string, unknown> = Object.assign(Object.create(null), object);
  for (const { name } of parsed) {
    const values = parsed
      .filter((argument) => argument.name === name)
      .map((argument) => ("text" in argument ? argument.text : argument.value));
    // As in a query, a name that is repeated makes a list.
    body[name] = values.length > 1 ? values : values[0];
  }
  return { query: [], body: JSON.stringify(body) };
}

interface TextArgument {
  readonly name: string;
  readonly text: string;
}

function readArgument(
  argument: string,
): TextArgument | { readonly name: string; readonly value: unknown } {
  const [, name = "", sign, text = ""] = /^([^=:]+)(:?=)(.*)$/s.exec(argument) ?? [];
  if (sign === undefined)
    throw new UsageError(`--arg: expected name=text or name:=json, found '${argument}'`);
  if (sign === "=") return { name, text };
  try {
    return { name, value: JSON.parse(text) as unknown };
  } catch (error) {
    throw new UsageError(
      `--arg ${name}:= isn't JSON (${(error as Error).message}). For text: ${name}=${text}`,
    );
  }
}

function readObject(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--args isn't JSON: ${(error as Error).message}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new UsageError('--args: expected a JSON object of parameters, such as {"sku":"42"}');
}

async function readAll(stdin: Terminal["stdin"]): Promise<string> {
  if (stdin === undefined || stdin.isTTY === true)
    throw new UsageError("--args -: there is nothing on standard input");
  return await readText(stdin);
}

async function sendCall(
  request: ClientRequest,
  { origin, from, note, hint }: CallTarget,
  timeout: number,
  authorities: readonly string[] | undefined,
): Promise<Received> {
  const late = new DeadlineExceeded(`No answer within ${timeout} ms: --timeout sets a longer time`);
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(late), timeout);
  try {
    return await exchange(request, { signal: controller.signal, authorities }, streamOrWhole);
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

interface ClientRequest {
  /** Absolute. */
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface ClientOptions {
  readonly signal: AbortSignal;
  /** Certificate authorities of https addresses (PEM) [those that Node trusts]. */
  readonly authorities?: readonly string[] | undefined;
}

/** More than an answer with the default limits has. */
const mostAnswerBytes = 64 * 1024 * 1024;

/** An answer that is a stream, with its items still to come. */
interface StreamedResponse extends Omit<IncomingResponse, "body"> {
  readonly body: AsyncIterable<Uint8Array>;
}

type Received = IncomingResponse | StreamedResponse;

function isWhole(response: Received): response is IncomingResponse {
  return response.body instanceof Uint8Array;
}

/** Resolves with the whole answer. Rejects with `TransportError`, or with the signal's reason. */
export async function send(
  request: ClientRequest,
  options: ClientOptions,
): Promise<IncomingResponse> {
  return await exchange(request, options, wholeOf);
}

function exchange<Answer>(
  { url, body, ...message }: ClientRequest,
  { signal, authorities }: ClientOptions,
  read: (answer: IncomingMessage) => Promise<Answer>,
): Promise<Answer> {
  const { origin, protocol } = new URL(url);
  return new Promise((settle, reject) => {
    let progress: Progress = "waiting";
    const fail = (error: Error): void =>
      reject(signal.aborted ? (signal.reason as Error) : transportFailure(error, origin, progress));
    const request = (protocol === "https:" ? requestHttps : requestHttp)(origin, {
      // As it was written: `URL` would resolve `/rpc/../nodes` to another endpoint.
      path: targetOf(url),
      ...message,
      signal,
      agent: false,
      ...(authorities !== undefined && { ca: [...authorities] }),
    });
    request.on("error", fail);
    request.on("socket", (socket) => {
      socket.once("encrypted" in socket ? "secureConnect" : "connect", () => (progress = "sent"));
    });
    request.on("response", (answer) => {
      progress = "answered";
      read(answer).then(settle, fail);
    });
    request.end(body);
  });
}

/** A stream as soon as it begins, any other answer once all of it is there. */
async function streamOrWhole(answer: IncomingMessage): Promise<Received> {
  const { statusCode: status = 0, headers: fields } = answer;
  return status === 200 && fields["content-type"]?.startsWith(eventStreamType) === true
    ? { status, headers: fields, body: answer }
    : await wholeOf(answer);
}

async function wholeOf(answer: IncomingMessage): Promise<IncomingResponse> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostAnswerBytes) throw new Error("The answer is too large");
    chunks.push(chunk);
  }
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) };
}

type Outcome = { readonly value: unknown } | { readonly error: Error };

interface Facts {
  readonly status: number;
  readonly node: string | undefined;
  readonly items: number | undefined;
  readonly ms: number;
}

async function printText(
  outcome: Outcome,
  { status, node, items, ms }: Facts,
  _: Received,
  { stdout, stderr, env }: Terminal,
): Promise<void> {
  const failed = "error" in outcome;
  const paint = createPaint(wantsColour(stderr, env));
  const facts = [
    ...(failed ? [String(status)] : []),
    ...(node === undefined ? [] : [printable(node)]),
    ...(items === undefined ? [] : [`${items} item${items === 1 ? "" : "s"}`]),
    `${ms} ms`,
  ].join(" · ");
  if (failed) {
    const { error } = outcome;
    const cause =
      error.cause instanceof Error ? [`caused by ${error.cause.name}: ${error.cause.message}`] : [];
    const lines = [`${error.name}: ${error.message}`, ...traceOf(error), ...cause];
    stderr.write(`${paint("red", "error:")} ${lines.map(printable).join("\n")}\n`);
  } else if (items === undefined || outcome.value !== undefined) {
    const { columns, isTTY } = stdout;
    const colors = wantsColour(stdout, env);
    stdout.write(`${shown(outcome.value, { colors, columns, isTTY })}\n`);
  }
  stderr.write(`${paint("dim", facts)}\n`);
}

async function printJson(
  outcome: Outcome,
  facts: Facts,
  response: Received,
  { stdout }: Terminal,
): Promise<void> {
  const superjson = isWhole(response) && textOf(response, headers.encoding) === "superjson";
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
function isOurs(response: Received): boolean {
  return [headers.encoding, headers.dataType, headers.error].some(
    (name) => response.headers[name] !== undefined,
  );
}

function textOf(response: Received, name: string): string {
  return String(response.headers[name] ?? "");
}
