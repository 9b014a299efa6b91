// The base below which pages are, in a service without a build: its repository says it.

import { bounded } from "../../base/aborts.ts";
import type { Host } from "../../base/ports.ts";
import { browserManifestPath, serviceHeaders } from "../../base/protocol.ts";
import { type BasePath, fixedBase } from "../../http/base-path.ts";
import { discard } from "../../http/bodies.ts";

/** How long the repository may take to answer. */
const answerTimeoutMs = 2_000;
/** How often it is asked: the next build may have another base. */
const intervalMs = 5_000;

export class KnownBase implements BasePath {
  readonly #host: Pick<Host, "clock" | "transport">;
  readonly #repository: string;
  #path: string | undefined;
  #asking: Promise<void> | undefined;
  #isStopped = false;
  #cancel = (): void => {};

  constructor(host: Pick<Host, "clock" | "transport">, repository: string) {
    this.#host = host;
    this.#repository = repository;
  }

  get path(): string | undefined {
    return this.#path;
  }

  find(): Promise<void> {
    return (this.#asking ??= this.#ask().finally(() => (this.#asking = undefined)));
  }

  /** Asks once, and goes on asking. */
  async start(): Promise<void> {
    await this.find();
    if (!this.#isStopped)
      this.#cancel = this.#host.clock.after(intervalMs, () => void this.start());
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  async #ask(): Promise<void> {
    const { clock, transport } = this.#host;
    const url = this.#repository + browserManifestPath;
    try {
      const answer = await bounded(
        undefined,
        clock,
        answerTimeoutMs,
        () => new Error(`${url} gave no answer`),
        (signal) => transport.send({ url, method: "HEAD", headers: {}, signal, control: true }),
      );
      discard(answer.body);
      if (answer.status === 200)
        this.#path = fixedBase(String(answer.headers[serviceHeaders.base] ?? "/")).path;
    } catch {
      // Whoever needs the repository for more than this says that it is away.
    }
  }
}
