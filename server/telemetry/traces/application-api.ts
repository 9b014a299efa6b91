// Finds the application's own `@opentelemetry/api`.

import { createRequire } from "node:module";
import { join } from "node:path";

import type { OpenTelemetry } from "./tracing.ts";

const name = "@opentelemetry/api";

/**
 * The api that the application has installed, if it has. All copies of it find the same SDK, whenever
 * that is registered.
 */
export function applicationApi(root: string): OpenTelemetry | undefined {
  const require = createRequire(join(root, "package.json"));
  try {
    require.resolve(name);
  } catch {
    // It isn't installed: requests get their ids, and spans aren't recorded.
    return undefined;
  }
  return require(name) as OpenTelemetry;
}
