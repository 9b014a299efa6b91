// Requests that change something in development: to kill and start nodes, and to move procedures.

import { BadRequest } from "../../src/base/errors.ts";
import type { HttpRequest, HttpResponse } from "../../src/base/ports.ts";
import { answerHeaders } from "../../src/base/protocol.ts";
import { notFound } from "../../src/http/answers.ts";
import type { Controls } from "../../server/console/console-port.ts";
import { isJson, readStrings } from "./access/request-checks.ts";

/** Longer than any names. */
const bodyBytes = 4_096;

/** Answers a request of the console's own page for `/development/<name>`. */
export async function control(
  controls: Controls,
  name: string,
  request: HttpRequest,
): Promise<HttpResponse> {
  const act = actions.get(name);
  if (act === undefined || request.method !== "POST") return notFound();
  if (!isJson(request.headers)) throw new BadRequest("The body must be application/json");
  const values = await readStrings(request, bodyBytes);
  await act(controls, (key) => {
    const value = values.get(key) ?? "";
    if (value === "") throw new BadRequest(`'${key}' is missing`);
    return value;
  });
  return { status: 204, headers: answerHeaders };
}

type Action = (controls: Controls, value: (key: string) => string) => Promise<void>;

const actions: ReadonlyMap<string, Action> = new Map<string, Action>([
  ["kill", (controls, value) => controls.kill(value("node"))],
  ["start", (controls, value) => controls.start(value("node"))],
  ["move", (controls, value) => controls.move(value("procedure"), value("segment"))],
]);
