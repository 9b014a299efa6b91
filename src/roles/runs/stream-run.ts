// Runs calls of streams. The answer's head waits for the first item, so that an earlier failure is an
// ordinary error.

import type { Args, Call } from "../../base/call.ts";
import { DeadlineExceeded, MiddlewareNotCompleted, NotAcceptable } from "../../base/errors.ts";
import type { HttpResponse } from "../../base/ports.ts";
import { headers, rpcHeaders } from "../../base/protocol.ts";
import { cleanUpMs } from "../../base/limits.ts";
import { methodNotAllowed } from "../../http/refusals.ts";
import { OpaqueStream } from "../../http/middleware.ts";
import type { BoundStream } from "../../runtime/bound-stream.ts";
import { takeId } from "../../runtime/item-ids.ts";
import type { Registration } from "../../runtime/registry.ts";
import { StreamBody } from "../../wire/encode-stream.ts";
import { headerText } from "../../wire/encoding.ts";
import {
  endId,
  guardedHeader,
  resumeHeader,
  streamHeaders,
  takesStream,
} from "../../wire/event-stream.ts";
import type { Exchange } from "../../wire/exchange.ts";
import type { LargeAnswers } from "../../wire/large-answers.ts";
import { guardMs, headMs } from "../common/times.ts";
import type { Refuse } from "../pipeline/refuse.ts";
import { pass } from "./pass.ts";
import { ProcedureRun } from "./procedure-run.ts";
import type { RunParts } from "./run.ts";

/** A stream whose head may be sent. */
interface Begun {
  readonly stream: BoundStream;
  readonly first: Promise<IteratorResult<unknown, unknown>>;
  /** For middleware. */
  readonly opaque: OpaqueStream;
}

export class StreamRun extends ProcedureRun {
  readonly #refuse: Refuse;
  #begun: Begun | undefined;

  constructor(
    parts: RunParts,
    exchange: Exchange,
    procedure: Registration,
    largeAnswers: LargeAnswers,
    refuse: Refuse,
  ) {
    super(parts, exchange, procedure, largeAnswers);
    this.#refuse = refuse;
  }

  override early(): HttpResponse | undefined {
    super.early();
    const { request, fqn } = this.exchange;
    if (!takesStream(request.headers))
      throw new NotAcceptable(
        `'${fqn}' answers with a stream, text/event-stream, which this caller doesn't take: in an application, build it again; a call by name can't read streams`,
      );
    // A client that asks again by itself, as EventSource does after each end, mustn't run a procedure that
    // changes something.
    if (request.method === "GET" && !this.procedure.idempotent)
      throw methodNotAllowed(
        ["POST"],
        `'${fqn}' answers GET only with "safe", "idempotent" or "resume" in its segment entry: use POST`,
      );
    const last = this.#lastId;
    if (last === endId || (last !== "" && !this.procedure.resume))
      return { status: 204, headers: rpcHeaders };
    this.exchange.streams();
    return undefined;
  }

  override async invoke(call: Call, args: Args): Promise<unknown> {
    const { host, node } = this.parts;
    const { clock } = host;
    const positions = this.positionsOf(args);
    let isClosed = false;
    let close = (): void => {};
    const ended = new Promise<void>((resolve) => {
      close = () => {
        isClosed = true;
        resolve();
      };
    });
    let cancelAge = (): void => {};
    const stream = node.stream(this.procedure, call, positions, {
      abort: { abort: (reason) => this.exchange.expire(reason as Error) },
      caller: this.exchange.departure,
      onClosed: close,
      onEnd: () => {
        cancelAge();
        if (isClosed) return;
        clock.after(cleanUpMs, () => {
          if (isClosed) return;
          this.#sayAbandoned();
          close();
        });
      },
    });
    const first = stream.next();
    let cancel = (): void => {};
    const soon = new Promise<void>((resolve) => {
      cancel = clock.after(headMs, resolve);
    });
    // Rejects if it fails before its head. Later it is a fault of the stream.
    await Promise.race([first, soon]).finally(() => cancel());
    first.catch(() => {});
    const grow = (): void => {
      const ms = this.#ageMs;
      if (ms !== undefined)
        cancelAge = clock.after(ms, () => {
          this.#grewOld().then(grow, (error: unknown) => stream.end(error, { error }));
        });
    };
    if (!isClosed) grow();
    const opaque = new OpaqueStream(ended);
    this.#begun = { stream, first, opaque };
    return opaque;
  }

  override encode(value: unknown): HttpResponse {
    const begun = this.#begun;
    if (begun === undefined || value !== begun.opaque) {
      this.drop(new Error("Middleware gave the stream up"));
      throw new MiddlewareNotCompleted("A middleware returned something else than the stream");
    }
    const { stream, first } = begun;
    const { classes, host, limits } = this.parts;
    const { exchange } = this;
    const { encoding, trust } = exchange;
    let settle = (): void => {};
    const body = new StreamBody({
      classes,
      trusted: trust.trusted,
      encoding,
      itemBytes: limits.itemBytes,
      clock: host.clock,
      turn: (next) => host.loop.turn(next),
      first,
      next: () => stream.next(),
      onItem: () => exchange.yields(),
      idOf: (item) => takeId(exchange, item),
      lastId: /^\d{1,15}$/.test(this.#lastId) ? Number(this.#lastId) : 0,
      faultOf: async (thrown) => await this.#faultOf(thrown),
      stop: () => void stream.return(),
      onEnd: () => settle(),
    });
    if (this.procedure.resume) settle = exchange.movable(() => body.again());
    const fields = {
      ...streamHeaders,
      ...(this.procedure.resume && { [resumeHeader]: "yes" }),
      ...(this.#guard !== undefined && { [guardedHeader]: "yes" }),
      ...(encoding === "superjson" && { [headers.encoding]: encoding }),
    };
    return { status: 200, headers: fields, body };
  }

  /** Also before its head is there: middleware may not have waited for it. */
  drop(reason: unknown): void {
    this.exchange.expire(reason as Error);
  }

  /** The guard runs again after this time, in ms. */
  get #ageMs(): number | undefined {
    const { streamAgeMs } = this.parts.limits;
    return this.#guard === undefined ? streamAgeMs : (streamAgeMs ?? guardMs);
  }

  /** Of callers from outside. */
  get #guard(): string | undefined {
    return this.exchange.trust.inner ? undefined : this.procedure.guard;
  }

  /** Rejects if the guard refuses the reader. */
  async #grewOld(): Promise<void> {
    const guard = this.#guard;
    const { host, limits } = this.parts;
    if (guard === undefined)
      throw new DeadlineExceeded(`The stream is over the limit of ${limits.streamAgeMs} ms`);
    const until = host.clock.now() + limits.callTimeoutMs;
    await pass(this.parts, guard, this.exchange, undefined, until);
  }

  /** Sent by a reader that has received the rest before. */
  get #lastId(): string {
    return headerText(this.exchange.request.headers["last-event-id"]);
  }

  async #faultOf(thrown: unknown): Promise<string> {
    const { exchange } = this;
    const encoding = exchange.encoding === "superjson" ? "superjson" : "serialized";
    // An error in JSON is one text.
    return (await this.#refuse(thrown, exchange, encoding)).body as string;
  }

  #sayAbandoned(): void {
    this.parts.host.log.warn(
      `the stream of ${this.exchange.fqn} has not ended ${cleanUpMs} ms after its reader left: its procedure waits for something that doesn't know of its signal`,
    );
  }
}
