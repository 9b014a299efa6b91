import { runInNewContext } from "node:vm";
import { beforeAll, describe, expect, it } from "vitest";

import { BadRequest, NotFound } from "../../src/base/errors.ts";
import type { ClassRecord } from "../../src/base/manifest.ts";
import type { Context } from "../../src/base/context.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import { ask, key, type TestProcedure, TestDeployment, testModules } from "../_cluster.ts";
import { body, call, names } from "./_shop.ts";

const secret = "s3cret";
const hung = { sql: `insert '${secret}'`, config: { headers: { authorization: secret } } };

/** As a package has it: the application doesn't export it. */
class DatabaseError extends Error {
  override readonly name: string = "DatabaseError";
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    Object.assign(this, hung);
  }
}

/** Has a status, and isn't exported. */
class Taken extends NotFound {
  override readonly name: string = "Taken";
  readonly rows: unknown = hung;
}

/** Isn't exported, and has the name of the class that it extends. */
class Gone extends NotFound {
  readonly rows: unknown = hung;
}

/** Exported. `reason` is for all callers, `inner` may be any error. */
class Declined extends Error {
  override readonly name: string = "Declined";
  readonly reason: string;
  readonly inner: unknown;
  constructor(message: string, reason: string, inner?: unknown) {
    super(message);
    this.reason = reason;
    this.inner = inner;
  }
}

const record: ClassRecord = {
  key: "outside/Declined",
  module: "outside/errors",
  export: "Declined",
  args: ["message", "reason", "inner"],
  fields: [],
  error: true,
};

/** Carry what outsiders mustn't see, wherever an error can. */
const leaking: Readonly<Record<string, () => unknown>> = {
  "an error of a package": () => new DatabaseError("duplicate key"),
  "a plain error with data": () => Object.assign(new Error("duplicate key"), hung),
  "a type error with data": () => Object.assign(new TypeError("odd"), hung),
  "a cause": () => new Error("sign-up failed", { cause: new DatabaseError("duplicate key") }),
  "a cause of a cause": () =>
    new NotFound("No", { cause: new Error("x", { cause: new DatabaseError("duplicate key") }) }),
  "a cause that is data": () => new Error("sign-up failed", { cause: hung }),
  "a cause that is a text": () => new Error("sign-up failed", { cause: secret }),
  "entries of an AggregateError": () =>
    new AggregateError(
      [new DatabaseError("duplicate key"), Object.assign(new Error("x"), hung), hung, secret],
      "both failed",
    ),
  "an AggregateError with data": () => Object.assign(new AggregateError([], "both failed"), hung),
  "an error in a field of an exported class": () =>
    new Declined("No", "card", { deep: [new DatabaseError("duplicate key")] }),
  "an error in a field of a framework error": () =>
    Object.assign(new BadRequest("No"), { at: new Map([["here", new DatabaseError("x")]]) }),
  "data on an exported class": () => Object.assign(new Declined("No", "card"), hung),
  "a class with a status": () => new Taken("Taken"),
  "a class with the name of another": () => new Gone("Gone"),
  "a system error": () => Object.assign(new Error(`open '/${secret}'`), { syscall: "open" }),
  "an exported class with a system error's members": () =>
    Object.assign(new Declined(`open '/${secret}'`, "card"), { syscall: "open" }),
  "an error of another realm with data": () =>
    Object.assign(runInNewContext("new RangeError('odd')") as Error, hung),
  "a system error of another realm": () =>
    Object.assign(runInNewContext("new Error()") as Error, {
      message: `open '/${secret}'`,
      syscall: "open",
    }),
  "a failed command whose output can't be sent": () =>
    Object.assign(new Error(`psql '${secret}' failed`), { stderr: Symbol("stream") }),
  "a framework error with a system error's members": () =>
    Object.assign(new NotFound(`open '/${secret}'`), { syscall: "open", path: secret }),
};

