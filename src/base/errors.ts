// Every error of the runtime, declared once with its name, status and default message. They are
// recognised by brand, not only by identity: an application's bundle and /svc/client.js may each
// hold a copy. All but Teapot take a message, so they can be rebuilt from the wire by name.

const brand: unique symbol = Symbol.for("seamline.error");

/**
 * Base of all errors that carry an HTTP status. Extend one of the classes below to inherit its
 * status, or this one with a `static override readonly status` from 400 to 599.
 */
export class ServiceError extends Error {
  static readonly status: number = 500;
  /** Name of the framework class; an application's subclass inherits its parent's. */
  static readonly kind: string = "ServiceError";
  /** Unless the kind says it all: `RequestTimeout`, "Request timeout". @internal */
  static readonly defaultMessage?: string;
  /**
   * The framework class's name unless a subclass sets its own. Never the class's `name`, which
   * minifiers change.
   */
  override readonly name: string;

  constructor(message?: string, options?: ErrorOptions) {
    const { kind, defaultMessage = messageOf(kind) } = new.target;
    super(message ?? defaultMessage, options);
    this.name = kind;
  }

  static {
    // The framework classes in an error's ancestry, for `instanceof` between copies of this module.
    Object.defineProperty(this.prototype, brand, {
      get(this: ServiceError) {
        const kinds: string[] = [];
        for (
          let ancestor = this.constructor as typeof ServiceError;
          ancestor?.kind !== undefined;
          ancestor = Object.getPrototypeOf(ancestor) as typeof ServiceError
        )
          kinds.push(ancestor.kind);
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

function messageOf(kind: string): string {
  // A class that extends ServiceError directly means whatever its application says, so there is no default.
  if (kind === "ServiceError") return "";
  return kind.replace(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** 400: the request can't be understood or makes no sense. */
export class BadRequest extends ServiceError {
  static override readonly status: number = 400;
  static override readonly kind: string = "BadRequest";
  static override readonly defaultMessage: string = "Invalid request";
}

/** 400: required parameters are missing. The message names all of them. */
export class MissingParameterValue extends BadRequest {
  static override readonly kind: string = "MissingParameterValue";
}

/** 400: the procedure doesn't have these parameters. The message names all of them. */
export class UnknownParameter extends BadRequest {
  static override readonly kind: string = "UnknownParameter";
}

/** 400: a parameter's value doesn't have the declared type. */
export class InvalidParameterValue extends BadRequest {
  static override readonly kind: string = "InvalidParameterValue";
}

/** 400: not a version number. */
export class InvalidVersionNumber extends BadRequest {
  static override readonly kind: string = "InvalidVersionNumber";
}

/** 400: a malformed serialized value, or one of a class that the application doesn't have. */
export class InvalidSerializedValue extends BadRequest {
  static override readonly kind: string = "InvalidSerializedValue";
}

/** 401: the caller isn't known. */
export class Unauthorized extends ServiceError {
  static override readonly status: number = 401;
  static override readonly kind: string = "Unauthorized";
}

/** 402: the caller has to pay first. */
export class PaymentRequired extends ServiceError {
  static override readonly status: number = 402;
  static override readonly kind: string = "PaymentRequired";
}

/** 403: the caller is known, but not allowed to do this. */
export class Forbidden extends ServiceError {
  static override readonly status: number = 403;
  static override readonly kind: string = "Forbidden";
}

/** 404: the requested thing doesn't exist. */
export class NotFound extends ServiceError {
  static override readonly status: number = 404;
  static override readonly kind: string = "NotFound";
  static override readonly defaultMessage: string = "Not found";
}

/** 404: no node has the procedure in this version, or callers from outside may not know of it. */
export class ProcedureNotFound extends NotFound {
  static override readonly kind: string = "ProcedureNotFound";
}

/** 404: the file doesn't exist or isn't public. */
export class FileNotFound extends NotFound {
  static override readonly kind: string = "FileNotFound";
}

/** 404: a configuration or `startClient` names a segment that doesn't exist. */
export class SegmentNotFound extends NotFound {
  static override readonly kind: string = "SegmentNotFound";
}

/** 405: calls take GET and POST, and those of safe procedures QUERY. */
export class MethodNotAllowed extends ServiceError {
  static override readonly status: number = 405;
  static override readonly kind: string = "MethodNotAllowed";
}

/** 406: the procedure answers with a stream, which the caller doesn't take. */
export class NotAcceptable extends ServiceError {
  static override readonly status: number = 406;
  static override readonly kind: string = "NotAcceptable";
}

/** 408: the request's body didn't arrive in time. */
export class RequestTimeout extends ServiceError {
  static override readonly status: number = 408;
  static override readonly kind: string = "RequestTimeout";
}

/** 413: the body is larger than the limit. */
export class PayloadTooLarge extends ServiceError {
  static override readonly status: number = 413;
  static override readonly kind: string = "PayloadTooLarge";
}

/** 415: a content type or data encoding that the service doesn't support. */
export class UnsupportedEncoding extends ServiceError {
  static override readonly status: number = 415;
  static override readonly kind: string = "UnsupportedEncoding";
}

/** 418: its message can't be changed. */
export class Teapot extends ServiceError {
  static override readonly status: number = 418;
  static override readonly kind: string = "Teapot";
  static override readonly defaultMessage: string = "I'm a teapot";
  constructor() {
    super(Teapot.defaultMessage);
  }
}

/** 421: the request names a host that this service doesn't answer for. */
export class MisdirectedRequest extends ServiceError {
  static override readonly status: number = 421;
  static override readonly kind: string = "MisdirectedRequest";
}

/** 429: the page has as many streams open as its connections allow. */
export class TooManyStreams extends ServiceError {
  static override readonly status: number = 429;
  static override readonly kind: string = "TooManyStreams";
}

/** 431: more header fields, or more bytes of them, than the limits allow. */
export class RequestHeaderFieldsTooLarge extends ServiceError {
  static override readonly status: number = 431;
  static override readonly kind: string = "RequestHeaderFieldsTooLarge";
}

/** 500: no encoding can carry this result or argument; the message has the path to it. */
export class ValueNotSerializable extends ServiceError {
  static override readonly kind: string = "ValueNotSerializable";
}

/** 500: a middleware didn't call `next`. */
export class MiddlewareNotCompleted extends ServiceError {
  static override readonly kind: string = "MiddlewareNotCompleted";
}

/** 501: not implemented, or not yet. */
export class NotImplemented extends ServiceError {
  static override readonly status: number = 501;
  static override readonly kind: string = "NotImplemented";
}

/** 502: another service's answer isn't valid. */
export class BadGateway extends ServiceError {
  static override readonly status: number = 502;
  static override readonly kind: string = "BadGateway";
}

/** 503: the procedure is known, but no node can take the call now. */
export class NodeNotAvailable extends ServiceError {
  static override readonly status: number = 503;
  static override readonly kind: string = "NodeNotAvailable";
  static override readonly defaultMessage: string = "No node is available";
}

/** 504: the call's deadline has passed. */
export class DeadlineExceeded extends ServiceError {
  static override readonly status: number = 504;
  static override readonly kind: string = "DeadlineExceeded";
}

/** 508: more services have forwarded the call than may. */
export class LoopDetected extends ServiceError {
  static override readonly status: number = 508;
  static override readonly kind: string = "LoopDetected";
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
    NotAcceptable,
    RequestTimeout,
    PayloadTooLarge,
    UnsupportedEncoding,
    Teapot,
    MisdirectedRequest,
    TooManyStreams,
    RequestHeaderFieldsTooLarge,
    ValueNotSerializable,
    MiddlewareNotCompleted,
    NotImplemented,
    BadGateway,
    NodeNotAvailable,
    DeadlineExceeded,
    LoopDetected,
  ].map((errorClass) => [errorClass.kind, errorClass]),
);

/** The HTTP status of a thrown value. The only such mapping. */
export function statusOf(thrown: unknown): number {
  return (
    (thrown instanceof ServiceError && (thrown.constructor as typeof ServiceError).status) || 500
  );
}

/** The refusal of a call when calls already hold all the memory that they may. */
export function memoryExhausted(): NodeNotAvailable {
  return new NodeNotAvailable("This service holds as much for its callers as it may; try again");
}
