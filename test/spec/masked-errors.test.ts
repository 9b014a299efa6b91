import { afterEach, beforeAll, describe, expect, it } from "vitest";

import type { HttpRequest } from "../../src/base/ports.ts";
import { createRepository } from "../../src/roles/repository.ts";
import type { Role } from "../../src/roles/pipeline/role.ts";
import type { ErrorVisibility } from "../../src/codec/error-mask.ts";
import type { TextResponse } from "../../src/roles/memory-network.ts";
import { ask, key, TestDeployment } from "../_cluster.ts";
import { sentBy } from "../_deployment.ts";
import { Declined, hidden, modules, secret, shown } from "./_leaks.ts";

const encodings = {
  plain: {},
  json: { accept: "application/json" },
  serialized: { "x-svc-data-encoding": "serialized" },
  superjson: { "x-svc-data-encoding": "superjson" },
  both: { "x-svc-data-encoding": "serialized, superjson" },
} as const;
type Encoding = keyof typeof encodings;

const places = ["standalone", "proxy", "gateway", "node", "none"] as const;
type Place = (typeof places)[number];

interface Cell {
  readonly local: TestDeployment;
  /** The outermost service. */
  readonly role: Role;
}
const cells = new Map<Place, Cell>();

async function deploy(masking: Place): Promise<Cell> {
  const local = new TestDeployment();
  const errors = (place: Place): { errors?: ErrorVisibility } =>
    place === masking ? { errors: "masked" } : {};
  if (masking === "standalone")
    return {
      local,
      role: await local.standalone({
        ...errors("standalone"),
        modules: modules(),
        segments: ["a", "b"],
      }),
    };
  await local.gateway(errors("gateway"));
  await local.node("a", { ...errors("node"), modules: modules(), segments: ["a"] });
  await local.node("b", { modules: modules(), segments: ["b"] });
  return { local, role: await local.proxy(errors("proxy")) };
}

beforeAll(async () => {
  for (const place of places) cells.set(place, await deploy(place));
});
afterEach(() => {
  for (const { local } of cells.values()) local.log.lines.length = 0;
});

function cellOf(place: Place): Cell {
  const cell = cells.get(place);
  if (cell === undefined) throw new Error(`'${place}' wasn't started`);
  return cell;
}

const calling = async (
  place: Place,
  fqn: string,
  kind: string,
  encoding: Encoding,
  more: Readonly<Record<string, string>> = {},
): Promise<TextResponse> =>
  await ask(cellOf(place).role, "GET", `/rpc/${fqn}`, {
    "x-throw": kind,
    ...encodings[encoding],
    ...more,
  });

/** Everything that the caller gets. */
const allOf = ({ headers, text }: TextResponse): string => JSON.stringify(headers) + text;
const idIn = (text: string): string | undefined =>
  /Internal error \(([0-9a-f]{16})\)/.exec(text)?.[1];

const masking = places.filter((place) => place !== "none");
const cases = (kinds: object): [Place, Encoding, string, string][] =>
  masking.flatMap((place) =>
    (Object.keys(encodings) as Encoding[]).flatMap((encoding) =>
      ["leak/here", "leak/outer"].flatMap((fqn) =>
        Object.keys(kinds).map((kind): [Place, Encoding, string, string] => [
          place,
          encoding,
          fqn,
          kind,
        ]),
      ),
    ),
  );

