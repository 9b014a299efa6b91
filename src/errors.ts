// Every error of the runtime, declared once with its name, status and default message (§7, decisions §4).
// Recognition is by brand, not by identity alone: an application's bundle and /svc/client.js may each hold a copy.
// All but Teapot are built from a message, so that each can be rebuilt from the wire by its name.

const brand: unique symbol = Symbol.for("seamline.error");

/** Base of all errors that carry an HTTP status (§7.1). Extend one of the classes below to inherit its status. */
export class ServiceError extends Error {
  static readonly status: number = 500;
  /** The framework class that this is; an application's subclass inherits that of its parent. */
  static readonly kind: string = "ServiceError";
  override readonly name: string = "ServiceError";

  static {
    // The framework classes in an error's ancestry, for `instanceof` between copies of this module.
    Object.defineProperty(this.prototype, brand, {
      get(this: ServiceError) {
        const kinds: string[] = [];
        for (
          let one = this.constructor as typeof ServiceError;
          one?.kind !== undefined;
          one = Object.getPrototypeOf(one) as typeof ServiceError
        )
          kinds.push(one.kind);
        return kinds;
      },
    });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
    if (!Object.hasOwn(this, "kind") || !(value instanceof Error)) return false;
    return (value as { [brand]?: readonly string[] })[brand]?.includes(this.kind) === true;
  }
}

/** 400: the request can't be understood, or asks for something that makes no sense. */
export class BadRequest extends ServiceError {
  static override readonly status: number = 400;
  static override readonly kind: string = "BadRequest";
  override readonly name: string = "BadRequest";
  constructor(message = "Invalid request", options?: ErrorOptions) {
    super(message, options);
  }
}

/** 400: required parameters were not given (§4.2). The message names all of them. */
export class MissingParameterValue extends BadRequest {
  static override readonly kind: string = "MissingParameterValue";
  override readonly name: string = "MissingParameterValue";
}

/** 400: parameters were given that the procedure doesn't have (§4.2). The message names all of them. */
export class UnknownParameter extends BadRequest {
  static override readonly kind: string = "UnknownParameter";
  override readonly name: string = "UnknownParameter";
}

/** 400: a parameter's value is not of the kind that the procedure declares. */
export class InvalidParameterValue extends BadRequest {
  static override readonly kind: string = "InvalidParameterValue";
  override readonly name: string = "InvalidParameterValue";
}

/** 400: text that is no version (§7.2, §9.2). */
export class InvalidVersionNumber extends BadRequest {
  static override readonly kind: string = "InvalidVersionNumber";
  override readonly name: string = "InvalidVersionNumber";
}

/** 400: a serialized form that is none, or that names what the application doesn't have (decisions §3). */
export class InvalidSerializedValue extends BadRequest {
  static override readonly kind: string = "InvalidSerializedValue";
  override readonly name: string = "InvalidSerializedValue";
}

/** 401: nobody knows who asks. */
export class Unauthorized extends ServiceError {
  static override readonly status: number = 401;
  static override readonly kind: string = "Unauthorized";
  override readonly name: string = "Unauthorized";
  constructor(message = "Unauthorized", options?: ErrorOptions) {
    super(message, options);
  }
}

/** 402: it costs something. */
export class PaymentRequired extends ServiceError {
  static override readonly status: number = 402;
  static override readonly kind: string = "PaymentRequired";
  override readonly name: string = "PaymentRequired";
  constructor(message = "Payment required", options?: ErrorOptions) {
    super(message, options);
  }
}

/** 403: known, and not allowed. */
export class Forbidden extends ServiceError {
  static override readonly status: number = 403;
  static override readonly kind: string = "Forbidden";
  override readonly name: string = "Forbidden";
  constructor(message = "Forbidden", options?: ErrorOptions) {
    super(message, options);
  }
}

/** 404: what was asked for is not there. */
export class NotFound extends ServiceError {
  static override readonly status: number = 404;
  static override readonly kind: string = "NotFound";
  override readonly name: string = "NotFound";
  constructor(message = "Not found", options?: ErrorOptions) {
    super(message, options);
  }
}

/** 404: no node has the procedure, or not in this version, or outsiders may not know of it (§7.2). */
export class ProcedureNotFound extends NotFound {
  static override readonly kind: string = "ProcedureNotFound";
  override readonly name: string = "ProcedureNotFound";
}

/** 404: no such file, or none that is public (§4.3). */
export class FileNotFound extends NotFound {
  static override readonly kind: string = "FileNotFound";
  override readonly name: string = "FileNotFound";
}

/** 404: a configuration or `startClient` names a segment that isn't there (§2.4, §4.6). */
export class SegmentNotFound extends NotFound {
  static override readonly kind: string = "SegmentNotFound";
  override readonly name: string = "SegmentNotFound";
}

