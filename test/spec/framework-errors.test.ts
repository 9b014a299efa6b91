import { beforeAll, describe, expect, it } from "vitest";

import { ProcedureNotFound } from "../../src/base/errors.ts";
import { createFixture, shop } from "../build/_fixture.ts";
import { ask } from "../_cluster.ts";
import { deploy, type Deployment } from "../_deployment.ts";

let all: Deployment;
beforeAll(async () => {
  all = await deploy();
});

const endpoints = ["proxy", "gateway", "b"] as const;
const post = async (
  at: (typeof endpoints)[number],
  fqn: string,
  body: object,
): Promise<[number, string, unknown]> => {
  const answer = await ask(
    all[at],
    "POST",
    `/rpc/${fqn}`,
    { "content-type": "application/json" },
    JSON.stringify(body),
  );
  return [answer.status, answer.text, answer.headers["x-svc-error"]];
};

describe("errors of the framework", () => {
  it.each(endpoints)(
    "errors-16: a missing required parameter is a MissingParameterValue (at the %s)",
    async (at) => {
      expect(await post(at, "shop/stock", {})).toEqual([
        400,
        "Missing value for parameter 'sku'",
        "MissingParameterValue",
      ]);
      // Missing ones come first, in the order of the parameters.
      expect(await post("gateway", "shop/quote", { other: 1 })).toEqual([
        400,
        "Missing value for parameters 'sku', 'quantity'",
        "MissingParameterValue",
      ]);
    },
  );
  it.each(endpoints)(
    "errors-17: an unknown parameter is an UnknownParameter (at the %s)",
    async (at) => {
      expect(await post(at, "shop/stock", { sku: "a", other: 1, toString: 2 })).toEqual([
        400,
        "Unknown parameters 'other', 'toString'",
        "UnknownParameter",
      ]);
    },
  );
  it("errors-18: runProcedure of a procedure that no node has is a ProcedureNotFound", async () => {
    for (const at of ["a", "b"] as const) {
      const thrown: unknown = await all[at]
        .runProcedure?.("shop/nobody", "1.2", {})
        .catch((error: unknown) => error);
      expect(thrown).toBeInstanceOf(ProcedureNotFound);
      expect(thrown).toMatchObject({
        name: "ProcedureNotFound",
        message: "Procedure 'shop/nobody' v1.2.0 not found",
      });
    }
  });
  it.each(endpoints)(
    "errors-19: a private procedure is a 404 for RPC callers, as an unknown one is (at the %s)",
    async (at) => {
      expect(await post(at, "shop/secret", {})).toEqual([
        404,
        "Procedure 'shop/secret' v0.0.0 not found",
        "ProcedureNotFound",
      ]);
      expect(await post(at, "shop/nobody", {})).toEqual([
        404,
        "Procedure 'shop/nobody' v0.0.0 not found",
        "ProcedureNotFound",
      ]);
    },
  );
  it.each(["1.2.3.4", "one", "1.", "v1", "-1", "1.2.x", "", " "])(
    "errors-20: a version with a wrong format in a segment file is an error that says `Invalid version number`: '%s'",
    async (version) => {
      const app = createFixture({
        ...shop,
        "shop.segment.json": JSON.stringify({
          "./shop/stock": { stock: { access: "public", version } },
        }),
      });
      const problems = await app.problems();
      expect(problems).toMatchObject([{ file: "shop.segment.json" }]);
      expect(problems[0]?.message).toContain(`Invalid version number '${version}'`);
    },
  );
});
