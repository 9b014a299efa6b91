// What the console reads out of an error's answer.

import { expect, it } from "vitest";

import { failureIn } from "../../../src/console/failure.ts";
import { traced, traceOf } from "../../../src/trace.ts";

const plain = { "content-type": "text/plain; charset=utf-8" };

it("the whole of a trace that lines were left out of, in both encodings, and nothing of the message", () => {
  let error = new Error("no\n… 2 more");
  for (let at = 0; at < 300; at++) error = traced(error, `[deep/p${at} | v0.0.0]`);
  const trace = traceOf(error);
  expect(trace).toHaveLength(128);
  const text = [error.message, ...trace].join("\n");
  expect(failureIn({ status: 500, headers: plain, body: text })).toEqual({ trace });
  const form = JSON.stringify({ type: "Error", message: error.message, trace });
  expect(
    failureIn({ status: 500, headers: { "content-type": "application/json" }, body: form }),
  ).toEqual({ error: "Error", trace });
  expect(failureIn({ status: 500, headers: plain, body: "no\n… 2 more" })).toEqual({});
});