/** 405: only GET and POST are there for calls (§8). */
export class MethodNotAllowed extends ServiceError {
  static override readonly status: number = 405;
  static override readonly kind: string = "MethodNotAllowed";
  override readonly name: string = "MethodNotAllowed";
  constructor(message = "Method not allowed", options?: ErrorOptions) {
    super(message, options);
  }
}

/** 413: a body over the limit (decisions §3, limits). */
export class PayloadTooLarge extends ServiceError {
  static override readonly status: number = 413;
  static override readonly kind: string = "PayloadTooLarge";
  override readonly name: string = "PayloadTooLarge";
  constructor(message = "Payload too large", options?: ErrorOptions) {
    super(message, options);
  }
}

/** 415: a content type or a data encoding that the service doesn't read (decisions §2, §3). */
export class UnsupportedEncoding extends ServiceError {
  static override readonly status: number = 415;
  static override readonly kind: string = "UnsupportedEncoding";
  override readonly name: string = "UnsupportedEncoding";
  constructor(message = "Unsupported encoding", options?: ErrorOptions) {
    super(message, options);
  }
}

/** 418: its message can't be changed (§7.1). */
export class Teapot extends ServiceError {
  static override readonly status: number = 418;
  static override readonly kind: string = "Teapot";
  override readonly name: string = "Teapot";
  constructor() {
    super("I'm a teapot");
  }
}

/** 500: a result or an argument that no encoding can carry; the message holds the path to it (decisions §2). */
export class ValueNotSerializable extends ServiceError {
  static override readonly kind: string = "ValueNotSerializable";
  override readonly name: string = "ValueNotSerializable";
}

/** 500: a middleware that did not call `next` (§4.8). */
export class MiddlewareNotCompleted extends ServiceError {
  static override readonly kind: string = "MiddlewareNotCompleted";
  override readonly name: string = "MiddlewareNotCompleted";
}

/** 501: it may be there one day. */
export class NotImplemented extends ServiceError {
  static override readonly status: number = 501;
  static override readonly kind: string = "NotImplemented";
  override readonly name: string = "NotImplemented";
  constructor(message = "Not implemented", options?: ErrorOptions) {
    super(message, options);
  }
}

/** 502: another service answered something that is no answer (decisions §4). */
export class BadGateway extends ServiceError {
  static override readonly status: number = 502;
  static override readonly kind: string = "BadGateway";
  override readonly name: string = "BadGateway";
  constructor(message = "Bad gateway", options?: ErrorOptions) {
    super(message, options);
  }
}

/** 503: the procedure is known, but no node can take the call now (decisions §4). */
export class NodeNotAvailable extends ServiceError {
  static override readonly status: number = 503;
  static override readonly kind: string = "NodeNotAvailable";
  override readonly name: string = "NodeNotAvailable";
  constructor(message = "No node is available", options?: ErrorOptions) {
    super(message, options);
  }
}

/** 504: the time for the call has passed (decisions §4). */
export class DeadlineExceeded extends ServiceError {
  static override readonly status: number = 504;
  static override readonly kind: string = "DeadlineExceeded";
  override readonly name: string = "DeadlineExceeded";
  constructor(message = "Deadline exceeded", options?: ErrorOptions) {
    super(message, options);
  }
}

/** 508: the call has passed more services than it may (decisions §4). */
export class LoopDetected extends ServiceError {
  static override readonly status: number = 508;
  static override readonly kind: string = "LoopDetected";
  override readonly name: string = "LoopDetected";
  constructor(message = "Loop detected", options?: ErrorOptions) {
    super(message, options);
  }
}

/** The framework's classes by their name on the wire. @internal */
export const frameworkErrors: ReadonlyMap<string, new (message?: string, options?: ErrorOptions) => ServiceError> = new Map(
  [
    ServiceError,
    BadRequest,
    MissingParameterValue,
    UnknownParameter,
    InvalidParameterValue,
    InvalidVersionNumber,
    InvalidSerializedValue,
    Unauthorized,
    PaymentRequired,
    Forbidden,
    NotFound,
    ProcedureNotFound,
    FileNotFound,
    SegmentNotFound,
    MethodNotAllowed,
    PayloadTooLarge,
    UnsupportedEncoding,
    Teapot,
    ValueNotSerializable,
    MiddlewareNotCompleted,
    NotImplemented,
    BadGateway,
    NodeNotAvailable,
    DeadlineExceeded,
    LoopDetected,
  ].map((one) => [one.kind, one]),
);

/** The HTTP status of whatever was thrown (§7.1): the only mapping there is. */
export function statusOf(thrown: unknown): number {
  return thrown instanceof ServiceError ? ((thrown.constructor as typeof ServiceError).status ?? 500) : 500;
}
