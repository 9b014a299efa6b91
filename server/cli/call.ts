// `seamline call`: one procedure, called as any program would call it; what came of it, where it ran and how long it took.

import { OpaqueClasses } from "../../src/serializer/classes.ts";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { rootCertificates } from "node:tls";
import { styleText, stripVTControlCharacters } from "node:util";
import { DeadlineExceeded } from "../../src/errors.ts";
import {
  type IncomingResponse,
  isLocalFailure,
  type Transport,
  TransportError,
} from "../../src/ports.ts";
import { headers, serviceHeaders, rpcPath, versionParameter } from "../../src/protocol.ts";
import { traceOf } from "../../src/trace.ts";
import { decodeAnswer } from "../../src/wire/decode-answer.ts";
import { addressProblem } from "../config-address.ts";
import { type Config, readConfig } from "../config.ts";
import { addressFile, notedDev } from "../dev-address.ts";
import { keyFile, readTrustKey } from "../key.ts";
import { wantsColour } from "../log.ts";
import { createTransport } from "../transport.ts";
import { readArguments } from "./call-arguments.ts";
import type { CallOptions } from "./program.ts";
import { jsonOf, shown } from "./shown-value.ts";
import { AlreadyTold, type Terminal, UsageError } from "./terminal.ts";

const defaultUrl = "http://127.0.0.1:3000";

/** Prints the value on standard output, and where and how long on standard error. An error answer is told as it came, and ends with 1. */
export async function call(
  procedure: string,
  options: CallOptions,
  terminal: Terminal,
  transport?: Transport,
): Promise<void> {
  const config = await configFor(options, terminal);
  const service = await serviceFor(options, config, terminal);
  const request = await requestFor(procedure, service.origin, options, config, terminal);
  const sender = transport ?? createTransport({ authorities: await authoritiesOf(config) });
  try {
    const { response, ms } = await send(sender, request, service, options.timeout);
    const facts = {
      status: response.status,
      node: textOf(response, headers.node) || undefined,
      ms: Math.round(ms * 10) / 10,
    };
    // What the caller asked for is on its way to a person: no class of the application is here.
    const outcome = await decodeAnswer(response, { classes: new OpaqueClasses() }).then(
      ({ value }) => ({ value }),
      (error: unknown) => ({ error: error as Error }),
    );
    await (options.json ? tellPrograms : tellPersons)(outcome, facts, response, terminal);
    if (!isOurs(response))
      terminal.stderr.write(
        `  → What answers at ${service.origin} seems to be another server. ${service.wayOut}\n`,
      );
    if ("error" in outcome) throw new AlreadyTold();
  } finally {
    if (transport === undefined) await sender.close();
  }
}

interface Request {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function requestFor(
  procedure: string,
  origin: string,
  options: CallOptions,
  config: Config | undefined,
  terminal: Terminal,
): Promise<Request> {
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
      ...(options.trustKey && { [serviceHeaders.trustKey]: await trustKeyFor(options, config) }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body }),
  };
}

/** The configuration that was named, or that lies here. Whoever gives an address needs none. */
async function configFor(
  { config: named, root, url, trustKey }: CallOptions,
  { env }: Terminal,
): Promise<Config | undefined> {
  if (url !== undefined && !trustKey && named === undefined) return undefined;
  const file = named ?? env["SVC_CONFIG"] ?? "./seamline.json";
  const folder = resolve(root);
  if (named === undefined && env["SVC_CONFIG"] === undefined && !existsSync(resolve(folder, file)))
    return undefined;
  return await readConfig(file, { root: folder, env });
}

/** Who may have signed the service's certificate, besides those whom Node trusts. */
async function authoritiesOf(config: Config | undefined): Promise<string[] | undefined> {
  const file = config?.tls?.ca;
  return file === undefined ? undefined : [...rootCertificates, await readFile(file, "utf8")];
}

/** Who is to answer, and what to tell when nobody does. */
interface Service {
  readonly origin: string;
  /** Where the address is from, in words that go behind it. */
  readonly from: string;
  /** What else is to be said of nobody being there. */
  readonly also: string;
  readonly wayOut: string;
}

