// Comparisons of contracts that no small application has, or whose proof takes more than a call.

import { describe, expect, it } from "vitest";
import { compareContracts, type Verdict, verdictText } from "../../server/contract/compare.ts";
import {
  type Contract,
  contractFormat,
  type ContractProcedure,
} from "../../server/contract/contract.ts";
import type { Member, ParameterType, Type } from "../../server/types/model.ts";

const text: Type = { kind: "string" };
const number: Type = { kind: "number" };

const plain = (name: string, type: Type, optional?: true): ParameterType => ({
  kind: "plain",
  name,
  type,
  ...(optional && { optional }),
});

function procedure(
  parameters: readonly ParameterType[],
  more: Partial<ContractProcedure> = {},
): ContractProcedure {
  return {
    fqn: "shop/f",
    version: "0.0.0",
    access: "public",
    signatures: [{ parameters, result: { kind: "undefined" } }],
    ...more,
  };
}

function contract(
  procedures: readonly ContractProcedure[],
  more: Partial<Contract> = {},
): Contract {
  return {
    format: contractFormat,
    application: {},
    procedures,
    routes: [],
    definitions: {},
    classes: {},
    ...more,
  };
}

function told(before: Contract, after: Contract): readonly string[] {
  return compareContracts(before, after).map(
    (verdict: Verdict) => `${verdict.level} ${verdictText(verdict)}`,
  );
}

function changed(before: Partial<ContractProcedure>, after: Partial<ContractProcedure>) {
  return told(contract([procedure([], before)]), contract([procedure([], after)]));
}

function ofParameters(before: readonly ParameterType[], after: readonly ParameterType[]) {
  return told(contract([procedure(before)]), contract([procedure(after)]));
}

describe("procedures", () => {
  it("idempotent that goes is risky, and breaking for a stream, which then answers no GET", () => {
    expect(changed({ idempotent: true }, {})).toEqual([
      expect.stringContaining("risky shop/f: isn't idempotent any more"),
    ]);
    const streams = [{ parameters: [], result: number, streams: true }] as const;
    expect(changed({ idempotent: true, signatures: streams }, { signatures: streams })).toEqual([
      expect.stringContaining("breaking shop/f: doesn't answer GET any more"),
    ]);
    expect(changed({ idempotent: true }, { safe: true })).toEqual([
      "fine shop/f: has changed, and takes and answers what it did",
    ]);
  });

  it("Protected procedures are compared, as nodes of the earlier build call them", () => {
    const access = "protected";
    expect(
      told(
        contract([procedure([], { access })]),
        contract([procedure([plain("x", text)], { access })]),
      ),
    ).toEqual([expect.stringContaining("breaking shop/f: x is new and required")]);
  });

  it("A comment is no change", () => {
    expect(changed({}, { doc: "Says something." })).toEqual([]);
  });

  it("Verdicts are sorted by procedure, version and level", () => {
    const versions = ["10.0.0", "2.0.0", "0.0.0"].map((version) =>
      procedure(
        [plain("a", text), plain("b", { kind: "object", members: { c: { type: text } } })],
        { version },
      ),
    );
    const after = versions.map(({ version }) =>
      procedure([plain("b", { kind: "object", members: {} })], { version }),
    );
    expect(
      compareContracts(contract(versions), contract(after)).map(
        ({ version, level, member }) => `${version} ${level} ${member}`,
      ),
    ).toEqual(
      ["0.0.0", "2.0.0", "10.0.0"].flatMap((version) => [
        `${version} breaking a`,
        `${version} risky b.c`,
      ]),
    );
  });

  it("Members that no type names matter only where there are members", () => {
    expect(changed({}, { extra: "refuse" })).toEqual([
      "fine shop/f: has changed, and takes and answers what it did",
    ]);
  });
});

