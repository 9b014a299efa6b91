// Starts the worker that runs mutants, and replaces it when a mutant hangs or after many mutants.
import { fork } from "node:child_process";
import { join } from "node:path";

/**
 * @typedef {import("./worker.mjs").Order} Order
 * @typedef {import("./worker.mjs").FileResult} FileResult
 * @typedef {"hung" | FileResult[]} Outcome
 */

// Native imports of tests are never freed, so a worker's memory grows.
const ordersPerWorker = 100;

export class Runner {
  /** @type {Promise<import("node:child_process").ChildProcess> | undefined} */
  #worker;
  #orders = 0;

  /**
   * Runs test files one after the other, in a worker that may have run others before.
   * @param {Order} order
   * @param {number} limitMs
   * @returns {Promise<Outcome>}
   */
  async run(order, limitMs) {
    if (++this.#orders > ordersPerWorker) await this.restart();
    const worker = await (this.#worker ??= start());
    /** @type {Outcome} */
    const outcome = await new Promise((resolve) => {
      const settle = (/** @type {Outcome} */ value) => {
        clearTimeout(timer);
        worker.off("message", settle).off("exit", hung);
        resolve(value);
      };
      const hung = () => settle("hung");
      const timer = setTimeout(hung, limitMs);
      worker.on("message", settle).on("exit", hung);
      worker.send(order);
    });
    if (outcome === "hung") await this.restart();
    return outcome;
  }

  /** Ends the worker; the next run starts a new one. */
  async restart() {
    const worker = await this.#worker;
    this.#worker = undefined;
    this.#orders = 0;
    worker?.kill("SIGKILL");
  }
}

/** @returns {Promise<import("node:child_process").ChildProcess>} */
function start() {
  return new Promise((resolve, reject) => {
    const worker = fork(join(import.meta.dirname, "worker.mjs"), {
      execArgv: ["--max-old-space-size=1536"],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    worker.once("message", () => resolve(worker));
    worker.once("exit", (code) => reject(new Error(`The worker ended with ${code}`)));
  });
}
