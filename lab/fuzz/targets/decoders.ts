// The decoders of calls and answers, by themselves: an input gives a value, or an error of the
// caller's.

import { BadRequest, ValueNotSerializable } from "../../../src/base/errors.ts";
import type { Parameter } from "../../../src/base/manifest.ts";
import { decodeSerialized, encodeSerialized } from "../../../src/codec/serialized.ts";
import { simpleTypes } from "../../../src/codec/superjson/superjson-meta.ts";
import {
  decodeSuperjson,
  decodeSuperjsonMembers,
  encodeSuperjson,
} from "../../../src/codec/superjson/superjson.ts";
import { defaultLimits } from "../../../src/base/limits.ts";
import { bindArguments, convertFields, convertQuery } from "../../../src/runtime/parameters.ts";
import { decodeAnswer } from "../../../src/wire/decode-answer.ts";
import { errorOfText } from "../../../src/wire/plain-error.ts";
import { createWireClasses, Trap } from "../../../test/_wire-classes.ts";
import { mutateText, mutateTree, oddTexts } from "../mutate.ts";
import type { Random } from "../random.ts";
import { Finding, type Target, tolerate, tolerateLater } from "../target.ts";
import { randomForm, randomText, randomTree, validForms } from "../values.ts";

const classes = createWireClasses();

/** JSON text: valid forms that were changed, forms at random, or no JSON at all. */
function jsonText(random: Random): string {
  const tree = random.once(3)
    ? randomTree(random)
    : mutateTree(
        random,
        random.once(2) ? random.pick(validForms) : { a: random.pick(validForms), b: [1, "x"] },
        (leaf) => (leaf.once(3) ? randomForm(leaf) : randomTree(leaf, 2)),
      );
  const text = JSON.stringify(random.once(6) ? nested(random, tree) : tree) ?? "null";
  return random.once(4) ? mutateText(random, text) : text;
}

/** Deep, or with many members. */
function nested(random: Random, tree: unknown): unknown {
  if (random.once(2)) return Array.from({ length: random.below(3_000) }, () => tree);
  let value = tree;
  for (let depth = random.below(random.once(10) ? 20_000 : 300); depth > 0; depth--)
    value = random.once(2) ? [value] : { value };
  return value;
}

const limits = { ...defaultLimits, bodyBytes: Infinity };

const serialized: Target = {
  name: "serialized",
  async attempt(random) {
    // Nested arrays of some thousand levels overflow JSON.stringify itself.
    const text = safeText(random);
    const options = {
      classes,
      limits,
      trusted: random.once(2),
      plain: random.once(4),
    };
    const value = tolerate(text, [BadRequest], () => decodeSerialized(text, options));
    await tolerateLater(
      text,
      [ValueNotSerializable],
      async () => await encodeSerialized(value, { classes }),
    );
    if (Trap.sprung > 0) throw new Finding("constructs a class that isn't registered", text);
  },
};

export function safeText(random: Random): string {
  try {
    return jsonText(random);
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return "[".repeat(20_000) + "]".repeat(20_000);
  }
}

export const superjsonText = (random: Random): string => {
  const json = randomTree(random);
  const path = (): string =>
    random
      .list(4, () => random.pick(["a", "b", "0", "1", "args", "value", "__proto__", ...oddTexts]))
      .join(".");
  const annotation = (depth = 2): unknown => {
    const type = random.pick<unknown>([
      ...simpleTypes,
      null,
      5,
      ["class", "people/Person"],
      ["class", "people/Refused"],
      ["class", "people/Team"],
      ["class", randomText(random)],
      ["typed-array", random.pick(["Uint8Array", "Array", "BigInt64Array"])],
      ["custom", random.pick(["Binary", "x"])],
    ]);
    return depth === 0 || random.once(2) ? [type] : [type, { [path()]: annotation(depth - 1) }];
  };
  const some = (make: () => unknown): object =>
    Object.fromEntries(random.list(4, () => [path(), make()]));
  const meta = {
    values: random.once(3) ? annotation() : some(annotation),
    referentialEqualities: random.once(3) ? [[path()], some(() => [path()])] : some(() => [path()]),
    v: 1,
  };
  const text = JSON.stringify({ json, meta });
  return random.once(3) ? mutateText(random, text) : text;
};