describe("errors that aren't meant for callers", () => {
  it('masked-1: with `errors: "masked"`, callers who aren\'t trusted read `Internal error (id)` of them, with status 500, and nothing else: no class, no member, no trace', async () => {
    for (const [place, encoding, fqn, kind] of cases(hidden)) {
      const at = `${place}, ${encoding}, ${fqn}, ${kind}`;
      const answer = await calling(place, fqn, kind, encoding);
      expect(answer.status, at).toBe(500);
      expect(allOf(answer), at).not.toMatch(/s3cret|S3cret|\| v0\.0\.0\]|leak\//);
      expect(idIn(answer.text), at).toBeDefined();
      const { lines } = cellOf(place).local.log;
      const logged = lines.filter((line) => line.includes(idIn(answer.text) ?? "-"));
      expect(logged, at).toHaveLength(1);
      lines.length = 0;
    }
  });

  it("masked-2: the log has the id once, with the error and its trace", async () => {
    const answer = await calling("proxy", "leak/outer", "a message", "plain");
    const { lines } = cellOf("proxy").local.log;
    expect(lines.filter((line) => line.includes("leak/outer"))).toEqual([
      `error: GET /rpc/leak/outer failed: ${answer.text} [leak/inner | v0.0.0] [leak/outer | v0.0.0] (password s3cret)`,
    ]);
  });

  it("masked-3: the same holds for a cause, an entry of an AggregateError, and an error in a field, at any depth", async () => {
    const answer = await calling("node", "leak/here", "nested", "serialized");
    const id = idIn(answer.text) ?? "";
    const masked = {
      serialized: true,
      name: "Error",
      type: "Error",
      message: `Internal error (${id})`,
      trace: [],
      fields: {},
    };
    const shownForm = { ...masked, type: "NotFound", message: "No such felt", cause: masked };
    expect(JSON.parse(answer.text)).toEqual({
      ...masked,
      type: "BadRequest",
      message: "Not so",
      outside: "fields",
      fields: { list: [masked, { deep: shownForm }] },
      cause: { ...masked, type: "AggregateError", fields: { errors: [masked, shownForm, masked] } },
    });
    // An error that isn't the cause of another has a line of its own.
    const { lines } = cellOf("node").local.log;
    expect(lines.filter((line) => line.includes(id))).toHaveLength(3);
  });

  it("masked-4: what the runtime quotes of them is masked as well", async () => {
    const { role, local } = cellOf("gateway");
    const result = await ask(role, "GET", "/rpc/leak/result");
    expect([result.status, result.text]).toEqual([
      500,
      expect.stringMatching(/^result\.price: Internal error \([0-9a-f]{16}\)$/),
    ]);
    const form = {
      serialized: true,
      name: "class",
      key: "leak/Address",
      args: { 0: "none" },
      fields: {},
    };
    const fields = { "content-type": "application/json", "x-svc-data-encoding": "serialized" };
    const argument = await ask(
      role,
      "POST",
      "/rpc/leak/address",
      fields,
      JSON.stringify({ address: form }),
    );
    expect([argument.status, (JSON.parse(argument.text) as Error).message]).toEqual([
      400,
      expect.stringMatching(/^args\.address: Internal error \([0-9a-f]{16}\)$/),
    ]);
    expect(argument.text).not.toContain(secret);
    expect(local.log.lines.join()).toContain(idIn(argument.text));
  });
});

describe("errors that are meant for callers", () => {
  it("masked-5: errors of the framework, of exported classes and of classes with a status keep class and message, but have no trace", async () => {
    for (const [place, encoding, fqn, kind] of cases(shown)) {
      const at = `${place}, ${encoding}, ${fqn}, ${kind}`;
      const answer = await calling(place, fqn, kind, encoding);
      expect(allOf(answer), at).not.toMatch(/s3cret|S3cret|\| v0\.0\.0\]|leak\/(?!Declined)/);
      if (kind !== "an error that quotes its cause")
        expect(answer.text, at).toContain(shown[kind]?.().message);
    }
    const declined = await calling(
      "proxy",
      "leak/outer",
      "an error of an exported class",
      "serialized",
    );
    expect(JSON.parse(declined.text)).toMatchObject({
      key: "leak/Declined",
      type: "Declined",
      args: { 0: "Card declined", 1: 7 },
      trace: [],
    });
    const expired = await calling("proxy", "leak/outer", "a class with a status", "plain");
    expect([expired.status, expired.text, expired.headers["x-svc-error"]]).toEqual([
      404,
      "Too late",
      "NotFound",
    ]);
  });

  it("masked-6: errors of the runtime itself are shown", async () => {
    for (const place of masking) {
      const answer = await ask(cellOf(place).role, "GET", "/rpc/leak/here?felt=1");
      expect([answer.status, answer.text]).toEqual([400, "Unknown parameter 'felt'"]);
      const unknown = await ask(cellOf(place).role, "GET", "/rpc/leak/nowhere");
      expect(unknown.status).toBe(404);
    }
  });
});