/** Meant for outsiders. */
const open: Readonly<Record<string, () => Error>> = {
  "an exported class": () => new Declined("No", "card"),
  "a framework error with fields": () => Object.assign(new BadRequest("No"), { at: ["name"] }),
  "a framework error as a cause": () =>
    new Error("x", { cause: Object.assign(new NotFound("No"), { id: 7 }) }),
};

const all: Readonly<Record<string, () => unknown>> = { ...leaking, ...open };

/** The error that the procedure in the middle caught. */
let caught: unknown;
const procedures: TestProcedure[] = [
  {
    fqn: "outside/first",
    parameters: names("kind"),
    in: { a: "public" },
    body: body("outside/first", async (_, graph, kind) => {
      try {
        return await call(graph, "outside/second", names("kind"), kind);
      } catch (error) {
        caught = error;
        throw error;
      }
    }),
  },
  {
    fqn: "outside/second",
    parameters: names("kind"),
    in: { b: "public" },
    body: body("outside/second", (_: Context, graph, kind) =>
      call(graph, "outside/third", names("kind"), kind),
    ),
  },
  {
    fqn: "outside/third",
    parameters: names("kind"),
    in: { c: "public" },
    body: body("outside/third", (_, _graph, kind: string) => {
      throw all[kind]?.();
    }),
  },
  {
    fqn: "outside/byName",
    parameters: names("kind"),
    in: { a: "public" },
    body: body("outside/byName", (_, graph, kind) =>
      graph.runProcedure("outside/second", "", { kind }),
    ),
  },
  {
    fqn: "outside/given",
    parameters: names("error"),
    in: { c: "public" },
    body: body("outside/given", (_, _graph, error) => {
      throw error;
    }),
  },
  {
    fqn: "outside/giving",
    parameters: names("kind"),
    in: { a: "public" },
    body: body("outside/giving", (_, graph, kind: string) =>
      call(graph, "outside/given", names("error"), all[kind]?.()),
    ),
  },
  {
    fqn: "outside/returned",
    parameters: names("kind"),
    in: { c: "public" },
    body: body("outside/returned", (_, _graph, kind: string) => [all[kind]?.()]),
  },
  {
    fqn: "outside/returning",
    parameters: names("kind"),
    in: { a: "public" },
    body: body("outside/returning", async (_, graph, kind) => {
      const returned = await call(graph, "outside/returned", names("kind"), kind);
      caught = (returned as unknown[])[0];
      return returned;
    }),
  },
];

const modules = () => testModules(procedures, [{ record, constructor: Declined }]);
type Place = "standalone" | "nodes" | "gateway with middleware" | "strange nodes";
const roles = {} as Record<Place, Role>;

async function deploy(place: Place): Promise<Role> {
  const local = new TestDeployment();
  if (place === "standalone")
    return await local.standalone({ modules: modules(), segments: ["a", "b", "c"] });
  const gateway = await local.gateway();
  for (const name of ["a", "b", "c"]) {
    const application = modules();
    const manifest = await application.manifest();
    // A service that doesn't have the class.
    const without =
      place === "strange nodes" && name !== "c"
        ? { ...application, manifest: async () => ({ ...manifest, classes: [], imports: {} }) }
        : application;
    await local.node(name, { modules: without, segments: [name] });
  }
  if (place === "gateway with middleware")
    gateway.addMiddleware({
      handle: async (_fqn, _version, args, headers, next) => {
        args.get("kind");
        return await next().catch((error: unknown) => {
          if (headers.has("x-wrap")) throw new NotFound("wrapped", { cause: error });
          throw error;
        });
      },
    });
  return await local.proxy();
}

beforeAll(async () => {
  for (const place of ["standalone", "nodes", "gateway with middleware", "strange nodes"] as const)
    roles[place] = await deploy(place);
});