async function serviceFor(
  { url: given, config: named, root }: CallOptions,
  config: Config | undefined,
  { env }: Terminal,
): Promise<Service> {
  const problem = given === undefined ? undefined : addressProblem(given);
  if (problem !== undefined) throw new UsageError(`--url: ${problem}`);
  const folder = resolve(root);
  const file = named ?? env["SVC_CONFIG"];
  // Whoever names a configuration means its service; else the one that is being worked on goes first.
  const dev = given === undefined && file === undefined ? await notedDev(folder) : undefined;
  const url = new URL(given ?? (dev?.isRunning ? dev.url : (config?.url ?? defaultUrl)));
  if (url.port === "0")
    throw new UsageError(
      "The configuration lets its service listen at any free port: say with --url which it took",
    );
  const { origin } = url;
  if (dev?.isRunning)
    return {
      origin,
      from: `, which ${addressFile} names for the 'seamline dev' of process ${dev.pid},`,
      also: "",
      wayOut: "Run 'seamline dev' again, or say with --url where the service is",
    };
  const from =
    given === undefined
      ? config === undefined
        ? ", the usual address,"
        : `, the url of ${file ?? "seamline.json"},`
      : "";
  if (given !== undefined || file !== undefined)
    return {
      origin,
      from,
      also: "",
      wayOut: "Start the service, or give another address with --url",
    };
  const ended =
    dev === undefined ? "" : `; the process ${dev.pid} that ${addressFile} names has ended`;
  return {
    origin,
    from,
    also: `, and no 'seamline dev' runs in ${folder}${ended}`,
    wayOut: "Run 'seamline dev' or 'seamline start', or say with --url where the service is",
  };
}

async function trustKeyFor({ root }: CallOptions, config: Config | undefined): Promise<string> {
  const folder = resolve(root);
  // Asking must not make a key: none of the services would know it.
  if (config?.trustKey === undefined && !existsSync(join(folder, keyFile)))
    throw new Error(
      `There is no trust key: ${keyFile} is written by the first service that starts in ${folder}, and no configuration names one`,
    );
  return await readTrustKey(folder, config?.trustKey);
}

function headerOf(given: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/s.exec(given) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`--header: expected 'name: value', found '${given}'`);
  return [name.toLowerCase(), value];
}

async function send(
  transport: Transport,
  request: Request,
  { origin, from, also, wayOut }: Service,
  timeout: number,
): Promise<{ response: IncomingResponse; ms: number }> {
  const started = performance.now();
  const late = new DeadlineExceeded(`No answer within ${timeout} ms: --timeout gives it longer`);
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(late), timeout);
  try {
    const response = await transport.send({ ...request, signal: controller.signal });
    return { response, ms: performance.now() - started };
  } catch (error) {
    if (!(error instanceof TransportError) || error.sent || isLocalFailure(error)) throw error;
    const nobody = absences.has((error.cause as NodeJS.ErrnoException | undefined)?.code ?? "")
      ? `: nothing answers there${also}`
      : "";
    throw new Error(
      `${error.message.replace(origin, `${origin}${from}`)}${nobody}\n  → ${wayOut}`,
      { cause: error },
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Reasons that say that there is nobody. Others, those of a certificate for one, are given by somebody. */
const absences: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

type Outcome = { readonly value: unknown } | { readonly error: Error };

interface Facts {
  readonly status: number;
  readonly node: string | undefined;
  readonly ms: number;
}

async function tellPersons(
  outcome: Outcome,
  { status, node, ms }: Facts,
  _: IncomingResponse,
  { stdout, stderr, env }: Terminal,
): Promise<void> {
  const failed = "error" in outcome;
  const facts = [
    ...(failed ? [String(status)] : []),
    ...(node === undefined ? [] : [node]),
    `${ms} ms`,
  ].join(" · ");
  if (failed) {
    const { error } = outcome;
    const head = wantsColour(stderr, env)
      ? styleText("red", "error:", { validateStream: false })
      : "error:";
    const cause =
      error.cause instanceof Error ? [`caused by ${error.cause.name}: ${error.cause.message}`] : [];
    stderr.write(
      `${head} ${[`${error.name}: ${error.message}`, ...traceOf(error), ...cause].map(stripVTControlCharacters).join("\n")}\n`,
    );
  } else
    stdout.write(
      `${shown(outcome.value, { colors: wantsColour(stdout, env), columns: stdout.columns, isTTY: stdout.isTTY })}\n`,
    );
  stderr.write(
    `${wantsColour(stderr, env) ? styleText("dim", facts, { validateStream: false }) : facts}\n`,
  );
}

async function tellPrograms(
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
  const told = "error" in outcome ? { error: form } : { value: form };
  stdout.write(
    `${JSON.stringify({ ...told, ...(superjson && { encoding: "superjson" }), ...facts })}\n`,
  );
}

/** Answers of procedures have one of these, whatever became of the call. */
function isOurs({ headers: given }: IncomingResponse): boolean {
  return [headers.encoding, headers.dataType, headers.error].some(
    (name) => given[name] !== undefined,
  );
}

function textOf(response: IncomingResponse, name: string): string {
  return String(response.headers[name] ?? "");
}
