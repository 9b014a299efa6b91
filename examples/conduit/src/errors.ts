// Errors that procedures throw. The page finds these classes by `instanceof`, and the HTTP API sends `errors`.
import {
  Forbidden,
  type InvalidParameterValue,
  NotFound,
  ServiceError,
  Unauthorized,
} from "seamline";

/** The problems of each field. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** A schema's issues by field, in lines such as `article.tagList[1]: can't be blank`. */
export function refused({ message }: InvalidParameterValue): FieldErrors {
  const errors: Record<string, string[]> = {};
  for (const [, field = "", text = ""] of message.matchAll(/^(?:\w+\.)?(\w+)\S*: (.+)$/gm))
    (errors[field] ??= []).push(text);
  return errors;
}

/** A value doesn't fit its field. */
export class Invalid extends ServiceError {
  static override readonly status: number = 422;
  override readonly name = "Invalid";
  readonly errors: FieldErrors;

  constructor(errors: FieldErrors) {
    super(sentences(errors));
    this.errors = errors;
  }
}

/** Another user has this name or address. */
export class Taken extends ServiceError {
  static override readonly status: number = 409;
  override readonly name = "Taken";
  readonly field: string;

  constructor(field: string) {
    super(`${field} has already been taken`);
    this.field = field;
  }

  get errors(): FieldErrors {
    return { [this.field]: ["has already been taken"] };
  }
}

export class NotSignedIn extends Unauthorized {
  override readonly name = "NotSignedIn";

  constructor() {
    super("Sign in first");
  }

  get errors(): FieldErrors {
    return { token: ["is missing"] };
  }
}

export class WrongCredentials extends Unauthorized {
  override readonly name = "WrongCredentials";

  constructor() {
    super("Wrong email or password");
  }

  get errors(): FieldErrors {
    return { credentials: ["invalid"] };
  }
}

export type Thing = "article" | "avatar" | "comment" | "profile";

export class NotThere extends NotFound {
  override readonly name = "NotThere";
  readonly thing: Thing;

  constructor(thing: Thing) {
    super(`There is no such ${thing}`);
    this.thing = thing;
  }

  get errors(): FieldErrors {
    return { [this.thing]: ["not found"] };
  }
}

export class NotYours extends Forbidden {
  override readonly name = "NotYours";
  readonly thing: Thing;

  constructor(thing: Thing) {
    super(`This ${thing} belongs to another user`);
    this.thing = thing;
  }

  get errors(): FieldErrors {
    return { [this.thing]: ["forbidden"] };
  }
}

function sentences(errors: FieldErrors): string {
  return Object.entries(errors)
    .map(([field, texts]) => `${field} ${texts.join(" and ")}`)
    .join(", ");
}
