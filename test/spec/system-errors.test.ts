import { beforeEach, describe, expect, it } from "vitest";

import { NotFound } from "../../src/base/errors.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { ask, key, type TestProcedure, TestDeployment, testModules } from "../_cluster.ts";
import { body, call, names } from "./_shop.ts";

const message = "ENOENT: no such file or directory, open '/srv/prices'";
const missing = (): Error => Object.assign(new Error(message), { syscall: "open" });
const thrown: Readonly<Record<string, () => Error>> = {
  itself: missing,
  cause: () => new NotFound("No prices", { cause: missing() }),
};

const procedures: TestProcedure[] = [
  {
    fqn: "prices/outer",
    parameters: names("kind"),
    in: { a: "public" },
    body: body("prices/outer", (_, graph, kind) =>
      call(graph, "prices/inner", names("kind"), kind),
    ),
  },
  {
    fqn: "prices/inner",
    parameters: names("kind"),
    in: { b: "public" },
    body: body("prices/inner", (_, _graph, kind: string) => {
      throw thrown[kind]?.();
    }),
  },
];

const encodings = ["", "serialized", "superjson", "serialized, superjson"];
const asking = async (
  role: Role,
  name: string,
  encoding: string,
  { kind = "itself", ...more }: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const fields = { ...(encoding !== "" && { "x-svc-data-encoding": encoding }), ...more };
  return (await ask(role, "GET", `/rpc/prices/${name}?kind=${kind}`, fields)).text;
};
const idIn = (text: string): string =>
  /Internal error \(([0-9a-f]{16})\)/.exec(text)?.[1] ?? "none";

describe.each(["standalone", "nodes", "masking nodes"])("a system error, %s", (place) => {
  let local: TestDeployment;
  let role: Role;
  beforeEach(async () => {
    local = new TestDeployment();
    const modules = () => testModules(procedures);
    if (place === "standalone")
      role = await local.standalone({ modules: modules(), segments: ["a", "b"] });
    else {
      const errors = place === "nodes" ? {} : ({ errors: "masked" } as const);
      await local.gateway(errors);
      for (const name of ["a", "b"])
        await local.node(name, { ...errors, modules: modules(), segments: [name] });
      role = await local.proxy();
    }
  });

  it("errors-57: callers outside read `Internal error (id)` of it in every encoding, and the log of the service that threw it has the id with error and trace, over any number of services", async () => {
    const ids = new Set<string>();
    for (const encoding of encodings)
      for (const name of ["inner", "outer"]) {
        const { lines } = local.log;
        lines.length = 0;
        const text = await asking(role, name, encoding);
        const at = `${encoding}, ${name}`;
        expect(text, at).not.toContain("ENOENT");
        const id = idIn(text);
        expect(id, at).not.toBe("none");
        expect(ids.has(id), at).toBe(false);
        ids.add(id);
        const logged = lines.filter((line) => line.includes(id));
        expect(logged, at).toHaveLength(1);
        expect(logged[0], at).toContain(`failed: Internal error (${id}) [prices/inner | v0.0.0]`);
        expect(logged[0], at).toContain(message);
        if (place !== "standalone") expect(logged[0], at).toContain("/rpc/prices/inner");
      }
  });

  it("(errors-57) so it is as the cause of an error that is meant for the caller", async () => {
    for (const name of ["inner", "outer"]) {
      const text = await asking(role, name, "serialized", { kind: "cause" });
      expect(text).toContain("No prices");
      expect(text).not.toContain("ENOENT");
      expect(local.log.lines.filter((line) => line.includes(idIn(text)))).toHaveLength(1);
    }
  });

  it("errors-58: trusted callers read it in every encoding, in plain text too", async () => {
    for (const encoding of encodings)
      for (const name of ["inner", "outer"])
        expect(await asking(role, name, encoding, { "x-svc-trust-key": key })).toContain(message);
  });
});
