// Every error of the runtime, declared once with its name, status and default message.
// Recognition is by brand, not by identity alone: an application's bundle and /svc/client.js may each hold a copy.
// All but Teapot are built from a message, so that each can be rebuilt from the wire by its name.

const brand: unique symbol = Symbol.for("seamline.error");

/** Base of all errors that carry an HTTP status (§7.1). Extend one of the classes below to inherit its status. */
export class ServiceError extends Error {
  static readonly status: number = 500;
  /** The framework class that this is; an application's subclass inherits that of its parent. */
  static readonly kind: string = "ServiceError";
  /** @internal */
  static readonly defaultMessage: string = "";
  /** The framework class's name unless a subclass sets its own. Never the class's `name`, which minifiers change. */
  override readonly name: string;

  constructor(message?: string, options?: ErrorOptions) {
    super(message ?? new.target.defaultMessage, options);
    this.name = new.target.kind;
  }

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
  static override readonly defaultMessage: string = "Invalid request";
}

/** 400: required parameters were not given (§4.2). The message names all of them. */
export class MissingParameterValue extends BadRequest {
  static override readonly kind: string = "MissingParameterValue";
}

/** 400: parameters were given that the procedure doesn't have (§4.2). The message names all of them. */
export class UnknownParameter extends BadRequest {
  static override readonly kind: string = "UnknownParameter";
}

/** 400: a parameter's value is not of the kind that the procedure declares. */
export class InvalidParameterValue extends BadRequest {
  static override readonly kind: string = "InvalidParameterValue";
}

/** 400: text that is no version (§7.2, §9.2). */
export class InvalidVersionNumber extends BadRequest {
  static override readonly kind: string = "InvalidVersionNumber";
}

/** 400: a serialized form that is none, or that names what the application doesn't have (decisions §3). */
export class InvalidSerializedValue extends BadRequest {
  static override readonly kind: string = "InvalidSerializedValue";
}

/** 401: nobody knows who asks. */
export class Unauthorized extends ServiceError {
  static override readonly status: number = 401;
  static override readonly kind: string = "Unauthorized";
  static override readonly defaultMessage: string = "Unauthorized";
}

/** 402: it costs something. */
export class PaymentRequired extends ServiceError {
  static override readonly status: number = 402;
  static override readonly kind: string = "PaymentRequired";
  static override readonly defaultMessage: string = "Payment required";
}

/** 403: known, and not allowed. */
export class Forbidden extends ServiceError {
  static override readonly status: number = 403;
  static override readonly kind: string = "Forbidden";
  static override readonly defaultMessage: string = "Forbidden";
}

/** 404: what was asked for is not there. */
export class NotFound extends ServiceError {
  static override readonly status: number = 404;
  static override readonly kind: string = "NotFound";
  static override readonly defaultMessage: string = "Not found";
}

/** 404: no node has the procedure, or not in this version, or outsiders may not know of it (§7.2). */
export class ProcedureNotFound extends NotFound {
  static override readonly kind: string = "ProcedureNotFound";
}

/** 404: no such file, or none that is public (§4.3). */
export class FileNotFound extends NotFound {
  static override readonly kind: string = "FileNotFound";
}

/** 404: a configuration or `startClient` names a segment that isn't there (§2.4, §4.6). */
export class SegmentNotFound extends NotFound {
  static override readonly kind: string = "SegmentNotFound";
}

/** 405: only GET and POST are there for calls (§8). */
export class MethodNotAllowed extends ServiceError {
  static override readonly status: number = 405;
  static override readonly kind: string = "MethodNotAllowed";
  static override readonly defaultMessage: string = "Method not allowed";
}

/** 408: the request's body didn't arrive in time. */
export class RequestTimeout extends ServiceError {
  static override readonly status: number = 408;
  static override readonly kind: string = "RequestTimeout";
  static override readonly defaultMessage: string = "Request timeout";
}

/** 413: a body over the limit (decisions §3, limits). */
export class PayloadTooLarge extends ServiceError {
  static override readonly status: number = 413;
  static override readonly kind: string = "PayloadTooLarge";
  static override readonly defaultMessage: string = "Payload too large";
}

/** 415: a content type or a data encoding that the service doesn't read (decisions §2, §3). */
export class UnsupportedEncoding extends ServiceError {
  static override readonly status: number = 415;
  static override readonly kind: string = "UnsupportedEncoding";
  static override readonly defaultMessage: string = "Unsupported encoding";
}

/** 418: its message can't be changed (§7.1). */
export class Teapot extends ServiceError {
  static override readonly status: number = 418;
  static override readonly kind: string = "Teapot";
  static override readonly defaultMessage: string = "I'm a teapot";
  constructor() {
    super(Teapot.defaultMessage);
  }
}

/** 421: the request names a host that isn't one of this service's. */
export class MisdirectedRequest extends ServiceError {
  static override readonly status: number = 421;
  static override readonly kind: string = "MisdirectedRequest";
  static override readonly defaultMessage: string = "Misdirected request";
}

/** 431: more header fields, or bytes of them, than the limits allow. */
export class RequestHeaderFieldsTooLarge extends ServiceError {
  static override readonly status: number = 431;
  static override readonly kind: string = "RequestHeaderFieldsTooLarge";
  static override readonly defaultMessage: string = "Request header fields too large";
}

/** 500: a result or an argument that no encoding can carry; the message holds the path to it (decisions §2). */
export class ValueNotSerializable extends ServiceError {
  static override readonly kind: string = "ValueNotSerializable";
}

/** 500: a middleware that did not call `next` (§4.8). */
export class MiddlewareNotCompleted extends ServiceError {
  static override readonly kind: string = "MiddlewareNotCompleted";
}

/** 501: it may be there one day. */
export class NotImplemented extends ServiceError {
  static override readonly status: number = 501;
  static override readonly kind: string = "NotImplemented";
  static override readonly defaultMessage: string = "Not implemented";
}

/** 502: another service answered something that is no answer (decisions §4). */
export class BadGateway extends ServiceError {
  static override readonly status: number = 502;
  static override readonly kind: string = "BadGateway";
  static override readonly defaultMessage: string = "Bad gateway";
}

/** 503: the procedure is known, but no node can take the call now (decisions §4). */
export class NodeNotAvailable extends ServiceError {
  static override readonly status: number = 503;
  static override readonly kind: string = "NodeNotAvailable";
  static override readonly defaultMessage: string = "No node is available";
}

/** 504: the time for the call has passed (decisions §4). */
export class DeadlineExceeded extends ServiceError {
  static override readonly status: number = 504;
  static override readonly kind: string = "DeadlineExceeded";
  static override readonly defaultMessage: string = "Deadline exceeded";
}

/** 508: the call has passed more services than it may (decisions §4). */
export class LoopDetected extends ServiceError {
  static override readonly status: number = 508;
  static override readonly kind: string = "LoopDetected";
  static override readonly defaultMessage: string = "Loop detected";
}

/** The framework's classes by their name on the wire. @internal */
export const frameworkErrors: ReadonlyMap<
  string,
  new (message?: string, options?: ErrorOptions) => ServiceError
> = new Map(
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
    RequestTimeout,
    PayloadTooLarge,
    UnsupportedEncoding,
    Teapot,
    MisdirectedRequest,
    RequestHeaderFieldsTooLarge,
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
  return thrown instanceof ServiceError
    ? ((thrown.constructor as typeof ServiceError).status ?? 500)
    : 500;
}

/** What a call is told for which there is no room. */
export function noRoom(): NodeNotAvailable {
  return new NodeNotAvailable("This service holds as much for its callers as it may; try again");
}
