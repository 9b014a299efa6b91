// A reporter of Vitest, beside its JSON: that has only tests, and a run also fails by what happens outside of them.
import { writeFile } from "node:fs/promises";

/** Where the errors go. */
export const unhandledFile = "SEAMLINE_UNHANDLED_ERRORS";

/** @typedef {{ file?: string | undefined, message: string }} UnhandledError `file` is absolute, and missing if it is unknown */

/** As Vitest calls a reporter. */
// oxlint-disable-next-line import/no-default-export -- Vitest asks for it
export default class UnhandledErrors {
  /**
   * @param {readonly import("vitest/node").TestModule[]} modules
   * @param {readonly { message: string, cause?: { message?: string }, VITEST_TEST_PATH?: string }[]} errors
   */
  async onTestRunEnd(modules, errors) {
    // A process that ends takes its file along, which then is in no other report.
    const lost = modules.filter((module) => ["queued", "pending"].includes(module.state()));
    /** @type {UnhandledError[]} */
    const unhandled = lost.map(({ moduleId }) => ({
      file: moduleId,
      message: "its process ended before it did",
    }));
    for (const { message, cause, VITEST_TEST_PATH: file } of errors)
      if (lost.length === 0 || !message.startsWith("[vitest-pool]"))
        unhandled.push({
          file,
          message: [message, cause?.message].filter(Boolean).join(" "),
        });
    await writeFile(/** @type {string} */ (process.env[unhandledFile]), JSON.stringify(unhandled));
  }
}
