// A balancer in front of several proxies: it takes turns between those that say that they are ready.

import { pause } from "./load.ts";

const intervalMs = 100;
/** One that takes longer to say so isn't. */
const answerMs = 1_000;

export class Balancer {
  readonly #urls: readonly string[];
  readonly #ready = new Set<string>();
  #turn = 0;
  #isClosed = false;

  /** All of them are ready. */
  constructor(urls: readonly string[]) {
    this.#urls = urls;
    for (const url of urls) {
      this.#ready.add(url);
      void this.#watch(url);
    }
  }

  /** Where the next call goes. */
  readonly next = (): string => {
    const ready = this.#urls.filter((url) => this.#ready.has(url));
    const urls = ready.length === 0 ? this.#urls : ready;
    return urls[this.#turn++ % urls.length]!;
  };

  close(): void {
    this.#isClosed = true;
  }

  async #watch(url: string): Promise<void> {
    while (!this.#isClosed) {
      if (await isReady(url)) this.#ready.add(url);
      else this.#ready.delete(url);
      await pause(intervalMs);
    }
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(answerMs);
    const answer = await fetch(`${url}/health/ready`, { signal });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    // It listens no more, or not yet.
    return false;
  }
}
