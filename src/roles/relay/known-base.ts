// The base of pages, in a service without a build: asks its repository.

import { bounded } from "../../base/aborts.ts";
import type { Clock, Peer } from "../../base/ports.ts";
import { anyUpstream, browserManifestPath, serviceHeaders } from "../../base/protocol.ts";
import { type BasePath, fixedBase } from "../../http/base-path.ts";
import { discard } from "../../http/bodies.ts";
import { answerMs } from "../common/times.ts";

/**
 * A repository serves one build for as long as it runs, so it is asked over each new link, and by requests
 * that come before there was an answer.
 */
export class KnownBase implements BasePath {
  readonly #clock: Clock;
  readonly #repository: Peer;
  #path: string | undefined;
  #asking: Promise<void> | undefined;

  constructor(clock: Clock, repository: Peer) {
    this.#clock = clock;
    this.#repository = repository;
  }

  get path(): string | undefined {
    return this.#path;
  }

  find(): Promise<void> {
    return (this.#asking ??= this.#ask().finally(() => (this.#asking = undefined)));
  }

  async #ask(): Promise<void> {
    const repository = this.#repository;
    const url = anyUpstream + browserManifestPath;
    try {
      const answer = await bounded(
        undefined,
        this.#clock,
        answerMs.base,
        () => new Error("no answer"),
        (signal) =>
          repository.send({ url, method: "HEAD", headers: {}, from: "key", signal, control: true }),
      );
      discard(answer.body);
      if (answer.status === 200)
        this.#path = fixedBase(String(answer.headers[serviceHeaders.base] ?? "/")).path;
    } catch {
      // A repository that is away is reported by code that needs it for more than this.
    }
  }
}