describe("who gets masked errors", () => {
  it("masked-7: one service on the way that masks is enough, and each tells the next with `x-svc-errors: masked`", async () => {
    for (const [place, told] of [
      ["proxy", ["http://gateway", "http://a"]],
      ["gateway", ["http://a"]],
      ["node", []],
      ["none", []],
    ] as const) {
      const { network } = cellOf(place).local;
      network.sent.length = 0;
      const answer = await calling(place, "leak/here", "a message", "plain");
      expect(idIn(answer.text) === undefined, place).toBe(place === "none");
      expect(
        network.sent
          .filter(({ headers }) => headers["x-svc-errors"] === "masked")
          .map(({ url }) => new URL(url).origin),
        place,
      ).toEqual(told);
    }
  });

  it("(masked-7) a proxy that masks tells the repository", async () => {
    for (const [place, told] of [
      ["proxy", "masked"],
      ["none", undefined],
    ] as const) {
      const { role, local } = cellOf(place);
      const heard: unknown[] = [];
      const none = async (): Promise<undefined> => undefined;
      const publicFile = async ({ headers }: HttpRequest) =>
        void heard.push(headers["x-svc-errors"]);
      const files = { publicFile, component: none, serverFile: none };
      await local
        .add("repository", (host, common) => createRepository(host, { ...common, files }))
        .start();
      await local.clock.pass(2_000);
      await ask(role, "GET", "/felt.png");
      expect(heard).toEqual([told]);
    }
  });

  it("masked-8: trusted callers see everything", async () => {
    for (const place of masking)
      for (const fields of [{ "x-svc-trust-key": key }, sentBy.trusted]) {
        const answer = await calling(place, "leak/here", "a cause", "serialized", fields);
        expect(JSON.parse(answer.text), place).toMatchObject({
          message: secret,
          trace: ["[leak/here | v0.0.0]"],
          cause: { type: "S3cretFailure" },
        });
      }
  });

  it("masked-9: `x-svc-errors` counts only from services: a stranger's has no effect", async () => {
    const stranger = { "x-svc-errors": "masked" };
    const answer = await calling("none", "leak/here", "a message", "plain", stranger);
    expect(answer.text).toContain(secret);
    const wrong = { "x-svc-errors": "shown", "x-svc-credential": "outside wrong" };
    const masked = await calling("node", "leak/here", "a message", "plain", wrong);
    expect(idIn(masked.text)).toBeDefined();
  });

  it("masked-10: errors of middleware are masked where it runs, and one that was masked before keeps its id", async () => {
    for (const place of ["standalone", "proxy", "gateway", "node"] as const) {
      const { local, role } = await deploy(place);
      const target = local.at(local.urlOf(place === "node" ? "a" : place))?.role;
      target?.addMiddleware({
        async handle(_fqn, _version, _args, headers, next) {
          if (headers.get("x-fail") === "before") throw new Error(secret);
          return await next().catch((error: Error) => {
            throw Object.assign(new Error(secret), { cause: error, note: secret });
          });
        },
      });
      for (const fail of ["before", "after"]) {
        const fields = {
          "x-fail": fail,
          "x-throw": "a message",
          "x-svc-data-encoding": "serialized",
        };
        const answer = await ask(role, "GET", "/rpc/leak/here", fields);
        expect(allOf(answer), place).not.toMatch(/s3cret|\| v0/);
        const ids = [...answer.text.matchAll(/Internal error \(([0-9a-f]{16})\)/g)].map(
          ([, id]) => id,
        );
        expect(ids.length, place).toBe(fail === "before" ? 1 : 2);
        for (const id of new Set(ids))
          expect(
            local.log.lines.filter((line) => line.includes(id ?? "-")),
            place,
          ).toHaveLength(1);
      }
    }
  });

  it("(masked-5) middleware may throw errors of exported classes that no procedure of the service uses", async () => {
    const application = modules();
    const manifest = { ...(await application.manifest()), imports: {} };
    const without = { ...application, manifest: async () => manifest };
    const local = new TestDeployment();
    const errors = "masked";
    const gateway = await local.gateway({ errors, modules: without });
    const node = await local.node("a", { errors, modules: without, segments: ["a"] });
    for (const role of [gateway, node]) {
      role.addMiddleware({
        handle: async () => {
          throw new Declined("Card declined", new Error(secret));
        },
      });
      const answer = await ask(role, "GET", "/rpc/leak/here", encodings.serialized);
      expect(JSON.parse(answer.text)).toMatchObject({
        key: "leak/Declined",
        message: "Card declined",
      });
      expect(allOf(answer)).not.toContain(secret);
    }
  });
});
