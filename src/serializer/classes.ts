// The classes of services: what goes beyond those of pages.

import { ClassTable, Opaque, type OpaqueParts } from "./class-table.ts";
import { readMembers } from "./decode.ts";
import { encodeErrorForm } from "./error-form.ts";
import type { FormWalk } from "./walk.ts";

/** The classes of a service, which sends errors as well. */
export class Classes extends ClassTable {
  override errorForm(error: Error, walk: FormWalk): object {
    return encodeErrorForm(error, walk);
  }
}

// What is passed on was measured where it came in.
const limits = { depth: Infinity, values: Infinity, objects: Infinity, digits: Infinity };

/** The classes of a service that has no modules: instances pass through it unopened. */
export class OpaqueClasses extends Classes {
  override passOn(form: unknown, parts?: OpaqueParts): Opaque {
    return new Opaque(form, parts, (members) =>
      readMembers(members, { classes: this, limits, trusted: true, objects: 0 }),
    );
  }
}
