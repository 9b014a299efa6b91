// The fields that the console reads from an error's answer.

import { expect, it } from "vitest";

import { failureIn } from "../../console/server/calls/failure.ts";
import { traced, traceOf } from "../../src/base/trace.ts";

const plain = { "content-type": "text/plain; charset=utf-8" };

it("a failure is read with its message and its whole or shortened trace, in both encodings", () => {
  let error = new Error("no\n… 2 more");
  for (let at = 0; at < 300; at++) error = traced(error, `[deep/p${at} | v0.0.0]`);
  const trace = traceOf(error);
  expect(trace).toHaveLength(128);
  const text = [error.message, ...trace].join("\n");
  expect(failureIn({ status: 500, headers: plain, body: text })).toEqual({
    message: error.message,
    trace,
  });
  const form = JSON.stringify({ type: "Error", message: error.message, trace });
  expect(
    failureIn({ status: 500, headers: { "content-type": "application/json" }, body: form }),
  ).toEqual({ error: "Error", message: error.message, trace });
  const problem = JSON.stringify({ title: "NotFound", detail: error.message, trace });
  expect(
    failureIn({
      status: 404,
      headers: { "content-type": "application/problem+json" },
      body: problem,
    }),
  ).toEqual({ error: "NotFound", message: error.message, trace });
  expect(failureIn({ status: 500, headers: plain, body: "no\n… 2 more" })).toEqual({
    message: "no\n… 2 more",
  });
});

it("a failure that was masked elsewhere is read with its id, under which the log has the error", () => {
  const error = "Internal error (0123456789abcdef)";
  expect(failureIn({ status: 500, headers: plain, body: error })).toEqual({ error });
  const form = JSON.stringify({ type: "Error", message: error, trace: [] });
  const headers = { "content-type": "application/json" };
  expect(failureIn({ status: 500, headers, body: form })).toEqual({ error });
  const problem = JSON.stringify({ title: "Error", detail: error });
  const json = { "content-type": "application/problem+json" };
  expect(failureIn({ status: 500, headers: json, body: problem })).toEqual({ error });
  for (const body of ["Internal error (secret)", `${error} secret`, `secret\n${error}`])
    expect(failureIn({ status: 500, headers: plain, body })).toEqual({ message: body });
});
