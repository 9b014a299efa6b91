// A thread that lints documents: the packages' source maps name files that they don't have, which Vitest
// would say of each of their modules.
import { parentPort } from "node:worker_threads";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Validator } from "@seriousme/openapi-schema-validator";

const config = await createConfig({ extends: ["recommended"] });
/** Of these rules only the author of an application can do anything. */
const byTheAuthor = new Set(["info-license", "tag-description"]);

parentPort?.on("message", async (/** @type {string} */ source) => {
  const { valid, errors } = await new Validator().validate(JSON.parse(source));
  const linted = await lintFromString({ source, config, absoluteRef: "/openapi.json" });
  const problems = linted
    .filter(({ ruleId }) => !byTheAuthor.has(ruleId))
    .map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`);
  if (!valid) problems.push(JSON.stringify(errors));
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
  parentPort?.postMessage(problems);
});
