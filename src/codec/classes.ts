// The class tables of services, which do more than those of pages.

import { ClassTable, type FormWalk, Opaque, type OpaqueParts } from "./class-table.ts";
import { readMembers } from "./decode.ts";
import { encodeErrorForm } from "./error-form.ts";
import { unlimited } from "../base/limits.ts";
import { refusalOf } from "./values/refusal.ts";
import { walkParts } from "./values/walk.ts";

const { isPrototypeOf } = Object.prototype;

/** The classes of a service. Unlike a page, a service sends errors. */
export class Classes extends ClassTable {
  /**
   * Registers the application's classes with these names that aren't registered yet: middleware
   * may throw errors of classes that no procedure here uses.
   */
  loadByName?: (names: ReadonlySet<string>) => Promise<void>;

  /** Whether a value is an instance of the class with this key, or of one that extends it. */
  readonly isInstance = (key: string, value: object): boolean => {
    const known = this.get(key);
    // Not by `instanceof`, which a class may change.
    return known !== undefined && isPrototypeOf.call(known.constructor.prototype as object, value);
  };

  override errorForm(error: Error, walk: FormWalk): object {
    return encodeErrorForm(error, walk);
  }

  override refusal(value: object): string | undefined {
    return refusalOf(value);
  }

  override opaqueForm(value: object, walk: FormWalk): unknown {
    if (!(value instanceof Opaque)) return undefined;
    const { form, parts } = value;
    if (parts === undefined) return form;
    return {
      serialized: true,
      name: "class",
      key: parts.key,
      args: walkParts(parts.args, walk),
      fields: walkParts(parts.fields, walk),
    };
  }
}

/** The classes of a service without modules: instances pass through it unopened. */
export class OpaqueClasses extends Classes {
  override passOn(form: unknown, parts?: OpaqueParts): Opaque {
    // The limits were checked when the message came in.
    return new Opaque(form, parts, (members) =>
      readMembers(members, { classes: this, limits: unlimited, trusted: true, objects: 0 }),
    );
  }
}
