// The parts of a case in the table of calls: a request and its exact answer, and the same call by a
// client.

export interface CallCase {
  /** The statements, or topics, of docs/specification.md that it shows: `get-2 calls-1`. */
  readonly ids: string;
  readonly title: string;
  readonly http?: HttpCall;
  readonly answer?: HttpAnswer;
  readonly client?: ClientCall;
  /** Why a page can't make the call, or gets another answer. Left out in Chromium. */
  readonly noPage?: string;
}

export interface HttpCall {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HttpAnswer {
  readonly status: number;
  /** All headers except those of the connection and `x-svc-node`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A call of a page or a service: by name, with the result or the error. */
export interface ClientCall {
  readonly fqn: string;
  readonly version?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly value?: unknown;
  /** An instance of the caller's class with this name, with these fields. */
  readonly error?: ClientError;
}

export interface ClientError {
  readonly name: string;
  readonly message: string;
  readonly trace?: readonly string[];
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Headers of every answer of the RPC endpoint. */
export const every = {
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  "content-security-policy": "sandbox; default-src 'none'",
};
/** Beside them, of an answer to a call without an encoding. */
export const everyPlain = { ...every, vary: "accept, x-svc-data-encoding" };
const text = "text/plain; charset=utf-8";

export const json = { "content-type": "application/json" } as const;
export const encoded = { "x-svc-data-encoding": "serialized" } as const;
export const key = "the-trust-key-of-the-calls";

export const get = (path: string, headers?: HttpCall["headers"]): HttpCall => ({
  path: `/rpc/${path}`,
  ...(headers && { headers }),
});
export const post = (
  path: string,
  body: string | object,
  headers: Readonly<Record<string, string>> = {},
): HttpCall => ({
  method: "POST",
  path: `/rpc/${path}`,
  headers: { ...json, ...headers },
  body: typeof body === "string" ? body : JSON.stringify(body),
});

/** A scalar as text, with its type. */
export const scalar = (kind: string, body: string): HttpAnswer => ({
  status: 200,
  headers: { ...every, "content-type": text, "x-svc-data-type": kind },
  body,
});
export const string = (body: string): HttpAnswer => scalar("string", body);
/** This value as JSON. */
export const object = (value: unknown): HttpAnswer => ({
  status: 200,
  headers: { ...every, "content-type": "application/json", "x-svc-data-type": "object" },
  body: JSON.stringify(value),
});
export const bytes = (type: string, body: string): HttpAnswer => ({
  status: 200,
  headers: { ...every, "content-type": type, "x-svc-data-type": "binary" },
  body,
});
export const nothing: HttpAnswer = {
  status: 204,
  headers: { ...every, "x-svc-data-type": "undefined" },
  body: "",
};
export const nil: HttpAnswer = {
  status: 200,
  headers: { ...every, "content-type": "application/json", "x-svc-data-type": "null" },
  body: "null",
};

/** An error of the framework as text, with its trace `lines`. */
export const refused = (
  status: number,
  name: string,
  message: string,
  ...lines: readonly string[]
): HttpAnswer => ({
  status,
  headers: { ...every, "content-type": text, "x-svc-error": name },
  body: [message, ...lines].join("\n"),
});
/** An error that isn't one of the framework's. */
export const failed = (message: string, ...lines: readonly string[]): HttpAnswer => ({
  status: 500,
  headers: { ...every, "content-type": text },
  body: [message, ...lines].join("\n"),
});
/** An error in the serialized form. */
export const refusedForm = (status: number, name: string, message: string): HttpAnswer => ({
  status,
  headers: { ...every, "content-type": "application/json", "x-svc-error": name },
  body: JSON.stringify(form("Error", { type: name, message, trace: [], fields: {} })),
});
export const withHeaders = (answer: HttpAnswer, headers: HttpAnswer["headers"]): HttpAnswer => ({
  ...answer,
  headers: { ...answer.headers, ...headers },
});

/** The serialized form of this name. */
export const form = (name: string, rest: object = {}): object => ({
  serialized: true,
  name,
  ...rest,
});

/** A case: a request, its answer, and the same from a client. */
export const callCase = (
  ids: string,
  title: string,
  http: HttpCall | undefined,
  answer: HttpAnswer | undefined,
  client?: ClientCall,
): CallCase => ({
  ids,
  title,
  ...(http && { http }),
  ...(answer && { answer }),
  ...(client && { client }),
});
/** A client's call that returns this value. */
export const returns = (
  name: string,
  args: Readonly<Record<string, unknown>>,
  value: unknown,
): ClientCall => ({
  fqn: `calls/${name}`,
  args,
  value,
});
/** A client's call that throws the framework's refusal. */
export const throws = (
  name: string,
  args: Readonly<Record<string, unknown>>,
  error: string,
  message: string,
): ClientCall => ({
  fqn: `calls/${name}`,
  args,
  error: { name: error, message, trace: [] },
});
/**
 * A refusal before the procedure ran, as request and by a client: the answer's text is the error's
 * message.
 */
export const refuses = (
  ids: string,
  title: string,
  name: string,
  args: Readonly<Record<string, unknown>>,
  error: string,
  message: string,
): CallCase =>
  callCase(
    ids,
    title,
    post(`calls/${name}`, args),
    refused(400, error, message),
    throws(name, args, error, message),
  );
/** A call that works by POST and from a client alike. */
export const answers = (
  ids: string,
  title: string,
  name: string,
  args: Readonly<Record<string, unknown>>,
  answer: HttpAnswer,
  value: unknown,
) => callCase(ids, title, post(`calls/${name}`, args), answer, returns(name, args, value));

export const missing = (...names: string[]): string =>
  `Missing value for parameter${names.length > 1 ? "s" : ""} ${names.map((name) => `'${name}'`).join(", ")}`;
export const unknown = (...names: string[]): string =>
  `Unknown parameter${names.length > 1 ? "s" : ""} ${names.map((name) => `'${name}'`).join(", ")}`;
/** The form of a Date. */
export const day = (value: string): object => form("Date", { value: `${value}T00:00:00.000Z` });
