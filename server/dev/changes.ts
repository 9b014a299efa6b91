// Applies changes of the sources one after another, so that each sees one state of them.

export class Changes {
  readonly #apply: (files: ReadonlySet<string>, since: number) => Promise<void>;
  /** When the change of each file was seen. */
  #pending = new Map<string, number>();
  #isScheduled = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(apply: (files: ReadonlySet<string>, since: number) => Promise<void>) {
    this.#apply = apply;
  }

  /**
   * Applies a changed file as soon as the current change is done. All files that change until then
   * are applied together, for example when a branch is checked out. With `windowMs`, waits that
   * long for more files first.
   */
  add(file: string, windowMs = 0): void {
    if (!this.#pending.has(file)) this.#pending.set(file, performance.now());
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    void this.run(async () => {
      if (windowMs > 0) await new Promise((resolve) => setTimeout(resolve, windowMs));
      this.#isScheduled = false;
      const files = this.#pending;
      this.#pending = new Map();
      await this.#apply(new Set(files.keys()), Math.min(...files.values()));
    });
  }

  /** Runs `act` after everything before it. */
  async run<T>(act: () => Promise<T>): Promise<T> {
    const result = this.#last.then(act);
    this.#last = result.catch(() => {});
    return await result;
  }

  /** Resolves when all changes so far are applied. */
  async settled(): Promise<void> {
    await this.#last;
  }
}
