// /svc/codec.js: values that JSON by itself can't carry, and errors. /svc/remote.js loads it on demand.

import { NodeNotAvailable } from "../../src/base/errors.ts";
import type { Manifest } from "../../src/base/manifest.ts";
import { ClassTable } from "../../src/codec/class-table.ts";
import { createCodec } from "../../src/wire/outgoing/remote-codec.ts";
import type { CallCodec } from "../../src/wire/outgoing/send-call.ts";
import type { ModuleFiles } from "../module-files.ts";
import type { Revisions } from "../revisions.ts";

interface PageWithModules {
  readonly files: ModuleFiles;
  readonly revisions: Revisions;
}

/** The codec of a page, with the classes of its application. */
export function createPageCodec({ files, revisions }: PageWithModules): CallCodec {
  const classes = new ClassTable();
  const loadClasses = async (manifest: Manifest): Promise<void> => {
    await Promise.all(
      manifest.classes.map(async (record) => {
        // A manifest that records a class also has its module.
        const { [record.module]: module } = manifest.modules;
        classes.register(record, (await files.import(module?.file as string))[record.export]);
      }),
    );
  };
  let loaded: Promise<void> | undefined;
  // Runs once, when a value first needs a class.
  classes.load = () =>
    (loaded ??= revisions.use(loadClasses).then(
      () => (classes.load = undefined),
      (cause: unknown) => {
        loaded = undefined;
        throw new NodeNotAvailable("Can't load classes", { cause });
      },
    ));
  return createCodec({ classes });
}
