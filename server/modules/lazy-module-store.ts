// A store of modules for a service that may never need one.

import type { ModuleStore, ModuleStoreOptions } from "./module-store.ts";

/**
 * A {@link ModuleStore} whose code is loaded when somebody first asks it: a proxy or a gateway needs
 * modules only for middleware that looks at values, a repository only for those that it is
 * configured with.
 */
export function lazyModuleStore(options: ModuleStoreOptions): ModuleStore {
  let opened: Promise<ModuleStore> | undefined;
  const store = (): Promise<ModuleStore> =>
    (opened ??= import("./module-store.ts").then(({ createModuleStore }) =>
      createModuleStore(options),
    ));
  return {
    manifest: async () => await (await store()).manifest(),
    prepare: async (files) => await (await store()).prepare(files),
    import: async (file) => await (await store()).import(file),
    close: async () => await (await opened)?.close(),
  };
}
