// Names and versions of all kinds arrive unchanged.

import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { emptyContext } from "../../src/base/context.ts";
import { InvalidVersionNumber } from "../../src/base/errors.ts";
import { fqnOf, fqnOfAnonymousDefault, procedureKey } from "../../src/base/fqn.ts";
import { Registry } from "../../src/runtime/registry.ts";
import { createNode } from "../../src/roles/node.ts";
import { defaultLimits } from "../../src/base/limits.ts";
import { parseVersion } from "../../src/base/version.ts";
import { createRemote } from "../../src/wire/outgoing/remote-call.ts";
import { ask, testHost, testModules, TestNetwork } from "../_cluster.ts";
import { Classes } from "../../src/codec/classes.ts";

const part = fc.integer({ min: 0, max: 999_999_999 });
const version = fc.tuple(part, part, part);
const written = (numbers: readonly number[]): string => numbers.join(".");

describe("versions", () => {
  it("are what their numbers say, and 0 where one is left out (versions-1, calls-10)", () => {
    fc.assert(
      fc.property(version, fc.integer({ min: 1, max: 3 }), (numbers, length) => {
        const parsed = parseVersion(written(numbers.slice(0, length)));
        const whole = [...numbers.slice(0, length), 0, 0].slice(0, 3);
        expect([parsed.major, parsed.minor, parsed.patch]).toEqual(whole);
        expect(String(parsed)).toBe(written(whole));
        expect(String(parseVersion(String(parsed)))).toBe(String(parsed));
      }),
    );
  });

  it("any other text is refused by what it is (calls-11)", () => {
    const digits = /^\d{1,9}(\.\d{1,9}){0,2}$/;
    const near = fc.string({
      unit: fc.constantFrom("1", "0", ".", "-", "+", "e", "v", " ", "\n", "\u0661", "x"),
      maxLength: 14,
    });
    fc.assert(
      fc.property(fc.oneof(near, fc.string()), (text) => {
        if (text === "") expect(String(parseVersion(text))).toBe("0.0.0");
        else if (digits.test(text) && !text.endsWith("\n"))
          expect(() => parseVersion(text)).not.toThrow();
        else
          expect(() => parseVersion(text)).toThrow(
            new InvalidVersionNumber(`Invalid version number '${text}'`),
          );
      }),
      { numRuns: 2000 },
    );
  });

  it("are told in the order of their numbers (calls-12)", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(version, { selector: written, minLength: 1, maxLength: 6 }),
        (all) => {
          const registry = new Registry();
          for (const numbers of all)
            registry.add(
              "s",
              { fqn: "a/b", version: written(numbers), module: "a/b", export: "b", parameters: [] },
              { procedure: 0, access: "public" },
              async () => 1,
            );
          const ordered = all
            .toSorted((one, other) => one[0] - other[0] || one[1] - other[1] || one[2] - other[2])
            .map((one) => `v${written(one)}`);
          fc.pre(!all.some((one) => written(one) === "7.7.7"));
          expect(() => registry.findForOutside("a/b", "7.7.7", false)).toThrow(
            `Procedure 'a/b' v7.7.7 not found; there is ${ordered.join(", ")}`,
          );
          for (const numbers of all)
            expect(registry.find("a/b", written(numbers))?.record.version).toBe(written(numbers));
        },
      ),
    );
  });
});

// Any name that a folder may have, except '.' and '..'.
const folder = fc
  .string({ unit: "binary", minLength: 1, maxLength: 12 })
  .filter((name) => !/[/\\\0]/.test(name) && !/^\.{1,2}$/.test(name));
const identifier = fc.stringMatching(/^[A-Za-z_$\u00e4\u6f22][\w$\u00e4\u6f22]{0,12}$/);

describe("names", () => {
  it("are the module's folder and the function's name, whatever the file is called (procedures-1)", () => {
    fc.assert(
      fc.property(
        fc.array(folder, { maxLength: 4 }),
        folder,
        folder,
        identifier,
        (folders, file, other, name) => {
          const expected = [...folders, name].join("/");
          expect(fqnOf([...folders, file].join("/"), name)).toBe(expected);
          expect(fqnOf([...folders, other].join("/"), name)).toBe(expected);
        },
      ),
    );
  });

  it("of anonymous defaults are the file's, or of an index its folder's", () => {
    fc.assert(
      fc.property(fc.array(folder, { minLength: 1, maxLength: 4 }), (folders) => {
        const module = folders.join("/");
        expect(fqnOfAnonymousDefault(`${module}/index`)).toBe(module);
        fc.pre(folders.at(-1) !== "index");
        expect(fqnOfAnonymousDefault(module)).toBe(module);
      }),
    );
  });

  it("and version make a key that no other pair has", () => {
    const pair = fc.tuple(folder, version.map(written));
    fc.assert(
      fc.property(pair, pair, ([one, first], [other, second]) => {
        expect(procedureKey(one, first) === procedureKey(other, second)).toBe(
          one === other && first === second,
        );
      }),
    );
  });

  it("come through the door as they are, from a service's call and in any escapes (overview-2)", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(folder, { maxLength: 3 }), identifier, async (folders, name) => {
        const fqn = [...folders, name].join("/");
        const network = new TestNetwork();
        const host = testHost(network);
        const modules = testModules([
          { fqn, in: { s: "public" }, body: () => async () => "here" },
          { fqn: `${fqn}2`, in: { s: "public" }, body: () => async () => "elsewhere" },
        ]);
        const node = createNode(host, {
          trustKey: "key",
          limits: defaultLimits,
          gateway: undefined,
          modules,
          segments: ["s"],
          name: undefined,
        });
        network.roles.set("http://node", node);
        await node.start("http://node");
        const remote = createRemote({
          transport: network,
          base: "http://node",
          classes: new Classes(),
          limits: defaultLimits,
          clock: host.clock,
        });
        expect(
          (await remote.call({ fqn, version: "0.0.0", args: new Map(), context: emptyContext() }))
            .value,
        ).toBe("here");
        // Each byte in escapes, slashes too.
        const escaped = [...new TextEncoder().encode(fqn)]
          .map((byte) => `%${byte.toString(16).padStart(2, "0")}`)
          .join("");
        expect(await ask(node, "GET", `/rpc/${escaped}`)).toMatchObject({
          status: 200,
          text: "here",
        });
      }),
      { numRuns: 200 },
    );
  });
});
