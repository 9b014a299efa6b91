// `defineConfig`: the configuration of a main file of one's own, checked while it is typed.

import type { ConfigInput } from "./config-types.ts";

// Not generic: a type inferred from the object would have every key of it, and none would be marked.
/**
 * The configuration as it is given, for `startServer(importer, { config: defineConfig({ … }) })`: editors complete its keys, and mark those that
 * its `mode` doesn't have. What no type can say (an address, a name given twice) is checked at the start, as for a file.
 */
export function defineConfig(config: ConfigInput): ConfigInput {
  return config;
}
