// `defineConfig`: type checking and completion for a configuration in TypeScript.

import type { ConfigInput } from "./config-types.ts";

// Not generic: an inferred type would accept any key.
/**
 * Returns its argument, for `startServer(importer, { config: defineConfig({ … }) })`. Editors
 * complete its keys and mark those that its `mode` doesn't have. What types can't express, such as
 * a valid address, is checked at the start, as for a file.
 */
export function defineConfig(config: ConfigInput): ConfigInput {
  return config;
}
