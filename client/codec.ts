// /svc/codec.js: values that JSON by itself can't carry, files among them, and errors. /svc/remote.js loads it on demand.

import { NodeNotAvailable } from "../src/base/errors.ts";
import type { Manifest } from "../src/base/manifest.ts";
import { headers } from "../src/base/protocol.ts";
import { ClassTable } from "../src/codec/class-table.ts";
import { createCodec } from "../src/wire/outgoing/remote-codec.ts";
import type { CallCodec } from "../src/wire/outgoing/send-call.ts";
import type { ModuleFiles } from "./module-files.ts";
import type { PageWithRevision } from "./outdated.ts";

interface PageWithModules extends PageWithRevision {
  readonly files: ModuleFiles;
  readonly rare: () => Promise<{ checkRevision(page: PageWithRevision): Promise<void> }>;
}

/** Errors of calls from a page of another build, which are rare otherwise. */
const misfits =
  /^(ProcedureNotFound|UnknownParameter|MissingParameterValue|InvalidSerializedValue)$/;

/** The codec of a page, with the classes of its application. */
export function createPageCodec(page: PageWithModules): CallCodec {
  const { files, revisions } = page;
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
  return createCodec({
    classes,
    onError: (_, { status, headers: fields }) => {
      // A good answer that can't be read has a class that isn't here.
      if (status < 300 || (status < 500 && misfits.test(String(fields[headers.error]))))
        page
          .rare()
          .then(({ checkRevision }) => checkRevision(page))
          // The next such error checks again.
          .catch(() => {});
    },
  });
}
