// How a call of a procedure runs: its arguments are decoded, and its result is encoded.

import type { Access } from "../../base/manifest.ts";
import type { Args, Call } from "../../base/call.ts";
import { memoryExhausted, NodeNotAvailable } from "../../base/errors.ts";
import { refusedArguments } from "../../base/faults.ts";
import type { HttpResponse } from "../../base/ports.ts";
import { callMethods, headers } from "../../base/protocol.ts";
import type { ParameterTypes } from "../../base/parameter-types.ts";
import { withHeaders } from "../../http/answers.ts";
import { methodNotAllowed } from "../../http/refusals.ts";
import { isOfOtherBuild } from "../../http/relay-headers.ts";
import type { Registration } from "../../runtime/registry.ts";
import { CallArguments } from "../../wire/decode-call.ts";
import { keptAnswer } from "../../wire/kept-answer.ts";
import { encodeResultOf } from "../../wire/encode-result.ts";
import type { Exchange } from "../../wire/exchange.ts";
import type { LargeAnswers } from "../../wire/large-answers.ts";
import { littleBytes } from "../common/limits.ts";
import { LazyArguments } from "../pipeline/lazy-arguments.ts";
import type { Run, RunParts } from "./run.ts";

export class ProcedureRun implements Run {
  protected readonly parts: RunParts;
  protected readonly exchange: Exchange;
  protected readonly procedure: Registration;
  readonly #largeAnswers: LargeAnswers;
  readonly #args: CallArguments;
  /** A procedure makes the call: the compiler has checked it, unless that was for another build. */
  readonly #isCompiled: boolean;
  /** Of a page that is being developed, members of the arguments that didn't arrive. */
  #dropped: readonly string[] = [];

  constructor(
    parts: RunParts,
    exchange: Exchange,
    procedure: Registration,
    largeAnswers: LargeAnswers,
  ) {
    this.parts = parts;
    this.exchange = exchange;
    this.#largeAnswers = largeAnswers;
    this.procedure = procedure;
    this.#args = new CallArguments(exchange, parts);
    const { trust, request } = exchange;
    this.#isCompiled = trust.inner && !isOfOtherBuild(request.headers);
  }

  get access(): Access {
    return this.procedure.access;
  }

  get crossSite(): boolean {
    return this.procedure.safe;
  }

  early(): HttpResponse | undefined {
    const { request, fqn } = this.exchange;
    if (request.method === "QUERY" && !this.procedure.safe)
      throw methodNotAllowed(
        callMethods.filter((method) => method !== "QUERY"),
        `'${fqn}' answers QUERY only with "safe" in its segment entry: use POST`,
      );
    return undefined;
  }

  get timeoutMs(): number | undefined {
    return this.procedure.timeoutMs;
  }

  get guard(): string | undefined {
    return this.procedure.guard;
  }

  receive(): Promise<void> | undefined {
    return this.#args.receive();
  }

  load(): Promise<void> | undefined {
    const loading = this.#args.load();
    const types = this.#isCompiled ? undefined : this.parts.node.checks.ready(this.procedure);
    const body = this.procedure.load?.().catch((cause: unknown) => {
      throw new NodeNotAvailable("The procedure can't be loaded", { cause });
    });
    return types === undefined && body === undefined
      ? loading
      : Promise.all([loading, types, body]).then(() => {});
  }

  decode(): Args {
    const { record, extra } = this.procedure;
    return this.#args.read(record, this.#types(), extra);
  }

  invoke(call: Call, args: Args): Promise<unknown> {
    return this.parts.node.invoke(this.procedure, call, this.positionsOf(args));
  }

  /** The arguments by position, checked where they are. */
  protected positionsOf(args: Args): readonly unknown[] {
    const positions = this.procedure.bind(args);
    const types = this.#types();
    return types === undefined ? positions : this.#checked(types, args, positions);
  }

  /** By which the arguments are checked. */
  #types(): ParameterTypes | undefined {
    return this.#isCompiled ? undefined : this.parts.node.checks.find(this.procedure);
  }

  #checked(types: ParameterTypes, args: Args, positions: readonly unknown[]): readonly unknown[] {
    const { limits, classes, openAnswers } = this.parts;
    const checked = types.check(positions, {
      source: this.#args.source,
      extra: this.procedure.extra,
      masked: this.exchange.masksErrors,
      maxDigits: limits.maxDigits,
      // Middleware may have put in anything.
      isTree: this.#args.isTree && !(args instanceof LazyArguments && args.touched),
      isInstance: classes.isInstance,
    });
    if ("refusal" in checked) throw refusedArguments(checked.refusal);
    if (openAnswers !== undefined) this.#dropped = checked.dropped;
    return checked.positions;
  }

  /** The answer for a result. Throws if there is no room for it while it waits for its caller. */
  encode(value: unknown): HttpResponse | Promise<HttpResponse> {
    const turn = this.#largeAnswers.turn(this.exchange.fqn);
    return turn === undefined ? this.#encode(value) : this.#encodeLater(turn, value);
  }

  async #encodeLater(turn: Promise<void>, value: unknown): Promise<HttpResponse> {
    await turn;
    this.exchange.signal.throwIfAborted();
    return await this.#encode(value);
  }

  #encode(value: unknown): HttpResponse | Promise<HttpResponse> {
    const { classes } = this.parts;
    const encoded = encodeResultOf(this.exchange, value, { classes });
    return encoded instanceof Promise
      ? encoded.then((answer) => this.#fitting(answer))
      : this.#fitting(encoded);
  }

  #warning(): HttpResponse["headers"] {
    const text = `${this.exchange.fqn} doesn't get ${this.#dropped.join(", ")}: no type names it`;
    // A path that is cut may have half a surrogate pair.
    return { [headers.dropped]: encodeURIComponent(text.replace(/\p{Surrogate}/gu, "�")) };
  }

  /** A first test of the length: the sender checks the bytes again, as a character may have several. */
  #fitting(encoded: HttpResponse): HttpResponse {
    const answer = this.#dropped.length === 0 ? encoded : withHeaders(encoded, this.#warning());
    const { body } = answer;
    const isWhole = typeof body === "string" || body instanceof Uint8Array;
    if (!isWhole) return answer;
    this.#largeAnswers.made(this.exchange.fqn, body.length);
    if (body.length > littleBytes && !this.parts.host.memory.fitsAnswer(body.length))
      throw memoryExhausted();
    return keptAnswer(answer, this.exchange, this.parts.host);
  }
}
