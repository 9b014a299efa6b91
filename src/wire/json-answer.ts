// Answers to plain calls whose callers asked for JSON, as services with middleware read them.

import { BadGateway } from "../base/errors.ts";
import type { IncomingResponse } from "../base/ports.ts";
import { headers, mediaTypes } from "../base/protocol.ts";
import { setTrace } from "../base/trace.ts";
import { nearestError } from "../codec/error-form.ts";
import type { ErrorClass } from "./decode-answer.ts";

/** The same answer as a caller gets that doesn't ask for JSON. Others are returned as they are. */
export function plainAnswer(answer: IncomingResponse): IncomingResponse {
  const { status, headers: fields, body } = answer;
  if (fields["content-type"] !== mediaTypes.json) return answer;
  const read = (): unknown => JSON.parse(new TextDecoder().decode(body));
  const plain = (type: string, bytes: Uint8Array): IncomingResponse => ({
    status,
    headers: { ...fields, [headers.dataType]: type },
    body: bytes,
  });
  const text = (value: string): Uint8Array => new TextEncoder().encode(value);
  switch (fields[headers.dataType]) {
    case "bigint":
      return plain("bigint", text(String(read())));
    // JSON has no other numbers.
    case "number":
      return read() === null ? plain("number", text("NaN")) : answer;
    case "base64":
      return plain(
        "binary",
        Uint8Array.from(atob(String(read())), (letter) => letter.charCodeAt(0)),
      );
    default:
      return answer;
  }
}

/** Whether an answer has problem details (RFC 9457). */
export function isProblem({ headers: fields }: IncomingResponse): boolean {
  return fields["content-type"] === mediaTypes.problem;
}

/** The error of problem details, as `errorOfText`. Throws BadGateway for others than a service writes. */
export function errorOfProblem(text: string, status: number, type: ErrorClass | undefined): Error {
  const { detail, trace = [] } = JSON.parse(text) as { detail: unknown; trace?: unknown };
  if (typeof detail !== "string" || !Array.isArray(trace))
    throw new BadGateway(`A service answered ${status} with problem details that can't be read`);
  const error = nearestError(status, detail, type);
  setTrace(error, trace.map(String));
  return error;
}