const encodings = ["", "serialized", "superjson", "serialized, superjson"];
const asking = async (
  place: Place,
  name: string,
  kind: string,
  encoding: string,
  more: Readonly<Record<string, string>> = {},
) =>
  await ask(roles[place], "GET", `/rpc/outside/${name}?${new URLSearchParams({ kind })}`, {
    ...(encoding !== "" && { "x-svc-data-encoding": encoding }),
    ...more,
  });

const places = ["standalone", "nodes", "gateway with middleware", "strange nodes"] as const;

describe("what callers outside see of an error", () => {
  it.each(Object.keys(leaking))(
    "errors-53: callers outside see the own members of an error only if its class is the framework's or exported, over any number of services, and in every encoding: %s",
    async (kind) => {
      for (const place of places)
        for (const encoding of encodings)
          for (const name of ["third", "first", "byName", "giving", "returned", "returning"]) {
            const answer = await asking(place, name, kind, encoding);
            const at = `${place}, ${encoding}, ${name}`;
            expect(answer.text, at).not.toContain(secret);
            expect(answer.text, at).not.toBe("");
            if (place !== "gateway with middleware" || name.startsWith("return")) continue;
            const wrapped = await asking(place, name, kind, encoding, { "x-wrap": "yes" });
            expect(wrapped.text, at).toContain("wrapped");
            expect(wrapped.text, at).not.toContain(secret);
          }
    },
  );

  it.each(Object.keys(all))(
    "(errors-39) callers outside see the same of an error in one process as over services that may not have its class: %s",
    async (kind) => {
      const withoutId = (text: string) => text.replace(/Internal error \([0-9a-f]{16}\)/g, "(id)");
      for (const name of ["third", "first", "giving"])
        for (const encoding of encodings) {
          if (name === "giving" && kind === "a class with a status") continue;
          const expected = await asking("standalone", name, kind, encoding);
          for (const place of places) {
            // Thrown where it isn't exported.
            if (name === "giving" && place === "strange nodes") continue;
            const answer = await asking(place, name, kind, encoding);
            const at = `${place}, ${encoding}, ${name}`;
            expect(answer.status, at).toBe(expected.status);
            if (encoding === "superjson") continue;
            expect(withoutId(answer.text), at).toBe(withoutId(expected.text));
          }
        }
    },
  );

  it("errors-54: the members of an error of an exported class, and of the framework's errors, arrive over any number of services", async () => {
    for (const place of places)
      for (const name of ["third", "first"]) {
        const declined = await asking(place, name, "an exported class", "serialized");
        expect(JSON.parse(declined.text), place).toMatchObject({
          key: "outside/Declined",
          args: { 0: "No", 1: "card" },
        });
        const framework = await asking(place, name, "a framework error with fields", "serialized");
        expect(JSON.parse(framework.text), place).toMatchObject({ fields: { at: ["name"] } });
        const more = { "x-wrap": "yes" };
        const wrapped = await asking(
          place,
          name,
          "a framework error as a cause",
          "serialized",
          more,
        );
        expect(wrapped.text, place).toContain('"fields":{"id":7}');
      }
  });

  it("errors-55: between services, an error keeps all that it carries, thrown, given or returned", async () => {
    for (const place of places)
      for (const name of ["first", "returning"]) {
        for (const kind of ["an error of a package", "a plain error with data"]) {
          await asking(place, name, kind, "serialized");
          expect(caught, `${place}, ${name}`).toMatchObject(hung);
        }
        await asking(place, name, "a class with a status", "serialized");
        expect(caught, `${place}, ${name}`).toMatchObject({ rows: hung });
        await asking(place, name, "a cause that is data", "serialized");
        expect(caught, `${place}, ${name}`).toMatchObject({ cause: hung });
        await asking(place, name, "entries of an AggregateError", "serialized");
        expect((caught as AggregateError).errors[2], `${place}, ${name}`).toEqual(hung);
      }
    const trusted = await asking("nodes", "first", "an error of a package", "serialized", {
      "x-svc-trust-key": key,
    });
    expect(JSON.parse(trusted.text)).toMatchObject({ fields: hung });
  });
});
