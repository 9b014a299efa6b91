import { beforeAll, describe, expect, it } from "vitest";

import { NotFound } from "../../src/base/errors.ts";
import { traceOf } from "../../src/base/trace.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import type { Graph } from "../../src/runtime/seam.ts";
import { ask, type TestProcedure, TestDeployment, testModules } from "../_cluster.ts";
import { body, call, names } from "./_shop.ts";

/** One object for all calls, as a module's constant. */
const shared = {
  constant: new NotFound("shared"),
  frozen: Object.freeze(new NotFound("shared")),
};
type Shared = keyof typeof shared | "promise";
/** Calls wait for one promise, as in a cache, until all of them do. */
let cached = Promise.resolve(0);
let reject: (error: unknown) => void = () => {};
function cache(): void {
  cached = new Promise((_, fail) => {
    reject = fail;
  });
  cached.catch(() => {});
}

const soon = async (turns: number): Promise<void> => {
  for (let turn = 0; turn < turns; turn++) await Promise.resolve();
};
const inner = (graph: Graph, name: string, kind: unknown, turns = 0): Promise<unknown> =>
  call(graph, `shared/${name}`, names("kind", "turns"), kind, turns);
const throws = async (kind: Shared, turns: number = 0): Promise<never> => {
  await soon(turns);
  if (kind !== "promise") throw shared[kind];
  return (await cached) as never;
};
const thrower = (name: string, segment: string): TestProcedure => ({
  fqn: `shared/${name}`,
  parameters: [...names("kind"), { kind: "plain", name: "turns", optional: true }],
  in: { [segment]: "public" },
  body: body(`shared/${name}`, (_, _graph, kind: Shared, turns?: number | string) =>
    throws(kind, Number(turns ?? 0)),
  ),
});
const outer = (
  name: string,
  run: (graph: Graph, kind: Shared) => Promise<unknown>,
): TestProcedure => ({
  fqn: `shared/${name}`,
  parameters: names("kind"),
  in: { a: "public" },
  body: body(`shared/${name}`, (_, graph, kind: Shared) => run(graph, kind)),
});

/** The properties that code in a procedure reads of an error that it catches. */
const caught: string[] = [];
const procedures: TestProcedure[] = [
  thrower("one", "b"),
  thrower("two", "b"),
  outer("through", (graph, kind) => inner(graph, "one", kind, 3)),
  outer("both", (graph, kind) =>
    Promise.all([inner(graph, "one", kind), inner(graph, "one", kind), inner(graph, "two", kind)]),
  ),
  outer("late", (graph, kind) =>
    Promise.all([inner(graph, "one", kind, 1), inner(graph, "two", kind, 9)]),
  ),
  outer("again", async (graph, kind) => {
    for (const name of ["one", "two"])
      await inner(graph, name, kind).catch((error: unknown) => {
        caught.push(traceOf(error).join());
      });
    return await inner(graph, "two", kind);
  }),
  outer("itself", (_, kind) => throws(kind, 2)),
  {
    fqn: "shared/deep",
    parameters: [...names("kind"), { kind: "plain", name: "turns", optional: true }],
    in: { a: "public" },
    body: body("shared/deep", (_, graph, kind: Shared, levels: number | string) =>
      Number(levels) > 0
        ? inner(graph, "deep", kind, Number(levels) - 1)
        : inner(graph, "one", kind),
    ),
  },
];

const line = (name: string): string => `[shared/${name} | v0.0.0]`;
const expected: Readonly<Record<string, readonly string[]>> = {
  one: ["one"],
  two: ["two"],
  itself: ["itself"],
  through: ["one", "through"],
  both: ["one", "both"],
  late: ["one", "late"],
  again: ["two", "again"],
  deep: ["one", "deep", "deep", "deep"],
};

const roles: Record<string, Role> = {};
beforeAll(async () => {
  const alone = new TestDeployment();
  roles["one process"] = await alone.standalone({
    modules: testModules(procedures),
    segments: ["a", "b"],
  });
  const local = new TestDeployment();
  await local.gateway();
  for (const name of ["a", "b"])
    await local.node(name, { modules: testModules(procedures), segments: [name] });
  roles["several services"] = await local.proxy();
  const masking = new TestDeployment();
  roles["masked"] = await masking.standalone({
    modules: testModules(procedures),
    segments: ["a", "b"],
    errors: "masked",
  });
});

/** The lines that the caller gets, as plain text or as an Error form. */
async function linesFor(at: string, name: string, kind: Shared, encoding = ""): Promise<unknown> {
  const query = `kind=${kind}${name === "deep" ? "&turns=2" : ""}`;
  const answer = await ask(roles[at] as Role, "GET", `/rpc/shared/${name}?${query}`, {
    ...(encoding !== "" && { "x-svc-data-encoding": encoding }),
  });
  expect(answer.status).toBe(404);
  if (encoding === "") return answer.text.split("\n").slice(1);
  const tree = JSON.parse(answer.text) as { trace?: unknown; json?: { trace: unknown } };
  return (tree.json ?? tree).trace;
}

const places = ["one process", "several services"] as const;
const kinds = ["constant", "frozen", "promise"] as const;
const encodings = ["", "serialized", "superjson"];

describe("one error object that is thrown many times", () => {
  it.each(places.flatMap((place) => kinds.map((kind) => [place, kind] as const)))(
    "errors-56: an error that several calls throw has in each the lines of that call, whether they run at once or in turn: %s, %s",
    async (place, kind) => {
      const all = Object.keys(expected);
      const asked = [...all, ...all.toReversed(), ...all];
      for (const encoding of encodings) {
        cache();
        const answers = Promise.all(asked.map((name) => linesFor(place, name, kind, encoding)));
        // All of them wait by now, however many services are between.
        if (kind === "promise")
          setTimeout(() => reject(new NotFound("shared")), place === "one process" ? 20 : 100);
        expect(await answers).toEqual(asked.map((name) => expected[name]?.map(line)));
        for (const name of all)
          expect(await linesFor(place, name, kind, encoding), name).toEqual(
            expected[name]?.map(line),
          );
      }
    },
  );

  it("(errors-56) code that catches it reads the lines of what it has caught", async () => {
    for (const place of places) {
      caught.length = 0;
      await linesFor(place, "again", "constant");
      expect(caught, place).toEqual([line("one"), line("two")]);
    }
  });

  it("(errors-56) the object stays itself for code in the same process", async () => {
    for (let times = 0; times < 3; times++) {
      const error = await roles["one process"]
        ?.runProcedure?.("shared/one", "", { kind: "constant" })
        .catch((thrown: unknown) => thrown);
      expect(error).toBe(shared.constant);
      expect(traceOf(error)).toEqual([line("one")]);
    }
  });
});
