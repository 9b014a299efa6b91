// Text from outside that a careless expression would read in quadratic or exponential time.

import { describe, expect, it } from "vitest";

import { BadRequest } from "../../src/base/errors.ts";
import { parseMultipart } from "../../src/codec/multipart/parse-multipart.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { CorsMiddleware } from "../../src/http/cors.ts";
import { connectionOptions } from "../../src/http/forwarded.ts";
import { convertFields } from "../../src/runtime/parameters.ts";
import { processorMs } from "../_processor-time.ts";

/**
 * Runs `act`, which may refuse its input, and checks that it doesn't take long. What else the machine
 * does counts for little: it is the processor time of the quickest of some runs.
 */
function expectQuick(act: () => unknown): void {
  let quickest = Infinity;
  for (let run = 0; run < 5 && quickest >= 50; run++) {
    const started = processorMs();
    try {
      act();
    } catch (thrown) {
      if (!(thrown instanceof BadRequest)) throw thrown;
    }
    quickest = Math.min(quickest, processorMs() - started);
  }
  expect(quickest).toBeLessThan(50);
}

describe("the headers of a multipart part", () => {
  const named = 'Content-Disposition: form-data; name="a"';
  it.each([
    ["backslashes in an open quote", `${named}; filename="${"\\".repeat(8_000)}`],
    ["escaped quotes in an open quote", `${named}; filename="${'\\"'.repeat(4_000)}`],
    ["backslashes in a quote with more behind it", `${named}; filename="${"\\".repeat(8_000)}"x`],
    ["spaces in a value", `X: a${" ".repeat(8_000)}b\r\n${named}`],
    ["spaces behind a parameter", `${named}${" ".repeat(8_000)}b`],
    ["semicolons", `${named}${"; ".repeat(4_000)}`],
    ["letters without a value", `${named}; ${"a".repeat(8_000)}`],
  ])("with thousands of %s are read at once", (_, head) => {
    // A body may have a thousand such parts.
    const part = `--b\r\n${head}\r\n\r\n\r\n`;
    const body = new TextEncoder().encode(`${part.repeat(20)}--b--`);
    expectQuick(() => parseMultipart(body, "multipart/form-data; boundary=b", defaultLimits));
  });
});

describe("a field of a form or query", () => {
  it.each([
    ["number", `${"1".repeat(1_000_000)}x`],
    ["number", `1.${"1".repeat(1_000_000)}x`],
    ["number", `1e${"1".repeat(1_000_000)}x`],
    ["bigint", `${"1".repeat(1_000_000)}x`],
    ["Date", `2020-01-01T00:00:00.${"1".repeat(1_000_000)}x`],
    ["boolean", " ".repeat(1_000_000)],
  ] as const)("of a megabyte isn't a %s, and that is found at once", (type, text) => {
    const parameters = [{ kind: "plain", name: "x", type } as const];
    expectQuick(() => convertFields(parameters, [["x", text]], { limits: defaultLimits }));
  });
});

describe("a header field of 15,000 bytes", () => {
  const spaces = `a${" ".repeat(15_000)}b`;
  it("is read at once as Connection", () => {
    expectQuick(() => connectionOptions(spaces));
  });
  it("is read at once in a preflight", () => {
    const cors = new CorsMiddleware(["https://a.example"], "*", { credentials: true });
    expectQuick(() =>
      cors.ontoPreflight(
        { status: 204, headers: { vary: spaces } },
        { "access-control-request-headers": spaces },
      ),
    );
  });
});
