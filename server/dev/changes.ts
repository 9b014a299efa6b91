// What is done to a session is done one thing after another: two at once would see two states of the sources.

export class Changes {
  readonly #apply: (files: ReadonlySet<string>, since: number) => Promise<void>;
  /** When each was seen to be another one. */
  #pending = new Map<string, number>();
  #isScheduled = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(apply: (files: ReadonlySet<string>, since: number) => Promise<void>) {
    this.#apply = apply;
  }

  /**
   * All files that change while something else goes on are one change: a branch that is checked out, for one. With `patience` it waits so
   * many ms for others first.
   */
  heard(file: string, patience = 0): void {
    if (!this.#pending.has(file)) this.#pending.set(file, performance.now());
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    void this.run(async () => {
      if (patience > 0) await new Promise((resolve) => setTimeout(resolve, patience));
      this.#isScheduled = false;
      const files = this.#pending;
      this.#pending = new Map();
      await this.#apply(new Set(files.keys()), Math.min(...files.values()));
    });
  }

  /** Runs `act` when everything before has come to its end. */
  async run<T>(act: () => Promise<T>): Promise<T> {
    const ran = this.#last.then(act);
    this.#last = ran.catch(() => {});
    return await ran;
  }

  /** Resolves when all that was heard so far is done. */
  async settled(): Promise<void> {
    await this.#last;
  }
}