describe("parameters", () => {
  const pattern = (names: readonly [string, true?][], optional?: true): ParameterType => ({
    kind: "object",
    names: names.map(([name, absent]) => ({
      name,
      type: text,
      ...(absent && { optional: absent }),
    })),
    ...(optional && { optional }),
  });

  it("Names of a pattern with a default come together", () => {
    const whole = [pattern([["a"], ["b"]], true)];
    expect(ofParameters(whole, [plain("a", text, true), plain("b", text, true)])).toEqual([
      expect.stringMatching(/^fine/),
    ]);
    expect(ofParameters([plain("a", text, true), plain("b", text, true)], whole)).toEqual([
      "breaking shop/f: a is required now",
      "breaking shop/f: b is required now",
    ]);
    expect(ofParameters(whole, [pattern([["a"], ["b"], ["c"]], true)])).toEqual([
      expect.stringContaining("breaking shop/f: c is new and required"),
    ]);
    expect(ofParameters([], whole)).toEqual([expect.stringMatching(/^fine/)]);
    expect(
      ofParameters([pattern([["a"], ["b", true]])], [plain("a", text), plain("b", text, true)]),
    ).toEqual([expect.stringMatching(/^fine/)]);
  });

  it("Of two patterns, nothing says whether one takes all that the other does", () => {
    const [before, after] = ["^a", "^ab"].map((rule): Type => ({
      kind: "string",
      pattern: rule,
      maxLength: 9,
    }));
    expect(ofParameters([plain("x", before!)], [plain("x", after!)])).toEqual([
      expect.stringMatching(/^risky .*patterns can't be compared$/),
    ]);
    expect(ofParameters([plain("x", before!)], [plain("x", text)])).toEqual([
      expect.stringMatching(/^fine/),
    ]);
    expect(ofParameters([plain("x", text)], [plain("x", after!)])).toContainEqual(
      expect.stringMatching(/^breaking .*matches \^ab now$/),
    );
  });

  it("A query matters only where a query can hold the arguments", () => {
    const object: Type = { kind: "object", members: {} };
    const wider: Type = { kind: "union", arms: [number, text] };
    expect(ofParameters([plain("x", number)], [plain("x", wider)])).toEqual([
      expect.stringMatching(/^risky .*in a query or form/),
    ]);
    expect(
      ofParameters(
        [plain("o", object), plain("x", number)],
        [plain("o", object), plain("x", wider)],
      ),
    ).toEqual([expect.stringMatching(/^fine/)]);
  });
});

describe("types that contain themselves", () => {
  const tree = (members: Readonly<Record<string, Member>>): Contract["definitions"] => ({
    Tree: {
      type: {
        kind: "object",
        members: { ...members, next: { type: { kind: "ref", to: "Tree" }, optional: true } },
      },
    },
  });
  const given = [procedure([plain("x", { kind: "array", items: { kind: "ref", to: "Tree" } })])];

  it("A difference is told once, where it is met first", () => {
    expect(
      told(
        contract(given, { definitions: tree({ a: { type: number } }) }),
        contract(given, { definitions: tree({ a: { type: text } }) }),
      ),
    ).toEqual(["breaking shop/f: x[].a no longer takes number: it takes text"]);
  });

  it("A union of such types is compared to its end, though an arm that seemed to fit doesn't", () => {
    const arms = (value: Type): Type => ({
      kind: "union",
      arms: [
        { kind: "object", members: { next: { type: { kind: "ref", to: "List" } } } },
        { kind: "object", members: { value: { type: value } } },
      ],
    });
    const parameters = [procedure([plain("x", { kind: "ref", to: "List" })])];
    expect(
      told(
        contract(parameters, { definitions: { List: { type: arms(number) } } }),
        contract(parameters, { definitions: { List: { type: arms(text) } } }),
      ),
    ).toContainEqual(expect.stringMatching(/^breaking .*value no longer takes number/));
  });

  it("Thirty models that all refer to each other, in two hundred procedures, take seconds, not minutes", () => {
    const names = Array.from({ length: 30 }, (_, index) => `Model${index}`);
    const models = (last: Type): Contract["definitions"] =>
      Object.fromEntries(
        names.map((name) => [
          name,
          {
            type: {
              kind: "object",
              members: Object.fromEntries([
                ["id", { type: text }],
                ...names.map((other): [string, Member] => [
                  `to${other}`,
                  {
                    type: { kind: "union", arms: [{ kind: "ref", to: other }, { kind: "null" }] },
                    optional: true,
                  },
                ]),
                ["last", { type: last }],
              ]),
            },
          },
        ]),
      );
    const procedures = Array.from({ length: 200 }, (_, index) =>
      procedure([plain("x", { kind: "ref", to: names[index % 30]! })], { fqn: `shop/f${index}` }),
    );
    const started = performance.now();
    const verdicts = compareContracts(
      contract(procedures, { definitions: models(number) }),
      contract(procedures, { definitions: models(text) }),
    );
    expect(performance.now() - started).toBeLessThan(15_000);
    expect(new Set(verdicts.map(({ procedure: fqn }) => fqn)).size).toBe(200);
    expect(verdicts.every(({ level }) => level === "breaking")).toBe(true);
  });
});
