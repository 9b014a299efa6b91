// Which messages of errors the console shows: those that callers outside are sent, and no others.

import { describe, expect, it } from "vitest";
import type { SeenCall } from "../../console/console-state.ts";
import { createStandalone } from "../../src/roles/standalone.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { ask, TestClock, testHost, testModules, TestNetwork } from "../_cluster.ts";
import { body, call, shop } from "../spec/_shop.ts";
import { json, key, listen, signIn, stateOf, testConsole, withKey } from "./_console.ts";

const secret = "the account 4711";
const procedures = [
  ...shop,
  {
    fqn: "bank/fail",
    in: { a: "public" as const },
    body: body("bank/fail", () => Promise.reject(new Error(secret))),
  },
  {
    fqn: "bank/long",
    in: { a: "public" as const },
    body: body("bank/long", () => Promise.reject(new Error("x".repeat(1_000)))),
  },
  {
    fqn: "bank/via",
    in: { a: "public" as const },
    body: body("bank/via", (_, graph) => call(graph, "bank/fail", [])),
  },
];

async function started(errors: "shown" | "masked") {
  const host = testHost(new TestNetwork(), new TestClock());
  const console = testConsole(host, false, key, errors === "masked");
  const none = async (): Promise<undefined> => undefined;
  const gateway: Role = createStandalone(host, {
    trustKey: key,
    limits: defaultLimits,
    files: { publicFile: none, component: none, serverFile: none },
    modules: testModules(procedures),
    segments: ["a", "b"],
    name: undefined,
    errors,
    observer: console,
  });
  await gateway.start("http://gateway:7401");
  const reader = await listen(gateway);
  await reader.data();
  return { gateway, console, reader };
}

const seen = ({ calls }: { calls: readonly SeenCall[] }) =>
  calls.map(({ fqn, from, error, message }) => [
    fqn,
    from,
    error?.replace(/[0-9a-f]{16}/, "id"),
    message,
  ]);

describe("messages of failed calls", () => {
  it("are shown as callers outside are sent them, shortened to 300 characters", async () => {
    const { gateway, reader } = await started("shown");
    for (const encoding of ["serialized", "superjson"])
      await ask(
        gateway,
        "POST",
        "/rpc/bank/fail",
        { ...json, "x-svc-data-encoding": encoding },
        encoding === "superjson" ? '{"json":{}}' : "{}",
      );
    await ask(gateway, "GET", "/rpc/bank/via");
    await ask(gateway, "GET", "/rpc/bank/long");
    await ask(gateway, "GET", "/rpc/bank/fail?size=1");
    expect(seen(await stateOf(gateway))).toEqual([
      ["bank/fail", "outside", "Error", secret],
      ["bank/fail", "outside", "Error", secret],
      ["bank/fail", "local", "Error", secret],
      ["bank/via", "outside", undefined, secret],
      ["bank/long", "outside", undefined, `${"x".repeat(300)}…`],
      ["bank/fail", "outside", "UnknownParameter", "Unknown parameter 'size'"],
    ]);
    await reader.end();
  });

  it("aren't shown by a service that masks errors, whoever calls and looks", async () => {
    const { gateway, console, reader } = await started("masked");
    const session = await signIn({ gateway, console });
    await ask(gateway, "GET", "/rpc/bank/fail");
    await ask(gateway, "GET", "/rpc/bank/via");
    // A trusted caller gets the message itself.
    expect((await ask(gateway, "GET", "/rpc/bank/fail", withKey)).text).toContain(secret);
    const form = { ...session, ...json };
    expect((await ask(gateway, "POST", "/svc/console/rpc/bank/fail", form, "{}")).text).toContain(
      secret,
    );
    await ask(gateway, "GET", "/rpc/shop/refuse");
    await ask(gateway, "GET", "/rpc/bank/fail?size=1");
    const state = await stateOf(gateway);
    expect(seen(state)).toEqual([
      ["bank/fail", "outside", "Error (id)", undefined],
      ["bank/fail", "local", "Error", undefined],
      ["bank/via", "outside", "Error (id)", undefined],
      ["bank/fail", "member", undefined, undefined],
      ["bank/fail", "console", undefined, undefined],
      // An error that is meant for callers outside isn't masked.
      ["shop/refuse", "outside", "Forbidden", "not for you"],
      ["bank/fail", "outside", "UnknownParameter", "Unknown parameter 'size'"],
    ]);
    expect(JSON.stringify(state)).not.toContain(secret);
    await reader.end();
  });
});