const superjson: Target = {
  name: "superjson",
  async attempt(random) {
    const text = superjsonText(random);
    const options = { classes, limits, trusted: random.once(2) };
    const value = tolerate(text, [BadRequest], () =>
      random.once(2) ? decodeSuperjson(text, options) : decodeSuperjsonMembers(text, options),
    );
    await tolerateLater(
      text,
      [ValueNotSerializable],
      async () => await encodeSuperjson(value, { classes }),
    );
    if (Trap.sprung > 0) throw new Finding("constructs a class that isn't registered", text);
  },
};

const types = ["number", "boolean", "bigint", "Date", "string[]", "number[]", "Date[]", "File[]"];

/** A procedure's parameters, with odd names. */
function randomParameters(random: Random): Parameter[] {
  const name = (): object => ({
    name: random.pick(["a", "b", "value", "version", "toString", "...a", "length", ""]),
    ...(random.once(2) && { type: random.pick(types) }),
    ...(random.once(2) && { optional: true }),
  });
  return random.list(4, (index): Parameter => {
    switch (random.below(5)) {
      case 0:
        return { kind: "object", names: random.list(3, name) } as Parameter;
      case 1:
        return {
          kind: "array",
          names: random.list(3, () => (random.once(4) ? null : name())),
        } as Parameter;
      case 2:
        return { kind: "rest", name: `more${index}` };
      default:
        return { kind: "plain", ...name() } as Parameter;
    }
  });
}

const binders: Target = {
  name: "binders",
  attempt(random) {
    const parameters = randomParameters(random);
    const fields = random.list(8, (): [string, string] => [
      random.pick(["a", "b", "value", "...a", "...more0", "...more1", "a.b", ...oddTexts]),
      random.once(3)
        ? randomText(random)
        : random.pick(["1", "-1.5", "true", "2020-01-01", "12", "", "1e5"]),
    ]);
    const input = { parameters, fields };
    const converted = tolerate(input, [BadRequest], () =>
      random.once(2)
        ? convertQuery(parameters, fields, limits)
        : convertFields(parameters, fields, { limits }),
    );
    const args = converted ?? new Map(fields.map(([key]) => [key, randomTree(random, 2)] as const));
    tolerate({ parameters, args }, [BadRequest], () => bindArguments(parameters)(args));
  },
};

/** An answer of a compromised member. Only its caller is hurt. */
const answers: Target = {
  name: "answers",
  async attempt(random) {
    const asText = random.once(3);
    const body = random.once(3)
      ? superjsonText(random)
      : asText
        ? randomText(random)
        : safeText(random);
    const response = {
      status: random.pick([200, 200, 200, 204, 201, 400, 404, 500, 503, 418, 299, 600]),
      headers: {
        "content-type": random.pick(["application/json", "text/plain", "", "application/json;;"]),
        "x-svc-data-type": random.pick(["object", "string", "number", "bigint", "binary", "", "x"]),
        "x-svc-error": random.pick(["NotFound", "BadRequest", "__proto__", "constructor", ""]),
        "x-svc-node": random.pick(["", "n", "\0"]),
        ...(random.once(2) && {
          "x-svc-data-encoding": random.pick(["superjson", "serialized", "", "x"]),
        }),
      },
      body: new TextEncoder().encode(body),
    };
    const input = { ...response, body };
    try {
      await decodeAnswer(response, { classes, ...(random.once(2) && { errorOfText }) });
    } catch (thrown) {
      // A member may throw anything, but this may be no fault of the decoder itself.
      if (thrown instanceof RangeError && /call stack/.test(thrown.message))
        throw new Finding("overflows the stack", input);
    }
  },
};

export const decoderTargets: readonly Target[] = [serialized, superjson, binders, answers];
